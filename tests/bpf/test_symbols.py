#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of locks and frames where the binary is not where it seems to be."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (DEVNULL, PIPE, TRACER, Attach, Skip, check, equal, finish, lock_at, main, need,
                     run, scratch, start, test, trace, wait_for, workload)

# Long enough to attach to: 3 x 4001 x 300 us.
LONG = ["3", "4001", "300000"]
SHORT = ["3", "211", "100000"]


def copy_of(d, name="mutex_contend", as_name="program"):
    path = os.path.join(d, as_name)
    shutil.copy(workload(name), path)
    return path


def named_right(summary, module=None):
    locks = [l for l in summary["locks"] if l["symbol"] == "contended_lock"]
    some = [(l["symbol"], l["waits"]) for l in summary["locks"]]
    equal(len(locks), 1, f"locks named contended_lock, of {some}")
    symbols = [f["symbol"] for f in locks[0]["site"]]
    check("take_and_hold" in symbols and "work" in symbols, f"frames {symbols}")
    if module:
        at = locks[0]["site"][symbols.index("take_and_hold")]
        check(module in (at["module"] or ""), f"module of {at}")


def attach_for_a_while(pid, ms=600):
    a = Attach("--stacks", "-d", f"{ms}ms", str(pid))
    s = a.end().json
    check_summary(s, run=False)
    return s


@test
def a_binary_that_is_there():
    with scratch() as d:
        w = start([copy_of(d), *LONG], stdout=DEVNULL)
        named_right(attach_for_a_while(w.pid), f"{d}/program")


@test
def a_binary_that_was_deleted():
    with scratch() as d:
        path = copy_of(d)
        w = start([path, *LONG], stdout=DEVNULL)
        os.unlink(path)
        named_right(attach_for_a_while(w.pid))


@test
def a_binary_that_was_replaced():
    """Its path holds another program now, whose symbols would be wrong."""
    with scratch() as d:
        path = copy_of(d)
        w = start([path, *LONG], stdout=DEVNULL)
        other = copy_of(d, "condvar_handoff", "other")
        os.rename(other, path)
        s = attach_for_a_while(w.pid)
        named_right(s)
        wrong = [l["symbol"] for l in s["locks"] if "handoff" in (l["symbol"] or "")]
        equal(wrong, [], "symbols of the file that took its place")


@test
def a_stripped_binary():
    need("strip")
    with scratch() as d:
        path = copy_of(d)
        run(["strip", "-s", path]).ok()
        r = trace([path, *SHORT], "--stacks")
        check_summary(r.json)
        l = lock_at(r.json, r.said["addr"])
        check(l["symbol"] is None or "contended_lock" not in l["symbol"], f"symbol {l['symbol']}")
        check(l["site"], "it has no site")
        # Where it is in the file, as the file that was not stripped tells.
        nm = run(["nm", workload("mutex_contend")]).ok().out
        want = int(re.search(r"^(\w+) \w contended_lock$", nm, re.M).group(1), 16)
        equal(int(l["module_offset"] or "0", 16), want, "place of the lock in its file")
        table = run([TRACER, "run", "--collect", "futex", "--", path, *SHORT]).ok().err
        check(f"  program+0x{want:x} " in table, f"the lock by its place:\n{table}")
        check(re.search(r"← program\+0x[0-9a-f]+", table), f"frames by their place:\n{table}")
        modules = [f["module"] for f in l["site"]]
        check(any((m or "").endswith("program") for m in modules), f"modules {modules}")
        check(any("pthread_mutex_lock" in (f["symbol"] or "") or "lll_lock" in (f["symbol"] or "")
                  for f in l["site"]), f"libc's names are known: {l['site']}")


@test
def a_stripped_binary_with_its_debug_file():
    """Beside it, named by its debug link; another file of that name is not believed."""
    need("strip", "objcopy")
    with scratch() as d:
        path = copy_of(d)
        debug = f"{d}/program.debug"
        run(["objcopy", "--only-keep-debug", path, debug]).ok()
        run(["strip", "-s", path]).ok()
        run(["objcopy", f"--add-gnu-debuglink={debug}", path]).ok()
        r = trace([path, *SHORT], "--stacks")
        named_right(r.json, f"{d}/program")
        site = lock_at(r.json, r.said["addr"])["site"]
        files = [f["file"] or "" for f in site if f["symbol"] == "take_and_hold"]
        check(files and files[0].endswith("mutex_contend.c"), f"no line: {site}")
        run(["objcopy", "--only-keep-debug", workload("condvar_handoff"), debug]).ok()
        r = trace([path, *SHORT], "--stacks")
        equal(lock_at(r.json, r.said["addr"])["symbol"], None, "name of another file")


