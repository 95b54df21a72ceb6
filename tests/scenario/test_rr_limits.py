#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a recording refuses, and what it has to know better than the kernel tells."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import equal, main, scratch, test, workload
from recordings import quantum, record, replay


@test
def calls_that_the_kernel_does_not_have():
    """Behind one, a thread looks as if it were in a call."""
    with quantum(1), scratch() as d:
        was = record(d, workload("rr_nosys"), "100000")
        for _ in range(2):
            r = replay(d)
            equal((r.rc, r.out), (0, was.out), r.err)


if __name__ == "__main__":
    main()
