#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checkers of tests/lib find what they are there to find."""
import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import EXACT, check_summary, check_timeline
from harness import Failure, check, equal, keys, main, near, test

WAIT = {"count": 3, "total": 300, "p50": 100, "p99": 200, "max": 200,
        "buckets": [[96, 2], [192, 1]]}
SUMMARY = {
    "schema": "tracer.summary/1", "tracer": "0", "command": ["x"],
    "exit": {"code": 0, "signal": None}, "duration_ns": 1000,
    "hidden_programs": 0, "mmap_bytes": 0, "empty": False,
    "findings": [{"id": "a", "text": "b 1", "evidence": {"n": 1}}],
    "threads": {"created": 1, "exited": 1, "cost_ns": {"p50": 10, "p99": 10, "max": 10},
                "stages": [{"name": "clone", "total_ns": 10, "p50_ns": 10}],
                "by_thread": [{"tid": 2, "comm": "x", "parent": 1, "start_ns": 5,
                               "lifetime_ns": 100, "cost_ns": 1000,
                               "stages": {"clone": 400, "exit": 600}, "calls": 4}]},
    "locks": [{"addr": "0x10", "symbol": "l", "kind": "private", "waits": 3, "wakes": 3,
               "wasted_wakes": 1, "wait_ns": WAIT,
               "edges": [{"waker": 1, "waiter": 2, "count": 3}], "site": []}],
    "futex": {"calls": 6, "waits": 3, "wakes": 3, "eagain": 0},
    "pipes": [{"kind": "pipe", "inode": 5, "writers": [1], "readers": [2], "chunks_written": 1,
               "chunks_read": 1, "bytes": 1, "chunk_bytes": {"p50": 1, "p99": 1, "mean": 1},
               "writer_blocked_ns": 0, "reader_blocked_ns": 0, "futex_per_chunk": 0}],
    "syscalls": [{"name": "read", "calls": 3, "errors": 1, "by_errno": {"EAGAIN": 1},
                  "total_ns": 10, "cpu_ns": 5, "p50_ns": 3, "p99_ns": 4, "max_ns": 4,
                  "timed": 3, "buckets": [[3, 2], [4, 1]]}],
    "sched": {}, "overhead": {"ns_per_syscall": 100},
    "loss": {"ring_full": 0, "map_full": 0, "recursion": 0, "unpaired": 0, "stacks": 0,
             "total": 0},
}


def fails(fn, *args):
    try:
        fn(*args)
    except Failure:
        return True
    return False


@test(root=False)
def a_good_summary_passes():
    check_summary(SUMMARY)


@test(root=False)
def every_missing_name_is_found():
    def walk(node, path):
        if isinstance(node, dict):
            for k, v in node.items():
                if path and path[-1] in ("stages", "by_errno", "evidence", "sched") \
                        and not isinstance(path[-1], int):
                    continue
                yield path + [k]
                yield from walk(v, path + [k])
        elif isinstance(node, list) and node:
            yield from walk(node[0], path + [0])
    missed, seen = [], 0
    for path in walk(SUMMARY, []):
        s = copy.deepcopy(SUMMARY)
        at = s
        for k in path[:-1]:
            at = at[k]
        del at[path[-1]]
        seen += 1
        if not fails(check_summary, s):
            missed.append(path)
    check(seen > 60, f"only {seen} names")
    equal(missed, [], "names whose loss goes unnoticed")


