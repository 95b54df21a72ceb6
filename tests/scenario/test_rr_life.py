#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recorder's own life: signals, stops, its death. Nothing is left behind, and what is there
replays."""
import contextlib
import json
import os
import pty
import random
import select
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, PIPE, TRACER, bpf_held, check, clean_env, contains, descendants,
                     equal, finish, main, need, run, safe_list, scratch, start, test, wait_for,
                     wait_gone, workload)
from recordings import replay

PYTHON = "/usr/bin/python3"
MARK = "TRACER_RR_LIFE"
_dirs = set()			# of this run: others may run beside it


def recording(d, *cmd, name="rec", opts=("-q",), prefix=(), **kw):
    """A recorder that runs, of a program whose processes can be found by their environment."""
    kw.setdefault("stdout", PIPE)
    kw.setdefault("stderr", PIPE)
    return start([*prefix, TRACER, "record", *opts, "-o", os.path.join(d, name), "--", *cmd],
                 env=clean_env(**{MARK: d}), **kw)


def marked(d):
    """Processes of that recording, the recorder and its guardian among them."""
    _dirs.add(d)
    found = {}
    for p in filter(str.isdigit, safe_list("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{p}/environ", "rb") as f:
                if f"{MARK}={d}".encode() not in f.read().split(b"\0"):
                    continue
            with open(f"/proc/{p}/comm", encoding="ascii") as f:
                found[int(p)] = f.read().strip()
    return found


def parent(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return int(f.read().rpartition(")")[2].split()[1])
    return 0


def recorder_of(d):
    """The recorder, once it has begun. The program is a copy of it until its exec."""
    def there():
        all_of = marked(d)
        return [p for p, comm in all_of.items() if comm == "tracer-record" and
                all_of.get(parent(p)) != comm]
    wait_for("a recorder", there)
    return there()[0]


def same(d, was, name="rec"):
    r = replay(d, name)
    equal((r.rc, r.out), (was.rc, was.out), f"replayed: {r.err}")


def said(path, text):
    def is_there():
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as f:
            return text in f.read()
        return False
    wait_for(f"{text!r} in {path}", is_there)


class Terminal:
    """A command in a terminal of its own."""
    def __init__(self, argv, **env):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execve(argv[0], argv, clean_env(**env))

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            with contextlib.suppress(OSError):
                self.text += os.read(self.fd, 65536).decode("utf-8", "replace")

    def wait(self, part):
        def there():
            self.read(0.02)
            return part in self.text
        wait_for(f"{part!r} on the terminal", there)

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        """The exit code, -N for a signal."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                said = None
                while said != self.text:  # what it wrote after it was read last
                    said = self.text
                    self.read(0.02)
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise TimeoutError(f"it did not end: {self.text[-500:]}")


COUNTS = ("import os, signal, sys, time\n"
          "n = [0]\n"
          "def got(*_): n[0] += 1\n"
          "signal.signal(SIG, got)\n"
          "print('ready', flush=True)\n"
          "open(os.path.join(D, 'ready'), 'w').write('ready')\n"
          "end = time.monotonic() + 30\n"
          "while not n[0] and time.monotonic() < end: time.sleep(0.01)\n"
          "time.sleep(0.4)\n"
          "print('got', n[0])\n")


def counting(d, sig):
    return [PYTHON, "-c",
            COUNTS.replace("SIG, got", f"{int(sig)}, got").replace("D,", f"{d!r},")]


@test
def what_is_sent_to_the_recorder_is_passed_on():
    for sig, rc in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)):
        with scratch() as d:
            p = recording(d, "sh", "-c", f"echo a; echo b >{d}/ready; exec sleep 30")
            said(f"{d}/ready", "b")
            os.kill(recorder_of(d), sig)
            was = finish(p)
            equal((was.rc, was.out), (rc, "a\n"), was.err)
            same(d, was)


@test
def one_that_the_group_got_is_not_sent_twice():
    for sig in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
        with scratch() as d:
            p = recording(d, *counting(d, sig))
            said(f"{d}/ready", "ready")
            recorder_of(d)
            os.killpg(p.pid, sig)
            was = finish(p)
            equal((was.rc, was.out), (0, "ready\ngot 1\n"), f"signal {sig}: {was.err}")
            same(d, was)
        with scratch() as d:
            p = recording(d, *counting(d, sig))
            said(f"{d}/ready", "ready")
            os.kill(recorder_of(d), sig)
            was = finish(p)
            equal((was.rc, was.out), (0, "ready\ngot 1\n"), f"signal {sig} alone: {was.err}")


