#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Help, usage errors, exit codes."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (SANITIZED, TRACER, Skip, check, clean_env, contains, equal, main, need, run,
                     scratch, test, trace)


@test(root=False)
def help_goes_to_stdout():
    for args in (["--help"], ["-h"], ["help"], ["run", "--help"], ["attach", "--help"],
                 ["help", "run"], ["help", "attach"], ["run", "-h"], ["doctor", "--help"]):
        r = run([TRACER, *args]).ok()
        check(len(r.out) > 200 and r.err == "", f"{args}: {r.err!r}")
        check(all(len(line) <= 80 for line in r.out.splitlines()), f"{args}: wider than 80")
    contains(run([TRACER, "--help"]).out, "attach", "commands in the help")


@test(root=False)
def each_heading_stands_once():
    """Of options: those of a group stand together."""
    cmds = set(re.findall(r"^  ([a-z]+) ", run([TRACER, "--help"]).out, re.M)) - {"tracer"}
    check(len(cmds) > 8 and "record" in cmds, f"commands: {cmds}")
    for cmd in cmds:
        heads = re.findall(r"^(\S.*):$", run([TRACER, "help", cmd]).ok().out, re.M)
        equal(sorted(set(heads)), sorted(heads), f"headings of {cmd}'s help")


@test(root=False)
def help_names_every_option_of_the_specification():
    for cmd in ("run", "attach"):
        text = run([TRACER, cmd, "--help"]).out
        for opt in ("--mode", "--collect", "--cgroup", "--comm", "--ring", "-d", "-n", "--stacks",
                    "--threads", "-S", "-e", "-P", "--json", "--csv", "--trace", "-o", "--quiet"):
            check(re.search(rf"(^|[\s,]){opt}\b", text, re.M), f"{cmd} --help lacks {opt}")
        contains(text.lower(), "example", f"{cmd} --help")
    contains(run([TRACER, "attach", "--help"]).out, "-p", "attach --help")
    contains(run([TRACER, "run", "--help"]).out, "-u", "run --help")


@test(root=False)
def help_is_cheap():
    if SANITIZED:
        raise Skip("the sanitizer makes calls of its own")
    need("strace")
    with scratch() as d:
        log = os.path.join(d, "log")
        run(["strace", "-f", "-o", log, TRACER, "--help"]).ok()
        with open(log, encoding="utf-8", errors="replace") as f:
            n = sum(1 for line in f if re.match(r"\d+\s+\w+\(", line))
    check(0 < n <= 60, f"tracer --help makes {n} system calls")


@test(root=False)
def version():
    r = run([TRACER, "--version"]).ok()
    check(re.fullmatch(r"tracer \d+\.\d+\S*\n", r.out), r.out)


@test(root=False)
def nothing_asked_for():
    r = run([TRACER])
    equal((r.rc, r.out), (2, ""), "tracer alone")
    contains(r.err, "run", "usage")


@test(root=False)
def usage_errors_of_tracer_and_attach_are_2():
    for args in (["wrong"], ["--wrong"], ["attach"], ["attach", "--wrong"], ["attach", "abc"],
                 ["attach", "-d"], ["attach", "-d", "soon", "1"], ["attach", "--mode"],
                 ["attach", "-n", "-3", "1"], ["attach", "--json", "--csv", "1"],
                 ["attach", "12x"], ["attach", "-5"], ["attach", "-p", "1,,2"],
                 ["attach", "1,"], ["attach", "-e", "read,,write", "1"],
                 ["help", "--wrong"]):
        r = run([TRACER, *args])
        equal((r.rc, r.out), (2, ""), f"{args}: {r.err}")
        check(re.match(r"tracer: .*\n", r.err), f"{args}: {r.err!r}")


@test(root=False)
def usage_errors_of_run_are_125():
    for args in ([], ["--wrong", "true"], ["-d", "x", "true"], ["--json", "--csv", "true"],
                 ["--collect", "futex,", "true"], ["--sort=shape", "true"],
                 ["--json=1", "true"], ["-o"], ["--"]):
        r = run([TRACER, "run", *args])
        equal((r.rc, r.out), (125, ""), f"run {args}: {r.err}")
        check(re.match(r"tracer: .*\n", r.err), f"run {args}: {r.err!r}")


