#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pipes, FIFOs, socket pairs and eventfds as edges with exact chunks."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import check_summary
from harness import (between, check, equal, keys, lossless, main, need, near, pipe_of, test, trace,
                     trace_work)


@test(timeout=90)
def dd_of_single_bytes():
    need("dd")
    n = 100003
    line = (f"sh -c 'echo writer=$$ >&2; exec dd if=/dev/zero bs=1 count={n} 2>/dev/null' | "
            "sh -c 'echo reader=$$ >&2; exec dd of=/dev/null bs=65536 2>/dev/null'")
    r = trace(["sh", "-c", line])
    s, said = r.json, keys(r.err)
    check_summary(s)
    lossless(s)
    p = pipe_of(s, "pipe", writer=said["writer"])
    equal(p["writers"], [said["writer"]], "writers")
    equal(p["readers"], [said["reader"]], "readers")
    equal((p["chunks_written"], p["bytes"]), (n, n), "chunks and bytes")
    equal((p["chunk_bytes"]["p50"], p["chunk_bytes"]["p99"], p["chunk_bytes"]["mean"]), (1, 1, 1),
          "chunk sizes")
    between(p["chunks_read"], 1, n + 1, "chunks read")


def one_kind(kind, size, count, *rest):
    r = trace_work("pipe_chunks", size, count, kind, *rest)
    s, said = r.json, r.said
    check_summary(s)
    lossless(s)
    equal(said["w_chunks"], count, "the workload itself")
    p = pipe_of(s, kind, writer=said["w_tid"])
    equal(p["writers"], [said["w_tid"]], "writers")
    equal(p["readers"], [said["r_tid"]], "readers")
    equal(p["chunks_written"], count, "chunks written")
    equal(p["chunks_read"], said["r_chunks"], "chunks read")
    equal(p["bytes"], said["w_bytes"], "bytes")
    near(p["chunk_bytes"]["mean"], size, 0.001, "mean chunk")
    near(p["chunk_bytes"]["p50"], size, 0.125, "p50 of the chunks")
    equal(p["chunk_bytes"]["max"], size, "the largest chunk: all are alike")
    check(p["chunk_bytes"]["p99"] <= size, "a quantile is above the largest")
    check(p["writer_blocked_ns"] <= said["w_ns"], "the writer was blocked longer than it wrote")
    check(p["reader_blocked_ns"] <= said["r_ns"], "the reader was blocked longer than it read")
    return p, said


@test
def pipe():
    p, said = one_kind("pipe", 4096, 10007)
    equal(p["inode"], said["inode"], "inode")


@test
def pipe_of_odd_chunks():
    one_kind("pipe", 1021, 5003)


@test
def pipe_of_large_chunks():
    one_kind("pipe", 65536, 503)


@test
def pipe_between_threads():
    one_kind("pipe", 100, 10007, 0, 0, "threads")


@test
def fifo():
    p, said = one_kind("fifo", 100, 5003)
    equal(p["inode"], said["inode"], "inode")


@test
def socketpair():
    one_kind("socketpair", 100, 5003)


@test
def socketpair_between_threads():
    one_kind("socketpair", 100, 5003, 0, 0, "threads")


@test
def eventfd():
    one_kind("eventfd", 8, 5003)


@test
def slow_writer_blocks_the_reader():
    p, said = one_kind("pipe", 64, 211, 2000, 0)
    between(p["reader_blocked_ns"], said["r_ns"] * 0.7, said["r_ns"], "reader_blocked_ns")
    check(p["writer_blocked_ns"] < p["reader_blocked_ns"] * 0.05,
          f"the writer was blocked for {p['writer_blocked_ns']}")
    equal(p["bottleneck"], "writer", "the stage that holds the other up")


@test
def slow_reader_blocks_the_writer():
    p, said = one_kind("pipe", 4096, 211, 0, 2000)
    between(p["writer_blocked_ns"], said["w_ns"] * 0.7, said["w_ns"], "writer_blocked_ns")
    # Until the writer's process has come to run, the reader waits too.
    check(p["reader_blocked_ns"] < p["writer_blocked_ns"] / 2,
          f"the reader was blocked for {p['reader_blocked_ns']}")
    equal(p["bottleneck"], "reader", "the stage that holds the other up")


