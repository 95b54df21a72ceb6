#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tracer's costs, as ratios to the untraced program in the same run.

The contenders of a row take turns, in an order that moves on from round to round,
each between two bare runs that it is compared with; what is printed is the median
of the rounds and their quartiles. A workload times itself in batches shorter than a
time slice and reports the median batch, so that neither start-up nor what else
runs on the machine is in the figure; on one CPU it runs before all ordinary
processes (SCHED_FIFO). Nothing here fails because of a figure.
"""
import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from subprocess import DEVNULL, PIPE

from bench_figures import (Line, Skip, Spread, added, added_share, aim, figure, have, noise,
                           over_lines, ratio, rotated, table_of, takes_part)
from bench_run import FLOOR, Bench, Target
from bench_rr import rr_lines
from bench_runs import cost_lines, report_lines
from bench_tape import tape_lines
from bench_top import top_lines

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROWS = []
# A contender next to its floor, so that the two see the same moment.
OURS = ["exact", FLOOR["exact"], "wait", FLOOR["wait"]]
PEERS = ("strace -cf", "perf trace -s", "bpftrace hist")


def row(name, title):
    def mark(fn):
        ROWS.append((name, title, fn))
        return fn
    return mark


# ---- rows -----------------------------------------------------------------

@row("getppid", "summary with latency histogram, getppid loop; per call")
def getppid(b):
    who = OURS + b.peers("strace -cf", "perf trace -s", "perf bpf-summary", "bpftrace hist")
    rounds = b.compare(who, "calls")
    lines = table_of(rounds, who) + over_lines(rounds, FLOOR)
    aim(lines, "exact", "ratio", 3.2, floor=FLOOR["exact"])
    aim(lines, "exact", "added", 240, floor=FLOOR["exact"])
    if have(rounds, "exact", "strace -cf"):
        lines.append(Line("exact", "added / strace -cf's added",
                          added_share(rounds, "exact", "strace -cf"), "share", 1 / 50))
    return lines


@row("untraced", "processes that are not traced, while another one is; per call, per switch")
def untraced(b):
    who = ["exact", FLOOR["exact"], "wait"] + b.peers("perf trace -s")
    calls = b.beside(who, "calls")
    switches = b.beside(OURS, "switch")
    lines = []
    for rounds, names, what in ((calls, who, "added a call"), (switches, OURS, "added a switch")):
        lines += [Line(n, what, added(rounds, n), "ns") for n in names if have(rounds, n)]
    lines += over_lines(calls, {"exact": FLOOR["exact"]}, ", a call")
    lines += over_lines(switches, FLOOR, ", a switch")
    apart = noise(calls)
    aim(lines, "wait", "added a call", 0, slack=apart)
    aim(lines, "wait", "added a switch", 40, floor=FLOOR["wait"])
    aim(lines, "exact", "added a call", 150, floor=FLOOR["exact"])
    b.note("untraced, wait: no program is attached to system calls; 0 is met within "
           f"{apart:.0f} ns, by which bare runs differ that follow each other")
    return lines


def one_cpu(b, names, kind, figures, size=None):
    """The same with both sides on one CPU, where nobody's place is chosen anew."""
    suffix = ", both on one CPU"
    rounds, lines = b.compare(names, kind, size=size, cpu=1), []
    for who in names:
        if have(rounds, who) and "ratio" in figures:
            lines.append(Line(who, "ratio" + suffix, ratio(rounds, who), "x"))
        if have(rounds, who) and "added" in figures:
            lines.append(Line(who, "added" + suffix, added(rounds, who), "ns"))
    floors = {who: floor for who, floor in FLOOR.items() if who in names}
    return lines + over_lines(rounds, floors, suffix)


@row("pingpong", "two-thread futex ping-pong with waiter and waker; per round trip")
def pingpong(b):
    who = OURS + b.peers(*PEERS)
    rounds = b.compare(who, "pingpong", rounds=15)
    lines = table_of(rounds, who) + over_lines(rounds, FLOOR, ratios=True)
    aim(lines, "exact", "ratio", 1.25, floor=FLOOR["exact"])
    aim(lines, "wait", "ratio", 1.25, floor=FLOOR["wait"])
    return lines + one_cpu(b, OURS, "pingpong", ("ratio",))


@row("threads", "20,000 × create and join, full accounting; per thread")
def threads(b):
    who = OURS + b.peers(*PEERS)
    rounds = b.compare(who, "threads", ms=300, rounds=13)
    lines = table_of(rounds, who) + over_lines(rounds, FLOOR, ratios=True)
    aim(lines, "exact", "ratio", 1.20, floor=FLOOR["exact"])
    storm = [os.path.join(b.build, "tests", "workloads", "thread_storm"), "20000"]
    whole = b.turns(["exact"], lambda name: run_once(b.contender(name, storm)), 5)
    if have(whole, "exact"):
        lines.append(Line("exact", "whole run with start-up and summary", ratio(whole, "exact"),
                          "x"))
    return lines


