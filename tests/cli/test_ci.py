#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The script of docs/ci.md, as a job would run it."""
import os
import re
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import TRACER, check, contains, equal, main, run, scratch, test

DOC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "ci.md")


def script():
    with open(DOC, encoding="utf-8") as f:
        return re.search(r"<!-- test_ci.py runs this script -->\n```sh\n(.*?)```", f.read(),
                         re.S)[1]


def job(d, app, label):
    env = dict(os.environ, PATH=os.path.dirname(TRACER) + ":" + os.environ["PATH"], APP=app,
               LABEL=label, STORE=os.path.join(d, "runs.db"))
    return run(["sh", "-c", script()], cwd=d, env=env)


@test
def the_script_of_the_page():
    with scratch() as d:
        store = os.path.join(d, "runs.db")
        bench = [TRACER, "bench", "-q", "-n", "10", "-w", "1", "--store", store]
        run(bench + ["-l", "main", "--", "sleep", "0.01"]).ok()
        r = job(d, "sleep 0.4", "slow")
        with open(os.path.join(d, "report.md"), encoding="utf-8") as f:
            report = f.read()
        equal(r.rc, 1, f"exit code of a slower program:\n{r.out}{r.err}{report}")
        contains(r.out, "worse: see report.md", "its words")
        contains(report, "time.wall", "report.md")
        contains(report, "the sides did not take turns", "report.md")
        suite = xml.parse(os.path.join(d, "report.xml")).getroot()
        failed = [c.get("name") for c in suite.iter("testcase") if c.find("failure") is not None]
        check("time.wall" in failed, f"failed cases: {failed}\n{report}")
        # Dearer in all that is measured: no noise of the machine makes the other worse.
        run(bench + ["-l", "main", "--", "sh", "-c",
                     "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; sleep 0.2"]).ok()
        r = job(d, "sleep 0.1", "fast")
        with open(os.path.join(d, "report.md"), encoding="utf-8") as f:
            report = f.read()
        equal(r.rc, 0, f"exit code of a faster program:\n{r.out}{r.err}{report}")
        r = job(d, "/no/such/program", "none")
        equal(r.rc, 2, f"exit code without a program:\n{r.out}{r.err}")
        # A branch's name has slashes, and one that was broken off is no baseline.
        r = job(d, "sleep 0.1", "feature/fast.txt")
        equal(r.rc, 0, f"exit code of a branch:\n{r.out}{r.err}")
        run(bench + ["-l", "main", "--", "sh", "-c", f"echo >>{d}/n; test $(wc -l <{d}/n) -lt 4"])
        r = job(d, "sleep 0.5", "slower")
        equal(r.rc, 1, f"exit code against the last whole one:\n{r.out}{r.err}")
        run(bench + ["--mode", "times", "-l", "timed", "--", "sleep", "0.2"]).ok()
        r = run([TRACER, "report", "--store", store, "main", "timed"])
        contains(r.out, "mode, and what it costs the program: exact, and now times", "report")


if __name__ == "__main__":
    main()
