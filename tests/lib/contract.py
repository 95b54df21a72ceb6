# SPDX-License-Identifier: MIT
"""The JSON of run and attach (schema tracer.summary/1) as a checker.

check_summary() holds every name and type of the contract and the sums that
must agree inside any summary, whatever was traced.
"""
from harness import Failure, check, equal

NUM = (int, float)
TIMES = {"count": int, "total": NUM, "p50": NUM, "p99": NUM, "max": NUM, "buckets": [[int]]}
FRAME = {"ip": (int, str, None), "symbol": (str, None), "offset": (int, None), "inlined": bool,
         "kernel": bool, "module": (str, None), "module_offset": (str, None),
         "file": (str, None), "line": (int, None)}
SHAPE = {
    "schema": str, "tracer": str, "duration_ns": int, "hidden_programs": int,
    "mmap_bytes": int, "empty": bool,
    "findings": [{"id": str, "text": str, "evidence": dict}],
    "threads": {
        "created": int, "exited": int, "cost_ns": {"p50": NUM, "p99": NUM, "max": NUM},
        "stages": [{"name": str, "total_ns": int, "p50_ns": NUM}],
        "by_thread": [{"tid": int, "comm": str, "parent": int, "start_ns": int,
                       "lifetime_ns": int, "cost_ns": int, "stages": dict, "calls": (int, None)}],
    },
    "locks": [{
        "addr": (int, str), "symbol": (str, None), "kind": str, "waits": int,
        "wakes": (int, None), "wasted_wakes": (int, None), "wait_ns": TIMES,
        "edges": [{"waker": int, "waiter": int, "count": int}], "site": [FRAME],
    }],
    "futex": {"calls": (int, None), "waits": int, "wakes": (int, None), "eagain": (int, None)},
    "pipes": [{
        "kind": str, "inode": int, "writers": [int], "readers": [int],
        "chunks_written": (int, None), "chunks_read": (int, None), "bytes": (int, None),
        "chunk_bytes": (dict, None), "writer_blocked_ns": int, "reader_blocked_ns": int,
        "futex_per_chunk": (int, float, None),
    }],
    "syscalls": [{
        "name": str, "calls": int, "errors": (int, None), "by_errno": (dict, None),
        "total_ns": int, "cpu_ns": (int, None), "p50_ns": NUM, "p99_ns": NUM, "max_ns": int,
        "timed": int, "buckets": [[int]],
    }],
    "sched": dict, "overhead": {"ns_per_syscall": (int, float, None)},
    "loss": {"ring_full": int, "map_full": int, "recursion": int, "unpaired": int,
             "stacks": int, "total": int},
}
LOCK_KINDS = {"private", "shared", "pi", "join"}
PIPE_KINDS = {"pipe", "fifo", "socketpair", "eventfd"}
LOSSES = ("ring_full", "map_full", "recursion", "unpaired", "stacks", "unknown")


# What wait mode does not see: null there, and only there.
CHUNKS = {"chunk_bytes": {"p50": NUM, "p99": NUM, "mean": NUM}}
EXACT = {
    "threads.by_thread": ("calls", "futex_calls"),
    "locks": ("timeouts", "eagain", "wakes", "woken", "wasted_wakes", "requeued"),
    "futex": ("calls", "timeouts", "eagain", "wakes", "wasted_wakes", "requeued"),
    "pipes": ("chunks_written", "chunks_read", "bytes", "bytes_read", "chunk_bytes",
              "futex_calls", "futex_per_chunk"),
    "syscalls": ("errors", "by_errno", "cpu_ns"),
}


def _match(value, shape, where):
    if isinstance(shape, dict):
        check(isinstance(value, dict), f"{where}: not an object: {value!r}")
        for k, s in shape.items():
            check(k in value, f"{where}: {k} is missing")
            _match(value[k], s, f"{where}.{k}")
    elif isinstance(shape, list):
        check(isinstance(value, list), f"{where}: not a list: {value!r}")
        for i, v in enumerate(value):
            _match(v, shape[0], f"{where}[{i}]")
    else:
        kinds = shape if isinstance(shape, tuple) else (shape,)
        if value is None:
            check(None in kinds, f"{where}: null")
            return
        good = tuple(k for k in kinds if k is not None)
        check(isinstance(value, good) and isinstance(value, bool) == (good == (bool,)),
              f"{where}: {value!r} is not {good}")
        if isinstance(value, NUM):
            check(value >= 0 or "overhead" in where, f"{where}: negative: {value}")


