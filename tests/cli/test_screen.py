#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""top's screen, with figures made up by tests/tui/feed.c: keys, mouse, sizes, terminals, ends."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import BUILD, SLOW, Failure, check, contains, equal, main, run, test, wait_for
from screen import Screen, play

FEED = os.path.join(BUILD, "tests", "tui", "feed")
TABS = ["Threads", "Locks", "Pipes", "System calls", "Processes"]
LABELS = "F1Help  F2TotalsF3SearchF4FilterF5Tree  F6SortByF7Delay-F8Delay+F9DetailF10Quit"
THREADS = 16


@contextlib.contextmanager
def screen(*opts, **kw):
    s = Screen([FEED, "--delay", "50", *opts], **kw)
    try:
        s.see(r"^lost ")
        yield s
    finally:
        s.close()


def end(s, rc=0):
    """Quits and looks whether the terminal is as it was."""
    s.keys("q")
    equal(s.wait(), rc, "exit code")
    equal(s.restored(), [], "not restored")


def header(s):
    """The line of headings, as words; the mark of the order is taken off."""
    return re.sub("[▽△]", " ", s.lines[header_line(s)]).split()


def header_line(s):
    return s.line_of(r"[▽△]")


def sorted_by(s):
    return re.search(r"(\S+)([▽△])", s.lines[header_line(s)]).groups()


def body(s):
    """Lines of rows."""
    first = header_line(s) + 1
    return [line for line in s.lines[first:-1] if line]


def column(s, head):
    """The words that stand under a heading that is aligned right."""
    y = header_line(s)
    last = s.lines[y].index(head) + len(head)
    return [s.cells(y + 1 + i)[:last].split()[-1] for i in range(len(body(s)))]


def cursor_line(s):
    """The line that stands out, by its background."""
    for y in range(header_line(s) + 1 if "▽" in s.all or "△" in s.all else 3, len(s.lines) - 1):
        if s.attribute(0, y)[1] == "cyan":
            return y
    raise Failure(f"no line has the cursor:\n{s.all}")


def cursor_text(s):
    return s.lines[cursor_line(s)]


def step(s):
    """One refresh, of a feed that makes none by itself; the screen is 200 columns wide."""
    before = re.search("traced .*", s.lines[0])[0]
    s.keys("Z", "Z")
    s.until("a refresh", lambda s: re.search("traced .*", s.lines[0])[0] != before)


def all_heads():
    tabs = {}
    for line in run([FEED, "--heads"]).ok().out.splitlines():
        title, *heads = line.split("\t")
        tabs[title] = heads
    return tabs


@test(root=False)
def headings_are_those_of_the_tables():
    tabs = all_heads()
    equal(list(tabs), TABS, "tabs")
    for exact in (False, True):
        with screen(*(["--exact"] if exact else []), columns=200, rows=40) as s:
            for i, title in enumerate(TABS):
                s.keys(str(i + 1))
                want = [h.lstrip("-") for h in tabs[title] if exact or h[0] != "-"]
                s.until(f"headings of {title}: {want}", lambda s, w=want: header(s) == w)
            end(s)


@test(root=False)
def where_there_is_no_room_columns_go_and_the_sorted_one_stays():
    with screen(columns=200) as s:
        s.keys("f6", "home")
        s.see("^Sort by")
        s.keys("down", "enter")
        s.until("sorted by PID", lambda s: sorted_by(s)[0] == "PID")
        for columns in (120, 80, 60, 40, 24):
            s.resize(columns, 24)
            s.until(f"headings in {columns} columns", lambda s, c=columns:
                    "PID" in header(s) and len(s.lines[0]) <= c)
            check("PID" in header(s), f"{columns} columns without what is sorted by: {header(s)}")
            s.see("^lost 0")
        end(s)


