# SPDX-License-Identifier: MIT
"""What the tests above unit level share.

A test file defines functions marked @test and ends with main(). Each test
prints one line, "ok NAME", "not ok NAME" or "skip NAME: reason", and on a
failure lines that start with "# ". The file exits 0, 1, or 77 when all of
its tests were skipped. TRACER_BUILD names the build directory.
"""
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from subprocess import DEVNULL, PIPE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("TRACER_BUILD", "build"))
TRACER = os.path.join(BUILD, "tracer")
SANITIZED = os.environ.get("TRACER_SANITIZED", "") not in ("", "0")
# A sanitized or instrumented build runs slower by about this much.
# How much longer everything may take: TRACER_SLOW where more is done than usual.
SLOW = (4 if SANITIZED else 1) * int(os.environ.get("TRACER_SLOW", "1"))

_tests = []
_children = []


class Failure(Exception):
    """An expectation that was not met."""


class Skip(Exception):
    """The machine cannot run this test; the text says why."""


def test(*args, timeout=60, root=True):
    """Marks a test. root: it needs privilege, and is skipped without."""
    def mark(fn):
        _tests.append((fn, timeout, root))
        return fn
    return mark(args[0]) if args else mark


# ---- expectations ---------------------------------------------------------

def check(ok, what):
    if not ok:
        raise Failure(what)


def equal(got, want, what):
    if got != want:
        raise Failure(f"{what}: got {got!r}, want {want!r}")


def near(got, want, share, what, slack=0):
    """got differs from want by at most share * want + slack."""
    if abs(got - want) > share * abs(want) + slack:
        raise Failure(f"{what}: got {got}, want {want} within {share:.1%} + {slack}")


def between(got, low, high, what):
    if not low <= got <= high:
        raise Failure(f"{what}: got {got}, want {low} to {high}")


def contains(text, part, what):
    if part not in text:
        raise Failure(f"{what}: {part!r} is not in {text[-2000:]!r}")


# ---- running --------------------------------------------------------------

class Result:
    """rc is the exit code, or -N for death by signal N."""
    def __init__(self, argv, rc, out, err, seconds, summary=None):
        self.argv, self.rc, self.seconds = argv, rc, seconds
        self.raw_out, self.raw_err = out, err
        self.out = out.decode("utf-8", "backslashreplace")
        self.err = err.decode("utf-8", "backslashreplace")
        self.json = summary

    def __iter__(self):
        return iter((self.rc, self.out, self.err, self.json))

    @property
    def said(self):
        """The KEY=VALUE words of stdout; numbers as numbers."""
        return keys(self.out)

    def ok(self, rc=0):
        if self.rc != rc:
            raise Failure(f"{' '.join(self.argv)}: exit {self.rc}, want {rc}\n"
                          f"stderr: {self.err[-1500:]}\nstdout: {self.out[-500:]}")
        return self


def keys(text):
    found = {}
    for k, v in re.findall(r"([\w:]+)=(\S+)", text):
        if re.fullmatch(r"-?\d+", v):
            found[k] = int(v)
        elif re.fullmatch(r"0x[0-9a-f]+", v):
            found[k] = int(v, 16)
        else:
            found[k] = v
    return found


def clean_env(**more):
    """A fixed environment: what a program does must not depend on the caller's."""
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
           "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "TERM": "dumb"}
    for k in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
        if k in os.environ:
            env[k] = os.environ[k]
    env.update(more)
    return {k: v for k, v in env.items() if v is not None}


def no_leak_check():
    """Environment in which a sanitized program does not look for leaks at its end: the look
    starts a process that makes futex calls."""
    options = os.environ.get("ASAN_OPTIONS", "")
    return {"ASAN_OPTIONS": options + ":detect_leaks=0"} if SANITIZED else {}


def start(argv, **kw):
    """Popen in a process group of its own, killed when the test ends."""
    kw.setdefault("env", clean_env())
    kw.setdefault("stdin", subprocess.DEVNULL)
    kw.setdefault("start_new_session", True)
    p = subprocess.Popen([str(a) for a in argv], **kw)
    p.owns_group = kw["start_new_session"]
    _children.append(p)
    return p


