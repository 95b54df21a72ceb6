#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tape: options, selectors and their order, each by a small case."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import ROOT, TRACER, Skip, check, contains, equal, main, need, run, scratch, test
from tape import TAPE, by_tracer, same, shows, tape

SIX = "1\n2\n3\n4\n5\n6\n"
SHARED = os.path.join(ROOT, "..", "shared", "cases", "tape")

# (arguments, input, output)
SHOWN = [
    ("-l 2,4-5", SIX, "1\n[2]\n3\n[4]\n[5]\n6\n"),
    ("-l 2 -v", "a\nb\nc", "[a]\nb\n[c]"),
    ("-l 1-", "\n", "[]\n"),
    ("-c 1,2", "abc\n", "[a][b]c\n"),
    ("-c 1-2,2-3", "abcd\n", "[abc]d\n"),
    ("-c 2", "añb\n", "a[ñ]b\n"),
    ("-f-2", "a b c\n", "[a] [b] c\n"),
    ("-f=-2", "a b c\n", "[a] [b] c\n"),
    ("-f -2", "a b c\n", "[a] [b] c\n"),
    ("-f2 -d=", "a=b=c\n", "a=[b]=c\n"),
    ("-f2 -d::", "a::b::c\n", "a::[b]::c\n"),
    ("-vf 2", "a b c\n", "[a] b [c]\n"),
    ("-og b+", "abbab\n", "a[bb]a[b]\n"),
    ("-og -b", "a-b\n", "a[-b]\n"),
    ("-vog b+", "abbab\n", "[a]bb[a]b\n"),
    ("-g b", "a\nb\n", "a\n[b]\n"),
    ("-g 3 -A 1 -B 1", SIX, "1\n[2]\n[3]\n[4]\n5\n6\n"),
    ("-g [25] -C 1", SIX, "[1]\n[2]\n[3]\n[4]\n[5]\n[6]\n"),
    ("-g 6 -B 3", SIX.rstrip(), "1\n2\n[3]\n[4]\n[5]\n[6]"),
    ("-g 1 -A 18446744073709551614", SIX, "[1]\n[2]\n[3]\n[4]\n[5]\n[6]\n"),
    ("--sed 2,3", SIX, "1\n[2]\n[3]\n4\n5\n6\n"),
    ("--awk NR%3==0", SIX, "1\n2\n[3]\n4\n5\n[6]\n"),
    ("-z --sed 2", "a\0b\nc\0", "a\0[b\nc]\0"),
    ("-z --awk NR==2", "a\0b\nc\0", "a\0[b\nc]\0"),
    ("--csv -f 2", 'a,"x,""y""",c\n', 'a,["x,""y"""],c\n'),
    ("--csv -f 1-", 'a,,"",d\r\n', '[a],,[""],[d]\r\n'),
    ("--csv -f 2 --header 1", "h,i\na,b\n", "h,i\na,[b]\n"),
    ("--csv -f 2 --header 1", 'h,"i\nj"\na,b\n', 'h,"i\nj"\na,[b]\n'),
    ("-l 1- --header 2", SIX, "1\n2\n[3]\n[4]\n[5]\n[6]\n"),
    ("-z -l 2", "a\0b\0c", "a\0[b]\0c"),
    ("--only-matching --regex=b", "abc\n", "a[b]c\n"),
]

