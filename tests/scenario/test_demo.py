#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `make demo` prints: the tables of its two programs, and what is known of both."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import BUILD, ROOT, check, equal, main, need, run, scratch, test


def judged(text):
    with scratch() as d:
        path = os.path.join(d, "demo")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return run(["awk", "-f", os.path.join(ROOT, "tools", "demo_tables.awk"), path])


@test(timeout=120)
def the_demo_prints_the_tables_of_both_programs():
    need("xz", "awk")
    text = run([os.path.join(ROOT, "tools", "demo.sh"), BUILD], timeout=110).ok().out
    r = judged(text)
    equal((r.rc, r.out), (0, ""), f"what is missing in:\n{text[-6000:]}")
    # The judge sees a table that is not there, and a program.
    for part in ("LOCKS  ", "SCHEDULING  ", "accounts_lock", "$ tracer run -- xz"):
        check(part in text, f"{part!r} is not printed")
        equal(judged(text.replace(part, "")).rc, 1, f"without {part!r}")


if __name__ == "__main__":
    main()