def kill(p):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if p.owns_group:
            os.killpg(p.pid, signal.SIGKILL)
        else:
            p.kill()
    with contextlib.suppress(Exception):
        p.wait(5)


def finish(p, timeout=60, data=None):
    """Waits for p and returns its Result; a timeout is a failure."""
    t0 = time.monotonic()
    try:
        out, err = p.communicate(data, timeout * SLOW)
    except subprocess.TimeoutExpired:
        kill(p)
        raise Failure(f"{' '.join(p.args)}: still running after {timeout * SLOW} s") from None
    return Result(p.args, p.returncode, out or b"", err or b"", time.monotonic() - t0)


def run(argv, timeout=60, data=None, **kw):
    kw.setdefault("stdout", subprocess.PIPE)
    kw.setdefault("stderr", subprocess.PIPE)
    if data is not None:
        kw["stdin"] = subprocess.PIPE
    return finish(start(argv, **kw), timeout, data)


def workload(name):
    path = os.path.join(BUILD, "tests", "workloads", name)
    check(os.access(path, os.X_OK), f"{path} is not built")
    return path


def load_json(path):
    with open(path, encoding="utf-8") as f:
        try:
            return json.load(f)
        except ValueError as e:
            f.seek(0)
            raise Failure(f"not JSON: {e}: {f.read()[:300]!r}") from None


def trace(cmd, *opts, timeout=60, rc=0, prefix=(), **kw):
    """tracer run --json -o FILE opts -- cmd. The Result carries the summary."""
    with scratch() as d:
        path = os.path.join(d, "summary.json")
        r = run([*prefix, TRACER, "run", "--json", "-o", path, *opts, "--", *cmd], timeout, **kw)
        if rc is not None:
            r.ok(rc)
        if os.path.exists(path) and os.path.getsize(path):
            r.json = load_json(path)
        elif rc is not None:
            raise Failure(f"tracer run wrote no summary; stderr: {r.err[-800:]}")
    return r


def trace_work(name, *args, opts=(), **kw):
    """trace() of one of our workloads."""
    return trace([workload(name), *map(str, args)], *opts, **kw)


# ---- attach ---------------------------------------------------------------

def descendants(pid):
    found, todo = [], [pid]
    while todo:
        p = todo.pop()
        found.append(p)
        for task in safe_list(f"/proc/{p}/task"):
            with contextlib.suppress(OSError), \
                    open(f"/proc/{p}/task/{task}/children", encoding="ascii") as f:
                todo += map(int, f.read().split())
    return found