# What Rust's regex and PCRE2 do not have in common: (pattern, input, output)
PATTERNS = [
    (r"[[:alpha:]&&[^a-m]]", "amnz", "am[n][z]"),
    (r"[a-e--c]", "abcde", "[a][b]c[d][e]"),
    (r"[a-c~~b-d]", "abcd", "[a]bc[d]"),
    (r"[^x[yz]]", "axyzb", "[a]xyz[b]"),
    (r"\u{e9}|\U000000e8", "éèe", "[é][è]e"),
    (r"a++b", "aaab", "[aaab]"),
    (r"a{2}{2}", "aaaaa", "[aaaa]a"),
    (r"(?i)straße", "STRASSE STRAßE", "STRASSE [STRAßE]"),
    (r"(?x) a b # ab", "ab", "[ab]"),
    (r"(?U)a+", "aa", "[a][a]"),
    (r"(?s-m)^.+$", "ab", "[ab]"),
    (r"(?-u)\w+", "aé", "[a]é"),
    (r"\w+", "e\u0301 \u00e9", "[e\u0301] [\u00e9]"),
    (r"\s", "a\u2009b\u200bc", "a[\u2009]b\u200bc"),
    (r"[[:space:]]", "a\u2009b c", "a\u2009b[ ]c"),
    (r"\pL\p{Greek}", "aβ", "[aβ]"),
    (r"\v", "a\vb", "a[\v]b"),
    (r"\b*a$?", "ab", "[a]b"),
    (r"(?P<n>a)(?<m>b)", "ab", "[ab]"),
    (r"[]a]", "]a", "[]][a]"),
    (r"\d", "1٣", "[1][٣]"),
    # Words have marks, joiners and letters of numbers' other kinds as the crate has them.
    (r"\b.", "e\u0301a ²b", "[e]\u0301a[ ]²[b]"),
    (r"\B.", "a\u200db", "a[\u200d][b]"),
    (r"(?-u:\b)\w", "aéb", "[a][é][b]"),
    (r"\b{start}.|.\b{end}", "abc é\u0301", "[a]b[c] [é][\u0301]"),
    (r"\b{start-half}.", "ab -", "[a]b [-]"),
    (r"\b{end-half}b", "ab -b", "ab -b"),
    (r"\<.", "ab e\u0301", "[a]b [e]\u0301"),
    # Case is of ASCII without Unicode, of all else with it, and of properties too.
    (r"(?i-u:k[a-z]\w)", "kſa ka\u212a KAB", "kſa ka\u212a [KAB]"),
    (r"(?i)\p{Lu}", "aÉ1", "[a][É]1"),
    (r"(?i)[^\p{Ll}]", "Aé1", "Aé[1]"),
    (r"(?i)\p{Lowercase}", "Aª1", "[A][ª]1"),
    # Properties by their long names; a name alone is that of a script, not of its extensions.
    (r"\p{Letter}\p{isDecimal_Number}", "a1", "[a1]"),
    (r"\p{punct}|\p{Currency-Symbol}", "a!€", "a[!][€]"),
    (r"\p{gc!=Lu}|\p{General_Category=Uppercase Letter}{2}", "aBC", "[a][BC]"),
    (r"\p{Greek}", "α\u0342", "[α]\u0342"),
    (r"\p{scx=Greek}", "α\u0342", "[α][\u0342]"),
    (r"\p{Assigned}", "a\u0378", "[a]\u0378"),
    (r"\P{^Lu}", "aB", "a[B]"),
    ("(?x)a\u2009[\u3000b]\x85", "ab", "[ab]"),
]

REFUSED = [
    (r"(?=a)", "look-around"), (r"(?<!a)b", "look-around"), (r"\1", "backreferences"),
    (r"a{,2}", "decimal"), (r"a{3,2}", "start must be"), (r"*", "missing expression"),
    (r"(*UTF)a", "missing expression"), (r"a)", "unopened group"), (r"(a", "unclosed group"),
    (r"[a", "unclosed character class"), (r"[z-a]", "invalid character class range"),
    (r"\Qa\E", "unrecognized escape"), (r"\K", "unrecognized escape"), (r"\C", "unrecognized"),
    (r"(?#c)", "unrecognized flag"), (r"(?-u:[^a])", "invalid UTF-8"), (r"\xg", "hexadecimal"),
    (r"\x{110000}", "scalar value"), ("\\", "incomplete"), (r"\p{Nonsense}", "error"),
    (r"\p{Age=6.0}", "Unicode property not found"), (r"\p{L&}", "Unicode property not found"),
    (r"\b{word}", "start, end, start-half or end-half"), (r"\b{start", "unclosed"),
]

USAGE = ["--foo", "-o -o -g .", "-g a -g b", "-c 0", "-c 2-1", "-c x", "-f 1,,2", "-l", "-j 0 -l 1",
         "-j 65 -s -l 1", "-j 2 -l 1 cat", "--status -l 1", "-A 1 -c 1", "-A x -g 1",
         "--unquote -f 1", "-d , -- cat", "--csv -- cat"]


@test(root=False)
def selectors():
    for args, data, out in SHOWN:
        shows(data, out, *args.split(" "))