@test(root=False)
def orders_have_the_names_that_strace_takes():
    need("strace")
    for name in ("time", "time-percent", "time-total", "total-time", "max-time", "longest",
                 "time-max", "avg-time", "time-avg", "calls", "count", "errors", "error", "name",
                 "syscall", "syscall-name", "nothing", "none"):
        said = run(["strace", "-c", "-S", name, "true"]).err
        check("invalid" not in said.lower(), f"strace does not take {name}: {said}")
        contains(run([TRACER, "run", "-S", name]).err, "no command is given", f"-S {name}")


@test(root=False)
def a_near_miss_is_helped():
    contains(run([TRACER, "atach", "1"]).err, "attach", "the command meant")
    contains(run([TRACER, "run", "--jsn", "true"]).err, "--json", "the option meant")


@test
def command_line_options_belong_to_the_command():
    r = trace(["sh", "-c", "echo $0 $1 $2", "-o", "--json", "--help"])
    equal(r.out, "-o --json --help\n", "arguments")
    r = run([TRACER, "run", "echo", "--json", "-q"]).ok()
    equal(r.out, "--json -q\n", "the first operand ends the options")


@test
def exit_codes_pass_through():
    for code in (0, 1, 2, 3, 77, 124, 255):
        equal(run([TRACER, "run", "-q", "--", "sh", "-c", f"exit {code}"]).rc, code, "exit code")


@test
def death_by_signal_is_128_and_the_number():
    for sig in (1, 2, 6, 9, 11, 13, 15):
        r = run([TRACER, "run", "-q", "--", "sh", "-c", f"ulimit -c 0; kill -{sig} $$"])
        equal(r.rc, 128 + sig, f"signal {sig}: {r.err[-300:]}")


@test
def a_command_that_is_not_there_is_127():
    for cmd in ("nosuchcommand", "/nonexistent/command", "./nonexistent"):
        r = run([TRACER, "run", "--", cmd])
        equal(r.rc, 127, f"{cmd}: {r.err}")
        contains(r.err, cmd, "message")
        check(len(r.err.splitlines()) < 5, f"tables of a command that never ran: {r.err}")


@test
def a_command_that_cannot_run_is_126():
    with scratch() as d:
        plain = os.path.join(d, "plain")
        with open(plain, "w", encoding="ascii") as f:
            f.write("not a program\n")
        for cmd in (plain, d):
            r = run([TRACER, "run", "--", cmd])
            equal(r.rc, 126, f"{cmd}: {r.err}")
            contains(r.err, cmd, "message")
        # One without a format goes to the shell, as with env(1) and execvp(3).
        os.chmod(plain, 0o755)
        equal(run([TRACER, "run", "-q", "-o", "/dev/null", "--", plain]).rc,
              run(["env", plain]).rc, "exit code of a file without a format")


@test
def the_path_is_searched():
    with scratch() as d:
        tool = os.path.join(d, "a-tool-of-ours")
        with open(tool, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\necho found\n")
        os.chmod(tool, 0o755)
        env = clean_env()
        env["PATH"] = d + ":" + env["PATH"]
        r = run([TRACER, "run", "-q", "--", "a-tool-of-ours"], env=env).ok()
        equal(r.out, "found\n", "stdout")


@test
def what_is_printed_to_whom():
    r = run([TRACER, "run", "--", "sh", "-c", "echo out; echo err >&2"]).ok()
    equal(r.out, "out\n", "stdout belongs to the command")
    check(r.err.startswith("err\n") and len(r.err) > 300, f"stderr: {r.err[:200]!r}")
    with scratch() as d:
        path = os.path.join(d, "summary")
        r = run([TRACER, "run", "-q", "-o", path, "--", "sh", "-c", "echo out; echo err >&2"]).ok()
        equal((r.out, r.err), ("out\n", "err\n"), "both belong to the command with -o and -q")
        check(os.path.getsize(path) > 300, "the summary")


@test
def duration_leaves_the_command_running():
    with scratch() as d:
        mark = os.path.join(d, "mark")
        r = run([TRACER, "run", "-d", "300ms", "--", "sh", "-c", f"sleep 1.5; echo end >{mark}"],
                timeout=20)
        contains(r.err.lower(), "sh", "the summary")
        for _ in range(60):
            if os.path.exists(mark):
                return
            run(["sleep", "0.1"])
        check(False, "the command did not run to its end")


if __name__ == "__main__":
    main()
