#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""JSON, CSV, timeline and tables: structure, hostile names, width, colour, places."""
import csv
import io
import json
import os
import re
import signal
import stat
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary, check_timeline
from harness import (DEVNULL, PIPE, TRACER, Attach, check, clean_env, contains, equal, finish,
                     load_json, main, run, scratch, start, test, trace_work, wait_attached,
                     workload)
from terminal import run_on_terminal

NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?$")


def traced(*opts, work=("hostile_names",), **kw):
    argv = [TRACER, "run", *opts, "--", workload(work[0]), *work[1:]]
    return run(argv, stdout=DEVNULL, **kw).ok()


def csv_tables(text):
    """{name: rows of dicts}: a "# NAME" line stands before each table."""
    tables, name, rows = {}, None, []
    for row in csv.reader(io.StringIO(text, newline="")):
        if row and row[0].startswith("#"):
            name = row[0].split()[-1]
            rows = tables.setdefault(name, [])
        elif row:
            check(name, f"a row before the first table: {row}")
            rows.append(row)
    for name, rows in tables.items():
        check(rows, f"table {name} has no header")
        check(all(len(r) == len(rows[0]) for r in rows), f"rows of {name} differ in length")
        tables[name] = [dict(zip(rows[0], r)) for r in rows[1:]]
    return tables


@test
def json_of_every_kind_of_run():
    for name, *args in (("hostile_names",), ("demo",), ("thread_fan", "53"), ("errors",),
                        ("futex_pi", "101"), ("shared_futex", "101"), ("vfork_exec", "11"),
                        ("killed_blocked", "5"), ("pipe_chunks", "8", "101", "eventfd")):
        check_summary(trace_work(name, *args).json)


@test
def json_goes_where_the_summary_goes():
    r = run([TRACER, "run", "--json", "--quiet", "--", "true"]).ok()
    equal(r.out, "", "stdout")
    s = json.loads(r.err)
    equal((s["schema"], s["command"]), ("tracer.summary/1", ["true"]), "schema and command")
    equal(s["exit"]["code"], 0, "exit code")
    w = start(["sleep", "60"])
    r = Attach(str(w.pid)).stop()
    check_summary(r.json, run=False)


@test
def command_line_is_kept_as_it_is():
    args = ["a b", "\"q\"", "é", "\\", "", "\n", "\x01"]
    s = json.loads(run([TRACER, "run", "--json", "-q", "--", "true", *args]).ok().err)
    equal(s["command"], ["true", *args], "command")


@test
def csv_is_csv():
    for work in (("demo",), ("hostile_names",), ("errors",)):
        r = traced("--csv", "-q", work=work)
        tables = csv_tables(r.err)
        check(len(tables) >= 4, f"tables {sorted(tables)}")
        calls = [t for n, t in tables.items() if "call" in n]
        check(calls and calls[0], f"no table of system calls among {sorted(tables)}")


@test
def csv_counts_are_those_of_the_program():
    r = traced("--csv", "-q", work=("getpid_many", "3", "101"))
    table = [t for n, t in csv_tables(r.err).items() if "call" in n][0]
    row = [x for x in table if "getpid" in x.values()]
    equal(len(row), 1, "rows of getpid")
    equal(row[0]["calls"], "303", "getpid")


@test
def folded_stacks():
    with scratch() as d:
        argv = [TRACER, "run", "-q", "--folded", "-o", f"{d}/f", "--", workload("mutex_contend"),
                "3", "501", "100000"]
        run(argv).ok()
        with open(f"{d}/f", encoding="utf-8") as f:
            lines = [line.rstrip("\n").rpartition(" ") for line in f]
    check(all(int(n) > 0 for _, _, n in lines), f"lines without a wait: {lines[:5]}")
    mine = [s for s, _, _ in lines if ";take_and_hold;pthread_mutex_lock;" in s]
    check(mine, f"the function that waits is in no line: {lines[:5]}")
    for stack, _, _ in lines:
        check(stack.startswith("mutex_contend;") and ";lock " in stack, f"line: {stack}")
    equal(run([TRACER, "run", "--folded", "--", "true"]).ok().err, "", "nobody waited")


