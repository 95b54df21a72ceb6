#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording that was packed replays without the system's files; what is in the way is said."""
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, TRACER, check, contains, equal, finish, main, need, run, scratch,
                     start, test, wait_for)
from recordings import record, replay

LIBRARY = "int twice(int x) { return 2 * x; }\n"
OTHER = "int other(int x) { return x - 1; }\nint twice(int x) { return other(x) * 3; }\n"
PROGRAM = """#include <stdio.h>
int twice(int x);
int main(void)
{
	int sum = 0;
	for (int i = 1; i <= 3; i++)
		sum += twice(i);
	printf("sum %d\\n", sum);
	return sum;
}
"""


@contextlib.contextmanager
def system_dir():
    """A directory where the system's files are: a recording does not copy these by itself."""
    d = tempfile.mkdtemp(prefix="tracer-test-", dir="/usr/local/lib")
    try:
        yield d
    finally:
        shutil.rmtree(d, ignore_errors=True)


def compile_library(source, where):
    """As packages have them: known by the name of a link to the file."""
    path = os.path.join(where, "libtwice.so.1.0")
    run(["gcc", "-g", "-O0", "-shared", "-fPIC", "-Wl,-soname,libtwice.so.1", "-x", "c", "-",
         "-o", path], data=source.encode()).ok()
    return path


def install(where):
    path = compile_library(LIBRARY, where)
    os.symlink("libtwice.so.1.0", os.path.join(where, "libtwice.so.1"))
    program = os.path.join(where, "prog")
    run(["gcc", "-g", "-O0", "-x", "c", "-", "-x", "none", path, "-o", program,
         f"-Wl,-rpath,{where}"], data=PROGRAM.encode()).ok()
    return program


def pack(d, name="rec", rc=0, **kw):
    r = run([TRACER, "pack", os.path.join(d, name)], **kw)
    equal(r.rc, rc, f"pack: {r.err}")
    return r


def index(d, name="rec"):
    with open(os.path.join(d, name, "packed", "index"), encoding="utf-8") as f:
        return json.load(f)


def file_of(d, ending, name="rec"):
    """The copy in the recording of what had a path of that ending."""
    f = next(f for f in index(d, name)["files"] if f["path"].endswith(ending))
    return (os.path.join(d, name, "files", str(f["copy"])) if "copy" in f else
            os.path.join(d, name, "packed", str(f["packed"])))


def tree(path):
    """Each file below, with what is in it."""
    found = {}
    for at, _, names in os.walk(path):
        for n in names:
            with open(os.path.join(at, n), "rb") as f:
                found[os.path.relpath(os.path.join(at, n), path)] = f.read()
    return found


def flip(path):
    with open(path, "r+b") as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte[0] ^ 1]))


def as_recorded(d, was, name="rec"):
    r = replay(d, name)
    equal((r.rc, r.out, r.err), (12, was.out, was.err), f"{name} replayed")


