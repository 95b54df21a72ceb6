#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Without privilege, with capabilities alone, as another user; pids that cannot be attached."""
import json
import os
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (PIPE, TRACER, Skip, bpf_held, check, contains, equal, finish, load_json,
                     main, need, run, scratch, start, test, wait_gone, workload)

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
HALF_ROOT = """
import os, time
os.setresuid(65534, -1, -1)
open("/proc/self/comm", "w").write("half_root")
while True:
    time.sleep(0.01)
"""
# Run set-gid and yet, by its own will, dumpable: only its group's ids tell what it is.
SET_GID = """
import ctypes, os, sys
if os.getegid() == os.getgid() or ctypes.CDLL(None).prctl(4, 1, 0, 0, 0):
    sys.exit(77)
open("/proc/self/comm", "w").write("set_gid")
print("ready", flush=True)
while not select.select([0], [], [], 0.01)[0]:
    os.getpriority(os.PRIO_PROCESS, 0)
"""
CAPS = [*NOBODY, "--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon"]


def refused(argv, rc):
    """Ends with rc, a message that says what is missing, and no table."""
    t0 = time.monotonic()
    r = run(argv, timeout=20)
    equal(r.rc, rc, f"{argv}: {r.err}")
    check(time.monotonic() - t0 < 10, "it took long to be refused")
    check(r.err.startswith("tracer: "), f"message: {r.err!r}")
    check(re.search(r"root|sudo|CAP_BPF|privilege|permission|permitted", r.err, re.I),
          f"the message does not say what is missing: {r.err!r}")
    check(len(r.err.splitlines()) <= 6, f"more than a message: {r.err}")
    return r


@test
def no_privilege():
    need("setpriv")
    with scratch() as d:
        os.chmod(d, 0o777)
        refused([*NOBODY, TRACER, "run", "--", "touch", f"{d}/ran"], 125)
        check(not os.path.exists(f"{d}/ran"), "the command ran untraced")
    w = start(["sleep", "30"])
    refused([*NOBODY, TRACER, "attach", str(w.pid)], 2)


@test
def root_without_the_capabilities():
    drop = ["setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin", "--inh-caps=-all"]
    with scratch() as d:
        refused([*drop, TRACER, "run", "--", "touch", f"{d}/ran"], 125)
        check(not os.path.exists(f"{d}/ran"), "the command ran untraced")
    w = start(["sleep", "30"])
    refused([*drop, TRACER, "attach", str(w.pid)], 2)


@test
def root_of_a_user_namespace():
    if run(["unshare", "-Ur", "true"]).rc:
        raise Skip("no user namespaces here")
    refused(["unshare", "-Ur", TRACER, "run", "--", "true"], 125)


@test
def help_needs_no_privilege():
    for args in (["--help"], ["run", "--help"], ["--version"]):
        run([*NOBODY, TRACER, *args]).ok()
    equal(run([*NOBODY, TRACER, "run", "--wrong"]).rc, 125, "usage error")


@test
def two_capabilities_suffice():
    with scratch() as d:
        os.chmod(d, 0o777)
        r = run([*CAPS, TRACER, "run", "--json", "-o", f"{d}/summary", "--",
                 workload("getpid_many"), "2", "101"])
        r.ok()
        s = load_json(f"{d}/summary")
    check_summary(s)
    equal([c["calls"] for c in s["syscalls"] if c["name"] == "getpid"], [202], "getpid")


@test
def without_root_nothing_of_the_kernel_is_told():
    with scratch() as d:
        os.chmod(d, 0o777)
        run([*CAPS, TRACER, "run", "--json", "--stacks", "-o", f"{d}/summary", "--",
             workload("mutex_contend"), "3", "211", "100000"]).ok()
        s = load_json(f"{d}/summary")
    check_summary(s)
    frames = [f for l in s["locks"] for site in l["sites"] for f in site["frames"]]
    check(frames, "no stacks: it proves nothing")
    equal([f for f in frames if f["kernel"] or (f["ip"] or "").startswith("0xffff")], [], "frames")


@test
def capabilities_are_not_handed_to_the_command():
    """The command has what it would have without tracer."""
    a = run([*CAPS, workload("job_state")]).ok().said
    b = run([*CAPS, TRACER, "run", "-q", "-o", "/dev/null", "--", workload("job_state")]).ok().said
    for k in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd", "NoNewPrivs", "uid", "gid"):
        equal(b[k], a[k], k)


