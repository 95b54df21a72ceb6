#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a user of a tracer with file capabilities learns of others: nothing.

The tracer is installed as docs/privileges.md has it: root:GROUP 0750, with two
capabilities on what traces. Mallory is a member of the group.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (PIPE, SANITIZED, TRACER, Skip, check, clean_env, contains, equal, main, need,
                     run, scratch, start, test, wait_attached, workload)
from terminal import run_on_terminal

GROUP = 4
IDS = ["setpriv", "--reuid=65534", "--regid=65534"]
# By env: setpriv has root's rights until its exec, and could execute anything.
MALLORY = [*IDS, f"--groups={GROUP}", "env"]
STRANGER = [*IDS, "--clear-groups", "env"]
# The same user, but with a capability that she has not by herself.
SERVICE = [*IDS, "--clear-groups", "--inh-caps=+net_raw", "--ambient-caps=+net_raw"]
FUTEX = """
import ctypes, mmap, os, sys, time
def shared(path):
    fd = os.open(path, os.O_RDWR)
    m = mmap.mmap(fd, 4096)
    return ctypes.addressof(ctypes.c_int.from_buffer(m)), m
libc = ctypes.CDLL(None)
addr, keep = shared(sys.argv[1])
"""
WAITS = FUTEX + """
print("ready", flush=True)
for i in range(20):
    libc.syscall(202, ctypes.c_void_p(addr), 0, 0, None, None, 0)
"""
WAKES = FUTEX + """
while True:
    libc.syscall(202, ctypes.c_void_p(addr), 1, 1, None, None, 0)
    time.sleep(0.005)
"""
# Set-uid: as root, it names itself, has a thread and a child, and becomes another program.
SET_UID = """
import os, sys, threading, time
if os.geteuid() == os.getuid():
    sys.exit(77)
open("/proc/self/comm", "w").write("secret_self")
t = threading.Thread(target=time.sleep, args=(0.05,))
t.start()
if not os.fork():
    open("/proc/self/comm", "w").write("secret_child")
    time.sleep(0.05)
    os._exit(0)
os.wait()
t.join()
os.execv(os.path.dirname(sys.argv[0]) + "/secret_next", ["true"])
"""


TRACING = [n for n in ("tracer-live", "tracer-top")
           if os.access(f"{os.path.dirname(TRACER)}/libexec/{n}", os.X_OK)]


@contextlib.contextmanager
def installed(caps="cap_bpf,cap_perfmon+ep", mode=0o750):
    """(the tool, a directory of the user's); in the scratch directory."""
    need("setpriv", "setcap", "getcap")
    with scratch() as d:
        os.chmod(d, 0o755)
        os.makedirs(f"{d}/bin")
        os.makedirs(f"{d}/home")
        os.chown(f"{d}/home", 65534, 65534)
        shutil.copy(TRACER, f"{d}/bin/tracer")
        shutil.copytree(f"{os.path.dirname(TRACER)}/libexec", f"{d}/libexec/tracer")
        for name in TRACING:
            path = f"{d}/libexec/tracer/{name}"
            os.chown(path, 0, GROUP)
            os.chmod(path, mode)
            if caps and run(["setcap", caps, path]).rc:
                raise Skip("no file capabilities on this file system")
        yield f"{d}/bin/tracer", f"{d}/home"


def names(summary):
    return {t["comm"] for t in summary["threads"]["by_thread"]}


def pids(summary):
    return {t["tid"] for t in summary["threads"]["by_thread"]}


