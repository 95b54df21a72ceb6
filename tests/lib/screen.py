# SPDX-License-Identifier: MIT
"""A program with a screen of its own: sends it keys, and reads the screen as one sees it."""
import fcntl
import os
import random
import re
import select
import signal
import struct
import sys
import termios
import time

from harness import SLOW, Failure, Skip, no_leak_check
from terminal import Terminal

# A python that is not the distribution's does not look where its modules are.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import pyte
except ImportError:
    pyte = None

KEYS = {"up": b"\x1bOA", "down": b"\x1bOB", "right": b"\x1bOC", "left": b"\x1bOD",
        "home": b"\x1bOH", "end": b"\x1bOF", "pgup": b"\x1b[5~", "pgdn": b"\x1b[6~",
        "f1": b"\x1bOP", "f2": b"\x1bOQ", "f3": b"\x1bOR", "f4": b"\x1bOS", "f5": b"\x1b[15~",
        "f6": b"\x1b[17~", "f7": b"\x1b[18~", "f8": b"\x1b[19~", "f9": b"\x1b[20~",
        "f10": b"\x1b[21~", "shift-f3": b"\x1b[1;2R", "enter": b"\r", "esc": b"\x1b",
        "tab": b"\t", "shift-tab": b"\x1b[Z", "space": b" ", "backspace": b"\x7f"}


def _emulator(columns, rows):
    """pyte's terminal, and what xterm has beside: repeating a character, scrolling."""
    class Screen(pyte.Screen):
        last = " "

        def draw(self, data):
            super().draw(data)
            self.last = data[-1:] or self.last

        def repeat(self, n=1):
            self.draw(self.last * (n or 1))

        def scroll(self, n, edge, step):
            top, bottom = self.margins or (0, self.lines - 1)
            y, self.cursor.y = self.cursor.y, bottom if edge else top
            for _ in range(n or 1):
                step()
            self.cursor.y = y

        def scroll_up(self, n=1):
            self.scroll(n, True, self.index)

        def scroll_down(self, n=1):
            self.scroll(n, False, self.reverse_index)

    class Stream(pyte.ByteStream):
        csi = dict(pyte.ByteStream.csi, b="repeat", S="scroll_up", T="scroll_down")
        events = pyte.ByteStream.events | {"repeat", "scroll_up", "scroll_down"}

    screen = Screen(columns, rows)
    return screen, Stream(screen)