@test
def with_capabilities_alone_only_own_processes():
    theirs = start(["sleep", "30"])
    time.sleep(0.1)
    r = run([*CAPS, TRACER, "attach", "-d", "1", str(theirs.pid)], timeout=20)
    equal(r.rc, 2, f"exit code: {r.err}")
    contains(r.err, str(theirs.pid), "message")
    mine = start([*NOBODY, "sleep", "30"])
    time.sleep(0.3)
    run([*CAPS, TRACER, "attach", "-d", "300ms", str(mine.pid)], timeout=20).ok()


@test
def whole_system_needs_root():
    r = run([*CAPS, TRACER, "attach", "--json", "--mode", "exact", "--comm", ".*", "-d", "1"],
            timeout=20)
    if r.rc == 2:
        check(r.err.startswith("tracer: "), f"message: {r.err!r}")
        return
    # Or it shows the user's own processes alone.
    r.ok()
    names = {t["comm"] for t in json.loads(r.out)["threads"]["by_thread"]}
    check("python3" not in names, f"processes of root were shown: {sorted(names)[:20]}")


@test
def root_with_another_real_id_is_still_root():
    half = start([sys.executable, "-c", HALF_ROOT])
    time.sleep(0.5)
    r = run([*CAPS, TRACER, "attach", "-q", "--json", "--comm", "^half_root$", "-d", "300ms"],
            timeout=20).ok()
    check(half.poll() is None, "it ended too early")
    equal(json.loads(r.out)["threads"]["by_thread"], [], "processes whose effective user is root")


def set_gid_copy(d):
    """A command that runs SET_GID by a copy of the interpreter that is set-gid."""
    os.chmod(d, 0o755)
    copy = f"{d}/set_gid_python"
    shutil.copy(os.path.realpath(sys.executable), copy)
    os.chown(copy, 0, 4)
    os.chmod(copy, 0o2755)
    return [copy, "-c", "import select" + SET_GID]


@test
def a_set_gid_program_of_the_same_user():
    with scratch() as d:
        argv = set_gid_copy(d)
        w = start([*NOBODY, *argv], stdin=PIPE, stdout=PIPE)
        if w.stdout.readline() != b"ready\n":
            raise Skip("programs do not get their file's group here")
        r = run([*CAPS, TRACER, "attach", "-d", "300ms", str(w.pid)], timeout=20)
        equal(r.rc, 2, f"exit code: {r.err}")
        contains(r.err, "group 4", "message")
        r = run([*CAPS, TRACER, "attach", "-q", "--json", "--mode", "exact", "--comm", "^set_gid$",
                 "-d", "300ms"], timeout=20).ok()
        equal(json.loads(r.out)["threads"]["by_thread"], [], "threads of a set-gid program")
        check(w.poll() is None, "it ended too early")
        w.communicate(b"end\n")


@test
def a_command_that_is_set_gid_runs_unseen():
    with scratch() as d:
        os.mkdir(f"{d}/out")
        os.chmod(f"{d}/out", 0o777)
        r = run([*CAPS, TRACER, "run", "-q", "--json", "-o", f"{d}/out/s", "--", *set_gid_copy(d)],
                data=b"end\n", timeout=20)
        if r.rc == 77:
            raise Skip("programs do not get their file's group here")
        r.ok()
        contains(r.out, "ready", "the command's output")
        s = load_json(f"{d}/out/s")
    equal(sum(c["calls"] for c in s["syscalls"]), 0, "calls of a set-gid program")


@test
def as_another_user():
    with scratch() as d:
        r = run([TRACER, "run", "-q", "-o", f"{d}/s", "-u", "nobody", "--", "sh", "-c",
                 "id -u; id -g; id -G"]).ok()
        equal(r.out.split(), ["65534"] * 3, "ids of the command")
        r = run([TRACER, "run", "-u", "no-such-user", "--", "touch", f"{d}/ran"])
        equal(r.rc, 125, "exit code")
        contains(r.err, "no-such-user", "message")
        check(not os.path.exists(f"{d}/ran"), "the command ran")


@test
def as_a_uid():
    """As sudo takes it: a name first, then a number, which may have a # before it."""
    with scratch() as d:
        for user in ("65534", "#65534"):
            r = run([TRACER, "run", "-q", "-o", f"{d}/s", "-u", user, "--", "sh", "-c",
                     "id -u; id -g; id -G; echo $USER"]).ok()
            equal(r.out.split(), ["65534"] * 3 + ["nobody"], f"ids by -u {user}")
        for user in ("4111222333", "4294967295", "#", "12x", "99999999999999999999", "-1"):
            r = run([TRACER, "run", "-u", user, "--", "touch", f"{d}/ran"])
            equal(r.rc, 125, f"exit code of -u {user}")
            contains(r.err, f"no such user: {user}", "message")
            check(not os.path.exists(f"{d}/ran"), f"-u {user}: the command ran")


