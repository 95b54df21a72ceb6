# SPDX-License-Identifier: MIT
"""Each header compiles alone: in userspace with both compilers, what BPF sees for BPF too."""
import os
import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tree import BUILD, files, finish, problem

CC = os.environ.get("CC", "gcc")
CLANG = os.environ.get("CLANG", "clang")
USER = ["-fsyntax-only", "-x", "c", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wshadow",
        "-Wstrict-prototypes", "-Wundef", "-Werror", "-Iuser", "-Iinclude", f"-I{BUILD}"]
ARCH = {"x86_64": "x86", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
BPF = [CLANG, "-target", "bpf", "-fsyntax-only", "-x", "c", "-g", "-O2", f"-D__TARGET_ARCH_{ARCH}",
       "-Ivmlinux", "-Iinclude", "-Ibpf", "-Wall", "-Wno-unused-function", "-Werror",
       f"-I/usr/include/{platform.machine()}-linux-gnu", "-include", "vmlinux.h",
       "-include", "bpf/bpf_helpers.h"]


def compile_alone(job):
    argv, path = job
    unit = f'#include "{path}"\n#include "{path}"\n'
    r = subprocess.run([*argv, "-I.", "-"], input=unit, capture_output=True, text=True)
    errors = [l for l in r.stderr.splitlines() if "error" in l]
    return path, argv[0], r.returncode, (errors or r.stderr.splitlines() or ["?"])[0]


def jobs():
    for path in files("user/*.h", "include/*.h", "tests/*.h"):
        for cc in (CC, CLANG):
            yield [*cc.split(), *USER, "-Itests/unit"], path
    for path in files("include/shared/*.h", "bpf/*.h"):
        if path.startswith("bpf/") or not path.endswith("commre.h"):
            yield BPF, path


if not shutil.which(CLANG):
    problem("tools/lint/headers.py", 1, f"{CLANG} is not installed")
else:
    with ThreadPoolExecutor(2) as pool:
        for path, cc, code, first in pool.map(compile_alone, list(jobs())):
            if code:
                problem(path, 1, f"does not compile alone with {cc}: {first}")
finish()
