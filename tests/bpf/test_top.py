#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""top --json of programs with known figures: threads, locks, pipes, calls, processes, ends."""
import json
import os
import queue
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, PIPE, SANITIZED, SLOW, TRACER, Failure, Skip, between, bpf_held,
                     cgroup, check, contains, descendants, equal, keys, main, near, need, run,
                     start, start_work, test, wait_for, wait_gone, workload)

DELAY = f"{200 * SLOW}ms"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
TABLES = ("threads", "locks", "pipes", "calls", "processes")


class Top:
    """tracer top --json of all rows; next() is the next refresh, .all are those so far."""
    def __init__(self, *args, delay=DELAY, rows=0, prefix=()):
        self.proc = start([*prefix, TRACER, "top", "--json", "--rows", str(rows), "-d", delay,
                           *args], stdout=PIPE, stderr=PIPE)
        self.all, self.lines = [], queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        """A top whose lines nobody reads would wait."""
        for text in self.proc.stdout:
            self.lines.put(text)
        self.lines.put(None)

    def next(self):
        text = self.lines.get()
        if text is None:
            raise Failure(f"top ended, exit {self.proc.wait(5)}: "
                          f"{self.proc.stderr.read().decode()[-800:]}")
        return self.take(text)

    def take(self, text):
        o = json.loads(text)
        equal(o["schema"], "tracer.top/1", "schema")
        self.all.append(o)
        return o

    def until(self, what, fn, most=40):
        """The first refresh of which fn is true, and what it said."""
        for _ in range(most):
            o = self.next()
            v = fn(o)
            if v:
                return o, v
        raise Failure(f"{most} refreshes without: {what}")

    def stop(self, sig=signal.SIGINT):
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        return self.end()

    def end(self):
        """Takes what comes until it ends, which must be well; the last refresh."""
        while (text := self.lines.get()) is not None:
            self.take(text)
        self.reader.join()
        said = self.proc.stderr.read().decode()
        equal((self.proc.wait(10), said), (0, ""), "exit code and stderr")
        return self.all[-1] if self.all else None


def line(p):
    text = p.stdout.readline().decode()
    check(text, "no line of the workload")
    return keys(text)


def tell(p):
    p.stdin.write(b"go\n")
    p.stdin.flush()
    return line(p)


def begun_by(command, *opts):
    """A Top on a shell that runs command when it has begun, and the shell."""
    w = start(["sh", "-c", f"read go; {command}"], stdin=PIPE, stdout=PIPE)
    t = Top(*opts, str(w.pid))
    t.next()
    w.stdin.close()
    return t, w


def row(rows, **want):
    found = [r for r in rows if all(r[k] == v for k, v in want.items())]
    equal(len(found), 1, f"rows with {want} of {len(rows)}")
    return found[0]


def last_of(objects, table, **want):
    """The row as it was shown last."""
    for o in reversed(objects):
        if maybe(o[table], **want):
            return row(o[table], **want)
    raise Failure(f"no {table} with {want} in {len(objects)} refreshes")


def maybe(rows, **want):
    return [r for r in rows if all(r[k] == v for k, v in want.items())]


def steps(objects, table, key, count, **want):
    """The sum of a count's steps over all refreshes; each one's total is the sum so far."""
    n = 0
    for o in objects:
        for r in maybe(o[table], **want):
            n += r[count]["step"]
            equal(r[count]["total"], n, f"{count} of {r[key]}: total against its steps so far")
    return n


def lossless(o):
    loss = o["loss"]
    equal(loss["total"] - loss["stacks"], 0, f"lost: {loss}")


