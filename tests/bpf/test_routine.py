#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--start-routine: what threads begin with, and when."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary, check_timeline
from harness import (PIPE, ROOT, SLOW, TRACER, Attach, Skip, between, check, clean_env, contains,
                     equal, load_json, lossless, main, near, need, run, scratch, start, test,
                     trace, trace_work, wait_for, wait_gone, workload)

OPTION = ["--start-routine"]
SRC = os.path.join(ROOT, "tests", "workloads", "start_routines.c")


def by_symbol(s):
    """{symbol: threads}; one row a symbol."""
    rows = s["threads"]["routines"]["by_routine"]
    equal(len({r["symbol"] for r in rows}), len(rows), "a routine is listed twice")
    return {r["symbol"]: r["threads"] for r in rows}


def stage(s, name="routine"):
    return {x["name"]: x for x in s["threads"]["stages"]}[name]


def timed(s):
    r = s["threads"]["routines"]
    equal(r["timed"] + r["untimed"], s["threads"]["created"], "timed and untimed are all")
    equal(stage(s)["count"], r["timed"], "the stage's count")
    return r["timed"]


def routine_programs(held):
    """Of the BPF programs in held, those of this option."""
    shown = run(["bpftool", "-j", "prog", "show"], 20).ok()
    return [p["name"] for p in json.loads(shown.out)
            if ("prog", p["id"]) in held and p.get("name", "").startswith("routine_")]


@test
def every_thread_of_every_routine_is_timed():
    a, b, c = 41, 23, 7
    s = trace_work("start_routines", a, b, c, 3000, opts=OPTION).json
    check_summary(s)
    lossless(s)
    equal(s["threads"]["created"], a + b + c, "threads.created")
    equal(timed(s), a + b + c, "timed, the first of each routine with them")
    equal(by_symbol(s), {"routine_a": a, "routine_b": b, "routine_c": c}, "routines")
    made = [t for t in s["threads"]["by_thread"] if t["created"] and not t["process"]]
    for name, n in by_symbol(s).items():
        equal(sum(t["routine"] == name for t in made), n, f"threads that began in {name}")
    check(all(t["stages"]["routine"] > 0 for t in made), "a routine began in no time")
    near(stage(s)["total_ns"], sum(t["stages"]["routine"] for t in made), 0.01, "total of routine")
    equal(os.path.basename(s["threads"]["routines"]["by_routine"][0]["module"]), "start_routines",
          "module")
    equal(s["ways"]["start-routine"], "uprobe", "the way it takes")


@test
def the_routine_lies_within_its_threads_life():
    us = 3000
    with scratch() as d:
        path = os.path.join(d, "trace.json")
        s = trace_work("start_routines", 2, 5, 0, us, opts=[*OPTION, "--trace", path]).json
        events = check_timeline(load_json(path))
    slices = [e for e in events if e["ph"] == "X" and e["name"] == "routine_b"]
    equal(len(slices), 5, "slices of routine_b")
    lives = {(e["tid"], t["tid"]): e for e in events for t in s["threads"]["by_thread"]
             if e["ph"] == "X" and e["name"] == "thread" and e["tid"] == t["tid"]}
    for e in slices:
        life = lives[e["tid"], e["tid"]]
        # Its work is in it: the probe came before the routine's first instruction.
        check(e["dur"] >= us, f"routine_b lasted {e['dur']} us of work of {us} us")
        check(e["ts"] > life["ts"], "the routine began with the clone")
        near(e["ts"] + e["dur"], life["ts"] + life["dur"], 0, "its end is the thread's", 0.002)


@test
def its_cost_is_measured():
    s = trace_work("start_routines", 3, 2, 1, opts=OPTION).json
    o = s["overhead"]
    # A breakpoint's exception takes more than a call's probes and less than a millisecond.
    between(o["ns_per_start_routine"], 300, 1000000, "ns_per_start_routine")
    between(o["ns_in_routine_stage"], 100, o["ns_per_start_routine"] * 2, "ns_in_routine_stage")
    fastest = min(t["stages"]["routine"] for t in s["threads"]["by_thread"]
                  if "routine" in t["stages"])
    check(fastest >= o["ns_in_routine_stage"] / 2,
          f"a stage of {fastest} ns, of which {o['ns_in_routine_stage']} are the probe's")


