#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What of all that a program writes is its output, and in which order a replay prints it."""
import os
import pty
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import DEVNULL, TRACER, contains, equal, main, run, scratch, test
from recordings import record, replay

PYTHON = "/usr/bin/python3"


def outputs(d, want_out, want_err="", name="rec"):
    r = replay(d, name)
    equal((r.out, r.err), (want_out, want_err), "replayed output")


@test
def files_that_take_an_outputs_number():
    with scratch() as d:
        cmd = (PYTHON, "-c",
               "import os\nos.write(1, b'a\\n')\nfor fd in range(1024):\n"
               "    try: os.close(fd)\n    except OSError: pass\n"
               f"for n in 'xyz': os.open('{d}/' + n, os.O_RDWR | os.O_CREAT)\n"
               "os.write(1, b'none\\n'); os.write(2, b'none\\n')\n"
               "r, w = os.pipe(); os.dup2(w, 1); os.write(1, b'inside\\n')\n"
               "os.write(0, os.read(r, 99)); os._exit(7)")
        was = record(d, *cmd, rc=7)
        equal(was.out, "a\n", "recorded")
        r = replay(d)
        equal((r.rc, r.out, r.err), (7, "a\n", ""), "replayed")
        with open(f"{d}/x", encoding="ascii") as f:
            equal(f.read(), "inside\n", "the file")


@test
def outputs_by_other_numbers_and_names():
    text = ("exec 7>&1 8>&2; echo a >&7; echo b >&8; echo c >/dev/stdout; echo d >/dev/stderr; "
            "echo e | cat; echo f | cat >/dev/null; echo g >/dev/null; (exec >&-; echo h) 2>&8; "
            "true")
    with scratch() as d:
        was = record(d, "sh", "-c", text)
        equal(was.out, "a\nc\ne\n", "recorded")
        outputs(d, was.out, was.err)


@test
def devices_that_are_outputs():
    """What went to /dev/null as the program's output is shown; what else went there is not."""
    with scratch() as d:
        with open("/dev/null", "wb") as out, open("/dev/null", "wb") as err:
            record(d, "sh", "-c", "echo a; echo b >/dev/null; echo c >&2; "
                   "sh -c 'echo d' >/dev/null; echo e", stdout=out, stderr=err)
        outputs(d, "a\ne\n", "c\n")


@test
def outputs_that_are_not_there():
    """/dev/null does not look at what it takes."""
    code = ("import ctypes, os\nc = ctypes.CDLL(None)\n"
            "v = (ctypes.c_size_t * 4)(0, 100, ctypes.addressof(s := ctypes.c_char(b'x')), 1)\n"
            "os.write(1, b'a\\n')\n"
            "r = c.write(1, None, 100), c.write(1, 8, 100), c.writev(1, v, 2)\n"
            "os.write(1, b'b\\n')\nos._exit(r != (100, 100, 101))")
    with scratch() as d:
        record(d, PYTHON, "-c", code, stdout=DEVNULL)
        outputs(d, "a\nb\n")


@test
def one_file_for_both():
    """Then the descriptor's number says which it is."""
    text = ("import os\nfor i in 1, 2, 3:\n    os.write(1, b'out %d\\n' % i)\n"
            "    os.write(2, b'err %d\\n' % i)\n")
    want = "".join(f"out {i}\nerr {i}\n" for i in (1, 2, 3))
    with scratch() as d:
        was = record(d, PYTHON, "-c", text, stderr=subprocess.STDOUT)
        equal(was.out, want, "recorded into one pipe")
        equal(replay(d, stderr=subprocess.STDOUT).out, want, "replayed into one pipe")
        outputs(d, "out 1\nout 2\nout 3\n", "err 1\nerr 2\nerr 3\n")
        with open(f"{d}/both", "w+b") as f:
            record(d, PYTHON, "-c", text, name="file", stdout=f, stderr=f)
            f.seek(0)
            equal(f.read().decode(), want, "recorded into one file")
        equal(replay(d, "file", stderr=subprocess.STDOUT).out, want, "replayed from one file")


@test
def a_terminal():
    """/dev/tty is no output, though it is the same terminal; /dev/stdout is."""
    with scratch() as d:
        pid, fd = pty.fork()
        if not pid:
            os.execv(TRACER, [TRACER, "record", "-q", "-o", f"{d}/rec", "--", "/bin/sh", "-c",
                              "echo a; echo b >/dev/tty; echo c >/dev/stdout; echo d >&2"])
        text = b""
        try:
            while part := os.read(fd, 4096):
                text += part
        except OSError:
            pass
        equal(os.waitpid(pid, 0)[1], 0, text)
        equal(text, b"a\r\nb\r\nc\r\nd\r\n", "on the terminal")
        os.close(fd)
        equal(replay(d, stderr=subprocess.STDOUT).out, "a\nc\nd\n", "replayed")


@test
def one_that_is_closed():
    with scratch() as d:
        was = run(["sh", "-c", f"exec {TRACER} record -q -o {d}/rec -- sh -c "
                   "'echo a; echo b >&2' >&-"], stdin=DEVNULL)
        r = replay(d)
        equal(r.rc, was.rc, r.err)
        contains(r.err, "b\n", "what went to the other one")


if __name__ == "__main__":
    main()
