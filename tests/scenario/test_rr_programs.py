#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compilers, runtimes and servers of others, recorded once and replayed twice: those that are
installed. `make deps-long` installs most of them."""
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, PIPE, SANITIZED, TRACER, Skip, clean_env, equal, finish, main, need,
                     run, scratch, start, test)
from recordings import replay, same

# Where rustup puts its own.
CARGO = os.path.expanduser("~/.cargo/bin")
PYTHON = "/usr/bin/python3"
HTTP = """
import http.server, threading, urllib.request
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode() * 100)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever).start()
def get(i):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{i}") as r:
        got[i] = len(r.read())
got = {}
clients = [threading.Thread(target=get, args=(i,)) for i in range(20)]
for t in clients: t.start()
for t in clients: t.join()
server.shutdown()
print(sorted(got.items()), id(got))
"""
JAVA = """
import java.util.*;
import java.util.concurrent.*;
public class Work {
    static long mix(long seed) {
        List<long[]> kept = new ArrayList<>();
        long x = seed;
        for (int i = 0; i < 200000; i++) {
            long[] a = new long[16];
            a[i & 15] = x;
            x = x * 6364136223846793005L + 1442695040888963407L + a[(i + 1) & 15];
            if ((i & 1023) == 0) kept.add(a);
        }
        return x + kept.size();
    }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) { final long s = i; all.add(pool.submit(() -> mix(s))); }
        long sum = 0;
        for (Future<Long> f : all) sum += f.get();
        pool.shutdown();
        System.out.println(sum + " " + new Random().nextInt() + " " + new Object().hashCode());
    }
}
"""
RUST = """
use std::collections::HashMap;
use std::thread;
fn main() {
    let all: Vec<_> = (0..4).map(|i| thread::spawn(move || {
        let mut m = HashMap::new();
        for k in 0..1000 { m.insert(k * i, k); }
        m.keys().take(3).sum::<i32>()
    })).collect();
    println!("{:?}", all.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>());
}
"""
NODE = """
const w = require('worker_threads');
if (w.isMainThread)
  for (let i = 0; i < 3; i++)
    new w.Worker(__filename).on('message', (m) => console.log(m));
else
  w.parentPort.postMessage(Math.random());
"""


def heavy(*programs):
    if SANITIZED:
        raise Skip("too slow")
    need(*programs)


def put(d, name, text):
    path = os.path.join(d, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


@test
def a_server_of_python_with_its_clients():
    heavy(PYTHON)
    same(PYTHON, "-c", HTTP)


@test
def a_compiler_that_links_at_last():
    heavy("gcc")
    with scratch() as d:
        src = put(d, "a.c", "#include <stdio.h>\nint main(void) { return puts(\"x\") < 0; }\n")
        same("gcc", "-O2", "-flto", src, "-o", os.path.join(d, "a"))


@test
def java_and_its_compiler():
    heavy("javac", "java")
    with scratch() as d:
        same("javac", "-d", d, put(d, "Work.java", JAVA))
        same("java", "-Xmx64m", "-cp", d, "Work")


@test
def rust_and_its_builder():
    heavy()
    env = clean_env(HOME=os.path.expanduser("~"))
    env["PATH"] += ":" + CARGO
    if not shutil.which("cargo", path=env["PATH"]):
        raise Skip("cargo is not installed")
    with scratch() as d:
        put(d, "p/src/main.rs", RUST)
        put(d, "p/Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n')
        same("rustc", "-O", "-o", os.path.join(d, "a"), os.path.join(d, "p/src/main.rs"),
             env=env)
        same(os.path.join(d, "a"))
        same("cargo", "build", "-q", "--offline", "--manifest-path",
             os.path.join(d, "p/Cargo.toml"), env=env)


@test
def workers_of_node():
    heavy("node")
    with scratch() as d:
        same("node", put(d, "w.js", NODE))


@test
def a_repository_that_is_cloned():
    heavy("git")
    with scratch() as d:
        of = os.path.join(d, "r")
        run(["git", "init", "-q", of]).ok()
        for i in range(20):
            put(d, f"r/{i}", f"{i}\n" * 100)
        run(["git", "-C", of, "add", "-A"]).ok()
        run(["git", "-C", of, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m",
             "x"]).ok()
        same("git", "clone", "-q", "--no-local", of, os.path.join(d, "c"))


@test
def a_database_server_and_its_client():
    heavy("redis-server", "redis-cli")
    with scratch() as d:
        sock = os.path.join(d, "sock")
        p = start([TRACER, "record", "-q", "-o", os.path.join(d, "rec"), "--", "redis-server",
                   "--port", "0", "--unixsocket", sock, "--save", "", "--dir", d],
                  stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
        end = time.monotonic() + 20
        while not os.path.exists(sock) and time.monotonic() < end:
            time.sleep(0.05)
        for i in range(50):
            run(["redis-cli", "-s", sock, "set", f"k{i}", str(i)]).ok()
        equal(run(["redis-cli", "-s", sock, "dbsize"]).ok().out.strip(), "50", "keys")
        run(["redis-cli", "-s", sock, "shutdown"])
        was = finish(p)
        equal(was.rc, 0, was.err)
        r = replay(d)
        equal((r.rc, r.out), (0, was.out), r.err)


@test
def a_packer_of_many_threads():
    heavy("xz")
    with scratch() as d:
        path = put(d, "data", "".join(f"{i * i} {i * 7919:x}\n" for i in range(200000)))
        same("xz", "-T4", "--block-size=500KiB", "-c", "-1", path, text=False)


if __name__ == "__main__":
    main()