@test(root=False)
def tabs_by_key_and_mouse():
    with screen() as s:
        def on(title):
            y = s.line_of(" 1 Threads ")
            x = s.lines[y].index(title)
            s.until(f"the tab {title}", lambda s: s.attribute(x, y)[1] == "green")
        on("Threads")
        for key, title in (("tab", "Locks"), ("right", "Pipes"), ("shift-tab", "Locks"),
                           ("left", "Threads"), ("left", "Processes"), ("4", "System calls")):
            s.keys(key)
            on(title)
        y = s.line_of(" 1 Threads ")
        for title in ("Locks", "Processes", "Threads"):
            s.click(s.lines[y].index(title), y)
            on(title)
        equal(s.lines[-1], LABELS, "labels of the keys")
        s.click(LABELS.index("F10") + 4, 23)
        equal(s.wait(), 0, "exit code after a click on Quit")
        equal(s.restored(), [], "not restored")


@test(root=False)
def sorted_by_keys_and_mouse():
    with screen(columns=120) as s:
        equal(sorted_by(s), ("CPU%", "▽"), "at first")
        s.keys("N")
        s.until("sorted by TID", lambda s: sorted_by(s) == ("TID", "▽"))
        tids = sorted(map(int, column(s, "TID")))
        equal(len(tids), THREADS, "threads")
        s.until("threads by id", lambda s: list(map(int, column(s, "TID"))) == tids)
        s.keys("I")
        s.until("the other way round", lambda s: sorted_by(s) == ("TID", "△"))
        s.until("threads by id, falling", lambda s: list(map(int, column(s, "TID"))) ==
                tids[::-1])
        y = header_line(s)
        s.click(s.lines[y].index("COMMAND") + 2, y)
        s.until("sorted by name", lambda s: sorted_by(s) == ("COMMAND", "▽"))
        s.click(s.lines[y].index("COMMAND") + 2, y)
        s.until("sorted by name, falling", lambda s: sorted_by(s) == ("COMMAND", "△"))
        s.keys(">")
        s.see("^Sort by")
        s.keys(">", "enter")
        s.until("the column behind it", lambda s: sorted_by(s)[0] == "CPU%")
        s.keys("M")
        s.until("by the longest", lambda s: sorted_by(s)[0] == "FOR")
        s.keys("W")
        s.until("by time blocked", lambda s: sorted_by(s)[0] == "BLOCK%")
        s.keys("P")
        s.until("as at first", lambda s: sorted_by(s) == ("CPU%", "▽"))
        s.keys("f6")
        s.see("^Sort by")
        s.click(3, s.line_of("^STATE "))
        s.until("by a click in the menu", lambda s: sorted_by(s)[0] == "STATE")
        s.keys("2")
        s.until("another tab keeps its own", lambda s: sorted_by(s)[0] == "WAIT%")
        end(s)


@test(root=False)
def search_and_the_next_one():
    with screen() as s:
        s.keys("N", "Z", "/", "db")
        s.see("^Search: db")
        s.until("the first db", lambda s: "2000 db" in cursor_text(s))
        s.keys("f3")
        s.until("the next", lambda s: "2001 db-1" in cursor_text(s))
        s.keys("up")
        s.until("the one before", lambda s: "2000 db" in cursor_text(s))
        s.keys("zz")
        s.see("nothing has this in it")
        s.keys("backspace", "backspace", "enter")
        s.see("^F1Help")
        s.until("the cursor stays", lambda s: "2000 db" in cursor_text(s))
        s.keys("n", "f3")
        s.until("n and F3 go on", lambda s: "2002 db-2" in cursor_text(s))
        s.keys("n")
        s.until("round the end", lambda s: "2000 db" in cursor_text(s))
        s.keys("/", "lone", "esc")
        s.until("Esc goes back", lambda s: "2000 db" in cursor_text(s))
        s.keys("/", "日本")
        s.until("wide text", lambda s: "5000" in cursor_text(s))
        s.keys("esc")
        end(s)