@test
def a_terminals_interrupt():
    with scratch() as d:
        cmd = [TRACER, "record", "-q", "-o", f"{d}/rec", "--", *counting(d, signal.SIGINT)]
        t = Terminal(cmd)
        t.wait("ready")
        t.type("\x03")
        equal(t.end(), 0, t.text)
        contains(t.text, "got 1", "what it got")
        equal(replay(d).out, "ready\ngot 1\n", "replayed")
    with scratch() as d:
        t = Terminal([TRACER, "record", "-q", "-o", f"{d}/rec", "--", "/bin/sh", "-c",
                      "echo ready; sleep 30; echo no"])
        t.wait("ready")
        t.type("\x03")
        equal(t.end(), 130, t.text)
        r = replay(d)
        equal((r.rc, r.out), (130, "ready\n"), r.err)


@test
def a_second_interrupt_ends_it():
    with scratch() as d:
        t = Terminal([TRACER, "record", "-q", "-o", f"{d}/rec", "--", "/bin/sh", "-c",
                      "trap '' INT; echo ready; sleep 60; echo no"], **{MARK: d})
        t.wait("ready")
        t.type("\x03")
        time.sleep(0.3)
        t.type("\x03")
        equal(t.end(), 137, t.text)
        r = replay(d)
        equal((r.rc, r.out), (137, "ready\n"), r.err)
        wait_for("its processes' end", lambda: not marked(d), 3)


def is_stopped(d):
    """All but the guardian, which only waits. D: in a vfork, until the stopped child execs."""
    for p, comm in marked(d).items():
        with contextlib.suppress(OSError), open(f"/proc/{p}/stat", encoding="utf-8") as f:
            if f.read().rpartition(")")[2].split()[0] not in "TD" and comm != "rec-guard":
                return False
    return True


@test
def a_terminal_that_goes_away():
    """The recorder leads its session: the kernel tells nobody else."""
    with scratch() as d:
        t = Terminal([TRACER, "record", "-q", "-o", f"{d}/rec", "--", "/bin/sh", "-c",
                      "echo ready; exec sleep 60"], **{MARK: d})
        t.wait("ready")
        wait_for("the program", lambda: "sleep" in marked(d).values())
        os.close(t.fd)
        wait_for("its end", lambda: os.waitpid(t.pid, os.WNOHANG)[0])
        wait_for("its processes' end", lambda: not marked(d), 3)
        r = replay(d)
        equal((r.rc, r.out), (129, "ready\n"), r.err)


@test
def one_that_computes_for_ever():
    with scratch() as d:
        t = Terminal([TRACER, "record", "-q", "-o", f"{d}/rec", "--", "/bin/sh", "-c",
                      "echo ready; while :; do :; done"], **{MARK: d})
        t.wait("ready")
        time.sleep(0.5)
        t.type("\x03")
        equal(t.end(), 130, t.text)
        r = replay(d)
        equal((r.rc, r.out), (130, "ready\n"), r.err)


# A shell of a vfork ago would not stop itself, recorded or not.
STOPPED = ("import subprocess, time\n"
           "p = subprocess.Popen(['setsid', 'sh', '-c', 'while :; do sleep 0.01; done'])\n"
           "time.sleep(0.3); print('ready', flush=True)\n"
           "for i in range(50): time.sleep(0.01)\n"
           "print('end'); p.kill()\n")


@test
def a_job_that_is_stopped_and_goes_on():
    with scratch() as d:
        with open(f"{d}/job.py", "w", encoding="ascii") as f:
            f.write(STOPPED)
        t = Terminal(["/bin/bash", "--norc", "-im"], PS1="$ ")
        t.type(f"{MARK}={d} {TRACER} record -q -o {d}/rec -- {PYTHON} {d}/job.py\n")
        t.wait("ready")
        t.type("\x1a")
        t.wait("Stopped")
        wait_for("all of it to be stopped", lambda: is_stopped(d))
        check(len(marked(d)) >= 4, f"what is stopped: {marked(d)}")
        t.type("echo 'in' 'between'\n")
        t.wait("in between")
        check("end" not in t.text, f"it has stopped: {t.text}")
        t.type("fg\n")
        t.wait("end")
        t.type("exit $?\n")
        equal(t.end(), 0, t.text)
        equal(replay(d).out, "ready\nend\n", "replayed")


def forks_on():
    return ["/bin/sh", "-c", "while :; do /bin/true; (echo a); done"]


