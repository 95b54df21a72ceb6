#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Findings on real traces: each rule's trigger and near miss, and healthy programs."""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (ROOT, TRACER, check, contains, equal, main, run, scratch, test, trace,
                     trace_work, workload)

# A load beside the test takes CPUs from the traced program, and these rules see
# just that; their near misses get another chance.
OPTS = {"stuck-lock": ("-d", "1")}  # found in threads that still sleep when the trace ends
BY_LOAD = {"cpu-starved", "slow-wakeup"}
CHANCES = 3


def rules():
    """The ids in the rule table, in its order."""
    with open(os.path.join(ROOT, "user/report/rules.c"), encoding="utf-8") as f:
        return re.findall(r'\.id = "([a-z-]+)"', f.read())


def program(rule):
    return "diag_" + rule.replace("-", "_")


def findings(rule, which):
    """{id: finding} of one run, after a look at the form of each."""
    s = trace_work(program(rule), which, opts=OPTS.get(rule, ())).json
    for f in s["findings"]:
        check(re.fullmatch(r"[a-z-]+", f["id"]), f"id of {f}")
        check(f["text"] and f["advice"], f"words of {f}")
        check(f["evidence"], f"evidence of {f}")
        for name, value in f["evidence"].items():
            check(isinstance(value, (int, float)), f"{f['id']}: {name} is {value!r}")
    costs = [f["severity"] for f in s["findings"]]
    equal(costs, sorted(costs, reverse=True), "findings by severity")
    return {f["id"]: f for f in s["findings"]}


def found(rule):
    f = findings(rule, "trigger")
    check(rule in f, f"{rule} is not found where it is made: {[x['text'] for x in f.values()]}")


def not_found(rule):
    for _ in range(CHANCES if rule in BY_LOAD else 1):
        f = findings(rule, "nearmiss")
        if rule not in f:
            return
    check(False, f"{rule} is found where it is not: {f[rule]}")


def add_tests():
    """Two tests a rule, named by it."""
    for rule in rules():
        for word, fn in (("found", found), ("not_found", not_found)):
            def body(fn=fn, rule=rule):
                fn(rule)
            body.__name__ = f"{word}_{rule.replace('-', '_')}"
            test(timeout=120)(body)


@test(root=False)
def every_rule_has_a_program_and_a_page():
    with open(os.path.join(ROOT, "docs/findings.md"), encoding="utf-8") as f:
        sections = re.findall(r"^## (\S+)$", f.read(), re.M)
    with open(os.path.join(ROOT, "tests/workloads/DIAGNOSE.md"), encoding="utf-8") as f:
        listed = re.findall(r"^\| (diag_\w+) \|", f.read(), re.M)
    programs = glob.glob(os.path.join(ROOT, "tests/workloads/diag_*.c"))
    equal(sections, rules() + ["counts-incomplete"], "sections of docs/findings.md")
    equal(listed, [program(r) for r in rules()], "rows of DIAGNOSE.md")
    equal(sorted(os.path.basename(p)[:-2] for p in programs),
          sorted(program(r) for r in rules()), "programs")


@test
def the_contended_lock_is_named():
    f = findings("contended-lock", "trigger")["contended-lock"]
    contains(f["text"], "private lock contended", "the lock's symbol")
    contains(f["text"], "in fighter", "the function that takes it")
    equal(f["evidence"]["waiters"], 3, "waiters")


@test
def a_holder_that_sleeps_is_not_taken_for_preempted():
    for _ in range(CHANCES):
        f = findings("contended-lock", "asleep")["contended-lock"]
        check("fewer threads" not in f["advice"], f"of a CPU that is not wanted: {f['advice']}")
        if f["evidence"]["holder_asleep_part"] >= 0.4:
            break
    contains(f["advice"], "sleeps while it holds the lock", "the advice")
    contains(f["advice"], "in clock_nanosleep", "the call")


@test
def a_deadlock_is_found_in_a_process_that_hangs():
    w = subprocess.Popen([workload("deadlock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with w:
        w.stdout.readline()
        for mode in ("wait", "exact"):
            r = run([TRACER, "attach", "--mode", mode, "-d", "1", str(w.pid), "--json"]).ok()
            found = [f for f in json.loads(r.out)["findings"] if f["id"] == "stuck-lock"]
            equal(len(found), 2, f"{mode}: locks that are stuck")
            equal(sorted(re.search(r"private lock (\w+)", f["text"])[1] for f in found),
                  ["first", "second"], mode)
            for f in found:
                contains(f["text"], "since before the trace began", mode)
                equal(f["evidence"]["waiters"], 1, mode)
        w.stdin.close()


@test
def the_slow_stage_is_named():
    s = trace_work("diag_starved_reader", "trigger").json
    f = [x for x in s["findings"] if x["id"] == "starved-reader"][0]
    p = [x for x in s["pipes"] if x["inode"] == f["evidence"]["inode"]][0]
    equal([f["evidence"]["slow_tid"]], p["writers"], "the writer is the slow one")
    equal([f["evidence"]["held_tid"]], p["readers"], "the reader is held up")


@test
def findings_stand_above_the_tables():
    with scratch() as d:
        path = os.path.join(d, "summary.txt")
        run([TRACER, "run", "-o", path, "--", workload("diag_wasted_wakes"), "trigger"]).ok()
        with open(path, encoding="utf-8") as f:
            text = f.read()
    text = re.sub(r"\s+", " ", text)
    contains(text, "100,000 of 100,000 futex wakes (100 %) wake nobody", "the sentence")
    contains(text, "Count waiters next to the word", "the advice")
    check(text.index("wake nobody") < text.lower().index("system call"), "findings come first")


@test
def a_lossy_trace_withholds():
    """A ring far too small: what rests on its events is not claimed without a word."""
    s = trace_work("diag_short_lived_threads", "trigger", opts=("--ring", "4K")).json
    ids = {f["id"] for f in s["findings"]}
    lost = s["loss"]["total"] - s["loss"]["stacks"]
    if lost > 0.01 * s["threads"]["created"]:
        check("short-lived-threads" not in ids, f"claimed with {lost} events lost")
        check("counts-incomplete" in ids, f"nothing says that findings are withheld: {ids}")
    else:
        check("short-lived-threads" in ids, f"nothing is lost and nothing found: {ids}")


HEALTHY = [
    ["true"],
    ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done"],
    ["ls", "-lR", "/usr/include"],
    ["python3", "-c", "import json, threading; t = threading.Thread(); t.start(); t.join()"],
    ["sh", "-c", "seq 20000 | sort -n | uniq | wc -l"],
    ["find", "/usr/share/doc", "-name", "copyright"],
]


@test(timeout=180)
def healthy_programs_have_no_findings():
    for cmd in HEALTHY:
        ids = set()
        for _ in range(CHANCES):
            ids = {f["id"]: f["text"] for f in trace(cmd).json["findings"]}
            if not ids.keys() - BY_LOAD:
                break
        check(not ids.keys() - BY_LOAD, f"{cmd}: {ids}")


add_tests()

if __name__ == "__main__":
    main()
