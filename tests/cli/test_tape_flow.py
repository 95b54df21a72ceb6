#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tape: nothing hangs, whatever a command does; signals; costs by count; big streams."""
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, PIPE, SANITIZED, Failure, Skip, check, clean_env, contains, equal,
                     finish, main, need, run, scratch, start, test, wait_for)
from tape import MARKS, TAPE, same, shows, tape

SIX = "1\n2\n3\n4\n5\n6\n"
MANY = "".join(f"{i}\n" for i in range(100000)).encode()

# Commands that must not hang: (command, exit code, what the output is made of, or None)
ODD = [
    ("cat", 0, lambda d: d), ("tac", 0, lambda d: b"".join(d.splitlines(True)[::-1])),
    ("sort -n", 0, lambda d: d), ("sed p", 0, None), ("sed d", 1, lambda d: b""),
    ("head -n 3", 1, lambda d: b"0\n1\n2\n"), ("true", 1, lambda d: b""),
    ("false", 1, lambda d: b""), ("yes", 0, lambda d: b"y\n" * d.count(b"\n")),
    ("sh -c 'sleep 0.3; exec cat'", 0, lambda d: d),
    ("sh -c 'yes | head -n 300000; exec cat >/dev/null'", 0, lambda d: b"y\n" * d.count(b"\n")),
    ("sh -c 'exec >&-; sleep 0.2'", 1, lambda d: b""),
    ("sh -c 'exec <&-; seq 0 99999'", 0, lambda d: d),
    ("sh -c 'head -n 100; kill -9 $$'", 1, None), ("sh -c 'kill -SEGV $$'", 1, lambda d: b""),
    ("sh -c 'cat; sleep 0.2; echo late'", 0, lambda d: d),
    ("sh -c 'cat & wait'", 1, lambda d: b""),
    ("sh -c 'cat; printf x'", 0, lambda d: d),
]


@test(timeout=200, root=False)
def odd_commands_end():
    for command, rc, make in ODD:
        r = run(["sh", "-c", f"exec {TAPE} -l 1- -- {command}"], 20, MANY, env=clean_env(**MARKS))
        equal(r.rc, rc, f"{command}: {r.err[:300]}")
        if make:
            same(r.raw_out, make(MANY), command)


@test(timeout=200, root=False)
def odd_commands_end_alone():
    data = b"a\nb\nc\n"
    for command, out in (("cat", data), ("true", b"\n\n\n"), ("head -c 1", data),
                         ("sh -c 'exec <&-; echo x'", b"x\n" * 3),
                         ("sh -c 'kill -9 $$'", b"\n\n\n"),
                         ("sh -c 'exec >&-; sleep 0.1'", b"\n\n\n"),
                         ("sh -c 'cat; yes | head -n 200000'", None)):
        for jobs in ("1", "3"):
            r = run(["sh", "-c", f"exec {TAPE} -s -j {jobs} -l 1- -- {command}"], 20, data,
                    env=clean_env(**MARKS)).ok()
            if out is not None:
                same(r.raw_out, out, command)


@test(root=False)
def odd_selectors_end():
    for command in ("true", "cat >/dev/null; echo 2", "echo 5; sleep 0.2", "kill -9 $$",
                    "seq 1 2 100000", "exec <&-; echo 1", "tac | head -n 1"):
        r = tape("-e", command, data=MANY)
        equal(r.rc, 0, f"{command}: {r.err[:300]}")
        same(r.raw_out.replace(b"[", b"").replace(b"]", b""), MANY, command)


@test(root=False)
def numbers_that_do_not_ascend():
    r = tape("-e",
             "printf '2\\n5\\n3\\n99999999999999999999999\\nx\\n6\\n'", data="1\n2\n3\n4\n5\n6\n")
    equal((r.rc, r.out), (0, "1\n[2]\n3\n4\n[5]\n[6]\n"), r.err)
    contains(r.err, "3 lines of the selector", "the warning")
    contains(r.err, "'3'", "the warning")


@test(root=False)
def a_selector_that_fails():
    """sed and awk say what is wrong; nothing is passed on as if no line were selected."""
    for option, word in (("--sed", "foo("), ("--awk", "(")):
        for command in ([], ["--", "cat"]):
            r = tape(option, word, *command, data="a\nb\n")
            equal((r.rc, r.out), (1, ""), f"{option} {word}: {r.err}")
            contains(r.err, f"'{option[2:]}' failed with status", f"{option} {word}")
    shows(SIX, SIX, "-e", "exit 3")


@test(root=False)
def a_command_that_is_missing():
    for args in (["-c", "1"], ["-s", "-c", "1"], ["-I@", "-c", "1"]):
        for name in ("nosuch_zz", "/etc/passwd", ""):
            r = tape(*args, "--", name, data="a\n")
            equal((r.rc, r.out), (1, ""), r.err)
            contains(r.err, f"cannot start '{name}'", f"{args}")
    tape("-s", "-l", "2", "--", "nosuch_zz", data="a\n").ok()


@test(root=False)
def nobody_reads():
    for args in (["-og", "."], ["-og", ".", "--", "cat"], ["-s", "-l", "1-", "--", "cat"]):
        p = start(["sh", "-c", f"yes abc | {TAPE} \"$@\"; echo $? >&2", "sh", *args], stdout=PIPE,
                  stderr=PIPE, env=clean_env(**MARKS))
        p.stdout.read(10)
        p.stdout.close()
        equal(p.stderr.read().decode(), "141\n", f"{args}: the end by SIGPIPE, without words")
        p.wait(10)


