#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The loss ledger: what could not be counted is said, never hidden."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (TRACER, between, call, calls, check, edges, equal, lock_at, lossless, main,
                     run, test, trace_work, workload)

TINY = ["--ring", "4096"]


@test
def tiny_ring_shows_its_losses():
    r = trace_work("thread_storm", 20000, opts=TINY)
    s = r.json
    check_summary(s)
    check(s["loss"]["ring_full"] > 0, "a ring of 4096 bytes lost nothing over 20,000 threads")
    # What is counted in the kernel is not a matter of the ring.
    equal(calls(s)["clone3"], 20000, "clone3")
    equal(s["threads"]["created"], 20000, "threads.created")
    equal(s["threads"]["exited"], 20000, "threads.exited")


@test
def losses_are_printed_for_people():
    r = run([TRACER, "run", *TINY, "--", workload("thread_storm"), "20000"])
    r.ok()
    text = r.err.lower()
    check("lost" in text or "loss" in text or "dropped" in text, f"no word of it: {r.err[-1500:]}")
    check("--ring" in r.err, "the next step, a larger --ring, is not named")


@test
def no_loss_no_word_of_it():
    r = run([TRACER, "run", "--", workload("getppid_loop"), "1009"]).ok()
    check("lost" not in r.err.lower() and "dropped" not in r.err.lower(), r.err[-800:])


@test
def default_ring_loses_nothing_in_a_storm():
    lossless(trace_work("thread_storm", 20000).json)
    lossless(trace_work("condvar_handoff", 40000).json)


@test
def large_ring():
    s = trace_work("futex_pingpong", 5003, opts=["--ring", "32M"]).json
    lossless(s)


@test
def ring_sizes_that_cannot_be():
    for size in ("-1", "4Q", "", "1e9", "99999999999G"):
        r = run([TRACER, "run", "--ring", size, "--", "true"])
        equal(r.rc, 125, f"--ring {size!r}")
        check("--ring" in r.err, f"the message names it: {r.err!r}")


@test
def ten_thousand_addresses_are_not_cut_silently():
    n = 10007
    r = trace_work("futex_addresses", n)
    s, said = r.json, r.said
    check_summary(s)
    equal(call(s, "futex")["calls"], said["calls"], "futex calls in the table of calls")
    loss = s["loss"]
    wakes = sum(l["wakes"] for l in s["locks"])
    cut = s.get("locks_cut", 0)
    seen = s["futex"].get("addresses", len(s["locks"]))
    between(seen + loss["map_full"], n, said["calls"] + 8, "addresses and the ledger")
    check(wakes == s["futex"]["wakes"] or cut or loss["map_full"],
          f"{wakes} wakes in the list of {s['futex']['wakes']}, and no word of a cut")
    check(s["futex"]["wakes"] + loss["map_full"] >= said["calls"], "wakes and the ledger")
    if loss["map_full"] == 0 and not cut:
        equal(lock_at(s, said["last"])["wakes"], 3, "wakes on the last address")


@test(timeout=120)
def rows_by_thread_are_capped_and_counted():
    """More threads than rows are kept; all others are in the counts."""
    n = 66000
    t = trace_work("thread_storm", n, opts=["--ring", "32M"], timeout=100).json["threads"]
    check(t["by_thread_cap"] < n, f"a cap of {t['by_thread_cap']} rows is not reached")
    equal(len(t["by_thread"]), t["by_thread_cap"], "rows that were kept")
    equal(t["by_thread_cut"], n + 1 - t["by_thread_cap"], "rows cut: the others and the first one")
    equal((t["created"], t["exited"]), (n, n), "threads created and exited")


@test
def edges_of_a_crowd():
    """Each of many threads wakes each other one from one word, once."""
    n = 67
    r = trace_work("futex_crowd", n, n)
    s = r.json
    check_summary(s)
    lossless(s)
    l = lock_at(s, r.said["addr"])
    equal(l["waits"], r.said["waits"], "waits")
    found = edges(l)
    equal(set(found.values()), {1}, "times that one woke another")
    members = {waiter for _, waiter in found}
    equal(len(members), n, "members of the crowd")
    equal(set(found), {(a, b) for a in members for b in members if a != b}, "who woke whom")


@test
def edges_that_find_no_room_are_in_the_ledger():
    """A crowd with more edges than the kernel's table has rows."""
    n = 211
    r = trace_work("futex_crowd", n, n)
    s = r.json
    check_summary(s)
    equal(lock_at(s, r.said["addr"])["waits"], r.said["waits"], "waits")
    waits = sum(l["waits"] for l in s["locks"])
    told = sum(sum(edges(l).values()) for l in s["locks"])
    check(told < waits, f"all {told} edges found room: the crowd is too small")
    equal(told + s["loss"]["map_full"], waits, "edges and the ledger")


if __name__ == "__main__":
    main()
