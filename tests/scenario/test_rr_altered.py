#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings that were altered (tests/rr/alter.c), whose checksums are right all the same."""
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (BUILD, PIPE, SANITIZED, SLOW, TRACER, check, contains, equal, main, run,
                     scratch, start, test, workload)
from recordings import record, replay

ALTER = os.path.join(BUILD, "tests", "rr", "alter")
SEEDS = 15 if SANITIZED else 50


def check_end(what, p):
    try:
        err = p.communicate(timeout=5 * SLOW)[1]
    except subprocess.TimeoutExpired:
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=5 * SLOW)[1]
    check(0 <= p.returncode < 126 or p.returncode == -signal.SIGINT,
          f"{what}: exit {p.returncode}: {err[-500:]}")
    check(p.returncode != 2 or err.startswith(b"tracer: "), f"{what}: {err}")


@test
def events_that_say_something_else():
    """With right checksums: what they say leads to an error, and to no crash. A program that
    goes on for ever by them is ended as by Ctrl-C."""
    with scratch() as d:
        record(d, workload("rr_turns"), "ends", name="threads")
        record(d, "bash", "-c", "trap 'echo t' USR1; (seq 99 | sort -R >/dev/null; kill -USR1 $$);"
               " for i in 1 2; do /bin/true; done; echo done", name="processes")
        for name in "threads", "processes":
            other = os.path.join(d, name + "2")
            shutil.copytree(os.path.join(d, name), other)
            for seed in range(SEEDS):
                os.unlink(os.path.join(other, "events"))
                run([ALTER, os.path.join(d, name, "events"), os.path.join(other, "events"),
                     str(seed)]).ok()
                p = start([TRACER, "replay", "-a", other], stdout=PIPE, stderr=PIPE)
                check_end(f"{name}, seed {seed}", p)


@test
def chunks_that_end_anywhere():
    """Behind each event: a call that mapped a file, too, whose file is the next one."""
    with scratch() as d:
        was = record(d, "/usr/bin/python3", "-c", "import threading as t\nt.Thread(target="
                     "lambda: print(sum(range(9)))).start()")
        events = os.path.join(d, "rec", "events")
        os.rename(events, events + "0")
        run([ALTER, events + "0", events]).ok()
        r = replay(d)
        equal((r.rc, r.out), (0, was.out), r.err)


@test
def memory_longer_than_its_event():
    """Of a call that a process does by itself: what comes behind the event is not written."""
    with scratch() as d:
        record(d, workload("rr_ours"), "reads")
        events = os.path.join(d, "rec", "events")
        reads = re.findall(r"^(\d+) \d+ call read\(", run([TRACER, "dump", f"{d}/rec"]).ok().out,
                           re.M)
        os.rename(events, events + "0")
        # Behind the event's head are nine words, and a piece: its address, its length.
        run([ALTER, events + "0", events, reads[60], "10", "4096"]).ok()
        r = replay(d)
        equal(r.rc, 2, r.out)
        contains(r.err, "is damaged: a piece of memory is longer than it", "the event")


if __name__ == "__main__":
    main()