def _rising(d, names, where):
    v = [d[n] for n in names]
    # A quantile is the middle of a bucket 25 % wide; the maximum is exact.
    check(all(a <= b * 1.13 + 1 for a, b in zip(v, v[1:])), f"{where}: {names} = {v}")


def _exact(s):
    """Nothing that the mode does not see is claimed, and nothing that it sees is missing."""
    for path, names in EXACT.items():
        rows = s
        for part in path.split("."):
            rows = rows[part]
        for row in rows if isinstance(rows, list) else [rows]:
            for n in names:
                if n in row:
                    equal(row[n] is None, s.get("mode") == "wait", f"{path}: {n} is null")


def _buckets(buckets, count, top, where):
    edges = [b[0] for b in buckets]
    check(all(len(b) == 2 and b[1] > 0 for b in buckets), f"{where}: buckets {buckets}")
    equal(edges, sorted(set(edges)), f"{where}: buckets do not rise")
    equal(sum(b[1] for b in buckets), count, f"{where}: all are in buckets")
    check(not edges or edges[-1] <= top, f"{where}: the last bucket is above {top}")


def _threads(s):
    t = s["threads"]
    _rising(t["cost_ns"], ("p50", "p99", "max"), "threads.cost_ns")
    for th in t["by_thread"]:
        parts = sum(th["stages"].values())
        check(abs(parts - th["cost_ns"]) <= th["cost_ns"] * 0.01 + 1,
              f"thread {th['tid']}: stages add up to {parts}, cost is {th['cost_ns']}")


def _locks(s):
    totals = [l["wait_ns"]["total"] for l in s["locks"]]
    equal(totals, sorted(totals, reverse=True), "locks by wait_ns.total")
    for l in s["locks"]:
        where = f"lock {l['addr']}"
        check(l["kind"] in LOCK_KINDS, f"{where}: kind {l['kind']}")
        wait = l["wait_ns"]
        _rising(wait, ("p50", "p99", "max", "total"), where)
        _buckets(wait["buckets"], wait["count"], wait["max"], where)
        check((l["wasted_wakes"] or 0) <= (l["wakes"] or 0),
              f"{where}: more wasted wakes than wakes")
        check(sum(e["count"] for e in l["edges"]) <= l["waits"],
              f"{where}: more edges than waits ({l['waits']})")
    _edges(s)


def _edges(s):
    """
    Each wait that returned is in one edge, if only from waker 0. One that never
    did has none: its call is among the system calls and not among the futex
    operations, or its thread still runs.
    """
    if s.get("mode") != "exact" or s["loss"]["total"] or "futex" not in s.get("collected", ()):
        return
    alone = sum(l["waits"] - sum(e["count"] for e in l["edges"]) for l in s["locks"])
    entered = sum(c["calls"] for c in s["syscalls"] if c["name"].startswith("futex"))
    again = sum(c["calls"] for c in s["syscalls"] if c["name"] == "restart_syscall")
    returned = sum(op["calls"] for op in s["futex"]["ops"])
    room = max(entered - returned, 0) + again + s["still_running"]
    check(alone <= room, f"{alone} waits without an edge, of which {room} may not have returned")


def _pipes(s):
    for p in s["pipes"]:
        where = f"{p['kind']} {p['inode']}"
        check(p["kind"] in PIPE_KINDS, f"{where}: unknown kind")
        if p["chunk_bytes"] is not None:
            _match(p, CHUNKS, where)
            _rising(p["chunk_bytes"], ("p50", "p99"), where)
        check(p["writers"] or p["readers"], f"{where}: nobody at either end")
        equal(len(p["writers"]), len(set(p["writers"])), f"{where}: writers named twice")


