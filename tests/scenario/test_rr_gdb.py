#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's gdb on replays, by scripts: forwards, backwards, and twice the same."""
import os
import re
import socket
import subprocess
import sys
from subprocess import PIPE

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (DEVNULL, ROOT, TRACER, Failure, check, contains, equal, main, need, run,
                     scratch, test)
from recordings import TIMES

SOURCE = os.path.join(ROOT, "tests", "rr", "debugged.c")
MARKED = os.path.join(ROOT, "tests", "rr", "marked.c")
LINES = open(SOURCE, encoding="ascii").read().splitlines()
QUIET = ["set pagination off", "set width 0", "set debuginfod enabled off",
         "handle SIGUSR1 nostop noprint"]


def line_of(text):
    """The line of the source that has this text."""
    return next(i + 1 for i, line in enumerate(LINES) if text in line)


def record(d, *cmd, rc=7, name="rec"):
    need("gdb")
    r = run([TRACER, "record", "-q", "-o", os.path.join(d, name), "--", *cmd], stdin=DEVNULL)
    equal(r.rc, rc, f"{cmd} recorded: {r.err}")
    return r


def build(d, source=SOURCE):
    program = os.path.join(d, "debugged")
    run(["gcc", "-g", "-O0", "-pthread", source, "-o", program]).ok()
    return program


