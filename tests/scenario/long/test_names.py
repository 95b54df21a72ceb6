#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names against what others say of the same process: gdb, V8's perf map, debuginfod's client."""
import contextlib
import http.server
import os
import re
import shutil
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from contract import check_summary
from debugger import as_tracer_writes, gdb_names, place_in_file
from harness import (DEVNULL, PIPE, TRACER, Attach, Skip, check, clean_env, contains, descendants,
                     equal, kill, lock_at, main, need, run, scratch, start, test, trace, wait_for,
                     workload)

SHORT = ["3", "211", "100000"]


class Debuginfod:
    """A server of one file, on loopback: GET /buildid/ID/debuginfo."""

    def __init__(self, build_id, path):
        self.asked = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                if self.path != f"/buildid/{build_id}/debuginfo":
                    self.send_error(404)
                    return
                with open(path, "rb") as f:
                    data = f.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@contextlib.contextmanager
def stripped_with_server(d):
    """A program without symbols; its debug file is on the server alone, and its cache is d's."""
    os.chmod(d, 0o755)
    path, debug = f"{d}/program", f"{d}/elsewhere"
    run(["objcopy", "--only-keep-debug", workload("mutex_contend"), debug]).ok()
    run(["strip", "-s", "-o", path, workload("mutex_contend")]).ok()
    notes = run(["readelf", "-n", path]).ok().out
    s = Debuginfod(re.search(r"Build ID: (\w+)", notes)[1], debug)
    os.mkdir(f"{d}/cache")
    os.chown(f"{d}/cache", 65534, 65534)
    env = {"DEBUGINFOD_URLS": s.url, "DEBUGINFOD_CACHE_PATH": f"{d}/cache",
           "SUDO_UID": "65534", "SUDO_GID": "65534"}
    try:
        yield s, path, clean_env(**env)
    finally:
        s.http.shutdown()


def symbols_of(r):
    lock = lock_at(r.json, r.said["addr"])
    return lock["symbol"], [f["symbol"] for f in lock["site"]]


@test(timeout=120)
def debug_files_from_a_server():
    need("debuginfod-find", "objcopy", "strip", "readelf")
    with scratch() as d, stripped_with_server(d) as (s, path, env):
        # Not without being asked to, though the environment names a server.
        r = trace([path, *SHORT], "--stacks", env=env)
        equal(symbols_of(r)[0], None, "the lock's name")
        equal(s.asked, [], "requests")
        r = trace([path, *SHORT], "--stacks", "--debuginfod", env=env)
        check_summary(r.json)
        name, frames = symbols_of(r)
        equal(name, "contended_lock", "the lock's name")
        check("take_and_hold" in frames, f"frames {frames}")
        asked = [a for a in s.asked if a.endswith("/debuginfo")]
        check(len(asked) == len(set(asked)), f"nothing is asked for twice: {asked}")
        # As the user who called, not as root.
        owners = {os.stat(os.path.join(top, f)).st_uid
                  for top, _, files in os.walk(f"{d}/cache") for f in files}
        equal(owners, {65534}, "owners of the cache")
        # From the cache, without the server.
        s.http.shutdown()
        s.http.server_close()
        r = trace([path, *SHORT], "--stacks", "--debuginfod", env=env)
        equal(symbols_of(r)[0], "contended_lock", "the name by the cache")


@test
def debug_files_of_others_are_not_taken():
    """What the caller put into his cache is believed only if it is his, and the right one."""
    need("debuginfod-find", "objcopy", "strip", "readelf")
    with scratch() as d, stripped_with_server(d) as (s, path, env):
        trace([path, *SHORT], "--debuginfod", env=env)
        files = [os.path.join(top, f) for top, _, fs in os.walk(f"{d}/cache") for f in fs
                 if f == "debuginfo" and os.path.getsize(os.path.join(top, f))]
        equal(len(files), 1, "files in the cache")
        os.chown(files[0], 0, 0)
        os.chmod(files[0], 0o444)
        r = trace([path, *SHORT], "--debuginfod", env=env)
        equal(symbols_of(r)[0], None, "name by root's file")
        os.chown(files[0], 65534, 65534)
        shutil.copy(workload("condvar_handoff"), files[0])
        r = trace([path, *SHORT], "--debuginfod", env=env)
        equal(symbols_of(r)[0], None, "name by another's file")


@test
def debuginfod_is_asked_only_where_it_can_be():
    need("debuginfod-find")
    line = [TRACER, "run", "--debuginfod", "--", "true"]
    for gone, words in (("DEBUGINFOD_URLS", "DEBUGINFOD_URLS is not set"),
                        ("SUDO_UID", "root is nobody to ask as")):
        env = clean_env(DEBUGINFOD_URLS="http://127.0.0.1:9", SUDO_UID="65534", SUDO_GID="65534")
        del env[gone]
        r = run(line, env=env)
        equal(r.rc, 125, f"exit code without {gone}")
        contains(r.err, f"tracer: cannot ask debuginfod: {words}", "stderr")


