#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tracer's costs, as ratios to the untraced program in the same run.

Each row runs its contenders in turn, bare first, again and again, and compares
each with the bare one of its own round; what is printed is the median of the
rounds and their quartiles. A workload times itself in batches shorter than a
time slice and reports the median batch, so that neither start-up nor what else
runs on the machine is in the figure; on one CPU it runs before all ordinary
processes (SCHED_FIFO). Nothing here fails because of a figure.
"""
import argparse
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from subprocess import DEVNULL, PIPE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROWS = []
NS = 1e-9

BPFTRACE = """
tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @start[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@start[tid]/ {
	@count[args->id] = count(); @hist[args->id] = hist(nsecs - @start[tid]);
	delete(@start[tid]);
}"""


def row(name, title):
    def mark(fn):
        ROWS.append((name, title, fn))
        return fn
    return mark


class Skip(Exception):
    """This row or contender cannot run here; the text says why."""


# ---- statistics -----------------------------------------------------------

class Spread:
    """Median, quartiles and least of a list of figures."""
    def __init__(self, values):
        v = sorted(values)
        self.n = len(v)
        self.median = statistics.median(v)
        self.q1, self.q3 = (v[int(q * (len(v) - 1) + 0.5)] for q in (0.25, 0.75))
        self.min = v[0]

    def json(self):
        return {"n": self.n, "median": round(self.median, 3), "q1": round(self.q1, 3),
                "q3": round(self.q3, 3), "min": round(self.min, 3)}


class Line:
    """One figure of a row: what, how much, its unit, the target and whether it is met."""
    def __init__(self, who, what, spread, unit, target=None, least=False, slack=0):
        self.who, self.what, self.spread, self.unit = who, what, spread, unit
        self.target, self.least, self.slack = target, least, slack

    def met(self):
        if self.target is None:
            return None
        m = self.spread.median
        return m >= self.target if self.least else m <= self.target + self.slack

    def verdict(self):
        met = self.met()
        if met is None:
            return ""
        if met:
            return "met"
        return f"MISSED by {figure(abs(self.spread.median - self.target), self.unit)}"

    def target_text(self):
        if self.target is None:
            return ""
        return ("≥ " if self.least else "≤ ") + figure(self.target, self.unit)

    def json(self):
        return {"contender": self.who, "what": self.what, "unit": self.unit,
                "target": self.target, "met": self.met(), **self.spread.json()}


def figure(v, unit):
    if unit == "x":
        return f"{v:.2f} ×" if abs(v) < 20 else f"{v:.0f} ×"
    if unit == "share":
        return f"1/{1 / v:.0f}" if v > 0 else "0"
    digits = 0 if abs(v) >= 100 else 1 if abs(v) >= 10 else 2
    return f"{v:.{digits}f} {unit}"


# ---- running --------------------------------------------------------------

class Bench:
    def __init__(self, build, quick):
        self.build = build
        self.tracer = os.path.join(build, "tracer")
        self.work = os.path.join(build, "tests", "bench", "bench_work")
        self.quick = quick
        self.scratch = tempfile.mkdtemp(prefix="tracer-bench.")
        self.notes = []
        self.cannot = {}

    def rounds(self, n):
        return max(3, n // 2) if self.quick else n

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def env(self, cpu=None):
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
        if cpu is not None:
            env["BENCH_CPU"] = str(cpu)
            env["BENCH_FIFO"] = "1"
        return env

    def contender(self, who, argv):
        """The command line that runs argv under a contender."""
        if who == "bare":
            return argv
        if who in ("exact", "wait"):
            return [self.tracer, "run", "--quiet", "--mode", who, "-o", "/dev/null", "--"] + argv
        if who == "strace -cf":
            return [self.program("strace"), "-cf", "-o", "/dev/null"] + argv
        if who == "perf trace -s":
            return [self.program("perf"), "trace", "-s", "-o", "/dev/null"] + argv
        if who == "perf bpf-summary":
            return [self.program("perf"), "trace", "-s", "--bpf-summary", "-o", "/dev/null"] + argv
        if who == "bpftrace hist":
            return [self.program("bpftrace"), "-q", "-o", "/dev/null", "-e", BPFTRACE, "-c",
                    " ".join(argv)]
        raise AssertionError(who)

    def program(self, name):
        path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
        if not path:
            raise Skip(f"{name} is not installed (`make deps-long`)")
        return path

    def say(self, who, argv, cpu=None, timeout=60):
        """Runs argv under a contender; the KEY=VALUE words that it prints."""
        p = subprocess.run(self.contender(who, argv), env=self.env(cpu), stdin=DEVNULL,
                           stdout=PIPE, stderr=PIPE, timeout=timeout, check=False)
        found = dict(re.findall(r"([\w:]+)=([\d.]+)", p.stdout.decode()))
        if p.returncode or "median" not in found and "events" not in found:
            last = (p.stderr.decode("utf-8", "replace").strip().splitlines() or ["no output"])[-1]
            raise Skip(f"does not run here: {last[:120]}")
        return {k: float(v) for k, v in found.items()}

    def ops(self, who, kind, ms, size=None, cpu=None):
        argv = [self.work, kind, str(ms)] + ([str(size)] if size else [])
        return self.say(who, argv, cpu)["median"]

    def compare(self, contenders, kind, ms=150, rounds=9, size=None, cpu=None):
        """Per round: {contender: ns an operation}. One that cannot run drops out."""
        out, live = [], list(contenders)
        for _ in range(self.rounds(rounds)):
            got = {}
            for who in list(live):
                try:
                    got[who] = self.ops(who, kind, ms, size, cpu)
                except (Skip, subprocess.TimeoutExpired) as e:
                    live.remove(who)
                    self.note(f"{who}: {e}")
            if "bare" not in got:
                raise Skip("the bare workload did not end")
            out.append(got)
        return out

    def probe_others(self):
        """What peers this machine has; said once, whichever rows are run."""
        perf = shutil.which("perf")
        if perf:
            p = subprocess.run([perf, "trace", "-s", "--bpf-summary", "true"], check=False,
                               stdout=DEVNULL, stderr=PIPE)
            if b"unknown option" in p.stderr:
                self.cannot["perf bpf-summary"] = "this perf has no --bpf-summary (6.16 has)"
        syscount = shutil.which("syscount-bpfcc", path="/usr/sbin:/usr/bin")
        if syscount:
            try:
                p = subprocess.run([syscount, "-d", "1"], check=False, stdout=PIPE, stderr=PIPE,
                                   timeout=60)
                if p.returncode:
                    self.cannot["syscount"] = "bcc's syscount needs this kernel's headers"
            except subprocess.TimeoutExpired:
                self.cannot["syscount"] = "bcc's syscount did not start"
        else:
            self.cannot["syscount"] = "bcc's syscount is not installed (`make deps-long`)"
        for reason in self.cannot.values():
            self.note(reason)

    def peers(self, *names):
        return [n for n in names if n not in self.cannot]


def ratio(rounds, who):
    return Spread([r[who] / r["bare"] for r in rounds if who in r])


def added(rounds, who, by=1):
    return Spread([(r[who] - r["bare"]) / by for r in rounds if who in r])


def have(rounds, who):
    return sum(who in r for r in rounds) >= 2


def table_of(rounds, contenders, unit_of=1):
    """Lines without a target for every contender that ran: bare's time and the ratios."""
    lines = [Line("bare", "time", Spread([r["bare"] for r in rounds]), "ns")]
    for who in contenders[1:]:
        if have(rounds, who):
            lines.append(Line(who, "ratio", ratio(rounds, who), "x"))
            lines.append(Line(who, "added", added(rounds, who, unit_of), "ns"))
    return lines


def aim(lines, who, what, target, **kw):
    for line in lines:
        if line.who == who and line.what == what:
            line.target = target
            for k, v in kw.items():
                setattr(line, k, v)


# ---- rows -----------------------------------------------------------------

@row("getppid", "summary with latency histogram, getppid loop; per call")
def getppid(b):
    who = ["bare", "exact", "wait"] + b.peers("strace -cf", "perf trace -s", "perf bpf-summary",
                                              "bpftrace hist")
    rounds = b.compare(who, "calls")
    lines = table_of(rounds, who)
    aim(lines, "exact", "ratio", 3.2)
    aim(lines, "exact", "added", 240)
    both = [r for r in rounds if "strace -cf" in r]
    if both:
        lines.append(Line("exact", "added / strace -cf's added", Spread(
            [(r["exact"] - r["bare"]) / (r["strace -cf"] - r["bare"]) for r in both]),
            "share", 1 / 50))
    return lines


class Attached:
    """A contender that looks at a sleeping process, while others are measured."""
    def __init__(self, b, mode):
        self.sleeper = subprocess.Popen(["sleep", "1000"])
        pid = str(self.sleeper.pid)
        if mode == "perf trace -s":
            argv = [b.program("perf"), "trace", "-s", "-o", "/dev/null", "-p", pid]
        else:
            argv = [b.tracer, "attach", "--mode", mode, "-o", "/dev/null", pid]
        self.p = subprocess.Popen(argv, stderr=PIPE if mode != "perf trace -s" else DEVNULL,
                                  stdout=DEVNULL)
        if mode != "perf trace -s":
            line = self.p.stderr.readline()
            if b"tracing" not in line:
                self.close()
                raise Skip(line.decode("utf-8", "replace").strip())
        else:
            time.sleep(0.5)

    def close(self):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
        self.p.wait()
        if self.p.stderr:
            self.p.stderr.close()
        self.sleeper.kill()
        self.sleeper.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def beside(b, modes, kind, cpu, rounds=9, ms=100):
    """Per round: {"bare": ns, mode: ns an operation while that one traces another process}."""
    out = []
    for _ in range(b.rounds(rounds)):
        got = {"bare": b.ops("bare", kind, ms, cpu=cpu)}
        for mode in modes:
            try:
                with Attached(b, mode):
                    got[mode] = b.ops("bare", kind, ms, cpu=cpu)
            except Skip as e:
                b.note(f"{mode}: {e}")
        got["bare"] = (got["bare"] + b.ops("bare", kind, ms, cpu=cpu)) / 2
        out.append(got)
    return out


@row("untraced", "processes that are not traced, while another one is; per call, per switch")
def untraced(b):
    modes = ["wait", "exact"] + b.peers("perf trace -s")
    calls = beside(b, modes, "calls", 1)
    switches = beside(b, modes[:2], "switch", 1)
    lines = []
    for mode in modes:
        if have(calls, mode):
            lines.append(Line(mode, "added a call", added(calls, mode), "ns"))
    for mode in modes[:2]:
        if have(switches, mode):
            lines.append(Line(mode, "added a switch", added(switches, mode), "ns"))
    noise = Spread([abs(r["bare"] - s["bare"]) for r, s in zip(calls, calls[1:])]).median
    aim(lines, "wait", "added a call", 0, slack=noise)
    aim(lines, "wait", "added a switch", 40)
    aim(lines, "exact", "added a call", 150)
    b.note("untraced, wait: no program is attached to system calls; 0 is met within "
           f"{noise:.0f} ns, by which bare runs differ from round to round")
    return lines


@row("pingpong", "two-thread futex ping-pong with waiter and waker; per round trip")
def pingpong(b):
    who = ["bare", "exact", "wait"] + b.peers("strace -cf", "perf trace -s", "bpftrace hist")
    rounds = b.compare(who, "pingpong")
    lines = table_of(rounds, who)
    aim(lines, "exact", "ratio", 1.25)
    aim(lines, "wait", "ratio", 1.25)
    one = b.compare(who[:3], "pingpong", cpu=1)
    for mode in ("exact", "wait"):
        if have(one, mode):
            lines.append(Line(mode, "ratio, both on one CPU", ratio(one, mode), "x"))
    return lines


@row("threads", "20,000 × create and join, full accounting; per thread")
def threads(b):
    who = ["bare", "exact", "wait"] + b.peers("strace -cf", "perf trace -s", "bpftrace hist")
    rounds = b.compare(who, "threads", ms=400)
    lines = table_of(rounds, who)
    aim(lines, "exact", "ratio", 1.20)
    storm = [os.path.join(b.build, "tests", "workloads", "thread_storm"), "20000"]
    whole = []
    for _ in range(b.rounds(5)):
        got = {}
        for name in ("bare", "exact"):
            start = time.monotonic()
            subprocess.run(b.contender(name, storm), stdout=DEVNULL, check=True, stderr=DEVNULL)
            got[name] = (time.monotonic() - start) * 1e3
        whole.append(got)
    lines.append(Line("exact", "whole run with start-up and summary", ratio(whole, "exact"), "x"))
    return lines


def pipe_row(b, size):
    who = ["bare", "exact", "wait"] + b.peers("strace -cf", "perf trace -s", "bpftrace hist")
    rounds = b.compare(who, "pipe", size=size)
    lines = table_of(rounds, who)
    one = b.compare(who[:2], "pipe", size=size, cpu=1)
    if have(one, "exact"):
        lines.append(Line("exact", "ratio, both on one CPU", ratio(one, "exact"), "x"))
        lines.append(Line("exact", "added, both on one CPU", added(one, "exact"), "ns"))
    return lines


@row("pipe64k", "pipe in chunks of 64 KiB; per chunk")
def pipe64k(b):
    lines = pipe_row(b, 65536)
    aim(lines, "exact", "ratio", 1.10)
    return lines


@row("pipe1", "pipe in chunks of 1 byte; per chunk")
def pipe1(b):
    lines = pipe_row(b, 1)
    aim(lines, "exact", "added", 400)
    return lines


@row("ring", "ring with one consumer, 32 MiB")
def ring(b):
    argv = [os.path.join(b.build, "tests", "bench", "bench_ring")]
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


def attach_once(b, mode):
    """Milliseconds from exec to attached, and from ctrl-C to the end."""
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        start = time.monotonic()
        p = subprocess.Popen([b.tracer, "attach", "--mode", mode, "-o", "/dev/null",
                              str(sleeper.pid)], stderr=PIPE, close_fds=False)
        p.stderr.readline()
        attached = time.monotonic()
        time.sleep(0.1)
        stop = time.monotonic()
        p.send_signal(signal.SIGINT)
        p.wait()
        end = time.monotonic()
        p.stderr.close()
        sleeper.kill()
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
    subprocess.run(argv, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=True,
                   close_fds=False)
    return (time.monotonic() - start) * 1e3


@row("startup", "start to attached; detach (until the tracer has ended, summary printed)")
def startup(b):
    lines = []
    for mode in ("wait", "exact"):
        got = [attach_once(b, mode) for _ in range(b.rounds(15))]
        lines += [Line(mode, "start to attached", Spread([g["attach"] for g in got]), "ms", 20),
                  Line(mode, "detach", Spread([g["detach"] for g in got]), "ms", 100)]
        with subprocess.Popen(["sleep", "1000"]) as sleeper:
            argv = [b.tracer, "attach", "--mode", mode, "-d", "10ms", "-o", "/dev/null",
                    str(sleeper.pid)]
            lines.append(Line(mode, "CPU time, start to end", Spread(
                [cpu_once(argv) for _ in range(b.rounds(9))]), "ms"))
            sleeper.kill()
    who = ["bare", "exact"] + b.peers("strace -cf", "perf trace -s", "bpftrace hist")
    rounds = []
    for _ in range(b.rounds(9)):
        got = {}
        for name in who:
            try:
                got[name] = run_once(b.contender(name, ["/bin/true"]))
            except (Skip, subprocess.CalledProcessError) as e:
                b.note(f"{name}: {e}")
        rounds.append(got)
    lines += [Line(name, "added to the run of `true`", added(rounds, name), "ms")
              for name in who[1:] if have(rounds, name)]
    return lines


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
    print(f"  {'contender':<17} {'figure':<36} {'median':>12} {'quartiles':>21} {'least':>11}"
          f" {'target':>11}", file=out)
    for n in lines:
        s = n.spread
        q = f"{figure(s.q1, n.unit)} – {figure(s.q3, n.unit)}"
        print(f"  {n.who:<17} {n.what:<36} {figure(s.median, n.unit):>12} {q:>21} "
              f"{figure(s.min, n.unit):>11} {n.target_text():>11} {n.verdict()}".rstrip(),
              file=out, flush=True)


def print_markdown(results, b, out):
    print(f"{machine()}; load average at the start {b.load:.1f}.\n", file=out)
    print("| row | contender | figure | median | quartiles | target | |", file=out)
    print("|---|---|---|---|---|---|---|", file=out)
    for _name, title, lines in results:
        for i, n in enumerate(lines):
            s = n.spread
            print(f"| {title if not i else ''} | {n.who} | {n.what} | {figure(s.median, n.unit)} "
                  f"| {figure(s.q1, n.unit)} – {figure(s.q3, n.unit)} | {n.target_text()} "
                  f"| {n.verdict()} |", file=out)
    for text in b.notes:
        print(f"\n- {text}", file=out)


def main():
    names = [name for name, _, _ in ROWS]
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--build", default="build")
    ap.add_argument("--row", action="append", choices=names, help="only this row; again for more")
    ap.add_argument("--quick", action="store_true", help="half of the rounds")
    ap.add_argument("--json", metavar="FILE",
                    help="also write the figures as JSON (-: stdout alone)")
    ap.add_argument("--markdown", metavar="FILE", help="also write the table of docs/benchmarks.md")
    args = ap.parse_args()
    if os.geteuid():
        print("bench.py: tracing needs root", file=sys.stderr)
        return 77
    out = sys.stderr if args.json == "-" else sys.stdout
    b = Bench(os.path.join(ROOT, args.build), args.quick)
    b.load = os.getloadavg()[0]
    try:
        # Above what else runs here; all contenders alike.
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except OSError:
        pass
    print(f"{machine()}; load average {b.load:.1f}", file=out)
    b.probe_others()
    results, start = [], time.monotonic()
    for name, title, fn in ROWS:
        if args.row and name not in args.row:
            continue
        try:
            lines = fn(b)
        except Skip as e:
            print(f"\n{title}\n  skipped: {e}", file=out)
            continue
        results.append((name, title, lines))
        print_text(f"{name}: {title}", lines, out)
    for text in b.notes:
        print(f"  note: {text}", file=out)
    print(f"\n{time.monotonic() - start:.0f} s", file=out)
    if args.json:
        doc = {"schema": "tracer.bench/1", "machine": machine(), "load": b.load,
               "rows": [{"row": n, "title": t, "figures": [x.json() for x in lines]}
                        for n, t, lines in results], "notes": b.notes}
        text = json.dumps(doc, indent=1, ensure_ascii=False) + "\n"
        if args.json == "-":
            sys.stdout.write(text)
        else:
            with open(args.json, "w", encoding="utf-8") as f:
                f.write(text)
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as f:
            print_markdown(results, b, f)
    shutil.rmtree(b.scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
