#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attaching to what already runs: threads, calls in flight, namespaces, ends."""
import contextlib
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (PIPE, SLOW, TRACER, Attach, Failure, between, bpf_held, calls, check,
                     descendants, edges, equal, finish, keys, kill, lock_at, lossless, main, near,
                     run, start, start_work, test, wait_for, wait_gone, workload)


def line(p, what="a line of the workload"):
    text = p.stdout.readline().decode()
    check(text, f"no {what}")
    return keys(text)


def tell(p):
    p.stdin.write(b"go\n")
    p.stdin.flush()
    return line(p, "answer")


@test(timeout=90)
def five_thousand_running_threads():
    n, each = 5000, 11
    w = start_work("many_threads", n, each)
    said = line(w)
    a = Attach("--mode", "exact", str(said["pid"]))
    for _ in range(2):
        done = tell(w)
    s = a.stop().json
    check_summary(s, run=False)
    lossless(s)
    equal(done["calls"], 2 * n * each, "the workload itself")
    equal(calls(s)["getppid"], done["calls"], "getppid")
    equal(s["threads"]["created"], 0, "threads created while attached")
    rows = [t for t in s["threads"]["by_thread"] if t["calls"] >= 2 * each]
    cut = s["threads"].get("by_thread_cut", 0)
    check(len(rows) + cut >= n, f"{len(rows)} rows and {cut} cut, of {n} threads")
    # Their stacks are 10,000 mappings: read again and again they took 5 to 12 s.
    spent = s["overhead"]["consumer_cpu_ns"]
    check(spent < 2000000000 * SLOW, f"the tracer itself took {spent / 1e9:.1f} s of CPU")


@test
def threads_that_end_after_the_attach():
    n = 503
    w = start_work("many_threads", n, 3)
    said = line(w)
    a = Attach("--mode", "exact", str(said["pid"]))
    tell(w)
    w.stdin.close()
    s = a.end().json
    equal(calls(s)["getppid"], n * 3, "getppid")
    equal(s["threads"]["exited"], n, "threads.exited")
    equal(calls(s)["exit"], n, "exit")


@test
def attach_ends_with_its_process():
    w = start(["cat"], stdin=PIPE)
    a = Attach(str(w.pid))
    w.stdin.close()
    w.wait(10)
    r = a.end()
    check_summary(r.json, run=False)
    wait_gone(a.held)


@test
def one_of_two_processes_ends():
    one, two = start(["cat"], stdin=PIPE), start(["sleep", "30"])
    a = Attach(str(one.pid), "-p", str(two.pid))
    one.stdin.close()
    one.wait(10)
    time.sleep(0.3)
    check(a.proc.poll() is None, "attach ended with the first of two processes")
    check_summary(a.stop().json, run=False)


@test
def a_wait_in_flight_is_a_wait():
    w = start_work("many_threads", 3, 7)
    said = line(w)
    a = Attach("--mode", "exact", str(said["pid"]))
    tell(w)
    s = a.stop().json
    check_summary(s, run=False)
    # The threads slept in a futex wait when we came; that first wait ends traced.
    waits = sum(l["waits"] for l in s["locks"])
    between(waits, 3, 3 * 3, "waits")
    ends = sum(n for l in s["locks"] for (waker, _), n in edges(l).items() if waker == said["pid"])
    equal(ends, 3, "waits that the main thread ended")
    equal(s["loss"]["unpaired"], 0, "a call in flight is known from its registers")


@test
def wait_mode_sees_waits_that_block():
    w = start(["sh", "-c", f"read go; exec {workload('futex_pingpong')} 200003"], stdin=PIPE,
              stdout=PIPE)
    a = Attach(str(w.pid))
    out, _ = w.communicate(timeout=60)
    said = keys(out.decode())
    s = a.end().json
    check_summary(s, run=False)
    l = lock_at(s, said["addr"])
    near(l["waits"], said["nvcsw"], 0.001, "waits that blocked", 4)
    got = edges(l)
    near(got.get((said["b_tid"], said["a_tid"]), 0), said["a_nvcsw"], 0.001, "a woken by b", 4)
    near(got.get((said["a_tid"], said["b_tid"]), 0), said["b_nvcsw"], 0.001, "b woken by a", 4)


@test
def a_thread_that_runs_all_the_time_was_on_the_cpu():
    spin = "import os\nos.sched_setaffinity(0, [0])\nwhile True: pass"
    for mode in ("wait", "exact"):
        w = start([sys.executable, "-c", spin])
        os.sched_setscheduler(w.pid, os.SCHED_FIFO, os.sched_param(1))
        time.sleep(0.2)
        s = Attach("--mode", mode, "-d", "0.4", str(w.pid), wait=False).end().json
        kill(w)
        between(s["sched"]["oncpu_ns"] + s["sched"]["runnable_ns"], s["duration_ns"] * 0.97,
                s["duration_ns"] * 1.03, f"{mode}: all of the time accounted for")