class Screen(Terminal):
    """argv on a terminal of its own; .lines is what stands there now."""
    def __init__(self, argv, columns=80, rows=24, term="xterm-256color", **env):
        if pyte is None:
            raise Skip("python3-pyte is not installed")
        if term == "linux":
            # ncurses loads libgpm for its mouse, which leaks ten bytes where there is no gpm.
            env.update(no_leak_check())
        super().__init__(argv, columns, rows, TERM=term, **env)
        self.screen, self.stream = _emulator(columns, rows)
        self.shown = 0

    def look(self, seconds=0.02):
        """Takes in what has been written; False at the end of the program."""
        alive = self.pump(seconds)
        # What is drawn at once may come in parts.
        while select.select([self.master], [], [], 0.005)[0] and self.pump(0):
            pass
        self.stream.feed(self.seen[self.shown:])
        self.shown = len(self.seen)
        return alive and self.proc.poll() is None

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def cells(self, y):
        """A line with a character for each of its columns, also where a letter takes two."""
        row = self.screen.buffer[y]
        return "".join(row[x].data[:1] or " " for x in range(self.screen.columns))

    @property
    def all(self):
        return "\n".join(self.lines)

    def keys(self, *keys):
        """Sends keys by name, or text as it is."""
        for k in keys:
            self.send(KEYS.get(k, k.encode()))

    def until(self, what, found, seconds=10):
        """Waits until found(self) is true of the screen; returns that."""
        end = time.monotonic() + seconds * SLOW
        while True:
            alive = self.look()
            try:
                v = found(self)
            except Failure:
                v = None
            if v:
                return v
            if time.monotonic() > end or not alive:
                raise Failure(f"{what}: did not come{'' if alive else ', it has ended'}; the "
                              f"screen:\n{self.all}")

    def see(self, pattern, seconds=10):
        """Waits until the pattern stands on a line; returns the match."""
        return self.until(f"{pattern!r}", lambda s: re.search(pattern, s.all, re.M), seconds)

    def gone(self, pattern, seconds=10):
        self.until(f"that {pattern!r} goes", lambda s: not re.search(pattern, s.all, re.M),
                   seconds)

    def line_of(self, pattern):
        """The number of the first line with the pattern."""
        for i, line in enumerate(self.lines):
            if re.search(pattern, line):
                return i
        raise Failure(f"{pattern!r} is on no line of the screen:\n{self.all}")

    def resize(self, columns, rows):
        self.look()
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def click(self, x, y):
        """The left button at column x, line y, from 0, as xterm tells it."""
        self.send(f"\x1b[<0;{x + 1};{y + 1}M\x1b[<0;{x + 1};{y + 1}m".encode())

    def wheel(self, up, x=5, y=10):
        self.send(f"\x1b[<{64 if up else 65};{x + 1};{y + 1}M".encode())

    def attribute(self, x, y):
        """Foreground, background and whether it is bold or reversed there."""
        c = self.screen.buffer[y][x]
        return c.fg, c.bg, c.bold, c.reverse

    def restored(self):
        """What is not as it was before the program: [] when all is."""
        self.look(0.1)
        wrong = []
        if termios.tcgetattr(self.master) != self.modes:
            wrong.append("terminal modes")
        if self.screen.cursor.hidden:
            wrong.append("cursor hidden")
        for mode, name in ((1049, "alternate screen"), (1000, "mouse"), (1006, "mouse format")):
            last = re.findall(rb"\x1b\[\?(?:\d+;)*%d(?:;\d+)*([hl])" % mode, self.seen)
            if last and last[-1] == b"h":
                wrong.append(name)
        return wrong


def play(argv, seconds):
    """Random keys, clicks and sizes for so long; TRACER_SCREEN_SEED repeats a run."""
    seed = int(os.environ.get("TRACER_SCREEN_SEED") or random.randrange(1 << 32))
    rnd = random.Random(seed)
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        opts = [o for o in ("--churn", "--exact", "--lost", "--empty") if rnd.random() < 0.4]
        s = Screen([*argv, "--delay", "20", "--threads", str(rnd.choice((0, 3, 200))), *opts],
                   LC_ALL=rnd.choice(("C", "C.UTF-8")),
                   term=rnd.choice(("xterm-256color", "linux", "vt100")))
        sent = _play_one(s, rnd, min(stop, time.monotonic() + max(1.0, seconds / 20)))
        # A click on Quit is an end as good as any.
        if s.proc.poll() is None:
            s.proc.send_signal(signal.SIGINT)
        rc = s.wait()
        if rc or s.restored():
            raise Failure(f"seed {seed}, {opts}: exit code {rc}, not restored {s.restored()} after "
                          f"{sent[-30:]}: {s.text[-3000:]}")
        s.close()


def _play_one(s, rnd, stop):
    # None that is the terminal's own: quit, ctrl-C, ctrl-Z, ctrl-\\, stop, start, next, discard.
    text = [bytes([b]) for b in range(256) if b not in b"q\x03\x1a\x1c\x13\x11\x16\x0f"]
    names = [k for n, k in KEYS.items() if n not in ("f10", "esc")]
    sent = []
    while time.monotonic() < stop and s.proc.poll() is None:
        what = rnd.random()
        if what < 0.05:
            size = rnd.choice(((80, 24), (rnd.randint(1, 200), rnd.randint(1, 60))))
            s.resize(*size)
            sent.append(size)
        elif what < 0.15:
            at = (rnd.randint(0, 90), rnd.randint(0, 30))
            s.click(*at)
            sent.append(at)
        else:
            k = rnd.choice(text if what < 0.5 else names)
            s.send(k)
            sent.append(k)
        if rnd.random() < 0.3:
            s.pump(0.005)
    return sent


__all__ = ["KEYS", "Screen", "play"]