def safe_list(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def bpf_held(pid):
    """The BPF objects that pid and its children hold: {("prog", 12), ("link", 3), ...}."""
    held = set()
    for p in descendants(pid):
        for fd in safe_list(f"/proc/{p}/fd"):
            with contextlib.suppress(OSError):
                where = os.readlink(f"/proc/{p}/fd/{fd}")
                if "bpf" not in where:
                    continue
                with open(f"/proc/{p}/fdinfo/{fd}", encoding="ascii") as f:
                    held.update((k, int(n)) for k, n in
                                re.findall(r"^(prog|link|map)_id:\s*(\d+)", f.read(), re.M))
    return held


def bpf_alive(held):
    """Those of the objects that the kernel still has."""
    alive = set()
    for kind in ("prog", "link", "map"):
        r = run(["bpftool", "-j", kind, "show"], 20)
        if r.rc == 0:
            ids = {o["id"] for o in json.loads(r.out or "[]")}
            alive |= {(k, i) for k, i in held if k == kind and i in ids}
    return alive


def wait_gone(held, seconds=3):
    """Fails when one of the objects outlives its owner."""
    check(held, "no BPF object was seen while the tracer ran")
    end = time.monotonic() + seconds
    while (left := bpf_alive(held)) and time.monotonic() < end:
        time.sleep(0.1)
    check(not left, f"left in the kernel: {sorted(left)}")


def wait_for(what, fn, seconds=10, step=0.02):
    """Calls fn until it is true; a failure after the given time."""
    end = time.monotonic() + seconds * SLOW
    while True:
        v = fn()
        if v:
            return v
        if time.monotonic() > end:
            raise Failure(f"waited {seconds * SLOW} s for: {what}")
        time.sleep(step)


def wait_attached(p, seconds=10):
    """Waits until the tracer p holds links and has taken no more for 0.3 s."""
    state = {"held": set(), "since": time.monotonic()}

    def settled():
        if p.poll() is not None:
            err = p.stderr.read().decode("utf-8", "replace") if p.stderr else ""
            raise Failure(f"{' '.join(p.args)}: ended early, exit {p.returncode}: {err[-800:]}")
        held = bpf_held(p.pid)
        if held != state["held"]:
            state.update(held=held, since=time.monotonic())
            return False
        return any(k == "link" for k, _ in held) and time.monotonic() - state["since"] > 0.3
    wait_for("the tracer to attach", settled, seconds, 0.03)
    return state["held"]


class Attach:
    """tracer attach --json; stop() interrupts it and returns its Result."""
    def __init__(self, *args, wait=True, prefix=(), **kw):
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("stderr", subprocess.PIPE)
        self.proc = start([*prefix, TRACER, "attach", "--json", *args], **kw)
        self.held = wait_attached(self.proc) if wait else set()

    def stop(self, sig=signal.SIGINT, rc=0, timeout=30):
        if self.proc.poll() is None:
            pid = self.proc.pid
            for p in descendants(self.proc.pid):
                with contextlib.suppress(OSError):
                    if os.path.basename(os.readlink(f"/proc/{p}/exe")).startswith("tracer"):
                        pid = p
                        break
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sig)
        return self.end(rc, timeout)

    def end(self, rc=0, timeout=15):
        """Waits for the end of an attach that ends by itself."""
        r = finish(self.proc, timeout)
        if rc is not None:
            r.ok(rc)
            try:
                r.json = json.loads(r.out)
            except ValueError as e:
                raise Failure(f"attach printed no JSON: {e}: {r.out[:300]!r}") from None
        return r


def start_work(name, *args, **kw):
    """Starts a workload with pipes at stdin and stdout."""
    kw.setdefault("stdin", subprocess.PIPE)
    kw.setdefault("stdout", subprocess.PIPE)
    return start([workload(name), *args], **kw)


# ---- oracles --------------------------------------------------------------

def need(*programs):
    for p in programs:
        if not shutil.which(p, path=clean_env()["PATH"]):
            raise Skip(f"{p} is not installed")


def strace_counts(cmd, opts=(), timeout=120, **kw):
    """strace -cf: {name: (calls, errors)}. Calls that never return are not in it."""
    need("strace")
    with scratch() as d:
        path = os.path.join(d, "strace")
        kw.setdefault("stdout", subprocess.DEVNULL)
        r = run(["strace", "-cf", *opts, "-o", path, *cmd], timeout, **kw)
        with open(path, encoding="utf-8") as f:
            text = f.read()
    counts = {}
    for line in text.splitlines():
        m = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:(\d+)\s+)?(\w+)$", line)
        if m and m[3] != "total":
            counts[m[3]] = (int(m[1]), int(m[2] or 0))
    check(counts, f"strace counted nothing: {r.err[-300:]}")
    return counts


def strace_errors(cmd, timeout=120, **kw):
    """strace -f's log: {name: {errno: count}}; interrupted calls are not errors."""
    need("strace")
    found = {}
    with scratch() as d:
        path = os.path.join(d, "strace")
        kw.setdefault("stdout", subprocess.DEVNULL)
        run(["strace", "-f", "-o", path, *cmd], timeout, **kw)
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                m = re.match(r"\d+\s+(?:<\.\.\. )?(\w+)[( ].* = -1 (E\w+) \(", line)
                if m:
                    by = found.setdefault(m[1], {})
                    by[m[2]] = by.get(m[2], 0) + 1
    return found


NEVER_RETURN = {"exit", "exit_group"}


# ---- reading a summary ----------------------------------------------------

def calls(summary):
    return {s["name"]: s["calls"] for s in summary["syscalls"]}


def call(summary, name):
    for s in summary["syscalls"]:
        if s["name"] == name:
            return s
    raise Failure(f"{name} is not among the system calls: {sorted(calls(summary))}")


