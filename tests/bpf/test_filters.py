#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters that act in the kernel: comm, cgroup, pid; and strace's -e, -P, -S."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (DEVNULL, PIPE, Attach, TRACER, between, calls, cgroup, check, contains,
                     equal, keys, main, run, scratch, start, start_work, strace_counts, test,
                     trace, trace_work, workload)


def line(p):
    return keys(p.stdout.readline().decode())


def tell(p):
    p.stdin.write(b"go\n")
    p.stdin.flush()
    return line(p)


@test
def attach_by_comm():
    mine, other = start_work("many_threads", 5, 101), start([workload("getppid_loop"), "30000000"])
    line(mine)
    a = Attach("--mode", "exact", "--comm", "^many_threads$")
    tell(mine)
    s = a.stop().json
    check(other.poll() is None, "the other ended too early")
    check_summary(s, run=False)
    equal(calls(s)["getppid"], 505, "getppid of the named ones")
    equal({t["comm"] for t in s["threads"]["by_thread"]}, {"many_threads"}, "names")


@test
def attach_by_comm_that_starts_later():
    a = Attach("--mode", "exact", "--comm", "^getppid_l")
    time.sleep(0.2)
    run([workload("getppid_loop"), "1009"]).ok()
    run([workload("getpid_many"), "2", "11"]).ok()
    s = a.stop().json
    equal(calls(s).get("getppid"), 1009, "getppid")
    equal(calls(s).get("getpid", 0), 0, "getpid of another name")


@test
def run_by_comm():
    r = trace(["sh", "-c", f"{workload('getppid_loop')} 503; {workload('getpid_many')} 2 101"],
              "--comm", "^getpid_many$")
    equal(calls(r.json).get("getppid", 0), 0, "getppid of another name")
    equal(calls(r.json)["getpid"], 202, "getpid")
    equal(r.json["filter"], {"comm": "^getpid_many$", "cgroup": None, "calls": None, "paths": []},
          "filter")
    head = run([TRACER, "run", "-q", "--comm", "none.such", "--", "true"]).ok().err.splitlines()[0]
    contains(head, "true, of it threads named none.such", "what was traced")


@test
def bad_comm_pattern():
    r = run([TRACER, "attach", "--comm", "a(b", "-d", "1"])
    equal(r.rc, 2, "exit code")
    contains(r.err, "a(b", "message")


@test
def attach_by_cgroup():
    with cgroup() as path:
        enter = f"echo $$ >{path}/cgroup.procs; exec "
        mine = start(["sh", "-c", enter + f"{workload('many_threads')} 5 101"], stdin=PIPE,
                     stdout=PIPE)
        other = start([workload("getppid_loop"), "30000000"])
        line(mine)
        a = Attach("--mode", "exact", "--cgroup", path)
        tell(mine)
        # One that enters later is in it too.
        late = start(["sh", "-c", enter + f"{workload('getppid_loop')} 1009"], stdout=DEVNULL)
        late.wait(20)
        s = a.stop().json
        check(other.poll() is None, "the other ended too early")
        check_summary(s, run=False)
        equal(calls(s)["getppid"], 505 + 1009, "getppid in the cgroup")


@test
def attach_by_a_cgroup_above():
    with cgroup() as path:
        below = os.path.join(path, "below")
        os.mkdir(below)
        try:
            w = start(["sh", "-c", f"echo $$ >{below}/cgroup.procs; "
                       f"exec {workload('many_threads')} 3 11"], stdin=PIPE, stdout=PIPE)
            line(w)
            a = Attach("--mode", "exact", "--cgroup", path)
            tell(w)
            equal(calls(a.stop().json)["getppid"], 33, "getppid below the cgroup")
            w.stdin.close()
            w.wait(10)
        finally:
            time.sleep(0.1)
            os.rmdir(below)


@test
def a_process_moved_into_the_cgroup_comes_with_all_its_threads():
    """And one that is moved out goes with all of them: the kernel tells of a move once."""
    with cgroup() as path:
        w = start([workload("many_threads"), "5", "101"], stdin=PIPE, stdout=PIPE)
        line(w)
        a = Attach("--mode", "exact", "--cgroup", path)
        for where in (path, os.path.dirname(path)):
            with open(f"{where}/cgroup.procs", "w", encoding="ascii") as f:
                f.write(str(w.pid))
            time.sleep(0.5)
            w.stdin.write(b"\n")
            w.stdin.flush()
            line(w)
        s = a.stop().json
        w.stdin.close()
        w.wait()
    equal(calls(s)["getppid"], 5 * 101, "getppid of five threads, once in the cgroup")


@test
def cgroup_that_is_not_there():
    r = run([TRACER, "attach", "--cgroup", "/nonexistent/cgroup", "-d", "1"])
    equal(r.rc, 2, "exit code")
    contains(r.err, "/nonexistent/cgroup", "message")
    with scratch() as d:
        r = run([TRACER, "attach", "--cgroup", d, "-d", "1"])
        equal(r.rc, 2, "exit code for a directory that is no cgroup")
        contains(r.err, d, "message")