def gdb(d, *commands, opts=(), name="rec"):
    """What gdb prints of each of the commands: a list of as many texts."""
    script = os.path.join(d, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write("\n".join(QUIET) + "\n")
        for c in commands:
            f.write(f"echo \\n@@\\n\n{c}\n")
    # What 'monitor' says goes to gdb's stderr.
    r = run(["sh", "-c", "exec \"$@\" 2>&1", "sh", TRACER, "replay", *opts,
             os.path.join(d, name), "--", "-nx", "-batch", "-x", script], stdin=DEVNULL)
    parts = r.out.split("\n@@\n")[1:]
    if len(parts) != len(commands):
        raise Failure(f"gdb stopped at '{commands[len(parts) - 1]}': {r.out[-1500:]}")
    return parts


def value(text):
    found = re.search(r"^\$\d+ = (.*)$", text, re.M)
    check(found, f"a value in {text!r}")
    return found[1]


@test
def forwards():
    with scratch() as d:
        record(d, build(d))
        out = gdb(d, "break leaf", "continue", "backtrace", "finish", "next", "continue",
                  "print n", "info registers rip", "print $xmm0.uint128", "when", "delete",
                  "continue", "continue")
        contains(out[1], "leaf (n=3)", "the first breakpoint")
        check(re.search(r"#0 +leaf .*\n#1 .* in middle .*\n#2 .* in main ", out[2]), out[2])
        contains(out[3], "Value returned is $1 = 7", "finish")
        contains(out[4], f"{line_of('int b = leaf')}\t", "next")
        contains(out[5], "leaf (n=4)", "the second")
        equal(value(out[6]), "4", "an argument")
        contains(out[7], "<leaf+", "a register")
        check(value(out[8]).isdigit(), "a register of SSE")
        check(re.search(r"^event \d+, thread \d+ of process \d+$", out[9], re.M), out[9])
        contains(out[11], "the child said child and ended with 41", "the program's output")
        contains(out[11], "No more reverse-execution history", "the end")
        contains(out[12], "exited with code 07", "the exit code")


@test
def backwards():
    with scratch() as d:
        record(d, build(d))
        out = gdb(d, "break leaf if n == 4", "continue", "delete", "reverse-finish\n"
                  "reverse-next", "reverse-next", "step", "backtrace 1", "reverse-step",
                  "reverse-stepi",
                  "print $pc", "stepi", "reverse-stepi", "print $pc", "break factorial",
                  "continue", "continue", "continue", "print n", "reverse-continue", "print n",
                  "reverse-continue", "reverse-continue", "when", "continue", "print n")
        contains(out[1], "leaf (n=4)", "a condition")
        contains(out[3], f"{line_of('int b = leaf')}\t", "reverse-finish")
        contains(out[4], f"{line_of('int a = leaf')}\t", "reverse-next")
        contains(out[6], "leaf (n=3)", "step")
        contains(out[7], "middle (n=3)", "reverse-step out of a function")
        equal(value(out[12]), value(out[9]), "there and back")
        equal([value(out[17]), value(out[19])], ["3", "4"], "rounds")
        contains(out[20], "factorial (n=5)", "the first round")
        contains(out[21], "No more reverse-execution history", "the beginning")
        equal(value(out[24]), "5", "forwards again")


@test
def memory_that_forks_leave_out():
    """A checkpoint is a fork, of which the program does not know."""
    with scratch() as d:
        was = record(d, build(d, MARKED))
        equal(was.out, "5 5 115 41\n", "recorded")
        r = run([TRACER, "replay", "-a", os.path.join(d, "rec")], stdin=DEVNULL)
        equal((r.rc, r.out), (7, was.out), r.err)
        out = gdb(d, "break step if n == 4", "continue", "reverse-stepi", "print left_out[0] + 0",
                  "print emptied[0] + 0", "print *shared", "stepi", "delete", "continue")
        equal([value(out[i]) for i in (3, 4, 5)], ["3", "3", "6"], "after going back")
        contains(out[8], was.out, "at its end")


@test
def shared_memory_that_gdb_writes():
    """Its forks have the same memory: what they write is not to stay."""
    with scratch() as d:
        was = record(d, build(d, MARKED))
        out = gdb(d, "break step if n == 4", "continue", "print *shared = 42", "print *shared",
                  "next", "next", "print *shared", "delete", "call step(1000)", "print *shared",
                  "next", "print *shared", "continue")
        equal([value(out[i]) for i in (3, 6)], ["42", "10"], "written, and run on from")
        contains(out[9], "1010", "by a function that is called")
        equal(value(out[11]), "10", "behind it")
        contains(out[12], was.out, "at its end")


@test
def who_wrote_a_variable():
    """A counter that two threads race for: gdb goes back from its end to each write."""
    with scratch() as d:
        record(d, build(d))
        end = line_of("counter > 0")
        out = gdb(d, f"break {end}", "continue", "print counter", "info threads",
                  "watch counter", "reverse-continue", "print counter", "backtrace 2",
                  "print who", "print was", "reverse-continue", "print counter", "print was",
                  "stepi", "print counter", "continue", "print counter")
        last = int(value(out[2]))
        for text, back in ((out[5], last), (out[10], None)):
            check(re.search(r"Thread \d+ hit Hardware watchpoint 2: counter", text), text)
            contains(text, f"{line_of('counter = was')}\t", "the line that wrote")
            if back:
                contains(text, f"Old value = {back}", "what it was")
        check(re.search(r"#0 .*add_one .*\n#1 .* in race ", out[7]), out[7])
        before = int(value(out[6]))
        equal(int(value(out[9])) + 1, last, "what it read, and wrote")
        check(int(value(out[11])) in range(0, last + 1), "the write before")
        equal(int(value(out[14])), int(value(out[12])) + 1, "that write, forwards")
        check(before in range(0, last + 2), f"between: {before}")
        equal(int(value(out[16])), last, "and the last one again")


@test
def threads():
    with scratch() as d:
        record(d, build(d))
        ps = run([TRACER, "ps", os.path.join(d, "rec")]).ok().out.splitlines()
        tids = [line.split()[0] for line in ps[1:]]
        out = gdb(d, "break add_one", "continue", "info threads",
                  "thread apply all backtrace", "thread 1", "print $_thread", "delete",
                  f"break debugged.c:{line_of('last_writer = who')}", "continue", "when")
        for tid in (tids[0], tids[-2]):
            contains(out[2], f".{tid} ", "a recorded thread")
        equal(len(re.findall(r"\(runs\)", out[2])), 1, f"who runs: {out[2]}")
        contains(out[2], "(in futex)", "who waits")
        contains(out[3], "in threads () at", "the stack of a thread that waits")
        contains(out[3], "add_one (who=1)", "the stack of the one that runs")
        contains(out[8], "hit Breakpoint 2", "on")


@test
def signals():
    with scratch() as d:
        program = build(d)
        record(d, program)
        record(d, program, "crash", rc=139, name="crash")
        out = gdb(d, "handle SIGUSR1 stop print", "continue", "stepi", "backtrace 2",
                  "reverse-continue", "continue", "handle SIGUSR1 nostop noprint",
                  "break on_signal", "continue", "finish", "reverse-step", "watch handled",
                  "reverse-continue", "print handled")
        contains(out[1], "received signal SIGUSR1", "a signal with a handler")
        check(re.search(r"#0 .*on_signal .*\n#1 .*<signal handler called>", out[3]), out[3])
        contains(out[5], "received signal SIGUSR1", "again")
        contains(out[8], "on_signal (sig=10)", "in the handler")
        equal(value(out[13]), "0", "before the handler wrote")
        out = gdb(d, "continue", "backtrace", "reverse-stepi", "stepi", "continue", "continue",
                  name="crash")
        contains(out[0], "received signal SIGSEGV", "what ended it")
        contains(out[1], "main (argc=2", "where")
        contains(out[4], "received signal SIGSEGV", "once more")
        contains(out[5], "terminated with signal SIGSEGV", "the end")


@test
def places():
    """Checkpoints, events, and the end, from where it goes back."""
    with scratch() as d:
        record(d, build(d))
        out = gdb(d, "break leaf", "continue", "checkpoint", "print $pc", "print $sp",
                  "continue", "checkpoint", "info checkpoints", "delete", "continue", "when",
                  "break factorial", "reverse-continue", "print n", "restart 1", "print $pc",
                  "print $sp", "print n", "delete checkpoint 1", "info checkpoints",
                  "set confirm off", "run 60", "when", "set args\nrun", "when", "delete",
                  "continue",
                  "continue", "restart 2", "print n")
        contains(out[2], "checkpoint 1 at event", "a checkpoint")
        contains(out[7], "2\tevent", "a list")
        contains(out[9], "No more reverse-execution history", "the end")
        equal(value(out[13]), "1", "the last call before the end")
        equal([value(t) for t in out[15:17]], [value(t) for t in out[3:5]], "registers")
        equal(value(out[17]), "3", "the argument")
        check("1\tevent" not in out[19] and "2\tevent" in out[19], out[19])
        contains(out[22], "event 60,", "an event that was asked for")
        check(int(out[24].split()[1].rstrip(",")) < 60, f"the beginning: {out[24]}")
        contains(out[27], "exited with code 07", "the end")
        equal(value(out[29]), "4", "a checkpoint, after the end")
        out = gdb(d, "when", "reverse-stepi", opts=("-g", "70"))
        contains(out[0], "event 70,", "-g")


@test
def twice_the_same():
    with scratch() as d:
        record(d, build(d))
        script = ["break add_one", "continue", "print $sp", "print &counter", "print $rip",
                  "continue", "info registers", "x/8gx $sp", "when", "delete",
                  "watch last_writer", "continue", "continue", "print counter", "when",
                  "reverse-continue", "when", "print counter", "print/x $ymm1", "delete",
                  "info threads", "thread apply all backtrace", "checkpoint",
                  "break add_one", "continue", "reverse-finish", "print $pc", "reverse-step",
                  "print $pc", "when", "reverse-next", "print $pc", "reverse-stepi", "print $pc",
                  "info checkpoints", "restart 1", "print $pc", "when", "info threads",
                  "delete", "run 70", "print $pc", "when", "run 60", "print $pc", "backtrace"]
        first = gdb(d, *script)
        contains(first[20], "Thread", "threads")
        contains(first[-2], "0x", "run N")
        for _ in range(TIMES - 1):
            equal(gdb(d, *script), first, "the same script")


@test
def calls_of_functions():
    """They run in a copy: nothing that they or gdb write stays."""
    with scratch() as d:
        record(d, build(d))
        out = gdb(d, "break factorial", "continue", "print middle(5)", "print add_one(7)",
                  "print counter", "print $pc", "print handled = 5", "print handled",
                  "x/i $pc", "print length(\"four\")", "print handled", "delete", "continue")
        equal(value(out[2]), str(2 * 5 + 1 + 2 * 6 + 1), "a function's result")
        equal(value(out[4]), "0", "what it wrote")
        equal([value(out[6]), value(out[7])], ["5", "5"], "a write")
        equal(value(out[9]), "4", "a function that gets a string")
        check(value(out[10]) != "99", "what it wrote")
        check("factorial" in out[5], out[5])
        check("int3" not in out[8], f"code: {out[8]}")
        contains(out[12], "sum 16, factorial 120, signal 10", "what was recorded")


@test
def processes():
    with scratch() as d:
        program = build(d)
        record(d, "sh", "-c", f"true; {program}; exit 3", rc=3)
        ps = [line.split() for line in
              run([TRACER, "ps", os.path.join(d, "rec")]).ok().out.splitlines()[1:]]
        ours = next(r[0] for r in ps if r[3] == program)
        child = next(r[0] for r in ps if r[1] == ours and r[2] == "41")
        out = gdb(d, "info threads", "break leaf", "continue", "continue", "print n",
                  "reverse-continue", "print n", opts=("-p", ours))
        contains(out[0], f"Thread {ours}.{ours} ", "the process")
        equal([value(out[4]), value(out[6])], ["4", "3"], "there and back")
        out = gdb(d, "backtrace", "break leaf", "continue", "print n", "reverse-continue",
                  "delete", "continue", "continue", opts=("-f", child))
        contains(out[0], "in processes () at", "from its fork")
        equal(value(out[3]), "20", "in the child")
        contains(out[7], "exited with code 051", "its end")
        r = run([TRACER, "replay", "-p", "1", os.path.join(d, "rec"), "--", "-nx", "-batch"],
                stdin=DEVNULL)
        contains(r.err, "the recording has no process 1", "one that is not there")


@test
def threads_that_lost_their_cpu():
    """Breakpoints, watchpoints and steps between points at which a thread was preempted."""
    with scratch() as d:
        was = record(d, build(d, os.path.join(ROOT, "tests", "rr", "preempted.c")), rc=0)
        out = gdb(d, "break end_part if who == 1 && parts[1] == 2", "continue", "info threads",
                  "print sum", "print parts[0]", "watch parts[0]", "continue", "print parts[0]",
                  "reverse-continue", "print parts[0]", "delete", "break end_part",
                  "reverse-continue", "print sum", "reverse-stepi", "reverse-stepi", "stepi",
                  "stepi", "print sum", "delete", "continue", "continue")
        contains(out[1], "end_part (who=1)", "a breakpoint")
        check(re.search(r"compute \(arg=0x0\)|end_part \(who=0\)", out[2]), out[2])
        before = int(value(out[4]))
        contains(out[6], f"New value = {before + 1}", "the other thread's write")
        equal(value(out[7]), str(before + 1), "what it wrote")
        contains(out[8], f"Old value = {before + 1}", "the same write, backwards")
        equal(value(out[9]), str(before), "before it")
        equal(value(out[18]), value(out[13]), "back and forth")
        contains(out[20], was.out.strip(), "the program's output")
        contains(out[21], "exited normally", "the end")


@test
def memory_that_is_shared():
    """A fork leaves it shared: a checkpoint has to keep a copy of it."""
    with scratch() as d:
        source = os.path.join(d, "shared.c")
        with open(source, "w", encoding="ascii") as f:
            f.write("#include <sys/mman.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
                    "static void step(int *p, int i) { *p = i; getppid(); }\n"
                    "int main(void)\n{\n\tint *p = mmap(0, 4096, 3, 0x21, -1, 0);\n"
                    "\tfor (int i = 1; i < 3000; i++)\n\t\tstep(p, i);\n"
                    "\tif (!fork())\n\t\t_exit(*p = 7);\n"
                    "\twait(0);\n\tstep(p, *p + 1);\n\treturn *p;\n}\n")
        record(d, build(d, source), rc=8)
        out = gdb(d, "break step if i == 1000", "continue", "checkpoint", "print *p",
                  "delete", "break step if i > 2000", "continue", "print *p", "delete",
                  "break step if i == 8", "continue", "print *p", "restart 1", "print *p",
                  "delete", "break step", "reverse-continue", "print *p", "reverse-continue",
                  "print *p", "delete", "continue", "continue", "run", "continue", "continue")
        equal([value(out[i]) for i in (3, 7, 11)], ["999", "2000", "7"], "forwards")
        equal([value(out[i]) for i in (13, 17, 19)], ["999", "998", "997"], "backwards")
        contains(out[22], "exited with code 010", "the end")
        contains(out[25], "exited with code 010", "the end, once more")


class Client:
    """The remote protocol, spoken to a replay that waits at a port."""
    def __init__(self, path):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.server = subprocess.Popen([TRACER, "replay", "-s", str(port), path],
                                       stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, text=True)
        contains(self.server.stderr.readline(), f":{port}", "what it waits for")
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(50)
        self.came = b""

    def send(self, text):
        data = text.encode("latin-1")
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 255))

    def receive(self):
        while not (found := re.search(rb"\$([^#]*)#..", self.came, re.S)):
            part = self.socket.recv(65536)
            check(part, f"the connection ends: {self.came}")
            self.came += part
        self.came = self.came[found.end():]
        return found[1].decode("latin-1")

    def ask(self, text):
        self.send(text)
        return self.receive()

    def end(self):
        self.socket.close()
        equal(self.server.wait(timeout=30), 0, "exit code")


