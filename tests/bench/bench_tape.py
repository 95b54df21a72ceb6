# SPDX-License-Identifier: MIT
"""tape against what people use for the same: MiB/s of input with the output discarded, calls,
time to a line's output, memory behind a reader that stands still, commands a second."""
import json
import os
import random
import re
import subprocess
import tempfile
import time
from subprocess import DEVNULL, PIPE

from bench_figures import Line, Skip, Spread, rotated

MIB = 1 << 20
IP = r"([0-9]{1,3}\.){3}[0-9]{1,3}"
PERL_IP = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"

# (what, which input, MiB/s aimed at, {contender: words behind its name})
JOBS = [
    ("-og . of lines of y", "y", 800, {
        "tape": ["-og", "."], "teip": ["-og", "."], "sed": ["s/./<&>/g"],
        "perl": ["-pe", "s/(.)/<$1>/g"], "mawk": ['{gsub(/./, "<&>")} 1']}),
    ("-og yx|y, a pattern that is no class", "y", 45, {
        "tape": ["-og", "yx|y"], "teip": ["-og", "yx|y"], "sed": ["-E", "s/yx|y/<&>/g"],
        "perl": ["-pe", "s/(yx|y)/<$1>/g"]}),
    ("-og .{64}", "y", 1000, {
        "tape": ["-og", ".{64}"], "teip": ["-og", ".{64}"], "sed": ["-E", "s/.{64}/<&>/g"],
        "perl": ["-pe", "s/(.{64})/<$1>/g"]}),
    ("addresses of a log, shown", "log", 800, {
        "tape": ["-og", IP], "teip": ["-og", IP], "sed": ["-E", f"s/{IP}/<&>/g"],
        "perl": ["-pe", f"s/({PERL_IP})/<$1>/g"]}),
    ("addresses of a log -- sed 's/.*/@@@/'", "log", 500, {
        "tape": ["-og", IP, "--", "sed", "s/.*/@@@/"],
        "teip": ["-og", IP, "--", "sed", "s/.*/@@@/"], "sed": ["-E", f"s/{IP}/@@@/g"],
        "perl": ["-pe", f"s/{PERL_IP}/@@@/g"], "cat": []}),
    ("-f 3 -- tr a-z A-Z", "log", 300, {
        "tape": ["-f", "3", "--", "tr", "a-z", "A-Z"],
        "teip": ["-f", "3", "--", "tr", "a-z", "A-Z"],
        "perl": ["-pe", r"s/^((?:\S*\s+){2})(\S+)/$1\U$2/"], "mawk": ["{$3 = toupper($3)} 1"]}),
    ("-og . -- cat", "y", 35, {
        "tape": ["-og", ".", "--", "cat"], "teip": ["-og", ".", "--", "cat"]}),
]
# Slow ones get less to do.
SLOW_BYTES = {"teip": 2 * MIB, "sed": 8 * MIB, "perl": 8 * MIB, "mawk": 16 * MIB}


def write_inputs(d):
    r = random.Random(1)
    with open(os.path.join(d, "y"), "wb") as f:
        f.write((b"y" * 1024 + b"\n") * (128 * 1024))
    with open(os.path.join(d, "log"), "w", encoding="ascii") as f:
        # 672,000 addresses in 100 MiB.
        for _ in range(672000):
            ip = ".".join(str(r.randrange(1, 255)) for _ in range(4))
            f.write(f"Nov 30 14:35:00 host sshd[{r.randrange(10**5)}]: Failed password for invalid "
                    f"user admin from {ip} port {r.randrange(65536)} ssh2: and further text of "
                    "it to fill the line up now\n")


def speed(argv, path, most, env):
    with open(path, "rb") as f:
        data = f.read(most) if most else None
        size = len(data) if data else os.path.getsize(path)
        with tempfile.TemporaryFile() as t:
            if data:
                t.write(data)
                t.seek(0)
            f.seek(0)
            start = time.monotonic()
            p = subprocess.run(argv, stdin=t if data else f, stdout=DEVNULL, stderr=DEVNULL,
                               env=env, check=False)
            took = time.monotonic() - start
    if p.returncode:
        raise Skip(f"{argv[0]}: exit {p.returncode}")
    return size / MIB / took


def there(b, name):
    try:
        return name in b.peers(name) and b.program(name)
    except Skip as e:
        if name not in b.cannot:
            b.lost(name, e)
        b.cannot.add(name)
        return False


def job_lines(b, tape, env, d):
    lines = []
    for what, which, aim, contenders in JOBS:
        who = {n: w for n, w in contenders.items() if n == "tape" or there(b, n)}
        got = {}
        for i in range(b.rounds(5)):
            for name in rotated(list(who), i):
                argv = [tape if name == "tape" else b.program(name), *who[name]]
                try:
                    got.setdefault(name, []).append(
                        speed(argv, os.path.join(d, which), SLOW_BYTES.get(name), env))
                except Skip as e:
                    b.lost(name, e)
        lines += [Line(name, what, Spread(v), "MiB/s", aim if name == "tape" else None, least=True)
                  for name, v in got.items()]
    return lines


