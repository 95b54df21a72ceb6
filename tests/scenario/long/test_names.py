#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names against what others say of the same process: gdb, V8's perf map, debuginfod's client."""
import contextlib
import http.server
import os
import re
import shutil
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from contract import check_summary
from harness import (TRACER, check, clean_env, contains, equal, lock_at, main, need, run, scratch,
                     test, trace, workload)

SHORT = ["3", "211", "100000"]


class Debuginfod:
    """A server of one file, on loopback: GET /buildid/ID/debuginfo."""

    def __init__(self, build_id, path):
        self.asked = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                if self.path != f"/buildid/{build_id}/debuginfo":
                    self.send_error(404)
                    return
                with open(path, "rb") as f:
                    data = f.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@contextlib.contextmanager
def stripped_with_server(d):
    """A program without symbols; its debug file is on the server alone, and its cache is d's."""
    os.chmod(d, 0o755)
    path, debug = f"{d}/program", f"{d}/elsewhere"
    run(["objcopy", "--only-keep-debug", workload("mutex_contend"), debug]).ok()
    run(["strip", "-s", "-o", path, workload("mutex_contend")]).ok()
    notes = run(["readelf", "-n", path]).ok().out
    s = Debuginfod(re.search(r"Build ID: (\w+)", notes)[1], debug)
    os.mkdir(f"{d}/cache")
    os.chown(f"{d}/cache", 65534, 65534)
    env = {"DEBUGINFOD_URLS": s.url, "DEBUGINFOD_CACHE_PATH": f"{d}/cache",
           "SUDO_UID": "65534", "SUDO_GID": "65534"}
    try:
        yield s, path, clean_env(**env)
    finally:
        s.http.shutdown()


def symbols_of(r):
    lock = lock_at(r.json, r.said["addr"])
    return lock["symbol"], [f["symbol"] for f in lock["site"]]


@test(timeout=120)
def debug_files_from_a_server():
    need("debuginfod-find", "objcopy", "strip", "readelf")
    with scratch() as d, stripped_with_server(d) as (s, path, env):
        # Not without being asked to, though the environment names a server.
        r = trace([path, *SHORT], "--stacks", env=env)
        equal(symbols_of(r)[0], None, "the lock's name")
        equal(s.asked, [], "requests")
        r = trace([path, *SHORT], "--stacks", "--debuginfod", env=env)
        check_summary(r.json)
        name, frames = symbols_of(r)
        equal(name, "contended_lock", "the lock's name")
        check("take_and_hold" in frames, f"frames {frames}")
        asked = [a for a in s.asked if a.endswith("/debuginfo")]
        check(len(asked) == len(set(asked)), f"nothing is asked for twice: {asked}")
        # As the user who called, not as root.
        owners = {os.stat(os.path.join(top, f)).st_uid
                  for top, _, files in os.walk(f"{d}/cache") for f in files}
        equal(owners, {65534}, "owners of the cache")
        # From the cache, without the server.
        s.http.shutdown()
        s.http.server_close()
        r = trace([path, *SHORT], "--stacks", "--debuginfod", env=env)
        equal(symbols_of(r)[0], "contended_lock", "the name by the cache")


@test
def debug_files_of_others_are_not_taken():
    """What the caller put into his cache is believed only if it is his, and the right one."""
    need("debuginfod-find", "objcopy", "strip", "readelf")
    with scratch() as d, stripped_with_server(d) as (s, path, env):
        trace([path, *SHORT], "--debuginfod", env=env)
        files = [os.path.join(top, f) for top, _, fs in os.walk(f"{d}/cache") for f in fs
                 if f == "debuginfo" and os.path.getsize(os.path.join(top, f))]
        equal(len(files), 1, "files in the cache")
        os.chown(files[0], 0, 0)
        os.chmod(files[0], 0o444)
        r = trace([path, *SHORT], "--debuginfod", env=env)
        equal(symbols_of(r)[0], None, "name by root's file")
        os.chown(files[0], 65534, 65534)
        shutil.copy(workload("condvar_handoff"), files[0])
        r = trace([path, *SHORT], "--debuginfod", env=env)
        equal(symbols_of(r)[0], None, "name by another's file")


@test
def debuginfod_is_asked_only_where_it_can_be():
    need("debuginfod-find")
    line = [TRACER, "run", "--debuginfod", "--", "true"]
    for gone, words in (("DEBUGINFOD_URLS", "DEBUGINFOD_URLS is not set"),
                        ("SUDO_UID", "root is nobody to ask as")):
        env = clean_env(DEBUGINFOD_URLS="http://127.0.0.1:9", SUDO_UID="65534", SUDO_GID="65534")
        del env[gone]
        r = run(line, env=env)
        equal(r.rc, 125, f"exit code without {gone}")
        contains(r.err, f"tracer: cannot ask debuginfod: {words}", "stderr")


if __name__ == "__main__":
    main()
