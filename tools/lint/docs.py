# SPDX-License-Identifier: MIT
"""Help, man page and completions agree; links, options and targets that docs name exist."""
import os
import re
import subprocess
import tempfile

from tree import BUILD, files, finish, problem, text

SHELLS = {"bash": "tracer.bash", "zsh": "_tracer", "fish": "tracer.fish"}


def help_of(*args):
    return subprocess.run([f"{BUILD}/tracer", *args, "--help"], capture_output=True, text=True,
                          check=True, env=dict(os.environ, COLUMNS="100", TERM="dumb")).stdout


def options_in_help(out):
    found = set()
    for m in re.finditer(r"^  (?:(-\w)(?:, )?|    )(--[\w-]+)?", out, re.M):
        found |= {o for o in m.groups() if o}
    return found


def options_in_man(page):
    return {m.replace("\\-", "-") for m in re.findall(r"\\fB((?:\\-){1,2}[\w\\-]+)\\fR", page)}


def section(script, shell, command):
    """The part of a completion script that belongs to a command."""
    if shell == "fish":
        return "\n".join(l for l in script.splitlines() if f"_from {command}'" in l)
    m = re.search(rf"^\t{command}\)\n(.*?)^\t\t;;$", script, re.M | re.S)
    return m[1] if m else ""


def has_option(part, shell, option):
    name = option.lstrip("-")
    if shell == "fish":
        letter = "s" if len(option) == 2 else "l"
        return re.search(rf" -{letter} {re.escape(name)}( |$)", part, re.M)
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", part)


def check_generated():
    overview = help_of()
    commands = re.findall(r"^  (\w+) {3,}", overview.split("Commands:")[1].split("\n\n")[0], re.M)
    known = {"tracer": {"-h", "--help", "-V", "--version"}}
    for c in commands:
        options = known[c] = options_in_help(help_of(c))
        page = f"{BUILD}/man/tracer-{c}.1"
        if os.path.exists(page):
            for o in options ^ options_in_man(text(page)):
                problem(page, 1, f"{o}: in one of help and man page only")
        elif c != "help":
            problem(page, 1, "is missing")
        for shell, script in SHELLS.items():
            part = section(text(f"{BUILD}/completion/{script}"), shell, c)
            for o in options:
                if not has_option(part, shell, o):
                    problem(f"{BUILD}/completion/{script}", 1, f"{c}: {o} is missing")
    if not {"run", "attach"} <= set(commands):
        problem("user/main.c", 1, f"the help lists only {commands}")
    return known


def anchors(path):
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", text(path), re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(slug)
    return found


def check_links(path):
    for n, line in enumerate(text(path).splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(full):
                problem(path, n, f"{target}: there is no such file")
            elif anchor and full.endswith(".md") and anchor not in anchors(full):
                problem(path, n, f"{target}: there is no such heading")


def check_mentions(path, known, targets):
    """`make TARGET` and options of `tracer COMMAND` in code quotes and code blocks."""
    code = False
    for n, line in enumerate(text(path).splitlines(), 1):
        if line.startswith("```"):
            code = not code
            continue
        for part in [line] if code else re.findall(r"`([^`]+)`", line):
            for t in re.findall(r"^(?:sudo )?make ((?:[a-z][\w-]*(?: |$))+)", part):
                for word in t.split():
                    if word not in targets:
                        problem(path, n, f"make {word}: there is no such target")
            m = re.match(r"^(?:[\w/.$ ]*\b)?tracer (\w+)"
                         r"((?: +(?:--?[\w-]+[=\w,.]*|[\w%./]+))*)", part)
            if m and m[1] in known:
                for o in re.findall(r" (--?[\w-]+)", " " + m[2].split(" -- ")[0]):
                    if o.startswith("--") and o not in known[m[1]]:
                        problem(path, n, f"tracer {m[1]} {o}: there is no such option")


def check_regression():
    """The reports of docs/regression are what the tool makes of the runs there."""
    with tempfile.TemporaryDirectory() as d:
        subprocess.run(["tools/regression.sh", "render", BUILD, d], check=True)
        for name in sorted(os.listdir(d)):
            path = f"docs/regression/{name}"
            if not os.path.exists(path) or text(path) != text(os.path.join(d, name)):
                problem(path, 1, "is not what the tool prints now: make docs")
    report = set(text("docs/regression/regression.txt").splitlines())
    shown = re.search(r"<!-- lines of docs/regression/regression.txt -->\n```\n(.*?)```",
                      text("docs/ci.md"), re.S)
    for line in shown[1].splitlines() if shown else ():
        if line and line not in report:
            problem("docs/ci.md", 1, f"no line of docs/regression/regression.txt: {line}")


def main():
    known = check_generated()
    check_regression()
    targets = set(re.findall(r"^([a-z][\w-]*(?: [a-z][\w-]*)*):", text("Makefile"), re.M))
    targets = {t for group in targets for t in group.split()}
    for path in files("*.md"):
        check_links(path)
        check_mentions(path, known, targets)


main()
finish()