@test(root=False)
def filter_keeps_through_refreshes():
    with screen() as s:
        s.keys("N", "\\", "DB|lone")
        s.until("four rows", lambda s: [r.split()[0] for r in body(s)] ==
                ["2000", "2001", "2002", "3000"])
        s.keys("enter")
        s.see("filter: DB|lone +[1-4]/4$")
        time.sleep(0.3)
        s.look()
        equal(len(body(s)), 4, "rows after some refreshes")
        s.keys("5")
        s.until("other tabs have none", lambda s: len(body(s)) == 7)
        s.keys("1", "\\", "\x15", "zzz", "enter")
        s.see("no row passes the filter")
        s.keys("esc")
        s.until("Esc shows all", lambda s: len(body(s)) == THREADS)
        s.keys("f4", "app", "esc")
        s.until("Esc while typing too", lambda s: len(body(s)) == THREADS)
        end(s)


@test(root=False)
def tags_survive_refreshes():
    def tagged(s):
        return {s.lines[y].split()[0] for y in range(header_line(s) + 1, 23)
                if s.lines[y] and s.attribute(9, y)[0] == "brown"}

    with screen() as s:
        s.keys("N", "down", "space", "space", "end")
        s.until("two tags", lambda s: tagged(s) == {"1001", "1002"})
        s.keys("P")
        s.until("in another order", lambda s: tagged(s) == {"1001", "1002"})
        s.keys("v")
        s.until("tagged rows alone", lambda s: len(body(s)) == 2)
        s.keys("v", "U")
        s.until("no tags", lambda s: len(body(s)) == THREADS and not tagged(s))
        s.keys("N", "home", "c")
        s.see("tagged 6 threads of process 1000")
        s.keys("v")
        s.until("a process's threads", lambda s: len(body(s)) == 6)
        s.keys("U")
        s.until("all again", lambda s: len(body(s)) == THREADS)
        s.keys("v")
        s.see("no row is tagged")
        end(s)


@test(root=False)
def tree_and_processes():
    with screen() as s:
        s.keys("N", "t")
        s.until("the tree", lambda s: [" ".join(r.split()[:3]) for r in body(s)[:4]] ==
                ["1000 app " + body(s)[0].split()[2], "1000 ├─ app", "1001 ├─ app-1",
                 "1002 ├─ app-2"])
        equal(sum("└─" in r for r in body(s)), 4, "processes of more than one thread")
        s.keys("home", "-")
        s.until("closed", lambda s: "+ app" in body(s)[0] and "2000 db" in body(s)[1])
        s.keys("+")
        s.until("open", lambda s: "├─ app" in body(s)[1])
        s.keys("down", "down", "-")
        s.until("closed from a thread", lambda s: "+ app" in cursor_text(s))
        s.keys("*")
        s.until("all open", lambda s: "├─ app" in body(s)[1])
        s.keys("*")
        s.until("all closed", lambda s: len(body(s)) == 7)
        s.keys("*", "\\", "db-", "enter")
        s.until("a filter keeps processes of what passes", lambda s:
                [r.split()[0] for r in body(s)] == ["2000", "2001", "2002"])
        s.keys("esc", "H")
        s.until("a row a process", lambda s: len(body(s)) == 7 and "by process" in s.all)
        cpu = float(column(s, "RUNQ%")[0])
        equal(cpu, 30.0, "RUNQ% of the six threads of app, 5 each")
        s.keys("H")
        s.until("threads", lambda s: "tree" in s.lines[2])
        s.keys("t")
        s.until("the list", lambda s: len(body(s)) == THREADS)
        s.keys("2", "t")
        s.see("this is for the tab of threads")
        end(s)


@test(root=False)
def the_tree_follows_a_row_too():
    with screen("--delay", "60000", columns=200) as s:
        s.keys("t", "F", "/", "app-2", "enter")
        s.see("^F1Help")
        s.until("what was searched for", lambda s: cursor_text(s).split()[0] == "1002")
        lines = set()
        for _ in range(12):
            step(s)
            s.until("the row", lambda s: cursor_text(s).split()[0] == "1002", 3)
            lines.add(cursor_line(s))
        check(len(lines) > 2, f"the row never moved: {lines}")
        end(s)