@test
def without_the_option_nothing_is_there():
    need("bpftool")
    with start([workload("many_threads"), "3"], stdin=PIPE, stdout=PIPE) as p:
        p.stdout.readline()
        a = Attach("--mode", "exact", str(p.pid))
        equal(routine_programs(a.held), [], "programs without --start-routine")
        without = a.stop().json
        a = Attach("--mode", "exact", *OPTION, str(p.pid))
        equal(routine_programs(a.held), ["routine_begins"], "programs with it")
        a.stop()
        p.kill()
    s = trace_work("start_routines", 3, 2).json
    for what in (s, without):
        check("routine" not in [x["name"] for x in what["threads"]["stages"]], "a stage of it")
        check("routines" not in what["threads"], "threads.routines")
        check("start-routine" not in what["ways"], "a way of it")
        equal(what["overhead"]["ns_per_start_routine"], None, "its cost")
        for t in what["threads"]["by_thread"]:
            check("routine" not in t and "routine" not in t["stages"], f"routine of {t['tid']}")


@test
def other_collectors_do_not_time_it():
    s = trace_work("start_routines", 3, 2, opts=[*OPTION, "--collect", "syscalls"]).json
    check("routines" not in s["threads"], "threads were not asked for")


@test
def wait_mode_times_it_too():
    a, b = 17, 5
    s = trace_work("start_routines", a, b, 0, 5000, opts=[*OPTION, "--mode", "wait"]).json
    check_summary(s)
    equal(timed(s), a + b, "timed")
    equal(by_symbol(s), {"routine_a": a, "routine_b": b}, "routines")


@test
def children_are_timed():
    w = workload("start_routines")
    s = trace(["sh", "-c", f"{w} 3 0 0; {w} 2 4 0"], *OPTION).json
    equal(timed(s), 9, "timed over two processes")


@test
def threads_of_an_attached_process():
    code = ("import sys, threading\n"
            "print('ready', flush=True); sys.stdin.readline()\n"
            "for i in range(9):\n"
            "    t = threading.Thread(target=lambda: None); t.start(); t.join()\n"
            "print('done', flush=True); sys.stdin.readline()\n")
    p = start([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE)
    equal(p.stdout.readline(), b"ready\n", "python")
    a = Attach(*OPTION, str(p.pid))
    p.stdin.write(b"\n")
    p.stdin.flush()
    equal(p.stdout.readline(), b"done\n", "python")
    wait_for("the threads to end", lambda: len(os.listdir(f"/proc/{p.pid}/task")) == 1)
    s = a.stop().json
    check_summary(s, run=False)
    equal(s["threads"]["created"], 9, "threads.created")
    equal(timed(s), 9, "timed")


def built_static(d):
    need("cc")
    path = os.path.join(d, "start_routines")
    r = subprocess.run(["cc", "-static", "-O2", "-D_GNU_SOURCE", SRC, "-o", path, "-pthread"],
                       capture_output=True)
    if r.returncode:
        raise Skip("no static C library to link with")
    os.chmod(d, 0o755)
    return path


@test
def a_static_program_is_timed_from_its_first_thread():
    with scratch() as d:
        path = built_static(d)
        # Names are looked up while it runs: it takes its time.
        s = trace([path, "5", "3", "2", "20000"], *OPTION).json
        equal(timed(s), 10, "timed")
        equal(by_symbol(s), {"routine_a": 5, "routine_b": 3, "routine_c": 2}, "routines")
        # The same by the search path.
        env = {"PATH": f"{d}:/usr/bin:/bin"}
        s = trace(["start_routines", "4", "0", "0"], *OPTION, env=env).json
        equal(timed(s), 4, "timed, found by PATH")


@test
def what_cannot_be_timed_is_counted():
    need("strip")
    with scratch() as d:
        path = built_static(d)
        run(["strip", path]).ok()
        s = trace([path, "5", "3", "2"], *OPTION).json
        check_summary(s)
        equal(timed(s), 0, "timed")
        equal(s["threads"]["routines"]["untimed"], 10, "untimed")
        for t in s["threads"]["by_thread"]:
            check("routine" not in t["stages"], "a stage that nobody saw")
        r = run([TRACER, "run", *OPTION, "--", path, "5", "3", "2"]).ok()
    contains(r.err, "10 threads not timed", "the table")


def copy_libc(d):
    """Another C library: the same in other files. Its loader's path."""
    with open("/proc/self/maps", encoding="ascii") as f:
        libc = {l.split()[-1] for l in f if l.split()[-1].endswith("/libc.so.6")}
    if not libc:
        raise Skip("the C library is not glibc")
    loader = "ld-linux-x86-64.so.2"
    for name in ("libc.so.6", loader):
        shutil.copy(os.path.join(os.path.dirname(min(libc)), name), os.path.join(d, name))
    os.chmod(d, 0o755)
    return os.path.join(d, loader)


@test
def a_loader_of_its_own_is_timed_from_its_first_thread():
    need("cc")
    with scratch() as d:
        loader, path = copy_libc(d), os.path.join(d, "start_routines")
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", SRC, "-o", path, "-pthread",
                        f"-Wl,--dynamic-linker={loader},-rpath={d}"], check=True)
        s = trace([path, "5", "3", "2"], *OPTION).json
    equal(timed(s), 10, "timed")


