# SPDX-License-Identifier: MIT
"""What the checks share: the files of the tree and the report of a check."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.chdir(ROOT)
BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
_problems = []


def files(*patterns):
    """Files of the tree, also new ones not added yet; none that git ignores."""
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                          "--", *patterns], check=True, capture_output=True, text=True).stdout
    return sorted(f for f in set(out.split("\0")) if f and os.path.isfile(f))


def text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def binary(path):
    with open(path, "rb") as f:
        return b"\0" in f.read(8192)


def problem(path, line, what):
    _problems.append(f"{path}:{line}: {what}")


def finish():
    for p in _problems:
        print(p)
    sys.exit(1 if _problems else 0)
