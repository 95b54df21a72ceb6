#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Each system call that programs commonly make, recorded and replayed: small programs, one for an
area, that check what the calls answer. Memory is compared behind every call.
"""
import functools
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (BUILD, DEVNULL, SANITIZED, TRACER, Skip, check, contains, equal, main, need,
                     run, scratch, test)
from recordings import replay

CORE = """
read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction
rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select sched_yield
mremap msync mincore madvise shmget shmat shmctl dup dup2 nanosleep getitimer alarm setitimer
getpid sendfile socket connect accept sendto recvfrom sendmsg recvmsg shutdown bind listen
getsockname getpeername socketpair setsockopt getsockopt clone fork vfork execve exit wait4 kill
uname shmdt fcntl flock fsync fdatasync truncate ftruncate getcwd chdir fchdir rename mkdir rmdir
unlink symlink readlink chmod fchmod chown umask gettimeofday getrlimit getrusage sysinfo times
ptrace getuid getgid setuid setgid geteuid getegid setpgid getppid setsid getgroups getpgid
rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack statfs fstatfs prctl arch_prctl gettid
getxattr lgetxattr fgetxattr time futex sched_setaffinity sched_getaffinity io_setup epoll_create
getdents64 set_tid_address restart_syscall fadvise64 timer_create timer_settime timer_gettime
timer_delete clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill
waitid inotify_add_watch openat newfstatat unlinkat readlinkat faccessat pselect6 ppoll
set_robust_list get_robust_list splice utimensat epoll_pwait timerfd_create fallocate
timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1
preadv pwritev perf_event_open recvmmsg prlimit64 sendmmsg getcpu process_vm_readv
process_vm_writev renameat2 seccomp getrandom memfd_create bpf execveat userfaultfd membarrier
copy_file_range statx rseq io_uring_setup clone3 close_range faccessat2 epoll_pwait2
""".split()

# Of these there is no event of a call: what there is in their place.
INSTEAD = {
    "rt_sigreturn": r" signal \d+, handler ",
    "exit": r" ends, status 0x600$",
    "exit_group": r" ends, status 0$",
}

PROGRAMS = {"rr_files": 7, "rr_dirs": 0, "rr_memory": 0, "rr_processes": 0, "rr_signals": 143,
            "rr_time": 1, "rr_poll": 0, "rr_pipes": 0, "rr_sockets": 0, "rr_ipc": 0,
            "rr_threads": 0, "rr_ids": 0, "rr_terminals": 0, "rr_newer": 0}


def record(d, *cmd, name="rec", opts=("--checksum",)):
    if SANITIZED:
        raise Skip("the sanitizer maps memory in the writer, and the recorder waits for it")
    where = os.path.join(d, "in-" + name)
    os.mkdir(where)
    return run([TRACER, "record", "-q", *opts, "-o", os.path.join(d, name), "--", *cmd],
               stdin=DEVNULL, cwd=where)


def dump(d, name="rec"):
    return run([TRACER, "dump", os.path.join(d, name)]).ok().out


@functools.cache
def calls_of(name):
    """Records the program and replays it twice; the names of the calls that it made."""
    with scratch() as d:
        path = os.path.join(BUILD, "tests", "scenario", "rr", name)
        # Without sums, a replay does many calls at a time.
        for rec, opts in (("rec", ["--checksum"]), ("plain", [])):
            was = record(d, path, name=rec, opts=opts)
            equal(was.rc, PROGRAMS[name], f"{name} recorded: {was.err}{was.out[-300:]}")
            again = replay(d, rec)
            equal((again.rc, again.err), (was.rc, was.err),
                  f"{rec} {name} replayed: {again.out[-300:]}")
            equal(again.out, was.out, f"{name}'s output")
        text = dump(d)
    made = set(re.findall(r" call (\w+)\(", text))
    sums, calls = text.count(" sums of "), text.count(" call ")
    # Where the recorder itself had to wait, and the program ran on, there are none.
    check(sums >= calls - calls // 50, f"memory is compared behind {sums} of {calls} calls")
    return made | {call for call, sign in INSTEAD.items() if re.search(sign, text, re.M)}


def each(name):
    def fn():
        calls_of(name)
    fn.__name__ = name.removeprefix("rr_")
    return fn


for program in PROGRAMS:
    test(each(program))


@test
def core_calls():
    """Together they make all of them."""
    equal(len(CORE), 183, "core calls")
    made = set().union(*(calls_of(name) for name in PROGRAMS))
    equal([name for name in CORE if name not in made], [], "calls that none has made")


@test
def what_differs_is_found():
    """A mapped file's copy is altered in the recording: no call sees it, and the sums do."""
    with scratch() as d:
        path = os.path.join(d, "data")
        with open(path, "wb") as f:
            f.write(b"abc" * 5000)
        was = record(d, "python3", "-c", "import mmap, os\n"
                     f"f = os.open({path!r}, os.O_RDWR)\n"
                     "m = mmap.mmap(f, 0, access=mmap.ACCESS_COPY)\nos.getppid()")
        equal((was.rc, replay(d).rc), (0, 0), was.err)
        copies = os.path.join(d, "rec", "files")
        size = {n: os.path.getsize(os.path.join(copies, n)) for n in os.listdir(copies)}
        with open(os.path.join(copies, [n for n in size if size[n] == 15000][0]), "r+b") as f:
            f.seek(9000)
            f.write(b"X")
        r = replay(d)
        equal(r.rc, 2, r.err)
        text = dump(d)
    start = int(re.findall(r" maps (0x[0-9a-f]+)-.*/data\b", text, re.M)[-1], 16)
    event = int(re.findall(r"^(\d+) \d+ maps .*/data\b", text, re.M)[-1]) + 1
    contains(r.err, f"event {event}, thread ", "which event")
    contains(r.err, f"memory is not what it was: the page at {start + 8192:#x}, of {path}", "where")


@test
def sums_are_of_the_calls_end():
    """What a program writes right behind a call is not in that call's sums."""
    with scratch() as d:
        was = record(d, os.path.join(BUILD, "tests", "scenario", "rr", "rr_counter"))
        equal(was.rc, 0, was.err)
        again = replay(d)
        equal((again.rc, again.err), (0, ""), "replayed")
        text = dump(d)
    check(text.count(" sums of ") > 1900, "sums")


def same(d, name, *cmd):
    was = record(d, *cmd, name=name)
    again = replay(d, name)
    equal((again.rc, again.out, again.err), (was.rc, was.out, was.err), f"{name} replayed")
    return was


@test
def real_programs():
    """Those that come to a call often enough for a replay to patch it, and a database's log."""
    for tool in ("gcc", "sqlite3"):
        need(tool)
    with scratch() as d:
        path = os.path.join(d, "a.c")
        with open(path, "w", encoding="ascii") as f:
            f.write("int main(void) { return 3; }\n")
        equal(same(d, "gcc", "gcc", "-O1", path, "-o", os.path.join(d, "a.out")).rc, 0, "gcc")
        was = same(d, "sqlite3", "sqlite3", os.path.join(d, "db"), "pragma journal_mode = wal; "
                   "create table t (a); insert into t values (1), (2); select sum(a) from t")
        equal(was.out, "wal\n3\n", "sqlite3")
        equal(same(d, "threads", "python3", "-c", "import threading\nout = []\n"
                   "ts = [threading.Thread(target=out.append, args=(i,)) for i in range(5)]\n"
                   "for t in ts: t.start()\nfor t in ts: t.join()\nprint(out)").rc, 0, "python")


if __name__ == "__main__":
    main()
