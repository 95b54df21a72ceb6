#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracer top on a terminal: real threads, locks and pipes, keys in, screen read back.

What the screen does with made-up figures is tested by tests/cli/test_screen.py."""
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from subprocess import DEVNULL, PIPE

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import TRACER, bpf_held, check, equal, main, test, wait_gone, workload
from screen import KEYS, Screen

WORKERS = 5


@contextlib.contextmanager
def contender():
    """Threads that fight over contended_lock, until they are killed."""
    with subprocess.Popen([workload("mutex_contend"), str(WORKERS), "1000000", "300000"],
                          stdout=DEVNULL) as p:
        try:
            yield p.pid
        finally:
            p.kill()


@contextlib.contextmanager
def pipeline():
    """A writer that is faster than its reader."""
    with subprocess.Popen(["sh", "-c", "yes | (while read -r x; do sleep 0.05; done)"],
                          start_new_session=True, stdout=DEVNULL, stderr=DEVNULL) as p:
        try:
            yield p.pid
        finally:
            os.killpg(p.pid, signal.SIGKILL)


@contextlib.contextmanager
def top(*opts, **kw):
    s = Screen([TRACER, "top", "-d", "0.2", *opts], **{"columns": 120, "rows": 36, **kw})
    try:
        s.see(r"^lost ", 20)
        yield s
    finally:
        s.close()


def end(s):
    s.keys("q")
    equal(s.wait(), 0, "exit code")
    equal(s.restored(), [], "not restored")


@test
def every_tab_shows_what_runs():
    with contender() as pid, pipeline(), top("--mode", "exact") as s:
        s.see(r"mutex_contend .*\b(run|queue|wait)\b")
        s.keys("2")
        s.see(r"^contended_lock +%d mutex_contend" % pid)
        s.keys("3")
        s.see(r"^yes \(\d+\) → sh \(\d+\)")
        s.keys("4")
        s.see(r"^futex +\d")
        s.keys("5")
        s.see(r"^ *%d mutex_contend +%d " % (pid, WORKERS + 1))
        end(s)


@test
def the_page_of_a_stopped_thread():
    with subprocess.Popen(["sleep", "1000"]) as p:
        try:
            p.send_signal(signal.SIGSTOP)
            with top("-p", str(p.pid)) as s:
                s.see(r" wait .* stopped$")
                s.keys("enter")
                s.see(r"^  stopped for [\d.]+ ")
                end(s)
        finally:
            p.kill()


@test
def from_a_lock_to_its_waiters_and_stacks():
    with contender() as pid, top("-p", str(pid), "--tab", "locks") as s:
        s.see(r"^contended_lock ")
        s.keys("home", "enter")
        s.see(r"lock contended_lock of mutex_contend \(%d\)" % pid)
        s.see(r"used as mutex")
        s.see(r"Waiters now \([1-9]")
        s.see(r"mutex_contend \(\d+\) +→ mutex_contend \(\d+\) +\d+")
        s.keys("end")
        s.see(r"pthread_mutex_lock|__lll_lock_wait|lock_wait")
        s.keys("esc")
        s.see(r"^contended_lock ")
        end(s)


@test
def a_lock_that_nobody_let_go_before_we_looked():
    """A program that hangs: what its threads wait in is read from outside."""
    with subprocess.Popen([workload("deadlock")], stdin=PIPE, stdout=PIPE) as p:
        p.stdout.readline()
        time.sleep(0.3)
        with top("-p", str(p.pid), "--tab", "locks") as s:
            s.see(r"^first +%d deadlock" % p.pid)
            s.keys("/", "first", "enter", "enter")
            s.see(r"lock first of deadlock \(%d\)" % p.pid)
            s.see(r"Waiters now \(1")
            s.see(r"100 % of 1 sample, \d[\d.]* m?s in those sampled$")
            s.keys("end")
            s.see(r"pthread_mutex_lock|__lll_lock_wait|lock_wait")
            s.see(r"take .*deadlock\.c:1\d")
            end(s)
        p.stdin.close()


@test
def from_a_process_to_its_threads():
    with contender() as pid, top("--tab", "processes") as s:
        s.see(r"^ *%d mutex_contend" % pid)
        s.keys("/", "mutex_contend", "enter", "enter")
        s.see(r"threads of mutex_contend \(%d\)" % pid)
        s.until("all its threads", lambda t: len(re.findall(r"^ *\d+ +%d mutex_contend " % pid,
                                                               t.all, re.M)) == WORKERS + 1)
        s.keys("esc")
        s.see(r"^ *%d mutex_contend" % pid)
        end(s)


def under(s, head):
    """The words that stand under a heading that is aligned right."""
    lines = s.lines
    y = s.line_of(r"[▽△]")
    last = lines[y].index(head) + len(head)
    return [line[:last].split()[-1] for line in lines[y + 1:-1] if line]


@test
def sorting_filtering_and_sizes():
    with contender(), top() as s:
        s.keys("f4", "mutex_con", "enter")
        s.until("only those of that name", lambda t: set(re.findall(
            r"^ *\d+ +\d+ (\S+) .* (?:run|queue|wait) ", t.all, re.M)) == {"mutex_contend"})
        s.keys("N")
        s.until("by thread id", lambda t: under(t, "TID") == sorted(under(t, "TID"), key=int)
                and len(under(t, "TID")) == WORKERS + 1)
        s.keys("I")
        s.until("the other way round", lambda t: under(t, "TID") ==
                sorted(under(t, "TID"), key=int, reverse=True))
        s.keys("P")
        for columns, rows in ((80, 24), (20, 5), (120, 36)):
            s.resize(columns, rows)
            if columns >= 80:
                s.see(r"^lost .* own ")
                s.see(r"^ *\d+ +(\d+ )?mutex_contend ")
            else:
                s.see(r"(?i)small|24")
        s.keys("Z")
        s.see(r"(?i)paused")
        s.keys("Z")
        s.gone(r"(?i)paused")
        s.keys("T")
        s.see(r"\bCPU▽")
        end(s)


@test
def a_paused_screen_outlives_its_process():
    with contender() as pid, top("-p", str(pid)) as s:
        s.see(r"mutex_contend")
        s.keys("Z")
        s.see(r"(?i)paused")
        os.kill(pid, signal.SIGKILL)
        time.sleep(1)
        check(s.look() and re.search("mutex_contend", s.all), f"it went:\n{s.all}")
        s.keys("Z")
        equal(s.wait(), 0, "exit code once it goes on")


@test
def a_stopped_terminal_does_not_keep_it():
    with top() as s:
        s.send(b"\x13")
        time.sleep(1.5)
        os.kill(s.proc.pid, signal.SIGTERM)
        equal(s.wait(10), 0, "exit code")


@test
def signals_give_the_terminal_back_and_detach():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        with top() as s:
            held = bpf_held(s.proc.pid)
            os.kill(s.proc.pid, number)
            equal(s.wait(), 0, f"exit code at {number.name}")
            equal(s.restored(), [], f"not restored at {number.name}")
            wait_gone(held)


@test
def a_crash_gives_the_terminal_back_and_leaves_nothing():
    for number in (signal.SIGSEGV, signal.SIGABRT):
        with top() as s:
            held = bpf_held(s.proc.pid)
            os.kill(s.proc.pid, number)
            equal(s.wait(), -number, f"exit code at {number.name}")
            equal(s.restored(), [], f"not restored at {number.name}")
            wait_gone(held)


@test
def the_end_of_its_process_ends_it():
    with contender() as pid:
        with top("-p", str(pid)) as s:
            os.kill(pid, signal.SIGKILL)
            equal(s.wait(), 0, "exit code")
            equal(s.restored(), [], "not restored")


@test(timeout=200)
def random_keys_and_sizes():
    """While threads come and go what is shown stays a screen. TRACER_SCREEN_SECONDS: 4."""
    rng = random.Random(7)
    names = [k for k in KEYS if k != "f10"] + list("12345/\\<>tHTZIUF+-pcx?")
    p = None
    with contender(), top() as s:
        until = time.monotonic() + float(os.environ.get("TRACER_SCREEN_SECONDS", "4"))
        while time.monotonic() < until:
            if p is None or p.poll() is not None:
                p = subprocess.Popen([workload("demo")], stdout=DEVNULL, stderr=DEVNULL)
            if rng.random() < 0.1:
                s.resize(rng.choice([80, 100, 120, 200, 30, 7]), rng.choice([24, 40, 50, 10, 3]))
            s.keys(*rng.choices(names, k=rng.randrange(1, 6)))
            check(s.look(0.02), f"it has ended; the screen:\n{s.all}")
        p.kill()
        p.wait()
        s.resize(120, 36)
        s.keys(*["esc"] * 6)
        s.see(r"^lost .* own ")
        # The keys may have paused it already, also those that it has not read yet.
        s.keys("?")
        s.see("closes this help")
        s.keys("esc")
        s.gone("closes this help")
        if not re.search("(?i)paused", s.all):
            s.keys("Z")
        s.see(r"(?i)paused")
        shown = s.all
        s.keys("\x0c")
        s.until("a redraw shows the same", lambda t: t.all == shown)
        os.kill(s.proc.pid, signal.SIGTERM)
        equal(s.wait(), 0, "exit code")
        equal(s.restored(), [], "not restored")


if __name__ == "__main__":
    main()
