#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tape: what its model does wrong, fifteen faults, is right here; each is a test."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, PIPE, SANITIZED, check, clean_env, contains, equal, main, run,
                     scratch, start, test)
from tape import MARKS, TAPE, shows, tape

SIX = "1\n2\n3\n4\n5\n6\n"
ANY_BYTES = bytes(range(256)).replace(b"\n", b"") + b"\n"


@test(root=False)
def f1_bytes_in_are_bytes_out():
    shows(b"\xff\xfea\n", b"\xff\xfea\n", "-og", "a", "--", "cat")
    shows(ANY_BYTES, ANY_BYTES, "-c", "2-", "--", "cat")
    shows(ANY_BYTES, ANY_BYTES, "-s", "-og", "[a-z]+", "--", "cat")
    shows("abc\n", b"a\xffc\n", "-c", "2", "--", "tr", "b", "\\377")
    shows(b"a\xffb\n", b"[a]\xff[b]\n", "-og", ".")
    r = tape("-og", os.fsdecode(b"\xff"), data="a\n")
    equal(r.rc, 2, r.err)
    contains(r.err, "UTF-8", "a pattern of bytes")


@test(root=False)
def f2_a_carriage_return_stays():
    shows("a\rb\n", "a\rb\n", "-og", "\\r", "--", "cat")
    shows(SIX, "1\r" + SIX[1:], "-l", "1", "--", "sed", "s/$/\\r/")
    shows('a,"b\r\nc",d\r\n', 'a,"b\r\nc",d\r\n', "--csv", "-f", "2", "--", "cat")


@test(root=False)
def f3_large_pieces_with_newlines_are_one():
    piece = ("x" * 3000 + "\n") * 4
    shows(f"{piece}\0", piece.replace("\n", "N") + "\0", "-z", "-l", "1", "--", "tr", "\\n", "N")
    shows(f'a,"{piece}"\n', f'a,"{piece}"\n'.replace("x\n", "xN"), "-z", "--csv", "-f", "2", "--",
          "tr", "\\n", "N")
    shows(f'a,"{piece}"\n', 'a,12007\n', "-s", "--csv", "-f", "2", "--", "wc", "-c")


@test(root=False)
def f4_nothing_may_be_selected():
    for what in ("-c", "-l", "-f"):
        shows("a b\n", "a b\n", "-v", what, "1-")
        shows("a b\n", "a b\n", "-v", what, "1-", "--", "cat")


@test(root=False)
def f5_surplus_lines_are_drained_and_told():
    data = "".join(f"{i}\n" for i in range(200000))
    r = tape("-l", "1-", "--", "sed", "p", data=data).ok()
    equal(r.out, "".join(f"{i}\n{i}\n" for i in range(100000)), "output")
    contains(r.err, "200000 lines more than there were holes", "stderr")
    equal(tape("-q", "-l", "1", "--", "seq", "3", data="a\n").ok().err, "", "with -q")


@test(root=False)
def f6_all_that_a_command_printed_is_there():
    data = "".join(f"{i}\n" for i in range(100000))
    r = tape("-l", "1-", "--", "head", "-n", "5", data=data)
    equal((r.rc, r.out), (1, "0\n1\n2\n3\n4\n"), r.err)
    contains(r.err, "ran short", "stderr")
    r = tape("-l", "1-", "--", "sh", "-c", "head -c 5; exec cat >/dev/null", data="abc\ndef\nghi\n")
    equal((r.rc, r.out), (1, "abc\nd\n"), r.err)
    # What is behind the last hole that was filled.
    r = tape("-og", "b", "--", "head", "-n", "1", data="abcbd\n")
    equal((r.rc, r.out), (1, "abc"), r.err)


@test(root=False)
def f7_large_holes_alone():
    big = "x" * 300000
    shows(f"{big}\n", f"{big}\n", "-s", "-og", ".+", "--", "cat")
    shows(f"{big}\n", "\n", "-s", "-og", ".+", "--", "true")
    shows(f"{big}\n", "300001\n", "-s", "-og", ".+", "--", "wc", "-c")


@test(root=False)
def f8_the_input_is_not_the_commands():
    shows(SIX, "<1>\n0\n2\n3\n4\n5\n6\n", "-I@", "-l", "1", "--", "sh", "-c",
          'echo "<@>"; cat | wc -c')


@test(root=False)
def f8_a_word_cannot_hold_what_words_cannot():
    r = tape("-I@", "-l", "2", "--", "echo", "@", data="x\na\0b\ny\n")
    equal((r.rc, r.out), (1, "x\n"), r.err)
    contains(r.err, "line 2: an argument cannot hold a NUL byte", "the message")


