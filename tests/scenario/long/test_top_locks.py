#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lock that top shows first, of programs that others wrote, against gdb's name for it."""
import json
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from debugger import as_tracer_writes, gdb_names, gdb_stacks, place_in_file
from harness import (DEVNULL, PIPE, SLOW, TRACER, Skip, check, clean_env, contains, equal, main,
                     need, run, scratch, start, test, wait_for)
from screen import Screen

DELAY = f"{500 * SLOW}ms"


def top(pid, *opts):
    return run([TRACER, "top", "-d", DELAY, "-n", "3", "-p", str(pid), *opts]).ok().out


def first_lock(pid, names):
    """The first row, whose name must be one of that pattern and gdb's; so must all others be."""
    o = json.loads(top(pid, "--json", "--rows", "0").splitlines()[-1])
    locks = [l for l in o["locks"] if l["wait_ns"]["step"]][:12]
    check(locks, "nobody waits for a lock")
    theirs = gdb_names(pid, {l["addr"] for l in locks})
    for l in locks:
        equal(l["symbol"], as_tracer_writes(theirs[l["addr"]]), f"the lock at {l['addr']}")
        if l["module"]:
            equal(int(l["module_offset"], 16), place_in_file(pid, int(l["addr"], 16), l["module"]),
                  f"place of {l['addr']} in {l['module']}")
    first = locks[0]
    check(re.fullmatch(names, first["symbol"] or ""),
          f"the first of {[(l['symbol'], l['wait_ns']['step']) for l in locks]}")
    equal(os.path.realpath(first["module"]), os.readlink(f"/proc/{pid}/exe"), "its file")
    equal((first["tgid"], first["kind"]), (pid, "private"), "its process and kind")
    return first


def threads_of(pid):
    return set(map(int, os.listdir(f"/proc/{pid}/task")))


# ---- perl: a mutex that each localtime takes -----------------------------------

LOCALTIME = """
use threads;
sub work { for (my $i = 0; ; $i++) { my @t = localtime($i); } }
threads->create(\\&work) for 1 .. 4;
work();
"""


def perl_threads():
    need("gdb", "readelf", "perl")
    if run(["perl", "-Mthreads", "-e", "1"]).rc:
        raise Skip("this perl has no threads")
    p = start(["perl", "-e", LOCALTIME], stdout=DEVNULL)
    wait_for("its threads", lambda: len(threads_of(p.pid)) == 5)
    return p.pid


@test(timeout=120)
def a_mutex_of_perl():
    """A global of a program without a symbol table, by what it exports."""
    pid = perl_threads()
    first_lock(pid, "PL_env_mutex")
    last = top(pid, "--batch", "--tab", "locks").strip().split("\n\n")[-1].splitlines()
    head = next(i for i, text in enumerate(last) if text.split()[:1] == ["LOCK"])
    equal(last[head + 1].split()[:3], ["PL_env_mutex", str(pid), "perl"], "the table's first row")


@test(timeout=120)
def the_page_of_a_mutex_of_perl():
    """Who waits and who wakes are threads of it, and they wait where gdb sees them wait."""
    pid = perl_threads()
    s = Screen([TRACER, "top", "-d", "0.3", "-p", str(pid), "--tab", "locks"], columns=120,
               rows=160)
    s.see(r"^PL_env_mutex +%d perl " % pid, 20)
    s.keys("home", "enter")
    s.see(r"lock PL_env_mutex of perl \(%d\)" % pid)
    s.see(r"private lock, used as mutex, at 0x\w+ in \S*/perl$")
    s.see(r"Waiters now \([1-9]")
    s.see(r"Stacks that waited \([1-9]")
    # Both lists are there by now, and in one refresh.
    edges = s.until("wakers and waiters", lambda t: re.findall(
        r"^. perl \((\d+)\) +→ perl \((\d+)\) +\d+", t.all, re.M))
    check({int(t) for e in edges for t in e} <= threads_of(pid), f"threads {edges}")
    at = re.search(r"at (0x\w+) in", s.all)[1]
    equal(gdb_names(pid, [at])[at], ("PL_env_mutex", 0), "gdb's name of the address on the page")
    stacks = {tuple(f[i + 1:i + 4]) for f in gdb_stacks(pid).values()
              for i in range(len(f)) if f[i].endswith("pthread_mutex_lock")}
    check(stacks, "gdb saw nobody wait")
    shown = re.findall(r"^ {6}(\S+) ", s.all, re.M)
    for functions in stacks:
        runs = [tuple(shown[i + 1:i + 4]) for i in range(len(shown))
                if shown[i] == "pthread_mutex_lock"]
        check(functions in runs, f"{functions} is none of {set(runs)}")
    s.keys("q")
    equal(s.wait(), 0, "exit code")
    s.close()


