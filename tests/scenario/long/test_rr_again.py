#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ten replays of each recording, also of programs that lose their turn every millisecond, and
real servers and compilers."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from harness import (DEVNULL, PIPE, TRACER, equal, finish, main, need, run, scratch, start, test,
                     workload)
from recordings import quantum, replay, same

TIMES = 10
RACES = (("race", "20"), ("registers", "30"), ("flag", "20"), ("spinlock", "5"), ("alarm", "0"),
         ("prof", "0"))


def all_of_them():
    for kind in run([workload("rr_kinds")]).ok().out.split():
        same(workload("rr_kinds"), kind, times=TIMES)
    for mode, millions in RACES:
        same(workload("rr_points"), mode, millions, times=TIMES)


@test(timeout=600)
def ten_times():
    all_of_them()


@test(timeout=600)
def with_a_quantum_of_a_millisecond():
    with quantum(1):
        all_of_them()


@test(timeout=600)
def tools_with_a_quantum_of_a_millisecond():
    need("xz")
    with scratch() as d, quantum(1):
        path = os.path.join(d, "data")
        with open(path, "wb") as f:
            for i in range(400000):
                f.write(b"%d %x\n" % (i * i, i * 7919))
        same("xz", "-T4", "--block-size=1MiB", "-c", "-1", path, times=TIMES, text=False)
        same("/usr/bin/python3", "-c",
             "import threading\nn = 0\ndef f():\n    global n\n    for i in range(200000): n += 1\n"
             "t = [threading.Thread(target=f) for i in range(4)]\n"
             "[x.start() for x in t]\n[x.join() for x in t]\nprint(n)", times=TIMES)


@test(timeout=600)
def a_server_and_its_client():
    need("redis-server", "redis-cli")
    with scratch() as d:
        sock = os.path.join(d, "sock")
        p = start([TRACER, "record", "-q", "-o", os.path.join(d, "rec"), "--", "redis-server",
                   "--port", "0", "--unixsocket", sock, "--save", "", "--dir", d],
                  stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
        end = time.monotonic() + 20
        while not os.path.exists(sock) and time.monotonic() < end:
            time.sleep(0.05)
        for i in range(200):
            run(["redis-cli", "-s", sock, "set", f"k{i}", str(i)]).ok()
        equal(run(["redis-cli", "-s", sock, "dbsize"]).ok().out.strip(), "200", "keys")
        run(["redis-cli", "-s", sock, "shutdown"])
        was = finish(p)
        equal(was.rc, 0, was.err)
        for _ in range(TIMES):
            r = replay(d)
            equal((r.rc, r.out), (0, was.out), r.err)


@test(timeout=600)
def compilers_and_runtimes():
    need("gcc", "git", "node")
    with scratch() as d:
        src = os.path.join(d, "a.c")
        with open(src, "w", encoding="ascii") as f:
            f.write("#include <stdio.h>\nint main(void) { return puts(\"x\") < 0; }\n")
        same("gcc", "-O2", "-flto", src, "-o", os.path.join(d, "a"), times=TIMES)
        script = os.path.join(d, "w.js")
        with open(script, "w", encoding="ascii") as f:
            f.write("const w = require('worker_threads');\n"
                    "if (w.isMainThread) for (let i = 0; i < 3; i++)\n"
                    "  new w.Worker(__filename).on('message', (m) => console.log(m));\n"
                    "else w.parentPort.postMessage(Math.random());\n")
        same("node", script, times=TIMES)
        run(["git", "init", "-q", os.path.join(d, "r")]).ok()
        run(["git", "-C", os.path.join(d, "r"), "-c", "user.name=a", "-c", "user.email=a@b",
             "commit", "-q", "--allow-empty", "-m", "x"]).ok()
        for i in range(TIMES):
            same("git", "clone", "-q", os.path.join(d, "r"), os.path.join(d, f"c{i}"))


if __name__ == "__main__":
    main()
