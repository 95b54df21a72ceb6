#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the hand-kept kernel types against the running kernel's BTF.

Every struct and field of vmlinux/vmlinux.h must be in the kernel with the same
name and a type of the same kind: CO-RE moves offsets, but a field that is gone
or has become something else fails at load, on another machine, for one user.
The header is compiled for BPF, so its own types are read as BTF too.
"""
import argparse
import os
import re
import struct
import subprocess
import sys

KINDS = ("void", "int", "ptr", "array", "struct", "union", "enum", "fwd", "typedef",
         "volatile", "const", "restrict", "func", "proto", "var", "datasec", "float", "decl_tag",
         "type_tag", "enum64")
THROUGH = ("typedef", "volatile", "const", "restrict", "type_tag")


class Btf:
    """Types of a BTF blob (Documentation/bpf/btf.rst): (kind, name, size or type, members)."""

    def __init__(self, blob):
        magic, _, _, head, toff, tlen, soff, slen = struct.unpack_from("<HBBIIIII", blob)
        if magic != 0xEB9F:
            raise ValueError("not BTF")
        self.strings = blob[head + soff:head + soff + slen]
        self.types = [("void", "", 0, [])]
        self.by_name = {}
        data, at = blob[head + toff:head + toff + tlen], 0
        while at < len(data):
            name, info, size = struct.unpack_from("<III", data, at)
            kind, n = KINDS[info >> 24 & 0x1F], info & 0xFFFF
            at += 12
            members = []
            if kind in ("struct", "union"):
                members = [struct.unpack_from("<III", data, at + 12 * i) for i in range(n)]
            elif kind == "array":
                members = [struct.unpack_from("<III", data, at)]
            at += {"int": 4, "array": 12, "struct": 12 * n, "union": 12 * n, "enum": 8 * n,
                   "proto": 8 * n, "var": 4, "datasec": 12 * n, "decl_tag": 4,
                   "enum64": 12 * n}.get(kind, 0)
            if kind in ("struct", "union") and name:
                self.by_name.setdefault(self.string(name), []).append(len(self.types))
            self.types.append((kind, name, size, members))

    def string(self, offset):
        return self.strings[offset:self.strings.index(b"\0", offset)].decode()

    def plain(self, t):
        """Without typedefs and qualifiers: (kind, id)."""
        while self.types[t][0] in THROUGH:
            t = self.types[t][2]
        return self.types[t][0], t

    def fields(self, t, prefix=""):
        """name -> type, those of unnamed structs and unions among them."""
        found = {}
        for name, kind, _ in self.types[t][3]:
            if name:
                found[prefix + self.string(name)] = kind
            else:
                found.update(self.fields(self.plain(kind)[1], prefix))
        return found

    def shape(self, t):
        """What must agree: the kind, and the name of a struct or of what is pointed at."""
        kind, t = self.plain(t)
        if kind == "ptr":
            under, to = self.plain(self.types[t][2])
            named = under in ("struct", "union", "fwd")
            return kind, self.string(self.types[to][1]) if named else ""
        if kind == "array":
            return kind, self.shape(self.types[t][3][0][0])[0]
        if kind in ("struct", "union"):
            return kind, self.string(self.types[t][1])
        return "int" if kind in ("enum", "enum64") else kind, ""


def section(path, wanted):
    """A section of a 64-bit ELF file."""
    with open(path, "rb") as f:
        elf = f.read()
    off, = struct.unpack_from("<Q", elf, 0x28)
    size, n, names = struct.unpack_from("<HHH", elf, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", elf, off + i * size) for i in range(n)]
    table = heads[names]
    for name, _, _, _, at, length in heads:
        s = elf[table[4] + name:]
        if s[:s.index(b"\0")].decode() == wanted:
            return elf[at:at + length]
    raise ValueError(f"{path} has no {wanted}")


def compile_header(clang, header, out, names):
    """BTF of the header's own types: a variable of each keeps it in."""
    source, obj = os.path.join(out, "check_vmlinux.c"), os.path.join(out, "check_vmlinux.o")
    with open(source, "w", encoding="utf-8") as f:
        f.write(f'#include "{os.path.abspath(header)}"\n')
        f.writelines(f"struct {n} check_{n};\n" for n in names)
    subprocess.run([clang, "-target", "bpf", "-g", "-O2", "-D__TARGET_ARCH_x86", "-c", source,
                    f"-I/usr/include/{os.uname().machine}-linux-gnu", "-o", obj], check=True)
    return Btf(section(obj, ".BTF"))


def read_notes(path):
    """type -> its line in NOTES, where "absent" and "FIELD became" excuse a difference."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            for name in re.findall(r"\w+", line.split("  ")[0]):
                found[name] = line
    return found


def compare(name, ours, kernel, notes):
    base = name.split("___")[0]
    excuse = notes.get(base, "")
    ids = kernel.by_name.get(base, [])
    if not excuse:
        return [f"struct {base} has no line in NOTES"], []
    if not ids:
        if "absent" in excuse or "___" in name:
            return [], [f"struct {base} is not in this kernel, as NOTES allows"]
        return [f"struct {base} is not in this kernel"], []
    problems = None
    for i in ids:
        have, found = kernel.fields(i), []
        for field, kind in ours.fields(ours.by_name[name][0]).items():
            want = ours.shape(kind)
            if field not in have:
                found.append(f"struct {base} has no field {field}")
            elif kernel.shape(have[field]) != want:
                got = " ".join(kernel.shape(have[field])).strip()
                found.append(f"struct {base}: {field} is {got}, not {' '.join(want).strip()}")
        if problems is None or len(found) < len(problems):
            problems = found
    if "___" in name:
        return [], [f"{p} (flavour {name})" for p in problems]
    known = [p for p in problems
             if any(f"{f} became" in excuse for f in re.findall(r": (\w+) is", p))]
    return [p for p in problems if p not in known], known


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--clang", default="clang")
    ap.add_argument("--out", default="build")
    ap.add_argument("--btf", default="/sys/kernel/btf/vmlinux")
    ap.add_argument("header")
    args = ap.parse_args()
    with open(args.header, encoding="utf-8") as f:
        names = re.findall(r"^struct (\w+) \{", f.read(), re.M)
    ours = compile_header(args.clang, args.header, args.out, names)
    with open(args.btf, "rb") as f:
        kernel = Btf(f.read())
    sources = read_notes(os.path.join(os.path.dirname(args.header), "NOTES"))
    problems, notes, fields = [], [], 0
    for name in names:
        p, n = compare(name, ours, kernel, sources)
        problems += p
        notes += n
        fields += len(ours.fields(ours.by_name[name][0]))
    for n in notes:
        print(f"{args.header}: note: {n}")
    for p in problems:
        print(f"{args.header}: {p}")
    print(f"check-vmlinux: {len(names)} types, {fields} fields, {len(problems)} problems")
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main())
