# SPDX-License-Identifier: MIT
"""A pseudo terminal with a program on it, as a person would have it."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

from harness import SLOW, Failure, clean_env, start

CTRL_C, CTRL_Z = b"\x03", b"\x1a"


class Terminal:
    """Starts argv as the leader of a session whose terminal this is."""
    def __init__(self, argv, columns=80, rows=24, stdout=None, **env):
        self.master, slave = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.modes = termios.tcgetattr(slave)
        self.seen = b""
        self.proc = start(argv, stdin=slave, stdout=slave if stdout is None else stdout,
                          stderr=slave, env=clean_env(**env), start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)

    def send(self, data):
        os.write(self.master, data)

    def pump(self, seconds=0.05):
        """Reads what there is; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            part = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += part
        return bool(part)

    def expect(self, pattern, seconds=10, start=0):
        """Waits until the output from start on matches; returns the match."""
        end = time.monotonic() + seconds * SLOW
        while True:
            m = re.search(pattern, self.text[start:])
            if m:
                return m
            if time.monotonic() > end or not self.pump():
                self.pump(0)
                m = re.search(pattern, self.text[start:])
                if m:
                    return m
                raise Failure(f"{pattern!r} did not come; output: {self.text[-2000:]!r}")

    @property
    def text(self):
        return self.seen.decode("utf-8", "backslashreplace").replace("\r\n", "\n")

    def wait(self, seconds=15):
        """The exit code; reads on so that the program never waits for us."""
        end = time.monotonic() + seconds * SLOW
        while self.proc.poll() is None:
            self.pump()
            if time.monotonic() > end:
                raise Failure(f"{self.proc.args} still runs; output: {self.text[-1500:]!r}")
        while select.select([self.master], [], [], 0.1)[0] and self.pump(0):
            pass
        return self.proc.returncode

    def close(self):
        """Hangs the terminal up."""
        os.close(self.master)


def run_on_terminal(argv, columns=80, **env):
    """(exit code, text) of a program on a terminal."""
    t = Terminal(argv, columns, **env)
    rc = t.wait()
    text = t.text
    t.close()
    return rc, text


__all__ = ["CTRL_C", "CTRL_Z", "Terminal", "run_on_terminal"]
