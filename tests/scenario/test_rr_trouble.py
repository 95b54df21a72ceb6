#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What can go wrong around a recording: it is said, what runs is ended, and what is there
replays."""
import contextlib
import mmap
import os
import re
import resource
import shutil
import signal
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, PIPE, SANITIZED, Skip, TRACER, check, contains, equal, finish,
                     main, need, run, safe_list, scratch, start, test, wait_for)
from recordings import replay

PYTHON = "/usr/bin/python3"


def recording(d, *cmd, name="rec", opts=("-q",), prefix=(), **kw):
    kw.setdefault("stdout", PIPE)
    kw.setdefault("stderr", PIPE)
    return start([*prefix, TRACER, "record", *opts, "-o", os.path.join(d, name), "--", *cmd], **kw)


def replays_to_its_end(d, least=1):
    """A recording that was cut short: all of it is replayed, and its end is told."""
    r = replay(d)
    equal(r.rc, 2, r.err)
    contains(r.err, "the recording ends behind event ", "its replay")
    events = int(r.err.split("behind event ")[1].split(",")[0])
    check(events >= least, f"events that replay: {events}")
    return r


def no_process(name):
    wait_for(f"the end of {name}", lambda: run(["pgrep", "-x", "-f", name]).out == "", 5)


@contextlib.contextmanager
def small_disk(d, size):
    path = os.path.join(d, "disk")
    os.mkdir(path)
    run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path]).ok()
    try:
        yield path
    finally:
        run(["umount", "-l", path])


@test
def a_disk_that_is_full():
    need("mount")
    with scratch() as d, small_disk(d, "3m") as disk:
        r = finish(recording(disk, "sh", "-c", "sleep 92.3 & exec cat /dev/urandom",
                             stdout=DEVNULL))
        equal(r.rc, 125, r.err)
        contains(r.err, "cannot write the recording: no space left on device", "what it says")
        no_process("sleep 92.3")
        replays_to_its_end(disk, 10)


@test
def a_file_that_may_not_grow():
    with scratch() as d:
        r = finish(recording(d, "cat", "/dev/urandom", stdout=DEVNULL, preexec_fn=lambda:
                             resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))))
        equal(r.rc, 125, r.err)
        contains(r.err, "cannot write the recording: file too large", "what it says")
        replays_to_its_end(d, 10)


@test
def a_directory_that_is_deleted():
    with scratch() as d:
        p = recording(d, "sh", "-c", f"echo >{d}/ready; exec sleep 93.4")
        wait_for("its beginning", lambda: os.path.exists(f"{d}/ready"))
        shutil.rmtree(f"{d}/rec")
        r = finish(p)
        equal(r.rc, 125, r.err)
        contains(r.err, "the recording was deleted while it was made", "what it says")
        no_process("sleep 93.4")


@test
def missing_privileges():
    need("setpriv")
    with scratch() as d:
        os.chmod(d, 0o777)
        r = finish(recording(d, "true", prefix=("setpriv", "--reuid", "65534", "--regid", "65534",
                                                "--clear-groups")))
        equal(r.rc, 125, r.err)
        contains(r.err, "CAP_BPF, CAP_PERFMON, CAP_SYS_NICE, CAP_SYS_PTRACE, CAP_SYS_ADMIN are "
                 "missing", "what is missing")
        contains(r.err, "run it with sudo", "what to do")
        r = finish(recording(d, "true", prefix=("setpriv", "--bounding-set", "-sys_nice",
                                                "--inh-caps", "-sys_nice")))
        equal(r.rc, 125, r.err)
        contains(r.err, "without privilege: CAP_SYS_NICE is missing", "what is missing")
        equal(os.listdir(d), [], "what is left behind")


@test
def another_user():
    with scratch() as d:
        r = finish(recording(d, "sh", "-c", "id -un; id -gn; echo $USER $HOME",
                             opts=("-q", "-u", "nobody")))
        equal((r.rc, r.out), (0, "nobody\nnogroup\nnobody /nonexistent\n"), r.err)
        equal(replay(d).out, r.out, "replayed")
        r = finish(recording(d, "true", opts=("-u", "nosuchuser"), name="two"))
        equal(r.rc, 125, r.err)
        contains(r.err, "no such user: nosuchuser", "what it says")
        equal(sorted(os.listdir(d)), ["rec"], "what is left behind")


def make_elf32(path):
    """exit(0) of 32-bit code, in one segment."""
    base, head = 0x8048000, 52 + 32
    code = bytes([0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80])
    with open(path, "wb") as f:
        f.write(struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 2, 3, 1, base + head, 52, 0,
                            0, 52, 32, 1, 0, 0, 0))
        f.write(struct.pack("<IIIIIIII", 1, 0, base, base, head + len(code), head + len(code), 5,
                            4096) + code)
    os.chmod(path, 0o755)


@test
def a_program_of_32_bits():
    """Known by its file, whether the machine runs such or not."""
    with scratch() as d:
        make_elf32(f"{d}/old")
        for cmd, path in ((f"{d}/old", f"{d}/old"), ("old", f"{d}/old")):
            r = finish(recording(d, cmd, env=dict(os.environ, PATH=f"{d}:{os.environ['PATH']}")))
            equal(r.rc, 125, r.err)
            contains(r.err, f"{path} is a 32-bit program, which cannot be recorded", "it")
            contains(r.err, "record a 64-bit build of the program", "what to do")
        equal(os.listdir(d), ["old"], "what is left of it")


@test
def code_of_32_bits():
    with scratch() as d:
        make_elf32(f"{d}/old")
        if run(["sh", "-c", f"{d}/old"]).rc != 0:
            raise Skip("this machine does not run 32-bit programs")
        r = finish(recording(d, "sh", "-c", f"sleep 94.5 & {d}/old"))
        equal(r.rc, 125, r.err)
        contains(r.err, "runs a 32-bit program, which cannot be recorded", "a program")
        no_process("sleep 94.5")
        replays_to_its_end(d, 10)


@test
def calls_of_32_bits():
    code = ("import ctypes, mmap, os\nm = mmap.mmap(-1, 4096, prot=7)\n"
            "m.write(bytes([0x53, 0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0x5b, 0xc3]))\n"
            "f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof("
            "ctypes.c_char.from_buffer(m)))\nprint(f())\n")
    if run([PYTHON, "-c", code]).rc != 0:
        raise Skip("this machine does not know calls of 32-bit code")
    with scratch() as d:
        r = finish(recording(d, PYTHON, "-c", code + "while 1: os.getppid()\n", name="call"))
        equal(r.rc, 125, r.err)
        contains(r.err, "made a call of 32-bit code, which cannot be recorded", "a call")


@test
def an_ioctl_that_is_not_in_the_table():
    """SIOCGIFBR, whose number does not say what it writes, and which nobody needs any more."""
    with scratch() as d:
        code = ("import fcntl, socket, time\n"
                "fcntl.ioctl(socket.socket(), 0x8940, bytes(256)); print('done')")
        if run([PYTHON, "-c", code]).rc != 0:
            raise Skip("this kernel has no SIOCGIFBR")
        r = finish(recording(d, PYTHON, "-c", code + "; time.sleep(60)"))
        equal(r.rc, 125, r.err)
        contains(r.err, "made a call that cannot be recorded: ioctl, number 16, argument 2 0x8940",
                 "what it says")


@test
def events_that_are_lost():
    """The recorder is stopped: the ring fills up."""
    with scratch() as d:
        p = recording(d, "sh", "-c", f"echo begun; echo >{d}/ready; "
                      "exec dd if=/dev/zero of=/dev/null bs=1")
        wait_for("its beginning", lambda: os.path.exists(f"{d}/ready"))
        wait_for("what it began to be written", lambda: os.path.getsize(f"{d}/rec/events") > 99)
        os.kill(p.pid, signal.SIGSTOP)
        time.sleep(3)
        os.kill(p.pid, signal.SIGCONT)
        r = finish(p)
        equal((r.rc, r.out), (125, "begun\n"), r.err)
        check(re.search(r"^tracer: \d+ events were lost: the ring was full$", r.err, re.M), r.err)
        contains(r.err, "another process of real time may have had CPU", "what to do")
        r = replays_to_its_end(d, 10)
        equal(r.out, "begun\n", "what is replayed")


@test
def memory_that_others_write():
    with scratch() as d:
        path = f"{d}/shared"
        with open(path, "wb") as f:
            f.write(bytes(8192))
        text = (f"import mmap\nf = open({path!r}, 'r+b')\nm = mmap.mmap(f.fileno(), 0)\n"
                "print(m[0])\n")
        r = finish(recording(d, PYTHON, "-c", text, opts=(), name="alone"))
        equal((r.rc, r.out), (0, "0\n"), r.err)
        check("outside of the recording" not in r.err, f"alone: {r.err}")
        with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0):
            r = finish(recording(d, PYTHON, "-c", text * 2, opts=()))
        equal((r.rc, r.out), (0, "0\n0\n"), r.err)
        equal(r.err.count(f"{path} is mapped by a process outside of the recording"), 1, r.err)


def writer_of(p):
    """The recorder's second thread, once it is there."""
    def found():
        return [t for t in safe_list(f"/proc/{p.pid}/task") if int(t) != p.pid]
    wait_for("the writer", found)
    return found()[0]


