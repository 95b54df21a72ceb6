#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every futex operation: counted, by address, waiter tied to waker.

The workloads report the kernel's answers to their own calls and, as nvcsw,
how often the kernel saw the thread give up the CPU: nothing in their loops
sleeps except a futex wait.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (Skip, between, call, calls, check, edges, equal, lock_at, lossless, main,
                     near, test, trace_work)


def optional(name, *args, **kw):
    """A workload that exits 77 where the kernel lacks the call."""
    r = trace_work(name, *args, rc=None, **kw)
    if r.rc == 77:
        raise Skip(f"{name}: the kernel lacks it")
    r.ok()
    check_summary(r.json)
    lossless(r.json)
    return r


def tied(lock):
    return sum(n for (waker, _), n in edges(lock).items() if waker)


def named(summary, word):
    return [l for l in summary["locks"] if word in (l["symbol"] or "")]


@test(timeout=90)
def forty_thousand_condvar_handoffs():
    n = 40000
    r = trace_work("condvar_handoff", n)
    s, said = r.json, r.said
    equal(said["handoffs"], n, "the workload itself")
    check_summary(s)
    lossless(s)
    mine = named(s, "handoff_")
    slept = said["nvcsw"]
    waits = sum(l["waits"] for l in mine)
    ties = sum(tied(l) for l in mine)
    check(slept >= n / 2, f"the workload slept only {slept} times: it proves nothing")
    # A wait that was woken before it slept is a wait, but not a sleep.
    check(waits >= slept - 2, f"{waits} waits, but the kernel saw {slept} sleeps")
    between(ties, slept - max(4, slept // 1000), waits, "waits tied to a waker")
    near(sum(l["blocked"] for l in mine), slept, 0.001, "blocked waits", 4)
    both = {}
    for l in mine:
        for e, c in edges(l).items():
            both[e] = both.get(e, 0) + c
    a, b = said["a_tid"], said["b_tid"]
    near(both.get((b, a), 0), said["a_nvcsw"], 0.01, "a woken by b", 8)
    near(both.get((a, b), 0), said["b_nvcsw"], 0.01, "b woken by a", 8)
    check({e for e in both if e[0]} <= {(a, b), (b, a)}, f"strangers among {sorted(both)}")


@test
def condvar_and_mutex_are_named():
    s = trace_work("condvar_handoff", 4001).json
    check(named(s, "handoff_cond"), "the condition variable has its name")
    cond = sum(l["waits"] for l in named(s, "handoff_cond"))
    check(cond >= 2000, f"only {cond} waits on the condition variable")


@test
def ping_pong_is_exact():
    r = trace_work("futex_pingpong", 10007)
    s, said = r.json, r.said
    check_summary(s)
    lossless(s)
    l = lock_at(s, said["addr"])
    equal(l["kind"], "private", "kind")
    equal(l["symbol"], "ball", "symbol")
    equal(l["waits"], said["waits"], "waits that returned 0")
    equal(l["wakes"], said["wakes"], "wakes")
    equal(l["wasted_wakes"], said["wasted"], "wakes that woke nobody")
    got = edges(l)
    between(got.get((said["b_tid"], said["a_tid"]), 0), said["a_nvcsw"], said["a_waits"],
            "a woken by b")
    between(got.get((said["a_tid"], said["b_tid"]), 0), said["b_nvcsw"], said["b_waits"],
            "b woken by a")
    between(sum(got.values()), said["nvcsw"], said["waits"], "all edges")


@test
def futex_totals_are_the_calls():
    r = trace_work("futex_pingpong", 5003)
    s, said = r.json, r.said
    equal(s["futex"]["calls"], call(s, "futex")["calls"], "futex.calls against the call table")
    check(s["futex"]["waits"] >= said["waits"], "futex.waits")
    check(s["futex"]["wakes"] >= said["wakes"], "futex.wakes")
    near(s["futex"]["eagain"], said["eagain"], 0, "futex.eagain", 2)
    equal(s["futex"]["waits"], sum(l["waits"] for l in s["locks"]), "waits over all locks")
    equal(s["futex"]["wakes"], sum(l["wakes"] for l in s["locks"]), "wakes over all locks")


@test
def wasted_wakes():
    n = 10007
    r = trace_work("wasted_wake", n)
    l = lock_at(r.json, r.said["addr"])
    equal((l["wakes"], l["wasted_wakes"], l["waits"]), (n, n, 0), "wakes, wasted, waits")
    equal(l["symbol"], "nobody_waits", "symbol")
    equal(l["edges"], [], "edges")


@test
def eagain_is_no_wait():
    n = 10007
    r = trace_work("futex_eagain", n)
    s = r.json
    l = lock_at(s, r.said["addr"])
    equal(l["waits"], 0, "waits")
    equal(s["futex"]["eagain"], n, "futex.eagain")
    equal(call(s, "futex")["by_errno"].get("EAGAIN"), n, "EAGAIN of futex")
    equal(l["eagain"], n, "eagain of the lock")


@test
def timeouts_are_waits_without_a_waker():
    n = 211
    r = trace_work("futex_timeout", n, 1000)
    s = r.json
    l = lock_at(s, r.said["addr"])
    equal(l["waits"], n, "waits")
    equal(l["timeouts"], n, "timeouts")
    equal(tied(l), 0, "waits tied to a waker")
    equal(call(s, "futex")["by_errno"].get("ETIMEDOUT"), n, "ETIMEDOUT of futex")
    between(l["wait_ns"]["total"], n * 1000000, r.said["spent_ns"], "wait_ns.total")
    between(l["wait_ns"]["p50"], 1000000 * 0.85, 1000000 * 3, "wait_ns.p50")


@test
def a_wait_that_was_stopped_and_continued_is_one_wait():
    n = 3
    r = trace_work("futex_stopped", n)
    s, said = r.json, r.said
    l = lock_at(s, said["addr"])
    equal((l["waits"], l["timeouts"], l["wakes"]), (1, 0, 1), "waits, timeouts, wakes")
    equal(edges(l), {(said["m_tid"], said["w_tid"]): 1}, "who woke whom")
    # Not the pauses in which the process was stopped.
    between(l["wait_ns"]["total"], (n + 0.9) * said["pause_ns"],
            said["waited_ns"] - n * said["pause_ns"] * 0.5, "wait_ns.total")
    between(l["wait_ns"]["p99"], l["wait_ns"]["total"] * 0.8, l["wait_ns"]["total"] * 1.2, "p99")
    check(call(s, "restart_syscall")["calls"] >= n, "the rest of the wait, as strace shows it")


@test
def interrupted_waits_are_waits():
    r = trace_work("signal_storm", 1009)
    s = r.json
    l = lock_at(s, r.said["addr"])
    equal(l["waits"], r.said["waits"], "waits")
    # The program gets EINTR; the kernel's own return value, which strace prints, is a restart.
    by = call(s, "futex")["by_errno"]
    got = sum(by.get(e, 0) for e in ("EINTR", "ERESTARTSYS", "ERESTART_RESTARTBLOCK"))
    equal(got, r.said["eintr"], f"interruptions among {by}")


@test
def requeued_waits():
    # 78: the kernel lost a wake, traced or not; most runs have none.
    r = next(r for r in (trace_work("futex_requeue", 503, rc=None) for _ in range(8))
             if r.rc != 78)
    r.ok()
    check_summary(r.json)
    lossless(r.json)
    s, said = r.json, r.said
    a, b = lock_at(s, said["from"]), lock_at(s, said["to"])
    equal(a["waits"] + b["waits"], said["waits"], "waits on both words")
    equal(a["wakes"] + b["wakes"] - said["wakes"] in (0, said["requeues"]), True,
          "wakes on both words, with or without the requeue calls")
    woken_by = edges(a).get((said["a_tid"], said["b_tid"]), 0) + \
        edges(b).get((said["a_tid"], said["b_tid"]), 0)
    equal(woken_by, said["waits"], "waits tied to the waker on the second word")
    for l, n in ((a, said["requeued"]), (b, 0)):
        equal(l["requeued"], n, f"requeued from {l['symbol']}")


@test
def priority_inheritance():
    r = optional("futex_pi", 1009)
    s, said = r.json, r.said
    l = lock_at(s, said["addr"])
    equal(l["kind"], "pi", "kind")
    equal(l["waits"], said["locks"], "waits")
    between(edges(l).get((said["holder"], said["waiter"]), 0), said["nvcsw"], said["rounds"],
            "handed over by the holder: those that slept, and those that were quick")
    # A waiter that was served before it slept needs no wake.
    between(l["woken"], said["nvcsw"], said["rounds"], "threads woken by an unlock")
    check(l["wait_ns"]["total"] > 0, "no time was waited")


@test
def waitv():
    r = optional("futex_waitv", 2003)
    s, said = r.json, r.said
    second = lock_at(s, said["second"])
    equal(calls(s)["futex_waitv"], said["waits"] + 1, "futex_waitv calls, with the probe")
    equal(edges(second).get((said["a_tid"], said["b_tid"]), 0), said["waits"],
          "waits tied to the waker of the second word")
    equal(second["wakes"], said["wakes"], "wakes")
    equal(second["wasted_wakes"], said["wasted"], "wasted wakes")
    check(second["waits"] >= said["waits"], f"waits: {second['waits']}")


@test
def futex2_calls():
    r = optional("futex_two", 2003)
    s, said = r.json, r.said
    l = lock_at(s, said["addr"])
    equal(calls(s)["futex_wait"], said["waits"] + said["eagain"], "futex_wait calls")
    equal(calls(s)["futex_wake"], said["wakes"], "futex_wake calls")
    equal((l["waits"], l["wakes"], l["wasted_wakes"]),
          (said["waits"], said["wakes"], said["wasted"]), "waits, wakes, wasted")
    equal(edges(l).get((said["a_tid"], said["b_tid"]), 0), said["waits"], "edges")


@test
def bitset():
    r = optional("futex_bitset", 2003)
    l, said = lock_at(r.json, r.said["addr"]), r.said
    equal((l["waits"], l["wakes"], l["wasted_wakes"]),
          (said["waits"], said["wakes"], said["wasted"]), "waits, wakes, wasted")
    equal(edges(l).get((said["a_tid"], said["b_tid"]), 0), said["waits"], "edges")


@test
def shared_futex_is_one_lock():
    r = trace_work("shared_futex", 5003)
    s, said = r.json, r.said
    lossless(s)
    check(said["a_addr"] != said["b_addr"], "both mapped it at the same address")
    found = [l for l in s["locks"] if l["kind"] == "shared" and l["waits"]]
    equal(len(found), 1, f"shared locks {[(l['addr'], l['waits']) for l in found]}")
    l = found[0]
    equal((l["waits"], l["wakes"], l["wasted_wakes"]),
          (said["waits"], said["wakes"], said["wasted"]), "waits, wakes, wasted")
    equal(edges(l).get((said["b_tid"], said["a_tid"]), 0), said["a_waits"], "a woken by b")
    equal(edges(l).get((said["a_tid"], said["b_tid"]), 0), said["b_waits"], "b woken by a")


@test
def joins_are_waits():
    n = 211
    r = trace_work("join_wait", n, 2000)
    s, said = r.json, r.said
    found = [l for l in s["locks"] if l["kind"] == "join"]
    waits = sum(l["waits"] for l in found)
    # The joiner may come too late to wait when the machine is busy.
    check(n * 0.8 <= said["nvcsw"] <= waits <= n, f"{waits} join waits, {said['nvcsw']} sleeps")
    got = {}
    for l in found:
        for (waker, waiter), c in edges(l).items():
            equal(waiter, said["tid"], "who joins")
            got[waker] = got.get(waker, 0) + c
    made = {t["tid"] for t in s["threads"]["by_thread"] if t["cost_ns"]}
    # Ended threads may be many: their process may stand for them in a lock's edges.
    strangers = set(got) - made - {said["tid"]}
    check(not strangers, f"not the ended threads woke the joiner: {strangers}")
    equal(sum(got.values()), waits, "joins tied to a waker")
    # Which thread it was stands with the thread itself.
    tied_to = [t for t in s["threads"]["by_thread"] if t["cost_ns"] and t["stages"]["join"]]
    between(len(tied_to), said["nvcsw"] - 1, waits, "threads whose end woke a joiner")
    total = sum(l["wait_ns"]["total"] for l in found)
    between(total, said["join_ns"] * 0.5, said["join_ns"], "time in joins")


@test
def contended_mutex():
    r = trace_work("mutex_contend", 4, 503, 50000)
    s, said = r.json, r.said
    equal(said["taken"], 4 * 503, "the workload itself")
    l = lock_at(s, said["addr"])
    equal(l["symbol"], "contended_lock", "symbol")
    equal(as_first(s), l["addr"], "it is the lock that is waited for longest")
    check(l["waits"] >= said["nvcsw"] - 4, f"{l['waits']} waits, {said['nvcsw']} sleeps")
    near(l["blocked"], said["nvcsw"], 0.01, "waits that gave up the CPU", 4)
    between(l["wait_ns"]["total"], said["lock_ns"] * 0.5, said["lock_ns"], "wait_ns.total")
    check(tied(l) >= said["nvcsw"] * 0.99 - 4, f"{tied(l)} waits are tied of {said['nvcsw']}")


def as_first(s):
    rest = [l for l in s["locks"] if l["kind"] != "join"]
    return rest[0]["addr"] if rest else None


@test
def contended_mutex_has_its_site():
    r = trace_work("mutex_contend", 4, 503, 50000, opts=["--stacks"])
    l = lock_at(r.json, r.said["addr"])
    check(l["site"], f"no stack; loss is {r.json['loss']}")
    symbols = [f["symbol"] for f in l["site"]]
    check("take_and_hold" in symbols, f"take_and_hold is not in {symbols}")
    at = symbols.index("take_and_hold")
    check("work" in symbols[at + 1:], f"work does not call it in {symbols}")
    check(not any("@" in (x or "") for x in symbols), f"symbol versions in {symbols}")
    frame = l["site"][at]
    check((frame["file"] or "").endswith("mutex_contend.c"), f"file of {frame}")
    between(frame["line"] or 0, 20, 45, f"line of {frame}")


@test
def uncontended_mutex_is_not_a_lock_that_waits():
    r = trace_work("mutex_contend", 1, 10007, 0)
    hit = [l for l in r.json["locks"] if int(str(l["addr"]), 0) == r.said["addr"]]
    equal(sum(l["waits"] for l in hit), 0, "waits of a lock that one thread uses")


if __name__ == "__main__":
    main()
