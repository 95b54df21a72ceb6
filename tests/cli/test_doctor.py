#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracer doctor: what it says is what a trace then does, with privilege, with some and without."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (ROOT, TRACER, Skip, check, clean_env, contains, equal, main, need, run,
                     scratch, test)
from terminal import run_on_terminal

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
SUMMARY = {"syscalls", "threads", "futex", "pipes", "sched"}


def with_caps(*caps):
    """Another user with these capabilities alone."""
    names = ",".join(f"+{c}" for c in caps)
    return [*NOBODY, *([f"--inh-caps={names}", f"--ambient-caps={names}"] if caps else [])]


def doctor(rc, prefix=(), **env):
    """The object; its shape is checked."""
    r = run([*prefix, TRACER, "doctor", "--json"], env=clean_env(**env))
    equal(r.rc, rc, f"exit code: {r.err} {r.out[-300:]}")
    equal(r.err, "", "stderr")
    d = json.loads(r.out)
    equal(d["schema"], "tracer.doctor/1", "schema")
    equal(d["works"], all(c["works"] for c in d["collectors"]), "works")
    equal(rc, 0 if d["works"] else 1, "exit code and works")
    equal({c["name"] for c in d["collectors"]},
          SUMMARY | {"stacks", "kernel-stacks", "filters", "watch", "start-routine", "record"},
          "collectors")
    for p in d["parts"]:
        check(p["state"] in ("ok", "fails", "untried"), p)
        equal(p["state"] == "fails", bool(p["why"]), f"why of {p}")
        check(p["state"] != "fails" or p["fix"], f"no fix: {p}")
    parts = {p["name"] for p in d["parts"]}
    for c in d["collectors"]:
        equal(c["broken"] is None, c["works"], f"broken of {c}")
        check(c["works"] or c["broken"] in parts, c)
    return d


def parts(d):
    return {p["name"]: p for p in d["parts"]}


def collectors(d):
    return {c["name"]: c for c in d["collectors"]}


def table(*prefix, rc, **env):
    r = run([*prefix, TRACER, "doctor"], env=clean_env(**env))
    equal((r.rc, r.err), (rc, ""), f"exit code and stderr; {r.out[:500]}")
    for line in r.out.splitlines():
        check(len(line) <= 80 and line == line.rstrip(), f"line: {line!r}")
    return r.out


@test
def as_root_it_says_what_a_trace_then_does():
    d = doctor(0)
    equal({p["state"] for p in d["parts"]}, {"ok"}, "states")
    check({"sched_switched", "call_enter_raw", "mark_tasks", "routine_begins"} <= set(parts(d)),
          f"parts: {sorted(parts(d))}")
    check(d["cost"]["ns_per_syscall"] >= 0, f"cost: {d['cost']}")
    equal(d["with_root"], [], "what root would add")
    with scratch() as s:
        for mode in ("wait", "exact"):
            run([TRACER, "run", "-q", "--mode", mode, "--json", "-o", f"{s}/s", "--", "true"]).ok()
            with open(f"{s}/s", encoding="utf-8") as f:
                ways = json.load(f)["ways"]
            equal({n: c[mode] for n, c in collectors(d).items() if n in SUMMARY}, ways,
                  f"ways of {mode}")


@test
def a_way_that_is_asked_for():
    d = doctor(0, TRACER_ATTACH_WAY="raw_tp")
    equal([(w["name"], w["left_out"], w["works"]) for w in d["ways"]],
          [("tp_btf", True, True), ("raw_tp", False, True)], "ways")
    equal({c["exact"] for n, c in collectors(d).items() if n in ("syscalls", "futex", "pipes")},
          {"raw_tp"}, "way taken")
    r = run([TRACER, "doctor"], env=clean_env(TRACER_ATTACH_WAY="by foot"))
    equal((r.rc, r.out), (2, ""), "no such way")
    contains(r.err, "by foot", "message")


@test
def what_is_tried_is_taken_away_again():
    """Else so many programs and maps would not fit into as many descriptors as a trace needs."""
    doctor(0, ["bash", "-c", "ulimit -n 64; exec \"$@\"", "sh"])


@test
def a_user_without_privileges():
    need("setpriv")
    d = doctor(1, NOBODY)
    equal(parts(d)["rings"]["errno"], "EPERM", "errno")
    for word in ("CAP_BPF", "CAP_PERFMON"):
        contains(parts(d)["rings"]["why"], word, "why")
    contains(parts(d)["rings"]["fix"], "sudo", "fix")
    equal(parts(d)["sched_switched"]["state"], "untried", "a program")
    equal(parts(d)["sched_switched"]["kernel_has_hook"], True, "the hook is seen")
    equal(parts(d)["tracer-sym"]["state"], "ok", "names need no privilege")
    equal(d["cost"], None, "cost")
    check(d["system"]["privileges"]["cap_bpf"] is False, "CAP_BPF")
    out = table(*NOBODY, rc=1)
    check(re.search(r"^ +with root: .*load", out, re.M), f"with root: {out}")
    contains(out, "sudo", "the command that gives it")


