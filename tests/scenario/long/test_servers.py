#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Servers and large inputs, for make check-long: minutes, and packages that may be missing."""
import contextlib
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from contract import check_summary
from harness import (DEVNULL, TRACER, Attach, Skip, call, calls, check, descendants, equal, kill,
                     lossless, main, near, need, run, scratch, start, strace_counts, test, trace,
                     wait_for)


def answers(port):
    return run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"]).rc == 0


@test(timeout=180)
def redis_under_its_benchmark():
    need("redis-server", "redis-benchmark")
    n = 20000
    with scratch() as d:
        server = start(["redis-server", "--port", "16379", "--bind", "127.0.0.1", "--save", "",
                        "--dir", d], stdout=DEVNULL, stderr=DEVNULL)
        wait_for("redis", lambda: answers(16379))
        a = Attach("--mode", "exact", str(server.pid))
        run(["redis-benchmark", "-p", "16379", "-n", str(n), "-c", "20", "-t", "get", "-q"],
            timeout=120).ok()
        s = a.stop().json
    check_summary(s, run=False)
    lossless(s)
    # Each request of a client without pipelining is one read and one write.
    near(call(s, "write")["calls"], n, 0.02, "write", 60)
    check(call(s, "read")["calls"] >= n, f"{call(s, 'read')['calls']} reads")
    check(call(s, "epoll_wait")["calls"] > 100, "epoll_wait")


@test(timeout=180)
def nginx_under_wrk():
    need("nginx", "wrk")
    with scratch() as d:
        os.chmod(d, 0o755)
        with open(f"{d}/index.html", "w", encoding="ascii") as f:
            f.write("hello\n")
        with open(f"{d}/conf", "w", encoding="ascii") as f:
            f.write(f"daemon off; pid {d}/pid; error_log {d}/err; worker_processes 2;\n"
                    "events {}\nhttp { access_log off; server { listen 127.0.0.1:18080; "
                    f"root {d}; }} }}\n")
        server = start(["nginx", "-c", f"{d}/conf"], stderr=DEVNULL)
        wait_for("nginx", lambda: answers(18080))
        a = Attach("--mode", "exact", "--comm", "^nginx$")
        r = run(["wrk", "-t1", "-c8", "-d3s", "http://127.0.0.1:18080/"], timeout=60).ok()
        s = a.stop().json
        server.terminate()
        server.wait(10)
    done = int(re.search(r"(\d+) requests in", r.out)[1])
    check_summary(s, run=False)
    lossless(s)
    near(call(s, "writev")["calls"], done, 0.02, "writev, one a request", 32)
    near(call(s, "openat")["calls"], done, 0.02, "openat, one a request", 32)


@test(timeout=600)
def sort_of_a_gigabyte():
    with scratch() as d:
        run(["bash", "-c", f"yes 'the same line of words, and a number' | head -c 1073741824 | "
             f"awk '{{ print (NR * 7919) % 1000003, $0 }}' | head -c 1073741824 >{d}/in"],
            timeout=240).ok()
        cmd = ["sort", "--parallel=2", "-S", "256M", "-T", d, "-o", f"{d}/out", f"{d}/in"]
        s = trace(cmd, timeout=300).json
        os.unlink(f"{d}/out")
        check_summary(s)
        lossless(s)
        want = strace_counts(cmd, timeout=300)
        os.unlink(f"{d}/out")
    for name in ("read", "write", "clone3"):
        near(calls(s)[name], want[name][0], 0.02, name)
    equal(s["threads"]["created"], calls(s)["clone3"], "threads.created")


