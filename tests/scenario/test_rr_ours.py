#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that come near to what a replay puts among their memory (tests/workloads/rr_ours.c):
it makes way, and they do not notice."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import main, test, workload
from recordings import same

OURS = workload("rr_ours")


@test
def calls_that_reach_over_holes():
    for kind in "dropped", "protected", "forked":
        same(OURS, kind)


if __name__ == "__main__":
    main()
