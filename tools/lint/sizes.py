# SPDX-License-Identifier: MIT
"""Files of at most 800 lines, functions of at most 100, lines of at most 100 columns."""
import re

from tree import files, finish, problem, text

FILE_LINES, FUNCTION_LINES, COLUMNS, TAB = 800, 100, 100, 8
# Rows of data, not code.
TABLES = {"user/collect/sysrows.c"}


def columns(line):
    return len(line.expandtabs(TAB))


def functions(lines):
    """(name, first line, length) of each function whose braces stand in column 0."""
    start, name = None, "?"
    for n, line in enumerate(lines, 1):
        if line == "{" and start is None:
            back = n - 2
            while back >= 0 and not re.match(r"[A-Za-z_]", lines[back]):
                back -= 1
            m = re.search(r"(\w+)\(", lines[back]) if back >= 0 else None
            start, name = n, m[1] if m else "?"
        elif line.startswith("}") and start is not None:
            yield name, start, n - start + 1
            start = None


for f in files("*.c", "*.h", "*.py", "*.sh", "Makefile", "tests/run", ".ci/run"):
    lines = text(f).splitlines()
    if len(lines) > FILE_LINES and f not in TABLES:
        problem(f, 1, f"{len(lines)} lines, at most {FILE_LINES}")
    for n, line in enumerate(lines, 1):
        if columns(line) > COLUMNS and f not in TABLES:
            problem(f, n, f"{columns(line)} columns, at most {COLUMNS}")
        if line != line.rstrip():
            problem(f, n, "blanks at the end")
        if f.endswith((".c", ".h")):
            if line.startswith("    ") and not line.lstrip().startswith('"'):  # assembler
                problem(f, n, "indented by blanks, not tabs")
            if re.search(r"(^|[\s;{})])//", line) and "://" not in line:
                problem(f, n, "a comment with //, not /* */")
    if f.endswith(".c"):
        for name, start, length in functions(lines):
            if length > FUNCTION_LINES:
                problem(f, start, f"{name}() has {length} lines, at most {FUNCTION_LINES}")
finish()