def pipe_row(b, size, **kw):
    who = OURS + b.peers(*PEERS)
    rounds = b.compare(who, "pipe", size=size)
    lines = table_of(rounds, who) + over_lines(rounds, FLOOR, **kw)
    return lines, one_cpu(b, OURS[:2], "pipe", ("ratio", "added"), size)


@row("pipe64k", "pipe in chunks of 64 KiB; per chunk")
def pipe64k(b):
    lines, one = pipe_row(b, 65536, ratios=True)
    aim(lines, "exact", "ratio", 1.10, floor=FLOOR["exact"])
    return lines + one


@row("pipe1", "pipe in chunks of 1 byte; per chunk")
def pipe1(b):
    lines, one = pipe_row(b, 1)
    aim(lines, "exact", "added", 400, floor=FLOOR["exact"])
    return lines + one


@row("ring", "ring with one consumer, 32 MiB")
def ring(b):
    argv = [b.part("ring")]
    lines = []
    for producers in (1, 2)[:os.cpu_count()]:
        got = [b.say("bare", argv + [str(producers), "2000000", str(32 << 20)])
               for _ in range(b.rounds(7))]
        who = f"{producers} producer{'s' if producers > 1 else ''}"
        lines += [
            Line(who, "events", Spread([g["events"] / g["ns"] * 1e3 for g in got]), "M/s", 5,
                 least=True),
            Line(who, "lost", Spread([g["lost"] for g in got]), "events", 0),
            Line(who, "consumer CPU an event", Spread([g["cpu_ns"] / g["events"] for g in got]),
                 "ns", 10),
        ]
    return lines


def perf_stacks(b, path):
    """Milliseconds that perf script takes for 10,000 stacks of the same program."""
    perf = b.program("perf")
    record = [perf, "record", "-q", "-e", "cpu-clock", "-c", "250000", "--call-graph", "dwarf,4096",
              "-o", path, "--", b.part("stacks"), "spin", "1500"]
    p = subprocess.run(record, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=False)
    if p.returncode:
        raise Skip("perf record does not run here")
    start = time.monotonic()
    p = subprocess.run([perf, "script", "--no-inline", "-i", path], stdin=DEVNULL, stdout=PIPE,
                       stderr=DEVNULL, check=False)
    ms = (time.monotonic() - start) * 1e3
    stacks = len(re.findall(rb"^\S.*cpu-clock", p.stdout, re.M))
    if p.returncode or stacks < 500:
        raise Skip(f"perf script: {stacks} stacks")
    return ms * 10000 / stacks


@row("stacks", "10,000 distinct stacks of some 37 frames, unwound, with names, lines and inlines")
def stacks(b):
    got = [b.say("bare", [b.part("stacks"), "10000"]) for _ in range(b.rounds(7))]
    if any(g["distinct"] < 10000 or g["named"] < g["frames"] for g in got):
        b.note("stacks: not all are distinct, or not all frames have a name")
    lines = [Line("tracer", what, Spread([g[key] / 1e6 for g in got]), "ms", aimed)
             for what, key, aimed in (("together", "ns", 1000), ("one by one", "single_ns", None),
                                      ("all known", "known_ns", None))]
    with tempfile.TemporaryDirectory() as d:
        for _ in b.peers("perf script"):
            try:
                times = [perf_stacks(b, os.path.join(d, "perf.data")) for _ in range(b.few)]
                lines.append(Line("perf script", "--no-inline, for as many", Spread(times), "ms"))
            except Skip as e:
                b.lost("perf script", e)
    return lines


ATTACH = {
    # What it says when it is attached; perf says nothing, so its first event counts.
    "wait": ("start to attached", b"tracing"),
    "exact": ("start to attached", b"tracing"),
    "strace -cf": ("start to attached", b"attached"),
    "perf trace": ("start to first event", b"("),
}


def attach_once(b, who):
    """Milliseconds from exec to attached, and from ctrl-C to the end."""
    words = ATTACH[who][1]
    with Target(b, "tick" if who == "perf trace" else "sleep") as target:
        if who in FLOOR:
            argv = [b.tracer, "attach", "--mode", who, "-o", "/dev/null"]
        else:
            argv = who.split() + ["-p"]
        argv = [b.program(argv[0])] + argv[1:] + [target.pid]
        start = time.monotonic()
        with subprocess.Popen(argv, stdout=DEVNULL, stderr=PIPE, close_fds=False) as p:
            try:
                if not any(words in line for line in p.stderr):
                    raise Skip("does not attach here")
                attached = time.monotonic()
                time.sleep(0.1)
                stop = time.monotonic()
                p.send_signal(signal.SIGINT)
                p.stderr.read()
                p.wait()
                end = time.monotonic()
            except BaseException:
                p.kill()
                raise
    return {"attach": (attached - start) * 1e3, "detach": (end - stop) * 1e3}


