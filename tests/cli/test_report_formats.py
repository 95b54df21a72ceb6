#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The formats of a report as others' parsers read them: XML, JSON, HTML. Figures are made up."""
import html.parser
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import BUILD, ROOT, check, clean_env, contains, equal, main, test

REPORTS = ("normal", "hostile", "edges", "empty", "same")
VOID = {"meta", "input"}


def made_up(report, form, *more):
    out = subprocess.run([os.path.join(BUILD, "tests/report/made_up"), report, form, *more],
                         capture_output=True, check=True, env=clean_env())
    return out.stdout.decode("utf-8")


class Tags(html.parser.HTMLParser):
    """Checks that elements nest, and keeps them all and the text of some."""
    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.ids = [], [], []
        self.script, self.name = [], []
        self.feed(text)
        self.close()
        equal(self.open, [], "elements left open")

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.ids += [v for k, v in attrs if k == "id"]
        check(not any(k.startswith("on") or k == "style" for k, _ in attrs), f"{tag}: {attrs}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        equal(self.open.pop() if self.open else None, tag, "what is closed")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.script.append(data)


@test(root=False)
def junit_is_xml_of_the_right_counts():
    for report in REPORTS:
        for strict in ([], ["strict"]):
            top = xml.fromstring(made_up(report, "junit", "0", *strict).encode())
            suites = top.findall("testsuite")
            cases = suites[0].findall("testcase")
            equal((top.tag, len(suites)), ("testsuites", 1), report)
            for e in (top, suites[0]):
                equal(int(e.get("tests")), len(cases), f"{report}: tests")
                for attribute, tag in (("failures", "failure"), ("skipped", "skipped")):
                    equal(int(e.get(attribute)), sum(c.find(tag) is not None for c in cases),
                          f"{report}: {attribute}")
                times = sum(float(c.get("time")) for c in cases)
                check(abs(float(e.get("time")) - times) < 0.001, f"{report}: time")
            check(not strict or top.get("skipped") == "0", f"{report}: strict skips")


@test(root=False)
def hostile_names_come_through_junit_as_text():
    top = xml.fromstring(made_up("hostile", "junit").encode())
    names = [c.get("name") for c in top.iter("testcase")]
    check(names[0].startswith("\\e]0;owned\\x07</script><script>alert(1)</script><!--|`x``]]>"),
          names[0])
    contains(names[0], "\\r\\n\\t\\u{2028}\\u{202e}\\u{fffe}日本\\\\", "a name")
    equal(names[1], "x" * 300, "a long name")
    equal({e.tag for e in top.iter()}, {"testsuites", "testsuite", "properties", "property",
                                        "testcase", "failure", "skipped"}, "elements")


@test(root=False)
def json_gives_names_back():
    got = json.loads(made_up("hostile", "json"))
    contains(got["metrics"][0]["name"], "\x1b]0;owned\x07</script>", "a name")
    contains(got["metrics"][0]["name"], "\r\n\t\u2028\u202e\ufffe日本\\", "a name")
    for report in REPORTS:
        got = json.loads(made_up(report, "json"), parse_constant=lambda c: check(False, c))
        check(got["verdict"] in ("better", "same", "worse", "inconclusive"), got["verdict"])
        for m in got["metrics"]:
            equal(len(m["ci"]), 2, m["name"])
            check(m["runs_needed"] is None or m["verdict"] == "inconclusive", m["name"])


@test(root=False)
def the_document_names_what_json_has():
    with open(os.path.join(ROOT, "docs/formats/report-json.md"), encoding="utf-8") as f:
        documented = set(re.findall(r"`(\w+)`", f.read()))
    found = set()

    def walk(v):
        for k, inner in v.items() if isinstance(v, dict) else ():
            found.add(k)
            walk(inner)
        for inner in v if isinstance(v, list) else ():
            walk(inner)

    walk(json.loads(made_up("normal", "json")))
    equal(found - documented, set(), "members that are not documented")


@test(root=False)
def a_page_nests_and_asks_for_nothing():
    for report in REPORTS:
        text = made_up(report, "html")
        page = Tags(text)
        tags = [t for t, _ in page.found]
        equal(sorted(page.ids), sorted(set(page.ids)), f"{report}: ids")
        for t in ("link", "img", "iframe", "a", "form", "object", "base"):
            check(t not in tags, f"{report}: <{t}>")
        check(not any(k in ("src", "href") for _, a in page.found for k in a), f"{report}: src")
        rows = sum("data-metric" in a for _, a in page.found)
        equal(rows, len(json.loads(page.script[0])["metrics"]), f"{report}: rows")
        policy = [a["content"] for _, a in page.found if "http-equiv" in a]
        contains(policy[0], "default-src 'none'; script-src 'sha256-", report)
        check("unsafe" not in policy[0], policy[0])


def colours(block):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def light_of(colour):
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    low, high = sorted((light_of(a), light_of(b)))
    return (high + 0.05) / (low + 0.05)


@test(root=False)
def colours_can_be_told_from_their_ground():
    with open(os.path.join(ROOT, "user/report/render_html.css"), encoding="utf-8") as f:
        css = f.read()
    blocks = [colours(b) for b in re.findall(r":root[^{]*\{([^}]*--ground[^}]*)\}", css)]
    equal(len(blocks), 3, "light, dark by the system, dark by choice")
    equal(blocks[1], blocks[2], "the two dark ones")
    for c in blocks:
        for name in ("text", "dim", "accent", "worse", "better", "inconclusive"):
            for ground in ("ground", "raised"):
                check(contrast(c[name], c[ground]) >= 4.5, f"{name} on {ground}: {c}")
        for name in ("base", "new"):
            check(contrast(c[name], c["ground"]) >= 3, f"dots of {name}: {c}")
        for frame in c:
            if re.fullmatch(r"even|more\d|less\d", frame):
                check(contrast(c["on-frame"], c[frame]) >= 4.5, f"text on {frame}: {c}")


if __name__ == "__main__":
    main()
