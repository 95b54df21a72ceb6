#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Waits that are on before the trace begins and still when it ends: a program that hangs."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (Attach, as_addr, between, check, equal, keys, kill, lock_at, main, start,
                     start_work, test, trace, workload)

SECONDS = 1


def hung():
    """The workload once its threads have stopped for good, and what it said."""
    w = start_work("deadlock")
    said = keys(w.stdout.readline().decode())
    time.sleep(0.2)
    return w, said


def attached(mode, *opts):
    w, said = hung()
    s = Attach("--mode", mode, "-d", str(SECONDS), *opts, str(said["pid"]), wait=False).end().json
    w.stdin.close()
    w.wait(10)
    return s, said


def check_hang(s, said):
    low, high = 0.9e9 * SECONDS, s["duration_ns"] * 1.01
    for name in ("first", "second"):
        l = lock_at(s, said[name])
        equal((l["symbol"], l["waits"], l["edges"]), (name, 1, []), f"the lock {name}")
        between(l["wait_ns"]["total"], low, high, f"time at {name}")
        frames = [f["symbol"] for f in l["site"]]
        check("take" in frames, f"{name} is waited for in take(): {frames}")
    pipes = [p for p in s["pipes"] if p["readers"]]
    check(any(low <= p["reader_blocked_ns"] <= high for p in pipes), f"a starved reader: {pipes}")
    # Two at locks, two in read: all time of all threads is in what they blocked in.
    blocked = {b["name"]: b for b in s["sched"]["blocked_in"]}
    equal({k: v["count"] for k, v in blocked.items()}, {"futex": 2, "read": 2}, "blocked in")
    between(sum(b["total_ns"] for b in blocked.values()), s["sched"]["blocked_ns"] * 0.99,
            s["sched"]["blocked_ns"] * 1.01, "blocked in, together")


@test
def a_deadlock_in_wait_mode():
    s, said = attached("wait")
    check_hang(s, said)
    futex = [c for c in s["syscalls"] if c["name"] == "futex"]
    equal([c["calls"] for c in futex], [2], "futex calls that blocked")


@test
def a_deadlock_in_exact_mode():
    check_hang(*attached("exact"))


@test
def calls_that_have_not_returned_are_calls():
    w = start(["sleep", "60"])
    time.sleep(0.1)
    for mode in ("exact", "wait"):
        s = Attach("--mode", mode, "-d", "0.5", str(w.pid), wait=False).end().json
        equal([(c["name"], c["calls"]) for c in s["syscalls"]], [("clock_nanosleep", 1)], mode)
        between(s["syscalls"][0]["total_ns"], 0.45e9, s["duration_ns"] * 1.01, f"{mode}: its time")
    kill(w)


@test
def a_lock_that_is_never_had_has_a_place():
    """Threads wait at mutexes until the process ends, both from the same moment on one CPU."""
    s = trace(["sh", "-c", f"sleep 0.3 | taskset -c 0 {workload('deadlock')}"]).json
    for name in ("first", "second"):
        found = [l for l in s["locks"] if l["symbol"] == name]
        equal([l["use"] for l in found], ["mutex"], f"use of {name}")
        check("take" in [f["symbol"] for f in found[0]["site"]], f"{name} is waited for in take()")


@test
def waits_of_those_who_were_not_asked_for():
    s, said = attached("wait", "--comm", "^nobody$")
    equal((s["locks"], s["pipes"]), ([], []), "locks and pipes of a thread left out")
    check(as_addr(said["first"]), "the workload said where")


if __name__ == "__main__":
    main()
