#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Machines that lack something, and limits: a clear message or a right result, nothing else."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (BUILD, DEVNULL, ROOT, SANITIZED, TRACER, Skip, calls, check, contains, equal,
                     load_json, main, need, run, scratch, start, test, trace, trace_work,
                     workload)


def hidden(path, argv):
    """argv where an empty file system lies over path."""
    return ["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {path} && exec \"$@\"", "sh", *argv]


@test
def no_btf():
    need("unshare")
    with scratch() as d:
        r = run(hidden("/sys/kernel/btf", [TRACER, "run", "--", "touch", f"{d}/ran"]))
        equal(r.rc, 125, f"exit code: {r.err}")
        check(re.match(r"tracer: ", r.err) and "BTF" in r.err, f"message: {r.err!r}")
        check(not os.path.exists(f"{d}/ran"), "the command ran untraced")
        r = run(hidden("/sys/kernel/btf", [TRACER, "attach", "-d", "1", str(os.getpid())]))
        equal(r.rc, 2, f"exit code of attach: {r.err}")


@test
def no_cgroup2():
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        mounts = [line.split()[4] for line in f if " - cgroup2 " in line]
    off = " && ".join(f"umount -l {m}" for m in mounts) or ":"
    r = run(["unshare", "-m", "sh", "-c", f"{off} && exec {TRACER} attach --cgroup /x -d 1"])
    equal(r.rc, 2, f"exit code: {r.err}")
    contains(r.err, "cgroup", "message")


@test
def no_debug_file_systems():
    """Neither tracefs nor debugfs nor bpffs is needed."""
    script = ("umount -l /sys/kernel/tracing /sys/kernel/debug /sys/fs/bpf 2>/dev/null; "
              f"exec {TRACER} run -q -o /dev/null -- true")
    run(["unshare", "-m", "sh", "-c", script]).ok()


@test
def pid_namespace_with_the_proc_of_another():
    """unshare -pf without --mount-proc: /proc shows the pids of the outer namespace."""
    with scratch() as d:
        r = run(["unshare", "-pf", TRACER, "run", "--json", "-o", f"{d}/s", "--",
                 workload("getpid_many"), "3", "101"])
        if r.rc == 125:
            check(re.match(r"tracer: .*proc", r.err), f"message: {r.err!r}")
            return
        r.ok()
        s = load_json(f"{d}/s")
    equal(calls(s)["getpid"], 303, "getpid")
    check(all(t["tid"] < 30 for t in s["threads"]["by_thread"]), "tids are the namespace's")


@test
def no_proc_at_all():
    if SANITIZED:
        raise Skip("the sanitizer needs /proc itself")
    r = run(hidden("/proc", [TRACER, "run", "--", "true"]))
    equal(r.rc, 125, f"exit code: {r.err}")
    check(r.err.startswith("tracer"), f"message: {r.err!r}")


@test
def few_descriptors():
    for n in (3, 5, 8, 12, 16, 24, 32, 48, 64):
        r = run(["bash", "-c", f"ulimit -n {n}; exec {TRACER} run -q -o /dev/null -- true"])
        # 127: the loader cannot even open libc.
        check(r.rc in (0, 125) or (n < 8 and r.rc == 127), f"{n} descriptors: exit {r.rc}: {r.err}")
        check(r.rc == 0 or r.err.strip(), f"{n} descriptors: no message")
        check("Sanitizer" not in r.err and "Aborted" not in r.err, f"{n} descriptors: {r.err}")
    equal(r.rc, 0, f"64 descriptors suffice: {r.err}")


@test
def no_locked_memory():
    run(["bash", "-c", f"ulimit -l 0; exec {TRACER} run -q -o /dev/null -- true"]).ok()


@test
def limits_of_the_command_are_not_touched():
    line = "ulimit -n; ulimit -l; ulimit -s; ulimit -u; ulimit -c"
    a = run(["bash", "-c", line]).out
    b = run([TRACER, "run", "-q", "-o", "/dev/null", "--", "bash", "-c", line]).out
    equal(b, a, "limits")


@test
def many_and_long_arguments():
    args = ["x" * 100000] + [str(i) for i in range(20000)]
    r = trace(["true", *args])
    check_summary(r.json)
    equal(r.json["command"], ["true", *args], "command")
    run([TRACER, "run", "--", "true", *args]).ok()


@test
def a_directory_that_is_gone():
    with scratch() as d:
        script = f"mkdir {d}/x && cd {d}/x && rmdir {d}/x && exec {TRACER} run -q -- true"
        run(["sh", "-c", script]).ok()


@test
def started_by_a_link_and_by_path():
    with scratch() as d:
        os.symlink(TRACER, f"{d}/tracer")
        run([f"{d}/tracer", "run", "-q", "-o", "/dev/null", "--", "true"]).ok()
        run(["bash", "-c", f"PATH={d}:$PATH; tracer run -q -o /dev/null -- true"]).ok()
    rel = os.path.join(os.path.relpath(BUILD, ROOT), "tracer")
    run([rel, "run", "-q", "-o", "/dev/null", "--", "true"], cwd=ROOT).ok()