def gdb(d, *commands, name="rec"):
    script = os.path.join(d, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write("\n".join(("set pagination off", "set width 0", "set debuginfod enabled off",
                           *commands)) + "\n")
    return run(["sh", "-c", "exec \"$@\" 2>&1", "sh", TRACER, "replay", os.path.join(d, name),
                "--", "-nx", "-batch", "-x", script], stdin=DEVNULL).out


@test
def what_is_in_a_system_file():
    """Its times are a shortcut: what counts is what it holds."""
    need("gcc")
    with scratch() as d, system_dir() as usr:
        was = record(d, install(usr), rc=12)
        library = os.path.join(usr, "libtwice.so.1.0")
        sums = os.path.join(d, "rec", "sums")
        os.rename(sums, sums + ".away")
        as_recorded(d, was)
        os.rename(sums + ".away", sums)

        os.chmod(library, 0o744)
        os.utime(library)
        as_recorded(d, was)
        shutil.copy(library, library + ".new")
        os.rename(library + ".new", library)
        as_recorded(d, was)

        at = os.stat(library)
        flip(library)
        os.utime(library, ns=(at.st_atime_ns, at.st_mtime_ns))
        r = replay(d)
        equal(r.rc, 2, "altered, with its time put back")
        contains(r.err, f"{library} has changed since it was recorded", "named")
        contains(pack(d, rc=1).err, f"cannot pack {library}: it has changed since", "packed")
        flip(library)
        as_recorded(d, was)
        os.unlink(sums)
        contains(replay(d).err, f"{library} has changed since it was recorded", "without sums")


@test
def system_files_that_change():
    need("gcc", "gdb")
    with scratch() as d, system_dir() as usr:
        was = record(d, install(usr), rc=12)
        shutil.copytree(os.path.join(d, "rec"), os.path.join(d, "bare"))
        contains(pack(d).err, "packed 4 files of the system", "the program, three libraries")
        as_recorded(d, was)
        before = tree(os.path.join(d, "rec"))
        contains(pack(d).err, "has all files that it needs", "packed twice")
        equal(tree(os.path.join(d, "rec")), before, "packed twice")
        check("remote target" not in gdb(d, "info sharedlibrary"), "gdb's own files")

        path = compile_library(OTHER, usr)
        r = replay(d, "bare")
        equal(r.rc, 2, r.err)
        contains(r.err, f"{path} has changed since it was recorded", "without pack")
        contains(r.err, "'tracer pack'", "what would help")
        as_recorded(d, was)
        shutil.rmtree(usr)
        contains(replay(d, "bare").err, f"needs {usr}/prog: no such file", "without pack")
        os.rename(os.path.join(d, "rec"), os.path.join(d, "moved"))
        as_recorded(d, was, "moved")
        out = gdb(d, "break twice", "continue", "backtrace", "reverse-continue", "when",
                  name="moved")
        contains(out, "twice (x=1) at ", "the library's symbols")
        contains(out, "in main () at ", "the program's")


@test
def what_gdb_finds_in_a_changed_library():
    """One that the recording copied by itself is in the way of nobody either."""
    need("gcc", "gdb")
    with scratch() as d:
        where = os.path.join(d, "own")
        os.mkdir(where)
        record(d, install(where), rc=12)
        compile_library(OTHER, where)
        out = gdb(d, "break twice", "continue", "finish", "info functions -q ^other$")
        contains(out, "twice (x=1) at ", "the place")
        contains(out, "Value returned is $1 = 2", "the code that ran")
        check("other(int)" not in out, f"the library is the new one: {out}")


@test
def damage_is_found():
    need("gcc")
    with scratch() as d, system_dir() as usr:
        was = record(d, install(usr), rc=12)
        pack(d)
        library = file_of(d, "/libtwice.so.1.0")
        flip(library)
        r = replay(d)
        equal(r.rc, 2, r.err)
        contains(r.err, f"{library}, the copy of {usr}/libtwice.so.1.0, is damaged", "a byte")
        pack(d)
        as_recorded(d, was)
        flip(library)
        shutil.rmtree(usr)
        contains(pack(d, rc=1).err, f"{library}, the copy of {usr}/libtwice.so.1.0, is damaged",
                 "nothing to mend it with")
        flip(library)
        pack(d)
        as_recorded(d, was)
        shutil.copy(library, os.path.join(d, "whole"))
        os.truncate(library, os.path.getsize(library) - 1)
        contains(replay(d).err, "is damaged", "cut")
        os.unlink(library)
        contains(replay(d).err, f"cannot open {library}, the copy of {usr}/libtw", "gone")
        shutil.copy(os.path.join(d, "whole"), library)
        as_recorded(d, was)
        # Of the copies that it had before, too.
        cache = file_of(d, "/etc/ld.so.cache")
        flip(cache)
        contains(replay(d).err, f"{cache}, the copy of /etc/ld.so.cache, is damaged", "a copy")
        with open(os.path.join(d, "rec", "packed", "index"), "w", encoding="ascii") as f:
            f.write('{"index": 1, "files": [{"packed": 0}]}')
        for command in ("replay", "dump", "pack"):
            r = run([TRACER, command, *(["-a"] if command == "replay" else []),
                     os.path.join(d, "rec")])
            equal(r.rc, 2, r.err)
            contains(r.err, "packed/index is damaged: ", command)


@test
def what_cannot_be_packed():
    need("gcc")
    with scratch() as d, system_dir() as usr:
        record(d, install(usr), rc=12)
        compile_library(OTHER, usr)
        r = pack(d, rc=1)
        contains(r.err, f"cannot pack {usr}/libtwice.so.1.0: it has changed since it was "
                 "recorded", "the reason")
        contains(r.err, "packed in part: 1 file", "the result")
        check(any(f["path"].endswith("/libc.so.6") for f in index(d)["files"]), "the others")
        equal(index(d)["missing"], 1, "missing")
        os.unlink(os.path.join(usr, "libtwice.so.1.0"))
        contains(pack(d, rc=1).err, "libtwice.so.1.0: no such file", "gone")


@test
def no_room():
    need("mount", "umount")
    with scratch() as d:
        at = os.path.join(d, "small")
        os.mkdir(at)
        run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", at]).ok()
        try:
            record(at, "true")
            before = tree(at)
            r = pack(at, rc=2)
            contains(r.err, "no space left", "the reason")
            equal(tree(at), before, "the recording")
            check(not os.path.exists(os.path.join(at, "rec", "packed")), "packed is left")
            equal(replay(at).rc, 0, "replayed")
        finally:
            run(["umount", at])


@test
def interrupted_and_at_once():
    with scratch() as d, system_dir() as usr:
        big = os.path.join(usr, "big")
        with open(big, "wb") as f:
            f.truncate(200 << 20)
        record(d, "/usr/bin/python3", "-c", "import mmap, os, sys\n"
               f"m = mmap.mmap(os.open({big!r}, os.O_RDONLY), 0, prot=mmap.PROT_READ)\n"
               "sys.exit(m[5])")
        rec = os.path.join(d, "rec")
        p = start([TRACER, "pack", rec])
        wait_for("a copy", lambda: p.poll() is not None or
                 os.path.exists(os.path.join(rec, "packed", "new")))
        p.send_signal(signal.SIGINT)
        finish(p)
        equal(replay(d).rc, 0, "replayed behind an interrupt")
        several = [start([TRACER, "pack", "-q", rec]) for _ in range(3)]
        for p in several:
            r = finish(p)
            equal(r.rc, 0, r.err)
        names = os.listdir(os.path.join(rec, "packed"))
        check("new" not in names and "index.new" not in names, f"what is left: {names}")
        os.unlink(big)
        equal(replay(d).rc, 0, "replayed")


@test
def who_and_when():
    need("setpriv")
    with scratch() as d:
        p = start([TRACER, "record", "-q", "-o", os.path.join(d, "rec"), "--", "sleep", "60"],
                  stdin=DEVNULL)
        wait_for("the recording", lambda: os.path.exists(os.path.join(d, "rec", "events")))
        contains(pack(d, rc=2).err, "is still being recorded", "too early")
        p.terminate()
        finish(p)
        equal(pack(d).rc, 0, "the recording of what was ended")
        record(d, "true", name="others")
        os.chmod(d, 0o755)
        path = os.path.join(d, "others")
        run(["chown", "-R", "12345:12345", path]).ok()
        pack(d, "others")
        for name in os.listdir(os.path.join(path, "packed")):
            equal(os.stat(os.path.join(path, "packed", name)).st_uid, 12345, name)
        env = dict(os.environ, XDG_DATA_HOME=d)
        run([TRACER, "record", "-q", "--", "true"], env=env, stdin=DEVNULL).ok()
        run([TRACER, "record", "-q", "--", "true"], env=env, stdin=DEVNULL).ok()
        run([TRACER, "pack", "-q"], env=env).ok()
        rows = [line.split() for line in run([TRACER, "ls"], env=env).ok().out.splitlines()]
        equal([r[6] for r in rows[1:]], ["yes", "no"], "what ls says, the newest first")
        listed = json.loads(run([TRACER, "ls", "--json"], env=env).ok().out)["recordings"]
        equal([r["packed"] for r in listed], ["yes", "no"], "as JSON")
        out = run([TRACER, "dump"], env=env).ok().out
        contains(out, "/libc.so.6, copy packed/", "what dump says")
        contains(out, "/etc/ld.so.cache, copy files/", "what dump says")


@test
def another_processor():
    """It is told, and what does not ask replays all the same."""
    with scratch() as d:
        record(d, "echo", "all the same")
        path = os.path.join(d, "rec", "about")
        with open(path, encoding="utf-8") as f:
            about = json.load(f)
        for word, name, what in ((0, "Test 3000", "on another processor: Test 3000; this is"),
                                 (6, about["processor"], "has other features than that of")):
            other = dict(about, processor=name, cpuid=list(about["cpuid"]))
            other["cpuid"][word] ^= 1 << 5
            with open(path, "w", encoding="utf-8") as f:
                json.dump(other, f)
            r = replay(d)
            equal((r.rc, r.out), (0, "all the same\n"), r.err)
            contains(r.err, what, "the warning")
        for cpuid in ([], about["cpuid"]):
            with open(path, "w", encoding="utf-8") as f:
                json.dump(dict(about, cpuid=cpuid), f)
            equal(replay(d).err, "", "the same, or not known")


main()
