# SPDX-License-Identifier: MIT
"""File names are unique, licences are stated, nothing names the machine it was written on."""
import os
import re

from tree import binary, files, finish, problem, text

COMMON = {"README.md", "NOTES", "run", "run.py", "Makefile", ".gitignore"}
LICENSED = (".c", ".h", ".py", ".sh")
MACHINE = re.compile(r"/(work|root|home/\w+)/(?!\.)\w")

seen = {}
for f in files():
    base = os.path.basename(f)
    if base in COMMON or f.startswith("tests/fuzz/corpus/"):
        continue
    # shared/x.h is what BPF and userspace both see of a user/room/x.h.
    if f.startswith("include/shared/"):
        continue
    if base in seen:
        problem(f, 1, f"has the name of {seen[base]}")
    seen[base] = f

for f in files():
    if f.startswith("tests/fuzz/corpus/") or binary(f):
        continue
    lines = text(f).splitlines()
    if f.endswith(LICENSED) or f in ("Makefile", "tests/run", ".ci/run"):
        head = lines[:2]
        kernel = f.startswith(("bpf/", "vmlinux/")) or f.endswith(".bpf.c")
        want = "(GPL-2.0-only OR MIT)" if kernel else "MIT"
        if not any(l.strip("/*# ").startswith(f"SPDX-License-Identifier: {want}") for l in head):
            problem(f, 1, f"does not begin with SPDX-License-Identifier: {want}")
    for n, line in enumerate(lines, 1):
        if MACHINE.search(line):
            problem(f, n, "a path of one machine")
finish()