@test
def another_c_library_is_found_when_it_is_mapped():
    n = 4000
    with scratch() as d:
        copy_libc(d)
        s = trace(["env", f"LD_LIBRARY_PATH={d}", workload("start_routines"), n, 0, 0],
                  *OPTION).json
    # Those of the first milliseconds are not timed, and are counted.
    between(timed(s), n // 10, n, "timed")


# Maps the file of argv[1] as code argv[2] times, then begins a thread.
MAPPER = """
import ctypes, os, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
fd = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(int(sys.argv[2])):
    assert libc.mmap(None, 4096, 5, 2, fd, 0) not in (None, ctypes.c_void_p(-1).value)
t = threading.Thread(target=len, args=("",))
t.start()
t.join()
"""


def consumer_ns(d, name, n=20000):
    path = os.path.join(d, name)
    with open(path, "wb") as f:
        f.write(b"\x7fELF" + bytes(8192))
    s = trace([sys.executable, "-c", MAPPER, path, str(n)], *OPTION).json
    equal(s["threads"]["created"], 1, "threads")
    return s["overhead"]["consumer_cpu_ns"]


@test
def a_program_that_maps_its_c_library_without_end_costs_no_more():
    with scratch() as d:
        os.chmod(d, 0o755)
        other = min(consumer_ns(d, "other.so") for _ in range(2))
        library = min(consumer_ns(d, "libc.so.of_mine") for _ in range(2))
    # Each of the 20,000 looked at would be a second, and many with a sanitizer.
    check(library < 1.5 * other + 30e6 * SLOW,
          f"{library} ns of CPU time, and {other} by another name")


@test
def tables_name_the_routines():
    r = run([TRACER, "run", *OPTION, "--threads", "--", workload("start_routines"), "6", "4", "0",
             "9000"], env=clean_env(COLUMNS="140"))
    text = " ".join(r.ok().err.split())
    contains(text, "routine_a ×6", "threads of routine_a")
    contains(text, "routine_b ×4", "threads of routine_b")
    contains(text, "to a thread's start", "the cost")
    contains(text, "start_routines in routine_a", "a thread's row")
    check("not timed" not in text, "all were timed")
    r = run([TRACER, "run", *OPTION, "--csv", "--", workload("start_routines"), "6", "4", "0",
             "9000"])
    rows = r.ok().err.split("# table threads\n")[1].split("\n\n")[0].split("\n")
    equal(rows[0].split(",")[-2:], ["routine_ns", "routine"], "columns")
    equal(sum(x.endswith(",routine_a") for x in rows), 6, "rows of routine_a")


@test
def nothing_is_left_when_the_tracer_is_killed():
    need("bpftool")
    p = start([workload("many_threads"), "3"], stdin=PIPE, stdout=PIPE)
    p.stdout.readline()
    a = Attach(*OPTION, str(p.pid))
    a.stop(9, rc=None)
    wait_gone(a.held)
    wait_for("the program to run on", lambda: p.poll() is None)


if __name__ == "__main__":
    main()