def count_calls(b, tape, feed, env):
    strace = b.program("strace")
    with tempfile.NamedTemporaryFile() as log:
        subprocess.run(f"{feed} | '{strace}' -o {log.name} '{tape}' -og . >/dev/null", shell=True,
                       env=env, check=True, stderr=DEVNULL)
        names = re.findall(rb"^(\w+)\(", log.read(), re.M)
    return len(names), names.count(b"futex")


def calls_lines(b, tape, env):
    feed = "yes | tr -d '\\n' | fold -w 1024 | head -n 1024"
    begin, calls, futex = [], [], []
    for _ in range(b.rounds(3)):
        none = count_calls(b, tape, "true", env)[0]
        n, f = count_calls(b, tape, feed, env)
        begin.append(none)
        calls.append(n - none)
        futex.append(f)
    return [Line("tape", "calls of its start", Spread(begin), "calls", 60),
            Line("tape", "calls a MiB after it", Spread(calls), "calls", 80),
            Line("tape", "futex calls a MiB", Spread(futex), "calls", 0)]


def latency_ms(tape, env):
    took = []
    with subprocess.Popen([tape, "-f", "2", "--", "sed", "-u", "s/$/!/"], stdin=PIPE, stdout=PIPE,
                          env=env) as p:
        for i in range(1000):
            time.sleep(0.0005)
            start = time.monotonic()
            p.stdin.write(b"a %d b\n" % i)
            p.stdin.flush()
            p.stdout.readline()
            took.append((time.monotonic() - start) * 1e3)
        p.stdin.close()
    return sorted(took)[990]


def stalled_mib(tape, env):
    with subprocess.Popen([tape, "-og", ".", "--", "cat"], stdin=PIPE, stdout=PIPE, env=env) as p:
        os.set_blocking(p.stdin.fileno(), False)
        end = time.monotonic() + 1
        while time.monotonic() < end:
            try:
                os.write(p.stdin.fileno(), b"abcdefg\n" * 8192)
            except BlockingIOError:
                time.sleep(0.01)
        with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
            peak = int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024
        p.kill()
    return peak


def spawn_loops(argv, n, loops):
    """Seconds for @n starts of @argv by posix_spawn, one after the other in each of @loops."""
    start = time.monotonic()
    pids = []
    for _ in range(loops):
        pids.append(os.fork())
        if not pids[-1]:
            for _ in range(n // loops):
                os.waitpid(os.posix_spawn(argv[0], argv, os.environ), 0)
            os._exit(0)
    for pid in pids:
        os.waitpid(pid, 0)
    return time.monotonic() - start


def each_seconds(tape, env, argv, n, jobs):
    start = time.monotonic()
    subprocess.run([tape, "-s", "-j", str(jobs), "-l", "1-", "--", *argv], input=b"x\n" * n,
                   stdout=DEVNULL, env=env, check=True)
    return time.monotonic() - start


def each_lines(b, tape, env):
    """-s against loops of posix_spawn, whose two at once are what the machine has to give."""
    lines = []
    for what, argv, n, alone, twice in (
            ("true", [b.program("true")], 400, 0.95, None),
            ("sh, 20 ms of sums", [b.program("sh"), "-c",
                                   "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"],
             40, 0.95, 1.6)):
        bare, one, two, both = [], [], [], []
        for _ in range(b.rounds(5)):
            bare.append(spawn_loops(argv, n, 1))
            one.append(each_seconds(tape, env, argv, n, 1))
            two.append(each_seconds(tape, env, argv, n, 2))
            both.append(spawn_loops(argv, n, 2))

        def ratio(a, c):
            return Spread([x / y for x, y in zip(a, c)])
        lines += [Line("tape", f"-s -- {what}: speed of posix_spawn", ratio(bare, one), "x",
                       alone, least=True),
                  Line("tape", f"-s -j 2 -- {what}: speed of -j 1", ratio(one, two), "x",
                       twice, least=True),
                  Line("floor", f"two loops of posix_spawn, {what}: speed of one",
                       ratio(bare, both), "x")]
    return lines


def batch_lines(tape, env, d):
    with open(os.path.join(d, "log"), "rb") as f:
        p = subprocess.run([tape, "--stats", "-og", IP, "--", "cat"], stdin=f, stdout=DEVNULL,
                           stderr=PIPE, env=env, check=True)
    s = json.loads(p.stderr)
    return [Line("tape", "chunks a batch to a command", Spread([s["chunks"] / s["batches"]]),
                 "chunks")]


def tape_lines(b):
    tape = os.path.join(b.build, "tape")
    env = dict(os.environ, TEIP_HIGHLIGHT="<{}>", LC_ALL="C")
    with tempfile.TemporaryDirectory() as d:
        write_inputs(d)
        lines = job_lines(b, tape, env, d) + batch_lines(tape, env, d)
    try:
        lines += calls_lines(b, tape, env)
    except Skip as e:
        b.lost("strace", e)
    lines.append(Line("tape", "a line's way through sed -u, p99",
                      Spread([latency_ms(tape, env) for _ in range(b.rounds(3))]), "ms", 2))
    lines.append(Line("tape", "peak memory, nobody reads",
                      Spread([stalled_mib(tape, env) for _ in range(b.rounds(3))]), "MiB", 16))
    return lines + each_lines(b, tape, env)
