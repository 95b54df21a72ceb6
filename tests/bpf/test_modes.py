#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wait mode against exact mode, and --collect."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (TRACER, between, calls, check, edges, equal, keys, lock_at, main, near,
                     pipe_of, run, test, trace, trace_work)

WAIT = ["--mode", "wait"]


@test
def waits_of_wait_mode_are_those_that_block():
    r = trace_work("futex_pingpong", 20011, opts=WAIT)
    s, said = r.json, r.said
    check_summary(s)
    l = lock_at(s, said["addr"])
    near(l["waits"], said["nvcsw"], 0.001, "waits", 4)
    near(edges(l).get((said["b_tid"], said["a_tid"]), 0), said["a_nvcsw"], 0.001, "a by b", 4)
    near(edges(l).get((said["a_tid"], said["b_tid"]), 0), said["b_nvcsw"], 0.001, "b by a", 4)
    equal(l["symbol"], "ball", "symbol")


@test
def condvar_in_wait_mode():
    r = trace_work("condvar_handoff", 20011, opts=WAIT)
    mine = [l for l in r.json["locks"] if (l["symbol"] or "").startswith("handoff_")]
    near(sum(l["waits"] for l in mine), r.said["nvcsw"], 0.001, "waits", 4)
    tied = sum(c for l in mine for (waker, _), c in edges(l).items() if waker)
    near(tied, r.said["nvcsw"], 0.001, "tied to a waker", 4)


@test
def joins_in_wait_mode_name_their_threads():
    r = trace_work("join_wait", 211, 2000, opts=WAIT)
    s, said = r.json, r.said
    found = [l for l in s["locks"] if l["kind"] == "join"]
    near(sum(l["waits"] for l in found), said["nvcsw"], 0.001, "join waits", 4)
    ended = {t["tid"] for t in s["threads"]["by_thread"] if t["created"] and t["exited"]}
    wakers = [waker for l in found for waker, _ in edges(l)]
    check(wakers and said["tid"] not in wakers, "the joiner woke itself")
    equal(set(wakers) - ended, set(), "wakers that are no ended thread")
    for l in found:
        equal({waiter for _, waiter in edges(l)}, {said["tid"]}, "who joined")


@test
def wait_mode_knows_pi_waitv_and_futex2():
    for name in ("futex_pi", "futex_waitv", "futex_two", "futex_bitset", "futex_requeue"):
        r = trace_work(name, 503, opts=WAIT, rc=None)
        if r.rc in (77, 78):	# not there; a wake that the kernel lost
            continue
        r.ok()
        got = sum(l["waits"] for l in r.json["locks"] if l["kind"] != "join")
        near(got, r.said["nvcsw"], 0.01, f"{name}: waits that blocked", 4)


@test
def wait_mode_knows_the_blocked_side_of_a_pipe():
    r = trace_work("pipe_chunks", 64, 101, "pipe", 2000, 0, opts=WAIT)
    p = [p for p in r.json["pipes"] if r.said["r_tid"] in p["readers"] and p["kind"] == "pipe"]
    equal(len(p), 1, "edges that the reader waited for")
    between(p[0]["reader_blocked_ns"], r.said["r_ns"] * 0.7, r.said["r_ns"], "reader_blocked_ns")
    check_summary(r.json)
    equal((p[0]["bytes"], p[0]["chunks_read"], p[0]["futex_per_chunk"]), (None,) * 3, "not seen")
    check(p[0]["writer_blocked_ns"] < p[0]["reader_blocked_ns"] * 0.05, "the writer never waited")


@test
def wait_mode_says_that_it_counts_no_calls():
    r = run([TRACER, "run", *WAIT, "--", "true"]).ok()
    check("block" in r.err.lower() or "wait mode" in r.err.lower(),
          f"it does not say what it cannot see: {r.err[-800:]}")
    s = trace_work("getppid_loop", 10007, opts=WAIT).json
    equal(s["mode"], "wait", "mode")
    check_summary(s)
    equal(s["futex"]["calls"], None, "futex calls, which were not counted")
    got = calls(s).get("getppid", 0)
    check(got in (0, 10007), f"a part of the calls is worse than none: {got}")