@test(root=False)
def help_is_wrapped():
    with screen(columns=60, rows=40) as s:
        s.keys("?")
        s.see("^  F9 Enter +open: a lock")
        y = s.line_of("F9 Enter")
        contains(" ".join(" ".join(s.lines[y:y + 4]).split()),
                 "a lock's waiters, wakers and stacks, a process's threads, a pipe's ends",
                 "text of a key")
        s.resize(100, 40)
        s.see("wakers and stacks, a process's threads, a pipe's ends$")
        s.keys("x")
        end(s)


@test(root=False)
def pause_holds_the_picture_and_keys_still_act():
    with screen() as s:
        s.keys("Z")
        s.see("PAUSED")
        s.look(0.2)
        before = s.lines
        time.sleep(0.4)
        s.look()
        equal(s.lines, before, "the screen while paused")
        s.keys("N")
        s.until("sorting", lambda s: sorted_by(s)[0] == "TID")
        s.keys("2", "enter")
        s.see("take_job")
        s.keys("5", "enter", "enter", "t", "Z")
        s.gone("PAUSED")
        s.keys("1")
        before = s.all
        s.until("figures go on", lambda s: s.all != before)
        end(s)


@test(root=False)
def what_is_changed_is_told_where_tabs_must_give_way():
    with screen(columns=60) as s:
        s.keys("Z", "\\", "app", "enter", "T")
        s.see(r"^ 1 Threads  2 3 4 5 +PAUSED  filter: app  totals  \d/6$")
        s.click(s.lines[2].index("3"), 2)
        s.see(r"^ 1 2 3 Pipes  4 5 +PAUSED  totals  1/2$")
        s.keys("T", "Z")
        s.see("^ 1 Threads  2 Locks")
        s.resize(40, 24)
        s.see("^ 1 2 3 Pipes  4 5")
        end(s)


@test(root=False)
def totals():
    with screen() as s:
        s.keys("2", "T")
        s.see("totals")
        s.until("other headings", lambda s: "WAITS" in header(s) and "WAITS/s" not in header(s))
        waits = int(column(s, "WAITS")[0])
        s.until("they grow", lambda s: int(column(s, "WAITS")[0]) > waits)
        s.keys("f2")
        s.until("and back", lambda s: "WAITS/s" in header(s))
        end(s)


@test(root=False)
def lock_to_its_waiters_wakers_and_stacks():
    with screen(rows=40) as s:
        s.keys("2", "enter")
        s.see("^Locks › lock queue_lock of app .1000.")
        for line in ("used as mutex, at 0x55aa00001000 in /usr/bin/app", "Waiters now .2.",
                     r"1003 app-3 +12.0 ms", "Wakers → waiters .2.",
                     r"app-1 .1001. +→ app-3 .1003. +30 +75.0 %", r"nobody seen +→ app-3",
                     "Stacks that waited .1.", "75.0 % of 40 samples, about 75 waits",
                     r"pthread_mutex_lock  app.c:80  \[app\]", r"take_job  app.c:42",
                     r"WAITS/s +1000 +\S+ +waits"):
            s.see(line)
        s.keys("down", "down", "down", "down", "enter")
        s.see("queue_lock of app .1000. › app-3 .1003.$")
        s.see(r"waits in futex for .*, at the lock queue_lock")
        s.keys("down", "enter")
        s.see("› app-3 .1003. › lock queue_lock")
        s.keys("esc")
        s.see("› app-3 .1003.$")
        s.keys("backspace")
        s.see("^Locks › lock queue_lock of app .1000.$")
        s.keys("right", "right")
        s.see("^  ed as mutex, at 0x55aa00001000")
        s.keys("left", "left", "left", "home", "enter")
        s.see("^  private lock, used")
        s.see("nothing to open")
        s.keys("esc")
        s.until("the list", lambda s: sorted_by(s)[0] == "WAIT%")
        s.keys("end", "f9")
        s.see("waiters, wakers and stacks nothing is known")
        end(s)


