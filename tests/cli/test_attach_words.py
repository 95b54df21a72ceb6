#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What attach says of what it was asked to trace, and of what it cannot."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import SANITIZED, Skip, TRACER, check, contains, equal, main, run, start, test, trace


def attach(*args):
    return run([TRACER, "attach", "-d", "0.2", *args])


@test
def a_thread_of_the_kernel_is_named_as_one():
    for pid in map(str, range(2, 40)):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii") as f:
                text = f.read()
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                kernel = int(f.read().rsplit(")", 1)[1].split()[6]) & 0x200000
        except OSError:
            continue
        if kernel:
            r = attach(pid).ok(2)
            contains(r.err, f"cannot attach to pid {pid}: it is a thread of the kernel", "why")
            contains(r.err, text.split("\n")[0].split("\t")[1], "its name")
            return
    raise Skip("no thread of the kernel is seen here")


@test
def a_process_that_the_kernel_hides_has_not_ended():
    """Where pid 1 is kept from BPF, it is not said to be gone; elsewhere it is traced."""
    r = attach("1")
    if r.rc == 0:
        contains(r.out, "TRACED  pid 1", "the heading")
        return
    equal(r.rc, 2, "exit code")
    check("ended" not in r.err, f"it lives: {r.err!r}")


@test
def filters_are_in_the_heading():
    for args, words in ((["--comm", "^no.such$"], "TRACED  threads named '^no.such$'"),
                        (["--comm", "nosuch"], "TRACED  threads named nosuch"),
                        (["--comm", "nosuch", str(os.getpid())],
                         f"TRACED  pid {os.getpid()}, of it threads named nosuch")):
        contains(attach(*args).ok().out, words, "the heading")


@test
def filters_are_in_the_json():
    s = trace(["/bin/true"]).json
    equal(s["filter"], {"comm": None, "cgroup": None, "calls": None, "paths": []},
          "of a run without any")
    r = run([TRACER, "attach", "--json", "-d", "0.2", "--comm", "a+b", "-e", "trace=read,%file",
             "-e", "write", "-P", "/etc", "-P", "/tmp"]).ok()
    equal(json.loads(r.out)["filter"],
          {"comm": "a+b", "cgroup": None, "calls": "read,%file,write", "paths": ["/etc", "/tmp"]},
          "of an attach")


@test
def narrowed_calls_say_so():
    r = run([TRACER, "run", "-q", "-e", "openat,close", "-P", "/etc/passwd", "--",
             "cat", "/etc/passwd"]).ok()
    contains(" ".join(r.err.split()),
             "narrowed to openat,close (-e), of them calls on /etc/passwd (-P)",
             "the heading of the system calls")
    check("narrowed" not in run([TRACER, "run", "-q", "--", "true"]).ok().err, "nothing is")


@test
def no_cost_is_below_nothing():
    """In wait mode a call costs nothing: what is measured is noise, to either side."""
    for _ in range(4):
        o = json.loads(run([TRACER, "run", "--json", "-q", "--mode", "wait", "--",
                            "true"]).ok().err)["overhead"]
        for name in ("ns_per_syscall", "ns_per_futex", "ns_per_pipe_chunk"):
            check(o[name] >= 0, f"{name} is {o[name]}")


@test
def the_machines_cpus():
    s = trace(["/bin/true"]).json
    equal(s["sched"]["cpus"], os.sysconf("SC_NPROCESSORS_ONLN"), "cpus")


@test
def nothing_that_is_not_asked_for_is_a_thread():
    """The child that tells what tracing costs is no thread of what was attached to."""
    w = start(["sleep", "20"])
    r = attach(str(w.pid)).ok()
    contains(r.out, "1 thread at most", "the size")
    check("THREADS  none created, 0 ended" in r.out, f"threads: {r.out!r}")


@test
def nothing_matched():
    """Not that nothing is worth the reader's time: there was nothing."""
    args = [TRACER, "attach", "--comm", "^no_thread_has_this$", "-d", "200ms"]
    r = run(args, timeout=20).ok()
    if not SANITIZED:	# a sanitizer's thread in the child that measures is one that is traced
        contains(r.err, "no thread matches so far", "note")
    contains(r.out, "nothing was traced: no thread matched", "head")
    contains(r.out, "FINDINGS  none: nothing was traced\n", "findings")
    s = json.loads(run([*args, "--json"], timeout=20).ok().out)
    equal((s["empty"], s["findings"], s["threads"]["by_thread"]), (True, [], []), "JSON")


if __name__ == "__main__":
    main()
