# SPDX-License-Identifier: MIT
"""bpftrace beside the tracer: two independent tools look at one and the same run.

Beside(NAME) counts what every process whose executable is called NAME does from
its exec on, with its threads and children: system calls and errors by number,
futex time, context switches, new threads and processes. The test copies the
program to a name that nobody else uses. Both see each event, so that counts are
equal even where two runs of a program differ.
"""
import json
import os
import re
import shutil
import signal
import subprocess

from harness import Failure, Skip, clean_env, equal, near, need, start, wait_for

HEADERS = ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h")

PROGRAM = """
tracepoint:sched:sched_process_exec /comm == "NAME"/ { @t[pid] = 1; }
tracepoint:sched:sched_process_fork /@t[pid]/ { @t[args->child_pid] = 1; @forks = count(); }
tracepoint:raw_syscalls:sys_enter /@t[pid]/ { @calls[args->id] = count(); }
tracepoint:raw_syscalls:sys_enter /@t[pid] && args->id == 202/ { @since[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@since[tid] && args->id == 202/
{ @futex = sum(nsecs - @since[tid]); delete(@since[tid]); }
tracepoint:raw_syscalls:sys_exit /@t[pid] && args->ret < 0 && args->id != 15/
{ @errors[args->id] = count(); }
tracepoint:sched:sched_switch /@t[pid]/ { @switches[(args->prev_state & 255) != 0] = count(); }
interval:ms:500 { printf("on"); }
"""


def call_numbers():
    for path in HEADERS:
        if os.path.exists(path):
            with open(path, encoding="ascii") as f:
                return {int(n): name for name, n in
                        re.findall(r"#define __NR_(\w+)\s+(\d+)", f.read())}
    raise Skip("no table of system call numbers")


def private_copy(program, directory, name):
    """A copy of a program under a name that is nobody else's; its path."""
    found = shutil.which(program, path=clean_env()["PATH"])
    if not found:
        raise Skip(f"{program} is not installed")
    path = os.path.join(directory, name)
    shutil.copy(os.path.realpath(found), path)
    os.chmod(path, 0o755)
    return path


class Beside:
    """Watches from now on; stop() ends it and fills .calls, .errors, .switches, .forks."""
    def __init__(self, name):
        need("bpftrace")
        self.number = call_numbers()
        env = clean_env(BPFTRACE_MAP_KEYS_MAX="65536")
        self.proc = start(["bpftrace", "-f", "json", "-e", PROGRAM.replace("NAME", name)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        wait_for("bpftrace to attach", self._attached, 20)

    def _attached(self):
        line = self.proc.stdout.readline()
        if not line:
            raise Skip("bpftrace does not work here")
        return b"printf" in line  # the last probe: the others are attached before it

    def stop(self):
        self.proc.send_signal(signal.SIGINT)
        out, _ = self.proc.communicate(timeout=60)
        data = {}
        for line in out.splitlines():
            if line.strip():
                j = json.loads(line)
                if j["type"] in ("map", "stats"):
                    data.update(j["data"])
        self.calls = self._named(data.get("@calls", {}))
        self.errors = self._named(data.get("@errors", {}))
        switches = data.get("@switches", {})
        self.voluntary = switches.get("1", 0)
        self.involuntary = switches.get("0", 0)
        self.forks = data.get("@forks", 0)
        self.futex_ns = data.get("@futex", 0)
        if not self.calls:
            raise Failure("bpftrace saw nothing")
        # The exec itself began under the tracer's name.
        self.calls["execve"] = self.calls.get("execve", 0) + 1
        return self

    def _named(self, by_number):
        return {self.number.get(int(k), k): v for k, v in by_number.items()}


def same_run(s, b):
    """Every call of the summary, its errors, threads and switches are those that b saw."""
    got = {c["name"]: c["calls"] for c in s["syscalls"]}
    wrong = {k: (got.get(k, 0), b.calls.get(k, 0)) for k in set(got) | set(b.calls)
             if got.get(k, 0) != b.calls.get(k, 0)}
    equal(wrong, {}, "calls (tracer, bpftrace)")
    failed = {c["name"]: c["errors"] for c in s["syscalls"] if c["errors"]}
    equal(failed, {k: v for k, v in b.errors.items() if v}, "errors (tracer, bpftrace)")
    t = s["threads"]
    equal(t["created"] + t["processes_created"], b.forks, "threads and processes created")
    # A thread's last switch, when it is dead, is none of its own to the kernel's counters;
    # a switch while bpftrace's own maps are read may be missing there.
    ended = t["exited"] + t["processes_exited"]
    near(s["sched"]["voluntary"] + ended, b.voluntary, 0.001, "voluntary switches", 3)
    near(s["sched"]["involuntary"], b.involuntary, 0.001, "involuntary switches", 3)