@test(root=False)
def process_to_its_threads_and_pipe_to_its_ends():
    with screen(rows=40) as s:
        s.keys("5", "N", "home", "enter")
        s.see("^Processes › threads of app .1000.")
        s.until("its threads", lambda s: {r.split()[0] for r in body(s)} ==
                {str(t) for t in range(1000, 1006)})
        s.keys("N", "home", "down", "enter")
        s.see("› app-1 .1001.$")
        s.see("process 1000, app, 6 threads")
        s.keys("esc", "esc", "3", "enter")
        s.see("^Pipes › pipe 9001")
        s.see(r"Writers .1.")
        s.see(r"1001 app-1 +5 +17.0 ms")
        s.see(r"Readers .2.")
        s.keys("down", "down", "down", "enter")
        s.see("^Pipes › pipe 9001 › app-1 .1001.")
        s.keys("2")
        s.gone("›")
        end(s)


@test(root=False)
def call_to_the_threads_in_it():
    with screen("--exact", rows=40) as s:
        s.keys("4", "P", "home", "enter")
        s.see("^System calls › futex")
        s.see("Threads that wait in it now .9.")
        s.see(r"7000 .*7.00 s")
        s.see(r"ERRORS/s +0")
        s.keys("end")
        s.until("the last thread", lambda s: "1000 app" in s.all)
        s.keys("f10")
        equal(s.wait(), 0, "exit code of F10")


@test(root=False)
def what_ends_while_it_is_looked_at():
    with screen("--churn", "--threads", "5") as s:
        s.keys("\\", "crowd", "enter", "enter")
        s.see("› crowd")
        s.see(r"crowd \(\d+\)  \(gone\)$")
        s.see("Figures")
        s.keys("esc")
        s.until("the list", lambda s: len(body(s)) == 5)
        end(s)


@test(root=False)
def the_cursor_stays_on_its_line_or_follows():
    with screen("--delay", "60000", columns=200) as s:
        s.keys("F")
        s.see("the cursor follows its row")
        s.keys("end")
        s.see(f"{THREADS}/{THREADS}$")
        tid, lines = cursor_text(s).split()[0], set()
        for _ in range(12):
            step(s)
            s.until(f"the row {tid}", lambda s: cursor_text(s).split()[0] == tid, 3)
            lines.add(cursor_line(s))
        check(len(lines) > 2, f"the row never moved: {lines}")
        # Just moved: it stays on its row, and the row on the line.
        s.keys("F", "home", "down", "down", "down")
        s.see(f"4/{THREADS}$")
        tid = cursor_text(s).split()[0]
        for _ in range(3):
            step(s)
            s.until(f"the row {tid}", lambda s: cursor_text(s).split()[0] == tid, 3)
        # Left alone it is a place in the list.
        time.sleep(5.2)
        step(s)
        line, tids = cursor_line(s), set()
        for _ in range(12):
            step(s)
            s.until(f"the line {line}", lambda s: cursor_line(s) == line, 3)
            tids.add(cursor_text(s).split()[0])
        check(len(tids) > 2, f"one row all the time: {tids}")
        end(s)


@test(root=False)
def help_is_all_keys_and_columns():
    with screen(rows=50, columns=100) as s:
        text = ""
        for key in ("?", "pgdn", "end"):
            s.keys(key)
            s.see("Rows" if key == "?" else "Columns of the tab Threads")
            text += s.all + "\n"
        for words in (r"^  F1 \? h +this help", r"^  F10 q +quit", r"^  Space +tag the row",
                      r"^  Z z p +pause", r"^  Ctrl-L ", r"^  1 to 5 "):
            check(re.search(words, text, re.M), f"help has no {words!r}:\n{text}")
        for head in all_heads()["Threads"]:
            check(re.search(rf"^  {re.escape(head.lstrip('-'))} ", text, re.M),
                  f"help has no column {head}:\n{text}")
        s.see("^lost 0")
        s.keys("x")
        s.until("any key closes it", lambda s: sorted_by(s)[0] == "CPU%")
        s.keys("f1", "f1")
        s.until("F1 too", lambda s: sorted_by(s)[0] == "CPU%")
        end(s)