@test(root=False)
def wrong_sums_are_found():
    def broken(change):
        s = copy.deepcopy(SUMMARY)
        change(s)
        return fails(check_summary, s)

    for what, change in (
            ("stages", lambda s: s["threads"]["by_thread"][0]["stages"].update(exit=620)),
            ("edges", lambda s: s["locks"][0]["edges"][0].update(count=4)),
            ("wasted", lambda s: s["locks"][0].update(wasted_wakes=4)),
            ("order", lambda s: s["locks"].append(
                dict(s["locks"][0], wait_ns=dict(WAIT, total=400)))),
            ("errno", lambda s: s["syscalls"][0].update(errors=2)),
            ("loss", lambda s: s["loss"].update(ring_full=1)),
            ("twice", lambda s: s["syscalls"].append(s["syscalls"][0])),
            ("quantiles", lambda s: s["syscalls"][0].update(p50_ns=9)),
            ("cpu", lambda s: s["syscalls"][0].update(cpu_ns=11)),
            ("timed", lambda s: s["syscalls"][0].update(calls=2)),
            ("buckets", lambda s: s["syscalls"][0]["buckets"].pop()),
            ("edges of buckets", lambda s: s["syscalls"][0]["buckets"].reverse()),
            ("last bucket", lambda s: s["locks"][0]["wait_ns"]["buckets"][-1].__setitem__(0, 224)),
            ("negative", lambda s: s.update(duration_ns=-1)),
            ("kind", lambda s: s["pipes"][0].update(kind="tube"))):
        check(broken(change), f"{what}: a wrong summary passed")


def blind(s):
    """With null where wait mode sees nothing."""
    for path, names in EXACT.items():
        rows = s["threads"]["by_thread"] if path == "threads.by_thread" else s[path]
        for row in rows if isinstance(rows, list) else [rows]:
            row.update((n, None) for n in names if n in row)
    return s


@test(root=False)
def nulls_are_for_wait_mode_alone():
    s = dict(blind(copy.deepcopy(SUMMARY)), mode="wait")
    check_summary(s)
    check(fails(check_summary, dict(s, mode="exact")), "nulls passed in exact mode")
    s["locks"][0]["wakes"] = 0
    check(fails(check_summary, s), "a 0 that nobody counted passed")


@test(root=False)
def waits_without_an_edge_are_found():
    def summary(count=3, entered=6, running=0, mode="exact", lost=0):
        s = copy.deepcopy(SUMMARY)
        s.update(mode=mode, collected=["futex"], still_running=running)
        s["locks"][0]["edges"][0]["count"] = count
        s["futex"]["ops"] = [{"name": "wait", "calls": 3}, {"name": "wake", "calls": 3}]
        s["syscalls"].append(dict(s["syscalls"][0], name="futex", calls=entered))
        s["loss"].update(map_full=lost, total=lost)
        return blind(s) if mode == "wait" else s

    check(fails(check_summary, summary(count=2)), "a lost edge passed")
    check(fails(check_summary, summary(count=1, entered=7)), "more were lost than never returned")
    for good in (summary(), summary(count=2, entered=7), summary(count=2, running=1),
                 summary(count=2, lost=1), summary(count=2, mode="wait")):
        check_summary(good)


@test(root=False)
def timelines():
    def x(ts, dur, **kw):
        return dict({"ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "name": "n"}, **kw)

    def flow(ph, n=7):
        return {"ph": ph, "pid": 1, "tid": 1, "ts": 1, "id": n, "name": "wake"}

    lost = dict(flow("s"), pid=2)
    name = {"ph": "M", "pid": 2, "tid": 1, "name": "thread_name", "args": {"name": "n"}}
    for good in ([x(0, 10), x(2, 3), x(5, 5)], [x(0, 10), x(5, 10, tid=2)],
                 [x(0, 1), flow("s"), flow("f")],
                 [x(0, 1), lost, name, flow("f")]):
        check_timeline({"traceEvents": good})
    no_dur = x(0, 1)
    del no_dur["dur"]
    for bad in ([], [x(0, 10), x(5, 10)], [flow("s")], [flow("s"), flow("s"), flow("f")], [no_dur],
                [x(-1, 1)], [{"ph": "X"}], [x(0, 1), lost, flow("f")]):
        check(fails(check_timeline, {"traceEvents": bad}), f"passed: {bad}")


@test(root=False)
def expectations():
    check(fails(equal, 1, 2, ""), "equal")
    check(fails(near, 100, 102, 0.01, "") and not fails(near, 100, 101, 0.01, ""), "near")
    equal(keys("a=1 b=0x10 c:E=x\nd=-3"), {"a": 1, "b": 16, "c:E": "x", "d": -3}, "keys")


if __name__ == "__main__":
    main()
