#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ctrl-C, SIGTERM, SIGKILL, stop and continue, terminals and process groups."""
import fcntl
import json
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (BUILD, DEVNULL, PIPE, TRACER, Attach, Skip, bpf_held, check, contains,
                     descendants, equal, finish, keys, main, run, scratch, start, test,
                     wait_attached, wait_for, wait_gone, workload)
from terminal import CTRL_C, CTRL_Z, Terminal


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def tracer_pid(p):
    """The process that traces: p itself or a child of it that is no command."""
    for pid in descendants(p.pid):
        if any(k == "link" for k, _ in bpf_held_alone(pid)):
            return pid
    raise AssertionError("no process holds a link")


def bpf_held_alone(pid):
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            if "bpf" in os.readlink(f"/proc/{pid}/fd/{fd}"):
                with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as f:
                    if "link_id" in f.read():
                        found.add(("link", int(fd)))
        except OSError:
            pass
    return found


@test
def place_of_the_command_is_as_without_tracer():
    job = workload("job_state")
    plain = run(["sh", "-c", f"{job}; :"]).ok()
    traced = run(["sh", "-c", f"{TRACER} run -q -o /dev/null -- {job}; :"]).ok()
    a, b = plain.out.splitlines(), traced.out.splitlines()
    differ = [(x, y) for x, y in zip(a, b) if x != y and not x.startswith(("pid=", "ppid="))]
    equal(differ, [], "(without, with) tracer")
    equal(len(a), len(b), "lines")


@test
def terminal_of_the_command_is_as_without_tracer():
    seen = []
    for prefix in ([], [TRACER, "run", "-q", "-o", "/dev/null", "--"]):
        t = Terminal([*prefix, workload("job_state")])
        equal(t.wait(), 0, "exit code")
        seen.append(keys(t.text))
    for k in ("foreground", "tty", "fds", "top_fd", "SigIgn", "SigBlk", "SigCgt"):
        equal(seen[1].get(k), seen[0].get(k), k)


@test
def ignored_signals_stay_ignored():
    job = workload("job_state")
    line = "trap '' INT HUP USR1 PIPE; "
    a = keys(run(["sh", "-c", f"{line}{job}; :"]).out)
    b = keys(run(["sh", "-c", f"{line}{TRACER} run -q -o /dev/null -- {job}; :"]).out)
    equal(b["SigIgn"], a["SigIgn"], "SigIgn")
    check(int(str(a["SigIgn"]), 16), "the shell ignored nothing: the test is void")


@test
def environment_of_the_command():
    a = run(["env"]).out.splitlines()
    b = run([TRACER, "run", "-q", "-o", "/dev/null", "--", "env"]).out.splitlines()
    equal(sorted(b), sorted(a), "environment")


@test
def stdin_passes_through():
    data = bytes(range(256)) * 3001
    r = run([TRACER, "run", "-q", "-o", "/dev/null", "--", "cat"], data=data).ok()
    equal(r.raw_out == data, True, "what cat copied is what came in")


@test
def closed_descriptors_stay_closed():
    inner = "for i in 0 1 2; do [ -e /proc/self/fd/$i ] && printf $i; done >&9; :"
    for shut in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        with scratch() as d:
            got = []
            for prefix in ("", f"{TRACER} run -q -o {d}/summary -- "):
                run(["bash", "-c", f"exec 9>{d}/seen; {prefix}sh -c '{inner}' {shut}"])
                with open(f"{d}/seen", encoding="ascii") as f:
                    got.append(f.read())
            equal(got[1], got[0], f"descriptors open in the command with {shut}")


@test
def ctrl_c_reaches_the_command_and_the_summary_is_printed():
    t = Terminal([TRACER, "run", "--", "sleep", "30"])
    held = wait_attached(t.proc)
    t0 = time.monotonic()
    t.send(CTRL_C)
    equal(t.wait(), 130, "exit code")
    check(time.monotonic() - t0 < 5, "it took more than five seconds")
    contains(t.text, "sleep", "the summary")
    check(len(t.text) > 300, f"no tables: {t.text!r}")
    wait_gone(held)