@test
def new_threads_and_children_are_followed():
    w = start(["sh", "-c", f"read go; {workload('thread_storm')} 503; "
               f"{workload('getpid_many')} 3 101; exit 0"], stdin=PIPE, stdout=PIPE)
    a = Attach("--mode", "exact", str(w.pid))
    w.stdin.close()
    w.wait(30)
    s = a.end().json
    lossless(s)
    equal(s["threads"]["created"], 503, "threads.created")
    equal(calls(s)["clone3"], 503, "clone3")
    equal(calls(s)["getpid"] - 303 in (0, 1, 2), True, f"getpid: {calls(s)['getpid']}")
    equal(calls(s)["execve"], 2, "execve")


@test
def others_are_not_traced():
    noise = start([workload("getppid_loop"), "30000000"])
    w = start_work("many_threads", 2, 101)
    said = line(w)
    a = Attach("--mode", "exact", str(said["pid"]))
    tell(w)
    s = a.stop().json
    check(noise.poll() is None, "the noise ended too early")
    equal(calls(s)["getppid"], 202, "getppid")


@test
def a_thread_id_is_the_process_or_an_error():
    w = start_work("many_threads", 5, 11)
    said = line(w)
    tid = max(map(int, os.listdir(f"/proc/{said['pid']}/task")))
    check(tid != said["pid"], "no second thread")
    try:
        a = Attach("--mode", "exact", str(tid))
    except Failure:
        r = run([TRACER, "attach", "-d", "1", str(tid)])
        equal(r.rc, 2, "exit code")
        check(str(tid) in r.err, f"the message names the id: {r.err!r}")
        return
    tell(w)
    got = calls(a.stop().json)["getppid"]
    check(got in (11, 55), f"one thread's or all threads' calls, got {got}")


@test
def detach_leaves_the_target_alone():
    w = start_work("many_threads", 7, 11)
    said = line(w)
    for _ in range(3):
        a = Attach("--mode", "exact", str(said["pid"]))
        t0 = time.monotonic()
        a.stop()
        check(time.monotonic() - t0 < 2, "detach took more than two seconds")
        wait_gone(a.held)
    with open(f"/proc/{said['pid']}/status", encoding="ascii") as f:
        check("TracerPid:\t0\n" in f.read(), "the target is ptraced")
    equal(tell(w)["calls"], 77, "the target works on")


@test
def two_tracers_at_once():
    w = start_work("many_threads", 5, 101)
    said = line(w)
    a = Attach("--mode", "exact", str(said["pid"]))
    b = Attach("--mode", "exact", str(said["pid"]))
    tell(w)
    equal(calls(a.stop().json)["getppid"], 505, "the first")
    equal(calls(b.stop().json)["getppid"], 505, "the second")


@test
def target_in_a_pid_namespace_from_outside():
    w = start(["unshare", "-pf", "--mount-proc", workload("many_threads"), "5", "11"], stdin=PIPE,
              stdout=PIPE)
    equal(line(w)["pid"], 1, "the workload is pid 1 in its namespace")
    inner = [p for p in descendants(w.pid) if p != w.pid][0]
    a = Attach("--mode", "exact", str(inner))
    tell(w)
    s = a.stop().json
    lossless(s)
    equal(calls(s)["getppid"], 55, "getppid")
    tids = set(map(int, os.listdir(f"/proc/{inner}/task")))
    check({t["tid"] for t in s["threads"]["by_thread"]} <= tids, "tids are those of our namespace")


@test
def attach_inside_a_pid_namespace():
    """Prints the tids as the namespace has them, and finds pid 2 of the namespace, not ours."""
    script = (f"{workload('many_threads')} 5 11 </dev/fd/9 >/dev/fd/8 & "
              f"exec {TRACER} attach --json --mode exact $!")
    to_r, to_w = os.pipe()
    from_r, from_w = os.pipe()
    p = start(["unshare", "-pf", "--mount-proc", "bash", "-c",
               f"exec 9<&{to_r} 8>&{from_w}; {script}"], stdout=PIPE, stderr=PIPE,
              pass_fds=(to_r, from_w))
    os.close(to_r)
    os.close(from_w)
    with os.fdopen(from_r) as answers, os.fdopen(to_w, "w") as orders:
        said = keys(answers.readline())
        check(1 < said["pid"] < 20, f"pid in the namespace: {said}")
        wait_for("the tracer in the namespace",
                 lambda: any(k == "link" for k, _ in bpf_held(p.pid)) or p.poll() is not None)
        time.sleep(1)
        orders.write("go\n")
        orders.flush()
        equal(keys(answers.readline()).get("calls"), 55, "the workload itself")
        for pid in descendants(p.pid):
            with contextlib.suppress(OSError):
                if "tracer-live" in os.readlink(f"/proc/{pid}/exe"):
                    os.kill(pid, signal.SIGINT)
        s = json.loads(finish(p, 20).out)
    equal(calls(s).get("getppid"), 55, "getppid")
    check(all(t["tid"] < 30 for t in s["threads"]["by_thread"]), "tids are the namespace's")


if __name__ == "__main__":
    main()
