#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that nobody here wrote, against strace -cf of the same command."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary, check_timeline
from harness import (DEVNULL, PIPE, Skip, TRACER, between, call, calls, check, equal, keys,
                     load_json, lossless, main, near, need, pipe_of, run, scratch, strace_counts,
                     test, trace)

PYTHON = "/usr/bin/python3"


def words(path, lines):
    """A file of lines in no order, the same each time."""
    x = 12345
    with open(path, "w", encoding="ascii") as f:
        for _ in range(lines):
            x = (x * 1103515245 + 12345) % (1 << 31)
            f.write(f"{x:08x} {x % 977} some words to sort and to compress {x % 13}\n")
    return os.path.getsize(path)


def agree(got, want, names, share=0.0, slack=0):
    """The named calls are as often in a summary as in strace's table."""
    for n in names:
        near(calls(got).get(n, 0), want.get(n, (0, 0))[0], share, n, slack)


@test(timeout=120)
def xz_with_two_threads():
    need("xz")
    with scratch() as d:
        size = words(f"{d}/in", 160000)
        cmd = ["xz", "-T2", "-1", "--block-size=1MiB", "-c", f"{d}/in"]
        want = strace_counts(cmd)
        s = trace(cmd, stdout=DEVNULL).json
        check_summary(s)
        lossless(s)
        agree(s, want, ["read", "write", "openat", "execve", "clone3", "rseq"])
        equal(s["threads"]["created"], want["clone3"][0], "threads.created")
        check(call(s, "read")["calls"] * 8192 >= size, "it read the file in chunks of 8 KiB")
        check(s["futex"]["waits"] > 0 and s["locks"], "the coder waits for its workers")
        check(any(l["edges"] for l in s["locks"]), "who wakes whom")


@test(timeout=120)
def sort_in_parallel():
    with scratch() as d:
        words(f"{d}/in", 200000)
        cmd = ["sort", "--parallel=2", "-S", "64M", "-o", f"{d}/out", f"{d}/in"]
        want = strace_counts(cmd)
        s = trace(cmd).json
        check_summary(s)
        lossless(s)
        agree(s, want, ["read", "write", "clone3", "openat", "execve"])
        equal(s["threads"]["created"], want["clone3"][0], "threads.created")
        check(s["threads"]["created"] >= 1, "sort made no thread: the file is too small")
        equal(run(["sort", "-c", f"{d}/out"]).rc, 0, "what sort wrote is sorted")


@test
def python_threads():
    code = ("import os, threading\n"
            "def work():\n"
            "    for _ in range(1009): os.getppid()\n"
            "t = [threading.Thread(target=work) for _ in range(7)]\n"
            "for x in t: x.start()\n"
            "for x in t: x.join()\n")
    s = trace([PYTHON, "-I", "-S", "-c", code]).json
    check_summary(s)
    lossless(s)
    equal(calls(s)["getppid"], 7 * 1009, "getppid")
    equal(s["threads"]["created"], 7, "threads.created")
    equal(s["threads"]["exited"], 7, "threads.exited")
    rows = [t["calls"] for t in s["threads"]["by_thread"] if t["cost_ns"]]
    check(len(rows) == 7 and min(rows) >= 1009, f"calls by thread {rows}")


@test
def python_queue_between_threads():
    code = ("import queue, threading\n"
            "a, b = queue.SimpleQueue(), queue.SimpleQueue()\n"
            "def echo():\n"
            "    for _ in range(2003): b.put(a.get())\n"
            "t = threading.Thread(target=echo); t.start()\n"
            "for i in range(2003): a.put(i); b.get()\n"
            "t.join()\n")
    s = trace([PYTHON, "-I", "-S", "-c", code]).json
    check_summary(s)
    check(s["futex"]["waits"] >= 1000, f"{s['futex']['waits']} waits for 2,003 round trips")
    tids = {t["tid"] for t in s["threads"]["by_thread"]}
    for l in s["locks"]:
        for e in l["edges"]:
            check(e["waiter"] in tids, f"an unknown waiter {e}")