@test
def where_in_the_kernel_a_wait_is():
    """Only with --stacks, without addresses, and inside the user's frames."""
    with open("/proc/kallsyms", encoding="ascii") as f:
        if not any(int(line.split()[0], 16) for line, _ in zip(f, range(100))):
            raise Skip("the kernel shows no addresses (kernel.kptr_restrict)")
    for mode in "exact", "wait":
        r = trace([workload("mutex_contend"), *SHORT], "--stacks", "--mode", mode)
        check_summary(r.json)
        sites = lock_at(r.json, r.said["addr"])["sites"]
        frames = [s["frames"] for s in sites if s["frames"][0]["kernel"]]
        check(frames, f"{mode}: none of {len(sites)} sites has kernel frames")
        inner = [f for f in frames[0] if f["kernel"]]
        check(any("futex" in (f["symbol"] or "") for f in inner), f"{mode}: {inner}")
        check(not any("bpf" in (f["symbol"] or "") for f in inner), f"{mode}: {inner}")
        equal({f["ip"] for f in inner}, {None}, f"{mode}: addresses told")
        equal([f["kernel"] for f in frames[0]],
              [True] * len(inner) + [False] * (len(frames[0]) - len(inner)), f"{mode}: order")
        named_right(r.json)
    s = trace([workload("mutex_contend"), *SHORT]).json
    kernel = [f for l in s["locks"] for f in l["site"] if f["kernel"]]
    equal(kernel, [], "kernel frames that nobody asked for")
    folded = run([TRACER, "run", "--folded", "--", workload("mutex_contend"), *SHORT]).ok().err
    check(re.search(r"futex\w*_\[k\];lock contended_lock \d+$", folded, re.M), folded)


def libraries(path):
    return [m for m in re.findall(r"(/\S+) \(0x", run(["ldd", path]).ok().out)]


@test
def a_binary_in_a_chroot():
    need("chroot", "ldd")
    with scratch() as d:
        copy_of(d)
        for lib in libraries(workload("mutex_contend")):
            os.makedirs(d + os.path.dirname(lib), exist_ok=True)
            shutil.copy(lib, d + lib)
        r = trace(["chroot", d, "/program", *SHORT], "--stacks")
        named_right(r.json)
        w = start(["chroot", d, "/program", *LONG], stdout=DEVNULL)
        wait_for("the chroot", lambda: os.readlink(f"/proc/{w.pid}/root") == d)
        named_right(attach_for_a_while(w.pid))


@test
def a_binary_in_another_mount_namespace():
    need("unshare")
    with scratch() as d:
        os.mkdir(f"{d}/hidden")
        script = (f"mount -t tmpfs none {d}/hidden && cp {workload('mutex_contend')} "
                  f"{d}/hidden/program && exec {d}/hidden/program ")
        r = trace(["unshare", "-m", "sh", "-c", script + " ".join(SHORT)], "--stacks")
        named_right(r.json)
        w = start(["unshare", "-m", "sh", "-c", script + " ".join(LONG)], stdout=DEVNULL)
        wait_for("the program", lambda: os.readlink(f"/proc/{w.pid}/exe").endswith("/program"))
        named_right(attach_for_a_while(w.pid))


@test
def offsets_into_a_global():
    """A word inside a larger global is NAME+0xOFF."""
    r = trace([workload("condvar_handoff"), "2003"])
    found = [l["symbol"] for l in r.json["locks"] if "handoff_cond" in (l["symbol"] or "")]
    check(found, "the condition variable has no name")
    check(all(re.fullmatch(r"handoff_cond(\+0x[0-9a-f]+)?", s) for s in found), f"names {found}")


@test
def symbols_after_an_exec():
    """The same process runs one program after another: each lock has its own program's name."""
    line = (f"{workload('futex_pingpong')} 503 >/dev/null; "
            f"exec {workload('mutex_contend')} 3 211 100000")
    s = trace(["sh", "-c", line], stdout=DEVNULL).json
    names = {l["symbol"] for l in s["locks"] if l["waits"]}
    check({"ball", "contended_lock"} <= names, f"names {names}")


@test
def a_hostile_file_name():
    with scratch() as d:
        path = copy_of(d, as_name="\x1b]0;x\x07<b>\n")
        s = trace([path, *SHORT], "--stacks").json
        named_right(s, "<b>")


@test
def a_broken_binary_is_no_danger():
    """The file that is mapped gets garbage where its symbol tables were."""
    with scratch() as d:
        path = copy_of(d)
        size = os.path.getsize(path)
        with open(path, "r+b") as f:
            f.seek(int(size * 0.45))
            f.write(os.urandom(size - int(size * 0.45)))
        p = start([path, *SHORT], stdout=PIPE, stderr=PIPE)
        if finish(p).rc:
            # It does not even run: cut only the section headers at the end.
            path = copy_of(d, as_name="cut")
            with open(path, "r+b") as f:
                f.seek(size - 512)
                f.write(os.urandom(512))
        s = trace([path, *SHORT], "--stacks").json
        check_summary(s)
        check(any(l["waits"] for l in s["locks"]), "the locks are shown all the same")


if __name__ == "__main__":
    main()