@test
def sides_of_a_slow_socketpair():
    p, said = one_kind("socketpair", 64, 101, 2000, 0)
    between(p["reader_blocked_ns"], said["r_ns"] * 0.7, said["r_ns"], "reader_blocked_ns")


@test
def sides_of_a_slow_eventfd():
    p, said = one_kind("eventfd", 8, 101, 2000, 0)
    between(p["reader_blocked_ns"], said["r_ns"] * 0.7, said["r_ns"], "reader_blocked_ns")


@test
def three_stages_are_two_edges():
    need("dd", "cat")
    n, size = 503, 512
    line = (f"sh -c 'echo a=$$ >&2; exec dd if=/dev/zero bs={size} count={n} 2>/dev/null' | "
            "sh -c 'echo b=$$ >&2; exec dd bs=128 iflag=fullblock 2>/dev/null' | "
            "sh -c 'echo c=$$ >&2; exec dd of=/dev/null bs=65536 2>/dev/null'")
    r = trace(["sh", "-c", line])
    s, said = r.json, keys(r.err)
    one, two = pipe_of(s, "pipe", writer=said["a"]), pipe_of(s, "pipe", writer=said["b"])
    equal((one["writers"], one["readers"]), ([said["a"]], [said["b"]]), "first edge")
    equal((two["writers"], two["readers"]), ([said["b"]], [said["c"]]), "second edge")
    equal((one["chunks_written"], one["bytes"]), (n, n * size), "first edge")
    equal((two["chunks_written"], two["bytes"]), (n * size // 128, n * size), "second edge")


@test
def futexes_between_chunks():
    s = trace_work("hostile_names").json
    p = [p for p in s["pipes"] if p["kind"] == "pipe" and len(p["writers"]) == 10]
    equal(len(p), 1, "edges with ten writers")
    equal((p[0]["chunks_written"], p[0]["chunks_read"]), (230, 230), "chunks")
    check(p[0]["futex_per_chunk"] >= 1, f"futex_per_chunk is {p[0]['futex_per_chunk']}")


@test
def no_futex_no_futex_per_chunk():
    p, _ = one_kind("pipe", 512, 1009)
    check(p["futex_per_chunk"] < 0.01, f"futex_per_chunk is {p['futex_per_chunk']}")


@test
def vectors_and_splice_are_chunks():
    # writev, readv, sendmsg on a socket pair, splice and tee move chunks too.
    code = (
        "import os, socket\n"
        "r, w = os.pipe()\n"
        "for i in range(101): os.writev(w, [b'abc', b'defg']); os.readv(r, [bytearray(7)])\n"
        "a, b = socket.socketpair()\n"
        "for i in range(103): a.sendmsg([b'xy', b'z']); b.recv(3)\n"
        "r2, w2 = os.pipe()\n"
        "for i in range(107): os.write(w, b'12345'); os.splice(r, w2, 5); os.read(r2, 5)\n"
        "print('pid=%d' % os.getpid())\n")
    r = trace(["/usr/bin/python3", "-I", "-S", "-c", code])
    s, pid = r.json, r.said["pid"]
    pipes = sorted((p["chunks_written"], p["chunks_read"], p["bytes"]) for p in s["pipes"]
                   if p["kind"] == "pipe" and pid in p["writers"] and pid in p["readers"])
    equal(pipes, [(107, 107, 107 * 5), (208, 208, 101 * 7 + 107 * 5)], "pipes")
    sock = pipe_of(s, "socketpair", writer=pid)
    equal((sock["chunks_written"], sock["chunks_read"], sock["bytes"]), (103, 103, 309),
          "socket pair")


def python(code, *opts):
    r = trace(["/usr/bin/python3", "-I", "-S", "-c", code], *opts)
    lossless(r.json)
    return r.json, r.said["pid"]


def edges_of(s, kind, pid):
    return [p for p in s["pipes"] if p["kind"] == kind and pid in p["writers"] + p["readers"]]


@test
def one_after_another_is_not_one():
    # The kernel gives the memory of what was closed to what is made next.
    s, pid = python(
        "import os, socket\n"
        "for i in range(50):\n"
        "    a, b = socket.socketpair()\n"
        "    a.send(b'x' * (i + 1)); b.recv(100); b.send(b'yy'); a.recv(100)\n"
        "    a.close(); b.close()\n"
        "    e = os.eventfd(0)\n"
        "    for j in range(i + 1): os.eventfd_write(e, 1); os.eventfd_read(e)\n"
        "    os.close(e)\n"
        "print('pid=%d' % os.getpid())\n")
    socks, events = edges_of(s, "socketpair", pid), edges_of(s, "eventfd", pid)
    equal(sorted(p["bytes"] for p in socks), sorted([2] * 50 + list(range(1, 51))), "socket pairs")
    equal([p for p in socks if p["bytes"] != p["bytes_read"] or p["chunks_written"] != 1], [],
          "edges of which not all was read that was written")
    equal(sorted(p["chunks_written"] for p in events), list(range(1, 51)), "eventfds")
    equal([p for p in events if p["chunks_written"] != p["chunks_read"]], [], "uneven eventfds")


@test
def connections_are_apart_and_have_two_directions():
    # The client writes before it is accepted, and once more after.
    s, pid = python(
        "import os, socket\n"
        "l = socket.socket(socket.AF_UNIX); l.bind('\\0tracer-%d' % os.getpid()); l.listen(9)\n"
        "for i in range(100):\n"
        "    c = socket.socket(socket.AF_UNIX); c.connect(l.getsockname())\n"
        "    c.send(b'question'); a, _ = l.accept(); a.recv(99)\n"
        "    c.send(b'more'); a.recv(99); a.send(b'ans'); c.recv(99)\n"
        "    a.close(); c.close()\n"
        "print('pid=%d' % os.getpid())\n")
    found = sorted((p["bytes"], p["bytes_read"], p["chunks_written"], p["chunks_read"],
                    len(p["writer_ends"]), len(p["reader_ends"]))
                   for p in edges_of(s, "socketpair", pid))
    equal(found, [(3, 3, 1, 1, 1, 1)] * 100 + [(12, 12, 2, 2, 1, 1)] * 100, "edges")


@test
def waits_on_sockets_are_apart_in_wait_mode():
    s, pid = python(
        "import os, socket, threading, time\n"
        "def answer(b): time.sleep(0.02); b.send(b'x')\n"
        "for i in range(10):\n"
        "    a, b = socket.socketpair()\n"
        "    t = threading.Thread(target=answer, args=(b,)); t.start(); a.recv(1); t.join()\n"
        "    a.close(); b.close()\n"
        "print('pid=%d' % os.getpid())\n", "--mode", "wait")
    found = edges_of(s, "socketpair", pid)
    equal(len(found), 10, "edges")
    for p in found:
        check(p["reader_blocked_ns"] > 10000000, f"waited {p['reader_blocked_ns']}")


@test
def many_messages_in_one_call():
    s, pid = python(
        "import ctypes, os, socket\n"
        "libc = ctypes.CDLL(None)\n"
        "def words(names): return [(n, ctypes.c_size_t) for n in names.split()]\n"
        "class Vec(ctypes.Structure): _fields_ = words('at n')\n"
        "class Msg(ctypes.Structure): _fields_ = words('name nlen vec n ctl ctln flags len')\n"
        "def msgs(sizes):\n"
        "    b = [ctypes.create_string_buffer(n) for n in sizes]\n"
        "    v = [Vec(ctypes.addressof(x), n) for x, n in zip(b, sizes)]\n"
        "    m = (Msg * len(v))(*(Msg(vec=ctypes.addressof(x), n=1) for x in v))\n"
        "    m.keep = b, v\n"
        "    return m\n"
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "for i in range(11):\n"
        "    assert libc.sendmmsg(a.fileno(), msgs([5, 7, 100]), 3, 0) == 3\n"
        "    assert libc.recvmmsg(b.fileno(), msgs([128] * 4), 4, 0x40, None) == 3\n"
        "print('pid=%d' % os.getpid())\n")
    p = pipe_of(s, "socketpair", writer=pid)
    equal((p["chunks_written"], p["bytes"], p["chunks_read"], p["bytes_read"]),
          (11, 11 * 112, 11, 11 * 112), "edge")


if __name__ == "__main__":
    main()