def _syscalls(s):
    names = [c["name"] for c in s["syscalls"]]
    equal(len(names), len(set(names)), "a system call is listed twice")
    for c in s["syscalls"]:
        _rising(c, ("p50_ns", "p99_ns", "max_ns"), c["name"])
        _buckets(c["buckets"], c["timed"], c["max_ns"], c["name"])
        check(c["timed"] <= c["calls"], f"{c['name']}: more were timed than called")
        if c["errors"] is None:
            continue
        check(c["errors"] <= c["calls"], f"{c['name']}: more errors than calls")
        equal(sum(c["by_errno"].values()), c["errors"], f"{c['name']}: errors by errno")
        check(all(isinstance(k, str) and k.startswith("E") for k in c["by_errno"]),
              f"{c['name']}: {sorted(c['by_errno'])}")
        check(c["cpu_ns"] <= c["total_ns"], f"{c['name']}: more CPU than wall time")


def check_summary(s, run=True):
    """Raises Failure where s breaks the contract."""
    _match(s, SHAPE, "summary")
    equal(s["schema"], "tracer.summary/1", "schema")
    if run:
        _match(s, {"command": [str], "exit": {"code": (int, None), "signal": (int, str, None)}},
               "summary")
    loss = s["loss"]
    equal(loss["total"], sum(loss.get(k, 0) for k in LOSSES), "loss.total")
    for part in (_exact, _threads, _locks, _pipes, _syscalls):
        part(s)


def check_timeline(t):
    """A Chrome/Perfetto JSON trace, by structure. Returns its events."""
    events = t["traceEvents"] if isinstance(t, dict) else t
    check(isinstance(events, list) and events, "no traceEvents")
    flows, open_, slices, named = {}, {}, {}, set()
    for e in events:
        for k in ("ph", "pid", "tid"):
            check(k in e, f"event without {k}: {e}")
        if e["ph"] == "M":
            check(e.get("name") in ("process_name", "thread_name", "process_sort_index",
                                    "thread_sort_index", "process_labels"), f"metadata: {e}")
            check(isinstance(e.get("args"), dict), f"metadata without args: {e}")
            if e["name"] == "thread_name":
                named.add((e["pid"], e["tid"]))
            continue
        check(isinstance(e.get("ts"), NUM) and e["ts"] >= 0, f"no time: {e}")
        track = (e["pid"], e["tid"])
        if e["ph"] == "X":
            check(isinstance(e.get("dur"), NUM) and e["dur"] >= 0, f"X without dur: {e}")
            check("name" in e, f"X without name: {e}")
            slices.setdefault(track, []).append((e["ts"], e["dur"], e["name"]))
        elif e["ph"] in "sf":
            check("id" in e, f"flow without id: {e}")
            flows.setdefault((e.get("cat"), e["id"]), []).append((e["ph"], track))
        elif e["ph"] in "BE":
            open_[track] = open_.get(track, 0) + (1 if e["ph"] == "B" else -1)
            check(open_[track] >= 0, f"E without B: {e}")
    for k, ends in flows.items():
        check(sorted(ph for ph, _ in ends) == ["f", "s"],
              f"flow {k} is not one start and one finish: {ends}")
        for ph, track in ends:
            check(track in slices or track in named, f"end {ph} of flow {k} on no track: {track}")
    check(not any(open_.values()), f"slices left open: {open_}")
    for track, parts in slices.items():
        _nest(track, parts)
    return events


def _nest(track, parts):
    """Slices of one track lie beside or inside each other; times are in microseconds."""
    eps, stack = 0.002, []
    for ts, dur, name in sorted(parts, key=lambda p: (p[0], -p[1])):
        while stack and stack[-1][0] <= ts + eps:
            stack.pop()
        if stack and ts + dur > stack[-1][0] + eps:
            raise Failure(f"{track}: slice {name} ({ts} + {dur}) crosses the end of "
                          f"{stack[-1][1]} at {stack[-1][0]}")
        stack.append((ts + dur, name))