@test
def what_comes_over_a_port():
    with scratch() as d:
        record(d, build(d, os.path.join(ROOT, "tests", "rr", "preempted.c")), rc=0)
        c = Client(os.path.join(d, "rec"))
        contains(c.ask("qSupported:multiprocess+"), "ReverseContinue+", "what it can do")
        equal(c.ask("QStartNoAckMode"), "OK", "no acknowledgements")
        check(c.ask("?").startswith("T05thread:p"), "the first stop")
        for bad in ("m", "m0", "mzz,1", "m0,ffffffffffffffff", "M0,4", "X0,8:ab", "p", "pffff",
                    "P10", "G", "Z0", "Z0,,", "Hg", "Hgp1.zz", "T", "vCont;x", "vCont;r1",
                    "vRun", "vFile:open:zz", "vFile:pread:9,1,0", "qXfer:auxv:read::zz",
                    "qRcmd,zz", "vFile:close:ffffffffffffffff"):
            answer = c.ask(bad)
            check(answer == "" or answer[0] in "EFOlT" or bad == "qRcmd,zz", f"{bad}: {answer}")
        equal(c.ask("nosuchpacket"), "", "a packet that is not known")
        c.end()


@test
def a_run_is_interrupted():
    with scratch() as d:
        record(d, build(d, os.path.join(ROOT, "tests", "rr", "preempted.c")), rc=0)
        c = Client(os.path.join(d, "rec"))
        c.ask("qSupported:multiprocess+")
        c.ask("QStartNoAckMode")
        c.send("vCont;c")
        c.socket.sendall(b"\x03")
        answer = c.receive()
        check(re.match("T02thread:p|T05.*replaylog:end", answer), f"the stop: {answer}")
        pc = c.ask("p10")
        equal(c.ask("vCont;s")[:3], "T05", "a step")
        check(c.ask("p10") != pc, "it went on")
        c.send("bs")
        equal(c.receive()[:3], "T05", "a step back")
        equal(c.ask("p10"), pc, "where it was")
        c.end()


