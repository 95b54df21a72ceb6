#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs at the edges (tests/workloads/rr_edges.c): how far a stack grows, signals, calls."""
import fcntl
import os
import pty
import resource
import select
import socket
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import TRACER, contains, equal, main, need, run, scratch, test, workload
from recordings import record, replay, same

EDGES = workload("rr_edges")
TRAMPOLINE = """
#include <stdio.h>
static int call(int (*fn)(int)) { return fn(1); }
int main(int argc, char **argv)
{
	int add(int n) { return n + argc; }
	(void)argv;
	printf("%d\\n", call(add));
	return 0;
}
"""


def limited(kib, *args, rc=0):
    """Under a limit of the stack."""
    return same("sh", "-c", f"ulimit -S -s {kib} && exec \"$0\" \"$@\"", EDGES, *args, rc=rc)


@test
def a_stack_that_grows_far():
    equal(limited(65536, "deep", "40").out, "10241\n", "as deep as it went")
    equal(limited("unlimited", "deep", "20").out, "5121\n", "without a limit")


@test
def a_stack_that_overflows():
    """It is met at the page where it was."""
    for kib in (1024, 16384):
        contains(limited(kib, "overflow", rc=3).out, "signal 11 at depth", "the handler")
    limited(8192, "limited", "2", rc=3)
    if resource.getrlimit(resource.RLIMIT_STACK)[1] == resource.RLIM_INFINITY:
        limited(8192, "set_old", "12", rc=3)


@test
def a_handler_without_room():
    """The frame of its signal cannot be put anywhere."""
    equal(limited(1024, "no_room", rc=139).out, "and now\n", "up to its end")
    contains(same(EDGES, "no_room_for_one", rc=3).out, "signal 11 at depth 0", "another's handler")


@test
def a_stack_that_is_run():
    equal(same(EDGES, "executable").out, "42\n", "code on the stack")
    need("gcc")
    with scratch() as d:
        source, program = os.path.join(d, "nested.c"), os.path.join(d, "nested")
        with open(source, "w", encoding="ascii") as f:
            f.write(TRAMPOLINE)
        run(["gcc", "-O0", "-z", "execstack", source, "-o", program]).ok()
        equal(same(program).out, "2\n", "by way of a trampoline")


@test
def memory_that_grows_down():
    equal(same(EDGES, "grows_down").out, "19\n", "its last page")


@test
def outputs_of_many_kinds():
    equal(same(EDGES, "splices").out, "".join(f"spliced {i}\n" for i in range(3)), "vmsplice")
    one, two = ("".join(f"{text} {i}\n" for i in range(3)) for text in ("one", "two"))
    ours, its = socket.socketpair()
    with scratch() as d, ours, its:
        record(d, EDGES, "messages", stdout=its)
        its.close()
        was = b"".join(iter(lambda: ours.recv(4096), b"")).decode()
        equal(was, one + one + two + "end\n", "recorded")
        r = replay(d)
        equal((r.rc, r.out), (0, was), r.err)


@test
def numbers_of_no_call():
    """-1 is also what a return from a handler leaves behind as its number."""
    contains(same(EDGES, "numbers", "1").out, "4 answers", "once each")
    for _ in range(4):
        contains(same(EDGES, "numbers", "5000").out, "20000 answers", "among signals")


@test
def a_terminal_that_is_resized():
    """And keys that stop the job: the replayed processes hear of neither."""
    with scratch() as d:
        record(d, EDGES, "computes", "300")
        pid, fd = pty.fork()
        if not pid:
            os.execv(TRACER, [TRACER, "replay", "-a", f"{d}/rec"])
        text, end = b"", time.monotonic() + 30
        try:
            while time.monotonic() < end:
                for columns in range(80, 90):
                    fcntl.ioctl(fd, termios.TIOCSWINSZ,
                                struct.pack("HHHH", 24, columns, 0, 0))
                if select.select([fd], [], [], 0.01)[0]:
                    text += os.read(fd, 4096)
        except OSError:
            pass
        equal(os.waitpid(pid, 0)[1], 0, text)
        equal(text, b"computed\r\n", "on the terminal")
        os.close(fd)


if __name__ == "__main__":
    main()
