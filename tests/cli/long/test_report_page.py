#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of a report in Chromium, and its Markdown by GitHub's parser. Figures are made up."""
import html
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from browser import Page
from harness import BUILD, check, clean_env, contains, equal, main, need, test

NAMES = "Array.from(document.querySelectorAll('#metrics tbody tr:not([hidden])'))" \
        ".map(r => r.cells[0].querySelector('code').textContent)"
FOCUS = "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent" \
        " || document.activeElement.id)"


def made_up(report, form, *more):
    out = subprocess.run([os.path.join(BUILD, "tests/report/made_up"), report, form, *more],
                         capture_output=True, check=True, env=clean_env())
    return out.stdout


def page(report, **how):
    return Page(made_up(report, "html"), **how)


def quiet(p):
    equal(p.problems, [], "what the console says")
    equal([u for u in p.requests if not u.startswith("file:///")], [], "requests")
    equal(len(p.requests), 1, "requests")


def header(name):
    return f"Array.from(document.querySelectorAll('#metrics thead button'))" \
           f".find(b => b.textContent === {json.dumps(name)})"


@test(root=False, timeout=300)
def every_page_works_without_a_network():
    for report in ("normal", "hostile", "edges", "empty", "same"):
        got = json.loads(made_up(report, "json"))
        with page(report) as p:
            quiet(p)
            values = sum(v is not None for m in got["metrics"] for side in m["values"].values()
                         for v in side)
            equal(p.run("document.querySelectorAll('.plot circle').length"), values,
                  f"{report}: dots")
            drawn = p.run("document.querySelectorAll('.frame').length")
            check(bool(drawn) == bool(got["stacks"]), f"{report}: {drawn} frames")
            equal(p.run("document.querySelectorAll('script').length"), 2, f"{report}: scripts")
            equal(p.run("window.owned === undefined && document.title.length > 5"), True, report)


@test(root=False, timeout=120)
def the_policy_refuses_other_scripts_and_requests():
    with page("normal") as p:
        p.run("document.body.append(Object.assign(document.createElement('script'),"
              "{textContent: 'window.owned = 1'}))")
        p.run("fetch('http://127.0.0.1:50009/').catch(() => {})")
        p.run("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:50009/x'}))")
        equal(p.run("window.owned === undefined"), True, "a script that was put in")
        said = " ".join(p.problems)
        for directive in ("script-src", "connect-src", "img-src"):
            contains(said, directive, "what the policy refused")


@test(root=False, timeout=120)
def tables_sort_by_click_and_by_key():
    with page("normal") as p:
        first = p.run(NAMES)
        equal(first[:3], ["futex.wait", "syscall.pipe2", "time.wall"], "the report's order")
        p.click("#metrics thead th:first-child button")
        equal(p.run(NAMES), sorted(first), "by name")
        equal(p.run("document.querySelector('#metrics th').getAttribute('aria-sort')"),
              "ascending", "aria-sort")
        p.run(header("change") + ".focus()")
        p.key("Enter")
        equal(p.run(NAMES)[0], "syscall.pipe2", "the largest change: from nothing")
        p.key(" ")
        equal(p.run(NAMES)[0], "mem.mmap_bytes", "the smallest")
        equal(p.run("Array.from(document.querySelectorAll('#metrics th'))"
                    ".map(t => t.getAttribute('aria-sort')).filter(Boolean)"),
              ["none"] * 3 + ["ascending"] + ["none"] * 4, "one column is sorted")
        p.click("#metrics thead th:nth-child(8) button")
        equal(p.run("Array.from(document.querySelectorAll('#metrics tbody tr:not([hidden])'))"
                    ".map(r => r.dataset.verdict)"),
              ["worse"] * 3 + ["inconclusive"] * 2 + ["better"] * 2, "the gravest first")
        quiet(p)


@test(root=False, timeout=120)
def what_is_not_known_sorts_last():
    with page("edges") as p:
        for _ in range(2):
            p.run(header("change") + ".click()")
            equal(p.run(NAMES)[-1], "no.runs", "the last")
        quiet(p)


@test(root=False, timeout=120)
def rows_are_filtered():
    with page("normal") as p:
        equal(p.run("document.getElementById('shown').textContent"), "7 of 18 shown", "at first")
        p.run("document.getElementById('filter').focus()")
        p.type("Syscall.")
        equal(p.run(NAMES), ["syscall.pipe2"], "those that changed")
        p.click("#same")
        equal(len(p.run(NAMES)), 9, "and those that are the same")
        equal(p.run("document.getElementById('shown').textContent"), "9 of 18 shown", "status")
        quiet(p)