@test
def a_command_may_handle_ctrl_c():
    t = Terminal([TRACER, "run", "--", workload("job_state"), "wait", "20"])
    t.expect("waiting")
    wait_attached(t.proc)
    t.send(CTRL_C)
    t.expect("signal=2")
    time.sleep(0.3)
    check(t.proc.poll() is None, "tracer did not wait for the command")
    os.kill(int(t.expect(r"pid=(\d+)")[1]), signal.SIGUSR2)
    equal(t.wait(), 41, "the command's own exit code")


@test
def ctrl_c_twice_detaches_from_a_command():
    t = Terminal([TRACER, "run", "--", workload("job_state"), "wait", "20"])
    t.expect("waiting")
    pid = int(t.expect(r"pid=(\d+)")[1])
    held = wait_attached(t.proc)
    t.send(CTRL_C)
    t.expect("signal=2")
    at = len(t.text)
    time.sleep(0.2)
    t0 = time.monotonic()
    t.send(CTRL_C)
    equal(t.wait(), 130, "exit code")
    check(time.monotonic() - t0 < 3, "the second ctrl-C took more than three seconds")
    check(len(t.text) - at > 300, f"nothing was printed: {t.text[at:]!r}")
    check(alive(pid), "the command did not run on")
    wait_gone(held)
    os.kill(pid, signal.SIGKILL)


@test
def what_runs_on_is_said():
    line = [TRACER, "run", "-d", "100ms"]
    r = run([*line, "--", "sleep", "0.7"]).ok()
    check(re.search(r"^tracer: no longer traced: pid \d+ runs on$", r.err, re.M), r.err[-300:])
    check("no longer" not in run([*line, "-q", "--", "sleep", "0.7"]).ok().err, "a note with -q")
    # A program reads this: nothing may follow it.
    json.loads(run([*line, "--json", "--", "sleep", "0.7"]).ok().err)


@test
def ctrl_c_ends_attach_and_leaves_the_target():
    w = start(["sleep", "60"])
    t = Terminal([TRACER, "attach", str(w.pid)])
    held = wait_attached(t.proc)
    t0 = time.monotonic()
    t.send(CTRL_C)
    equal(t.wait(), 0, "exit code")
    check(time.monotonic() - t0 < 3, "it took more than three seconds")
    check(len(t.text) > 200, f"nothing was printed: {t.text!r}")
    check(alive(w.pid), "the target died")
    wait_gone(held)


@test
def ctrl_c_twice_in_attach_ends_it():
    w = start(["sleep", "60"])
    t = Terminal([TRACER, "attach", str(w.pid)])
    held = wait_attached(t.proc)
    t.send(CTRL_C)
    t.send(CTRL_C)
    rc = t.wait()
    check(rc in (0, 130), f"exit code {rc}")
    check(alive(w.pid), "the target died")
    wait_gone(held)


@test
def ctrl_c_before_it_is_attached():
    w = start(["sleep", "60"])
    for ms in (0, 1, 3, 5, 8, 13, 21, 34, 55):
        p = start([TRACER, "attach", str(w.pid)], stdout=PIPE, stderr=PIPE)
        time.sleep(ms / 1000)
        held = bpf_held(p.pid)
        p.send_signal(signal.SIGINT)
        r = finish(p, 10)
        check(r.rc in (0, 130, -2, 2), f"after {ms} ms: exit {r.rc}: {r.err}")
        if held:
            wait_gone(held)
    check(alive(w.pid), "the target died")


@test
def sigterm_goes_to_the_command():
    p = start([TRACER, "run", "--", workload("job_state"), "wait", "20"], stdout=PIPE, stderr=PIPE)
    held = wait_attached(p)
    os.kill(tracer_pid(p), signal.SIGTERM)
    time.sleep(0.3)
    check(p.poll() is None, "the command handles SIGTERM: tracer waits for it")
    for pid in descendants(p.pid):
        if os.readlink(f"/proc/{pid}/exe").endswith("job_state"):
            os.kill(pid, signal.SIGUSR2)
    r = finish(p, 10)
    equal(r.rc, 41, "exit code")
    contains(r.out, "signal=15", "the command got it")
    wait_gone(held)


