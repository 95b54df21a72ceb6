#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracer export: saved summaries into other formats, and what is no summary."""
import collections
import gzip
import json
import os
import re
import shutil
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_timeline
from harness import (TRACER, check, clean_env, contains, equal, load_json, main, run, scratch,
                     test, workload)

HEAD = '{"schema": "tracer.summary/1", "mode": "exact"'


def saved(d, *opts, work=("demo",), name="run.json"):
    """The file of a summary, and what is in it."""
    path = os.path.join(d, name)
    run([TRACER, "run", "-q", "--json", "-o", path, *opts, "--", workload(work[0]), *work[1:]]).ok()
    return path, load_json(path)


def export(*args, **kw):
    return run([TRACER, "export", *args], **kw)


def written(d, text, name="x.json"):
    path = os.path.join(d, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


# ---- there and back -------------------------------------------------------

@test
def real_runs_come_back_byte_by_byte():
    with scratch() as d:
        for opts, work in ((["--stacks"], ("demo",)), (["--mode", "wait", "--stacks"], ("demo",)),
                           (["--start-routine"], ("thread_storm", "200")), ([], ("errors",)),
                           (["-e", "read,%file", "-P", "/etc/passwd"], ("hostile_names",))):
            path, _ = saved(d, *opts, work=work)
            with open(path, "rb") as f:
                equal(export("--to", "json", path).ok().raw_out == f.read(), True,
                      f"the same bytes for {work} with {opts}")


@test
def the_other_formats_are_made_of_real_runs():
    with scratch() as d:
        path, s = saved(d)
        folded = export("--to", "folded", path).ok().out.splitlines()
        total = sum(lock["wait_ns"]["total"] for lock in s["locks"])
        got = sum(int(line.rsplit(" ", 1)[1]) for line in folded)
        check(total // 1000 - len(folded) - len(s["locks"]) <= got <= total // 1000,
              f"{got} us of {total} ns in folded stacks")
        waits = export("--to", "folded", "--weight", "waits", path).ok().out.splitlines()
        equal(sum(int(line.rsplit(" ", 1)[1]) for line in waits),
              sum(lock["waits"] for lock in s["locks"]), "waits in folded stacks")
        table = export("--to", "table", "-n", "2", "--stacks", path).ok().out
        for part in ("TRACED", "accounts_lock", "SCHEDULING", "pthread_mutex_lock"):
            contains(table, part, "the tables")
        rows = export("--to", "csv", "--csv-table", "syscalls", "-S", "count", path).ok()
        calls = [int(line.split(",")[2]) for line in rows.out.splitlines()[1:]]
        equal(calls, sorted((c["calls"] for c in s["syscalls"]), reverse=True), "calls by count")


@test(root=False)
def each_csv_table_has_its_name():
    with scratch() as d:
        path = written(d, HEAD + "}")
        names = re.findall(r"^# table (\w+)$", export("--to", "csv", path).ok().out, re.M)
        said = export("--to", "csv", "--csv-table", "none").err
        equal(re.search(r"not one of (.*)", said)[1].split(", "), names, "names of the tables")
        for name in names:
            check(export("--to", "csv", "--csv-table", name, path).ok().out.count("\n") >= 1, name)


# ---- pprof ----------------------------------------------------------------

def fields(data):
    """(number, value) of a message: an int, or the bytes of a string or message."""
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            byte = data[at]
            at += 1
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return v
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            equal(key & 7, 2, "wire type")
            n = varint()
            check(at + n <= len(data), "a field ends behind its message")
            yield key >> 3, data[at:at + n]
            at += n


def packed(data):
    """The numbers of a packed array."""
    out, v, shift = [], 0, 0
    for byte in data:
        v |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(v)
            v = shift = 0
    return out


class Profile:
    def __init__(self, raw):
        by_field = collections.defaultdict(list)
        for number, value in fields(gzip.decompress(raw)):
            by_field[number].append(value)
        self.strings = [s.decode("utf-8") for s in by_field[6]]
        text = self.strings.__getitem__
        self.types = [tuple(text(v) for _, v in fields(t)) for t in by_field[1]]
        names = {dict(fields(f))[1]: text(dict(fields(f))[2]) for f in by_field[5]}
        self.mappings = [text(dict(fields(m))[5]) for m in by_field[3]]
        places = {}
        for loc in by_field[4]:
            lines = [dict(fields(v)) for n, v in fields(loc) if n == 4]
            loc = dict(fields(loc))
            # Several where functions are inlined: the innermost first.
            places[loc[1]] = [names[line[1]] for line in lines] or [hex(loc[3])]
        self.samples = []
        for s in by_field[2]:
            labels = {}
            for number, label in fields(s):
                if number == 3:
                    label = dict(fields(label))
                    labels[text(label[1])] = text(label[2]) if 2 in label else label.get(3, 0)
            s = dict(f for f in fields(s) if f[0] != 3)
            stack = [name for i in packed(s[1]) for name in places[i]]
            self.samples.append((stack, packed(s[2]), labels))
        self.time_ns, self.duration_ns = by_field[9] or [0], by_field[10] or [0]
        self.default = text(by_field[14][0])


@test
def a_profile_has_all_that_was_waited():
    with scratch() as d:
        path, s = saved(d)
        p = Profile(export("--to", "pprof", path).ok().raw_out)
        equal(p.types, [("contentions", "count"), ("delay", "nanoseconds"), ("samples", "count")],
              "sample types")
        for i, want in enumerate((sum(x["waits"] for x in s["locks"]),
                                  sum(x["wait_ns"]["total"] for x in s["locks"]),
                                  sum(y["samples"] for x in s["locks"] for y in x["sites"]))):
            equal(sum(v[i] for _, v, _ in p.samples), want, p.types[i][0])
        lock = next(x for x in s["locks"] if x["symbol"] == "accounts_lock")
        mine = [x for x in p.samples if x[2]["lock"] == "accounts_lock"]
        equal(sum(v[1] for _, v, _ in mine), lock["wait_ns"]["total"], "delay at one lock")
        none = ["[no stack]"]
        equal([x[0] for x in mine],
              [[f["symbol"] or f["ip"] for f in site["frames"]] or none
               for site in lock["sites"]] or [none], "its stacks, innermost first")
        equal({(x[2]["process"], x[2]["pid"], x[2].get("use")) for x in mine},
              {(lock["comm"], lock["tgid"], lock["use"])}, "labels")
        equal((p.time_ns, p.duration_ns, p.default),
              ([s["started_ns"]], [s["duration_ns"]], "delay"), "head")
        equal(os.path.basename(p.mappings[0]), "demo", "the program is the first mapping")
        equal(export("--to", "pprof", path).raw_out, export("--to", "pprof", path).raw_out,
              "the same file each time")


@test
def pprof_itself_reads_a_profile():
    """Where Go is: its own reader adds up to the same."""
    go = shutil.which("go") or shutil.which("go", path="/usr/lib/go-1.19/bin:/usr/local/go/bin")
    if not go:
        return
    with scratch() as d:
        path, s = saved(d)
        export("--to", "pprof", "-o", f"{d}/p.pb.gz", path).ok()
        r = run([go, "tool", "pprof", "-top", "-sample_index=contentions", f"{d}/p.pb.gz"],
                env=clean_env(HOME=d, GOFLAGS="-mod=mod")).ok()
        contains(r.out, f"of {sum(x['waits'] for x in s['locks'])} total", "go tool pprof")
        contains(r.out, "File: demo", "go tool pprof")


# ---- perfetto -------------------------------------------------------------

def ns(microseconds):
    return round(microseconds * 1000)


@test
def threads_are_drawn_with_their_stages():
    with scratch() as d:
        path, s = saved(d, "--start-routine", work=("thread_storm", "300"))
        events = check_timeline(json.loads(export("--to", "perfetto", path).ok().out))
        lives = [e for e in events if e["ph"] == "X" and e["cat"] == "thread"]
        equal(sorted((e["pid"], e["tid"], ns(e["ts"]), ns(e["dur"])) for e in lives),
              sorted((t["tgid"], t["tid"], t["start_ns"], t["lifetime_ns"])
                     for t in s["threads"]["by_thread"]), "lives")
        names = collections.Counter(e["name"] for e in events if e["ph"] == "X")
        created = s["threads"]["created"]
        for name in ("clone", "wakeup", "start", "setup", "exit"):
            check(names[name] >= created * 0.9, f"{names[name]} of {created} have {name}")
        for name in ("thread_name", "process_name"):
            check(any(e["name"] == name for e in events if e["ph"] == "M"), name)
        last = [e for e in events if e["ph"] == "C"][-1]
        equal(last["args"]["threads"], 0, "threads at the end")
        arrows = [e for e in events if e["ph"] in "sf"]
        check(len(arrows) >= created * 1.8, f"{len(arrows)} ends of arrows")


@test
def timelines_pass_and_cut_ones_are_ended():
    with scratch() as d:
        path = f"{d}/run.trace.json"
        run([TRACER, "run", "-q", "-o", "/dev/null", "--trace", path, "--",
             workload("futex_pingpong"), "200"]).ok()
        with open(path, "rb") as f:
            text = f.read()
        r = export(path).ok()
        equal((r.raw_out == text, r.err), (True, ""), "a whole timeline")
        events = len(json.loads(text)["traceEvents"])
        for n in (len(text) - 3, len(text) // 2, len(text) // 2 + 31):
            with open(f"{d}/cut", "wb") as f:
                f.write(text[:n])
            r = export("-o", f"{d}/whole", f"{d}/cut").ok()
            got = len(load_json(f"{d}/whole")["traceEvents"])
            check(n / len(text) * events * 0.5 < got <= events, f"{got} of {events} events")
            contains(r.err, f"{d}/cut ends too soon: ended behind the last of {got}", "note")
            equal(export("-q", "-o", f"{d}/whole", f"{d}/cut").ok().err, "", "stderr with -q")
        r = export("--to", "pprof", path)
        equal((r.rc, r.out), (2, ""), "a timeline as a profile")
        contains(r.err, "is a timeline", "message")


# ---- what is wrong --------------------------------------------------------

@test(root=False)
def bad_files_are_told_with_their_place():
    with scratch() as d:
        old = written(d, "precious", "old")
        for text, message in (
                ("", "line 1, column 1: it ends too soon"), ("\x7fELF", "expected an object"),
                ("{}", "'schema' is missing"), (HEAD + ",\n\n  \"pids\": 5}",
                                                "line 3, column 11: pids: expected an array"),
                ('{"schema": "tracer.summary/2"}', "this tracer reads tracer.summary/1"),
                (HEAD + ', "new": ' + "[" * 100000, "it is nested too deep"),
                (HEAD + ', "sched": {"cpus": 4294967296}}', "sched.cpus: a number is out of"),
                (HEAD + ', "mode": "wait"}', "mode: it stands there twice")):
            path = written(d, text)
            for to in ("perfetto", "json"):
                r = export("--to", to, "-o", old, path)
                equal((r.rc, r.out), (2, ""), f"{text[:60]!r}")
                contains(r.err, f"tracer: cannot read {path}: ", "message")
                contains(r.err, message, "message")
        with open(old, encoding="utf-8") as f:
            equal(f.read(), "precious", "the old output after a bad input")
        with open(f"{d}/utf", "wb") as f:
            f.write(HEAD.encode() + b', "tracer": "\xff\xfe    "}')
        contains(export(f"{d}/utf").err, "tracer: a string is not UTF-8", "message")


@test(root=False)
def files_that_are_too_large_take_no_memory():
    with scratch() as d:
        with open(f"{d}/huge", "wb") as f:
            f.truncate((512 << 20) + 1)
        r = export(f"{d}/huge")
        equal(r.rc, 2, "exit code")
        contains(r.err, "it has more than 512 MiB", "message")
        path = written(d, HEAD + ', "locks": [' +
                       ",".join(['{"addr":"0x1","kind":"pi"}'] * 400000) + "]}")
        r = export(path)
        equal(r.rc, 2, "exit code")
        check(re.search(r"locks\[\d+\]: what stands there takes more than 512 MiB", r.err), r.err)


@test(root=False)
def input_comes_from_where_it_is_asked_for():
    with scratch() as d:
        path = written(d, HEAD + "}")
        want = export("--to", "json", path).ok().out
        for args in ([], ["-"]):
            equal(export("--to", "json", *args, data=(HEAD + "}").encode()).ok().out, want,
                  f"from stdin with {args}")
        r = export(f"{d}/none")
        equal(r.rc, 2, "exit code")
        contains(r.err, f"cannot open {d}/none: no such file", "message")
        r = export(d)
        equal(r.rc, 2, "exit code of a directory")
        ours, theirs = os.openpty()
        try:
            r = export(stdin=theirs)
            equal(r.rc, 2, "exit code with a terminal")
            contains(r.err, "no file is given", "message")
            r = export("--to", "pprof", path, stdout=theirs)
            equal(r.rc, 2, "exit code of a profile to a terminal")
            contains(r.err, "a profile is not for a terminal", "message")
        finally:
            os.close(ours)
            os.close(theirs)


@test(root=False)
def output_is_private_and_its_errors_are_told():
    with scratch() as d:
        path = written(d, HEAD + "}")
        export("--to", "table", "-o", f"{d}/out", path).ok()
        equal(stat.S_IMODE(os.stat(f"{d}/out").st_mode), 0o600, "mode of the file")
        os.symlink(f"{d}/aim", f"{d}/link")
        r = export("-o", f"{d}/link", path)
        equal((r.rc, os.path.exists(f"{d}/aim")), (2, False), "a symbolic link")
        contains(r.err, "symbolic link", "message")
        for to in ("perfetto", "folded", "pprof", "csv", "table", "json"):
            r = export("--to", to, "-o", "/dev/full", written(d, HEAD + "}"))
            # Of nothing the folded stacks are nothing.
            equal(r.rc, 0 if to == "folded" else 2, f"exit code of {to}: {r.err}")
            if to != "folded":
                contains(r.err, "/dev/full", f"message of {to}")
                contains(r.err.lower(), "no space", f"message of {to}")
        # Onto itself: it was read before.
        equal(export("--to", "json", "-o", path, path).ok().out, "", "stdout")
        contains(export("--to", "json", path).ok().out, '"mode": "exact"', "the file")


@test(root=False)
def closed_descriptors_get_nothing():
    """What would be said on a closed stderr is not said in the output."""
    with scratch() as d:
        cut = written(d, '{"displayTimeUnit":"ns","traceEvents":[\n{"ph":"M"},\n{"ph')
        for closed in ("2>&-", "<&- 2>&-", "<&- >&- 2>&-"):
            run(["bash", "-c", f"{TRACER} export -o {d}/out {cut} {closed}"]).ok()
            equal(load_json(f"{d}/out")["traceEvents"], [{"ph": "M"}], f"output with {closed}")
        r = run(["bash", "-c", f"{TRACER} export {cut} >&-"])
        equal(r.rc, 2, "exit code with stdout closed")


@test(root=False)
def usage_errors_are_2():
    with scratch() as d:
        path = written(d, HEAD + "}")
        for args in (["--wrong", path], ["--to", "svg", path], ["a.json", "b.json"], ["-o"],
                     ["--weight", "waits", path], ["--csv-table", "locks", path],
                     ["--to", "csv", "--csv-table", "lock", path], ["--stacks", path],
                     ["--to", "csv", "--threads", path], ["-S", "calls", path],
                     ["--to", "json", "-n", "3", path]):
            r = export(*args)
            equal((r.rc, r.out), (2, ""), f"{args}: {r.err}")
            check(re.match(r"tracer: .*\n", r.err), f"{args}: {r.err!r}")
    contains(export("--to", "pprov").err, "did you mean 'pprof'?", "hint")


@test(root=False)
def help_has_examples_and_fits():
    text = export("--help").ok().out
    for part in ("Examples", "pprof", "--trace", "Exit codes", "512 MiB"):
        contains(text, part, "help")
    check(all(len(line) <= 80 for line in text.splitlines()), "wider than 80")


@test(root=False)
def hostile_names_reach_no_terminal():
    with scratch() as d:
        text = HEAD + (', "findings": [{"id": "\\u001b]0;x\\u0007", "text": "\\u009b31m"}], "locks"'
                       ': [{"addr": "0x1", "kind": "pi", "waits": 3, "comm": "\\u001b[2J", '
                       '"wait_ns": {"count": 1, "total": 9000, "max": 9000}}]}')
        path = written(d, text, "\x1b]0;x\x07")
        for to in ("perfetto", "folded", "csv", "table", "json"):
            raw = export("--to", to, path).ok().raw_out
            check(not {27, 7} & set(raw) and b"\xc2\x9b" not in raw, f"controls in {to}: {raw!r}")
        r = export("--to", "pprof", path).ok()
        check(all(s.isprintable() for s in Profile(r.raw_out).strings), "strings of the profile")
        with open(path, "w", encoding="utf-8") as f:
            f.write(HEAD + ', "mode": "\\u001b[2J"}')
        check("\x1b" not in export(path).err, "the message")


if __name__ == "__main__":
    main()