@test
def steps_that_nobody_sees():
    """The flag of the processor that makes a step is in no register and in no memory."""
    with scratch() as d:
        source = os.path.join(d, "flags.c")
        with open(source, "w", encoding="ascii") as f:
            f.write("unsigned long a, b;\nint main(void)\n{\n"
                    "\t__asm__ volatile(\"pushf; pop %0\" : \"=r\"(a) :: \"memory\");\n"
                    "\t__asm__ volatile(\"syscall; mov %%r11, %0\" : \"=r\"(b) : \"a\"(39L) : "
                    "\"rcx\", \"r11\");\n\treturn 0;\n}\n")
        record(d, build(d, source), rc=0)
        out = gdb(d, "break 4", "break 6", "continue", "stepi 4", "stepi", "stepi", "stepi",
                  "stepi", "continue", "print/x a & 0x100", "print/x b & 0x100")
        equal([value(t) for t in out[9:]], ["0x0", "0x0"], "the flag")


@test
def instructions_that_were_replaced():
    """A step over one of the time stamp counter is one step, back too."""
    need("objdump")
    with scratch() as d:
        source = os.path.join(d, "reads.c")
        with open(source, "w", encoding="ascii") as f:
            f.write("#include <x86intrin.h>\nunsigned long a, b;\n"
                    "int main(void)\n{\n\ta = __rdtsc();\n\tb = __rdtsc() - a;\n\treturn 7;\n}\n")
        program = build(d, source)
        record(d, program)
        text = run(["objdump", "-d", "-w", "--disassemble=main", program]).ok().out
        code = [int(m[1], 16) for m in re.finditer(r"^ +(\w+):\t", text, re.M)]
        reads = [int(m[1], 16) for m in re.finditer(r"^ +(\w+):\t0f 31", text, re.M)]
        equal(len(reads), 2, text)
        steps = code.index(reads[1]) + 2 - code.index(reads[0])
        where = 'printf "%d\\n", $pc - (long)&main'
        out = gdb(d, f"break *(main + {reads[0] - code[0]})", "continue",
                  *["stepi", where] * steps, *["reverse-stepi", where] * steps)
        at = [int(x) for x in out[3::2]]
        there = [x - code[0] for x in code if x >= reads[0]][:steps + 1]
        equal(at, there[1:] + there[-2::-1], "the places of steps")


if __name__ == "__main__":
    main()
