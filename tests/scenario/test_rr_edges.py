#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs at the edges (tests/workloads/rr_edges.c): how far a stack grows, signals, calls."""
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import contains, equal, main, need, run, scratch, test, workload
from recordings import same

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


if __name__ == "__main__":
    main()