@test
def a_writer_that_is_slow():
    """It hardly gets to run, and the program writes far more than may wait for it. All are of
    one session: the kernel shares CPUs among sessions first."""
    need("taskset")
    if SANITIZED:
        raise Skip("the sanitizer maps memory in the writer, which the recorder waits for")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("a writer of its own speed needs a CPU of its own")
    with scratch() as d:
        p = recording(d, "sh", "-c", "sleep 1; exec dd if=/dev/zero of=/dev/null bs=1M count=400 "
                      "status=none", start_new_session=False)
        writer = writer_of(p)
        wait_for("its CPU", lambda: len(os.sched_getaffinity(p.pid)) == 1)
        free = (set(cpus) - os.sched_getaffinity(p.pid)).pop()
        run(["taskset", "-p", "-c", str(free), writer]).ok()
        run(["chrt", "-i", "-p", "0", writer]).ok()
        hog = start(["taskset", "-c", str(free), PYTHON, "-c", "while True: pass"],
                    start_new_session=False,
                    preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, 0))
        time.sleep(5)
        check(p.poll() is None, "the program waits for its writer")
        os.kill(hog.pid, signal.SIGKILL)
        run(["chrt", "-o", "-p", "0", writer]).ok()
        r = finish(p)
        equal(r.rc, 0, r.err)
        equal(replay(d).rc, 0, "replayed")


if __name__ == "__main__":
    main()