# ---- real programs, as gdb sees them ---------------------------------------

def agrees_with_gdb(pid, s):
    """The locks that were waited for most, and where. Returns their names."""
    check_summary(s, run=False)
    locks = [l for l in s["locks"] if l["waits"]][:6]
    check(locks, "nothing waited for a lock")
    frames = [f for l in locks for f in l["site"] if not f["inlined"] and f["symbol"]][:60]
    theirs = gdb_names(pid, {l["addr"] for l in locks} | {f["ip"] for f in frames})
    for l in locks:
        equal(l["symbol"], as_tracer_writes(theirs[l["addr"]]), f"the lock at {l['addr']}")
        if l["module"]:
            equal(int(l["module_offset"], 16), place_in_file(pid, int(l["addr"], 16), l["module"]),
                  f"place of {l['addr']} in {l['module']}")
    # A function has several names, but begins in one place.
    known = [f for f in frames if theirs[f["ip"]]]
    wrong = [(f["symbol"], f["offset"], theirs[f["ip"]]) for f in known
             if f["offset"] != theirs[f["ip"]][1] and f["symbol"] != theirs[f["ip"]][0]]
    equal(wrong, [], "frames that begin elsewhere for gdb")
    check(len(known) >= 4, f"frames that both name: {known}")
    return [l["symbol"] for l in locks], [l["module"] for l in locks]


def attached(pid, *opts):
    return Attach("--collect", "futex", "-d", "700ms", *opts, str(pid)).end().json


@test(timeout=240)
def python_as_gdb_sees_it():
    need("gdb", "readelf")
    code = ("import threading\n"
            "def spin():\n"
            "    n = 0\n"
            "    while True: n += 1\n"
            "for _ in range(3): threading.Thread(target=spin).start()\n")
    p = start(["/usr/bin/python3", "-c", code])
    wait_for("its threads", lambda: len(os.listdir(f"/proc/{p.pid}/task")) == 4)
    names, _ = agrees_with_gdb(p.pid, attached(p.pid))
    # The interpreter's lock, which is all that these threads wait for.
    check(any((n or "").startswith("_PyRuntime") for n in names), f"names {names}")


@test(timeout=240)
def redis_as_gdb_sees_it():
    """A stripped program: gdb has no name for its static locks, and neither do we."""
    need("gdb", "readelf", "redis-server", "redis-benchmark")
    with scratch() as d:
        p = start(["redis-server", "--port", "16380", "--bind", "127.0.0.1", "--save", "", "--dir",
                   d, "--io-threads", "3", "--io-threads-do-reads", "yes"], stdout=DEVNULL)
        wait_for("redis", lambda: run(["redis-cli", "-p", "16380", "ping"]).rc == 0)
        load = start(["redis-benchmark", "-p", "16380", "-n", "5000000", "-c", "40", "-q"],
                     stdout=DEVNULL)
        s = attached(p.pid)
        kill(load)
        _, modules = agrees_with_gdb(p.pid, s)
        check(any("redis" in (m or "") for m in modules), f"no lock is in redis itself: {modules}")


@test(timeout=240)
def xz_as_gdb_sees_it():
    need("gdb", "readelf", "xz")
    p = start(["sh", "-c", "while :; do cat /usr/bin/*; done 2>/dev/null | "
               "xz -T2 -3 --block-size=1MiB"], stdout=DEVNULL)
    xz = wait_for("xz", lambda: next((t for t in descendants(p.pid)
                                      if os.path.basename(os.readlink(f"/proc/{t}/exe")) == "xz"
                                      and len(os.listdir(f"/proc/{t}/task")) > 2), None))
    agrees_with_gdb(xz, attached(xz))


# ---- languages --------------------------------------------------------------

JIT = """
const { Worker, isMainThread, workerData } = require("worker_threads");
function waits_for_worker(a, n) {
  let s = 0;
  for (let i = 0; i < n; i++) { Atomics.wait(a, 0, 0, 5); Atomics.store(a, 0, 0); s += i; }
  return s;
}
if (isMainThread) {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  new Worker(__filename, { workerData: shared });
  console.log("map", process.pid);
  for (;;) waits_for_worker(shared, 50);
} else {
  for (;;) {
    Atomics.store(workerData, 0, 1);
    Atomics.notify(workerData, 0);
    Atomics.wait(workerData, 1, 0, 1);
  }
}
"""