@test
def a_member_traces_her_own_and_nobody_else():
    with installed() as (tool, home):
        run([*MALLORY, tool, "run", "-q", "--json", "-o", f"{home}/s", "--",
             workload("getpid_many"), "2", "101"]).ok()
        with open(f"{home}/s", encoding="utf-8") as f:
            s = json.load(f)
        equal([c["calls"] for c in s["syscalls"] if c["name"] == "getpid"], [202], "her command")
        equal(os.stat(f"{home}/s").st_uid, 65534, "owner of the output")
        hers = start([*MALLORY, "sleep", "30"])
        roots = start(["sleep", "30"])
        time.sleep(0.3)
        run([*MALLORY, tool, "attach", "-d", "300ms", str(hers.pid)], timeout=20).ok()
        r = run([*MALLORY, tool, "attach", "-d", "300ms", str(roots.pid)], timeout=20)
        equal((r.rc, r.out), (2, ""), "another's process")
        contains(r.err, "belongs to user 0", "message")
        r = run([*MALLORY, tool, "attach", "-q", "--json", "--comm", ".*", "-d", "500ms"],
                timeout=20).ok()
        seen = pids(json.loads(r.out))
        check(hers.pid in seen and roots.pid not in seen, f"threads of the whole machine: {seen}")
        for pid in seen:
            with contextlib.suppress(FileNotFoundError):
                equal(os.stat(f"/proc/{pid}").st_uid, 65534, f"owner of thread {pid}")


@test
def who_is_no_member_cannot_execute_it():
    with installed() as (tool, _):
        r = run([*STRANGER, tool, "run", "--", "true"])
        equal(r.rc, 125, f"exit code: {r.err}")
        contains(r.err, "permission denied", "message")
        equal(run([*STRANGER, f"{os.path.dirname(tool)}/../libexec/tracer/tracer-live",
                   "run", "true"]).rc, 126, "the executable itself")


@test
def only_what_traces_has_capabilities():
    with installed() as (tool, _):
        d = os.path.dirname(os.path.dirname(tool))
        found = run(["getcap", "-r", d]).ok().out.splitlines()
        equal(sorted(os.path.basename(line.split()[0]) for line in found), TRACING, "files")
        libexec = os.path.join(os.path.dirname(TRACER), "libexec")
        equal(run(["getcap", "-r", libexec]).ok().out, "", "capabilities as it is built")


@test
def more_capabilities_than_needed_are_given_up():
    with installed("cap_bpf,cap_perfmon,cap_dac_override,cap_sys_ptrace+ep") as (tool, home):
        roots = os.path.join(os.path.dirname(home), "bin", "tracer")
        size = os.path.getsize(roots)
        r = run([*MALLORY, tool, "run", "-o", roots, "--", "true"])
        equal(r.rc, 125, f"-o into root's file: {r.err}")
        equal(os.path.getsize(roots), size, "the file")
        p = start([*MALLORY, tool, "attach", "--comm", "nobody_has_this", "-d", "20"],
                  stdout=PIPE, stderr=PIPE)
        wait_attached(p)
        with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
            caps = int(re.search(r"CapPrm:\s*(\w+)", f.read())[1], 16)
        equal(caps, 1 << 39 | 1 << 38, "permitted capabilities of the tracer")


@test
def a_file_of_roots_is_not_written():
    with installed() as (tool, home):
        d = os.path.dirname(home)
        with open(f"{d}/roots", "w", encoding="ascii") as f:
            f.write("precious")
        os.symlink(f"{d}/roots", f"{home}/link")
        for path in (f"{d}/roots", f"{d}/new", f"{home}/link"):
            for opt in ("-o", "--trace"):
                r = run([*MALLORY, tool, "run", opt, path, "--", "true"])
                equal(r.rc, 125, f"{opt} {path}: {r.err}")
        with open(f"{d}/roots", encoding="ascii") as f:
            equal(f.read(), "precious", "root's file")
        check(not os.path.exists(f"{d}/new"), "a file in root's directory")


