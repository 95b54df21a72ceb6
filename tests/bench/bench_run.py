# SPDX-License-Identifier: MIT
"""Running workloads bare and under each contender.

Whatever is attached looks at a process that ends with the benchmark (bench_work
sleep and tick, bench_floor), and ends with it: nothing stays attached when the
benchmark is killed.
"""
import os
import re
import shutil
import signal
import subprocess
import time
from subprocess import DEVNULL, PIPE

from bench_figures import Skip, take_turns

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
SLOW = ("strace -cf", "perf trace -s", "perf bpf-summary", "bpftrace hist")
FLOOR = {"exact": "floor exact", "wait": "floor wait"}
FOREVER_MS = "1000000"

BPFTRACE = """
tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @start[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@start[tid]/ {
	@count[args->id] = count(); @hist[args->id] = hist(nsecs - @start[tid]);
	delete(@start[tid]);
}"""


class Bench:
    def __init__(self, build, quick=False, rounds=None, alone=False):
        self.build = build
        self.tracer = os.path.join(build, "tracer")
        self.work = self.part("work")
        self.floor = self.part("floor")
        self.quick, self.fixed, self.alone = quick, rounds, alone
        self.few = 2 if quick else 3
        self.load = os.getloadavg()[0]
        self.notes = []
        self.cannot = set()

    def part(self, name):
        return os.path.join(self.build, "tests", "bench", "bench_" + name)

    def rounds(self, n):
        return self.fixed or (max(3, n // 2) if self.quick else n)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def lost(self, who, reason):
        self.note(f"{who}: {reason}")

    def env(self, cpu=None):
        env = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
        if cpu is not None:
            env["BENCH_CPU"] = str(cpu)
            env["BENCH_FIFO"] = "1"
        return env

    def contender(self, who, argv):
        """The command line that runs argv under a contender."""
        if who == "bare":
            return argv
        if who in FLOOR:
            return [self.tracer, "run", "--quiet", "--mode", who, "-o", "/dev/null", "--"] + argv
        if who in FLOOR.values():
            return [self.floor, who.split()[1]] + argv
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

    @staticmethod
    def program(name):
        path = shutil.which(name, path=PATH)
        if not path:
            raise Skip(f"{name} is not installed (`make deps-long`)")
        return path

    def say(self, who, argv, cpu=None, timeout=60):
        """Runs argv under a contender; the KEY=VALUE words that it prints."""
        try:
            p = subprocess.run(self.contender(who, argv), env=self.env(cpu), stdin=DEVNULL,
                               stdout=PIPE, stderr=PIPE, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise Skip(f"did not end in {timeout} s") from None
        found = dict(re.findall(r"([\w:]+)=([\d.]+)", p.stdout.decode()))
        if p.returncode or "median" not in found and "events" not in found:
            last = (p.stderr.decode("utf-8", "replace").strip().splitlines() or ["no output"])[-1]
            raise Skip(f"does not run here: {last[:120]}")
        return {k: float(v) for k, v in found.items()}

    def ops(self, who, kind, ms, size=None, cpu=None):
        """Nanoseconds an operation of one run."""
        argv = [self.work, kind, str(ms)] + ([str(size)] if size else [])
        return self.say(who, argv, cpu)["median"]

    def turns(self, contenders, measure, rounds):
        return take_turns(contenders, measure, self.rounds(rounds), SLOW, self.few, self.lost)

    def compare(self, contenders, kind, ms=150, rounds=11, size=None, cpu=None):
        """Rounds of the workload under each contender."""
        return self.turns(contenders, lambda who: self.ops(who, kind, ms, size, cpu), rounds)

    def beside(self, contenders, kind, cpu=1, ms=100, rounds=13):
        """Rounds of the workload untraced, while a contender traces another process."""
        def measure(who):
            if who == "bare":
                return self.ops("bare", kind, ms, cpu=cpu)
            with Attached(self, who):
                return self.ops("bare", kind, ms, cpu=cpu)
        return self.turns(contenders, measure, rounds)

    def probe_others(self):
        """What peers this machine has; said once, whichever rows are run."""
        reasons = {}
        perf = shutil.which("perf", path=PATH)
        if perf:
            p = subprocess.run([perf, "trace", "-s", "--bpf-summary", "true"], check=False,
                               stdout=DEVNULL, stderr=PIPE)
            if b"unknown option" in p.stderr:
                reasons["perf bpf-summary"] = "this perf has no --bpf-summary (6.16 has)"
        syscount = shutil.which("syscount-bpfcc", path=PATH)
        if syscount:
            try:
                p = subprocess.run([syscount, "-d", "1"], check=False, stdout=PIPE, stderr=PIPE,
                                   timeout=60)
                if p.returncode:
                    reasons["syscount"] = "bcc's syscount needs this kernel's headers"
            except subprocess.TimeoutExpired:
                reasons["syscount"] = "bcc's syscount did not start"
        else:
            reasons["syscount"] = "bcc's syscount is not installed (`make deps-long`)"
        for reason in reasons.values():
            self.note(reason)
        self.cannot |= set(reasons)

    def peers(self, *names):
        return [] if self.alone else [n for n in names if n not in self.cannot]


class Target:
    """A process to attach to, which does nothing (sleep) or calls every 100 µs (tick)."""
    def __init__(self, b, kind="sleep"):
        self.p = subprocess.Popen([b.work, kind, FOREVER_MS], stdin=DEVNULL, stdout=PIPE,
                                  close_fds=False)
        self.p.stdout.readline()	# it is there
        self.pid = str(self.p.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.kill()
        self.p.wait()
        self.p.stdout.close()


class Attached:
    """A contender that looks at a sleeping process, while others are measured."""
    def __init__(self, b, who):
        with_words = True
        self.target = Target(b)
        try:
            if who == "perf trace -s":
                argv = [b.program("perf"), "trace", "-s", "-o", "/dev/null", "-p", self.target.pid]
                with_words = False
            elif who in FLOOR.values():
                # What does not count has no use for a clock.
                argv = [b.floor, "empty" if who == FLOOR["exact"] else "wait"]
            else:
                argv = [b.tracer, "attach", "--mode", who, "-o", "/dev/null", self.target.pid]
            self.p = subprocess.Popen(argv, stdout=DEVNULL, stderr=PIPE if with_words else DEVNULL)
        except BaseException:
            self.target.__exit__()
            raise
        self.wait_attached(with_words)

    def wait_attached(self, with_words):
        try:
            if not with_words:
                time.sleep(0.5)
                return
            line = self.p.stderr.readline()
            if b"tracing" not in line and b"attached" not in line:
                raise Skip(line.decode("utf-8", "replace").strip())
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
        self.p.wait()
        if self.p.stderr:
            self.p.stderr.close()
        self.target.__exit__()
