# SPDX-License-Identifier: MIT
"""What bench and report take themselves: a run's cost, and a report over many stored runs."""
import os
import sqlite3
import subprocess
import tempfile
import time
from subprocess import DEVNULL

from bench_figures import Line, Skip, Spread, rotated

FEW, MANY = 1, 9	# runs of two benches, whose difference is what runs take
STORED = 10000


def seconds(argv, ends=(0,)):
    start = time.monotonic()
    p = subprocess.run(argv, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=False)
    if p.returncode not in ends:
        raise Skip(f"{argv[0]}: exit {p.returncode}")
    return time.monotonic() - start


def contenders(b, store):
    who = {f"bench --mode {mode}": lambda n, mode=mode: [
        b.tracer, "bench", "-q", "--mode", mode, "--store", store, "-n", str(n), "--", "sleep", "1"]
           for mode in ("exact", "wait", "times")}
    for _ in b.peers("hyperfine"):
        who["hyperfine -N"] = lambda n: [b.program("hyperfine"), "-N", "-w", "0", "--style", "none",
                                         "-r", str(max(n, 2)), "sleep 1"]
    return who


def cost_lines(b):
    """Of each round: a bare run, and the difference of a bench of many runs to one of few."""
    more, first = {}, {}
    with tempfile.TemporaryDirectory() as d:
        who = contenders(b, os.path.join(d, "runs.db"))
        for i in range(b.rounds(3)):
            for name in rotated(list(who), i):
                few = 2 if name.startswith("hyperfine") else FEW
                try:
                    bare = Spread([seconds(["sleep", "1"]) for _ in range(3)]).median
                    least, most = (seconds(who[name](n)) for n in (few, MANY))
                except Skip as e:
                    b.lost(name, e)
                    continue
                run = (most - least) / (MANY - few)
                more.setdefault(name, []).append((run - bare) * 1e3)
                first.setdefault(name, []).append((least - few * run) * 1e3)
    lines = [Line(name, "added to a run of 1 s; 10 ms are 1 %", Spread(ms), "ms",
                  10 if name.startswith("bench") else None) for name, ms in more.items()]
    return lines + [Line(name, "besides the runs, once", Spread(ms), "ms")
                    for name, ms in first.items()]


def fill(b, store):
    """A store with two labels of many runs each, of the metrics that a traced run has."""
    build = os.path.join(b.build, "tests", "workloads", "thread_storm")
    for label in ("base", "new"):
        seconds([b.tracer, "bench", "-q", "--store", store, "-n", "3", "-l", label, "--", build,
                 "101"])
    db = sqlite3.connect(store)
    for bench, key in db.execute("SELECT bench, min(key) FROM run GROUP BY bench").fetchall():
        for order in range(3, STORED // 2):
            run = db.execute("INSERT INTO run (bench, run_order, start_ns, exit_code, signal, "
                             "warmup) VALUES (?, ?, ?, 0, 0, 0)", (bench, order, order)).lastrowid
            db.execute("INSERT INTO value SELECT ?, metric, value * (1 + 0.02 * (random() / 1e19)) "
                       "FROM value WHERE run = ?", (run, key))
    db.commit()
    n = db.execute("SELECT (SELECT count(*) FROM run), (SELECT count(DISTINCT metric) FROM value)")
    runs, metrics = n.fetchone()
    db.close()
    return runs, metrics


def report_lines(b):
    lines = []
    with tempfile.TemporaryDirectory() as d:
        store = os.path.join(d, "runs.db")
        runs, metrics = fill(b, store)
        for form in ("text", "json", "html"):
            times = [seconds([b.tracer, "report", "--store", store, "--format", form, "-o",
                              os.path.join(d, "report"), "base", "new"], (0, 1))
                     for _ in range(b.rounds(5))]
            lines.append(Line("report", f"{form}, {runs:,} runs of {metrics} metrics",
                              Spread([s * 1e3 for s in times]), "ms", 1000))
        lines.append(Line("report --list", f"of {runs:,} runs", Spread(
            [seconds([b.tracer, "report", "--store", store, "--list"]) * 1e3
             for _ in range(b.rounds(5))]), "ms"))
    return lines