@test
def csv_is_sorted_as_asked():
    def column(opts, key):
        r = run([TRACER, "run", "--csv", "-q", *opts, "--", "ls", "-l", "/"], stdout=DEVNULL).ok()
        return [x[key] for x in [t for n, t in csv_tables(r.err).items() if "call" in n][0]]

    for name, key in (("calls", "calls"), ("errors", "errors"), ("time", "total_ns"),
                      ("max", "max_ns")):
        v = list(map(int, column(["-S", name], key)))
        equal(v, sorted(v, reverse=True), f"-S {name}")
    v = column(["-S", "name"], "name")
    equal(v, sorted(v), "-S name")


@test
def timeline_by_structure():
    for work in (("demo",), ("hostile_names",), ("thread_storm", "503"), ("vfork_exec", "11"),
                 ("exec_thread", "11"), ("futex_pingpong", "1009")):
        with scratch() as d:
            path = os.path.join(d, "trace.json")
            traced("--trace", path, work=work)
            events = check_timeline(load_json(path))
            check(sum(e["ph"] == "X" for e in events) > 5, f"{work}: hardly any slice")
            check(any(e["ph"] == "M" and e["name"] == "thread_name" for e in events),
                  f"{work}: no thread has a name")


@test
def arrows_between_processes_start_at_the_waker():
    """Each keeps the word for 50 us: long enough for the other's wait to be drawn."""
    with scratch() as d:
        path = os.path.join(d, "trace.json")
        r = run([TRACER, "run", "--trace", path, "--", workload("shared_futex"), "1009",
                 "50000"]).ok()
        events = check_timeline(load_json(path))
    starts = {e["id"]: (e["pid"], e["tid"]) for e in events if e["ph"] == "s"}
    ends = {e["id"]: (e["pid"], e["tid"]) for e in events if e["ph"] == "f"}
    a, b = ((t, t) for t in (r.said["a_tid"], r.said["b_tid"]))
    check(set(starts.values()) <= {a, b}, f"arrows from others than {a} and {b}: {starts}")
    across = sum((starts[i], ends[i]) in ((a, b), (b, a)) for i in starts)
    check(across > r.said["nvcsw"] * 0.9 - 3, f"{across} arrows for {r.said['nvcsw']} sleeps")


@test
def timeline_ties_waits_to_wakers():
    """Waits of a lock that is held for 300 us each: long enough to be drawn."""
    with scratch() as d:
        path = os.path.join(d, "trace.json")
        r = run([TRACER, "run", "--trace", path, "--", workload("mutex_contend"), "3", "101",
                 "300000"]).ok()
        events = check_timeline(load_json(path))
    starts = {e["id"]: e["tid"] for e in events if e["ph"] == "s"}
    ends = {e["id"]: e["tid"] for e in events if e["ph"] == "f"}
    slept = r.said["nvcsw"]
    check(slept > 20, f"the workload slept only {slept} times: it proves nothing")
    waits = [e for e in events if e["ph"] == "X" and e["name"] == "futex"]
    # Each wait that is drawn has its arrow, and each arrow ends at one. A sleep of under
    # 10 us is not drawn; a wake returns how many it woke.
    drawn = [e for e in waits if e["args"].get("returned") == "0x0" and e["dur"] >= 100]
    check(len(starts) >= len(drawn) * 0.9 - 3, f"{len(starts)} arrows for {len(drawn)} waits")
    for e in events:
        if e["ph"] == "f":
            check(any(w["tid"] == e["tid"] and w["ts"] - 1 <= e["ts"] <= w["ts"] + w["dur"] + 1
                      for w in waits), f"an arrow that ends at no wait: {e}")
    check(len(starts) >= slept * 0.7 - 3, f"{len(starts)} arrows for {slept} sleeps")
    pairs = {(starts[i], ends[i]) for i in starts}
    check(len(pairs) >= 2, f"all arrows are alike: {pairs}")
    long = sum(e["dur"] for e in waits) * 1000
    check(long >= 0.5 * r.said["lock_ns"], f"futex slices add up to {long} of {r.said['lock_ns']}")