@test(root=False)
def loss_and_own_cost_are_always_there():
    with screen("--lost") as s:
        for keys in (("2",), ("enter",), ("esc", "f6"), ("esc", "?"), ("x", "/", "a"),
                     ("esc", "5", "enter"), ("Z",)):
            s.keys(*keys)
            s.look(0.15)
            s.see("^lost 17.*own ")
        s.until("colour of a loss", lambda s: s.attribute(0, 1)[0] == "red")
        for columns, rows in ((120, 40), (40, 10), (24, 8)):
            s.resize(columns, rows)
            s.look(0.15)
            s.see("^lost 17.*own ")
        end(s)


@test(root=False)
def sizes():
    with screen(columns=120, rows=40) as s:
        for columns, rows in ((120, 40), (80, 24), (20, 5), (10, 3), (1, 1), (120, 40), (300, 100),
                              (24, 8), (80, 24)):
            s.resize(columns, rows)
            s.keys("down")
            if columns < 24:
                s.until(f"words at {columns}x{rows}", lambda s, c=columns: "too" in s.all or c < 3)
            elif columns >= 79:
                s.until(f"the keys at {columns}x{rows}", lambda s: s.lines[-1] == LABELS)
                s.until("threads", lambda s: "TID" in header(s))
            else:
                s.until(f"a list at {columns}x{rows}", lambda s: "TID" in header(s))
        s.keys("2", "enter", "end")
        s.see("HISTORY")
        s.resize(20, 5)
        s.see("too small")
        s.keys("q")
        equal(s.wait(), 0, "q in a small window")
        equal(s.restored(), [], "not restored")


@test(root=False)
def sizes_where_the_signal_is_blocked():
    with screen("--blocked") as s:
        for columns, rows in ((100, 30), (10, 3), (80, 24)):
            s.resize(columns, rows)
            s.until(f"{columns}x{rows}", lambda s, r=rows: "F1Help" in s.lines[-1]
                    if r > 8 else "too small" in s.all)
        end(s)


@test(root=False)
def delay():
    with screen() as s:
        for key, text in (("f8", "500 ms"), ("f8", "1.00 s"), ("f7", "500 ms"), ("f7", "200 ms")):
            s.keys(key)
            s.see(f"a refresh each {text}")
        for text, answer in (("0.3", "a refresh each 300 ms"), ("abc", "not a delay"),
                             ("1ms", "100ms at least"), ("2m", "a refresh each 120 s")):
            s.keys("s")
            s.see("^Delay:")
            s.keys(text, "enter")
            s.see(answer)
        s.keys("d", "5", "esc")
        s.see("^F1Help")
        end(s)


@test(root=False)
def mouse_on_rows():
    with screen() as s:
        s.keys("N", "Z")
        s.until("paused", lambda s: "PAUSED" in s.all and sorted_by(s)[0] == "TID")
        y = s.line_of("2001 db-1")
        s.click(20, y)
        s.until("the cursor", lambda s: cursor_line(s) == y)
        s.wheel(True)
        s.until("three lines up", lambda s: cursor_line(s) == y - 3)
        s.wheel(False)
        s.until("and down", lambda s: cursor_line(s) == y)
        s.click(20, y)
        s.see("db-1 .2001.$")
        s.keys("esc")
        s.click(LABELS.index("F1") + 3, 23)
        s.see("this help")
        end_help = s.lines[2]
        s.click(end_help.index("Locks"), 2)
        s.until("a click on a tab closes help", lambda s: sorted_by(s)[0] == "WAIT%")
        end(s)