def programs():
    return [forks_on(), ["dd", "if=/dev/zero", "of=/dev/null", "bs=1"],
            [workload("thread_storm"), "100000"], ["sleep", "60"],
            ["sh", "-c", "(setsid sh -c 'while :; do sleep 0.01; done' &) ; exec sleep 60"]]


@test
def a_recorder_that_is_killed():
    """At any moment: nothing runs on, nothing stays loaded, and what is on disk can be read."""
    rng = random.Random(os.urandom(8))
    for cmd in programs():
        for _ in range(2):
            with scratch() as d:
                p = recording(d, *cmd, stdout=DEVNULL)
                pid = recorder_of(d)
                time.sleep(rng.choice((0.01, 0.3, 1.5)) * rng.random())
                held = bpf_held(p.pid)
                os.kill(pid, signal.SIGKILL)
                equal(finish(p).rc, -9, "the recorder")
                wait_for(f"the end of {cmd}: {marked(d)}", lambda: not marked(d))
                if held:
                    wait_gone(held)
                r = replay(d)
                # It may have come before there was a file.
                check(r.rc in (0, 2) and (not r.err or "recording" in r.err or
                                          "no such file" in r.err), f"{r.rc}: {r.err}")


@test
def a_recorder_that_does_not_come_to_rest():
    """The limit is lowered from outside, so that a ring that is half full exceeds it."""
    need("prlimit")
    with scratch() as d:
        p = recording(d, "dd", "if=/dev/zero", "of=/dev/null", "bs=1M")
        pid = recorder_of(d)
        wait_for("the program", lambda: "dd" in marked(d).values())
        time.sleep(0.3)
        run(["prlimit", "--pid", pid, "--rttime=1:"]).ok()
        r = finish(p)
        equal(r.rc, 125, r.err)
        contains(r.err, "the recorder did not come to rest", "what it says")
        wait_for("its processes' end", lambda: not marked(d), 3)
        r = replay(d)
        equal(r.rc, 2, r.err)
        contains(r.err, "the recording ends behind event", "its replay")


@test
def one_that_does_not_heed_its_watchdog():
    """Its signal waits while it is stopped, as it does in the kernel."""
    with scratch() as d:
        p = recording(d, "sleep", "60")
        pid = recorder_of(d)
        wait_for("real time", lambda: os.sched_getscheduler(pid) == os.SCHED_FIFO)
        wait_for("its guardian", lambda: "rec-guard" in marked(d).values())
        wait_for("the program", lambda: "sleep" in marked(d).values())
        os.kill(pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGXCPU)
        wait_for("it to lose its priority",
                 lambda: os.sched_getscheduler(pid) == os.SCHED_OTHER)
        os.kill(pid, signal.SIGCONT)
        r = finish(p)
        equal(r.rc, 125, r.err)
        contains(r.err, "the recorder did not come to rest", "what it says")
        wait_for("its processes' end", lambda: not marked(d), 5)


def listed(home):
    text = run([TRACER, "ls", "--json"], env=clean_env(XDG_DATA_HOME=home)).ok().out
    return {os.path.basename(r["directory"]): r for r in json.loads(text)["recordings"]}


@test
def what_is_known_of_recordings():
    with scratch() as d:
        base = f"{d}/tracer/recordings"
        os.makedirs(base)
        finish(recording(base, "sh", "-c", "kill -SEGV $$", name="signal"))
        finish(recording(base, "sh", "-c", "exit 3", name="code"))
        p = recording(base, "sh", "-c", f"echo >{d}/ready; sleep 95; # 'a'\x1b", name="cut",
                      opts=())
        wait_for("its beginning", lambda: os.path.exists(f"{d}/ready"))
        rows = listed(d)
        equal({n: r["exit"] for n, r in rows.items()},
              {"signal": "SIGSEGV", "code": "3", "cut": "running"}, "exits")
        equal(rows["code"]["command"], "sh -c 'exit 3'", "command")
        check(rows["code"]["events"] > 50 and rows["code"]["bytes"] > 1000, f"sizes: {rows}")
        wait_for("events on disk", lambda: listed(d)["cut"]["events"], 5)
        os.kill(recorder_of(base), signal.SIGKILL)
        finish(p)
        wait_for("its end", lambda: listed(d)["cut"]["exit"] == "cut", 5)
        with open(f"{base}/cut/about", encoding="utf-8") as f:
            about = json.load(f)
        equal(about["argv"][:2] + [about["cwd"], about["kernel"]],
              ["sh", "-c", os.getcwd(), os.uname().release], "what it knows")
        text = run([TRACER, "ls"], env=clean_env(XDG_DATA_HOME=d)).ok().out
        check("\x1b" not in text, "control bytes")
        for hostile in (b"", b"{", b'{"argv":[1]}', b'{"argv":["' + b"a" * 100000, b"\0" * 99):
            with open(f"{base}/code/about", "wb") as f:
                f.write(hostile)
            contains(run([TRACER, "ls"], env=clean_env(XDG_DATA_HOME=d)).ok().out, "/code", "ls")