@test
def a_file_that_was_there_becomes_private():
    with scratch() as d:
        for opt, more in (("--trace", ("-o", "/dev/null")), ("-o", ())):
            path = os.path.join(d, "old" + opt)
            for mode in (0o644, 0o666, 0o600):
                with open(path, "w", encoding="ascii") as f:
                    f.write("x" * 1000000)
                os.chmod(path, mode)
                run([TRACER, "run", "-q", opt, path, *more, "--", "true"]).ok()
                equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, f"{opt} onto a file of {mode:o}")
                check(0 < os.stat(path).st_size < 500000, "the old contents are gone")


@test
def a_limit_of_file_size_is_an_error_that_is_told():
    w = start(["sleep", "60"])
    with scratch() as d:
        for line, rc in ((f"run --json -o {d}/f -- {workload('thread_fan')} 53", 125),
                         (f"run -q -o /dev/null --trace {d}/t -- {workload('thread_fan')} 53", 125),
                         (f"attach --json -d 0.1 -o {d}/a {w.pid}", 2)):
            r = run(["bash", "-c", f"ulimit -f 1; exec {TRACER} {line}"], stdout=DEVNULL)
            equal(r.rc, rc, f"exit code of {line}: {r.err}")
            check(re.search(f"cannot write .*{d}/.: .*too large|{d}/.: .*too large", r.err, re.I),
                  f"message: {r.err!r}")
        # The command meets the limit as it would without tracer.
        r = run(["bash", "-c", f"ulimit -f 1; exec {TRACER} run -q -o /dev/null -- "
                 f"dd if=/dev/zero of={d}/c bs=4096 count=2"], stdout=DEVNULL)
        equal(r.rc, 128 + signal.SIGXFSZ, "exit code of the command")


@test
def timeline_file_is_private_and_follows_no_link():
    with scratch() as d:
        path, victim, link = (os.path.join(d, n) for n in ("trace", "victim", "link"))
        run([TRACER, "run", "--trace", path, "-q", "-o", "/dev/null", "--", "true"]).ok()
        equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode of the timeline")
        with open(victim, "w", encoding="ascii") as f:
            f.write("precious")
        os.symlink(victim, link)
        r = run([TRACER, "run", "--trace", link, "--", "true"])
        equal(r.rc, 125, "exit code for a symbolic link")
        with open(victim, encoding="ascii") as f:
            equal(f.read(), "precious", "what the link points to")


def hostile_bytes(raw, allowed=b"\n"):
    return sorted({b for b in raw if b < 32 and b not in allowed} | ({127} & set(raw)))


@test
def hostile_names_in_tables():
    r = traced("--threads", "--stacks", "-n", "0")
    equal(hostile_bytes(r.raw_err), [], "control bytes in the tables")
    r.raw_err.decode("utf-8")
    check("<script>" in r.err, "an honest < is shown as it is")
    check("owned" in r.err, "the rest of a hostile name is shown")


@test
def hostile_names_in_coloured_tables():
    r = traced("--threads", "--color", "always")
    rest = re.sub(rb"\x1b\[[\d;]*m", b"", r.raw_err)
    check(rest != r.raw_err, "no colour with --color always")
    equal(hostile_bytes(rest), [], "control bytes beside colours")


@test
def hostile_names_in_json():
    r = traced("--json", "-q")
    equal(hostile_bytes(r.raw_err), [], "raw control bytes in JSON")
    s = json.loads(r.raw_err.decode("utf-8"))
    names = {t["comm"] for t in s["threads"]["by_thread"]}
    check("a\"b,c" in names and "<script>" in names, f"names {sorted(names)}")
    check(any("\x1b" in n for n in names), f"the escape byte is data in JSON: {sorted(names)}")