SPLICE = """
import os, signal, sys, threading, time
signal.alarm(20)
ar, aw = os.pipe()
br, bw = os.pipe()
os.write(aw, b"a" * 4096)
os.write(bw, b"b" * 65536)
def drain():
    time.sleep(0.3)
    os.read(br, 65536)
t = threading.Thread(target=drain)
t.start()
moved = os.splice(ar, bw, 4096)
t.join()
f = os.open(sys.executable, os.O_RDONLY)
os.write(bw, b"b" * 61440)
t = threading.Thread(target=drain)
t.start()
moved += os.sendfile(bw, f, 0, 4096)
t.join()
def fill():
    time.sleep(0.3)
    os.write(aw, b"a" * 4096)
t = threading.Thread(target=fill)
t.start()
moved += os.splice(ar, bw, 4096)
t.join()
print(f"moved={moved} a={os.fstat(ar).st_ino} b={os.fstat(br).st_ino}")
"""


@test
def the_end_that_a_move_between_pipes_waits_for():
    r = trace([sys.executable, "-c", SPLICE], *WAIT)
    said = keys(r.out)
    equal(said["moved"], 3 * 4096, "bytes moved")
    # Only the sides that blocked are seen.
    ends = {p["inode"]: p for p in r.json["pipes"]}
    full, empty = ends[said["b"]], ends[said["a"]]
    between(full["writer_blocked_ns"], 0.5e9, 0.9e9, "splice and sendfile to a full pipe")
    between(empty["reader_blocked_ns"], 0.25e9, 0.5e9, "splice from an empty pipe")
    equal((full["reader_blocked_ns"], empty["writer_blocked_ns"]), (0, 0), "the other ends")


@test
def a_stopped_wait_keeps_its_lock_and_waker():
    n = 3
    r = trace_work("futex_stopped", n, opts=WAIT)
    said = r.said
    l = lock_at(r.json, said["addr"])
    equal(l["waits"], n + 1, "times that the wait blocked")
    equal(edges(l).get((said["m_tid"], said["w_tid"])), 1, "who woke it at last")
    between(l["wait_ns"]["total"], (n + 0.9) * said["pause_ns"],
            said["waited_ns"] - n * said["pause_ns"] * 0.5, "wait_ns.total")


@test
def threads_in_wait_mode():
    s = trace_work("thread_storm", 2003, opts=WAIT).json
    equal(s["threads"]["created"], 2003, "threads.created")
    equal(s["threads"]["exited"], 2003, "threads.exited")


@test
def collecting_one_thing_leaves_the_rest_out():
    r = trace_work("pipe_chunks", 100, 1009, opts=["--collect", "syscalls"])
    equal((r.json["locks"], r.json["pipes"]), ([], []), "locks and pipes")
    check(calls(r.json)["write"] >= 1009, "write")
    r = trace_work("pipe_chunks", 100, 1009, opts=["--collect", "pipes"])
    equal(pipe_of(r.json, "pipe", writer=r.said["w_tid"])["chunks_written"], 1009, "chunks")
    equal(r.json["locks"], [], "locks")
    r = trace_work("futex_pingpong", 1009, opts=["--collect", "futex"])
    equal(lock_at(r.json, r.said["addr"])["waits"], r.said["waits"], "waits")
    equal(r.json["pipes"], [], "pipes")


@test
def unknown_collector_and_mode():
    for opts in (["--collect", "futexes"], ["--mode", "wrong"], ["--collect", ""]):
        r = run([TRACER, "run", *opts, "--", "true"])
        equal(r.rc, 125, f"exit code of {opts}")
        check(opts[0] in r.err, f"message names it: {r.err!r}")


@test
def scheduling_adds_up():
    r = trace_work("mutex_contend", 2, 503, 100000)
    sched = r.json["sched"]
    # Two threads spin 1006 x 100 us under one lock.
    between(sched["oncpu_ns"], 1006 * 100000 * 0.95, r.json["duration_ns"] * os.cpu_count(),
            "time on a CPU")


@test
def overhead_is_reported():
    s = trace_work("getppid_loop", 1009).json
    v = s["overhead"]["ns_per_syscall"]
    check(v is not None and 0 < v < 20000, f"overhead.ns_per_syscall is {v}")


if __name__ == "__main__":
    main()