@test
def how_far_it_is():
    """On a terminal, where the program's output is elsewhere."""
    with scratch() as d:
        t = Terminal(["/bin/sh", "-c", f"{TRACER} record -o {d}/rec -- sleep 2.5 >{d}/out"])
        t.wait("recording: ")
        equal(t.end(), 0, t.text)
        contains(t.text, " events, ", "the line")
        contains(t.text, f"into {d}/rec", "its end")


@test
def its_guardian_that_is_killed():
    with scratch() as d:
        p = recording(d, "sleep", "60")
        recorder_of(d)
        def guardian():
            return [q for q, comm in marked(d).items() if comm == "rec-guard"]
        wait_for("a guardian", guardian)
        os.kill(guardian()[0], signal.SIGKILL)
        r = finish(p)
        equal(r.rc, 125, r.err)
        contains(r.err, "the recorder's guardian was killed", "what it says")
        check(not marked(d), f"left: {marked(d)}")


@test
def what_goes_on_behind_the_program():
    with scratch() as d:
        p = recording(d, "sh", "-c", "setsid sleep 61 & echo done", opts=())
        recorder_of(d)
        time.sleep(0.5)
        wait_for("the daemon alone", lambda: sorted(marked(d).values()) ==
                 ["rec-guard", "sleep", "tracer-record"])
        time.sleep(5)
        os.kill(recorder_of(d), signal.SIGTERM)
        was = finish(p)
        equal((was.rc, was.out), (0, "done\n"), was.err)
        contains(was.err, "is recorded on until it ends: 1 threads, of process ", "what it says")
        contains(was.err, "(sleep)", "whom it waits for")
        same(d, was)
        check(not marked(d), f"left: {marked(d)}")


@test
def one_that_replaces_its_process_from_a_thread():
    with scratch() as d:
        was = finish(recording(d, PYTHON, "-c", "import os, threading, time\n"
                               "run = lambda: os.execv('/bin/echo', ['echo', 'anew'])\n"
                               "for f in lambda: time.sleep(9), run: "
                               "threading.Thread(target=f).start()\ntime.sleep(9)\n"))
        equal((was.rc, was.out), (0, "anew\n"), was.err)
        same(d, was)
        rows = [r.split() for r in run([TRACER, "ps", f"{d}/rec"]).ok().out.splitlines()[1:]]
        equal([r[2] for r in rows if "echo" in r[3]], ["0"], f"who ran: {rows}")


# A mutex holds its owner's id, which clone(2) has the kernel write.
OWNER = ("import ctypes, os\nc = ctypes.CDLL(None)\na = ctypes.create_string_buffer(64)\n"
         "c.pthread_mutexattr_init(a); c.pthread_mutexattr_settype(a, 1)\n"
         "pid = os.fork()\nm = ctypes.create_string_buffer(64)\n"
         "c.pthread_mutex_init(m, a); c.pthread_mutex_lock(m)\n"
         "if pid: os.wait()\n"
         "print(os.getpid(), int.from_bytes(m.raw[8:12], 'little'), flush=True)\n")


@test
def namespaces_of_processes():
    """The recorder in one, and what is recorded in one of its own."""
    need("unshare")
    unshare = ["unshare", "-pf", "--mount-proc"]
    for prefix, inner, ids in ((unshare, [], None), ([], unshare, {1, 2}),
                               (unshare, unshare, {1, 2})):
        with scratch() as d:
            was = finish(recording(d, *inner, PYTHON, "-c", OWNER, prefix=prefix))
            equal(was.rc, 0, was.err)
            rows = [line.split() for line in was.out.splitlines()]
            check(all(a == b for a, b in rows), f"owners: {rows}")
            if ids:
                equal({int(a) for a, _ in rows}, ids, "ids")
            same(d, was)


def leave_nothing():
    """A test that failed may have left programs that never end."""
    for p in {p for d in _dirs for p in marked(d)}:
        with contextlib.suppress(OSError):
            os.kill(p, signal.SIGKILL)


if __name__ == "__main__":
    try:
        main()
    finally:
        leave_nothing()
