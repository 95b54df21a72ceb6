#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a recording refuses, and what it has to know better than the kernel tells."""
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, Skip, TRACER, check, contains, equal, main, need, run, scratch, test,
                     workload)
from recordings import quantum, record, replay

PYTHON = "/usr/bin/python3"
IPC_CREAT, IPC_RMID = 0o1000, 0
SHARING = "by a process outside of the recording: a replay does not see what that writes into it"


def recorded(d, *cmd, name="rec"):
    """With what it says on stderr."""
    return run([TRACER, "record", "-o", os.path.join(d, name), "--", *cmd], stdin=DEVNULL)


def refused(what, hint, *cmd):
    with scratch() as d:
        r = recorded(d, *cmd)
        equal(r.rc, 125, r.err)
        contains(r.err, what, "what it says")
        contains(r.err, hint, "what to do")
        r = replay(d)
        equal(r.rc, 2, "replayed up to there")
        contains(r.err, "the recording ends behind event", "its replay")


@test
def calls_that_the_kernel_does_not_have():
    """Behind one, a thread looks as if it were in a call."""
    with quantum(1), scratch() as d:
        was = record(d, workload("rr_nosys"), "100000")
        r = replay(d)
        equal((r.rc, r.out), (0, was.out), r.err)


@test
def what_ends_a_recording_is_named():
    need("strace")
    refused("(strace) made a call that cannot be recorded: ptrace, number 101",
            "record what the debugger or tracer runs", "strace", "-o", "/dev/null", "true")
    refused("(bpftool) made a call that cannot be recorded: bpf, number 321", "BPF programs",
            "bpftool", "prog", "list")


@test
def memory_that_is_written_as_a_file():
    code = ("import ctypes\nb = ctypes.create_string_buffer(b'abc')\n"
            "with open('/proc/self/mem', '{}b', buffering=0) as f:\n"
            "    f.seek(ctypes.addressof(b)); {}\nprint(b.value)")
    refused("(python3) wrote into memory by way of /proc/PID/mem", "process_vm_writev",
            PYTHON, "-c", code.format("r+", "f.write(b'x')"))
    with scratch() as d:
        was = record(d, PYTHON, "-c", code.format("r", "print(f.read(3))"))
        equal(was.out, "b'abc'\nb'abc'\n", "read as a file")
        equal(replay(d).out, was.out, "replayed")


@test
def a_segment_that_others_have():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    code = ("import ctypes, sys\nlibc = ctypes.CDLL(None)\n"
            "libc.shmat.restype = ctypes.c_void_p\nat = libc.shmat(int(sys.argv[1]), None, 0)\n"
            "print(ctypes.string_at(at, 3))")
    one = libc.shmget(0, 4096, IPC_CREAT | 0o600)
    if one < 0:
        raise Skip("there is no shared memory here")
    try:
        at = libc.shmat(one, None, 0)
        ctypes.memmove(at, b"abc", 3)
        with scratch() as d:
            r = recorded(d, PYTHON, "-c", code, str(one))
            equal((r.rc, r.out), (0, "b'abc'\n"), r.err)
            contains(r.err, f"System V segment {one} is attached {SHARING}", "what it says")
            equal(replay(d).out, r.out, "replayed")
            libc.shmdt(ctypes.c_void_p(at))
            r = recorded(d, PYTHON, "-c", code, str(one), name="alone")
            equal((r.rc, r.out), (0, "b'abc'\n"), r.err)
            check(SHARING not in r.err, f"alone: {r.err}")
    finally:
        libc.shmctl(one, IPC_RMID, None)


if __name__ == "__main__":
    main()
