#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tape: with `cat` as the command, every selector gives back its input byte for byte.

The inputs come from a generator whose seed is printed with a failure: random bytes, invalid
UTF-8, NUL, CRLF, no last newline, empty lines, fields and input, quotes, and long lines.
TAPE_SEED and TAPE_CASES choose others and more.
"""
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import SLOW, Failure, clean_env, main, test
from tape import TAPE, same, tape

# Sanitized, a case takes ten times as long; what it sees, it sees in few.
CASES = int(os.environ.get("TAPE_CASES", "2400" if SLOW == 1 else "240"))
SEED = int(os.environ.get("TAPE_SEED", "1"))

SELECTORS = [
    ["-l", "1-"], ["-l", "2,4-6"], ["-g", "a"], ["-g", "a", "-A", "1", "-B", "2"],
    ["-og", "."], ["-og", "[a-z]+"], ["-og", "a*"], ["-og", r"\s|b"], ["-og", ""],
    ["-og", r"(a|\r)+"], ["-c", "1-"], ["-c", "2,4-5"], ["-f", "1-"], ["-f", "2,4"],
    ["-f", "1-", "-d", ","], ["-f", "2-", "-d", ", "], ["-f", "1,3", "-d", ""],
    ["-f", "1-", "-D", "[,;]"], ["-f", "2", "-D", ""], ["--csv", "-f", "1-"], ["--csv", "-f", "2"],
    ["-e", "sed -n '2~2='"], ["--sed", "2~3"], ["--awk", "NR%2"],
]
PIECES = [b"a", b"b", b"abc", b" ", b"  ", b",", b", ", b";", b"\t", b'"', b'""', b'"x,y"', b"\r",
          b"\xff", b"\xe3\x81", b"\xc3\xa9", b"\xe3\x81\x82", b"\xe2\x80\x83", b"\xed\xa0\x80",
          b"\xf0\x9f\x98\x80", b"e\xcc\x81", b"0", b"1.5", b"\x00", b"\x0b", b"\x1b[0m", b"-"]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b"\x00", b"\x00\n", b""]


def line(r):
    kind = r.randrange(8)
    if kind == 0:
        return b""
    if kind == 1:
        return r.randbytes(r.randrange(1, 40))
    if kind == 2 and r.randrange(8) == 0:
        return r.choice(PIECES) * r.randrange(1, 3000)
    return b"".join(r.choice(PIECES) for _ in range(r.randrange(1, 12)))


def text(r):
    if r.randrange(20) == 0:
        return b""
    data = b"".join(line(r) + r.choice(ENDS) for _ in range(r.randrange(1, 12)))
    return data + (b"" if r.randrange(3) else line(r))


def options(r):
    extra = [o for o in ("-v", "-z") if r.randrange(4) == 0]
    if r.randrange(12) == 0:
        extra += ["-s", "-j", str(r.randrange(1, 4))]
    if r.randrange(8) == 0:
        extra += ["--header", str(r.randrange(3))]
    return extra


@test(timeout=300, root=False)
def generated():
    r = random.Random(SEED)
    env = clean_env()
    for i in range(CASES):
        if i % 200 == 0:
            print(f"# {i} of {CASES} cases", flush=True)
        selector = SELECTORS[i % len(SELECTORS)]
        extra = options(r)
        data = text(r)
        if "-s" in extra:
            data = data[:200]
        args = [*selector, *extra, "--", "cat"]
        try:
            p = subprocess.run([TAPE, *args], input=data, capture_output=True, env=env,
                               timeout=20 * SLOW, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"case {i} of seed {SEED}: {args} of {data[:2000]!r}: hangs") from None
        if p.returncode or p.stderr or p.stdout != data:
            raise Failure(f"case {i} of seed {SEED}: {args} of {data[:2000]!r}: exit "
                          f"{p.returncode}, {p.stderr[:300]!r}, {p.stdout[:2000]!r}")


@test(timeout=200, root=False)
def unquoted():
    """Values go through, and quotes that stood stand again; what needs none keeps none."""
    r = random.Random(SEED)
    for i in range(CASES // 12):
        rows = []
        for _ in range(r.randrange(1, 6)):
            cells = [r.choice(['"a ""b"" c"', "plain", "", '""', '"x,y"', '"l1\nl2"', '"\r\n"',
                               "é", "'"]) for _ in range(r.randrange(1, 5))]
            rows.append(",".join(cells) + r.choice(["\n", "\r\n"]))
        data = "".join(rows).encode()
        for extra in ([], ["-s"], ["-z"]) if i % 10 == 0 else ([],):
            got = tape(*extra, "--csv", "--unquote", "-f", "1-", "--", "cat", data=data).ok()
            same(got.raw_out, data, f"{extra} {data!r}")


@test(timeout=200, root=False)
def lines_of_10_mb():
    r = random.Random(SEED)
    words = b"".join(r.choice(PIECES) for _ in range(4000)).replace(b"\0", b"")
    # A sanitizer looks at all of a line whenever a library's function searches it.
    size = 10 << 20 if SLOW == 1 else 256 << 10
    big = (words * (size // len(words) + 1))[:size].replace(b"\n", b" ")
    big = big.replace(b'"', b"'").rstrip(b"\r")
    # The first for every selector, but where it is slow; the other for each third.
    for data, every in ((big + b"\n" + big[:-1], 1 if SLOW == 1 else 4),
                        (b"x\n" + big + b"\r\n", 3)):
        for selector in SELECTORS[::every]:
            print(f"# {' '.join(selector)}", flush=True)
            same(tape(*selector, "--", "cat", data=data, timeout=60).ok().raw_out, data,
                 f"{selector}, lines of 10 MB")


main()
