# SPDX-License-Identifier: MIT
"""Calls go one way: the room of an include stands below the includer's (docs/architecture.md)."""
import re

from tree import files, finish, problem, text

# A room may include itself, those of lower rank, and shared/ and tracer/.
RANK = {"base": 0, "stats": 1, "out": 2, "store": 2, "ring": 2, "sym": 2, "cli": 2,
        "report": 3, "collect": 3, "tui": 3, "tape": 3, "zone": 3, "flow": 3, "rr": 3, "cmd": 4}
OPEN = {"shared", "tracer"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# Generated: the BPF programs, and a page's style and script. Only who uses them may see them.
GENERATED = {"live.skel.h": "collect", "rr.skel.h": "rr", "render_page.h": "report"}


def room_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None


def check_user(path, line, name):
    room, target = room_of(path), name.split("/")[0]
    if name in GENERATED:
        if room != GENERATED[name]:
            problem(path, line, f"only user/{GENERATED[name]} includes {name}")
        return
    if target in OPEN or target == room:
        return
    if target not in RANK:
        problem(path, line, f'"{name}": write it from user/ or include/, as "room/file.h"')
    elif room is None:
        if target not in ("base", "cli") and not re.fullmatch(r"cmd/\w+_opts\.h", name):
            problem(path, line, f"main.c only uses base, cli and option tables, not {name}")
    elif room not in RANK:
        problem(path, line, f"user/{room}/ has no rank in tools/lint/layers.py")
    elif RANK[target] >= RANK[room]:
        problem(path, line, f"{room} may not include {name}: {target} is not below it")


for f in files("user/*.c", "user/*.h", "include/*.h", "bpf/*"):
    for n, source in enumerate(text(f).splitlines(), 1):
        m = INCLUDE.match(source)
        if not m:
            continue
        if f.startswith("user/"):
            check_user(f, n, m[1])
        elif f.startswith("include/") and m[1].split("/")[0] not in OPEN:
            problem(f, n, f"include/ stands alone: {m[1]}")
        elif f.startswith("bpf/") and not m[1].startswith(("shared/", "lib/", "vmlinux.h")):
            problem(f, n, f"a BPF program sees shared/, lib/ and vmlinux.h, not {m[1]}")
finish()
