#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Thread creation: every thread and every call on its way, once."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (DEVNULL, between, call, calls, check, equal, lossless, main, near,
                     strace_counts, test, trace_work, workload)

STAGES = ["stack", "clone", "wakeup", "start", "setup", "exit", "join"]


@test(timeout=90)
def twenty_thousand_created_and_joined():
    n = 20000
    r = trace_work("thread_storm", n)
    s = r.json
    equal(r.said["ran"], n, "the workload itself")
    check_summary(s)
    lossless(s)
    equal(s["threads"]["created"], n, "threads.created")
    equal(s["threads"]["exited"], n, "threads.exited")
    got = calls(s)
    equal(got["clone3"], n, "clone3")
    equal(got["exit"], n, "exit")
    equal(got["rseq"], n + 1, "rseq: each thread and the first one")
    equal(got["set_robust_list"], n + 1, "set_robust_list: each thread and the first one")
    equal(got["madvise"], n, "madvise: each stack is given back to the cache")


@test(timeout=60)
def per_thread_calls_are_those_of_strace():
    n = 2003
    want = strace_counts([workload("thread_storm"), n])
    got = calls(trace_work("thread_storm", n, stdout=DEVNULL).json)
    # Whether a join or the allocator's lock sleeps is a matter of timing.
    for name in sorted(set(want) - {"futex"}):
        equal(got.get(name, 0), want[name][0], name)


@test
def stages_of_a_thread_add_up_to_its_cost():
    n = 1009
    s = trace_work("thread_storm", n).json
    check_summary(s)
    made = [t for t in s["threads"]["by_thread"] if t["cost_ns"]]
    equal(len(made), n, "threads with a cost")
    for t in made:
        near(sum(t["stages"].values()), t["cost_ns"], 0.01, f"stages of {t['tid']}", 1)
        check(t["stages"]["clone"] > 0, f"thread {t['tid']} was cloned in no time")
        check(t["lifetime_ns"] > 0, f"thread {t['tid']} lived for no time")
        check(t["calls"] >= 4, f"thread {t['tid']} made {t['calls']} calls")
    rows = {x["name"]: x["total_ns"] for x in s["threads"]["stages"]}
    equal([name for name in rows if name in STAGES], STAGES, "stages in the order of a life")
    for name, row in rows.items():
        total = sum(t["stages"].get(name, 0) for t in made)
        near(row, total, 0.01, f"total of {name}", n)


@test
def threads_alive_at_once():
    n = 503
    r = trace_work("thread_fan", n)
    s = r.json
    check_summary(s)
    lossless(s)
    equal(s["threads"]["created"], n, "threads.created")
    equal(s["threads"]["exited"], n, "threads.exited")
    equal(calls(s)["clone3"], n, "clone3")
    equal(s["threads"]["live_peak"], r.said["peak"], "threads.live_peak")
    # Each thread has a stack of its own: it was mapped on the way.
    check(call(s, "mmap")["calls"] >= n, "an mmap for each stack")


@test
def creator_is_the_parent():
    r = trace_work("join_wait", 31)
    s = r.json
    parents = {t["parent"] for t in s["threads"]["by_thread"] if t["cost_ns"]}
    equal(parents, {r.said["tid"]}, "parents of the threads")


@test
def lifetimes_span_what_the_thread_slept():
    us = 5000
    s = trace_work("join_wait", 53, us).json
    for t in (t for t in s["threads"]["by_thread"] if t["cost_ns"]):
        between(t["lifetime_ns"], us * 1000, us * 1000 * 100, f"lifetime of {t['tid']}")
        check(t["cost_ns"] < t["lifetime_ns"] * 20, f"cost of {t['tid']}: {t['cost_ns']}")


@test
def start_routine_by_option_keeps_the_counts():
    n = 211
    s = trace_work("thread_storm", n, opts=["--start-routine"]).json
    check_summary(s)
    equal(s["threads"]["created"], n, "threads.created")
    equal(calls(s)["clone3"], n, "clone3")


@test
def collecting_threads_alone_counts_the_same():
    n = 503
    s = trace_work("thread_storm", n, opts=["--collect", "threads"]).json
    equal(s["threads"]["created"], n, "threads.created")
    equal(s["threads"]["exited"], n, "threads.exited")
    equal(s["pipes"], [], "pipes were not asked for")


if __name__ == "__main__":
    main()
