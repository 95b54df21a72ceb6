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


@test
def rows_by_thread_are_capped_and_counted():
    n = 20000
    s = trace_work("thread_storm", n).json
    rows = len(s["threads"]["by_thread"])
    cut = s["threads"].get("by_thread_cut", 0)
    equal(rows + cut, n + 1, "rows and those cut: every thread and the first one")


@test
def edges_of_a_crowd():
    """Many waiters on one word: edges that do not fit count under waker 0 or in the ledger."""
    s = trace_work("hostile_names").json
    for l in s["locks"]:
        check(sum(edges(l).values()) <= l["waits"], f"more edges than waits at {l['addr']}")


if __name__ == "__main__":
    main()