@test
def another_user_is_for_root():
    with scratch() as d:
        os.chmod(d, 0o777)
        r = refused([*CAPS, TRACER, "run", "-u", "daemon", "--", "touch", f"{d}/ran"], 125)
        contains(r.err, "daemon", "message")
        check(not os.path.exists(f"{d}/ran"), "the command ran as somebody else")


@test
def left_to_a_group():
    """The README's way: only the group's members may execute what traces."""
    with scratch() as d:
        os.chmod(d, 0o755)
        os.makedirs(f"{d}/bin")
        shutil.copy(TRACER, f"{d}/bin/tracer")
        shutil.copytree(f"{os.path.dirname(TRACER)}/libexec", f"{d}/libexec/tracer")
        live = f"{d}/libexec/tracer/tracer-live"
        os.chown(live, 0, 4)
        os.chmod(live, 0o750)
        run(["setcap", "cap_bpf,cap_perfmon+ep", live]).ok()
        tool = [f"{d}/bin/tracer", "run", "-q", "-o", "/dev/null", "--", "id", "-u"]
        ids = ["setpriv", "--reuid=65534", "--regid=65534"]
        equal(run([*ids, "--groups=4", *tool]).ok().out, "65534\n", "a member")
        r = refused([*ids, "--clear-groups", *tool], 125)
        check("make install" not in r.err, f"a hint that leads nowhere: {r.err}")


@test
def other_users_command_gains_nothing():
    s = run([TRACER, "run", "-q", "-o", "/dev/null", "-u", "nobody", "--",
             workload("job_state")]).ok().said
    equal(int(str(s["CapEff"]), 16), 0, "effective capabilities")
    equal(int(str(s["CapPrm"]), 16), 0, "permitted capabilities")


@test
def pids_that_are_not_there():
    gone = start(["true"])
    gone.wait()
    for pid in (str(gone.pid), "4194303"):
        r = run([TRACER, "attach", pid], timeout=20)
        equal(r.rc, 2, f"exit code: {r.err}")
        contains(r.err, pid, "message")
        contains(r.err.lower(), "no such process", "message")


@test
def pids_that_are_none():
    for pid in ("0", "999999999", "99999999999999999999", "1.5", " ", ""):
        r = run([TRACER, "attach", pid], timeout=20)
        equal(r.rc, 2, f"attach {pid!r}: {r.err}")
        check(re.match(r"tracer: ", r.err), f"message: {r.err!r}")


@test
def one_pid_of_two_is_not_there():
    w = start(["sleep", "30"])
    r = run([TRACER, "attach", "-d", "300ms", str(w.pid), "4194303"], timeout=20)
    contains(r.err, "4194303", "message")
    equal(r.rc, 2, "exit code")


@test
def a_zombie():
    w = start(["sh", "-c", "exit 0"])
    time.sleep(0.3)	# not waited for: it stays a zombie
    r = run([TRACER, "attach", "-d", "5", str(w.pid)], timeout=20)
    check(r.rc in (0, 2), f"exit code {r.rc}: {r.err}")
    check(r.seconds < 4, "attach waited for a process that has ended")


@test
def a_kernel_thread():
    r = run([TRACER, "attach", "-d", "300ms", "2"], timeout=20)
    check(r.rc in (0, 2), f"exit code {r.rc}: {r.err}")


@test
def tracer_itself():
    r = run(["sh", "-c", f"exec {TRACER} attach -d 300ms $$"], timeout=20)
    check(r.rc in (0, 2), f"exit code {r.rc}: {r.err}")


@test
def a_process_that_ends_during_the_attach():
    codes = []
    for ms in (*range(0, 60, 5), *range(60, 500, 40), 1000, 2000, 4000):
        w = start(["sleep", f"{ms / 1000}"])
        p = start([TRACER, "attach", str(w.pid)], stdout=PIPE, stderr=PIPE)
        time.sleep(min(ms, 500) / 2000)
        held = bpf_held(p.pid)
        w.wait()
        r = finish(p, 15)
        check(r.rc in (0, 2), f"ended after {ms} ms: exit {r.rc}: {r.err}")
        check(r.rc == 0 or r.err.startswith("tracer: "), f"message: {r.err!r}")
        codes.append(r.rc)
        if held:
            wait_gone(held)
    check(0 in codes, f"never attached in time: {codes}")


if __name__ == "__main__":
    main()