@test
def python_multiprocessing():
    code = ("import multiprocessing as m, os\n"
            "def f(i):\n"
            "    os.getppid()\n"
            "    return i\n"
            "if __name__ == '__main__':\n"
            "    m.set_start_method('fork')\n"
            "    with m.Pool(2) as p:\n"
            "        assert sum(p.map(f, range(503), 1)) == 503 * 502 // 2\n"
            "        p.close(); p.join()\n"
            "    print('pid=%d' % os.getpid())\n")
    with scratch() as d:
        path = f"{d}/pool.py"
        with open(path, "w", encoding="ascii") as f:
            f.write(code)
        r = trace([PYTHON, path])
    s = r.json
    check_summary(s)
    lossless(s)
    # Each worker also asks for its parent's pid once or twice of its own.
    between(calls(s)["getppid"], 503, 503 + 8, "getppid")
    equal(s["threads"]["processes_created"], 2, "processes created")
    busy = [p for p in s["pipes"] if p["bytes"] > 1000 and p["writers"] and p["readers"]]
    check(len(busy) >= 2, f"tasks and results are two edges: {s['pipes']}")
    # The two workers write their results into one pipe (and at the end the parent its last word).
    workers = {t["tid"] for t in s["threads"]["by_thread"]
               if t["process"] and t["parent"] != 0} - {r.said["pid"]}
    equal(len(workers), 2, "workers")
    check(any(workers <= set(p["writers"]) for p in busy), f"both write results: {busy}")


@test(timeout=150)
def make_of_a_small_project():
    need("make", "gcc")
    with scratch() as d:
        for i in range(8):
            with open(f"{d}/f{i}.c", "w", encoding="ascii") as f:
                f.write(f"int f{i}(int x)\n{{\n\treturn x * {i};\n}}\n")
        with open(f"{d}/main.c", "w", encoding="ascii") as f:
            f.write("int main(void)\n{\n\treturn 0;\n}\n")
        with open(f"{d}/Makefile", "w", encoding="ascii") as f:
            f.write("o = $(patsubst %.c,%.o,$(sort $(wildcard *.c)))\n"
                    "app: $(o)\n\tgcc -o $@ $(o)\n%.o: %.c\n\tgcc -c -o $@ $<\n"
                    "clean:\n\trm -f *.o app\n")
        cmd = ["make", "-s", "-j2", "-C", d]
        want = strace_counts(cmd)
        run([*cmd, "clean"]).ok()
        s = trace(cmd).json
        check(os.access(f"{d}/app", os.X_OK), "make built nothing")
    check_summary(s)
    lossless(s)
    agree(s, want, ["execve", "vfork", "clone", "clone3", "unlink", "chmod"])
    agree(s, want, ["mmap", "openat", "newfstatat"], 0.02)
    # The job server's tokens go through a pipe (or a FIFO with newer versions).
    check(any(p["chunks_written"] for p in s["pipes"]), "no edge of the job server")


@test
def sqlite_transactions():
    need("sqlite3")
    n = 53
    with scratch() as d:
        sql = "create table t(a);" + "insert into t values (1);" * n + "select count(*) from t;"
        want = strace_counts(["sqlite3", f"{d}/one.db", sql], stdout=PIPE)
        r = trace(["sqlite3", f"{d}/two.db", sql])
        equal(r.out.strip(), str(n), "what sqlite3 said")
        s = r.json
    check_summary(s)
    lossless(s)
    agree(s, want, [c for c in want if c not in ("getrandom",)])
    check(calls(s).get("fdatasync", 0) + calls(s).get("fsync", 0) >= n, "a sync a transaction")


