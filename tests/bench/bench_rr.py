# SPDX-License-Identifier: MIT
"""A recorded program beside the same one on one CPU, and what a replay of it takes. rr takes part
where it can run: without a hardware counter it says that it cannot."""
import os
import shutil
import subprocess
import tempfile
import time
from subprocess import DEVNULL, PIPE

from bench_figures import Line, Skip, Spread, added, have, noise, ratio

PYTHON_THREADS = """
import threading
total, lock = 0, threading.Lock()
def work():
    global total
    for i in range(2000):
        with lock:
            total += i
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(total)
"""
C_SOURCE = "#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
    f"int f{i}(int a, int b) {{ for (int k = 0; k < a; k++) b += k * {i} ^ b; return b; }}\n"
    for i in range(150)) + "int main(void) { return f1(2, 3); }\n"


class Load:
    """A program, how many units of its work it does, and what is aimed at."""
    def __init__(self, name, argv, units=None, unit="", most=None, replay_us=None):
        self.name, self.argv, self.units, self.unit = name, argv, units, unit
        self.most, self.replay_us = most, replay_us


def loads(b, d):
    def workload(name, *args):
        return [os.path.join(b.build, "tests", "workloads", name), *map(str, args)]
    source = os.path.join(d, "a.c")
    with open(source, "w", encoding="ascii") as f:
        f.write(C_SOURCE)
    return [
        Load("threads created and joined", workload("thread_storm", 20000), 20000, "thread",
             1.5, 100),
        Load("2,000 live threads", workload("live_threads", 2000), 2000, "thread", 1.5, 100),
        Load("dd bs=1, 400,000 calls", ["dd", "if=/dev/zero", "of=/dev/null", "bs=1",
                                        "count=200000", "status=none"], 400000, "call", 2.5, 3),
        Load("python3, 8 threads and a lock", ["/usr/bin/python3", "-c", PYTHON_THREADS],
             most=1.15),
        Load("gcc -O2 -c", ["gcc", "-O2", "-c", "-o", os.path.join(d, "a.o"), source], most=1.1),
        Load("ls -lR /usr/include", ["ls", "-lR", "/usr/include"]),
        Load("300 fork and exec", ["sh", "-c",
                                   "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done"],
             300, "exec"),
    ]


def go(argv, ends=(0,)):
    start = time.monotonic()
    try:
        p = subprocess.run(argv, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, timeout=120,
                           check=False)
    except subprocess.TimeoutExpired:
        raise Skip("did not end in 120 s") from None
    if p.returncode not in ends:
        last = (p.stderr.decode("utf-8", "replace").strip().splitlines() or ["no output"])[-1]
        raise Skip(f"{os.path.basename(argv[0])}: exit {p.returncode}: {last[:120]}")
    return time.monotonic() - start


class Recorder:
    """Runs of a load, timed inside, each by itself."""
    def __init__(self, b, d, load):
        self.b, self.load = b, load
        self.time, self.dir = os.path.join(d, "time"), os.path.join(d, "recording")

    def before(self, who):
        if who == "bare":
            return ["taskset", "-c", "0", "chrt", "-r", "1"]
        if who == "recorded":
            shutil.rmtree(self.dir, ignore_errors=True)
            return [self.b.tracer, "record", "-q", "-o", self.dir, "--"]
        if who == "rr":
            shutil.rmtree(self.dir + ".rr", ignore_errors=True)
            return [self.b.program("rr"), "record", "-o", self.dir + ".rr"]
        return []

    def measure(self, who):
        go([*self.before(who), self.b.part("once"), self.time, *self.load.argv])
        with open(self.time, encoding="ascii") as f:
            return float(f.read())

    def replay(self):
        """Seconds, without those of a replay's start."""
        return go([self.b.tracer, "replay", "-a", self.dir])

    def bytes(self):
        return os.path.getsize(os.path.join(self.dir, "events"))


def load_lines(b, d, load):
    r = Recorder(b, d, load)
    name = load.name
    rounds = b.turns(["recorded", "any CPU", *b.peers("rr")], r.measure, 7)
    lines = [Line("bare", name, Spread([v / 1e6 for x in rounds for v in x["bare"]]), "ms")]
    for who in ("recorded", "any CPU", "rr"):
        if have(rounds, who):
            lines.append(Line(who, name, ratio(rounds, who), "x",
                              load.most if who == "recorded" else None))
    if not have(rounds, "recorded"):
        return lines
    replays = [r.replay() for _ in range(b.rounds(3))]
    lines.append(Line("replayed", name, Spread([s * 1e3 for s in replays]), "ms"))
    if load.units:
        lines.append(Line("replayed", f"{name}: a {load.unit}",
                          Spread([s * 1e6 / load.units for s in replays]), "us", load.replay_us))
        lines.append(Line("recorded", f"{name}: on disk, a {load.unit}",
                          Spread([r.bytes() / load.units]), "bytes"))
    return lines


class Recording:
    """One of a process that sleeps, while others are measured."""
    def __init__(self, b, d):
        self.dir = os.path.join(d, "sleeping")
        self.p = subprocess.Popen([b.tracer, "record", "-q", "-o", self.dir, "--", "sleep", "60"],
                                  stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)

    def __enter__(self):
        events = os.path.join(self.dir, "events")
        end = time.monotonic() + 10
        # Once a second what there is goes to the disk: then sleep sleeps.
        while not (os.path.exists(events) and os.path.getsize(events) > 100):
            if self.p.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise Skip("nothing was recorded")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.p.terminate()
        self.p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def beside_lines(b, d):
    """Calls and switches of processes that are not recorded."""
    lines = []
    for kind, what in (("calls", "a call of another process"), ("switch", "a switch of others")):
        def measure(who, kind=kind):
            if who == "bare":
                return b.ops("bare", kind, 100, cpu=1)
            with Recording(b, d):
                return b.ops("bare", kind, 100, cpu=1)
        rounds = b.turns(["recorded"], measure, 5)
        if have(rounds, "recorded"):
            lines.append(Line("recorded", f"added to {what}", added(rounds, "recorded"), "ns"))
            lines.append(Line("bare", f"{what}: runs differ by", Spread([noise(rounds)]), "ns"))
    return lines


def rr_lines(b):
    lines = []
    with tempfile.TemporaryDirectory() as d:
        for load in loads(b, d):
            try:
                lines += load_lines(b, d, load)
            except Skip as e:
                b.lost(load.name, e)
        lines += beside_lines(b, d)
    return lines
