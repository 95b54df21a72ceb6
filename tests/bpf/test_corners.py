#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures in corners: calls that never begin, accounts that begin late, first runs."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (PIPE, TRACER, between, call, calls, check, equal, lossless, main, run, scratch,
                     start, test, trace, trace_work, workload)

RENAMED = """
import os, threading, time
r, w = os.pipe()
def read_twice():
    os.read(r, 1)
    os.read(r, 1)
t = threading.Thread(target=read_twice)
t.start()
time.sleep(0.6)
os.write(w, b"x")
time.sleep(0.1)
open(f"/proc/self/task/{t.native_id}/comm", "w").write("chosen")
time.sleep(0.2)
os.write(w, b"y")
t.join()
"""

WOKEN = """
import threading, time
e = threading.Event()
def wait():
    e.wait()
    for i in range(20):
        time.sleep(0.001)
t = threading.Thread(target=wait)
t.start()
time.sleep(0.1)
e.set()
t.join()
"""

NAMED = """
import threading, time
lock = threading.Lock()
def work():
    open(f"/proc/self/task/{threading.get_native_id()}/comm", "w").write("chosen")
    while True:
        with lock:
            time.sleep(0.002)
for i in range(4):
    threading.Thread(target=work, daemon=True).start()
print("up", flush=True)
time.sleep(60)
"""


@test
def threads_chosen_by_name_share_their_locks():
    """Their process's first thread, which has the number of the address space, is not chosen."""
    w = start([sys.executable, "-c", NAMED], stdout=PIPE)
    w.stdout.readline()
    for mode in "wait", "exact":
        r = run([TRACER, "attach", "-q", "-d", "1", "--json", "--mode", mode, "--comm",
                 "^chosen$"]).ok()
        s = json.loads(r.out)
        equal([t["comm"] for t in s["threads"]["by_thread"]], 4 * ["chosen"], "threads")
        addrs = [k["addr"] for k in s["locks"]]
        check(addrs, "nothing waited")
        equal(len(addrs), len(set(addrs)), f"locks of one process at one address ({mode})")


@test
def calls_that_seccomp_refuses():
    n = 301
    r = trace_work("refused_calls", n)
    equal(r.said["refused"], n, "the workload itself")
    lossless(r.json)
    refused = call(r.json, "getppid")
    equal((refused["calls"], refused["errors"], refused["by_errno"]), (n, n, {"EPERM": n}),
          "getppid")
    equal(calls(r.json)["getuid"], n, "getuid")
    for way in ("-e", "!getppid"), ("-P", "/nowhere"):
        other = trace_work("refused_calls", n, opts=way).json
        equal(calls(other).get("getppid", 0), 0, f"getppid with {way}")
        lossless(other)


@test
def renamed_in_its_sleep():
    s = trace([sys.executable, "-c", RENAMED], "--comm", "^chosen$").json
    row, = s["threads"]["by_thread"]
    lived = row["lifetime_ns"]
    check(row["blocked_ns"] <= lived, f"blocked {row['blocked_ns']} ns of a life of {lived} ns")
    between(call(s, "read")["max_ns"], 0, lived, "the read that it was found in")
    for p in s["pipes"]:
        between(p["reader_blocked_ns"], 0, lived, "blocked in the pipe")


@test
def first_run_is_no_migration():
    last = max(os.sched_getaffinity(0))
    s = trace_work("thread_storm", 200, prefix=("taskset", "-c", str(last))).json
    equal(s["threads"]["created"], 200, "threads")
    equal(s["sched"]["migrations"], 0, f"moves of threads that are bound to CPU {last}")


@test
def attach_lasts_from_its_start():
    loop = start(["sh", "-c", "while :; do sleep 0.3; done"])
    r = run([TRACER, "attach", "-q", "-d", "1", "--json", str(loop.pid)]).ok()
    s = json.loads(r.out)
    between(s["duration_ns"], 1000000000, 1500000000, "a trace of a second")
    starts = sorted(t["start_ns"] for t in s["threads"]["by_thread"])
    equal(starts[0], 0, "start of the one that ran already")
    check(starts[1] > 0, f"all began at the start of the trace: {starts}")


@test
def only_futex_waits_are_woken():
    with scratch() as d:
        path = os.path.join(d, "trace.json")
        for mode in "exact", "wait":
            trace([sys.executable, "-c", WOKEN], "--mode", mode, "--trace", path)
            with open(path, encoding="utf-8") as f:
                events = json.load(f)["traceEvents"]
            woken = [e["name"] for e in events if "woken by" in e.get("args", {})]
            check(woken, f"{mode}: nothing was woken")
            equal(set(woken), {"futex"}, f"{mode}: what somebody woke")


if __name__ == "__main__":
    main()