@test(root=False)
def patterns_mean_what_they_mean_in_rust():
    for pattern, data, out in PATTERNS:
        shows(data + "\n", out + "\n", "-og", pattern)


@test(root=False)
def other_patterns_are_refused():
    for pattern, word in REFUSED:
        r = tape("-og", pattern, data="a\n")
        equal((r.rc, r.out), (2, ""), f"{pattern}: {r.err}")
        contains(r.err, word, pattern)
        contains(r.err, "error: ", pattern)


@test(root=False)
def usage_errors():
    for args in USAGE:
        r = tape(*args.split(" "), data="1\n")
        equal((r.rc, r.out), (2, ""), f"{args}: {r.err}")
        check(r.err.startswith("tape: "), r.err)
    for args in ["--foo", "-j 0 -l 1"]:
        r = by_tracer(*args.split(" "))
        equal((r.rc, r.out), (2, ""), f"{args}: {r.err}")


@test(root=False)
def both_names_do_the_same():
    for args in (["-og", "b"], ["-s", "-l", "1", "--", "cat"], ["tape", "-l", "1"]):
        a, b = tape(*args, data="abc\n"), by_tracer(*args, data="abc\n")
        equal((a.rc, a.out, a.err), (b.rc, b.out, b.err), f"{args}")
    version = run([TRACER, "--version"]).ok().out.split()[1]
    equal(tape("--version").ok().out, f"tape (tracer) {version}\n", "its version")


@test(root=False)
def help_has_ten_examples():
    with_tape, with_tracer = run([TAPE, "--help"]).ok().out, run([TRACER, "tape", "--help"]).ok()
    equal(with_tape, with_tracer.out, "the two helps")
    part = with_tape.split("\nExamples:\n")[1].split("\nExit codes:")[0]
    check(len(re.findall(r"^  \S", part, re.M)) >= 10, part)


@test(root=False)
def examples_work():
    """Those of the help that need nothing but common programs."""
    shows("10.0.0.1 a 1\n", "@@@ a 1\n", "-og", r"(\d{1,3}\.){3}\d{1,3}", "--", "sed", "s/.*/@@@/")
    shows("a b  c\n", "a B  C\n", "-f", "2-3", "--", "tr", "a-z", "A-Z")
    shows("a,b,c,2048\n", "a,b,c,2.0K\n", "-d,", "-f4", "--", "numfmt", "--to=iec")
    shows('n,v\na,"2, b"\nb,"1"\n', 'n,v\na,"1"\nb,"2, b"\n',
          "--csv", "--unquote", "--header", "1", "-f", "2", "--", "sort")
    shows("20260101 x\n", "1767225600 x\n", "-c", "-8", "--", "date", "-u", "-f", "-", "+%s")
    shows("src/a.c b\n", "a b\n", "-I", "{}", "-f", "1", "basename", "{}", ".c")
    shows("AAA@@@@@AAA@@@@@AAA\n", "AAA@@@@@___@@@@@AAA\n", "-og", "@.*@", "--", TAPE, "-og", "A+",
          "--", "tr", "A", "_")


@test(root=False)
def oniguruma():
    r = tape("-Gog", "a(?=b)", data="ab ac\n")
    if r.rc == 2:
        contains(r.err, "Oniguruma", "without it")
        raise Skip("Oniguruma is not built in")
    shows("ab ac\n", "[a]b ac\n", "-Gog", "a(?=b)")
    shows("ab\nac\n", "[ab]\nac\n", "-Gg", "a(?=b)")
    shows(b"\xff\xe3a\n", b"\xff\xe3[a]\n", "-Gog", "a")
    shows(b"a\xe3\n", b"[a\xe3]\n", "-Gog", ".+")
    shows("ab\nac\nad\n", "[ab]\n[ac]\nad\n", "-Gg", "a(?=b)", "-A", "1")
    r = tape("-Gog", "a[^b]*[bc]", data="x\n" + "a" * 200000 + "\n", timeout=15)
    equal(r.rc, 1, r.err)
    contains(r.err, "line 2: the pattern takes too many steps", "a pattern that runs on")