@test
def sigterm_ends_a_plain_command():
    p = start([TRACER, "run", "--", "sleep", "30"], stdout=PIPE, stderr=PIPE)
    wait_attached(p)
    os.kill(tracer_pid(p), signal.SIGTERM)
    r = finish(p, 10)
    equal(r.rc, 143, "exit code")
    check(len(r.err) > 300, f"no summary: {r.err!r}")


@test
def sigterm_ends_attach():
    w = start(["sleep", "60"])
    a = Attach(str(w.pid))
    r = a.stop(signal.SIGTERM, rc=None)
    check(r.rc in (0, 143, -15), f"exit code {r.rc}")
    contains(r.out, "tracer.summary/1", "what was collected")
    check(alive(w.pid), "the target died")
    wait_gone(a.held)


@test
def sigkill_of_the_tracer_leaves_nothing():
    for mode in ("run", "attach"):
        if mode == "run":
            p = start([TRACER, "run", "--stacks", "--", workload("job_state"), "wait", "20"],
                      stdout=PIPE, stderr=PIPE)
            held = wait_attached(p)
            target = [q for q in descendants(p.pid)
                      if os.readlink(f"/proc/{q}/exe").endswith("job_state")][0]
        else:
            w = start(["sleep", "60"])
            p = start([TRACER, "attach", str(w.pid)], stdout=PIPE, stderr=PIPE)
            held = wait_attached(p)
            target = w.pid
        others = [q for q in descendants(p.pid) if q != target]
        os.kill(tracer_pid(p), signal.SIGKILL)
        wait_gone(held)
        check(alive(target), f"{mode}: the traced process died with the tracer")
        time.sleep(0.3)
        check(alive(target), f"{mode}: the traced process died after the tracer")
        wait_for(f"{mode}: helpers to end", lambda o=others: not any(map(alive, o)), 3)
        if alive(target):
            os.kill(target, signal.SIGKILL)


@test
def hang_up_ends_attach():
    w = start(["sleep", "60"])
    t = Terminal([TRACER, "attach", str(w.pid)])
    held = wait_attached(t.proc)
    t.close()
    wait_for("attach to end after its terminal went", lambda: t.proc.poll() is not None)
    wait_gone(held)
    check(alive(w.pid), "the target died")


@test
def nohup_outlasts_a_hang_up():
    w = start(["sleep", "60"])
    a = Attach("-q", str(w.pid), prefix=("nohup",))
    os.kill(a.proc.pid, signal.SIGHUP)
    time.sleep(0.3)
    check(a.proc.poll() is None, "a hang-up that is ignored ended attach")
    check(a.stop().json["duration_ns"] >= 300000000, "attach had detached")


@test
def signals_to_the_command_are_its_own():
    for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT):
        p = start([TRACER, "run", "-q", "--", "sleep", "30"], stdout=PIPE, stderr=PIPE)
        wait_attached(p)
        for pid in descendants(p.pid):
            if os.readlink(f"/proc/{pid}/exe").endswith("sleep"):
                os.kill(pid, sig)
        equal(finish(p, 10).rc, 128 + sig, f"exit code for {sig.name}")


@test
def stop_and_continue_from_a_shell():
    with scratch() as d:
        t = Terminal(["bash", "--norc", "--noprofile", "-i"], PS1="$ ")
        t.send(f"{TRACER} run -o {d}/summary -- {workload('job_state')} wait 20\n".encode())
        t.expect("waiting")
        pid = int(t.expect(r"\npid=(\d+)")[1])
        contains(t.text, "foreground=1", "the command is in the foreground")
        time.sleep(0.5)
        t.send(CTRL_Z)
        t.expect("Stopped")
        at = len(t.text)
        t.send(b"fg\n")
        t.expect("signal=18", start=at)
        os.kill(pid, signal.SIGUSR2)
        t.expect("got=1", start=at)
        t.send(b"echo code=$?.\n")
        equal(t.expect(r"code=(\d+)\.", start=at)[1], "41", "exit code")
        t.send(b"exit\n")
        t.wait()


