# SPDX-License-Identifier: MIT
"""Running `tape` from tests: bytes in, bytes out, always under a timeout."""
import os

from harness import BUILD, TRACER, clean_env, equal, run

TAPE = os.path.join(BUILD, "tape")
MARKS = {"TEIP_HIGHLIGHT": "[{}]"}


def tape(*args, data=b"", timeout=20, env=None, **kw):
    """The Result of `tape ARGS` with @data as its input."""
    if isinstance(data, str):
        data = data.encode()
    return run([TAPE, *args], timeout, data, env=clean_env(**{**MARKS, **(env or {})}), **kw)


def shows(data, out, *args, **kw):
    """`tape ARGS` ends well, says nothing on stderr, and makes @out of @data."""
    r = tape(*args, data=data, **kw).ok()
    equal(r.raw_err, b"", f"{args}: stderr")
    same(r.raw_out, out.encode() if isinstance(out, str) else out, f"{args} of {data[:80]!r}")


def same(got, want, what):
    """equal() of bytes that may be many: shows where they begin to differ."""
    if got == want:
        return
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    equal((len(got), at, got[max(at - 20, 0):at + 20]),
          (len(want), at, want[max(at - 20, 0):at + 20]), what)


def by_tracer(*args, data="", **kw):
    """The same as `tracer tape`."""
    return run([TRACER, "tape", *args], 20, data.encode(), env=clean_env(**MARKS), **kw)
