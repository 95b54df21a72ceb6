# SPDX-License-Identifier: MIT
"""What gdb says of a process: names of addresses, and who stands where."""
import re

from harness import check, run


def gdb(pid, *commands, timeout=150):
    """What gdb prints; the process stops meanwhile."""
    argv = ["gdb", "-p", str(pid), "-batch", "-nx", "-iex", "set debuginfod enabled off"]
    for c in commands:
        argv += ["-ex", c]
    return run(argv, timeout=timeout).out


def gdb_names(pid, addrs):
    """{address: (symbol, offset), or None where gdb knows no symbol}."""
    ask = []
    for a in addrs:
        ask += [f"echo \\n@{a}|", f"info symbol {a}"]
    text = gdb(pid, *ask)
    found = {}
    for m in re.finditer(r"^@(\w+)\|(?:(No symbol)|(.*?)(?: \+ (\d+))? in section )", text, re.M):
        found[m[1]] = None if m[2] else (m[3], int(m[4] or 0))
    check(set(found) >= set(addrs), f"gdb did not answer: {text[-500:]}")
    return found


def as_tracer_writes(name):
    """One of gdb_names as NAME or NAME+0xOFF."""
    return name and (f"{name[0]}+0x{name[1]:x}" if name[1] else name[0])


def gdb_stacks(pid):
    """{thread id: its functions, innermost first}, inlined ones too."""
    found = {}
    for part in re.split(r"^Thread ", gdb(pid, "thread apply all bt 24"), flags=re.M)[1:]:
        tid = re.search(r"\(LWP (\d+)\)", part)
        found[int(tid[1])] = re.findall(r"^#\d+ +(?:0x\w+ in )?([^ (]+) \(", part, re.M)
    check(found, "gdb shows no thread")
    return found


def place_in_file(pid, addr, path):
    """Where addr is in its file, by the mappings and the file's program headers."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        starts = [int(line.split("-")[0], 16) for line in f if line.rstrip().endswith(path)]
    heads = run(["readelf", "-lW", path]).ok().out
    first = min(int(m[1], 16) for m in re.finditer(r"LOAD +0x\w+ 0x(\w+)", heads))
    return addr - (min(starts) - (first & ~4095))


__all__ = ["as_tracer_writes", "gdb", "gdb_names", "gdb_stacks", "place_in_file"]
