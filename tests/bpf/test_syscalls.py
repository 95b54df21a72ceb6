#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts and errors of system calls against strace -cf and against the program's own account."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (DEVNULL, NEVER_RETURN, Failure, between, call, calls, check, equal, lossless,
                     main, need, near, run, scratch, strace_counts, strace_errors, test, trace,
                     trace_work, workload)


def fixed_tree(d):
    """A directory whose contents are the same each time."""
    tree = os.path.join(d, "tree")
    for i in range(7):
        sub = os.path.join(tree, f"dir{i}", "sub")
        os.makedirs(sub)
        for k in range(11):
            with open(os.path.join(sub, f"file{k}"), "w", encoding="ascii") as f:
                f.write(f"line {i} {k}\n" * 97)
    big = os.path.join(d, "big")
    with open(big, "w", encoding="ascii") as f:
        f.writelines(f"{i * 7919 % 10007} some words on a line\n" for i in range(5003))
    return tree, big


# Command (T: the tree, B: the big file), and calls whose count is a matter of timing.
PROGRAMS = [
    ("true", ["/bin/true"], ()),
    ("ls", ["/bin/ls", "-lR", "T"], ()),
    ("ls of nothing", ["/bin/ls", "T/none", "T/nor", "B/not"], ()),
    ("cat", ["/bin/cat", "B", "T/dir1/sub/file3"], ()),
    ("sh loop", ["/bin/sh", "-c", "for i in 1 2 3 4 5 6 7; do /bin/true; done"], ()),
    ("sh pipeline", ["/bin/sh", "-c", "cat B | wc -l"], ("read", "rt_sigreturn")),
    ("python3", ["/usr/bin/python3", "-I", "-S", "-c", "print(sum(range(1009)))"], ()),
    ("xz", ["/usr/bin/xz", "-T1", "-c", "B"], ()),
    ("sort", ["/usr/bin/sort", "--parallel=1", "B"], ()),
    ("sqlite3", ["/usr/bin/sqlite3", ":memory:",
                 "create table t(a); insert into t values (1),(2); select sum(a) from t;"], ()),
    ("perl", ["/usr/bin/perl", "-e", "for (1..101) { open F, '<', 'B'; $n++ while <F>; }"], ()),
    ("find", ["/usr/bin/find", "T", "-type", "f", "-size", "+1"], ()),
    ("grep", ["/bin/grep", "-rc", "4 7", "T"], ()),
    ("dd", ["/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1009", "status=none"], ()),
    ("errors", ["errors"], ()),
    ("vfork_exec", ["vfork_exec", "23"], ()),
    ("getpid_many", ["getpid_many", "5", "101"], ()),
    ("killed_blocked", ["killed_blocked", "7"], ("openat", "read", "close", "newfstatat",
                                                "clock_nanosleep", "getppid")),
    ("thread_storm", ["thread_storm", "101"], ("futex",)),
    ("exec_thread", ["exec_thread", "101"], ("rt_sigprocmask", "pause", "set_robust_list", "rseq",
                                             "futex")),
]


def expand(argv, tree, big):
    out = [a.replace("T/", tree + "/").replace("B/", big + "/") if a[:2] in ("T/", "B/") else
           tree if a == "T" else big if a == "B" else a for a in argv]
    out = [a.replace("cat B", f"cat {big}").replace("'B'", f"'{big}'") for a in out]
    if "/" not in out[0]:
        out[0] = workload(out[0])
    return out


@test(timeout=180)
def counts_are_those_of_strace():
    need("strace")
    judged, wrong = 0, []
    with scratch() as d:
        tree, big = fixed_tree(d)
        for title, argv, unsteady in PROGRAMS:
            cmd = expand(argv, tree, big)
            if not os.access(cmd[0], os.X_OK):
                continue
            first, second = strace_counts(cmd), strace_counts(cmd)
            shaky = {n for n in first.keys() | second.keys() if first.get(n) != second.get(n)}
            if not shaky <= set(unsteady):
                print(f"#   {title}: two runs of strace differ in {sorted(shaky)}: not judged",
                      flush=True)
                continue
            s = trace(cmd, rc=None, stdout=DEVNULL).json
            got = {c["name"]: (c["calls"], c["errors"]) for c in s["syscalls"]
                   if c["name"] not in NEVER_RETURN}
            bad = {n: (got.get(n), first.get(n)) for n in got.keys() | first.keys()
                   if n not in unsteady and got.get(n) != first.get(n)}
            if bad:
                wrong.append(f"{title}: (tracer, strace) calls and errors: {bad}")
            judged += 1
    if wrong:
        raise Failure("\n".join(wrong))
    check(judged >= 10, f"only {judged} programs were steady enough to be judged")


