#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Threads that take turns (tests/workloads/rr_turns.c): a replay's process switches between
them by itself, keeps what each has, and stops where it cannot go on."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import DEVNULL, TRACER, calls, check, equal, main, run, scratch, test, trace, workload
from recordings import quantum, record, same

TURNS = workload("rr_turns")


def kinds():
    return run([TURNS]).ok().out.split()


@test
def threads_of_each_kind():
    for kind in kinds():
        same(TURNS, kind)


@test
def when_they_are_interrupted():
    with quantum(1):
        for kind in kinds():
            same(TURNS, kind, times=1)


@test
def who_waits_in_a_loop_gives_way():
    """With turns of ten seconds each, 20 would take more than this test may."""
    with quantum(10000):
        for how in ("t", "p", "c"):
            same(workload("rr_spin"), how, "20", timeout=30)


@test
def a_kernel_that_cannot_help():
    with scratch() as d:
        for kind in kinds():
            was = record(d, TURNS, kind, name=kind)
            r = run([workload("without_dispatch"), TRACER, "replay", "-a", os.path.join(d, kind)],
                    stdin=DEVNULL)
            equal((r.rc, r.out, r.err), (0, was.out, was.err), f"{kind} replayed")


@test
def how_often_it_stops():
    """By the replayer's waits: six a thread where each switch is a stop."""
    with scratch() as d:
        for name, n in ("thread_storm", 2000), ("live_threads", 1000):
            record(d, workload(name), str(n), name=name)
            r = trace([TRACER, "replay", "-a", os.path.join(d, name)], "-e", "wait4")
            check(calls(r.json)["wait4"] < n / 2, f"{name}: {calls(r.json)['wait4']} stops")


if __name__ == "__main__":
    main()
