#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench and report as a person types them: what is stored, what breaks it off, exit codes."""
import json
import os
import re
import signal
import sqlite3
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, PIPE, TRACER, check, contains, equal, main, need, run, scratch, start,
                     test, wait_for)
from reports import bench, report


def rows(store, query, *args):
    db = sqlite3.connect(store)
    try:
        return db.execute(query, args).fetchall()
    finally:
        db.close()


def runs_in(store):
    return rows(store, "SELECT count(*) FROM run")[0][0]


def hyperfine(path, seconds):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"results": [{"command": "app", "mean": sum(seconds) / len(seconds),
                                "stddev": 0.1, "median": sorted(seconds)[len(seconds) // 2],
                                "user": 0.1, "system": 0.1, "min": min(seconds),
                                "max": max(seconds), "times": seconds,
                                "exit_codes": [0] * len(seconds)}]}, f)


@test
def what_a_bench_prints_and_stores():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        r = bench(store, "--mode", "times", "-n", "3", "-w", "2", "-l", "nap", "--", "sleep",
                  "0.05")
        contains(r.out, "3 runs of sleep 0.05", "head")
        check(re.search(r"^  time\.wall +\d+(\.\d+)? ms", r.out, re.M), f"wall time:\n{r.out}")
        contains(r.out, "stored as nap", "foot")
        equal(r.err, "", "stderr")
        equal(rows(store, "SELECT warmup, count(*) FROM run GROUP BY warmup"), [(0, 3), (1, 2)],
              "runs and warm-ups")
        equal(rows(store, "SELECT label, argv, source FROM bench"),
              [("nap", '["sleep", "0.05"]', "bench")], "the bench")
        equal(oct(os.stat(store).st_mode & 0o777), "0o600", "mode of the store")
        (wall,) = rows(store, "SELECT min(value) FROM value JOIN metric ON metric.key = metric "
                       "WHERE name = 'time.wall'")
        check(wall[0] >= 50e6, f"it cannot have slept for {wall[0]} ns")