@test
def errors_by_errno():
    r = trace_work("errors")
    s = r.json
    check_summary(s)
    lossless(s)
    for key, want in r.said.items():
        name, errno = key.split(":")
        got = call(s, name)["by_errno"].get(errno, 0)
        # The loader itself may look for a file that is not there.
        if key == "openat:ENOENT":
            between(got, want, want + 4, key)
        else:
            equal(got, want, key)


@test
def errors_by_errno_are_those_of_strace():
    with scratch() as d:
        tree, big = fixed_tree(d)
        for cmd in (["/bin/ls", f"{tree}/none", f"{big}/not"], [workload("errors")],
                    ["/bin/sh", "-c", "nosuchcommand; exec 9>&8; cat /nonexistent"]):
            want = strace_errors(cmd)
            s = trace(cmd, rc=None, stdout=DEVNULL).json
            got = {c["name"]: c["by_errno"] for c in s["syscalls"] if c["by_errno"]}
            equal(got, want, f"errors of {cmd[0]}")


@test(timeout=120)
def sixteen_processes_make_a_million_calls():
    r = trace_work("getpid_many", 16, 62500)
    s = r.json
    check_summary(s)
    got, loss = calls(s)["getpid"], s["loss"]
    check(got <= 1000000, f"{got} getpid calls: more than were made")
    equal(got + loss["recursion"] + loss["map_full"] + loss["ring_full"], 1000000,
          f"getpid and the ledger {loss}")
    equal(s["threads"]["processes_created"], 16, "processes created")


@test
def calls_that_never_return_are_calls():
    s = trace_work("getpid_many", 5, 11).json
    equal(calls(s)["exit_group"], 6, "exit_group: five children and the parent")
    s = trace_work("killed_blocked", 53).json
    equal(calls(s)["getppid"], 53, "getppid")
    plain = calls(trace_work("killed_blocked", 0).json)["read"]
    check(calls(s)["read"] >= plain + 53, "the reads in which the children were killed")


@test
def what_runs_before_the_exec_is_not_counted():
    s = trace(["/bin/true"]).json
    equal(calls(s)["execve"], 1, "execve")
    check(sum(calls(s).values()) < 60, f"/bin/true made {calls(s)}")
    equal(s["command"], ["/bin/true"], "command")


@test
def times_are_wall_and_cpu():
    us, n = 5000, 31
    s = trace_work("pipe_chunks", 8, n, "pipe", us, 0).json
    for name in ("clock_nanosleep", "nanosleep"):
        if name in calls(s):
            c = call(s, name)
    between(c["total_ns"], n * us * 1000, n * us * 1000 * 3, "wall time of the sleeps")
    check(c["cpu_ns"] < c["total_ns"] * 0.2, f"the sleeps used {c['cpu_ns']} of CPU")
    between(c["p50_ns"], us * 1000 * 0.87, us * 1000 * 2, "p50 of the sleeps")
    check(c["max_ns"] >= us * 1000, "max of the sleeps")


@test
def busy_call_is_cpu_time():
    with scratch() as d:
        _, big = fixed_tree(d)
        s = trace(["/bin/dd", "if=/dev/zero", f"of={big}", "bs=1M", "count=64", "status=none"]).json
    c = call(s, "write")
    equal(c["calls"], 64, "write")
    check(0 < c["cpu_ns"] <= c["total_ns"], f"CPU time {c['cpu_ns']} of {c} beside {s['sched']}")


@test
def anonymous_memory_that_is_mapped():
    need("strace")

    def maps(n):
        # Where Python finds room depends on its addresses.
        return ["setarch", "-R", "/usr/bin/python3", "-I", "-S", "-c",
                f"import mmap\nfor _ in range({n}): mmap.mmap(-1, {37 << 20})"]
    with scratch() as d:
        log = os.path.join(d, "log")
        run(["strace", "-f", "-e", "trace=mmap", "-o", log, *maps(0)]).ok()
        with open(log, encoding="utf-8", errors="replace") as f:
            want = sum(int(m[1]) for m in
                       re.finditer(r"mmap\(\S+, (\d+), .*MAP_ANONYMOUS.* = 0x", f.read()))
    equal(trace(maps(0)).json["mmap_bytes"], want, "bytes of python's own")
    equal(trace(maps(3)).json["mmap_bytes"], want + 3 * (37 << 20), "bytes with three more")


@test
def getppid_is_timed():
    n = 200003
    s = trace_work("getppid_loop", n).json
    c = call(s, "getppid")
    equal(c["calls"], n, "getppid")
    between(c["p50_ns"], 20, 20000, "p50 of the cheapest call")
    near(c["total_ns"] / n, c["p50_ns"], 5, "mean against median")


@test
def signals_and_their_returns():
    n = 1009
    r = trace_work("signal_storm", n)
    equal(calls(r.json)["kill"], n, "kill")
    equal(calls(r.json)["rt_sigreturn"], r.said["handled"], "rt_sigreturn")


if __name__ == "__main__":
    main()
