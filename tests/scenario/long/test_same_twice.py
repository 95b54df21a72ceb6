#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Twenty real benches of a program against itself: none of them says that it got worse."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from harness import TRACER, check, equal, main, need, run, scratch, test, workload

RUNS = 7


def programs(d):
    """Of many kinds: counts that are constant or vary, times of one to a hundred milliseconds."""
    text = os.path.join(d, "text")
    with open(text, "w", encoding="ascii") as f:
        f.writelines(f"{i * 7919 % 100003} some words on a line\n" for i in range(60013))
    return [
        ["true"],
        ["sort", "--parallel=2", "-o", "/dev/null", text],
        ["xz", "-1", "-T2", "-k", "-c", text],
        ["python3", "-c", "print(sum(i * i for i in range(200003)))"],
        ["sqlite3", ":memory:", "with recursive n(i) as (select 1 union all select i + 1 from n "
         "where i < 100003) select sum(i) from n;"],
        ["sh", "-c", f"cat {text} | tr a-z A-Z | wc -c"],
        [workload("futex_items"), "1009", "1"],
        [workload("thread_storm"), "101"],
        [workload("mutex_contend"), "3", "200"],
        [workload("word_count_slow")],
    ]


def twin(argv):
    """As --vs takes it."""
    return " ".join("'" + a.replace("'", "'\\''") + "'" for a in argv)


def compare(d, name, argv):
    r = run([TRACER, "bench", "-q", "--json", "--store", os.path.join(d, name), "-n", str(RUNS),
             "-w", "1", "--vs", twin(argv), "--", *argv])
    check(r.rc in (0, 1), f"exit code {r.rc}:\n{r.out}{r.err}")
    o = json.loads(r.out)
    equal(r.rc, int(o["verdict"] == "worse"), "exit code and verdict")
    check(len(o["metrics"]) > 5, f"metrics of {argv}: {len(o['metrics'])}")
    return o


@test(timeout=600)
def no_false_alarm_in_twenty():
    """In turns: what the machine does by itself for some seconds is in both sides."""
    need("xz", "sqlite3", "sort", "python3")
    said = []
    with scratch() as d:
        for i in range(2):
            for k, argv in enumerate(programs(d)):
                o = compare(d, f"runs{i}-{k}.db", argv)
                said += [f"{argv[0]}: {m['name']} {m['base']} -> {m['new']} (q {m['q']})"
                         for m in o["metrics"] if m["verdict"] == "worse"]
    equal(said, [], "metrics that are worse")


if __name__ == "__main__":
    main()
