#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench and report where the store is a full disk, or a team's database."""
import glob
import json
import os
import pwd
import subprocess
import sys
import time
from contextlib import contextmanager

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, TRACER, Skip, check, contains, equal, main, run, scratch, test,
                     wait_for, workload)
from reports import bench_times as bench, report


@contextmanager
def small_disk(size):
    with scratch() as d:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "small", d],
                          stderr=DEVNULL, check=False).returncode:
            raise Skip("no file system may be mounted here")
        try:
            yield d
        finally:
            subprocess.run(["umount", "-l", d], check=False)


@test
def a_full_disk():
    with small_disk("1m") as d:
        store = os.path.join(d, "runs.db")
        bench(store, "-q", "-n", "3", "-l", "before", "--", "true")
        with open(os.path.join(d, "ballast"), "wb") as f:
            try:
                f.write(bytes(2 << 20))
            except OSError:
                pass
        r = bench(store, "-q", "-n", "50", "-l", "full", "--", "true", rc=2)
        contains(r.err, "no space left on device", "what is wrong")
        contains(r.err, store, "where")
        # What is read needs no room; what was stored is there.
        contains(report(store, "--list").out, "before", "the benches")
        os.remove(os.path.join(d, "ballast"))
        bench(store, "-q", "-n", "3", "-l", "after", "--", "true")
        o = json.loads(report(store, "--list", "--json", "--label", "before").out)
        equal([b["runs"] for b in o["benches"]], [3], "runs of before")
        # A report that has no room leaves no half of one as if it were whole.
        with open(os.path.join(d, "ballast"), "wb") as f:
            try:
                f.write(bytes(2 << 20))
            except OSError:
                pass
        r = report(store, "--format", "html", "-o", os.path.join(d, "page.html"), "before",
                   "after", rc=2)
        contains(r.err, "no space left on device", "what is wrong with the page")
        contains(r.err, "page.html", "which file")


def server_programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not found:
        raise Skip("PostgreSQL is not installed (make deps-long)")
    return found[-1]


@contextmanager
def server():
    """A PostgreSQL of the test's own on a socket of its own: its URL."""
    programs = server_programs()
    with scratch() as d:
        who = pwd.getpwnam("postgres" if "postgres" in [p.pw_name for p in pwd.getpwall()]
                           else "nobody")
        os.chmod(d, 0o711)
        home = os.path.join(d, "pg")
        os.mkdir(home)
        os.chown(home, who.pw_uid, who.pw_gid)
        own = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": [], "cwd": home,
               "stdin": DEVNULL, "stdout": DEVNULL}
        subprocess.run([f"{programs}/initdb", "-D", f"{home}/data", "-U", "team", "--auth=trust",
                        "--no-sync", "-E", "UTF8", "--locale=C"], check=True, stderr=DEVNULL,
                       **own)
        p = subprocess.Popen([f"{programs}/postgres", "-D", f"{home}/data", "-k", home, "-c",
                              "listen_addresses=", "-c", "fsync=off"], stderr=DEVNULL, **own)
        try:
            url = f"postgresql://team@/postgres?host={home}"
            wait_for("the server", lambda: run([TRACER, "bench", "-q", "--mode", "times", "-n",
                                                "1", "--store", url, "--", "true"]).rc == 0, 20)
            yield url, p
        finally:
            p.terminate()
            p.wait()


@test(timeout=120)
def the_store_of_a_team():
    with server() as (url, p):
        bench(url, "-q", "-n", "3", "-l", "old", "--", workload("futex_items"), "101", "0")
        run([TRACER, "bench", "-q", "-n", "3", "--store", url, "-l", "exact", "--",
             workload("futex_items"), "101", "1"]).ok()
        labels = json.loads(report(url, "--list", "--json").out)["labels"]
        equal({row["label"]: row["benches"] for row in labels},
              {"": 1, "old": 1, "exact": 1}, "labels")
        o = json.loads(report(url, "--json", "exact", "exact").out)
        equal(o["verdict"] in ("same", "inconclusive"), True, "a side against itself")
        names = {m["name"]: m["base"] for m in o["metrics"]}
        check("futex.wake" in names, f"metrics: {sorted(names)}")
        both = [subprocess.Popen([TRACER, "bench", "-q", "--mode", "times", "-n", "20", "--store",
                                  url, "-l", f"both{i}", "--", "true"], stdout=DEVNULL)
                for i in range(2)]
        equal([b.wait(60) for b in both], [0, 0], "two at once")
        report(url, "--forget", "--label", "both0")
        labels = json.loads(report(url, "--list", "--json").out)["labels"]
        check("both0" not in [row["label"] for row in labels], f"labels: {labels}")
        p.terminate()
        p.wait()
        start = time.monotonic()
        r = report(url, "--list", rc=2)
        check(time.monotonic() - start < 20, "it waits for a server that is gone")
        contains(r.err, "postgresql://team@", "which store")


if __name__ == "__main__":
    main()