@test
def the_same_user_with_a_capability_more():
    """As ptrace(2) has it: a service that runs by her id but may do more is not hers."""
    with installed() as (tool, _):
        service = start([*SERVICE, sys.executable, "-c", "import time; open('/proc/self/comm', "
                         "'w').write('service')\nwhile True: time.sleep(0.01)"])
        time.sleep(0.5)
        check(os.stat(f"/proc/{service.pid}/stat").st_uid == 65534, "it should be dumpable")
        r = run([*MALLORY, tool, "attach", "-d", "300ms", str(service.pid)], timeout=20)
        equal((r.rc, r.out), (2, ""), f"attach: {r.err}")
        contains(r.err, "capability", "message")
        for mode in ("wait", "exact"):
            r = run([*MALLORY, tool, "attach", "-q", "--json", "--mode", mode, "--comm",
                     "^service$", "-d", "300ms"], timeout=20).ok()
            s = json.loads(r.out)
            equal((names(s), s["empty"]), (set(), True), "threads of the service")
        check(service.poll() is None, "it ended too early")


@test
def her_own_user_namespace_is_hers():
    if run([*STRANGER, "unshare", "-Ur", "true"]).rc:
        raise Skip("no user namespaces for users here")
    with installed() as (tool, _):
        w = start([*MALLORY, "unshare", "-Ur", "sleep", "30"])
        time.sleep(0.5)
        run([*MALLORY, tool, "attach", "-d", "300ms", str(w.pid)], timeout=20).ok()


def set_uid_python(d):
    copy, script = f"{d}/set_uid_python", f"{d}/script.py"
    shutil.copy(os.path.realpath(sys.executable), copy)
    os.chmod(copy, 0o4755)
    shutil.copy("/bin/true", f"{d}/secret_next")
    with open(script, "w", encoding="ascii") as f:
        f.write(SET_UID)
    return [copy, script]


@test
def a_set_uid_program_that_she_starts():
    """It runs as ever, is left out with a word, and nothing that it does or starts is told."""
    with installed() as (tool, home):
        argv = set_uid_python(os.path.dirname(home))
        for mode in ("exact", "wait"):
            r = run([*MALLORY, tool, "run", "--mode", mode, "--json", "-o", f"{home}/s", "--trace",
                     f"{home}/t", "--", "sh", "-c", '"$@"; exit $?', "sh", *argv], timeout=20)
            if r.rc == 77:
                raise Skip("programs do not get their file's owner here")
            r.ok()
            contains(r.err, "left out 1 program", "a note")
            told = ""
            for name in ("s", "t"):
                with open(f"{home}/{name}", encoding="utf-8") as f:
                    told += f.read()
            check("secret" not in told, f"{mode}: a name of a set-uid program is told: "
                  f"{re.findall('.{60}secret.{60}', told)[:3]}")
            with open(f"{home}/s", encoding="utf-8") as f:
                s = json.load(f)
            equal(s["hidden_programs"], 1, "hidden_programs")
            equal(s["threads"]["created"], 0, "threads that it created")
            r = run([*MALLORY, tool, "run", "-q", "--mode", mode, "-o", f"{home}/s", "--", *argv])
            equal((r.rc, r.err), (0, ""), "quiet")
            with open(f"{home}/s", encoding="utf-8") as f:
                table = f.read()
            contains(table, "1 program was left out", "summary")
            contains(table, "FINDINGS  none: nothing was traced", "summary")


@test
def top_of_a_member():
    """Her own processes; and of a set-uid program that she starts meanwhile, nothing."""
    if "tracer-top" not in TRACING:
        raise Skip("top is not built")
    with installed() as (tool, home):
        argv = set_uid_python(os.path.dirname(home))
        roots = start(["sleep", "30"])
        hers = start([*MALLORY, "sleep", "30"])
        starts = start([*MALLORY, "sh", "-c", 'for i in 1 2 3 4 5 6; do "$@"; sleep 0.2; done',
                        "sh", *argv])
        for mode in ("wait", "exact"):
            r = run([*MALLORY, tool, "top", "--mode", mode, "--json", "--rows", "0", "-n", "4",
                     "-d", "250ms"], timeout=30).ok()
            looks = [json.loads(line) for line in r.out.splitlines()]
            seen = {t["tid"] for look in looks for t in look["threads"]}
            equal(len(looks), 4, "looks")
            check(hers.pid in seen and roots.pid not in seen, f"threads: {sorted(seen)}")
            check("secret" not in r.out, "a name of a set-uid program: "
                  f"{re.findall('.{60}secret.{20}', r.out)[:3]}")
        equal(starts.wait(20), 0, "what she started")


