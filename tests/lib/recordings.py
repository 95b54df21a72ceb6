# SPDX-License-Identifier: MIT
"""Programs are recorded and replayed: what both print, and their exit codes, are the same."""
import contextlib
import os

from harness import DEVNULL, TRACER, equal, run, scratch

TIMES = int(os.environ.get("TRACER_RR_TIMES", "2"))  # replays of each recording
QUANTUM = "/proc/sys/kernel/sched_rr_timeslice_ms"


def record(d, *cmd, rc=0, name="rec", opts=(), **kw):
    """The Result of the recorded run; the recording is d/name."""
    kw.setdefault("stdin", DEVNULL)
    r = run([TRACER, "record", "-q", *opts, "-o", os.path.join(d, name), "--", *cmd], **kw)
    equal(r.rc, rc, f"{cmd} recorded: {r.err}")
    return r


def replay(d, name="rec", **kw):
    return run([TRACER, "replay", "-a", os.path.join(d, name)], stdin=DEVNULL, **kw)


def same(*cmd, rc=0, times=TIMES, **kw):
    with scratch() as d:
        was = record(d, *cmd, rc=rc, **kw)
        for _ in range(times):
            r = replay(d)
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