@test(root=False)
def whoever_asks():
    """Run as it comes: the user of these tests may be anybody."""
    r = run([TRACER, "doctor", "--json"])
    check(r.rc in (0, 1) and not r.err, f"exit {r.rc}: {r.err}")
    equal(json.loads(r.out)["system"]["kernel"]["release"], os.uname().release, "release")
    equal(json.loads(r.out)["system"]["privileges"]["uid"], os.getuid(), "uid")


@test
def one_capability_of_two():
    need("setpriv")
    d = doctor(1, with_caps("bpf"))
    equal((parts(d)["rings"]["state"], parts(d)["maps"]["state"]), ("ok", "ok"), "CAP_BPF alone")
    for name in ("forked", "sched_switched", "call_enter_raw", "mark_tasks"):
        equal(parts(d)[name]["state"], "fails", name)
        contains(parts(d)[name]["why"], "CAP_PERFMON is missing", name)
    d = doctor(1, with_caps("perfmon"))
    equal(parts(d)["rings"]["state"], "fails", "CAP_PERFMON alone")
    contains(parts(d)["rings"]["why"], "CAP_BPF is missing", "why")


@test
def both_capabilities():
    """All but stacks of the kernel, and the uprobe where CAP_SYS_ADMIN is wanted for it."""
    need("setpriv")
    caps = with_caps("bpf", "perfmon")
    able = run([*caps, TRACER, "run", "-q", "-o", "/dev/null", "--start-routine", "--", "true"])
    d = doctor(1, caps)
    equal([n for n, c in collectors(d).items() if not c["works"]],
          ["kernel-stacks"] + ([] if able.rc == 0 else ["start-routine"]) + ["record"],
          "what does not work")
    contains(parts(d)["tracer-record"]["why"], "CAP_SYS_NICE, CAP_SYS_PTRACE, CAP_SYS_ADMIN are "
             "missing", "what recording needs besides")
    if able.rc:
        contains(parts(d)["routine_begins"]["fix"], "CAP_SYS_ADMIN", "fix")
    check(d["cost"] and any("users" in line for line in d["with_root"]), d["with_root"])


@test
def root_without_the_capabilities():
    need("setpriv")
    d = doctor(1, ["setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin", "--inh-caps=-all"])
    contains(parts(d)["rings"]["why"], "missing", "why")


@test
def no_new_privileges():
    need("setpriv")
    d = doctor(1, [*NOBODY, "--no-new-privs"])
    contains(parts(d)["rings"]["why"], "no_new_privs", "why")


@test
def root_of_a_user_namespace():
    if run(["unshare", "-Ur", "true"]).rc:
        raise Skip("no user namespaces here")
    d = doctor(1, ["unshare", "-Ur"])
    contains(parts(d)["rings"]["why"], "user namespace", "why")
    equal(d["system"]["privileges"]["user_namespace"], True, "user_namespace")


