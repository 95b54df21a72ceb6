#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench and report on programs that got worse in a known way: found, and the reason named."""
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import TRACER, check, contains, equal, main, run, scratch, test, workload


def bench(store, label, runs, *command, opts=()):
    return run([TRACER, "bench", "-q", "--store", store, "-l", label, "-n", str(runs), *opts, "--",
                *command]).ok()


def report(store, base, new, rc, *opts):
    r = run([TRACER, "report", "--store", store, *opts, base, new])
    equal(r.rc, rc, f"exit code of the report:\n{r.out}{r.err}")
    return r


def metric(o, name):
    found = [m for m in o["metrics"] if m["name"] == name]
    equal(len(found), 1, f"metrics called {name}")
    return found[0]


def causes(o, part, what):
    return [c["name"] for c in o["contributors"] if (c["part"], c["what"]) == (part, what)]


@test
def one_more_futex_call_an_item_at_three_runs():
    n = 1009
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        bench(store, "old", 3, workload("futex_items"), n, 0)
        bench(store, "new", 3, workload("futex_items"), n, 1)
        o = json.loads(report(store, "old", "new", 1, "--json").out)
        text = report(store, "old", "new", 1).out
    equal(o["verdict"], "worse", "verdict")
    m = metric(o, "futex.wake")
    equal((m["base"], m["new"], m["verdict"]), (n, 2 * n, "worse"), "futex.wake")
    equal(metric(o, "syscall.futex")["verdict"], "worse", "the call")
    check("futex" in causes(o, "syscall", "calls"), f"the call is a cause: {o['contributors']}")
    equal(causes(o, "lock", "wasted wakes"), ["extra_word"], "the lock is a cause")
    contains(text, "extra_word", "the text names the lock")
    contains(text, "futex.wake", "the text names the metric")


@test
def threads_that_got_dearer():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        bench(store, "old", 8, workload("thread_storm"), 53)
        bench(store, "new", 8, workload("thread_storm"), 53, 1)
        o = json.loads(report(store, "old", "new", 1, "--json").out)
    equal(metric(o, "thread.created")["verdict"], "same", f"as many threads: {o['differences']}")
    equal(metric(o, "thread.cost_p50")["verdict"], "worse", "what a thread costs")
    equal(causes(o, "stage", "mean")[:1], ["stack"], "the stage that is the cause")


@test
def the_same_program_is_not_worse():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        bench(store, "a", 5, workload("futex_items"), 1009, 1)
        bench(store, "b", 5, workload("futex_items"), 1009, 1)
        # Times are the machine's: no run of a test can promise them.
        r = run([TRACER, "report", "--store", store, "--json", "a", "b"])
    o = json.loads(r.out)
    worse = [m["name"] for m in o["metrics"] if m["verdict"] == "worse"]
    equal([w for w in worse if metric(o, w)["kind"] == "count"
           and len(set(sum(metric(o, w)["values"].values(), []))) == 1], [], "counts alike, worse")
    equal(r.rc, 1 if worse else 0, f"exit code of a report in which {worse} is worse")
    equal(metric(o, "futex.wake")["verdict"], "same", "2018 wakes on both sides")
    equal(metric(o, "futex.wake")["values"], {"base": [2018] * 5, "new": [2018] * 5}, "wakes")
    equal([c for c in o["contributors"] if c["part"] in ("syscall", "lock")
           and c["what"] != "time" and c["what"] != "time waited"], [], "causes that are counts")


@test
def a_baseline_takes_turns():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        r = run([TRACER, "bench", "-q", "--store", store, "-n", "3", "--json", "--vs",
                 f"{workload('futex_items')} 1009 0", "--", workload("futex_items"), "1009", "1"])
        equal(r.rc, 1, f"exit code:\n{r.out}{r.err}")
        o = json.loads(r.out)
        equal(metric(o, "futex.wake")["verdict"], "worse", "futex.wake")
        db = sqlite3.connect(store)
        sides = db.execute("SELECT side FROM run JOIN bench ON bench.key = run.bench "
                           "ORDER BY run_order").fetchall()
        db.close()
    one, two = ("command",), ("baseline",)
    equal(sides, [one, two, two, one, one, two], "who ran when")


if __name__ == "__main__":
    main()