@test(root=False)
def names_do_no_harm():
    with screen(columns=100) as s:
        s.keys("N")
        s.see(r"4000 \\e\]0;title\\x07")
        s.see("5001 日本語日本-")
        s.see("6000 école\u0302|6000 e\u0301cole\u0302|6000 écolê")
        s.see(r"7000 .*\\xff\\xfe<b>")
        x = s.lines[header_line(s)].index("STATE")
        equal({s.cells(header_line(s) + 1 + i)[x:x + 5].strip() for i in range(THREADS)},
              {"run", "queue", "wait"}, "states, in one column")
        # Where a letter of two columns would not fit whole, none is begun.
        s.keys("M")
        s.resize(24, 24)
        s.until("cut between letters", lambda s: "5000 日本語…" in s.all)
        s.resize(100, 24)
        s.keys("5", "N", "home", *["down"] * 3, "enter")
        s.see(r"^Processes › threads of \\e\]0;title\\x07 .4000.")
        check(b"\x1b]0;" not in s.seen, "a name reached the terminal as it is")
        end(s)


@test(root=False)
def plain_ascii():
    with screen(LC_ALL="C") as s:
        s.see(r"^all processes \| 16 threads")
        s.keys("t", "2", "enter")
        s.see("Wakers -> waiters")
        s.see("^Locks > lock queue_lock")
        s.keys("?", "x", "5", "3")
        s.see(r"EDGE")
        s.keys("q")
        equal(s.wait(), 0, "exit code")
        high = [b for b in s.seen if b >= 0x80]
        equal(high, [], "bytes beyond ASCII")


def colours(s):
    return {c.fg for row in s.screen.buffer.values() for c in row.values()} | \
        {c.bg for row in s.screen.buffer.values() for c in row.values()}


@test(root=False)
def colours_as_the_terminal_has_them():
    for term, env, want in (("xterm-256color", {}, True), ("linux", {}, True), ("xterm", {}, True),
                            ("screen", {}, True), ("vt100", {}, False),
                            ("xterm-256color", {"NO_COLOR": "1"}, False),
                            ("xterm-256color", {"NO_COLOR": ""}, True),
                            ("linux", {"NO_COLOR": "1"}, False)):
        with screen(term=term, **env) as s:
            s.keys("space")
            s.see("F10Quit")
            s.until(f"the cursor on {term}", lambda s: any(
                s.attribute(0, y)[1] == "cyan" or s.attribute(0, y)[3] for y in range(4, 20)))
            got = colours(s) - {"default"}
            equal(bool(got), want, f"{term} {env}: colours {got}")
            if term != "xterm-256color":
                check(all(not re.fullmatch("[0-9a-f]{6}", c) for c in got),
                      f"{term}: beyond 8 colours: {got}")
            if not want:
                reverse = any(s.attribute(0, y)[3] for y in range(3, 23))
                check(reverse, f"{term} {env}: no line is reversed")
            end(s)
    with screen("--color", "always", NO_COLOR="1") as s:
        s.until("colours by --color always", lambda s: colours(s) - {"default"})
        end(s)
    with screen("--color", "never") as s:
        s.see("F10Quit")
        equal(colours(s) - {"default"}, set(), "--color never")
        end(s)


@test(root=False)
def terminals_that_will_not_do():
    for term, words in (("dumb", "cannot move the cursor"), ("nonesuch", "is not known here"),
                        (None, "TERM is not set"), ("", "TERM is not set")):
        s = Screen([FEED], term=term)
        equal(s.wait(), 4, f"exit code with TERM={term}")
        contains(s.text, words, f"message with TERM={term}")
        contains(s.text, "tracer top -b", f"hint with TERM={term}")
        equal("TERM=xterm" in s.text, term == "nonesuch", f"another type with TERM={term}")
        s.close()
    r = run([FEED])
    equal(r.rc, 3, "exit code without a terminal")
    contains(r.err, "standard input is not a terminal", "message")
    contains(r.err, "tracer top -b", "hint")
    s = Screen([FEED], stdout=subprocess.DEVNULL)
    equal(s.wait(), 3, "exit code with stdout elsewhere")
    contains(s.text, "standard output is not a terminal", "message")
    s.close()


