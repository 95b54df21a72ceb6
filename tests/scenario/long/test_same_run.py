#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real programs under load, with bpftrace beside: two tools, one run, equal counts."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from beside import Beside, private_copy, same_run
from contract import check_summary, check_timeline
from harness import (DEVNULL, Skip, check, equal, load_json, lossless, main, near, need, run,
                     scratch, test, trace)

# What a loaded machine does to a program is true of it, and no fault of its own.
LOADED = ("cpu-starved", "slow-wakeup", "convoy")


def watched(name, cmd, *opts, quiet=True, timeout=300, **kw):
    """Runs cmd under both; the summary, checked against what bpftrace saw."""
    b = Beside(name)
    r = trace(cmd, *opts, timeout=timeout, **kw)
    b.stop()
    check_summary(r.json)
    lossless(r.json)
    same_run(r.json, b)
    if b.futex_ns > 100e6:
        near(sum(c["total_ns"] for c in r.json["syscalls"] if c["name"] == "futex"), b.futex_ns,
             0.02, "time in futex")
    wrong = [f["id"] for f in r.json["findings"] if f["id"] not in LOADED]
    if quiet:
        equal(wrong, [], "findings in a healthy program")
    return r


def real_data(path, megabytes):
    """Libraries of this machine as one file."""
    run(["bash", "-c", f"tar cf - /usr/lib/x86_64-linux-gnu 2>/dev/null | "
         f"head -c {megabytes * 1000000} >{path}"], timeout=120)
    check(os.path.getsize(path) == megabytes * 1000000, "too few libraries here")


@test(timeout=600)
def xz_with_four_threads_on_real_data():
    with scratch() as d:
        real_data(f"{d}/in", 100)
        xz = private_copy("xz", d, "casexz")
        s = watched("casexz", [xz, "-T4", "-1", "-c", f"{d}/in"], "--trace", f"{d}/trace",
                    stdout=DEVNULL).json
        equal(s["threads"]["created"], 4, "threads")
        check(any(l["use"] == "condvar" for l in s["locks"]), "it waits at condition variables")
        check(not any(l["kind"] == "join" for l in s["locks"]), "nobody joins before the exit")
        check_timeline(load_json(f"{d}/trace"))
        check(os.path.getsize(f"{d}/trace") < 20e6, "a timeline of a size that opens")


@test(timeout=600)
def sort_of_real_data():
    with scratch() as d:
        real_data(f"{d}/lib", 100)
        run(["bash", "-c", f"for i in 1 2 3; do strings -n 8 {d}/lib; done >{d}/in"], timeout=120)
        sort = private_copy("sort", d, "casesort")
        watched("casesort", [sort, "--parallel=2", "-S", "16M", "-T", d, "-o", f"{d}/out",
                             f"{d}/in"])


POOL = """
import hashlib, multiprocessing as m, queue, threading
def work(i):
    h = hashlib.sha256()
    for k in range(500):
        h.update(b"%d" % (i * k))
    return h.hexdigest()
def threads():
    todo, done = queue.Queue(), queue.Queue()
    def loop():
        while (i := todo.get()) is not None:
            done.put(work(i))
    t = [threading.Thread(target=loop) for _ in range(4)]
    for x in t: x.start()
    for i in range(400): todo.put(i)
    for _ in t: todo.put(None)
    for x in t: x.join()
    return done.qsize()
if __name__ == "__main__":
    print(threads())
    m.set_start_method("fork")
    with m.Pool(4) as p:
        print(len(p.map(work, range(2000), 5)))
        p.close(); p.join()
"""


@test(timeout=200)
def python_threads_and_a_pool_of_processes():
    with scratch() as d:
        with open(f"{d}/pool.py", "w", encoding="ascii") as f:
            f.write(POOL)
        python = private_copy("/usr/bin/python3", d, "casepy")
        r = watched("casepy", [python, f"{d}/pool.py"])
    equal(r.out.split(), ["400", "2000"], "the program itself")
    equal(r.json["threads"]["processes_created"], 4, "workers")
    # Tasks go to four workers by one pipe and their results come back by another.
    busy = [p for p in r.json["pipes"] if p["bytes"] > 10000]
    equal([sorted((len(p["writers"]) > 1, len(p["readers"]) > 1)) for p in busy],
          [[False, True]] * 2, f"edges of the pool: {busy}")


GO = """package main
import ("crypto/sha256"; "fmt"; "sync")
func main() {
	jobs, sums := make(chan int), make(chan [32]byte, 64)
	var wg sync.WaitGroup
	for w := 0; w < 8; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs { sums <- sha256.Sum256([]byte(fmt.Sprint(j))) }
		}()
	}
	go func() {
		for i := 0; i < 200000; i++ { jobs <- i }
		close(jobs); wg.Wait(); close(sums)
	}()
	n := 0
	for range sums { n++ }
	fmt.Println(n)
}
"""


@test(timeout=300)
def goroutines_and_channels():
    need("go")
    with scratch() as d:
        with open(f"{d}/main.go", "w", encoding="ascii") as f:
            f.write(GO)
        env = dict(os.environ, HOME=d, GOCACHE=f"{d}/cache", GO111MODULE="off", GOFLAGS="-p=1")
        if subprocess.run(["go", "build", "-o", f"{d}/casego", f"{d}/main.go"], env=env,
                          check=False, stdout=DEVNULL, stderr=DEVNULL).returncode:
            raise Skip("go does not build here")
        r = watched("casego", [f"{d}/casego"])
    equal(r.out.strip(), "200000", "the program itself")
    sites = {f["symbol"] for l in r.json["locks"] for f in l["site"] if f["symbol"]}
    check(any(s.startswith("runtime.") for s in sites), f"frames of Go are named: {sites}")


JAVA = """import java.util.concurrent.*;
public class T {
	static long n;
	static final Object lock = new Object();
	public static void main(String[] a) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(6);
		BlockingQueue<Integer> q = new ArrayBlockingQueue<>(16);
		for (int w = 0; w < 6; w++)
			pool.submit(() -> {
				for (int i; (i = q.take()) >= 0; ) synchronized (lock) { n += i; }
				return null;
			});
		for (int i = 0; i < 100000; i++) q.put(i);
		for (int w = 0; w < 6; w++) q.put(-1);
		pool.shutdown();
		pool.awaitTermination(1, TimeUnit.MINUTES);
		System.out.println(n);
	}
}
"""


@test(timeout=300)
def a_java_queue():
    need("java", "javac")
    with scratch() as d:
        with open(f"{d}/T.java", "w", encoding="ascii") as f:
            f.write(JAVA)
        if run(["javac", "-d", d, f"{d}/T.java"], timeout=60).rc:
            raise Skip("no working javac")
        # The launcher looks for its libraries beside itself: its name stays.
        r = watched("java", ["java", "-cp", d, "T"], quiet=False)
    equal(r.out.strip(), str(100000 * 99999 // 2), "the program itself")
    check(r.json["futex"]["waits"] > 100, "the queue is waited for")


if __name__ == "__main__":
    main()