@test
def root_sees_set_uid_programs():
    with scratch() as d:
        os.chmod(d, 0o755)
        r = run([TRACER, "run", "--json", "-o", f"{d}/s", "-u", "nobody", "--",
                 *set_uid_python(d)])
        if r.rc == 77:
            raise Skip("programs do not get their file's owner here")
        equal((r.rc, r.err), (0, ""), "run")
        with open(f"{d}/s", encoding="utf-8") as f:
            s = json.load(f)
    equal((s["hidden_programs"], s["empty"]), (0, False), "for root")
    check("secret_self" in names(s), f"threads: {names(s)}")


@test
def who_wakes_her_is_nobody_when_it_is_another_user():
    """A word of memory that root shares with her: she learns that it was woken, not by whom."""
    with installed() as (tool, home):
        word = f"{home}/word"
        with open(word, "wb") as f:
            f.write(bytes(4096))
        os.chown(word, 65534, 65534)
        for mode in ("wait", "exact"):
            w = start([*IDS, "--clear-groups", sys.executable, "-c", WAITS, word], stdout=PIPE)
            equal(w.stdout.readline(), b"ready\n", "waiter")
            a = start([*MALLORY, tool, "attach", "--json", "--mode", mode, str(w.pid)],
                      stdout=PIPE, stderr=PIPE)
            wait_attached(a)
            waker = start([sys.executable, "-c", WAKES, word])
            w.wait(20)
            s = json.loads(a.communicate(timeout=20)[0])
            waits = [l for l in s["locks"] if l["waits"] > 5]
            check(waits, f"{mode}: no waits: {s['locks']}")
            told = {e["waker"] for l in waits for e in l["edges"]}
            equal(told - {0, w.pid}, set(), f"{mode}: who woke her; root's is {waker.pid}")
            os.kill(waker.pid, signal.SIGKILL)
            # The same seen by root: otherwise this test would test nothing.
            w = start([*IDS, "--clear-groups", sys.executable, "-c", WAITS, word], stdout=PIPE)
            w.stdout.readline()
            a = start([TRACER, "attach", "--json", "--mode", mode, str(w.pid)], stdout=PIPE,
                      stderr=PIPE)
            wait_attached(a)
            waker = start([sys.executable, "-c", WAKES, word])
            w.wait(20)
            s = json.loads(a.communicate(timeout=20)[0])
            told = {e["waker"] for l in s["locks"] for e in l["edges"]}
            check(waker.pid in told, f"{mode}: root is not told: {told}")
            os.kill(waker.pid, signal.SIGKILL)


@test
def memory_maps_are_opened_without_capabilities():
    """CAP_PERFMON opens those of anybody: the kernel is to decide as it would for the user."""
    need("strace")
    if SANITIZED:
        raise Skip("the sanitizer reads its own maps")
    with installed() as (tool, home):
        log = f"{os.path.dirname(home)}/log"
        run(["strace", "-f", "-o", log, "-e", "trace=capset,openat,process_vm_readv", *MALLORY,
             tool, "run", "-q", "--stacks", "-o", f"{home}/s", "--", workload("mutex_contend"),
             "3", "211", "100000"], timeout=60).ok()
        with open(log, encoding="utf-8", errors="replace") as f:
            lines = f.read().splitlines()
    effective, opened = {}, 0
    for line in lines:
        m = re.match(r"(\d+) +capset\(.*effective=([^,]+),", line)
        if m:
            effective[m[1]] = m[2]
        m = re.match(r'(\d+) +(?:openat\(.*"(?:maps|map_files/|.*/syscall)|process_vm_readv\()',
                     line)
        # tracer-sym and the command never had any.
        if m and m[1] in effective:
            opened += 1
            equal(effective[m[1]], "0", f"capabilities at {line}")
    check(opened, "no maps were opened: nothing was tested")