@test
def installed_and_taken_away():
    need("make")
    with scratch() as d:
        make = ["make", "-s", "-C", ROOT, f"DESTDIR={d}", "prefix=/usr"]
        if BUILD.endswith("-asan") or BUILD.endswith("-tsan"):
            make.append("SAN=" + BUILD[-4:])
        run([*make, "install"], timeout=300).ok()
        tool = f"{d}/usr/bin/tracer"
        r = run([tool, "run", "--json", "-o", f"{d}/s", "--", workload("getpid_many"), "2", "11"])
        r.ok()
        equal(calls(load_json(f"{d}/s"))["getpid"], 22, "getpid")
        r = run([tool, "run", "-q", "--stacks", "--", workload("mutex_contend"), "3", "101",
                 "100000"]).ok()
        contains(r.err, "take_and_hold", "the installed tracer reads symbols")
        os.unlink(f"{d}/s")
        run([*make, "uninstall"], timeout=60).ok()
        left = [os.path.join(p, f) for p, _, files in os.walk(d) for f in files]
        equal(left, [], "files left by uninstall")


def installed_without_names(d):
    """The tool as it is installed, in d, but without tracer-sym; and where that would be."""
    os.chmod(d, 0o755)
    os.makedirs(f"{d}/bin")
    shutil.copy(TRACER, f"{d}/bin/tracer")
    shutil.copytree(f"{os.path.dirname(TRACER)}/libexec", f"{d}/libexec/tracer")
    os.unlink(f"{d}/libexec/tracer/tracer-sym")
    return f"{d}/bin/tracer", f"{d}/libexec/tracer/tracer-sym"


def addresses_alone(tool, where, said):
    """A trace has all but the names, and tells once what it lacks."""
    d = os.path.dirname(os.path.dirname(tool))
    r = run([tool, "run", "--stacks", "--start-routine", "--json", "-o", f"{d}/s", "--",
             workload("mutex_contend"), "3", "211", "100000"]).ok()
    s = load_json(f"{d}/s")
    check_summary(s)
    equal([line for line in r.err.splitlines() if where in line][1:], [], "more than one warning")
    contains(r.err, where, "the warning names the file")
    contains(r.err, said, "and what is missing")
    locks = [l for l in s["locks"] if int(l["addr"], 16) == r.said["addr"]]
    equal(len(locks), 1, "the lock, by its address")
    check(locks[0]["waits"] and locks[0]["symbol"] is None, f"waits and no symbol: {locks[0]}")
    check(s["loss"]["stacks"], "stacks that could not be unwound are not in the ledger")
    equal(s["threads"]["created"], 3, "threads")
    routines = s["threads"]["routines"]["by_routine"]
    equal([(x["symbol"], x["threads"]) for x in routines], [(None, 3)], "routines")
    r = run([tool, "run", "-q", "--stacks", "--", workload("mutex_contend"), "3", "101",
             "100000"]).ok()
    check(where not in r.err, f"a note in spite of --quiet: {r.err}")


@test
def no_tracer_sym():
    with scratch() as d:
        tool, where = installed_without_names(d)
        addresses_alone(tool, where, "without names")
        w = start([workload("mutex_contend"), "3", "4001", "300000"], stdout=DEVNULL)
        r = run([tool, "attach", "--json", "-d", "300ms", str(w.pid)], timeout=20).ok()
        check(any(l["waits"] for l in json.loads(r.out)["locks"]), "the lock's waits")
        contains(r.err, where, "the warning of attach")


@test
def a_tracer_sym_that_dies():
    """At once, and at its first request; what cannot be executed is as good as dead."""
    for text in ("#!/bin/sh\nexit 1\n",
                 "#!/bin/sh\n/usr/bin/head -c 100 <&3 >/dev/null\nkill -9 $$\n",
                 "no program\n"):
        with scratch() as d:
            tool, where = installed_without_names(d)
            with open(where, "w", encoding="ascii") as f:
                f.write(text)
            os.chmod(where, 0o755)
            addresses_alone(tool, where, "missing")


@test
def work_without_a_terminal_or_home():
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    run([TRACER, "run", "-q", "-o", "/dev/null", "--", "true"], env=env).ok()
    run([TRACER, "run", "-q", "-o", "/dev/null", "--", "/bin/true"], env={}).ok()


@test
def odd_environment():
    for k, v in (("COLUMNS", "0"), ("COLUMNS", "-5"), ("COLUMNS", "999999999999"),
                 ("COLUMNS", "x"), ("LC_ALL", "nonsense"), ("TERM", "\x1b"), ("TZ", "x" * 5000)):
        env = {"PATH": "/usr/bin:/bin", k: v}
        r = run([TRACER, "run", "--", "true"], env=env)
        equal(r.rc, 0, f"{k}={v[:20]!r}")


@test
def counts_do_not_depend_on_the_views_asked_for():
    want = calls(trace_work("getpid_many", 3, 101).json)
    for opts in (["--stacks"], ["--threads"], ["-n", "1"], ["--ring", "16M"], ["-S", "name"],
                 ["--color", "always"]):
        equal(calls(trace_work("getpid_many", 3, 101, opts=opts).json), want, f"with {opts}")


if __name__ == "__main__":
    main()
