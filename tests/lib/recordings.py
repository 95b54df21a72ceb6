# SPDX-License-Identifier: MIT
"""Programs are recorded and replayed: what both print, and their exit codes, are the same."""
import contextlib
import os

from harness import DEVNULL, TRACER, check, equal, run, scratch

TIMES = int(os.environ.get("TRACER_RR_TIMES", "2"))  # replays of each recording
QUANTUM = "/proc/sys/kernel/sched_rr_timeslice_ms"


def record(d, *cmd, rc=0, name="rec", opts=(), **kw):
    """The Result of the recorded run; the recording is d/name."""
    kw.setdefault("stdin", DEVNULL)
    r = run([TRACER, "record", "-q", *opts, "-o", os.path.join(d, name), "--", *cmd], **kw)
    equal(r.rc, rc, f"{cmd} recorded: {r.err}")
    return r


def replay(d, name="rec", times=TIMES, **kw):
    """The Result of the last of as many replays, which end and print alike."""
    first = None
    for _ in range(times):
        r = run([TRACER, "replay", "-a", os.path.join(d, name)], stdin=DEVNULL, **kw)
        first = first or r
        equal((r.rc, r.out), (first.rc, first.out), f"{name} replayed again: {r.err}")
        # One that diverges may do so by values that are others each time.
        check(r.rc == 2 or r.err == first.err, f"{name} replayed again: {r.err}")
    return r


def same(*cmd, rc=0, times=TIMES, **kw):
    with scratch() as d:
        was = record(d, *cmd, rc=rc, **kw)
        r = replay(d, times=times)
        equal((r.rc, r.out, r.err), (rc, was.out, was.err), f"{cmd} replayed")
    return was


@contextlib.contextmanager
def quantum(ms):
    """Real-time threads of one priority take turns after so many milliseconds."""
    with open(QUANTUM, encoding="ascii") as f:
        was = f.read()
    try:
        with open(QUANTUM, "w", encoding="ascii") as f:
            f.write(str(ms))
        yield
    finally:
        with open(QUANTUM, "w", encoding="ascii") as f:
            f.write(was)