def cpu_once(argv):
    """Milliseconds of CPU time of argv and what it waited for: of start, end and all between."""
    pid = os.posix_spawn(argv[0], argv, os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                                       (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, _, used = os.wait4(pid, 0)
    return (used.ru_utime + used.ru_stime) * 1e3


def run_once(argv):
    start = time.monotonic()
    p = subprocess.run(argv, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=False,
                       close_fds=False)
    if p.returncode:
        raise Skip(f"exit {p.returncode}")
    return (time.monotonic() - start) * 1e3


def attach_rounds(b, rounds):
    """{contender: [attach_once() of each of its rounds]}, in turns."""
    live = ["wait", "exact"] + b.peers("strace -cf", "perf trace")
    got = {who: [] for who in live}
    for i in range(rounds):
        for who in rotated(live, i):
            if who not in FLOOR and not takes_part(i, rounds, min(rounds, 2 * b.few)):
                continue
            try:
                got[who].append(attach_once(b, who))
            except Skip as e:
                live.remove(who)
                b.lost(who, e)
    return {who: times for who, times in got.items() if times}


@row("startup", "start to attached; detach (until the tracer has ended, summary printed)")
def startup(b):
    lines = []
    for who, got in attach_rounds(b, b.rounds(15)).items():
        ours = who in FLOOR
        lines += [Line(who, ATTACH[who][0], Spread([g["attach"] for g in got]), "ms",
                       20 if ours else None),
                  Line(who, "detach", Spread([g["detach"] for g in got]), "ms",
                       100 if ours else None)]
    lines.append(Line("--version", "exec to end, the floor of a start", Spread(
        [run_once([b.tracer, "--version"]) for _ in range(b.rounds(15))]), "ms"))
    with Target(b) as target:
        for mode in FLOOR:
            argv = [b.tracer, "attach", "--mode", mode, "-d", "10ms", "-o", "/dev/null",
                    target.pid]
            lines.append(Line(mode, "CPU time, start to end", Spread(
                [cpu_once(argv) for _ in range(b.rounds(9))]), "ms"))
    who = ["exact"] + b.peers(*PEERS)
    rounds = b.turns(who, lambda name: run_once(b.contender(name, ["/bin/true"])), 9)
    return lines + [Line(name, "added to the run of `true`", added(rounds, name), "ms")
                    for name in who if have(rounds, name)]


class Memory(threading.Thread):
    """The most anonymous memory of a process, looked at every two milliseconds, and its maps."""
    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.anon, self.maps, self.stop = pid, 0, {}, False

    def run(self):
        turn = 0
        while not self.stop:
            try:
                with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
                    self.anon = max(self.anon, int(re.search(r"RssAnon:\s+(\d+)", f.read())[1]))
                if turn % 50 == 25:
                    self.look_at_maps()
            except (OSError, TypeError):
                pass
            turn += 1
            time.sleep(0.002)

    def look_at_maps(self):
        for fd in os.listdir(f"/proc/{self.pid}/fdinfo"):
            try:
                with open(f"/proc/{self.pid}/fdinfo/{fd}", encoding="ascii") as f:
                    text = f.read()
            except OSError:
                continue
            if "map_type" in text:
                self.maps[re.search(r"map_id:\s+(\d+)", text)[1]] = int(
                    re.search(r"memlock:\s+(\d+)", text)[1])


def memory_once(b, mode):
    demo = os.path.join(b.build, "tests", "workloads", "demo")
    p = subprocess.Popen([b.tracer, "run", "--mode", mode, "-o", "/dev/null", "--", demo],
                         stdout=DEVNULL, stderr=DEVNULL)
    m = Memory(p.pid)	# the same process after its execs
    m.start()
    p.wait()
    m.stop = True
    m.join()
    return {"anon": m.anon / 1024, "maps": sum(m.maps.values()) / (1 << 20)}


@row("memory", "memory besides maps, most in a run of the demo; BPF maps at the default ring")
def memory(b):
    got = [memory_once(b, "exact") for _ in range(b.rounds(3))]
    return [Line("exact", "anonymous memory", Spread([g["anon"] for g in got]), "MB", 8),
            Line("exact", "BPF maps", Spread([g["maps"] for g in got]), "MB", 4)]


@row("top", "a screen anew each second: CPU of a refresh; 5 ms are 0.5 % of a core")
def top(b):
    return top_lines(b)


@row("bench", "tracer bench of a program of 1 s, beyond the program itself")
def bench(b):
    return cost_lines(b)


@row("report", "tracer report over 10,000 stored runs")
def report(b):
    return report_lines(b)


@row("tape", "tape: parts of a stream through a command, beside sed, perl, mawk and teip")
def tape(b):
    return tape_lines(b)


@row("rr", "tracer record beside the program on one CPU, and tracer replay")
def rr(b):
    return rr_lines(b)


# ---- printing -------------------------------------------------------------

def machine():
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        found = re.search(r"model name\s*:\s*(.*)", f.read())
        if found:
            model = found[1].strip()
    return f"{os.cpu_count()} × {model}, Linux {platform.release()}"


def print_text(title, lines, out):
    print(f"\n{title}", file=out)
    print(f"  {'contender':<17} {'figure':<37} {'median':>12} {'quartiles':>21} {'least':>11}"
          f" {'target':>11}", file=out)
    for n in lines:
        s = n.spread
        q = f"{figure(s.q1, n.unit)} – {figure(s.q3, n.unit)}"
        print(f"  {n.who:<17} {n.what:<37} {figure(s.median, n.unit):>12} {q:>21} "
              f"{figure(s.min, n.unit):>11} {n.target_text():>11} {n.verdict()}".rstrip(),
              file=out, flush=True)


def print_markdown(results, b, out):
    print(f"{machine()}; load average at the start {b.load:.1f}.\n", file=out)
    print("| row | contender | figure | median | quartiles | target | |", file=out)
    print("|---|---|---|---|---|---|---|", file=out)
    for _name, title, lines in results:
        for i, n in enumerate(lines):
            s = n.spread
            what = n.what.replace("|", "\\|")
            print(f"| {title if not i else ''} | {n.who} | {what} | {figure(s.median, n.unit)} "
                  f"| {figure(s.q1, n.unit)} – {figure(s.q3, n.unit)} | {n.target_text()} "
                  f"| {n.verdict()} |", file=out)
    for text in b.notes:
        print(f"\n- {text}", file=out)


def arguments():
    names = [name for name, _, _ in ROWS]
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--build", default="build")
    ap.add_argument("--row", action="append", choices=names, help="only this row; again for more")
    ap.add_argument("--quick", action="store_true", help="half of the rounds")
    ap.add_argument("--rounds", type=int, metavar="N", help="so many rounds, at least 2")
    ap.add_argument("--alone", action="store_true", help="without strace, perf and bpftrace")
    ap.add_argument("--json", metavar="FILE",
                    help="also write the figures as JSON (-: stdout alone)")
    ap.add_argument("--markdown", metavar="FILE", help="also write the table of docs/benchmarks.md")
    args = ap.parse_args()
    if args.rounds is not None and args.rounds < 2:
        ap.error("--rounds: at least 2")
    return args


def run_rows(b, names, out):
    """[(row, title, lines)] of those that can run here; printed as they end."""
    results = []
    for name, title, fn in ROWS:
        if names and name not in names:
            continue
        start = time.monotonic()
        try:
            lines = fn(b)
        except Skip as e:
            print(f"\n{name}: {title}\n  skipped: {e}", file=out, flush=True)
            continue
        results.append((name, title, lines))
        print_text(f"{name}: {title} ({time.monotonic() - start:.0f} s)", lines, out)
    return results


def write_json(path, results, b):
    doc = {"schema": "tracer.bench/1", "machine": machine(), "load": b.load,
           "rows": [{"row": n, "title": t, "figures": [x.json() for x in lines]}
                    for n, t, lines in results], "notes": b.notes}
    text = json.dumps(doc, indent=1, ensure_ascii=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    args = arguments()
    if os.geteuid():
        print("bench.py: tracing needs root", file=sys.stderr)
        return 77
    # An exception closes what is attached; see bench_run.py for a death without one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    out = sys.stderr if args.json == "-" else sys.stdout
    b = Bench(os.path.join(ROOT, args.build), args.quick, args.rounds, args.alone)
    try:
        # Above what else runs here; all contenders alike.
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except OSError:
        pass
    print(f"{machine()}; load average {b.load:.1f}", file=out, flush=True)
    start = time.monotonic()
    if not args.alone:
        b.probe_others()
    results = run_rows(b, args.row, out)
    for text in b.notes:
        print(f"  note: {text}", file=out)
    print(f"\n{time.monotonic() - start:.0f} s", file=out, flush=True)
    if args.json:
        write_json(args.json, results, b)
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as f:
            print_markdown(results, b, f)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