@test
def hostile_names_in_csv():
    r = traced("--csv", "-q")
    equal(hostile_bytes(r.raw_err, b"\r\n"), [], "control bytes in CSV")
    for row in csv.reader(io.StringIO(r.err, newline="")):
        for cell in row:
            check(not cell or cell[0] not in "=+-@\t\r" or NUMBER.match(cell),
                  f"a spreadsheet would run {cell!r}")


@test
def hostile_names_in_the_timeline():
    with scratch() as d:
        path = os.path.join(d, "trace.json")
        traced("--trace", path, "-q", "-o", "/dev/null")
        with open(path, "rb") as f:
            raw = f.read()
    equal(hostile_bytes(raw), [], "control bytes")
    check_timeline(json.loads(raw.decode("utf-8")))


@test
def hostile_names_in_the_title():
    r = run([TRACER, "run", "--", "true", "\x1b]0;owned\x07", "\u202e", "<script>"]).ok()
    equal(hostile_bytes(r.raw_err), [], "control bytes of arguments")
    check("\u202e" not in r.err, "a direction override of an argument")


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else
               0 if unicodedata.combining(c) else 1 for c in line)


@test
def tables_fit_80_columns():
    for work in (("demo",), ("hostile_names",), ("errors",), ("thread_fan", "53")):
        for opts in ((), ("--stacks", "--threads")):
            for line in traced(*opts, work=work).err.splitlines():
                check(columns(line) <= 80, f"{work} {opts}: {columns(line)} columns: {line}")


@test
def width_is_the_terminals():
    argv = [TRACER, "run", "--threads", "--stacks", "--", workload("thread_fan"), "53"]
    widest = {}
    for width in (80, 100, 132):
        rc, text = run_on_terminal(argv, width, TERM="xterm")
        equal(rc, 0, "exit code")
        plain = re.sub(r"\x1b\[[\d;]*m", "", text)
        widest[width] = max(columns(line) for line in plain.splitlines())
        check(widest[width] <= width, f"{widest[width]} columns on {width}")


@test
def narrow_terminal_does_not_break_it():
    for width in (20, 1):
        rc, text = run_on_terminal([TRACER, "run", "--", workload("errors")], width, TERM="xterm")
        equal(rc, 0, f"exit code on {width} columns")
        check(len(text) > 300, "no tables")


@test
def colour_only_where_it_is_wanted():
    argv = [TRACER, "run", "--", workload("errors")]
    for env, colour in ((dict(TERM="xterm"), True), (dict(TERM="xterm", NO_COLOR="1"), False),
                        (dict(TERM="dumb"), False), (dict(TERM=None), False)):
        rc, text = run_on_terminal(argv, **env)
        equal((rc, "\x1b[" in text), (0, colour), f"colour with {env}")
    r = run(argv, env=clean_env(TERM="xterm")).ok()
    check("\x1b[" not in r.err, "colour in a pipe")


@test
def ascii_where_the_locale_is_c():
    env = clean_env(LC_ALL="C")
    r = traced("--threads", work=("demo",), env=env)
    check(all(b < 128 for b in r.raw_err), "bytes beyond ASCII with LC_ALL=C")


@test
def sections_stand_in_their_order():
    # stderr also has what the workload prints to it: nothing.
    text = traced(work=("demo",)).err.lower()
    want = ["finding", "thread", "lock", "pipe", "call", "sched"]
    heads = [line for line in text.splitlines() if line[:1].isalpha()]
    at = []
    for w in want:
        hit = [i for i, h in enumerate(heads) if w in h.split("  ")[0][:24]]
        check(hit, f"no section for {w} among {heads}")
        at.append(hit[0] if not at else next((h for h in hit if h > at[-1]), -1))
    check(-1 not in at, f"sections in another order: {heads}")


@test
def demo_finds_its_three_troubles():
    s = trace_work("demo").json
    check(len(s["findings"]) >= 3, f"findings: {[f['id'] for f in s['findings']]}")
    check(any("accounts_lock" in f["text"] for f in s["findings"]), "the lock is named")
    for f in s["findings"]:
        check(re.search(r"\d", f["text"]), f"no figure in {f['text']!r}")
        check(f["evidence"], f"no evidence for {f['id']}")


