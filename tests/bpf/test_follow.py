#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exec, vfork, exit, reuse of ids, signals and namespaces while traced."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (Skip, between, calls, check, edges, equal, keys, lock_at, lossless, main,
                     need, pipe_of, scratch, test, trace, trace_work, wait_for, workload)

IN_NAMESPACE = ("unshare", "-pf", "--mount-proc")


@test
def vfork_and_exec():
    n = 211
    s = trace_work("vfork_exec", n).json
    check_summary(s)
    lossless(s)
    equal(calls(s)["vfork"], n, "vfork")
    equal(calls(s)["execve"], n + 1, "execve, with the workload's own")
    equal(calls(s)["wait4"], n, "wait4")
    equal(calls(s)["exit_group"], n + 1, "exit_group")
    equal(s["threads"]["created"], 0, "a process is no thread of its creator")
    equal(s["threads"]["processes_created"], n, "processes created")


@test
def exec_by_a_thread_that_is_not_the_first():
    n = 1009
    r = trace_work("exec_thread", n)
    s = r.json
    check_summary(s)
    equal(calls(s)["getppid"], n, "getppid of the new image")
    equal(calls(s)["execve"], 2, "execve")
    equal(s["threads"]["created"], 4, "threads.created")
    # Three and the leader are killed by the exec; the executing thread takes the leader's id.
    between(s["threads"]["exited"], 3, 5, "threads.exited")
    rows = [t for t in s["threads"]["by_thread"] if t["tid"] == r.said["pid"]]
    between(len(rows), 1, 2, "rows of the leader's id: the old leader and the new one")
    check(max(t["calls"] for t in rows) >= n, f"the new image's calls are the leader's: {rows}")


@test
def pids_used_again():
    n = 101
    r = trace_work("pid_reuse", n, rc=None)
    if r.rc == 77:
        raise Skip("clone3 with set_tid is not permitted")
    r.ok()
    s = r.json
    check_summary(s)
    lossless(s)
    equal(calls(s)["getppid"], r.said["calls"], "getppid of all that had the pid")
    rows = [t for t in s["threads"]["by_thread"] if t["tid"] == r.said["pid"]]
    check(len(rows) + s["threads"].get("by_thread_cut", 0) >= n,
          f"{len(rows)} rows for {n} lives of one pid")
    got = sorted(t["calls"] for t in rows)
    want = sorted(calls_of_child + got[0] for calls_of_child in range(n))
    if len(rows) == n + 1:
        got = got[1:]	# the first life, that only found a free pid
        want = sorted(k + got[0] for k in range(n))
    equal(got, want, "calls of each life")


@test
def killed_while_blocked():
    n = 53
    s = trace_work("killed_blocked", n).json
    check_summary(s)
    equal(calls(s)["getppid"], n, "getppid")
    equal(s["loss"]["ring_full"], 0, "nothing was dropped")
    equal(s["threads"]["processes_created"], n, "processes created")
    check(s["threads"]["processes_exited"] in (n, n + 1), "processes exited")


@test
def background_children_are_left_running_and_said_to_be():
    """The trace ends with its command; a child that outlives it goes on, and is in the summary."""
    with scratch() as d:
        gate, mark = os.path.join(d, "gate"), os.path.join(d, "mark")
        os.mkfifo(gate)
        r = trace(["sh", "-c", f"{{ exec 2>/dev/null >{mark}; exec cat <{gate}; }} & exit 7"], rc=7)
        s = r.json
        check_summary(s)
        equal(s["exit"]["code"], 7, "exit.code")
        equal(s["still_running"], 1, "still running: the child that waits at the gate")
        equal((s["threads"]["processes_created"], s["threads"]["processes_exited"]), (1, 1),
              "the child that came, the command that went")
        with open(gate, "w", encoding="ascii") as f:
            f.write("went on")
        wait_for("the child's end", lambda: os.path.getsize(mark) == len("went on"))


@test
def inside_a_pid_namespace():
    need("unshare")
    r = trace_work("futex_pingpong", 5003, prefix=IN_NAMESPACE)
    s, said = r.json, r.said
    check_summary(s)
    lossless(s)
    check(said["a_tid"] < 20, f"the workload saw tid {said['a_tid']}: no namespace")
    l = lock_at(s, said["addr"])
    equal(l["waits"], said["waits"], "waits")
    equal(edges(l).get((said["b_tid"], said["a_tid"]), 0), said["a_waits"], "a woken by b")
    equal(edges(l).get((said["a_tid"], said["b_tid"]), 0), said["b_waits"], "b woken by a")
    check({said["a_tid"], said["b_tid"]} <= {t["tid"] for t in s["threads"]["by_thread"]},
          "rows by the namespace's tids")


@test
def counts_inside_a_pid_namespace():
    n = 2003
    s = trace_work("thread_storm", n, prefix=IN_NAMESPACE).json
    lossless(s)
    equal(s["threads"]["created"], n, "threads.created")
    equal(calls(s)["clone3"], n, "clone3")
    equal(calls(s)["exit"], n, "exit")


@test
def pipes_inside_a_pid_namespace():
    r = trace_work("pipe_chunks", 100, 1009, prefix=IN_NAMESPACE)
    p = pipe_of(r.json, "pipe", writer=r.said["w_tid"])
    equal((p["writers"], p["readers"]), ([r.said["w_tid"]], [r.said["r_tid"]]), "ends")
    equal(p["chunks_written"], 1009, "chunks")


@test
def command_makes_a_namespace():
    need("unshare")
    r = trace([*IN_NAMESPACE, workload("getpid_many"), "3", "101"])
    s = r.json
    equal(calls(s)["getpid"], 303, "getpid of the processes inside")
    ids = [t["tid"] for t in s["threads"]["by_thread"]]
    equal(len(ids), len(set(ids)), f"tids of our namespace are told apart: {ids}")


@test
def hopping_between_namespaces():
    n = 1009
    r = trace_work("ns_hop", n, rc=None)
    if r.rc == 77:
        raise Skip("unshare is not permitted")
    r.ok()
    s = r.json
    equal(calls(s)["getpid"], n, "getpid")
    equal(calls(s)["getppid"], n, "getppid")
    equal(calls(s)["setns"], 1, "setns")
    equal(calls(s)["unshare"], 2, "unshare")
    check(r.said["child"] in {t["tid"] for t in s["threads"]["by_thread"]}, "the child's row")


@test
def a_traced_command_is_not_the_tracer():
    """Tracer's own threads and its symbol reader are in no table."""
    r = trace_work("mutex_contend", 3, 101, 20000, opts=["--stacks"])
    names = {t["comm"] for t in r.json["threads"]["by_thread"]}
    check(not any(n.startswith("tracer") for n in names), f"tracer traced itself: {names}")


@test
def setuid_and_names_of_threads():
    s = trace_work("hostile_names").json
    names = {t["comm"] for t in s["threads"]["by_thread"]}
    for want in ("<script>", "=cmd|' /C c'!A0"[:15], "a\"b,c", "%s%n%x"):
        check(want in names, f"{want!r} is not in {sorted(names)}")


@test
def keys_of_a_run_are_the_commands():
    r = trace(["sh", "-c", "kill -9 $$"], rc=None)
    equal(r.rc, 137, "exit code")
    check(r.json["exit"]["signal"] in (9, "SIGKILL", "KILL"), f"exit is {r.json['exit']}")
    r = trace(["sh", "-c", "exit 3"], rc=3)
    equal(r.json["exit"]["code"], 3, "exit.code")
    check(not keys(r.err), "nothing was printed")


if __name__ == "__main__":
    main()
