#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program of each kind (tests/workloads/rr_kinds.c) and tools that are on every machine."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import SANITIZED, Skip, main, need, run, scratch, test, workload
from recordings import same

MANY = 1500


def kinds():
    return run([workload("rr_kinds")]).ok().out.split()


@test
def a_program_of_each_kind():
    for kind in kinds():
        same(workload("rr_kinds"), kind, *([str(MANY)] if kind == "many" else []))


@test
def ten_thousand_threads():
    if SANITIZED:
        raise Skip("too slow")
    same(workload("rr_kinds"), "many", "10000")


@test
def a_database_in_a_file():
    need("sqlite3")
    with scratch() as d:
        same("sqlite3", os.path.join(d, "db"),
             "create table t(a, b); insert into t values (1, random()), (2, random()); "
             "begin; update t set b = b + 1; commit; select * from t")


@test
def a_project_that_is_made():
    with scratch() as d:
        for name in "abc":
            with open(os.path.join(d, f"{name}.c"), "w", encoding="ascii") as f:
                f.write(f"int {name}(void) {{ return {ord(name)}; }}\n")
        with open(os.path.join(d, "main.c"), "w", encoding="ascii") as f:
            f.write("#include <stdio.h>\nint a(void), b(void), c(void);\n"
                    "int main(void) { printf(\"%d\\n\", a() + b() + c()); }\n")
        with open(os.path.join(d, "Makefile"), "w", encoding="ascii") as f:
            f.write("run: prog\n\t./prog\nprog: main.o a.o b.o c.o\n\t$(CC) -o $@ $^\n")
        same("make", "-j2", "-C", d)


@test
def pipelines_of_awk():
    same("sh", "-c", "seq 2000 | awk 'BEGIN { srand() } { print $1, rand() }' | sort -k2 | "
         "awk '{ s += NR * $1 } END { print s }'")
    same("sh", "-c", "seq 100000 | sort -R --parallel=2 | md5sum")


if __name__ == "__main__":
    main()
