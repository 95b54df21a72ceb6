#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The runs of one bench share a loaded trace: each counts as if it were alone."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import TRACER, check, equal, main, run, scratch, test, workload


def runs_of(*args):
    """The values of each run, warm-ups too."""
    with scratch() as d:
        r = run([TRACER, "bench", "--json", "--store", os.path.join(d, "runs.db"), *args]).ok()
        return [one["values"] for one in json.loads(r.out)["runs"]]


def same(runs, wanted):
    for i, values in enumerate(runs):
        for name, n in wanted.items():
            equal(values.get(name, 0), n, f"{name} of run {i}")


@test
def each_run_counts_for_itself():
    runs = runs_of("-n", "5", "-w", "2", "--", workload("thread_storm"), "101")
    equal(len(runs), 7, "runs")
    same(runs, {"thread.created": 101, "syscall.clone3": 101, "syscall.execve": 1})
    runs = runs_of("-n", "5", "--", workload("pipe_chunks"), "64", "1009")
    same(runs, {"pipe.chunks": 1009, "thread.created": 0})
    runs = runs_of("-n", "5", "--", workload("futex_items"), "503")
    equal(len({values["futex.wake"] for values in runs}), 1, "different numbers of wakes")
    bytes_ = [values["mem.mmap_bytes"] for values in runs]
    check(max(bytes_) - min(bytes_) < 1 << 20, f"mapped bytes: {bytes_}")


@test
def what_a_run_left_behind_is_not_in_the_next():
    """A second after its run has ended it makes calls."""
    script = f"(sleep 1; exec {workload('getppid_loop')} 100003) & exec sleep 0.5"
    runs = runs_of("-n", "6", "--", "sh", "-c", script)
    equal(len(runs), 6, "runs")
    for values in runs:
        # The shell makes one of its own.
        check(values.get("syscall.getppid", 0) < 10, f"a run of another's calls: {values}")


if __name__ == "__main__":
    main()