@test
def the_tracer_itself_cannot_be_looked_into():
    with installed() as (tool, _):
        p = start([*MALLORY, tool, "attach", "--comm", "nobody_has_this", "-d", "20"],
                  stdout=PIPE, stderr=PIPE)
        wait_attached(p)
        for name in ("mem", "maps", "environ", "stack"):
            r = run([*MALLORY, "head", "-c", "1", f"/proc/{p.pid}/{name}"])
            check(r.rc and not r.out, f"{name} can be read")
        check(run([*MALLORY, "ls", f"/proc/{p.pid}/fd/"]).rc, "descriptors can be listed")


@test
def a_debugger_on_it_takes_the_capabilities_away():
    need("strace")
    if SANITIZED:
        raise Skip("the sanitizer does not work under strace")
    with installed() as (tool, home):
        r = run([*MALLORY, "strace", "-f", "-o", f"{home}/log", tool, "run", "--", "true"])
        equal(r.rc, 125, f"exit code: {r.err}")
        contains(r.err, "CAP_BPF and CAP_PERFMON are missing", "message")
        equal(run([*MALLORY, "setpriv", "--no-new-privs", tool, "run", "--", "true"]).rc, 125,
              "no_new_privs")


@test
def her_environment_does_not_reach_it():
    need("gcc")
    with installed() as (tool, home):
        lib, seen = f"{os.path.dirname(home)}/spy.so", f"{home}/seen"
        with open(seen, "w", encoding="ascii") as f:
            os.chmod(f.fileno(), 0o666)
        code = ('#include <stdio.h>\n#include <errno.h>\n'
                '__attribute__((constructor)) static void spy(void) { FILE *f = fopen("%s", "a");'
                ' if (f) { fprintf(f, "%%s\\n", program_invocation_short_name); fclose(f); } }'
                % seen)
        run(["gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-x", "c", "-", "-o", lib],
            data=code.encode()).ok()
        os.chmod(lib, 0o755)
        env = clean_env(LD_PRELOAD=lib, TRACER_ATTACH_WAY="nonsense")
        if SANITIZED:
            env = clean_env(TRACER_ATTACH_WAY="nonsense")
        r = run([*MALLORY, tool, "run", "-o", f"{home}/s", "--", "true"], env=env)
        equal((r.rc, r.err), (0, ""), "TRACER_ATTACH_WAY is read")
        if SANITIZED:
            return
        with open(seen, encoding="ascii") as f:
            loaded = set(f.read().split())
    # The command has its environment all the same.
    check({"tracer", "true"} <= loaded, f"the library should be in the others: {loaded}")
    check(not loaded & {"tracer-live", "tracer-sym"}, f"loaded into {loaded}")


@test
def her_command_has_her_environment():
    """Also what the C library takes from a program with file capabilities."""
    with installed() as (tool, home):
        env = clean_env(LD_LIBRARY_PATH="/opt/lib", TMPDIR=home, MALLOC_ARENA_MAX="1", FOO="a b",
                        LOCPATH="")
        own = run([*MALLORY, "env"], env=env).ok().out
        told = run([*MALLORY, tool, "run", "-q", "-o", f"{home}/s", "--", "env"], env=env).ok().out
        equal(sorted(told.splitlines()), sorted(own.splitlines()), "environment")


@test
def no_terminal_description_of_hers_is_read():
    """The terminal library knows set-uid, but not capabilities."""
    need("strace")
    if SANITIZED:
        raise Skip("the sanitizer does not work under strace")
    if "tracer-top" not in TRACING:
        raise Skip("top is not built")
    with installed() as (tool, home):
        log = f"{os.path.dirname(home)}/log"
        rc, text = run_on_terminal(["strace", "-f", "-o", log, "-e", "trace=file", *MALLORY, tool,
                                    "top", "-n", "1", "-d", "100ms"], TERM="xterm",
                                   TERMINFO=f"{home}/info", HOME=home,
                                   TERMINFO_DIRS=f"{home}/dirs")
        equal(rc, 0, f"exit code: {text[-500:]}")
        with open(log, encoding="utf-8", errors="replace") as f:
            seen = f.read()
    check("terminfo" in seen, "the terminal library was not in use: nothing was tested")
    # Of the tool's own first part, which has no capabilities, her environment is listed.
    asked = [l for l in seen.splitlines() if home in l and "execve" not in l]
    equal(asked, [], "files of hers that were looked for")