# ---- python: the interpreter's lock, inside of a large object -------------------

SPIN = """
import threading
def spin():
    n = 0
    while True: n += 1
for _ in range(3): threading.Thread(target=spin).start()
spin()
"""


@test(timeout=120)
def the_interpreters_lock_of_python():
    need("gdb", "readelf")
    p = start(["/usr/bin/python3", "-c", SPIN])
    wait_for("its threads", lambda: len(threads_of(p.pid)) == 4)
    first_lock(p.pid, r"_PyRuntime\+0x[0-9a-f]+")


# ---- mariadbd: a condition variable in an object of C++ -------------------------

IDLE = 8


def mariadbd(d):
    os.mkdir(f"{d}/data")
    p = start(["mariadbd", "--no-defaults", "--user=root", "--skip-networking",
               "--skip-grant-tables", f"--datadir={d}/data", f"--socket={d}/socket",
               f"--pid-file={d}/pid", "--innodb-log-file-size=4M",
               "--innodb-buffer-pool-size=16M"], stdout=DEVNULL, stderr=DEVNULL)
    wait_for("the server", lambda: os.path.exists(f"{d}/pid"), 40)
    return p.pid


def come_and_go(path, n):
    """Connections, all open at once, each with a thread of the server."""
    all_of_them = []
    for _ in range(n):
        c = socket.socket(socket.AF_UNIX)
        c.connect(path)
        check(c.recv(4096), "the server greets")
        all_of_them.append(c)
    for c in all_of_them:
        c.close()


@test(timeout=120)
def idle_threads_of_mariadb():
    """Those whose clients have gone wait in thread_cache for others."""
    need("gdb", "readelf", "mariadbd")
    with scratch() as d:
        pid = mariadbd(d)
        come_and_go(f"{d}/socket", IDLE)
        l = first_lock(pid, r"thread_cache\+0x[0-9a-f]+")
        equal(l["waiting"], IDLE, "threads that wait there")


# ---- node: a static of libuv that no other file can name ------------------------

POOL = """
const { pbkdf2 } = require("crypto");
let n = 0;
for (let i = 0; i < 8; i++) pbkdf2("a", "b", 2000, 64, "sha512", () => ++n < 8 || console.log(n));
setInterval(() => {}, 1000);
"""


@test(timeout=120)
def the_idle_pool_of_node():
    need("gdb", "readelf", "node")
    if not re.search(r" OBJECT +LOCAL .* cond$", run(["readelf", "-sW", which_node()]).out, re.M):
        raise Skip("this node has no symbol table with libuv in it")
    # Without V8's own workers, whose lock is on the heap.
    p = start(["node", "--v8-pool-size=0", "-e", POOL], stdout=PIPE,
              env=clean_env(UV_THREADPOOL_SIZE=str(IDLE)))
    contains(p.stdout.readline().decode(), "8", "the pool has worked")
    l = first_lock(p.pid, r"cond\+0x[0-9a-f]+")
    equal(l["waiting"], IDLE, "threads that wait there")


def which_node():
    return os.path.realpath(run(["sh", "-c", "command -v node"]).out.strip())


if __name__ == "__main__":
    main()