@test(root=False)
def f9_no_shell_and_one_dialect():
    shows("x\na b\nc\nd\n", "x\n[a b]\n[c]\nd\n", "-A", "1", "-g", "a b")
    shows(SIX, "".join(f"[{i}]\n" for i in range(1, 7)), "-A", "1", "-g", "\\d")
    shows(SIX, "1\n[2]\n[3]\n[4]\n5\n6\n", "-A", "1", "-B", "1", "-g", "3")
    with scratch() as d:
        flag = os.path.join(d, "ran")
        shows(SIX, SIX, "-A", "1", "-g", f"3;touch {flag}")
        shows(SIX, SIX, "--sed", "/'/")
        shows(SIX, SIX, "--awk", f"\"';touch {flag};'\" == 1")
        for option, name in (("--sed", "TEIP_SED_PATH"), ("--awk", "TEIP_AWK_PATH")):
            r = tape(option, "1", data=SIX, env={name: f"touch {flag};#"})
            equal((r.rc, r.out), (1, ""), r.err)
            contains(r.err, f"touch {flag}", "what could not be started")
        check(not os.path.exists(flag), "a shell ran")
        mine = os.path.join(d, "my sed")
        with open(mine, "w", encoding="ascii") as f:
            f.write('#!/bin/sh\ncat >/dev/null\necho 4\n')
        os.chmod(mine, 0o755)
        shows(SIX, "1\n2\n3\n[4]\n5\n6\n", "--sed", "1", env={"TEIP_SED_PATH": mine})


@test(root=False)
def f10_a_full_disk_is_told_and_the_command_ends():
    data = ("x" * 99 + "\n").encode() * 20000
    for args in (["-l", "1-"], ["-l", "1-", "--", "cat"], ["-s", "-l", "1", "--", "cat"]):
        with open("/dev/full", "wb") as full:
            r = run([TAPE, *args], 20, data, stdout=full, env=clean_env(**MARKS))
        equal(r.rc, 1, r.err)
        contains(r.err, "no space left", f"{args}")
    with scratch() as d:
        done = os.path.join(d, "done")
        tape("-l", "1", "--", "sh", "-c", f"cat; sleep 0.3; touch {done}", data="a\n").ok()
        check(os.path.exists(done), "the command was not waited for")


@test(root=False)
def f11_a_directory_is_no_input():
    fd = os.open("/", os.O_RDONLY)
    for args in (["-l", "1"], ["-l", "1", "--", "cat"], ["-e", "cat"]):
        r = run([TAPE, *args], 10, stdin=fd, env=clean_env(**MARKS))
        equal((r.rc, r.out), (1, ""), r.err)
        contains(r.err, "directory", f"{args}")
    os.close(fd)


@test(root=False)
def f12_csv_fields_are_counted_right():
    shows(",,ccc\n", ",,[ccc]\n", "--csv", "-f", "1,2,3")
    shows('a,b,c,d,"e\nfgh"\n', '[a],[b],c,d,["e]\n[fgh"]\n', "--csv", "-f", "1,2,5")
    shows('a,b,c,d,"e\nfgh"\n', '[a],[b],c,d,["e\nfgh"]\n', "-s", "--csv", "-f", "1,2,5")
    shows('"a\nb",c,d\n1,2,3\n', '"a\nb",[c],d\n1,[2],3\n', "--csv", "-f", "2")


@test(root=False)
def f13_nothing_waits_for_more_input():
    for args in (["-og", "b"], ["-og", "b", "--", "cat"], ["-s", "-og", "b", "--", "cat"],
                 ["-g", "b", "--", "sed", "-u", "s/^/x/"], ["-f", "1", "-s", "-j", "2", "cat"],
                 ["-e", "exec sed -un ="]):
        p = start([TAPE, *args], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=clean_env(**MARKS))
        for i in range(5):
            p.stdin.write(f"b{i}\n".encode())
            p.stdin.flush()
            line = p.stdout.readline()
            check(line.strip(b"x[]\n").endswith(f"{i}".encode()), f"{args}: {line!r}")
        p.stdin.close()
        equal((p.stdout.read(), p.wait(10)), (b"", 0), f"{args}: the end")


def peak_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


@test(root=False)
def f14_memory_stays_while_nobody_reads():
    for args in (["-og", "."], ["-og", ".", "--", "cat"], ["-f", "2", "--", "sed", "p"],
                 ["-l", "1-", "--", "tac"]):
        p = start([TAPE, *args], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=clean_env(**MARKS))
        os.set_blocking(p.stdin.fileno(), False)
        end = time.monotonic() + 1.5
        sent = 0
        while time.monotonic() < end and sent < 64 << 20:
            try:
                sent += os.write(p.stdin.fileno(), b"a b c d e f g\n" * 4096)
            except BlockingIOError:
                time.sleep(0.01)
        peak = peak_kib(p.pid)
        # A sanitizer keeps some bytes of its own for each.
        check(0 < peak <= (64 if SANITIZED else 16) << 10, f"{args}: {peak} KiB after {sent} bytes")


@test(root=False)
def f15_what_is_missing_is_said():
    r = tape("--", "wc", "-l", data="a\n")
    equal((r.rc, r.out), (2, ""), r.err)
    contains(r.err, "nothing is selected", "the message")
    for option in ("-g", "-c", "-l", "-f"):
        contains(r.err, option, "the message")


main()
