#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs are recorded once and replayed twice: output and exit code are the same each time."""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (BUILD, DEVNULL, SANITIZED, TRACER, Skip, check, contains, equal, main, need,
                     run, scratch, test, workload)
from recordings import record, replay, same

ALTER = os.path.join(BUILD, "tests", "rr", "alter")


@test
def programs_of_one_thread():
    same("true")
    same("false", rc=1)
    same("ls", "-lR", "/etc/default")
    same("date", "+%N")
    same("cat", "/etc/passwd")
    same("dd", "if=/dev/urandom", "bs=1", "count=300", "status=none")
    same("find", "/etc", "-maxdepth", "1")
    same("awk", "BEGIN { srand(); print rand() }")


@test
def more_in_a_call_than_the_ring_holds():
    """Of 16 MiB: in one range, and over many."""
    if SANITIZED:
        raise Skip("the sanitizer maps memory in the writer, and the recorder waits for it")
    same("/usr/bin/python3", "-c",
         "import hashlib, os, resource\n"
         "f = os.open('/dev/urandom', os.O_RDONLY)\n"
         "print(hashlib.md5(os.read(f, 40000001)).hexdigest())\n"
         "parts = [bytearray(50001) for _ in range(900)]\n"
         "print(os.readv(f, parts), hashlib.md5(b''.join(parts)).hexdigest())\n")
    same("dd", "if=/dev/urandom", "bs=30000000", "count=2", "status=none", "of=/dev/null")


@test
def shells_and_pipelines():
    same("sh", "-c", "echo a; (echo b >&2; exit 3); echo $?")
    same("sh", "-c", "seq 1000 | sort -r | head -n 3")
    same("bash", "-c", "for i in 1 2 3; do /bin/echo $i $RANDOM $$; done; date +%N")
    same("tar", "czf", "-", "/etc/default")


@test
def signals():
    same("sh", "-c", "kill -SEGV $$", rc=139)
    with scratch() as d:
        r = run([TRACER, "record", "-o", os.path.join(d, "rec"), "--", "sh", "-c", "kill -9 $$"])
        contains(r.err, "; the program was ended by SIGKILL\n", "the note")
    same("bash", "-c", "trap 'echo got' USR1; kill -USR1 $$; sleep 0.05; echo end")
    same("timeout", "0.1", "sleep", "5", rc=124)
    same("bash", "-c", "sleep 0.05 & wait; echo $!")


@test
def pythons():
    same("python3", "-c", "import random, time; print(random.random(), time.time())")
    same("/usr/bin/python3", "-c",
         "import os, subprocess as s\n"
         "print([s.check_output(['sh', '-c', f'echo {i} $$']) for i in range(3)], os.getpid())")


@test
def what_proc_tells():
    same("cat", "/proc/self/stat", "/proc/self/maps", "/proc/meminfo")


@test
def a_perl():
    need("perl")
    same("perl", "-e", "fork; print $$, rand, \"\\n\"; wait")


@test
def a_database_in_memory():
    need("sqlite3")
    same("sqlite3", ":memory:", "select random()")


@test
def a_packer():
    need("xz")
    same("xz", "-T2", "-c", "/etc/services")


@test
def a_compiler():
    need("gcc")
    with scratch() as d:
        path = os.path.join(d, "a.c")
        with open(path, "w", encoding="ascii") as f:
            f.write("int main(void) { return 3; }\n")
        same("gcc", "-O1", path, "-o", os.path.join(d, "a.out"))


@test
def threads():
    same(workload("futex_pingpong"), "200")
    same(workload("thread_storm"), "2000")
    same(workload("live_threads"), "200" if SANITIZED else "2000")
    same(workload("mutex_contend"), "3", "101")
    same("/usr/bin/python3", "-c",
         "import queue, random, threading\n"
         "q, out = queue.Queue(), []\n"
         "def work(i):\n"
         "    while (x := q.get()) is not None:\n"
         "        out.append((i, x * x))\n"
         "ts = [threading.Thread(target=work, args=(i,)) for i in range(4)]\n"
         "for t in ts: t.start()\n"
         "for x in range(61): q.put(x)\n"
         "for t in ts: q.put(None)\n"
         "for t in ts: t.join()\n"
         "print(out, random.random())\n")


