# SPDX-License-Identifier: MIT
"""What watching live costs: CPU time of a refresh, each contender on a terminal of its own."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from subprocess import DEVNULL, PIPE

from bench_figures import Line, Skip, Spread, rotated

TICK = os.sysconf("SC_CLK_TCK")
WARM_S, TAKEN = 3, 5	# refreshes of a second


class Crowd:
    """A process of n threads that sleep; with awake each of them runs once a second."""
    def __init__(self, b, n, awake):
        path = os.path.join(b.build, "tests", "workloads", "many_threads")
        self.proc = subprocess.Popen([path, str(n), "1"], stdin=PIPE, stdout=PIPE)
        self.pid = self.proc.pid
        self.awake, self.over = awake, threading.Event()
        if b"ready" not in self.proc.stdout.readline():
            raise Skip(f"{n} threads cannot be made here")

    def __enter__(self):
        if self.awake:
            threading.Thread(target=self.wake, daemon=True).start()
        return self

    def wake(self):
        while not self.over.wait(1):
            try:
                self.proc.stdin.write(b"\n")
                self.proc.stdin.flush()
                self.proc.stdout.readline()
            except (OSError, ValueError):
                return

    def __exit__(self, *_):
        self.over.set()
        self.proc.kill()
        self.proc.wait()


def cpu_seconds(pid):
    """Of the process by the scheduler's clock, of all its threads."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total / 1e9


def drain(fd, seconds):
    """Reads what the screen shows, as a terminal does, for so long."""
    end = time.monotonic() + seconds
    shown = 0
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return shown
        if select.select([fd], [], [], left)[0]:
            try:
                shown += len(os.read(fd, 1 << 16))
            except OSError as e:
                raise Skip("it ended early") from e


def watch(argv):
    """CPU milliseconds of one refresh of a second of argv, at 50 lines of 160 columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    env = dict(os.environ, TERM="xterm-256color")
    with subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=DEVNULL, env=env,
                          start_new_session=True, close_fds=False) as p:
        os.close(slave)
        try:
            drain(master, WARM_S)
            before = cpu_seconds(p.pid)
            if not drain(master, TAKEN):
                raise Skip("it shows nothing")
            return (cpu_seconds(p.pid) - before) * 1e3 / TAKEN
        finally:
            p.send_signal(signal.SIGTERM)
            try:
                p.wait(5)
            except subprocess.TimeoutExpired:
                p.kill()
            os.close(master)


def contenders(b, pid):
    who = {"tracer top": [b.tracer, "top", "-d", "1"],
           "tracer top -p": [b.tracer, "top", "-d", "1", "-p", str(pid)]}
    for peer, argv in (("htop", ["htop", "-d", "10"]), ("top -H", ["top", "-H", "-d", "1"])):
        try:
            if b.peers(peer):
                who[peer] = [b.program(argv[0])] + argv[1:]
        except Skip as e:
            b.lost(peer, e)
    return who


def crowd_lines(b, n, awake, target):
    got = {}
    with Crowd(b, n, awake) as crowd:
        who = contenders(b, crowd.pid)
        for i in range(b.rounds(3)):
            for name in rotated(list(who), i):
                try:
                    got.setdefault(name, []).append(watch(who[name]))
                except Skip as e:
                    b.lost(name, e)
    what = f"{n:,} threads, {'each ran in the second' if awake else 'asleep'}"
    return [Line(name, f"CPU a refresh, {what}", Spread(ms), "ms",
                 target if name.startswith("tracer") else None) for name, ms in got.items()]


def top_lines(b):
    return (crowd_lines(b, 20000, False, 10) + crowd_lines(b, 20000, True, 10) +
            crowd_lines(b, 1000, False, 5) + crowd_lines(b, 1000, True, 5))
