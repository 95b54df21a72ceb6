#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions that read what no replay would read again: they get the recorded results."""
import contextlib
import json
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (ROOT, SANITIZED, Skip, TRACER, check, contains, equal, main, need, run,
                     scratch, test, workload)
from recordings import quantum, record, replay, same

SOURCE = os.path.join(ROOT, "tests", "workloads", "rr_insn.c")
SUM_OF_DECOY = "1cd74f71"


def read_in(d, name="rec"):
    """How many of the instructions the recording has."""
    return run([TRACER, "dump", os.path.join(d, name)]).ok().out.count("read a counter")


def replays(*cmd, least=300):
    with scratch() as d:
        was = record(d, *cmd)
        contains(was.out, SUM_OF_DECOY, "what is no instruction of the kind")
        check(read_in(d) >= least, f"{cmd}: {read_in(d)} of the instructions were met")
        r = replay(d)
        equal((r.rc, r.out), (0, was.out), f"{cmd} replayed: {r.err}")


def compiled(d, name, *options):
    need("gcc")
    path = os.path.join(d, name)
    r = run(["gcc", "-D_GNU_SOURCE", "-O2", *options, SOURCE, "-o", path])
    if r.rc:
        raise Skip(f"gcc {' '.join(options)} does not work here")
    return path


@contextlib.contextmanager
def out_socket():
    """Takes what is sent to it, by send and by write."""
    with contextlib.ExitStack() as stack:
        for end in (pair := socket.socketpair()):
            stack.enter_context(end)
        yield pair[0]


@test
def in_a_program():
    replays(workload("rr_insn"), "threads")


@test
def in_a_program_that_is_static():
    with scratch() as d:
        replays(compiled(d, "static", "-static", "-pthread"), "threads")


@test
def in_a_library_that_is_loaded_late():
    with scratch() as d:
        path = compiled(d, "lib.so", "-shared", "-fPIC")
        replays(workload("rr_insn"), "lib", path)


@test
def where_threads_take_turns_fast():
    with quantum(1):
        replays(workload("rr_insn"), "threads")


@test
def in_children_and_new_images():
    me = workload("rr_insn")
    same("sh", "-c", f"{me} threads & {me} threads; wait; exec {me} threads")


@test
def where_memory_is_compared():
    if SANITIZED:
        raise Skip("the sanitizer maps memory in the writer, and the recorder waits for it")
    with scratch() as d:
        was = record(d, workload("rr_insn"), "threads", opts=("-C",))
        r = replay(d)
        equal((r.rc, r.out), (0, was.out), r.err)


@test
def what_was_looked_through_before():
    """A cache of where they are: taken, and made anew where it is damaged."""
    with scratch() as d:
        cache = os.path.join(d, "tracer", "code")
        seen = set()
        for name in "first", "second", "third":
            was = record(d, workload("rr_insn"), "threads", name=name,
                         env=dict(os.environ, XDG_CACHE_HOME=d))
            check(read_in(d, name) >= 300, f"{name}: {read_in(d, name)} were met")
            equal(replay(d, name).out, was.out, f"{name} replayed")
            with open(cache, "rb") as f:
                seen.add((os.stat(cache).st_ino, f.read()))
            if name == "second":
                equal(len(seen), 1, "caches by then")
                os.truncate(cache, 40)
        equal(len({text for _, text in seen}), 1, "what is in them")
        equal(len(seen), 2, "caches")


@test
def code_that_a_program_makes():
    """Nobody has looked through it: the replay reads another time, and says so."""
    for how, name in (("w", "write"), ("v", "writev"), ("s", "sendto"), ("m", "sendmmsg"),
                      ("o", "sendmsg")):
        with scratch() as d, out_socket() as out:
            record(d, workload("rr_made"), how, stdout=out)
            r = replay(d, stdout=out)
            equal(r.rc, 2, f"replayed, having put out another time by {name}")
            contains(r.err, f": {name}: the sum of its output was 0x", "what differs")
            check(re.search(r"^    #\d+ +0x[0-9a-f]+ main\+0x.* at .*rr_made\.c:\d+$", r.err,
                            re.M), f"no stack: {r.err}")
            contains(r.err, "it made code as it ran: where such code reads the time stamp",
                     "why it may")


@test
def names_that_would_steer_a_terminal():
    """Of what is named where a replay diverges: the program's copy, in such a recording."""
    with scratch() as d:
        record(d, workload("rr_made"), "w", name="\x1b]0;rec")
        about = os.path.join(d, "\x1b]0;rec", "about")
        with open(about, encoding="utf-8") as f:
            told = json.load(f)
        with open(about, "w", encoding="utf-8") as f:
            json.dump({**told, "warnings": "\x1b[2J is mapped"}, f)
        r = replay(d, "\x1b]0;rec")
        equal(r.rc, 2, r.err)
        check("\x1b" not in r.err, f"not written as it is: {r.err!r}")
        contains(r.err, "/\\x1b]0;rec/files/", "the stack")
        contains(r.err, "when it was recorded: \\x1b[2J is mapped", "what was warned of")


@test
def programs_that_make_keys():
    for cmd in (("python3", "-c", "import ssl, secrets; print(secrets.token_hex(8), "
                 "ssl.RAND_bytes(8).hex())"), ("openssl", "rand", "-hex", "8")):
        need(cmd[0])
        same(*cmd)


if __name__ == "__main__":
    main()