@test
def a_shell_pipeline():
    with scratch() as d:
        size = words(f"{d}/in", 40000)
        line = (f"sh -c 'echo a=$$ >&2; exec cat {d}/in' | "
                "sh -c 'echo b=$$ >&2; exec tr a-f A-F' | "
                "sh -c 'echo c=$$ >&2; exec sort -S 32M' | "
                "sh -c 'echo d=$$ >&2; exec cksum' ")
        r = trace(["sh", "-c", line])
        equal(r.out.split()[1], str(size), "bytes at the end of the pipeline")
        s, said = r.json, keys(r.err)
    check_summary(s)
    lossless(s)
    chain = "abcd"
    for one, two in zip(chain, chain[1:]):
        p = pipe_of(s, "pipe", writer=said[one])
        equal((p["writers"], p["readers"], p["bytes"]), ([said[one]], [said[two]], size),
              f"edge {one} to {two}")
        near(p["chunks_written"] * p["chunk_bytes"]["mean"], size, 0.001, "chunks times their mean")


@test
def a_pipeline_names_its_slow_stage():
    with scratch() as d:
        words(f"{d}/in", 40000)
        line = (f"sh -c 'echo a=$$ >&2; exec cat {d}/in {d}/in {d}/in' | "
                "sh -c 'echo b=$$ >&2; exec xz -T1 -6 -c' | "
                "sh -c 'echo c=$$ >&2; exec cat >/dev/null'")
        r = trace(["sh", "-c", line])
    said = keys(r.err)
    one, two = (pipe_of(r.json, "pipe", writer=said[k]) for k in "ab")
    check(one["writer_blocked_ns"] > one["reader_blocked_ns"],
          f"xz holds cat up: writer {one['writer_blocked_ns']}, reader {one['reader_blocked_ns']}")
    check(two["reader_blocked_ns"] > two["writer_blocked_ns"],
          f"xz starves cat: writer {two['writer_blocked_ns']}, reader {two['reader_blocked_ns']}")


@test
def timeline_of_real_programs():
    with scratch() as d:
        words(f"{d}/in", 60000)
        for cmd in (["xz", "-T2", "-1", "--block-size=1MiB", "-c", f"{d}/in"],
                    ["sh", "-c", f"sort {d}/in | uniq -c | tail -n 1"]):
            run([TRACER, "run", "-q", "-o", "/dev/null", "--trace", f"{d}/trace", "--", *cmd],
                stdout=DEVNULL).ok()
            check_timeline(load_json(f"{d}/trace"))
            os.unlink(f"{d}/trace")


@test
def compat_calls_do_not_pose_as_others():
    """int 0x80 with number 20 is getpid of 32 bits, not writev of 64."""
    if os.uname().machine != "x86_64":
        raise Skip("not x86_64")
    with scratch() as d:
        src, exe = os.path.join(d, "c.c"), os.path.join(d, "c")
        with open(src, "w", encoding="ascii") as f:
            f.write("int main(void){int i;long r=0;for(i=0;i<101;i++)"
                    "__asm__ volatile(\"int $0x80\":\"=a\"(r):\"a\"(20):\"memory\",\"r8\",\"r9\","
                    "\"r10\",\"r11\");return r<=0;}\n")
        run(["gcc", "-o", exe, src]).ok()
        if run([exe]).rc:
            raise Skip("the kernel runs no 32-bit calls")
        s = trace([exe]).json
    check(calls(s).get("writev", 0) == 0, "32-bit getpid was counted as writev")
    equal(s["compat_calls"], 101, "compat_calls")


@test
def the_tables_of_a_real_program():
    """What a person sees of it: the sections, the counts and no loss."""
    with scratch() as d:
        words(f"{d}/in", 60000)
        cmd = ["xz", "-T2", "-1", "--block-size=1MiB", "-c", f"{d}/in"]
        want = strace_counts(cmd)
        text = run([TRACER, "run", "-n", "0", "--", *cmd], stdout=DEVNULL).ok().err
    # How often it maps depends on its threads' pace.
    for name in ("read", "write", "rt_sigaction"):
        row = [line.split() for line in text.splitlines() if line.split()[-1:] == [name]
               or line.split()[:1] == [name]]
        check(any(f"{want[name][0]:,}" in r or str(want[name][0]) in r for r in row),
              f"{name}: {want[name][0]} calls are not in its row {row}")


if __name__ == "__main__":
    main()