@test
def only_named_calls():
    for spec in ("getpid,wait4", "trace=getpid,wait4"):
        s = trace_work("getpid_many", 3, 101, opts=["-e", spec]).json
        equal({n: calls(s)[n] for n in calls(s)}, {"getpid": 303, "wait4": 3}, f"-e {spec}")


@test
def all_but_named_calls():
    whole = calls(trace_work("getpid_many", 3, 101).json)
    got = calls(trace_work("getpid_many", 3, 101, opts=["-e", "!getpid,mmap"]).json)
    del whole["getpid"], whole["mmap"]
    equal(got, whole, "-e '!getpid,mmap'")


@test
def classes_of_calls_are_those_of_strace():
    cmd = [workload("errors")]
    for cls in ("%file", "%desc", "%process", "%memory", "%signal"):
        want = {n: c for n, (c, _) in strace_counts(cmd, ["-e", f"trace={cls}"]).items()}
        got = {n: c for n, c in calls(trace(cmd, "-e", cls, stdout=DEVNULL).json).items()
               if n != "exit_group"}
        equal(got, want, f"-e {cls}")


@test
def only_named_calls_in_wait_mode():
    cmd = ["sh", "-c", "sleep 0.1; true"]
    all_ = calls(trace(cmd, "--mode", "wait").json)
    check({"clock_nanosleep", "wait4"} <= set(all_), f"calls that block: {sorted(all_)}")
    r = trace(cmd, "--mode", "wait", "-e", "clock_nanosleep")
    equal(calls(r.json), {"clock_nanosleep": 1}, "-e clock_nanosleep")
    check("wait4" in {b["name"] for b in r.json["sched"]["blocked_in"]},
          "what threads blocked in is told whole")
    equal(calls(trace(cmd, "--mode", "wait", "-e", "futex").json), {}, "-e futex")


@test
def only_calls_on_a_path_in_wait_mode():
    with scratch() as d:
        fifo = f"{d}/fifo"
        os.mkfifo(fifo)
        line_ = f"(sleep 0.2; echo a; sleep 0.2; echo b) >{fifo} & sleep 0.1; cat {fifo}; wait"
        got = calls(trace(["sh", "-c", line_], "--mode", "wait", "-P", fifo).json)
    check(set(got) <= {"openat", "read", "write"} and got.get("read", 0) >= 1,
          f"calls on the FIFO that block: {got}")


@test
def who_is_left_out_leaves_no_trace():
    for mode in ("wait", "exact"):
        s = trace_work("futex_pingpong", 2003, opts=["--mode", mode, "--comm", "^nobody$"]).json
        equal([len(x) for x in (s["locks"], s["syscalls"], s["threads"]["by_thread"])], [0, 0, 0],
              f"{mode}: locks, calls, threads")
        equal((s["sched"]["oncpu_ns"], s["sched"]["blocked_ns"]), (0, 0), f"{mode}: times")


RENAMES = """
import time
def name(s):
    open("/proc/self/comm", "w").write(s)
def spin(s):
    end = time.monotonic() + s
    while time.monotonic() < end: pass
def part(who, s):
    name(who); spin(s); time.sleep(s)
spin(0.3)
part("counted", 0.1)
part("other", 0.4)
part("counted", 0.1)
part("other", 0.4)
"""


@test
def time_counts_while_the_name_matches():
    for mode in ("wait", "exact"):
        s = trace([sys.executable, "-c", RENAMES], "--mode", mode, "--comm", "^counted$").json
        equal([t["comm"] for t in s["threads"]["by_thread"]], ["counted"], f"{mode}: rows")
        sched = s["sched"]
        between(sched["oncpu_ns"] + sched["runnable_ns"], 0.18e9, 0.32e9, f"{mode}: to run")
        between(sched["blocked_ns"], 0.19e9, 0.3e9, f"{mode}: blocked")
        check(s["threads"]["by_thread"][0]["exited"], f"{mode}: it has ended")


@test
def unknown_call():
    r = run([TRACER, "run", "-e", "getpidd", "--", "true"])
    equal(r.rc, 125, "exit code")
    contains(r.err, "getpidd", "message")


@test
def only_calls_on_a_path():
    with scratch() as d:
        one, two = os.path.join(d, "one"), os.path.join(d, "two")
        for p in (one, two):
            with open(p, "w", encoding="ascii") as f:
                f.write("x" * 300000)
        cmd = ["/bin/cat", one, two]
        want = {n: c for n, (c, _) in strace_counts(cmd, ["-P", one]).items()}
        got = calls(trace(cmd, "-P", one, stdout=DEVNULL).json)
        equal(got, want, "-P")
        check(got["read"] >= 2 and got["openat"] == 1, f"-P found {got}")


if __name__ == "__main__":
    main()
