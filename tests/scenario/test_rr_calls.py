#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of system calls against what they really write, in programs that nobody here wrote."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (BUILD, DEVNULL, SANITIZED, Skip, check, equal, main, need, run, scratch,
                     test)

CHECKER = os.path.join(BUILD, "tests", "rr", "callcheck")


def looked(d, *cmd, opts=(), rc=0, code=0):
    """How often each call was looked at; none wrote what the table does not say."""
    if SANITIZED:
        raise Skip("the table is the same with a sanitizer, and it is too slow")
    path = os.path.join(d, "calls")
    r = run([CHECKER, *opts, path, *cmd], cwd=d, stdin=DEVNULL)
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    equal(r.rc, rc, f"exit code of callcheck {cmd}:\n{r.err}{text[:4000]}")
    equal(re.search(r"^exit code (\d+)$", text, re.M)[1], str(code), f"{cmd}: {r.err}")
    return {name: int(n) for n, name in re.findall(r"^ *(\d+) (\w+)$", text, re.M)}, text


def many(d, names, *cmd, **kw):
    calls, _ = looked(d, *cmd, **kw)
    for name in names:
        check(calls.get(name), f"{cmd[0]} has made {name}: {calls}")


@test
def what_is_left_out_is_told():
    with scratch() as d:
        _, text = looked(d, "stat", "/", opts=("-x", "statx"), rc=1)
        check(re.search(r"^statx\(.* behind argument 5: the table does not say so$", text, re.M),
              f"what it says:\n{text}")


@test
def files():
    with scratch() as d:
        many(d, ["getdents64", "statx", "readlink"], "ls", "-l", "/", "/proc/self")
        many(d, ["newfstatat"], "find", "/etc", "-maxdepth", "1", "-newer", "/etc/passwd")
        many(d, ["read", "openat"], "tar", "cf", "out.tar", "/etc/default")
        many(d, ["read", "write"], "dd", "if=/dev/zero", "of=out", "bs=1", "count=200")
        many(d, ["statfs"], "df", "/")


@test
def shells_and_pipes():
    with scratch() as d:
        many(d, ["pipe2", "wait4", "read"], "sh", "-c",
             "seq 2000 | sort -r | head -n 3; kill -0 $$; sleep 0.01; echo a >f; cat <f; wait")
        many(d, ["rt_sigaction", "rt_sigprocmask", "prlimit64"], "bash", "-c",
             "trap : USR1; kill -USR1 $$; read x <<<text; ulimit -a; echo $x; (exit 3) || true")
        many(d, ["clock_nanosleep"], "timeout", "0.2", "sleep", "5", code=124)


@test(timeout=180)
def languages():
    with scratch() as d:
        need("perl")
        many(d, ["getrandom", "ioctl", "poll"], "python3", "-c",
             "import json, select, socket, sqlite3, subprocess\n"
             "a, b = socket.socketpair(); a.send(b'x'); b.recv(4)\n"
             "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); s.getsockname()\n"
             "c = socket.create_connection(s.getsockname()); t, _ = s.accept()\n"
             "c.sendmsg([b'ab', b'c']); t.recvmsg(2, 100); t.recvfrom(9)\n"
             "c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR); c.getpeername()\n"
             "p = select.poll(); p.register(a); p.poll(1); select.select([a], [b], [], 0.01)\n"
             "print(subprocess.check_output(['uname', '-a']))")
        many(d, ["read"], "perl", "-e", "print `date`, -s '/etc/passwd', rand")
        many(d, ["read"], "awk", "BEGIN { while ((\"id\" | getline x) > 0) print x }")


@test(timeout=180)
def tools():
    with scratch() as d:
        need("sqlite3")
        need("gcc")
        many(d, ["fcntl", "pread64"], "sqlite3", "t.db",
             "create table t (a); insert into t values (1), (2); select sum(a) from t")
        with open(os.path.join(d, "a.c"), "w", encoding="ascii") as f:
            f.write("int main(void) { return 0; }\n")
        many(d, ["wait4"], "gcc", "-O1", "a.c", "-o", "a.out")
        many(d, ["ioctl", "setsid"], "script", "-qc", "stty -a", "/dev/null")
        many(d, ["read"], "xz", "-T1", "-k", "-c", "/etc/services")


if __name__ == "__main__":
    main()