def schedstat_ns(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


# ---- threads ----

@test
def a_busy_loop_has_the_cpu_that_proc_says():
    w = start([workload("getppid_loop"), "3000000000"], stdout=DEVNULL)
    for mode in ("wait", "exact"):
        t = Top("--mode", mode, str(w.pid))
        first, before, begin = t.next(), schedstat_ns(w.pid), time.monotonic_ns()
        for _ in range(4):
            last = t.next()
        # Lines may be read late, and each not equally so: shares of the time are compared.
        used = (schedstat_ns(w.pid) - before) / (time.monotonic_ns() - begin)
        r = row(last["threads"], tid=w.pid)
        got = r["cpu_ns"]["total"] - row(first["threads"], tid=w.pid)["cpu_ns"]["total"]
        near(got / (last["since_ns"] - first["since_ns"]), used, 0.1, f"{mode}: share of a CPU",
             0.05 * SLOW)
        check(got > 100000000, "it ran")
        for o in t.all[1:]:
            r = row(o["threads"], tid=w.pid)
            parts = sum(r[k]["step"] for k in ("cpu_ns", "runnable_ns", "blocked_ns"))
            near(parts, o["interval_ns"], 0.05, f"{mode}: the three parts of the time", 2000000)
        equal(row(last["processes"], tgid=w.pid)["cpu_ns"], r["cpu_ns"], "its process's")
        equal(last["cpu_ns"], r["cpu_ns"], "the machine's")
        t.stop()


@test
def five_thousand_threads():
    n = 5000
    w = start_work("many_threads", n, 11)
    said = line(w)
    t = Top("--mode", "exact", "--ring", "16M", str(said["pid"]))
    o = t.next()
    tids = set(map(int, os.listdir(f"/proc/{said['pid']}/task")))
    equal(o["rows"]["threads"], n + 1, "rows")
    equal({r["tid"] for r in o["threads"]}, tids, "thread ids")
    equal({r["state"] for r in o["threads"]}, {"wait"}, "states")
    equal({r["wait"] for r in o["threads"] if r["tid"] != said["pid"]}, {"futex"}, "waits")
    p = row(o["processes"], tgid=said["pid"])
    equal((p["threads"], p["blocked"], p["running"], p["runnable"]), (n + 1, n + 1, 0, 0),
          "the process's threads")
    equal(len({r["lock"] for r in o["threads"]} - {None}), n, "locks that threads wait for")
    equal(sum(l["waiting"] for l in o["locks"]), n, "waiting over all locks")
    equal(tell(w)["calls"], 11 * n, "the workload itself")
    w.stdin.close()
    o = t.end()
    lossless(o)
    equal(steps(t.all, "calls", "name", "calls", name="getppid"), 11 * n, "getppid")
    p = last_of(t.all, "processes", tgid=said["pid"])
    equal((p["threads"], p["ended"]["total"], p["born"]["total"]), (0, n + 1, 0), "all ended")
    equal(o["ended"]["total"], n + 1, "ended")
    check(p["calls"]["total"] >= 11 * n, f"calls of the process: {p['calls']}")


RENAMES = """
import sys, threading
e = threading.Event()
t = threading.Thread(target=e.wait)
t.start()
print(t.native_id, flush=True)
for line in sys.stdin:
    with open(f"/proc/self/task/{t.native_id}/comm", "w") as f:
        f.write(line.strip())
e.set()
"""


@test
def a_sleeping_thread_gets_another_name():
    w = start([sys.executable, "-c", RENAMES], stdin=PIPE, stdout=PIPE)
    tid = int(w.stdout.readline())
    t = Top(str(w.pid))
    t.next()
    t.next()
    for name in ("another", "fifteen-letters"):
        w.stdin.write(f"{name}\n".encode())
        w.stdin.flush()
        t.until(f"the name {name}", lambda o, name=name: maybe(o["threads"], tid=tid, comm=name),
                10)
    w.stdin.close()
    t.end()


@test
def stopped_and_continued():
    w = start([workload("getppid_loop"), "3000000000"], stdout=DEVNULL)
    t = Top(str(w.pid))
    t.next()
    os.kill(w.pid, signal.SIGSTOP)
    t.until("it waits", lambda o: maybe(o["threads"], tid=w.pid, state="wait"), 10)
    o = t.next()
    r = row(o["threads"], tid=w.pid)
    equal(r["cpu_ns"]["step"], 0, "CPU of a stopped thread")
    near(r["blocked_ns"]["step"], o["interval_ns"], 0.01, "its wait")
    equal(r["lock"], None, "lock")
    os.kill(w.pid, signal.SIGCONT)
    t.until("it runs", lambda o: row(o["threads"], tid=w.pid)["cpu_ns"]["step"], 10)
    t.stop()


LOW_ID = """
import os, sys, threading
e = threading.Event()
t = threading.Thread(target=e.wait)
with open("/proc/sys/kernel/ns_last_pid", "w") as f:
    f.write(str(os.getpid() // 2))
t.start()
open("/proc/self/comm", "w").write("low_id")
print(f"pid={os.getpid()} tid={t.native_id}", flush=True)
sys.stdin.read()
e.set()
"""


@test
def a_thread_has_a_lower_id_than_its_process():
    """As after ids have wrapped; the kernel tells of threads by their ids."""
    w = start([sys.executable, "-c", LOW_ID], stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    text = w.stdout.readline().decode()
    said = keys(text)
    if not text or said["tid"] > said["pid"]:
        raise Skip("this kernel's ids cannot be chosen")
    for opts in ([], ["--comm", "low_id|python"], [str(w.pid)]):
        t = Top(*opts)
        o = t.next()
        equal({r["tid"] for r in o["threads"] if r["tgid"] == w.pid}, {w.pid, said["tid"]},
              f"threads with {opts}")
        equal(row(o["processes"], tgid=w.pid)["threads"], 2, "of the process")
        t.stop()


@test
def a_pid_namespace_from_outside():
    w = start(["unshare", "-pf", "--mount-proc", workload("many_threads"), "5", "11"], stdin=PIPE,
              stdout=PIPE)
    equal(line(w)["pid"], 1, "the workload is pid 1 in its namespace")
    inner = [p for p in descendants(w.pid) if p != w.pid][0]
    t = Top("--mode", "exact", str(inner))
    o = t.next()
    equal({r["tid"] for r in o["threads"]}, set(map(int, os.listdir(f"/proc/{inner}/task"))),
          "ids are those of our namespace")
    equal({r["tgid"] for r in o["threads"]}, {inner}, "tgid")
    tell(w)
    t.next()
    o = t.next()
    equal(row(o["calls"], name="getppid")["calls"]["total"], 55, "getppid")
    t.stop()


@test
def inside_a_pid_namespace():
    script = f"{workload('many_threads')} 5 11 <&9 >/dev/null & exec {TRACER} top --json -n 1 " \
             f"-d {DELAY} $!"
    orders, w = os.pipe()
    with os.fdopen(w, "w"):
        r = run(["unshare", "-pf", "--mount-proc", "bash", "-c", f"exec 9<&{orders}; {script}"],
                pass_fds=(orders,)).ok()
        os.close(orders)
        o = json.loads(r.out)
    check(o["threads"] and all(1 < r["tid"] < 40 for r in o["threads"]),
          f"ids are the namespace's: {[r['tid'] for r in o['threads']]}")


# ---- locks ----

@test
def a_held_lock_is_named_and_its_waiters_counted():
    t, w = begun_by(f"exec {workload('mutex_contend')} 5 9 300000000")

    def held(o):
        return [l for l in o["locks"] if (l["symbol"] or "").startswith("contended_lock")
                and l["waiting"] == 4]
    o, (l,) = t.until("four that wait for contended_lock", held)
    equal((l["kind"], l["comm"], l["tgid"]), ("private", "mutex_contend", w.pid), "the lock")
    contains(l["module"], "mutex_contend", "module")
    waiters = maybe(o["threads"], lock=l["addr"], space=l["space"])
    equal([(r["state"], r["wait"]) for r in waiters], [("wait", "futex")] * 4, "waiters")
    check(max(r["state_ns"] for r in waiters) <= l["wait_ns"]["total"], "a wait that lasts counts")
    p = row(o["processes"], tgid=w.pid)
    equal((p["threads"], p["blocked"]), (6, 5), "threads, and those that wait: one joins")
    t.stop()


@test
def neither_tracer_nor_what_helps_it_is_shown():
    """It asks tracer-sym for names; a child that it has from a shell is another's."""
    t = Top(prefix=["sh", "-c", "sleep 1000 >/dev/null 2>&1 & exec \"$@\"", "sh"])
    w = start([workload("mutex_contend"), "5", "1000000", "3000000"], stdout=DEVNULL)
    t.until("a lock has its name",
            lambda o: [l for l in o["locks"] if (l["symbol"] or "").startswith("contended_lock")
                       and l["tgid"] == w.pid])
    t.next()
    o = t.next()
    names = {}
    for pid in descendants(t.proc.pid):
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            names[f.read().strip()] = pid
    equal(set(names), {"tracer-top", "tracer-sym", "sleep"}, "tracer and its children")
    equal([n for n, pid in names.items() if maybe(o["threads"], tgid=pid)], ["sleep"], "shown")
    equal([n for n, pid in names.items() if maybe(o["processes"], tgid=pid)], ["sleep"], "shown")
    os.kill(names["sleep"], signal.SIGKILL)
    t.stop()


@test
def waits_add_up_to_the_workloads_own():
    t, w = begun_by(f"exec {workload('futex_pingpong')} 200003")
    said = line(w)
    o = t.end()
    lossless(o)
    addr = hex(said["addr"])
    l = row(o["locks"], addr=addr)
    near(steps(t.all, "locks", "addr", "waits", addr=addr), said["nvcsw"], 0.001, "waits", 4)
    equal(l["waits"]["total"], steps(t.all, "locks", "addr", "waits", addr=addr), "total")
    equal((l["waiting"], l["wakes"], l["timeouts"]), (0, None, None), "of the last refresh")
    equal(l["symbol"], "ball", "symbol")


@test
def time_waited_is_not_more_than_the_workload_says():
    """More threads than CPUs: who was woken waits for one, and is seen so at each refresh."""
    for mode in ("wait", "exact"):
        t, w = begun_by(f"exec {workload('mutex_contend')} 12 997 100000", "--mode", mode,
                        "-d", f"{100 * SLOW}ms")
        said = line(w)
        o = t.end()
        lossless(o)
        l = row(o["locks"], addr=hex(said["addr"]))
        spent = steps(t.all, "locks", "addr", "wait_ns", addr=hex(said["addr"]))
        between(spent, said["lock_ns"] * 0.3, said["lock_ns"], f"{mode}: time in waits")
        equal(spent, l["wait_ns"]["total"], f"{mode}: wait_ns.total")
        check(l["max_ns"] <= said["lock_ns"], "the longest")
        waits = [r for o in t.all for table in ("threads", "processes") for r in o[table]]
        check(max(r["lock_ns"]["total"] for r in waits) > 0, f"{mode}: rows wait for the lock")
        for r in waits:
            check(r["lock_ns"]["total"] <= r["blocked_ns"]["total"],
                  f"{mode}: more time at locks than blocked: {r}")
        if mode == "wait":
            near(l["waits"]["total"], said["nvcsw"], 0.01, "waits that blocked", 8)


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


@test
def who_is_stopped_waits_for_nothing():
    """By SIGSTOP before top looks, and while it does; their calls go on when they do."""
    for mode in ("wait", "exact"):
        first, second = start(["sleep", "1000"]), start(["sleep", "1000"])
        for w in (first, second):
            wait_for("sleep sleeps", lambda: state_of(w.pid) == "S")
        first.send_signal(signal.SIGSTOP)
        wait_for("it is stopped", lambda: state_of(first.pid) == "T")
        t = Top("--mode", mode, f"{first.pid},{second.pid}")
        o = t.next()
        equal([row(o["threads"], tid=w.pid)["wait"] for w in (first, second)],
              ["stopped", "clock_nanosleep"], f"{mode}: found")
        second.send_signal(signal.SIGSTOP)
        o, _ = t.until(f"{mode}: both are stopped",
                       lambda o: len(maybe(o["threads"], wait="stopped")) == 2)
        c = row(o["calls"], name="stopped")
        equal((c["inside"], c["calls"]["total"]), (2, 0), f"{mode}: stopped, in no call")
        for w in (first, second):
            w.send_signal(signal.SIGCONT)
        o, _ = t.until(f"{mode}: both go on", lambda o: not maybe(o["threads"], wait="stopped"))
        equal({c["name"] for c in o["calls"]} - {"clock_nanosleep", "restart_syscall"},
              {"stopped"}, f"{mode}: calls")
        t.stop()


# ---- pipes, calls ----

@test
def pipe_bytes_are_exact():
    for kind, size, n in (("pipe", 4096, 1009), ("socketpair", 777, 503)):
        t, w = begun_by(f"exec {workload('pipe_chunks')} {size} {n} {kind} 500", "--mode",
                        "exact")
        said = line(w)
        o = t.end()
        lossless(o)
        rows = [p for p in o["pipes"] if said["w_tid"] in [e["tid"] for e in p["writers"]]
                and said["r_tid"] in [e["tid"] for e in p["readers"]]]
        equal(len(rows), 1, f"{kind}: edges")
        p = rows[0]
        equal(p["kind"], kind, "kind")
        for count, want in (("bytes", said["w_bytes"]), ("bytes_read", said["r_bytes"]),
                            ("chunks_written", said["w_chunks"]),
                            ("chunks_read", said["r_chunks"])):
            equal(p[count]["total"], want, f"{kind}: {count}")
            equal(steps(t.all, "pipes", "id", count, id=p["id"]), want,
                  f"{kind}: steps of {count}")
        e = row(p["readers"], tid=said["r_tid"])
        equal((e["bytes"]["total"], e["chunks"]["total"]), (said["r_bytes"], said["r_chunks"]),
              f"{kind}: the reader's own")
        between(p["reader_blocked_ns"]["total"], 1, said["r_ns"], f"{kind}: reader blocked")


WRITERS = """
import os, threading, time
r, w = os.pipe()
os.set_inheritable(w, True)
def write():
    os.write(w, b"12345678")
    os.write(w, b"12345678")
def read():
    while os.read(r, 4096):
        pass
reader = threading.Thread(target=read)
reader.start()
until, n = time.monotonic() + 2.5, 0
while time.monotonic() < until:
    n += 1
    t = threading.Thread(target=write)
    t.start()
    t.join()
os.close(w)
reader.join()
print(f"written={n * 16}")
"""


@test
def short_writers_all_count():
    """Rows of those that have ended are taken out of the kernel, and not before they were read."""
    t, w = begun_by(f"exec {sys.executable} -c '{WRITERS}'", "--mode", "exact", "-d", "100ms")
    written = line(w)["written"]
    o = t.end()
    lossless(o)
    check(len(t.all) > 10, f"rows were not taken out yet in {len(t.all)} refreshes")
    p = max(o["pipes"], key=lambda p: p["bytes_read"]["total"])
    equal(p["bytes_read"]["total"], written, "bytes read")
    equal(p["bytes"]["total"], written, "bytes written")
    equal(p["chunks_written"]["total"], written // 8, "chunks written")


@test
def time_blocked_at_a_pipe_is_not_more_than_time():
    """Ends begin to wait all the time, also while the refresh reads them."""
    for mode in ("wait", "exact"):
        t, w = begun_by(f"exec {workload('pipe_chunks')} 64 200003", "--mode", mode, "-d",
                        f"{100 * SLOW}ms")
        said = line(w)
        t.end()
        for o in t.all:
            for p in o["pipes"]:
                for e in p["writers"] + p["readers"]:
                    check(e["blocked_ns"]["step"] <= o["interval_ns"] * 1.05 + 1000000,
                          f"{mode}: {e} of {o['interval_ns']}")
        # One that never waited is not seen in mode wait, and who has ended may be gone.
        waited = {e["tid"]: e["blocked_ns"]["total"] for o in t.all for p in o["pipes"]
                  if p["inode"] == said["inode"] for e in p["writers"] + p["readers"]}
        check(waited.get(said["r_tid"], 0) <= said["r_ns"], f"{mode}: reader {waited}, {said}")
        check(waited.get(said["w_tid"], 0) <= said["w_ns"], f"{mode}: writer {waited}, {said}")
        check({said["r_tid"], said["w_tid"]} & set(waited), f"{mode}: neither end was seen")


@test
def calls_are_exact():
    t, _ = begun_by(f"{workload('getpid_many')} 3 101; {workload('thread_storm')} 203; exit 0",
                    "--mode", "exact")
    o = t.end()
    lossless(o)
    calls = {c["name"]: c["calls"]["total"] for c in o["calls"]}
    between(calls["getpid"], 303, 305, "getpid")
    equal((calls["clone3"], calls["execve"], calls["exit"]), (203, 2, 203), "clone3, execve, exit")
    for name in ("getpid", "clone3", "execve"):
        equal(steps(t.all, "calls", "name", "calls", name=name), calls[name], f"steps of {name}")
    equal((o["born"]["total"], o["ended"]["total"]), (203 + 2 + 3, 203 + 2 + 3 + 1),
          "born and ended: 203 threads, two commands, three forks; and the shell")


@test
def wait_mode_says_who_is_in_a_call():
    w = start(["cat"], stdin=PIPE, stdout=DEVNULL)
    t = Top(str(w.pid))
    t.next()
    o = t.next()
    c = row(o["calls"], name="read")
    equal((c["inside"], c["errors"]), (1, None), "inside, errors")
    near(c["blocked_ns"]["step"], o["interval_ns"], 0.01, "blocked_ns")
    equal(c["blocked"]["total"], 0, "waits that came back")
    w.stdin.write(b"x")
    w.stdin.flush()
    o, _ = t.until("a read that came back",
                   lambda o: row(o["calls"], name="read")["blocked"]["total"] == 1, 10)
    p = row(o["pipes"], kind="pipe")
    equal([e["tid"] for e in p["readers"]], [w.pid], "reader")
    check(p["reader_blocked_ns"]["total"] >= 200000000, f"it waited: {p['reader_blocked_ns']}")
    t.stop()


# ---- processes ----

@test
def processes_come_and_go():
    w = start(["sh"], stdin=PIPE, stdout=PIPE, stderr=DEVNULL)

    def order(text):
        w.stdin.write(text.encode())
        w.stdin.flush()
    t = Top(str(w.pid))
    t.next()
    order("sleep 77 & echo pid=$!\n")
    pid = line(w)["pid"]
    o, _ = t.until("sleep", lambda o: maybe(o["processes"], tgid=pid, comm="sleep"), 10)
    p = row(o["processes"], tgid=pid)
    equal((p["threads"], p["blocked"], p["born"]["total"]), (1, 1, 1), "the new process")
    order("kill $!; wait $!; echo ended=1\n")
    line(w)
    o, _ = t.until("the end of sleep", lambda o: maybe(o["processes"], tgid=pid, threads=0), 10)
    p = row(o["processes"], tgid=pid)
    equal((p["ended"], p["born"]["total"], p["comm"]), ({"total": 1, "step": 1}, 1, "sleep"),
          "its end")
    equal(maybe(o["threads"], tid=pid), [], "its thread")
    o = t.next()
    equal(maybe(o["processes"], tgid=pid), [], "it is shown once")
    order("exec cat\n")
    o, _ = t.until("the exec", lambda o: maybe(o["processes"], tgid=w.pid, comm="cat"), 10)
    equal(row(o["processes"], tgid=w.pid)["threads"], 1, "threads after the exec")
    w.stdin.close()
    o = t.end()
    equal((o["born"]["total"], o["ended"]["total"]), (1, 2), "born and ended")
    equal(last_of(t.all, "processes", tgid=w.pid)["threads"], 0, "threads at the end")


@test
def a_program_that_ends_before_the_first_refresh_is_shown():
    t, _ = begun_by(f"exec {workload('getpid_many')} 1 7", "--mode", "exact", "-d", "1s")
    o = t.end()
    between(row(o["calls"], name="getpid")["calls"]["total"], 7, 8, "getpid")


# ---- filters ----

@test
def filters():
    one, two = start_work("many_threads", 3, 1), start(["sleep", "60"])
    line(one)
    t = Top("--comm", "^many_thr")
    o = t.next()
    equal({r["comm"] for r in o["threads"]}, {"many_threads"}, "--comm: names")
    equal({r["tgid"] for r in o["processes"]}, {one.pid}, "--comm: processes")
    t.stop()
    need("setpriv")
    other = start([*NOBODY, "sleep", "60"])
    wait_for("setpriv's exec", lambda: open(f"/proc/{other.pid}/comm").read() == "sleep\n")
    for user in ("65534", "nobody"):
        t = Top("-u", user)
        o = t.next()
        found = {r["tgid"] for r in o["processes"]}
        check(other.pid in found and two.pid not in found and os.getpid() not in found,
              f"-u {user}: processes {found}")
        t.stop()
    with cgroup() as path:
        with open(f"{path}/cgroup.procs", "w", encoding="ascii") as f:
            f.write(str(two.pid))
        t = Top("--cgroup", path)
        o = t.next()
        equal([r["tgid"] for r in o["processes"]], [two.pid], "--cgroup: processes")
        with open(f"{path}/cgroup.procs", "w", encoding="ascii") as f:
            f.write(str(other.pid))
        o, _ = t.until("the second process", lambda o: o["rows"]["threads"] == 2, 10)
        equal(row(o["processes"], tgid=other.pid)["born"]["total"], 0, "nobody was born")
        t.stop()


@test
def all_processes():
    w = start([workload("getppid_loop"), "3000000000"], stdout=DEVNULL)
    t = Top()
    o = t.next()
    tids = {r["tid"]: r for r in o["threads"]}
    for pid, name in ((w.pid, "a loop"), (os.getpid(), "this")):
        check(pid in tids, f"{name}, pid {pid}, is among {sorted(tids)}")
        check(maybe(o["processes"], tgid=pid), f"pid {pid} is among the processes")
    check(t.proc.pid not in tids, "tracer itself is not")
    check(tids[w.pid]["cpu_ns"]["step"] > 0, "the loop has a CPU")
    t.stop()


@test
def a_name_that_comes_with_exec():
    w = start(["sh", "-c", "sleep 1; exec tail -f /dev/null"], stdout=DEVNULL)
    t = Top("--comm", "^tail$")
    t.until("it is there", lambda o: maybe(o["threads"], tid=w.pid))
    equal([r["comm"] for r in t.all[-1]["threads"] if r["tid"] == w.pid], ["tail"], "its name")
    t.stop()


BECOMES = "import os, sys; sys.stdin.readline(); os.setuid(65534); [0 for _ in iter(int, 1)]"


@test
def who_becomes_another_user():
    """As a daemon's worker does: without exec."""
    w = start([sys.executable, "-c", BECOMES], stdin=PIPE)
    nobody, root = Top("-u", "65534"), Top("-u", "root")
    root.until("it is root's", lambda o: maybe(o["threads"], tid=w.pid))
    equal(maybe(nobody.next()["threads"], tid=w.pid), [], "it is nobody's too early")
    w.stdin.write(b"\n")
    w.stdin.flush()
    nobody.until("it is nobody's", lambda o: maybe(o["threads"], tid=w.pid))
    root.until("it is root's no more", lambda o: not maybe(o["threads"], tid=w.pid))
    nobody.stop()
    root.stop()


# ---- options ----

@test
def refreshes_delay_and_rows():
    w = start_work("many_threads", 30, 1)
    line(w)
    t = Top("-n", "3", str(w.pid), delay="300ms", rows=5)
    t.end()
    equal([o["tick"] for o in t.all], [1, 2, 3], "ticks")
    for o in t.all:
        check(o["interval_ns"] > 200000000, f"interval {o['interval_ns']}")
        equal([k for k in TABLES if len(o[k]) > 5], [], "tables of more than 5 rows")
        equal((o["rows"]["threads"], len(o["threads"])), (31, 5), "rows there are, and are shown")
    equal(sum(o["interval_ns"] for o in t.all[1:]), t.all[2]["since_ns"] - t.all[0]["since_ns"],
          "intervals add up")


# ---- ends ----

@test
def signals_end_it_well():
    w = start_work("many_threads", 3, 1)
    line(w)
    for sig in (signal.SIGINT, signal.SIGTERM):
        for args in ([], [str(w.pid)]):
            t = Top(*args)
            t.next()
            held = bpf_held(t.proc.pid)
            t.stop(sig)
            wait_gone(held)
    t = Top()
    t.next()
    held = bpf_held(t.proc.pid)
    t.proc.kill()
    t.proc.wait(10)
    wait_gone(held)
    w.stdin.close()
    equal(w.wait(10), 0, "the workload is unharmed")


@test
def a_reader_that_has_enough():
    r = run(["bash", "-c", f"{TRACER} top --json -d 100ms | head -1; echo ${{PIPESTATUS[0]}} >&2"],
            20)
    equal(r.err, "0\n", "exit code, and nothing on stderr")
    equal(len(r.out.splitlines()), 1, "lines")


@test
def errors_of_the_target():
    r = run([TRACER, "top", "--json", "-n", "1", "4194303"])
    equal((r.rc, r.out), (2, ""), "no such process")
    contains(r.err, "4194303", "message")
    r = run([TRACER, "top", "--json", "-n", "1", "2"])
    equal(r.rc, 2, "a thread of the kernel, or nobody")
    need("setpriv")
    r = run([*NOBODY, TRACER, "top", "--json", "-n", "1"])
    equal((r.rc, r.out), (2, ""), "without privilege")
    check(r.err.startswith("tracer: ") and len(r.err.splitlines()) <= 6, f"message: {r.err!r}")


# ---- many threads, for long ----

def rss_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"^VmRSS:\s+(\d+) kB", f.read(), re.M)[1])


@test
def threads_that_come_and_go_take_no_memory():
    w = start(["sh", "-c", f"while :; do {workload('thread_storm')} 20000; done"], stdout=DEVNULL)
    t = Top("--mode", "exact", str(w.pid), rows=20)
    for _ in range(8):
        o = t.next()
    before, born = rss_kib(t.proc.pid), o["born"]["total"]
    for _ in range(16):
        o = t.next()
    grown = rss_kib(t.proc.pid) - before
    check(o["born"]["total"] - born > 3000, f"threads that came: {o['born']['total'] - born}")
    if not SANITIZED:
        check(grown < 1024, f"grown by {grown} KiB over {o['born']['total'] - born} threads")
    loss = o["loss"]
    equal(loss["total"], sum(n for k, n in loss.items() if k != "total"), f"loss: {loss}")
    near(o["born"]["total"], o["ended"]["total"], 0, "born and ended", 5)
    check(o["rows"]["threads"] <= 5, f"rows of threads: {o['rows']['threads']}")
    check(o["rows"]["processes"] <= 5, f"rows of processes: {o['rows']['processes']}")
    t.stop()


@test
def what_ends_between_two_refreshes_does_not_fill_the_maps():
    """As while a screen is paused: thousands of processes are let go, and that is told."""
    n = 12007
    w = start(["sh", "-c", f"read go; exec {workload('vfork_exec')} {n} /nowhere"], stdin=PIPE,
              stdout=DEVNULL)
    t = Top(str(w.pid), delay="500s")
    # Attached, it has looked for the first time, and sleeps.
    wait_for("BPF links", lambda: bpf_held(t.proc.pid))
    time.sleep(1 * SLOW)
    w.stdin.close()
    o = t.end()
    lossless(o)
    equal((o["born"]["total"], o["ended"]["total"]), (n, n + 1), "born, ended")
    between(o["forgotten"], 4096, n, "rows dropped")
    check(o["rows"]["processes"] <= 8192, f"rows of processes: {o['rows']['processes']}")


@test
def each_of_many_threads_counts():
    t, _ = begun_by(f"exec {workload('thread_storm')} 20011", "--mode", "exact")
    o = t.end()
    lossless(o)
    equal((o["born"]["total"], o["ended"]["total"]), (20011, 20012), "born, ended")
    p = last_of(t.all, "processes", comm="thread_storm")
    equal((p["born"]["total"], p["ended"]["total"], p["threads"]), (20011, 20012, 0),
          "the process's")
    equal(steps(t.all, "calls", "name", "calls", name="clone3"), 20011, "clone3")
    near(p["calls"]["total"], sum(c["calls"]["total"] for c in o["calls"]), 0, "calls", 0)


if __name__ == "__main__":
    main()