@test(root=False)
def a_runaway_pattern_is_an_error_that_names_the_line():
    data = "x\n" + "a" * 5000 + "\n"
    r = tape("-og", "(a|aa)+[bc]", data=data, timeout=50)
    equal(r.rc, 1, r.err)
    contains(r.err, "line 2", "the message")


@test(timeout=200, root=False)
def a_pattern_ends_however_long_the_line():
    """Steps that PCRE2 does not count: repetitions of a character, and places to begin at."""
    data = "x\n" + "a" * 1000000 + "\n"
    for pattern in ("a*a*[bc]", "x*y*z*a*b"):
        r = tape("-og", pattern, data=data, timeout=90)
        equal(r.rc, 1, f"{pattern}: {r.err}")
        contains(r.err, "line 2: the pattern takes too many steps", pattern)


@test(root=False)
def patterns_in_long_lines():
    """They are matched in pieces, and by other code, with the same result."""
    words = ["a1", "é€9", "aaab", "xyé", "😀", "_", "a" * 900]
    for odd in (b"z", "ñ".encode(), b"\xff\x80a\xe2\x82"):
        part = [w.encode() for w in words] + [odd]
        for pattern in (r"\w+\d+", r"(?:\pL+\d*)+\B", "[^ ]*z|a.", r"a*\b"):
            short = tape("-og", pattern, data=b" \n".join(part) + b" \n").ok().raw_out
            long = tape("-og", pattern, data=b" ".join(part * 200) + b" \n").ok().raw_out
            same(long, (short.replace(b"\n", b"") * 200) + b"\n", f"{pattern} with {odd!r}")


@test(root=False)
def status():
    for args, rc in ((["--", "sh", "-c", "cat; exit 3"], 0),
                     (["--status", "--", "sh", "-c", "cat; exit 3"], 3),
                     (["--status", "--", "sh", "-c", "cat; kill -9 $$"], 137),
                     (["-s", "--status", "--", "sh", "-c", "cat; exit 3"], 3),
                     (["-s", "--", "false"], 0)):
        tape("-l", "1", *args, data="a\nb\n").ok(rc)


@test(root=False)
def parallel_keeps_order():
    data = "".join(f"{i}\n" for i in range(40))
    for jobs in ("1", "2", "5", "64"):
        shows(data, data, "-s", "-j", jobs, "-l", "1-", "--", "sh", "-c",
              "read n; sleep 0.0$(( (n * 7) % 5 )); echo $n")


@test(root=False)
def parallel_is_parallel():
    """Of four commands, all have begun before one may end."""
    with scratch() as d:
        script = f"n=$(cat); touch {d}/$n; while [ $(ls {d} | wc -l) -lt 4 ]; do sleep 0.01; done"
        shows("1\n2\n3\n4\n", "\n\n\n\n", "-s", "-j", "4", "-l", "1-", "--", "sh", "-c", script)


@test(root=False)
def unquote():
    for args in ([], ["-s"]):
        shows('a,"x ""y""",c\nd,e,f\n', 'a,"X ""Y""",c\nd,E,f\n', *args, "--csv", "--unquote",
              "-f", "2", "--", "tr", "a-z", "A-Z")
        shows("a,b\n", 'a,"b,""c"\n', *args, "--csv", "--unquote", "-f", "2", "--", "sed",
              's/$/,"c/')
        shows('a,""\n', 'a,"+"\n', *args, "--csv", "--unquote", "-f", "2", "--", "sed", "s/^/+/")


@test(root=False)
def stats():
    r = tape("--stats", "-og", "b", "--", "cat", data="abc\nb\n").ok()
    equal(r.out, "abc\nb\n", "output")
    for part in ('"schema":"tracer.tape/1"', '"bytes_in":6', '"bytes_out":6', '"records":2',
                 '"chunks":2', '"chunk_bytes":2', '"commands":1'):
        contains(r.err, part, "--stats")


@test(timeout=120, root=False)
def cases_of_the_specification():
    cases = os.path.join(SHARED, "cases.json")
    if not os.path.exists(cases):
        raise Skip("../shared/cases/tape is not here")
    need("perl")
    runner = os.path.join(SHARED, "run_cases.py")
    r = subprocess.run([sys.executable, runner, cases, TRACER, "tape"], capture_output=True,
                       text=True, check=False)
    equal(r.returncode, 0, r.stdout[-1500:])


main()