@test(root=False)
def the_terminal_is_given_back():
    for term in ("xterm-256color", "linux", "vt100"):
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV):
            for keys, there in (("2",), "queue_lock"), (("2", "/", "x"), "^Search: x"):
                with screen(term=term) as s:
                    s.keys(*keys)
                    s.see(there)
                    s.proc.send_signal(sig)
                    rc = s.wait()
                    equal(rc, 0 if sig == signal.SIGINT else -sig, f"{term}: end by {sig.name}")
                    equal(s.restored(), [], f"{term}, {sig.name}: not restored")
        with screen(term=term) as s:
            end(s)
            check("ended" in s.text, "what was printed after it")


@test(root=False)
def ctrl_c_and_a_closed_terminal():
    with screen() as s:
        s.send(b"\x03")
        equal(s.wait(), 0, "exit code after ctrl-C")
        equal(s.restored(), [], "not restored")
    # Also one that SIGHUP does not end.
    s = Screen(["sh", "-c", f"trap '' HUP; exec {FEED} --delay 60000"])
    s.see("^lost")
    s.close()
    wait_for("its end with its terminal", lambda: s.proc.poll() is not None, 5)
    equal(s.proc.returncode, 0, "exit code without a terminal")


@test(root=False)
def stopped_and_continued():
    s = Screen(["bash", "-mc", f"{FEED} --delay 50; echo stopped-$?; read x; fg"])
    s.see(r"^lost ")
    s.send(b"\x1a")
    s.see("stopped-148")
    equal(s.restored(), [], "not restored while stopped")
    s.send(b"\n")
    s.see("^lost ")
    s.keys("2", "enter")
    s.see("take_job")
    end(s)
    s.close()


@test(root=False)
def nothing_to_show():
    with screen("--empty") as s:
        for key in ("t", "enter", "space", "c", "H", "f6", "enter", "/", "x", "enter", "n", "end",
                    "F", "2", "enter", "3", "P", "4", "I", "5", "enter", "*", "v", "U"):
            s.keys(key)
        s.see("nothing has been seen yet")
        end(s)


@test(root=False)
def random_keys_and_sizes():
    play([FEED], 3)


@test(root=False)
def every_row_is_on_one_page():
    """Pages of a list with many ties, each of which is brought into order by itself."""
    for keys, column_of in ((("P",), "CPU%"), (("P", "I"), "CPU%"), (("N", "I"), "TID"),
                            (("W",), "BLOCK%")):
        with screen("--threads", "500", columns=120) as s:
            s.keys("Z", *keys, "end")
            n = THREADS + 500
            seen, figures, at = set(), [], n
            while True:
                s.see(f"PAUSED  {at}/{n}$")
                # The cursor is on the page's first line, but for the last page. The rest of
                # a page may come later than its head.
                known = max(n - at + 1, len(s.lines) - 5)
                s.until(f"{known} rows seen so far", lambda s, known=known, seen=seen:
                        len(set(column(s, "TID")) | seen) == known)
                page = list(zip(column(s, "TID"), column(s, column_of)))
                figures += [float(f) for tid, f in reversed(page) if tid not in seen]
                seen |= {tid for tid, _ in page}
                if at == 1:
                    break
                at = max(at - (len(s.lines) - 5), 1)
                s.keys("pgup")
            figures.reverse()
            equal(len(seen), n, f"{keys}: threads on all pages")
            falling = keys != ("P", "I")
            wrong = [(i, a, b) for i, (a, b) in enumerate(zip(figures, figures[1:]))
                     if (a < b if falling else a > b)]
            equal(wrong, [], f"{keys}: {column_of} out of order")
            end(s)


@test(root=False)
def many_rows():
    with screen("--threads", "20000", "--churn") as s:
        s.see("1/20016")
        s.keys("end")
        s.see("20016/20016")
        s.keys("t", "end", "H", "H", "t", "\\", "db", "enter")
        s.until("three of 20,000", lambda s: len(body(s)) == 3)
        end(s)


if __name__ == "__main__":
    main()
