# SPDX-License-Identifier: MIT
"""A page in headless Chromium, driven by the DevTools protocol over a pipe: no port, no network.

What the page logs or throws, and each request it makes, is kept.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import tempfile
import time
from subprocess import DEVNULL

from harness import SLOW, Failure, kill, need, start

ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"]
ANSWER_S = 30 * SLOW
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40}


def high(fd):
    """The same pipe end, out of the way of 3 and 4."""
    other = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return other


class Page:
    """One tab that shows the document, given as bytes, from a file."""

    def __init__(self, document, width=1200, height=900, dark=False, script=True):
        need("chromium")
        self.home = tempfile.mkdtemp(prefix="tracer-browser-")
        self.problems, self.requests = [], []
        self.number, self.data, self.session = 0, b"", None
        self.path = os.path.join(self.home, "page.html")
        with open(self.path, "wb") as f:
            f.write(document)
        self.process = self.launch()
        try:
            self.open(width, height, dark, script)
        except BaseException:
            self.close()
            raise

    def launch(self):
        theirs, self.write_fd = (high(fd) for fd in os.pipe())
        self.read_fd, answers = (high(fd) for fd in os.pipe())

        def pipes():
            os.dup2(theirs, 3)
            os.dup2(answers, 4)

        process = start(["chromium", *ARGS, f"--user-data-dir={self.home}/profile", "about:blank"],
                        pass_fds=(3, 4), preexec_fn=pipes, stdout=DEVNULL, stderr=DEVNULL,
                        env=dict(os.environ, HOME=self.home))
        os.close(theirs)
        os.close(answers)
        return process

    def open(self, width, height, dark, script):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.loaded = False
        self.call("Page.navigate", url=f"file://{self.path}")
        end = time.monotonic() + ANSWER_S
        while not self.loaded:
            self.take(self.message(end))

    def close(self):
        kill(self.process)
        os.close(self.write_fd)
        os.close(self.read_fd)
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- the protocol ----

    def message(self, end):
        while b"\0" not in self.data:
            ready, _, _ = select.select([self.read_fd], [], [], max(0, end - time.monotonic()))
            part = os.read(self.read_fd, 1 << 16) if ready else b""
            if not part:
                raise Failure("the browser is gone" if ready else "the browser does not answer")
            self.data += part
        text, self.data = self.data.split(b"\0", 1)
        return json.loads(text)

    def take(self, m):
        """Keeps what an event tells."""
        p, method = m.get("params", {}), m.get("method")
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(p["exceptionDetails"].get("exception", {}).get("description", "?"))
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(str([a.get("value") for a in p["args"]]))
        elif method == "Log.entryAdded":
            self.problems.append(p["entry"]["text"])

    def call(self, method, **params):
        self.number += 1
        m = {"id": self.number, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(m).encode() + b"\0")
        end = time.monotonic() + ANSWER_S
        while True:
            got = self.message(end)
            if got.get("id") == self.number:
                if "error" in got:
                    raise Failure(f"{method}: {got['error']['message']}")
                return got["result"]
            self.take(got)

    # ---- what a test does ----

    def run(self, expression):
        """The value of an expression in the page, also of a page without scripts."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in got:
            raise Failure(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def key(self, name, shift=False):
        down = {"key": name, "code": name, "windowsVirtualKeyCode": KEYS[name],
                "modifiers": 8 if shift else 0}
        if name in ("Enter", " "):
            down["text"] = "\r" if name == "Enter" else " "
        self.call("Input.dispatchKeyEvent", type="keyDown", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **down)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        """Where the element is; the mouse goes there, so what covers it is hit instead."""
        at = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                      "e.scrollIntoView({block: 'center'});"
                      "const r = e.getBoundingClientRect();"
                      "return [r.x + Math.min(r.width / 2, 20), r.y + r.height / 2]; })()")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left",
                      clickCount=1)

    def picture(self, path, whole=True):
        got = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(got["data"]))