@test(root=False)
def interrupted():
    for args in (["-l", "1-"], ["-l", "1-", "--", "cat"], ["-l", "1-", "--", "sleep", "60"],
                 ["-s", "-l", "1-", "--", "sleep", "60"]):
        p = start([TAPE, *args], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=clean_env(**MARKS))
        p.stdin.write(b"a\n")
        p.stdin.flush()
        time.sleep(0.15)
        os.killpg(p.pid, signal.SIGINT)
        equal(p.wait(10), -signal.SIGINT, f"{args}")
        wait_for("the command to end", lambda: not alive_in(p.pid), 5)


def alive_in(pgrp):
    r = run(["ps", "-eo", "pgid=,stat="], 10)
    return [l for l in r.out.splitlines() if l.split()[0] == str(pgrp) and "Z" not in l.split()[1]]


@test(timeout=120)
def a_full_disk():
    """A small file system: the output, and the temporary file of what waits."""
    with scratch() as d:
        script = f"""mount -t tmpfs -o size=1m none {d} || exit 77
            head -c 3000000 /dev/zero | tr '\\0' 'a' | {TAPE} -og . >{d}/out
            echo "rc=$?"; rm -f {d}/out
            yes abcdefgh | head -c 30000000 | TMPDIR={d} {TAPE} -vog a -- wc -l >/dev/null
            echo "rc=$?" """
        r = run(["unshare", "-m", "sh", "-c", script], 60, env=clean_env(**MARKS))
        if r.rc == 77:
            raise Skip("cannot mount")
        equal(r.out, "rc=1\nrc=1\n", r.err)
        contains(r.err, "cannot write the output: no space left", "stderr")
        contains(r.err, "in a temporary file: no space left", "stderr")


def counted(argv, feed, **kw):
    """{call: count} of `strace argv`, with the output of the shell line @feed as input."""
    need("strace")
    with scratch() as d:
        log = os.path.join(d, "log")
        line = f"{feed} | strace -o {log} " + " ".join(f"'{a}'" for a in argv) + " >/dev/null"
        run(["sh", "-c", line], 60, env=clean_env(TEIP_HIGHLIGHT="<{}>", **kw)).ok()
        with open(log, encoding="utf-8", errors="replace") as f:
            names = re.findall(r"^(\w+)\(", f.read(), re.M)
    return {n: names.count(n) for n in set(names)}


@test(timeout=120, root=False)
def calls_are_few():
    if SANITIZED:
        raise Skip("the sanitizer makes calls of its own")
    begin = counted([TAPE, "-og", "."], "true")
    check(sum(begin.values()) <= 60, f"start-up: {begin}")
    feed = "yes | tr -d \\\\n | fold -w 1024 | head -n 1024"
    for args in (["-og", "."], ["-og", "yx|y"]):
        one = counted([TAPE, *args], feed)
        equal(one.get("futex", 0), 0, "futex calls")
        more = sum(one.values()) - sum(begin.values())
        check(more <= 80, f"{args}: {more} calls for 1 MiB: {one}")
    # Where a command is behind it, they are of its pipes, and still none for a chunk.
    one = counted([TAPE, "-og", ".", "--", "cat"], feed)
    equal(one.get("futex", 0), 0, "futex calls")
    check(sum(one.values()) < 4000, f"a million chunks through cat: {one}")


@test(timeout=200, root=False)
def four_gigabytes_in_little_memory():
    """Counts are of 64 bits, and nothing grows with the input."""
    if SANITIZED:
        raise Skip("too slow")
    size = 4 << 30
    p = start(["sh", "-c", f"yes 'a b c d e f g h i j k l m n o p q r s t' | head -c {size + 20} | "
               f"(ulimit -v 100000; exec {TAPE} --stats -l 1000 -- cat) | wc -c"], stdout=PIPE,
              stderr=PIPE)
    r = finish(p, 180)
    equal(r.out.strip(), str(size + 20), "bytes")
    figures = json.loads(r.err)
    equal(figures["bytes_in"], size + 20, "bytes_in")
    equal(figures["records"], (size + 20 + 39) // 40, "records")


@test(root=False)
def what_waits_goes_to_a_file():
    data = b"kept text that waits X\n" * 400000
    r = tape("--stats", "-og", "X", "--", "tac", data=data).ok()
    same(r.raw_out, data, "output")
    check(json.loads(r.err)["spilled_bytes"] > 1 << 20, r.err)


@test(timeout=120, root=False)
def a_line_goes_on_before_the_next_comes():
    """2,000 lines, each written when the one before came back; the slowest are told, not judged."""
    p = start([TAPE, "-f", "2", "--", "sed", "-u", "s/$/!/"], stdin=PIPE, stdout=PIPE,
              stderr=DEVNULL)
    took = []
    for i in range(2000):
        begin = time.monotonic()
        p.stdin.write(f"a {i} b\n".encode())
        p.stdin.flush()
        line = p.stdout.readline()
        took.append(time.monotonic() - begin)
        equal(line, f"a {i}! b\n".encode(), "a line")
    p.stdin.close()
    equal(p.wait(10), 0, "exit")
    took.sort()
    print(f"# median {took[1000] * 1e3:.2f} ms, p99 {took[1980] * 1e3:.2f} ms")


main()