def lock_at(summary, addr):
    """The one lock of that address."""
    found = [l for l in summary["locks"] if as_addr(l["addr"]) == addr]
    if len(found) != 1:
        some = [(l["addr"], l.get("symbol"), l["waits"]) for l in summary["locks"][:12]]
        raise Failure(f"{len(found)} locks at {addr:#x}, want 1; there are {some}")
    return found[0]


def as_addr(v):
    return int(v, 0) if isinstance(v, str) else v


def edges(lock):
    """{(waker, waiter): count}"""
    return {(e["waker"], e["waiter"]): e["count"] for e in lock["edges"]}


def pipe_of(summary, kind, inode=None, writer=None):
    """The one edge; those to somebody who is not traced (our own pipes) do not count."""
    found = [p for p in summary["pipes"] if p["kind"] == kind and p["writers"] and p["readers"]
             and (inode is None or p["inode"] == inode)
             and (writer is None or writer in p["writers"])]
    if len(found) != 1:
        some = [(p["kind"], p["inode"], p["writers"], p["readers"], p["bytes"])
                for p in summary["pipes"][:12]]
        raise Failure(f"{len(found)} edges of kind {kind}, inode {inode}, writer {writer}; "
                      f"want 1; there are {some}")
    return found[0]


def lossless(summary):
    """No count is short. A stack is a sample: that of a process that is gone may be missing."""
    loss = summary["loss"]
    if loss["total"] - loss["stacks"]:
        raise Failure(f"events were lost: {loss}")


# ---- places ---------------------------------------------------------------

@contextlib.contextmanager
def scratch():
    d = tempfile.mkdtemp(prefix="tracer-test-")
    try:
        yield d
    finally:
        shutil.rmtree(d, ignore_errors=True)


def cgroup2_root():
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        for line in f:
            left, right = line.split(" - ", 1)
            if right.split()[0] == "cgroup2":
                return left.split()[4]
    raise Skip("no cgroup2 mount")


@contextlib.contextmanager
def cgroup():
    """A new cgroup; those left in it are moved out at the end."""
    root = cgroup2_root()
    path = os.path.join(root, f"tracer-test-{os.getpid()}")
    try:
        os.mkdir(path)
    except OSError as e:
        raise Skip(f"cannot make a cgroup: {e}") from None
    try:
        yield path
    finally:
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                with open(os.path.join(path, "cgroup.procs"), encoding="ascii") as f:
                    for pid in f.read().split():
                        with contextlib.suppress(OSError), \
                                open(os.path.join(root, "cgroup.procs"), "w",
                                     encoding="ascii") as g:
                            g.write(pid)
                os.rmdir(path)
                break
            except OSError:
                time.sleep(0.05)


# ---- the run itself -------------------------------------------------------

def _alarm(*_):
    raise Failure("the test took too long")


def _report(fn, timeout, root):
    name = f"{os.path.basename(sys.argv[0]).removesuffix('.py')}/{fn.__name__}"
    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(timeout * SLOW)
    try:
        if root and os.geteuid():
            raise Skip("needs root")
        fn()
        print(f"ok {name}")
        return 0
    except Skip as e:
        print(f"skip {name}: {e}")
        return 77
    except Exception as e:
        print(f"not ok {name}")
        text = str(e) if isinstance(e, Failure) else traceback.format_exc()
        for line in (text or repr(e)).splitlines():
            print(f"#   {line}")
        tb = [f for f in traceback.extract_tb(e.__traceback__) if f.filename == sys.argv[0]]
        if tb:
            print(f"#   at line {tb[-1].lineno}: {tb[-1].line}")
        return 1
    finally:
        signal.alarm(0)
        while _children:
            p = _children.pop()
            kill(p)
            for f in (p.stdin, p.stdout, p.stderr):
                if f:
                    with contextlib.suppress(Exception):
                        f.close()
        sys.stdout.flush()


def main():
    """Runs the tests of the file, or those named as arguments."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not os.access(TRACER, os.X_OK):
        print(f"not ok {os.path.basename(sys.argv[0])}\n#   {TRACER} is not built")
        sys.exit(1)
    chosen = [t for t in _tests if not sys.argv[1:] or t[0].__name__ in sys.argv[1:]]
    codes = [_report(*t) for t in chosen]
    if 1 in codes or not codes:
        sys.exit(1)
    sys.exit(77 if all(c == 77 for c in codes) else 0)