@test
def points_between_calls():
    """Threads that lose their turn amid a loop, and signals that meet one."""
    for mode, millions in (("race", 250), ("registers", 300), ("flag", 250), ("spinlock", 30)):
        with scratch() as d:
            was = record(d, workload("rr_points"), mode, str(millions))
            points = [line for line in run([TRACER, "dump", os.path.join(d, "rec")]).ok()
                      .out.splitlines() if "gives way" in line and "bytes of memory" in line]
            check(points, f"{mode}: no thread lost its turn between calls")
            equal(replay(d).out, was.out, f"{mode} replayed")
    for mode in ("alarm", "prof"):
        same(workload("rr_points"), mode, "0")


@test
def what_is_wrong_is_said():
    with scratch() as d:
        r = record(d, "nosuchprogram", rc=127)
        contains(r.err, "cannot run 'nosuchprogram': No such file", "no program")
        equal(os.listdir(d), [], "what is left of it")
        record(d, "true")
        r = run([TRACER, "record", "-o", os.path.join(d, "rec"), "--", "true"])
        equal(r.rc, 2, r.err)
        contains(r.err, "file exists", "an existing directory")
        contains(r.err, "never written over: remove it, or name another", "what to do")
        r = replay(d, "nosuch")
        equal(r.rc, 2, r.err)
        contains(r.err, "nosuch is no recording: no such file", "a missing recording")
        contains(r.err, "'tracer ls'", "a missing recording")
        contains(run([TRACER, "dump", d]).err, "is no recording: there is no file 'events'",
                 "another directory")
        path = os.path.join(d, "rec", "events")
        with open(path, "rb") as f:
            data = f.read()
        for cut in (0, 7, 16, 30, len(data) // 2, len(data) - 1):
            with open(path, "wb") as f:
                f.write(data[:cut])
            r = replay(d)
            equal(r.rc, 2, f"cut at {cut}: {r.err}")
            check("recording" in r.err, f"cut at {cut}: {r.err}")
        with open(path, "wb") as f:
            f.write(data[:100] + bytes([data[100] ^ 1]) + data[101:])
        r = replay(d)
        equal(r.rc, 2, r.err)
        contains(r.err, "damaged", "a byte that was changed")


def alter(path, old, new):
    with open(path, "rb") as f:
        data = f.read()
    check(old in data, f"{path} has no {old}")
    with open(path, "wb") as f:
        f.write(data.replace(old, new))


@test
def a_replay_that_goes_another_way():
    """It says where, what was recorded and what came."""
    with scratch() as d:
        mapped = os.path.join(d, "mapped")
        with open(mapped, "wb") as f:
            f.write(b"\x10" + bytes(5000))
        record(d, workload("rr_diverge"), mapped)
        equal(replay(d).rc, 0, "before")
        files = os.path.join(d, "rec", "files")
        program, copy = "", ""
        for name in os.listdir(files):
            size = os.path.getsize(os.path.join(files, name))
            copy = os.path.join(files, name) if size == 5001 else copy
            with open(os.path.join(files, name), "rb") as f:
                program = os.path.join(files, name) if f.read(4) == b"\x7fELF" else program
        dump = run([TRACER, "dump", os.path.join(d, "rec")]).ok().out
        event, thread = re.search(r"^(\d+) (\d+) call lseek\(", dump, re.M).groups()
        alter(copy, b"\x10", b"\x11")
        r = replay(d)
        equal(r.rc, 2, r.err)
        lines = r.err.splitlines()
        where = re.fullmatch(f"tracer: event {event}, thread {thread}: lseek: argument 2 was 0x10 "
                             "and is 0x11, at (0x[0-9a-f]+)", lines[0])
        check(where, r.err)
        check(re.match(f"    #0  {where[1]} l*seek", lines[1]), f"where it stands: {r.err}")
        check(re.match(r"    #1  0x[0-9a-f]+ main\+0x", lines[2]), f"who called: {r.err}")
        alter(copy, b"\x11", b"\x10")
        equal(replay(d).rc, 0, "as before")
        alter(program, b"\xb8\x6e\0\0\0", b"\xb8\x6f\0\0\0")
        r = replay(d)
        equal(r.rc, 2, r.err)
        contains(r.err, "the call was getppid and is getpgrp, at 0x", r.err)


@test
def events_that_say_what_was_not():
    """One word of one event, its checksum being right: the replay names it, and both values."""
    with scratch() as d:
        mapped = os.path.join(d, "mapped")
        with open(mapped, "wb") as f:
            f.write(b"\x10" + bytes(5000))
        record(d, workload("rr_diverge"), mapped)
        events = os.path.join(d, "rec", "events")
        os.rename(events, events + ".as-it-was")
        for word, value, what in ((0, 110, "the call was getppid and is lseek"),
                                  (2, 0x1234, "lseek: its place was 0x1234 and is 0x[0-9a-f]+"),
                                  (4, 0x17, "lseek: argument 2 was 0x17 and is 0x11"),
                                  (5, 1, "lseek: argument 3 was 0x1 and is 0")):
            os.rename(events + ".as-it-was", events)
            dump = run([TRACER, "dump", os.path.join(d, "rec")]).ok().out
            event, thread = re.findall(r"^(\d+) (\d+) call lseek\(", dump, re.M)[-19]
            os.rename(events, events + ".as-it-was")
            run([ALTER, events + ".as-it-was", events, event, str(word), str(value)]).ok()
            r = replay(d)
            equal(r.rc, 2, r.err)
            check(re.fullmatch(f"tracer: event {event}, thread {thread}: {what}, at "
                               "0x[0-9a-f]+", r.err.splitlines()[0]), f"{what}: {r.err}")
            os.unlink(events)


def chunks_of(data):
    """Where each chunk ends, and how many events there are by then (docs/formats/recording.md)."""
    at, events, ends = 16, 0, []
    while at < len(data):
        equal(data[at:at + 4], b"CHNK", f"a chunk at {at}")
        frame, n = struct.unpack_from("<II", data, at + 8)
        at, events = at + 32 + frame, events + n
        ends.append((at, events))
    return ends


@test
def one_that_is_cut_anywhere():
    """It replays up to its last whole chunk, and says which event that ends with."""
    with scratch() as d:
        was = record(d, "sh", "-c", "for i in 1 2 3 4 5; do echo $i; dd if=/dev/zero of=/dev/null "
                     "bs=1 count=20000 status=none; done")
        path = os.path.join(d, "rec", "events")
        with open(path, "rb") as f:
            data = f.read()
        ends = chunks_of(data)
        check(len(ends) > 3, f"{len(ends)} chunks")
        places = {e + by for e, _ in ends for by in (-1, 0, 1, 31, 32, 33)}
        places |= {(a[0] + b[0]) // 2 for a, b in zip(ends, ends[1:])} | {ends[0][0] // 2, 17, 40}
        for cut in sorted(p for p in places if p < len(data)):
            with open(path, "wb") as f:
                f.write(data[:cut])
            last = max((n for e, n in ends if e <= cut), default=0)
            r = replay(d, times=1)
            equal(r.rc, 2, f"cut at {cut}: {r.err}")
            check(was.out.startswith(r.out), f"cut at {cut}: {r.out}")
            check(bool(r.out) >= (cut >= ends[1][0]), f"cut at {cut}: nothing is replayed")
            contains(r.err, f"the recording ends behind event {last}," if last else "recording",
                     f"cut at {cut}")


@test
def what_is_in_a_recording():
    with scratch() as d:
        record(d, "sh", "-c", "seq 3 | sort -r; kill -9 $$", rc=137)
        path = os.path.join(d, "rec")
        rows = [line.split() for line in run([TRACER, "ps", path]).ok().out.splitlines()]
        equal(rows[0], ["PID", "PPID", "EXIT", "PROGRAM"], "heading")
        equal([(r[2], os.path.basename(r[3])) for r in rows[1:]],
              [("SIGKILL", os.path.basename(os.path.realpath("/bin/sh"))), ("0", "seq"),
               ("0", "sort")], "processes")
        equal({r[1] for r in rows[2:]}, {rows[1][0]}, "parents")
        text = run([TRACER, "dump", path]).ok().out
        check(f" {rows[1][0]} ends by another's doing, status 0x9\n" in text, text[-300:])
        env = dict(os.environ, XDG_DATA_HOME=d)
        for also in ("-n", "--no-syscall-buffer"):
            run([TRACER, "record", "-q", also, "--", "true"], env=env, stdin=DEVNULL).ok()
        rows = [line.split() for line in run([TRACER, "ls"], env=env).ok().out.splitlines()]
        equal(rows[0], ["BEGAN", "SIZE", "EVENTS", "EXIT", "PACKED", "DIRECTORY", "COMMAND"],
              "heading")
        equal([(r[5], os.path.basename(r[7]), r[8]) for r in rows[1:]],
              [("0", "true-2", "true"), ("0", "true-1", "true")], "recordings")
        equal(run([TRACER, "replay", "-a"], env=env, stdin=DEVNULL).rc, 0, "the newest")
        run([TRACER, "replay", "-a", "true-1"], env=env, stdin=DEVNULL).ok()
        run([TRACER, "ps", "true-1"], env=env).ok()


@test
def what_outlives_the_first_process():
    was = same("sh", "-c", "(sleep 0.1; echo late) & echo early")
    equal(was.out, "early\nlate\n", "output")


@test
def calls_that_cannot_be_recorded():
    with scratch() as d:
        need("strace")
        r = run([TRACER, "record", "-q", "-o", os.path.join(d, "rec"), "--", "strace", "-o",
                 os.path.join(d, "log"), "true"], stdin=DEVNULL)
        equal(r.rc, 125, r.err)
        contains(r.err, "made a call that cannot be recorded: ptrace", "the message")
        r = run([TRACER, "record", "-q", "-o", os.path.join(d, "two"), "--", "sh", "-c",
                 f"sleep 91.7 & strace -o {d}/log true; wait"], stdin=DEVNULL)
        equal(r.rc, 125, r.err)
        left = run(["pgrep", "-f", "^sleep 91.7"])
        equal(left.out, "", "processes that are left behind")


@test
def files_that_are_gone():
    """What is not the system's is in the recording: programs, data, shared memory."""
    with scratch() as d:
        path = os.path.join(d, "true")
        run(["cp", "/bin/true", path]).ok()
        record(d, path)
        os.unlink(path)
        equal(replay(d).rc, 0, "exit code")
        data = os.path.join(d, "data")
        with open(data, "wb") as f:
            f.write(b"abc" * 5000)
        was = record(d, "python3", "-c", "import mmap\n"
                     f"f = open({data!r}, 'r+b')\nm = mmap.mmap(f.fileno(), 0)\n"
                     "print(m[:5]); m[0:2] = b'xy'; print(m[:5])", name="mapped")
        equal(replay(d, "mapped").out, was.out, "a file mapped shared")
        with open(data, "rb") as f:
            equal(f.read(5), b"xycab", "the file itself, which no replay changes")
        os.unlink(data)
        equal(replay(d, "mapped").out, was.out, "without the file")


@test
def memory_that_processes_share():
    same("python3", "-c", "import multiprocessing as m\n"
         "def f(x): return x * x\n"
         "with m.Pool(2) as p: print(p.map(f, range(10)))")


@test
def whose_status_counts():
    """Of a process whose first thread ends before the others."""
    for mode, rc in (("exit", 7), ("fault", 132), ("last", 0)):
        was = same(workload("rr_ends"), mode, rc=rc)
        equal(was.rc, rc, mode)


@test
def devices_that_are_mapped():
    same("/usr/bin/python3", "-c", "import mmap, os\n"
         "f = os.open('/dev/zero', os.O_RDWR)\n"
         "for flags in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):\n"
         "    m = mmap.mmap(f, 8192, flags=flags)\n"
         "    m[5000] = 7\n"
         "    print(sum(m[:]))\n")


@test
def requests_that_say_no_direction():
    same("/usr/bin/python3", "-c", "import fcntl, os\n"
         "f = os.open('/etc/passwd', os.O_RDONLY)\n"
         "print(fcntl.ioctl(f, 2, bytes(4)))\n")


@test
def a_file_that_changes_once_it_is_mapped():
    """Its copy is of then."""
    with scratch() as d:
        path = os.path.join(d, "data")
        same("/usr/bin/python3", "-c", "import mmap, os\n"
             f"f = os.open({path!r}, os.O_RDWR | os.O_CREAT | os.O_TRUNC)\n"
             "os.write(f, b'a' * 8192)\n"
             "m = mmap.mmap(f, 8192, access=mmap.ACCESS_COPY)\n"
             "print(m[0], m[4096])\n"
             "os.pwrite(f, b'b' * 8192, 0)\n"
             "os.ftruncate(f, 0)\n")


if __name__ == "__main__":
    main()
