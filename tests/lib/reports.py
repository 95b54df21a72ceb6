# SPDX-License-Identifier: MIT
"""bench and report as a test types them, with the exit code that it expects."""
from harness import TRACER, equal, run


def bench(store, *args, rc=0, **kw):
    r = run([TRACER, "bench", "--store", store, *args], **kw)
    equal(r.rc, rc, f"exit code of bench:\n{r.out}{r.err}")
    return r


def bench_times(store, *args, **kw):
    """Without tracing: what is tested is the store or the words."""
    return bench(store, "--mode", "times", *args, **kw)


def report(store, *args, rc=0, **kw):
    """Without a store, of files alone."""
    r = run([TRACER, "report", *(["--store", store] if store else []), *args], **kw)
    equal(r.rc, rc, f"exit code of report:\n{r.out}{r.err}")
    return r