@test(timeout=120)
def a_java_program():
    need("java")
    code = ("public class T { static int n; static final Object o = new Object();\n"
            "public static void main(String[] a) throws Exception {\n"
            " Thread[] t = new Thread[11];\n"
            " for (int i = 0; i < t.length; i++) { t[i] = new Thread(() -> { for (int k = 0; k < "
            "20000; k++) synchronized (o) { n++; } }); t[i].start(); }\n"
            " for (Thread x : t) x.join(); System.out.println(\"n=\" + n); } }\n")
    with scratch() as d:
        with open(f"{d}/T.java", "w", encoding="ascii") as f:
            f.write(code)
        if run(["javac", "-d", d, f"{d}/T.java"], timeout=60).rc:
            raise Skip("no working javac")
        r = trace(["java", "-Xshare:auto", "-cp", d, "T"], timeout=90)
    equal(r.said["n"], 11 * 20000, "the program itself")
    check_summary(r.json)
    lossless(r.json)
    equal(r.json["threads"]["created"], calls(r.json)["clone3"], "threads.created and clone3")
    check(r.json["threads"]["created"] >= 11, "its own threads at least")


@test(timeout=120)
def node_and_its_thread_pool():
    need("node")
    code = ("const c = require('crypto'); for (let i = 0; i < 8; i++) "
            "c.pbkdf2('a','b',20000,64,'sha512',()=>{});")
    s = trace(["node", "-e", code], timeout=90).json
    check_summary(s)
    lossless(s)
    made = calls(s).get("clone3", 0) + calls(s).get("clone", 0)
    equal(s["threads"]["created"], made, "threads.created and clone calls")
    check(s["futex"]["waits"] > 0, "the pool waits for work")


def tracers_anonymous_kib(pid):
    """Of the tracer and its children."""
    total = 0
    for p in descendants(pid):
        with contextlib.suppress(OSError), open(f"/proc/{p}/status", encoding="ascii") as f:
            total += int((re.search(r"RssAnon:\s+(\d+)", f.read()) or [0, 0])[1])
    return total


@test(timeout=240)
def an_hour_of_churn_in_a_minute():
    """Processes come and go while attached; nothing is lost, memory grows by their rows."""
    w = start(["bash", "-c", "while :; do for i in 1 2 3 4 5 6 7 8; do /bin/true & done; wait; "
               "sleep 0.03; done"])
    a = Attach("--mode", "exact", str(w.pid))
    seen = []
    for _ in range(500):
        time.sleep(0.1)
        seen.append(tracers_anonymous_kib(a.proc.pid))
    kill(w)
    s = a.stop().json
    check_summary(s, run=False)
    lossless(s)
    made = s["threads"]["processes_created"]
    check(made > 1000, f"only {made} processes came and went")
    check(min(seen) > 0, "the tracer's memory was not seen")
    # docs/benchmarks.md: 8 MB besides the maps, and then a row for each thread.
    check(max(seen[:50]) <= 8192, f"{max(seen[:50])} KiB of anonymous memory")
    growth = (max(seen[-50:]) - max(seen[:50])) * 1024 / made
    check(growth < 1024, f"memory grew by {growth:.0f} bytes for each of {made} processes")


@test(timeout=240)
def a_compile_of_a_real_project():
    """The tracer's own unit of largest size, by make -j2 where a source tree is at hand."""
    need("make", "gcc")
    root = os.path.dirname(os.path.dirname(TRACER))
    with scratch() as d:
        run(["bash", "-c", f"cd {root} && tar cf - Makefile user include | tar xf - -C {d}"]).ok()
        objs = [f"build/obj/user/{p}.o" for p in ("base/buf", "base/map", "cli/opts", "cli/help")]
        cmd = ["make", "-s", "-j2", "-C", d, *objs]
        r = trace(cmd, timeout=200, rc=None)
        if r.rc:
            raise Skip(f"the tree does not build alone: {r.err[-200:]}")
        run(["rm", "-rf", f"{d}/build"])
        want = strace_counts(cmd, timeout=200)
    check_summary(r.json)
    lossless(r.json)
    equal(calls(r.json)["execve"], want["execve"][0], "execve")
    near(calls(r.json)["mmap"], want["mmap"][0], 0.02, "mmap")


if __name__ == "__main__":
    main()