@test
def type_information_is_hidden():
    need("unshare")
    d = doctor(1, ["unshare", "-m", "sh", "-c",
                   "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"", "sh"])
    equal(d["system"]["kernel"]["btf"], False, "btf")
    contains(parts(d)["maps"]["fix"], "CONFIG_DEBUG_INFO_BTF", "fix")
    equal({c["works"] for c in d["collectors"]}, {False}, "collectors")


@test
def few_descriptors():
    for n in (16, 20, 30):
        d = doctor(1, ["bash", "-c", f"ulimit -n {n}; exec \"$@\"", "sh"])
        broken = [p for p in d["parts"] if p["state"] == "fails"]
        check(any("ulimit -n" in p["fix"] for p in broken), f"{n}: {broken}")
        equal(d["system"]["privileges"]["open_files"], n, "open_files")
        check(any(a["about"] == "open_files" for a in d["advice"]), d["advice"])


@test
def whether_it_can_record():
    """It says what a recording then does."""
    need("setpriv")
    with scratch() as s:
        for drop in ("", "-sys_nice", "-sys_ptrace", "-bpf,-sys_admin"):
            prefix = ["setpriv", f"--bounding-set={drop}", "--inh-caps=-all"] if drop else []
            able = run([*prefix, TRACER, "record", "-q", "-o", f"{s}/rec{drop}", "--", "true"])
            d = doctor(1 if drop else 0, prefix)
            equal(collectors(d)["record"]["works"], able.rc == 0, f"without {drop}: {able.err}")
            if drop:
                contains(able.err, parts(d)["tracer-record"]["why"], "the reason")
                contains(parts(d)["tracer-record"]["fix"], "sudo", "what mends it")


@test
def a_recorder_that_is_missing():
    with scratch() as s:
        os.makedirs(f"{s}/bin")
        shutil.copy(TRACER, f"{s}/bin/tracer")
        shutil.copytree(f"{os.path.dirname(TRACER)}/libexec", f"{s}/libexec/tracer")
        os.unlink(f"{s}/libexec/tracer/tracer-record")
        r = run([f"{s}/bin/tracer", "doctor", "--json"])
        equal(r.rc, 1, f"exit code: {r.err}")
        d = json.loads(r.out)
    equal([n for n, c in collectors(d).items() if not c["works"]], ["record"], "does not work")
    contains(parts(d)["tracer-record"]["fix"], "make install", "fix")


@test
def a_tracer_sym_that_is_missing():
    with scratch() as s:
        os.chmod(s, 0o755)
        os.makedirs(f"{s}/bin")
        shutil.copy(TRACER, f"{s}/bin/tracer")
        shutil.copytree(f"{os.path.dirname(TRACER)}/libexec", f"{s}/libexec/tracer")
        os.unlink(f"{s}/libexec/tracer/tracer-sym")
        r = run([f"{s}/bin/tracer", "doctor", "--json"])
        equal(r.rc, 1, f"exit code: {r.err}")
        d = json.loads(r.out)
    equal([n for n, c in collectors(d).items() if not c["works"]], ["stacks"], "does not work")
    contains(parts(d)["tracer-sym"]["why"], "tracer-sym", "why")
    contains(parts(d)["tracer-sym"]["fix"], "make install", "fix")


@test
def a_nested_pid_namespace():
    need("unshare")
    d = doctor(0, ["unshare", "-pf", "--mount-proc"])
    equal(d["system"]["machine"]["pid_namespace"], True, "pid_namespace")
    equal(doctor(0)["system"]["machine"]["pid_namespace"],
          os.stat("/proc/self/ns/pid").st_ino != 0xEFFFFFFC, "outside")


@test
def tables_fit_and_are_plain():
    out = table(rc=0)
    check(out.startswith("COLLECTORS  all work\n"), out[:100])
    check("\x1b" not in out, "colour without a terminal")
    for name in ("syscalls", "start-routine", "sched_switched", "CAP_PERFMON", "cgroup2"):
        contains(out, name, "table")
    ascii_only = table(rc=0, LC_ALL="C")
    check(ascii_only.isascii(), "not ASCII")
    check("\x1b[" in run([TRACER, "doctor", "--color", "always"]).ok().out, "no colour when asked")


@test
def colour_on_a_terminal():
    for term, want in (("xterm", True), ("dumb", False)):
        rc, text = run_on_terminal([TRACER, "doctor"], TERM=term)
        equal(rc, 0, text)
        equal("\x1b[" in text, want, f"colour with TERM={term}")


@test(root=False)
def usage_and_output():
    for args in (["--wrong"], ["operand"], ["--color", "red"], ["-o"]):
        r = run([TRACER, "doctor", *args])
        equal((r.rc, r.out), (2, ""), f"{args}: {r.err}")
        check(r.err.startswith("tracer: "), r.err)
    with scratch() as s:
        r = run([TRACER, "doctor", "--json", "-o", f"{s}/d"])
        equal(r.out, "", "stdout")
        with open(f"{s}/d", encoding="utf-8") as f:
            equal(json.load(f)["schema"], "tracer.doctor/1", "file")
        equal(run([TRACER, "doctor", "-o", f"{s}/no/such"]).rc, 2, "a file that cannot be made")
    r = run([TRACER, "doctor"], stdout=open("/dev/full", "wb"))
    equal(r.rc, 2, "a full disk")
    contains(r.err, "standard output", "message")


@test(root=False)
def hostile_environment():
    r = run([TRACER, "doctor"], env=clean_env(TERM="\x1b]0;title\x07", DEBUGINFOD_URLS="\x1b"))
    check(r.rc in (0, 1) and "\x1b" not in r.out and "\x07" not in r.out, f"escapes: {r.out!r}")
    r = run([TRACER, "doctor", "--json"], env=clean_env(TERM="\x1b\"<script>"))
    equal(json.loads(r.out)["system"]["terminal"]["term"], "\x1b\"<script>", "TERM in JSON")
    check("\x1b" not in r.out, "an escape in JSON")


def keys_of(value):
    if isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from keys_of(v)
    elif isinstance(value, list):
        for v in value:
            yield from keys_of(v)


@test(root=False)
def every_name_is_documented():
    with open(os.path.join(ROOT, "docs", "formats", "doctor-json.md"), encoding="utf-8") as f:
        text = f.read()
    d = json.loads(run([TRACER, "doctor", "--json"]).out)
    known = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]*)`", text))))
    equal(sorted(set(keys_of(d)) - known), [], "names that docs/formats/doctor-json.md lacks")
    names = {c["name"] for c in d["collectors"]} | {"rings", "maps", "trace"}
    equal(sorted(n for n in names if n not in text), [], "collectors and parts")


if __name__ == "__main__":
    main()
