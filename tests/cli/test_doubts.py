#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What makes a comparison less than it seems is said, and no output costs anybody a file."""
import json
import os
import pwd
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import TRACER, check, contains, equal, main, run, scratch, test, workload
from reports import bench_times as bench, report

NOBODY = pwd.getpwnam("nobody")


@test
def runs_that_failed():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        bench(store, "-n", "3", "-l", "good", "--", "true")
        r = bench(store, "-n", "4", "-i", "-l", "bad", "--", "sh", "-c", "kill -SEGV $$")
        contains(r.out, "4 of them failed", "what bench says")
        r = report(store, "good", "bad")
        contains(r.out, "4 of the 4 runs of bad failed (signal 11)", "what report says")
        check("runs of good failed" not in r.out, f"a side without failures:\n{r.out}")


@test
def runs_that_are_missing():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        script = f"echo >>{d}/n; test $(wc -l <{d}/n) -lt 3"
        r = bench(store, "-n", "9", "-l", "cut", "--", "sh", "-c", script, rc=2)
        contains(r.err, "2 runs before it are stored", "what bench says")
        bench(store, "-n", "3", "-l", "whole", "--", "true")
        contains(report(store, "cut", "whole").out, "cut was broken off after 2 of 9 runs",
                 "what report says")
        contains(report(store, "--list", "-l", "cut").out, "  2/9  ", "what the list says")
        contains(report(store, "whole", "whole").out, "both sides are the same bench", "a twin")


@test
def events_that_were_lost():
    """More locks than the kernel's map holds: equal counts are no proof of anything."""
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        for label in ("a", "b"):
            r = run([TRACER, "bench", "--store", store, "-n", "3", "-l", label, "--",
                     workload("futex_addresses"), "40009"]).ok()
            contains(r.err, "events were lost in run 1", "what bench says")
        o = json.loads(report(store, "--json", "a", "b").out)
        equal(o["verdict"], "inconclusive", "verdict")
        check(any("its counts are too low" in s for s in o["differences"]),
              f"differences: {o['differences']}")
        same = [m["name"] for m in o["metrics"] if m["kind"] == "count"
                and m["verdict"] == "same"]
        equal(same, [], "counts that are claimed to be the same")


@test
def events_that_were_lost_in_one_run():
    """What most runs say holds: one that lost events is not all of them."""
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        script = (f"echo >>{d}/$1; n=9; test $(wc -l <{d}/$1) != 2 || n=40009; "
                  f"exec {workload('futex_addresses')} $n")
        for label in ("a", "b"):
            run([TRACER, "bench", "-q", "--store", store, "-n", "5", "-l", label, "--", "sh", "-c",
                 script, "sh", label]).ok()
        o = json.loads(report(store, "--json", "a", "b").out)
        check(any("in 1 of 5 runs" in s for s in o["differences"]),
              f"differences: {o['differences']}")
        equal([m["verdict"] for m in o["metrics"] if m["name"] == "syscall.execve"], ["same"],
              "a count of which nothing is missing")


@test
def a_damaged_summary_costs_its_parts_alone():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        for label in ("a", "b"):
            run([TRACER, "bench", "-q", "--store", store, "-n", "3", "-l", label, "--",
                 "true"]).ok()
        db = sqlite3.connect(store)
        db.execute("UPDATE detail SET zstd = CAST(substr(zstd, 1, 40) || x'ffffffff' || "
                   "substr(zstd, 45) AS BLOB)")
        db.commit()
        db.close()
        contains(report(store, "a", "b").out, "has no parts to compare", "what report says")


@test
def what_is_written_to():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        out = os.path.join(d, "page.html")
        bench(store, "-q", "-n", "3", "-l", "a", "--", "true")
        report(store, "--format", "html", "-o", out, "a", "a")
        with open(out, encoding="utf-8") as f:
            page = f.read()
        report(store, "--format", "html", "-o", out, "nosuch", "a", rc=2)
        with open(out, encoding="utf-8") as f:
            equal(f.read() == page, True, "the page of before is as it was")
        for args in (("-o", store, "a", "a"), ("--list", "-o", store)):
            contains(report(store, *args, rc=2).err, "would overwrite what is read", "an input")
        r = bench(store, "-q", "-n", "1", "-o", store, "--", "true", rc=2)
        contains(r.err, "is the store", "the store as output")
        r = bench(store, "-q", "-n", "1", "-o", "/nonexistent/x", "--", "touch",
                  os.path.join(d, "ran"), rc=2)
        contains(r.err, "/nonexistent/x", "which file")
        check(not os.path.exists(os.path.join(d, "ran")), "the command was run before it was told")
        bench(store, "-q", "-n", "1", "-l", "\udcff", "--", "touch", os.path.join(d, "ran"), rc=2)
        check(not os.path.exists(os.path.join(d, "ran")), "it was run under a bad label")
        equal(report(store, "--list", "--json").rc, 0, "the store")


@test
def benches_without_a_label():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        r = bench(store, "-n", "2", "--", "true")
        contains(r.out, f"tracer report --store {store} ", "a next step that works")
        bench(store, "-q", "-n", "2", "-l", "-", "--", "true", rc=2)
        contains(report(store, "--list", "-l", "-").out, "true", "its list")
        contains(report(store, "--forget", "-l", "-").out, "1 bench", "it is gone")
        contains(report(store, "--forget", "-l", "nosuch", rc=2).err, "nosuch", "a typing error")
        report(store, "--list", "-l", "nosuch", rc=2)


def sudo_of(user):
    return dict(os.environ, SUDO_UID=str(user.pw_uid), SUDO_GID=str(user.pw_gid),
                SUDO_USER=user.pw_name)


@test
def sudo_makes_no_file_of_root():
    """Who may run report by sudo, and nothing else, can write and read what is his."""
    with scratch() as d:
        os.chmod(d, 0o711)
        his = os.path.join(d, "his")
        os.mkdir(his)
        os.chown(his, NOBODY.pw_uid, NOBODY.pw_gid)
        store = os.path.join(his, "runs.db")
        env = sudo_of(NOBODY)
        bench(store, "-q", "-n", "2", "-l", "x", "-o", os.path.join(his, "table"), "--", "true",
              env=env)
        for name in ("runs.db", "table"):
            equal(os.stat(os.path.join(his, name)).st_uid, NOBODY.pw_uid, f"owner of {name}")
        os.chmod(store, 0)
        for target in (os.path.join(d, "new"), os.path.join(d, "old")):
            if target.endswith("old"):
                with open(target, "w", encoding="ascii") as f:
                    f.write("root's\n")
                os.chmod(target, 0o600)
            r = report(store, "--format", "markdown", "-o", target, "x", "x", rc=2, env=env)
            contains(r.err, "permission denied", f"-o {target}")
        check(not os.path.exists(os.path.join(d, "new")), "a file in root's directory")
        secret = os.path.join(d, "secret.json")
        with open(secret, "w", encoding="ascii") as f:
            f.write('{"results": []}')
        os.chmod(secret, 0o600)
        contains(report(store, secret, "x", rc=2, env=env).err, "permission denied", "a side")
        report(os.path.join(d, "made.db"), "--import", os.path.join(his, "table"), rc=2, env=env)
        check(not os.path.exists(os.path.join(d, "made.db")), "a store in root's directory")


if __name__ == "__main__":
    main()