@test
def set_uid_is_refused():
    with installed(None, 0o4755) as (tool, _):
        r = run([*MALLORY, tool, "run", "--", "id", "-u"])
        equal((r.rc, r.out), (125, ""), f"exit code, output: {r.err}")
        contains(r.err, "set-uid", "message")
        equal(run([*MALLORY, tool, "doctor"]).rc, 2, "doctor")


@test
def what_each_command_needs():
    """The table of docs/privileges.md, by trial."""
    need("setpriv")

    def works(caps, *args):
        plus = ",".join(f"+{c}" for c in caps)
        prefix = [*IDS, "--clear-groups"]
        if caps:
            prefix += [f"--inh-caps={plus}", f"--ambient-caps={plus}"]
        return run([*prefix, TRACER, *args], timeout=20).rc == 0
    mine = start([*STRANGER, "sleep", "60"])
    time.sleep(0.3)
    commands = {
        "run": ("run", "-q", "-o", "/dev/null", "--", "true"),
        "run --mode wait": ("run", "--mode", "wait", "-q", "-o", "/dev/null", "--", "true"),
        "attach": ("attach", "-q", "-d", "200ms", str(mine.pid)),
        "attach --comm": ("attach", "-q", "-d", "200ms", "--comm", "sleep"),
    }
    if os.access(f"{os.path.dirname(TRACER)}/libexec/tracer-top", os.X_OK):
        commands["top"] = ("top", "-b", "-n", "1", "-d", "200ms")
    for name, args in commands.items():
        for caps, want in (((), False), (("bpf",), False), (("perfmon",), False),
                           (("sys_ptrace", "sys_resource", "sys_nice"), False),
                           (("bpf", "perfmon"), True), (("sys_admin",), True)):
            equal(works(caps, *args), want, f"{name} with {caps}")
    args = ("run", "-q", "-o", "/dev/null", "--start-routine", "--", "true")
    check(not works(("bpf",), *args), "--start-routine with CAP_BPF alone")
    check(works(("sys_admin",), *args), "--start-routine with CAP_SYS_ADMIN")
    for args in (("--help",), ("help", "run"), ("--version",)):
        check(works((), *args), f"{args} without any")


@test
def pids_tell_no_more_than_kill_does():
    """Where /proc is hidden, who is there is told as kill(2) tells anybody."""
    need("unshare")
    with installed() as (tool, _):
        roots = start(["sleep", "30"])
        gone = start(["true"])
        gone.wait()
        hide = ["unshare", "-m", "sh", "-c", "mount -t proc -o hidepid=2 proc /proc && exec \"$@\"",
                "sh"]
        if run([*hide, "true"]).rc:
            raise Skip("/proc cannot be mounted with hidepid here")
        r = run([*hide, *MALLORY, tool, "attach", "-d", "200ms", str(roots.pid)], timeout=20)
        equal(r.rc, 2, r.err)
        check("sleep" not in r.err and "user 0" not in r.err, f"a hidden process: {r.err}")
        r = run([*hide, *MALLORY, tool, "attach", "-d", "200ms", str(gone.pid)], timeout=20)
        contains(r.err, "no such process", "message")
        r = run([*hide, *MALLORY, tool, "attach", "-q", "--json", "--comm", ".*", "-d", "300ms"],
                timeout=20).ok()
        check(roots.pid not in pids(json.loads(r.out)), "a hidden process is shown")


if __name__ == "__main__":
    main()