@test(timeout=120)
def code_of_a_jit():
    """Named by the map that node writes, here and in a mount namespace with its own /tmp."""
    need("node", "unshare")
    with scratch() as d:
        with open(f"{d}/jit.js", "w", encoding="ascii") as f:
            f.write(JIT)
        node = f"exec node --perf-basic-prof --interpreted-frames-native-stack {d}/jit.js"
        for argv in (["sh", "-c", f"cd {d}; {node}"],
                     ["unshare", "-m", "sh", "-c", f"exec 3<{d}/jit.js; mount -t tmpfs none /tmp; "
                      f"cd /tmp; cat <&3 >jit.js; {node.replace(d, '/tmp')}"]):
            p = start(argv, stdout=PIPE)
            check(b"map" in p.stdout.readline(), "node does not run")
            s = attached(p.pid)
            check_summary(s, run=False)
            frames = [f for l in s["locks"] for site in l["sites"] for f in site["frames"]
                      if "waits_for_worker" in (f["symbol"] or "")]
            check(frames, f"{argv[0]}: no frame of waits_for_worker")
            equal({f["module"] for f in frames}, {f"/tmp/perf-{p.pid}.map"}, f"{argv[0]}: module")
            top = f"/proc/{p.pid}/root"
            with open(f"{top}/tmp/perf-{p.pid}.map", encoding="utf-8") as f:
                written = {line.rstrip("\n").split(" ", 2)[2] for line in f}
            check({f["symbol"] for f in frames} <= written, f"not as written: {frames[0]}")
            kill(p)


RUST = """
use std::sync::Mutex;
mod store {
    pub struct Shelf<T> { pub last: T }
    impl<T: Copy> Shelf<T> {
        #[inline(never)]
        pub fn put(&mut self, x: T, us: u64) {
            self.last = x;
            std::thread::sleep(std::time::Duration::from_micros(us));
        }
    }
}
static SHELF: Mutex<store::Shelf<u64>> = Mutex::new(store::Shelf { last: 0 });
#[inline(never)]
fn fill(n: u64) {
    for i in 0..n { SHELF.lock().unwrap().put(i, 100); }
}
fn main() {
    let all: Vec<_> = (0..3).map(|_| std::thread::spawn(|| fill(300))).collect();
    for t in all { t.join().unwrap(); }
}
"""


@test(timeout=180)
def a_rust_program():
    rustc = shutil.which("rustc")
    if not rustc:
        raise Skip("rustc is not installed")
    with scratch() as d:
        with open(f"{d}/shelves.rs", "w", encoding="ascii") as f:
            f.write(RUST)
        for scheme in "legacy", "v0":
            made = run([rustc, "-O", "-g", f"-Csymbol-mangling-version={scheme}",
                        *(["-Zunstable-options"] if scheme == "legacy" else []), "-o",
                        f"{d}/shelves", f"{d}/shelves.rs"], env=dict(os.environ), timeout=120)
            if made.rc and scheme == "legacy":	# it wants a nightly compiler to say so
                made = run([rustc, "-O", "-g", "-o", f"{d}/shelves", f"{d}/shelves.rs"],
                           env=dict(os.environ), timeout=120)
            made.ok()
            s = trace([f"{d}/shelves"], "--stacks").json
            lock = next((l for l in s["locks"] if l["symbol"] == "shelves::SHELF"), None)
            check(lock, f"{scheme}: names {[l['symbol'] for l in s['locks'][:5]]}")
            check(lock["waits"] > 50, f"{scheme}: {lock['waits']} waits")
            equal(lock["use"], "mutex", f"{scheme}: use")
            symbols = [f["symbol"] for f in lock["site"] if not f["kernel"]]
            check("shelves::fill" in symbols, f"{scheme}: frames {symbols}")
            check(not any(re.search(r"17h[0-9a-f]{16}|^_R|^_ZN", x or "") for x in symbols),
                  f"{scheme}: still mangled: {symbols}")


LTO = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void hold(int us)
{
	pthread_mutex_lock(&guard);
	usleep(us);
	pthread_mutex_unlock(&guard);
}
void *NAME(void *arg);
void *NAME(void *arg)
{
	for (int i = 0; i < 200; i++)
		hold(arg ? 100 : 101);
	return arg;
}
"""
LTO_MAIN = """
#include <pthread.h>
void *one(void *), *two(void *);
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, i & 1 ? one : two, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
"""


@test
def locals_of_one_name_after_lto():
    """The linker tells static names of two files apart by a suffix, which is not theirs."""
    with scratch() as d:
        for name in "one", "two":
            with open(f"{d}/{name}.c", "w", encoding="ascii") as f:
                f.write(LTO.replace("NAME", name))
        with open(f"{d}/main.c", "w", encoding="ascii") as f:
            f.write(LTO_MAIN)
        run(["gcc", "-O2", "-flto", "-pthread", "-o", f"{d}/both", f"{d}/one.c", f"{d}/two.c",
             f"{d}/main.c"]).ok()
        raw = run(["nm", f"{d}/both"]).ok().out
        check(re.search(r"guard\.lto_priv", raw), "the linker gave no suffix: it proves nothing")
        s = trace([f"{d}/both"], "--stacks").json
        locks = [l for l in s["locks"] if l["use"] == "mutex"]
        equal([l["symbol"] for l in locks], ["guard", "guard"], "names of both")
        for l in locks:
            symbols = [f["symbol"] for f in l["site"] if f["module"] == f"{d}/both"]
            check("hold" in symbols, f"frames {symbols}")


if __name__ == "__main__":
    main()