def described(o, page="bench-json.md"):
    """Each name of the object stands in its page."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "formats", page),
              encoding="utf-8") as f:
        words = set(re.findall(r"`([a-z_]+)`", f.read()))

    def names(v):
        if isinstance(v, list):
            return set().union(*map(names, v))
        if not isinstance(v, dict):
            return set()
        return set(v) | set().union(*(names(x) for k, x in v.items() if k != "values"))
    equal(names(o) - words, set(), f"names that {page} does not have")


@test
def its_json():
    with scratch() as d:
        r = bench(os.path.join(d, "runs.db"), "--mode", "times", "-n", "2", "--json", "--",
                  "sh", "-c", "exit 0")
        o = json.loads(r.out)
        equal((o["schema"], o["command"], len(o["runs"])),
              ("tracer.bench/1", ["sh", "-c", "exit 0"], 2), "JSON")
        described(o)
        names = {m["name"] for m in o["metrics"]}
        check({"time.wall", "mem.page_faults"} <= names, f"metrics: {names}")
        equal({frozenset(r["values"]) for r in o["runs"]}, {frozenset(names)}, "values of each run")


@test
def the_commit_is_known():
    need("git")
    with scratch() as d:
        def git(*args):
            return run(["git", "-C", d, "-c", "user.name=t", "-c", "user.email=t@t", *args]).ok()
        git("init", "-q")
        with open(os.path.join(d, "f"), "w", encoding="ascii") as f:
            f.write("1\n")
        git("add", "f")
        git("commit", "-qm", "one")
        head = git("rev-parse", "HEAD").out.strip()
        bench("runs.db", "--mode", "times", "-n", "1", "--", "true", cwd=d)
        with open(os.path.join(d, "f"), "w", encoding="ascii") as f:
            f.write("2\n")
        bench("runs.db", "--mode", "times", "-n", "1", "--", "true", cwd=d)
        equal(rows(os.path.join(d, "runs.db"),
                   "SELECT git_commit, git_dirty FROM bench ORDER BY key"),
              [(head, 0), (head, 1)], "commits")


@test
def commands_around_the_runs():
    with scratch() as d:
        log = os.path.join(d, "log")
        bench(os.path.join(d, "runs.db"), "--mode", "times", "-n", "2", "-s", f"echo s >>{log}",
              "-p", f"echo p >>{log}", "-c", f"echo c >>{log}", "--", "sh", "-c", f"echo r >>{log}")
        with open(log, encoding="ascii") as f:
            equal(f.read().split(), ["s", "p", "r", "p", "r", "c"], "order")
        r = bench(os.path.join(d, "runs.db"), "-p", "exit 3", "--", "true", rc=2)
        contains(r.err, "--prepare: the command failed (exit 3)", "message")


@test
def a_command_that_fails():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        r = bench(store, "--mode", "times", "--", "sh", "-c", "exit 7", rc=2)
        contains(r.err, "'sh' failed (exit 7)", "message")
        contains(r.err, "-i", "next step")
        equal(runs_in(store), 0, "runs")
        bench(store, "--mode", "times", "-i", "-n", "2", "--", "sh", "-c", "kill -9 $$")
        equal(rows(store, "SELECT exit_code, signal FROM run"), [(0, 9)] * 2, "ends")
        r = bench(store, "--", "/no/such/command", rc=2)
        contains(r.err, "/no/such/command", "message")
        # One that never ran is none.
        equal(rows(store, "SELECT count(*) FROM bench"), [(1,)], "benches")


@test
def output_of_the_command():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        r = bench(store, "--mode", "times", "-n", "1", "--", "sh", "-c", "echo; echo heard; cat",
                  data=b"read\n")
        check("\nheard\n" not in r.out, "nothing of it is shown")
        r = bench(store, "--mode", "times", "-n", "1", "--show-output", "--", "sh", "-c",
                  "echo heard; cat", data=b"read\n")
        contains(r.out, "heard\nread\n", "its output")


@test
def sigkill_loses_no_finished_run():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        log = os.path.join(d, "log")
        for _ in range(5):
            p = start([TRACER, "bench", "-q", "--store", store, "--mode", "times", "-n", "1000",
                       "-p", f"echo begun >>{log}", "--", "true"], stdout=DEVNULL)
            before = runs_in(store) if os.path.exists(store) else 0
            wait_for("some runs", lambda b=before: os.path.exists(store) and
                     runs_in(store) >= b + 3)
            p.send_signal(signal.SIGKILL)
            p.wait()
        with open(log, encoding="ascii") as f:
            begun = len(f.read().split())
        # Of each bench the last that was prepared may not have ended.
        check(begun - 10 <= runs_in(store) <= begun, f"{runs_in(store)} of {begun} runs are there")
        equal(rows(store, "PRAGMA integrity_check"), [("ok",)], "the store")


@test
def ctrl_c_keeps_what_was_over():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        p = start([TRACER, "bench", "--store", store, "--mode", "times", "-n", "100", "-c",
                   f"echo over >{d}/over", "--", "sleep", "0.2"], stdout=DEVNULL, stderr=PIPE,
                  start_new_session=True)
        wait_for("two runs", lambda: os.path.exists(store) and runs_in(store) >= 2)
        os.killpg(p.pid, signal.SIGINT)
        err = p.stderr.read().decode()
        equal(p.wait(5), 130, "exit code")
        n = runs_in(store)
        contains(err, f"ended early: {n} runs are stored", "message")
        check(2 <= n < 100, f"{n} runs")
        check(os.path.exists(f"{d}/over"), "the clean-up was made")


@test
def two_at_once():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        both = [start([TRACER, "bench", "-q", "--store", store, "--mode", "times", "-n", "30", "-l",
                       name, "--", "true"], stdout=DEVNULL) for name in ("one", "two")]
        equal([p.wait(30) for p in both], [0, 0], "exit codes")
        equal(rows(store, "SELECT label, count(*) FROM run JOIN bench ON bench.key = bench "
                   "GROUP BY label"), [("one", 30), ("two", 30)], "runs")


@test
def a_store_that_is_none():
    with scratch() as d:
        bad = os.path.join(d, "bad.db")
        with open(bad, "w", encoding="ascii") as f:
            f.write("this is a text\n" * 100)
        for args in (["bench", "--store", bad, "--", "true"], ["report", "--store", bad, "a", "b"]):
            r = run([TRACER, *args])
            equal(r.rc, 2, "exit code")
            contains(r.err, bad, "it names the file")
        with open(bad, encoding="ascii") as f:
            equal(f.read(), "this is a text\n" * 100, "the file")
        r = run([TRACER, "report", "--store", os.path.join(d, "none.db"), "a", "b"])
        equal(r.rc, 2, "exit code")
        contains(r.err, "none.db", "it names the file")
        check(not os.path.exists(os.path.join(d, "none.db")), "report makes no store")


@test
def a_newer_store():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        bench(store, "--mode", "times", "-n", "1", "--", "true")
        db = sqlite3.connect(store)
        db.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
        db.commit()
        db.close()
        for args in (["bench", "--store", store, "--", "true"],
                     ["report", "--store", store, "a", "b"]):
            r = run([TRACER, *args])
            equal(r.rc, 2, "exit code")
            contains(r.err, "has version 99", "message")


@test
def exit_codes_are_the_same_in_every_format():
    with scratch() as d:
        fast = os.path.join(d, "fast.json")
        slow = os.path.join(d, "slow.json")
        wild = os.path.join(d, "wild.json")
        hyperfine(fast, [1 + i * 0.001 for i in range(10)])
        hyperfine(slow, [1.2 + i * 0.001 for i in range(10)])
        hyperfine(wild, [1, 1.3, 0.8, 1.5, 0.9, 1.2, 1.4, 0.85, 1.1, 0.95])
        for fmt in ("text", "json", "html", "markdown", "junit"):
            one = ["--format", fmt]
            report(None, *one, fast, slow, rc=1)
            report(None, *one, fast, fast, rc=0)
            report(None, *one, slow, fast, rc=0)
            report(None, *one, fast, wild, rc=0)
            report(None, *one, "--strict", fast, wild, rc=3)
        o = json.loads(report(None, "--json", fast, wild, rc=0).out)
        equal(o["verdict"], "inconclusive", "verdict")
        check(max(m["runs_needed"] or 0 for m in o["metrics"]) > 10, "runs needed")
        # Where a hundred thousand runs would be needed no number is told.
        hyperfine(wild, [1, 3, 0.2, 5, 0.7, 2, 9, 0.1, 4, 1.5])
        o = json.loads(report(None, "--json", fast, wild, rc=0).out)
        equal((o["verdict"], o["runs_needed"]), ("inconclusive", None), "past all help")


@test
def junit_is_what_ci_reads():
    with scratch() as d:
        fast = os.path.join(d, "fast.json")
        slow = os.path.join(d, "slow.json")
        hyperfine(fast, [1 + i * 0.001 for i in range(10)])
        hyperfine(slow, [1.2 + i * 0.001 for i in range(10)])
        r = report(None, "--format", "junit", fast, slow, rc=1)
        suite = xml.fromstring(r.out)
        suite = suite if suite.tag == "testsuite" else suite.find("testsuite")
        failed = [c.get("name") for c in suite.iter("testcase") if c.find("failure") is not None]
        equal(failed, ["time.wall"], "failed cases")
        equal(suite.get("failures"), "1", "failures")


@test
def labels_and_what_came_before():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        # The second is dearer in all that is measured, so that no noise makes it better.
        for script in ("sleep 0.01", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; sleep 0.2"):
            bench(store, "--mode", "times", "-n", "8", "-l", "nap", "--", "sh", "-c", script)
        r = report(store, "nap~1", "nap", rc=1)
        contains(r.out, "time.wall", "what got worse")
        report(store, "nap", "nap~1", rc=0)
        r = report(store, "nap~2", "nap", rc=2)
        contains(r.err, "nap~2", "message")
        contains(r.err, "--list", "next step")
        contains(report(store, "--list").out, "nap", "labels")
        equal(len(report(store, "--list", "-l", "nap").out.splitlines()), 3, "benches")
        ident = rows(store, "SELECT id FROM bench ORDER BY when_ns")
        report(store, ident[0][0][:8], ident[1][0][:8], rc=1)
        r = report(store, "--forget", "-l", "nap")
        contains(r.out, "2 benches", "forgotten")
        report(store, "nap", "nap", rc=2)


@test
def history_and_its_change():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        level = [1.0] * 12 + [1.3] * 12
        for i, wall in enumerate(level):
            f = os.path.join(d, "h.json")
            hyperfine(f, [wall + 0.001 * ((i * 7 + k * 3) % 5) for k in range(5)])
            os.utime(f, (1700000000 + i * 86400,) * 2)
            report(store, "--import", f, "-l", "app")
        r = report(store, "--history", "time.wall", "-l", "app")
        equal(len(re.findall(r"<- \+\d", r.out)), 1, f"changes:\n{r.out}")
        o = json.loads(report(store, "--history", "time.wall", "-l", "app", "--json").out)
        equal(len(o["benches"]), 24, "benches")
        described(o)
        for more in ([], ["-l", "app"]):
            described(json.loads(report(store, "--list", "--json", *more).out))
        equal([o["benches"][12]["id"]], [c["id"] for c in o["changes"]], "where it changed")
        r = report(store, "--history", "no.such", "-l", "app", rc=2)
        contains(r.err, "no.such", "message")


@test
def wrong_lines():
    for args, words in (
            (["bench"], "no command is given"),
            (["bench", "-n", "0", "--", "true"], "--runs"),
            (["bench", "--vs-label", "x", "--", "true"], "--vs-label is for --vs"),
            (["bench", "--vs", "a | b", "--", "true"], "'|' means something to a shell"),
            (["bench", "--vs", "'open", "--", "true"], "is not closed"),
            (["bench", "--vs", " ", "--", "true"], "there is no command"),
            (["report"], "no sides are given"),
            (["report", "a"], "only one side is given"),
            (["report", "a", "b", "c"], "two sides are compared"),
            (["report", "--history", "time.wall"], "--label"),
            (["report", "--list", "a"], "one too many"),
            (["report", "--json", "--format", "html", "a", "b"], "exclude each other"),
    ):
        r = run([TRACER, *args])
        equal(r.rc, 2, f"exit code of {args}")
        contains(r.err, words, f"message of {args}")


if __name__ == "__main__":
    main()
