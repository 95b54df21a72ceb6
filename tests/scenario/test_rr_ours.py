#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that come near to what a replay puts among their memory (tests/workloads/rr_ours.c):
it makes way, and they do not notice."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import TRACER, contains, equal, main, run, scratch, test, workload
from recordings import record, replay, same

OURS = workload("rr_ours")


@test
def calls_that_reach_over_holes():
    for kind in "dropped", "protected", "forked":
        same(OURS, kind)


@test
def a_fault_amid_steps():
    """It is told of at the event that it is in the way of, with the thread."""
    with scratch() as d:
        record(d, OURS, "reads_code")
        line = next(line for line in run([TRACER, "dump", os.path.join(d, "rec")]).ok()
                    .out.splitlines() if " call getgid(" in line)
        event, thread = line.split()[:2]
        r = replay(d)
        equal(r.rc, 2, r.out)
        contains(r.err, f"event {event}, thread {thread}: signal 11 at ", "where")


@test
def what_a_process_writes_of_the_steps():
    """It is not believed how far apart registers lie."""
    with scratch() as d:
        record(d, OURS, "writes_sizes")
        r = replay(d)
        equal(r.rc, 2, r.err)
        contains(r.err, "event ", "where")


@test
def a_moved_instruction_that_faults():
    equal(same(OURS, "moved").out, "4 faults, 1\n", "each behind a call")


@test
def code_that_goes_on_in_a_page_that_is_written():
    want = f"{sum(range(50))}\n{sum(range(25, 50))}\n"
    equal(same(OURS, "at_a_border").out, want, "with each number")


@test
def calls_with_alignment_checked():
    equal(same(OURS, "aligned").out, "50 times\n", "the flag was set")


@test
def ids_that_cannot_be_written():
    """The kernel does not mind, and leaves them out."""
    equal(same(OURS, "ids_nowhere").out, "12 threads, 0\n", "the page was left alone")


if __name__ == "__main__":
    main()
