#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tape under tracer run: its chunks, batches and blocked time beside the kernel's pipes."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (SANITIZED, TRACER, Failure, calls, check, clean_env, contains, equal,
                     main, no_leak_check, run, scratch, test, trace)
from tape import TAPE

MILLION = 1 << 20
FEED = "yes | tr -d \\\\n | fold -w 1024 | head -n 1024"
LINE = f"{FEED} | {TAPE} -og . >/dev/null"
ENV = {"TEIP_HIGHLIGHT": "<{}>"}
# Where futex calls are counted.
COUNTED = {**ENV, **no_leak_check()}


def tape_of(summary):
    found = summary.get("tapes", [])
    if len(found) != 1:
        raise Failure(f"tapes: {found}, want one")
    return found[0]


@test(timeout=120)
def a_million_chunks_and_no_futex():
    s = trace(["sh", "-c", LINE], env=clean_env(**COUNTED)).json
    t = tape_of(s)
    equal((t["comm"], t["chunks"], t["chunk_bytes"], t["records"]),
          ("tape", MILLION, MILLION, 1024), "what it did inside")
    equal((t["bytes_in"], t["bytes_out"]), (MILLION + 1024, 3 * MILLION + 1024), "bytes")
    check(0 < t["batches"] <= 200 and t["blocked_in_ns"] > 0, f"batches: {t}")
    edge = [p for p in s["pipes"] if t["pid"] in p["readers"]]
    equal(len(edge), 1, f"the pipe that it reads, of {s['pipes']}")
    equal(edge[0]["bytes_read"], MILLION + 1024, "bytes of the kernel's edge")
    equal(edge[0]["reader_ends"][0]["futex_calls"], 0, "futex calls of the reader")


@test(timeout=120)
def calls_of_the_tape_alone():
    s = trace(["sh", "-c", LINE], "--comm", "^tape$", env=clean_env(**COUNTED)).json
    made = calls(s)
    equal(made.get("futex", 0), 0, "futex calls")
    # A sanitizer makes calls of its own.
    if not SANITIZED:
        check(20 < sum(made.values()) <= 60 + 80, f"start-up and 1 MiB: {made}")


@test(timeout=120)
def the_view_shows_it():
    with scratch() as d:
        path = os.path.join(d, "out")
        run([TRACER, "run", "-o", path, "--", "sh", "-c", LINE], env=clean_env(**ENV)).ok()
        with open(path, encoding="utf-8") as f:
            text = f.read()
    part = " ".join(text.split("\nPIPES")[1].split("\n\n")[0].split())
    contains(part, "1,048,576 chunks of 1 B in ", "the pipeline view")
    for word in ("blocked on input", "command 0", "head ("):
        contains(part, word, "the pipeline view")


@test(timeout=120)
def with_a_command_and_through_export():
    with scratch() as d:
        path, again = os.path.join(d, "a.json"), os.path.join(d, "b.json")
        run([TRACER, "run", "--json", "-o", path, "--", "sh", "-c",
             f"seq 20000 | {TRACER} tape -og 1 -- cat >/dev/null"]).ok()
        run([TRACER, "export", "--to", "json", "-o", again, path]).ok()
        with open(path, encoding="utf-8") as a, open(again, encoding="utf-8") as b:
            first, second = json.load(a), json.load(b)
    t = tape_of(first)
    equal((t["records"], t["commands"]), (20000, 1), "figures")
    equal(t["chunks"], sum(str(i).count("1") for i in range(1, 20001)), "chunks")
    equal(second["tapes"], first["tapes"], "tapes after export")


main()