@test(root=False, timeout=120)
def all_of_it_is_reached_by_the_keyboard():
    with page("normal") as p:
        reached = []
        for _ in range(40):
            p.key("Tab")
            reached.append(p.run(FOCUS))
            equal(p.run("document.activeElement.matches(':focus-visible')"), True, reached[-1])
            seen = p.run("(e => e.classList.contains('frame') ? 'frame' : "
                         "getComputedStyle(e).outlineStyle)(document.activeElement)")
            check(seen != "none", f"{reached[-1]}: the focus is not seen")
            if p.run("document.activeElement.tagName") == "SUMMARY" and seen and \
                    p.run("document.activeElement.textContent") == "as a table":
                break
        for want in ("switch between light and dark", "filter", "same", "metric", "verdict",
                     "change", "all: 887\u00a0ms → 1.07\u00a0s a run (+21\u00a0%)", "as a table"):
            check(want in reached, f"{want} is not among {reached}")
        equal(sum(" a run (" in r for r in reached), 1, "Tab stops in the graph")
        check(not any("queue_refillfutex_wait" in r for r in reached), "the graph is a stop itself")
        quiet(p)


@test(root=False, timeout=120)
def frames_are_walked_and_looked_into():
    with page("normal") as p:
        said = "document.querySelector('#flame output').textContent"
        p.run("document.querySelector('.frame').focus()")
        contains(p.run(said), "all: ", "the root")
        p.key("ArrowDown")
        p.key("ArrowDown")
        contains(p.run(said), "pthread_join: 410\u00a0ms → 480\u00a0ms a run (+17\u00a0%)",
                 "the widest")
        p.key("ArrowRight")
        p.key("ArrowRight")
        contains(p.run(said), "worker_main: ", "beside")
        p.key("Enter")
        equal(p.run("document.querySelector('.frame text').textContent"), "worker_main", "zoomed")
        contains(p.run(said), "worker_main: 142\u00a0ms → 304\u00a0ms", "zoomed")
        p.key("Escape")
        equal(p.run("document.querySelector('.frame text').textContent"), "all", "back")
        tints = dict(p.run("Array.from(document.querySelectorAll('.frame'))"
                           ".map(f => [f.getAttribute('aria-label').split(':')[0],"
                           "f.getAttribute('class')])"))
        equal(tints["queue_refill"], "frame more4", "new")
        equal(tints["old_path"], "frame less4", "gone")
        equal(tints["log_line"], "frame", "as it was")
        quiet(p)


@test(root=False, timeout=120)
def the_theme_is_the_systems_until_it_is_chosen():
    ground = "getComputedStyle(document.body).backgroundColor"
    with page("normal", dark=True) as p:
        equal(p.run(ground), "rgb(20, 23, 28)", "dark")
        p.click("#theme")
        equal(p.run(ground), "rgb(255, 255, 255)", "chosen light")
        p.click("#theme")
        equal(p.run(ground), "rgb(20, 23, 28)", "chosen dark")
        p.call("Emulation.setEmulatedMedia", media="print")
        equal(p.run(ground), "rgb(255, 255, 255)", "on paper")
    with page("normal") as p:
        equal(p.run(ground), "rgb(255, 255, 255)", "light")
        quiet(p)


@test(root=False, timeout=120)
def nothing_is_cut_on_a_narrow_screen():
    for report in ("normal", "hostile", "edges"):
        with page(report) as p:
            for width in (1200, 800, 400, 360):
                p.resize(width)
                equal(p.run("document.documentElement.scrollWidth"), width, f"{report} at {width}")
                wide = p.run("Array.from(document.querySelectorAll('.scroll'))"
                             ".map(e => e.scrollWidth - e.clientWidth)")
                check(max(wide, default=0) <= 0, f"{report} at {width}: a table is wider: {wide}")


@test(root=False, timeout=120)
def without_scripts_the_tables_are_there():
    with page("normal", script=False) as p:
        equal(len(p.run(NAMES)), 18, "all metrics")
        equal(p.run("getComputedStyle(document.querySelector('.controls')).display"), "none",
              "controls that would do nothing")
        check(p.run("document.querySelector('#stacks tbody').rows.length") == 7, "stacks")
        quiet(p)


@test(root=False, timeout=60)
def markdown_is_read_as_it_was_meant():
    need("cmark-gfm")
    out = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e",
                          "strikethrough"], input=made_up("hostile", "markdown"),
                         capture_output=True, check=True).stdout.decode()
    tags = set(re.findall(r"<(/?\w+)", out)) - set(re.findall(r"<(/?\w+)", re.sub(
        r"<code>.*?</code>", "", out)))
    equal(tags - {"code", "/code"}, set(), "tags in names")
    equal(set(re.findall(r"<(\w+)", out)),
          {"h3", "p", "ul", "li", "strong", "code", "blockquote", "table", "thead", "tr", "th",
           "tbody", "td", "details", "summary"}, "elements")
    name = json.loads(made_up("hostile", "json"))["metrics"][0]["name"]
    shown = [html.unescape(c) for c in re.findall(r"<td align=\"left\"><code>(.*?)</code>", out)]
    contains(shown[0], "</script><script>alert(1)</script><!--|`x``]]>&\"'@team #1 **b** [l]",
             "a name")
    check(len(shown[0]) > len(name), "controls are spelled out")
    plain = re.sub(r"<code>.*?</code>", "", out)
    check("@" not in plain and "<a" not in plain, "a mention or a link outside of code")


if __name__ == "__main__":
    main()