@test
def a_command_in_the_background_of_a_shell():
    t = Terminal(["bash", "--norc", "--noprofile", "-i"], PS1="$ ")
    t.send(f"{TRACER} run -q -o /dev/null -- {workload('job_state')} & wait; echo over.\n".encode())
    t.expect(r"\nover\.")
    contains(t.text, "foreground=0", "the command is not in the foreground")
    check("Stopped" not in t.text, "tracer touched the terminal from the background")
    t.send(b"exit\n")
    t.wait()


@test
def daemons_do_not_hold_the_end_up():
    with scratch() as d:
        t0 = time.monotonic()
        r = run([TRACER, "run", "--", "sh", "-c",
                 f"setsid sleep 15 >/dev/null 2>&1 </dev/null & echo $! >{d}/pid; exit 5"])
        equal(r.rc, 5, "exit code")
        check(time.monotonic() - t0 < 8, "tracer waited for a daemon")
        with open(f"{d}/pid", encoding="ascii") as f:
            pid = int(f.read())
        check(alive(pid), "the daemon was killed")
        os.kill(pid, signal.SIGKILL)


def unread(*argv, **kw):
    """A tracer whose summary fills a pipe that nobody reads, once it hangs in the write."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    p = start([TRACER, *argv], stderr=write, **kw)
    os.close(write)
    p.unread = read  # closed, it would end the write

    def writes():
        with open(f"/proc/{p.pid}/syscall", encoding="ascii") as f:
            return f.read().split()[:2] == ["1", "0x2"]

    wait_for("the printing to hang", writes)
    time.sleep(0.2)
    return p


def nice_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        return int(f.read().rsplit(")", 1)[1].split()[16])


@test
def signals_end_a_printing_that_hangs():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        p = unread("run", "--json", "--", workload("thread_fan"), "53", stdout=DEVNULL)
        p.send_signal(sig)
        equal(p.wait(5), 128 + sig, f"exit code after {sig.name}")
        os.close(p.unread)


@test
def a_printing_that_hangs_beside_its_command():
    with open(os.path.join(BUILD, "libexec", "tracer-live"), "rb") as f:
        if b"__tsan_init" in f.read():
            raise Skip("ThreadSanitizer holds signals back as long as a call blocks")
    with scratch() as d:
        with open(f"{d}/out", "w+", encoding="utf-8") as out:
            p = unread("run", "-d", "300ms", "--json", "--", workload("job_state"), "wait", "20",
                       stdout=out)
            said = lambda: open(f"{d}/out", encoding="utf-8").read()
            pid = keys(said())["pid"]
            p.send_signal(signal.SIGTERM)
            wait_for("the command to get SIGTERM", lambda: "signal=15" in said())
            p.send_signal(signal.SIGQUIT)
            p.send_signal(signal.SIGINT)
            time.sleep(0.2)
            check(p.poll() is None, "one ctrl-C is the command's")
            p.send_signal(signal.SIGINT)
            equal(p.wait(5), 130, "exit code after the second ctrl-C")
            check(alive(pid), "the command did not run on")
            os.kill(pid, signal.SIGKILL)
            os.close(p.unread)


@test
def printing_is_not_hurried():
    p = start([TRACER, "run", "-q", "--", "sleep", "0.5"], stdout=DEVNULL, stderr=DEVNULL)
    wait_attached(p)
    check(nice_of(tracer_pid(p)) < nice_of(os.getpid()), "tracing does not hurry: the test is void")
    p.wait(10)
    p = unread("run", "--json", "--stacks", "--", workload("mutex_contend"), "3", "101", "300000",
               stdout=DEVNULL)
    found = {os.path.basename(os.readlink(f"/proc/{q}/exe")): nice_of(q)
             for q in descendants(p.pid)}
    check("tracer-sym" in found, f"nobody looks for names: {found}")
    equal(set(found.values()), {nice_of(os.getpid())}, f"priorities of {found}")
    os.close(p.unread)
    p.wait(10)


@test
def zombies_do_not_matter():
    r = run([TRACER, "run", "-q", "--", "sh", "-c",
             "sh -c 'exit 3' & sleep 0.2; exec sleep 0.3"])
    equal(r.rc, 0, "exit code")


if __name__ == "__main__":
    main()