@test
def rows_are_limited_as_asked():
    few = traced("-n", "2", work=("errors",)).err
    many = traced("-n", "0", work=("errors",)).err
    check(len(many.splitlines()) > len(few.splitlines()) + 5, "-n changes nothing")
    check("mkdir" in many and "lseek" in many and "kill" in many, "-n 0 shows all")


@test
def full_disk_behind_the_summary():
    for opts in ([], ["--json"], ["--csv"]):
        r = run([TRACER, "run", *opts, "-o", "/dev/full", "--", "sh", "-c", "echo ran; exit 3"])
        equal(r.rc, 125, f"exit code with {opts}")
        equal(r.out, "ran\n", "the command ran")
        contains(r.err, "/dev/full", "message")
        contains(r.err.lower(), "no space", "message")
    r = run([TRACER, "run", "--trace", "/dev/full", "--", "true"])
    equal(r.rc, 125, "exit code for the timeline")
    w = start(["sleep", "60"])
    with open("/dev/full", "wb") as full:
        p = start([TRACER, "attach", str(w.pid)], stdout=full, stderr=PIPE)
        wait_attached(p)
        p.send_signal(signal.SIGINT)
        r = finish(p, 10)
    equal(r.rc, 2, f"attach to a full disk: {r.err}")
    check("no space" in r.err.lower(), f"message: {r.err!r}")


@test
def tiny_file_system():
    with scratch() as d:
        if run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", d]).rc:
            check(False, "cannot mount a tmpfs")
        try:
            r = run([TRACER, "run", "--json", "-o", f"{d}/summary", "--",
                     workload("thread_storm"), "2003"])
            equal(r.rc, 125, f"exit code: {r.err}")
            contains(r.err.lower(), "no space", "message")
            run(["rm", "-f", f"{d}/summary"])
            r = run([TRACER, "run", "--trace", f"{d}/trace", "-q", "-o", "/dev/null", "--",
                     workload("thread_storm"), "2003"])
            equal(r.rc, 125, f"exit code for the timeline: {r.err}")
        finally:
            run(["umount", d])


@test
def file_that_cannot_be_made():
    with scratch() as d:
        for opt in ("-o", "--trace"):
            r = run([TRACER, "run", opt, f"{d}/none/file", "--", "touch", f"{d}/ran"])
            equal(r.rc, 125, f"exit code for {opt}")
            contains(r.err, f"{d}/none/file", "message")
            check(not os.path.exists(f"{d}/ran"), "the command ran although this was known before")
            r = run([TRACER, "attach", opt, f"{d}/none/file", "-d", "1", str(os.getpid())])
            equal(r.rc, 2, f"exit code of attach for {opt}")


@test
def closed_pipe_behind_the_summary():
    w = start(["sleep", "60"])
    r_end, w_end = os.pipe()
    p = start([TRACER, "attach", str(w.pid)], stdout=w_end, stderr=PIPE)
    os.close(w_end)
    wait_attached(p)
    os.close(r_end)
    p.send_signal(signal.SIGINT)
    r = finish(p, 10)
    equal(r.rc, 2, f"exit code: {r.err}")
    check(r.err.startswith("tracer: "), f"message: {r.err!r}")


@test
def head_behind_attach():
    w = start(["sleep", "60"])
    line = f"{TRACER} attach -d 500ms {w.pid} | head -n 1; echo ${{PIPESTATUS[0]}}"
    out = run(["bash", "-c", line]).ok().out.splitlines()
    equal(len(out), 2, f"a line of head and the exit code: {out}")
    check(out[1] in ("0", "2"), f"exit code {out[1]}")


@test
def broken_pipe_behind_stderr():
    line = f"{{ {TRACER} run -- sh -c 'exit 0' 2>&1 >/dev/null; echo $? >&3; }} 3>&2 | :"
    r = run(["bash", "-c", line])
    check(r.err.strip() in ("0", "125"), f"exit code {r.err!r}")


if __name__ == "__main__":
    main()
