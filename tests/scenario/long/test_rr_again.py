#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All that is recorded and replayed in `make check`, replayed ten times each, and once more with
programs that lose their turn every millisecond."""
import functools
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from harness import check, main, need, run, scratch, test, workload
from recordings import quantum, same

RACES = (("race", "20"), ("registers", "30"), ("flag", "20"), ("spinlock", "5"), ("alarm", "0"),
         ("prof", "0"))


def again(path):
    """What skips there skips here."""
    r = run([sys.executable, path], timeout=1500,
            env=dict(os.environ, TRACER_RR_TIMES="10", TRACER_SLOW="10"))
    wrong = [line for line in r.out.splitlines() if line.startswith("not ok")]
    check(r.rc in (0, 77), f"exit {r.rc}: {wrong} {r.out[-2000:]}")


def again_in_short_turns(path):
    with quantum(1):
        again(path)


for file in sorted(glob.glob(os.path.join(HERE, "..", "test_rr*.py"))):
    for how in again, again_in_short_turns:
        each = functools.partial(how, file)
        each.__name__ = f"{os.path.basename(file)[5:-3]}_{how.__name__}"
        test(timeout=1500)(each)


def races():
    for mode, millions in RACES:
        same(workload("rr_points"), mode, millions, times=10)


@test(timeout=600)
def long_races():
    races()
    with quantum(1):
        races()


@test(timeout=600)
def tools_with_a_quantum_of_a_millisecond():
    need("xz")
    with scratch() as d, quantum(1):
        path = os.path.join(d, "data")
        with open(path, "wb") as f:
            for i in range(400000):
                f.write(b"%d %x\n" % (i * i, i * 7919))
        same("xz", "-T4", "--block-size=1MiB", "-c", "-1", path, times=10, text=False)
        same("/usr/bin/python3", "-c",
             "import threading\nn = 0\ndef f():\n    global n\n    for i in range(200000): n += 1\n"
             "t = [threading.Thread(target=f) for i in range(4)]\n"
             "[x.start() for x in t]\n[x.join() for x in t]\nprint(n)", times=10)


if __name__ == "__main__":
    main()
