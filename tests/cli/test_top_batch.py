#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""top's text and JSON of a program with hostile names: form, width, figures that agree."""
import json
import os
import re
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import PIPE, SLOW, TRACER, check, clean_env, contains, equal, main, run, start, test

TABS = ("threads", "locks", "pipes", "calls", "processes")

# A writer and a reader of one pipe, and two threads that take a lock in turns.
HOSTILE = r"""
import os, sys, threading, time
r, w = os.pipe()
lock = threading.Lock()

def name(comm):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "wb") as f:
        f.write(comm)

def reader():
    name(b"<script>")
    while True:
        os.read(r, 1)

def writer():
    name(b"\x1b]0;owned\x07")
    while True:
        os.write(w, b"x")
        time.sleep(0.002)

def holder():
    name(b"\xff\xc2\x9b\xe2\x80\xaertl")
    while True:
        with lock:
            time.sleep(0.005)

for body in (reader, writer, holder, holder):
    threading.Thread(target=body, daemon=True).start()
name(b"a\"b,c\n%s%n")
print("ready", flush=True)
time.sleep(1000)
"""


def hostile():
    p = start([sys.executable, "-c", HOSTILE], stdout=PIPE)
    equal(p.stdout.readline(), b"ready\n", "what the program says first")
    return str(p.pid)


def top(*opts, **env):
    return run([TRACER, "top", "-d", f"{300 * SLOW}ms", *opts], env=clean_env(**env)).ok()


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else
               0 if unicodedata.combining(c) else 1 for c in line)


def refuse(word):
    raise ValueError(f"{word} in JSON")


def objects(*opts):
    r = top("--json", *opts)
    equal([b for b in set(r.raw_out) if b < 32 and b != 10], [], "raw control bytes")
    return [json.loads(line, parse_constant=refuse)
            for line in r.raw_out.decode("utf-8").splitlines()]


@test
def each_refresh_is_a_block():
    pid = hostile()
    for tab in TABS:
        for mode in ("wait", "exact"):
            r = top("-b", "-n", "2", "--rows", "0", "--tab", tab, "--mode", mode, pid, COLUMNS="80")
            equal([b for b in set(r.raw_out) if b < 32 and b != 10], [], "control bytes")
            check("\x9b" not in r.out and "\u202e" not in r.out, "a control that UTF-8 hides")
            for line in r.out.splitlines():
                check(columns(line) <= 80, f"{tab}: {columns(line)} columns: {line}")
            blocks = r.out.split("\n\n")
            equal(blocks.pop(), "", "what follows the last block")
            equal(len(blocks), 2, f"blocks of {tab}")
            for block in blocks:
                lines = block.split("\n")
                check(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  [A-Z]", lines[0]), lines[0])
                contains(lines[1], "5 threads of 1 process", "first line")
                check(re.match(r"lost \d.* own .* a call ", lines[2]), lines[2])
                check(len(lines) > 4, f"no rows of {tab}:\n{block}")


@test
def names_are_shown_and_do_nothing():
    pid = hostile()
    out = top("-b", "-n", "1", "--rows", "0", pid, COLUMNS="160").out
    for part in (r"\e]0;owned\x07", "<script>", r"\xff\u{9b}\u{202e}rtl", 'a"b,c'):
        contains(out, part, "threads")
    colour = top("-b", "-n", "1", "--rows", "0", "--color", "always", pid).raw_out
    rest = re.sub(rb"\x1b\[[\d;]*m", b"", colour)
    check(rest != colour, "no colour with --color always")
    equal([b for b in set(rest) if b < 32 and b != 10], [], "control bytes beside colours")


@test
def rows_are_limited():
    pid = hostile()
    out = top("-b", "-n", "1", "--rows", "2", pid).out
    contains(out, "\n  … 3 more (--rows 0 shows all)\n", "threads")
    one, = objects("-n", "1", "--rows", "2", pid)
    equal(len(one["threads"]), 2, "rows of threads")
    equal(one["rows"]["threads"], 5, "threads there are")


@test
def each_refresh_is_an_object():
    pid = hostile()
    first, second = objects("-n", "2", "--rows", "0", "--mode", "exact", pid)
    for o in (first, second):
        equal(o["schema"], "tracer.top/1", "schema")
        equal({k: len(o[k]) for k in TABS}, o["rows"], "rows")
    equal(second["tick"], first["tick"] + 1, "tick")
    names = {t["comm"] for t in second["threads"]}
    check({"<script>", "\x1b]0;owned\x07"} <= names, f"names {sorted(names)}")
    for key in ("switches", "born", "ended", "cpu_ns", "own_cpu_ns"):
        equal(second[key]["total"] - first[key]["total"], second[key]["step"], f"step of {key}")
    process, = second["processes"]
    equal(process["threads"], 5, "threads of the process")
    equal(sum(process[k] for k in ("running", "runnable", "blocked")), 5, "states")
    for key in ("cpu_ns", "blocked_ns", "switches", "calls"):
        equal(sum(t[key]["step"] for t in second["threads"]), process[key]["step"], key)
    pipe, = (p for p in second["pipes"] if p["kind"] == "pipe" and p["bytes"]["step"])
    equal(pipe["bytes"]["step"], pipe["chunks_written"]["step"], "bytes of chunks of one byte")
    equal([e["comm"] for e in pipe["writers"]], ["\x1b]0;owned\x07"], "writers")
    lock = max(second["locks"], key=lambda l: l["wait_ns"]["step"])
    check(lock["waits"]["step"], f"no waits for the lock: {lock}")
    check(lock["waits"]["step"] == 0 or lock["p50_ns"] <= lock["p99_ns"], f"quantiles: {lock}")


@test
def wait_mode_claims_nothing_it_does_not_see():
    pid = hostile()
    one, = objects("-n", "1", "--rows", "0", pid)
    equal(one["mode"], "wait", "mode")
    equal({t["calls"] for t in one["threads"]}, {None}, "calls of threads")
    equal({c["errors"] for c in one["calls"]}, {None}, "errors")
    equal({p["bytes"] for p in one["pipes"]}, {None}, "bytes")
    equal({l["wakes"] for l in one["locks"]}, {None}, "wakes")
    waits = {t["wait"] for t in one["threads"] if t["state"] == "wait"}
    check(waits & {"read", "futex", "clock_nanosleep"}, f"waits {waits}")


@test
def an_unknown_column_is_refused():
    r = run([TRACER, "top", "-b", "-n", "1", "--sort", "nothing"])
    equal(r.rc, 2, "exit code")
    contains(r.err, "CPU%", "what there is")


if __name__ == "__main__":
    main()
