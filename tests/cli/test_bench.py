#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarks: their arithmetic, what they write, and that a killed one leaves nothing."""
import json
import os
import signal
import sys
from subprocess import DEVNULL

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (BUILD, ROOT, bpf_held, check, contains, descendants, equal, load_json, main,
                     run, scratch, start, test, wait_for, wait_gone)

sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))
import bench_figures as fig

BENCH = [sys.executable, "-B", os.path.join(ROOT, "tests", "bench", "bench.py"), "--build", BUILD]


class Script:
    """A measure() that plays figures and remembers who ran."""
    def __init__(self, cost, drift=0, broken=()):
        self.cost, self.drift, self.broken, self.ran = cost, drift, broken, []

    def __call__(self, who):
        if who in self.broken:
            raise fig.Skip("broken")
        self.ran.append(who)
        return self.cost[who] + self.drift * len(self.ran)


@test(root=False)
def bare_runs_stand_on_both_sides():
    m = Script({"bare": 100, "a": 150, "b": 200})
    fig.take_turns(["a", "b"], m, 1)
    equal(m.ran, ["bare", "a", "bare", "b", "bare"], "the order of a round")


@test(root=False)
def a_steady_drift_is_not_in_a_difference():
    rounds = fig.take_turns(["a", "b"], Script({"bare": 100, "a": 150, "b": 200}, drift=10), 4)
    for who, want in (("a", 50), ("b", 100)):
        s = fig.added(rounds, who)
        equal((s.min, s.median), (want, want), f"what {who} adds")
    equal(fig.noise(rounds), 20, "bare runs two steps apart")


@test(root=False)
def the_order_moves_on():
    m = Script({"bare": 1, "a": 1, "b": 1, "c": 1})
    fig.take_turns(["a", "b", "c"], m, 4)
    order = [w for w in m.ran if w != "bare"]
    equal([order[i:i + 3] for i in range(0, 12, 3)],
          [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]], "rounds")


@test(root=False)
def slow_ones_run_in_few_rounds():
    for n, few in ((9, 3), (7, 3), (3, 3), (11, 2), (4, 4)):
        part = [fig.takes_part(i, n, few) for i in range(n)]
        equal(sum(part), few, f"{few} of {n} rounds")
    equal([i for i in range(9) if fig.takes_part(i, 9, 3)], [2, 5, 8], "evenly spread")
    m = Script({"bare": 1, "a": 1, "slow": 1})
    rounds = fig.take_turns(["a", "slow"], m, 9, seldom=("slow",), few=3)
    equal((m.ran.count("a"), m.ran.count("slow")), (9, 3), "runs")
    equal(sum("slow" in r for r in rounds), 3, "rounds that have the slow one")
    m = Script({"bare": 1, "slow": 1})
    fig.take_turns(["slow"], m, 2, seldom=("slow",), few=3)
    equal(m.ran.count("slow"), 2, "runs when there are fewer rounds than few")


@test(root=False)
def one_that_cannot_run_drops_out():
    lost = []
    m = Script({"bare": 100, "a": 150}, broken=("b",))
    rounds = fig.take_turns(["b", "a"], m, 3, lost=lambda who, e: lost.append((who, str(e))))
    equal(lost, [("b", "broken")], "told of once")
    equal(m.ran, ["bare", "a", "bare"] * 3, "runs")
    check(fig.have(rounds, "a") and not fig.have(rounds, "b"), "who has figures")
    equal([line.who for line in fig.table_of(rounds, ["b", "a"])], ["bare", "a", "a"], "lines")


@test(root=False)
def over_the_floor_goes_by_rounds():
    # The medians are 60 and 50, one contender's and one floor's of different rounds.
    def one(a, floor):
        return {"bare": [100, 100], "a": fig.Pair(100 + a, 100, 100),
                "f": fig.Pair(100 + floor, 100, 100)}
    rounds = [one(60, 20), one(90, 50), one(50, 60), {"bare": [100], "f": fig.Pair(900, 1, 1)}]
    s = fig.added_over(rounds, "a", "f")
    equal((s.n, s.min, s.median), (3, -10, 40), "a over f")
    s = fig.ratio_over([{"a": fig.Pair(300, 100, 200), "f": fig.Pair(200, 90, 110)}], "a", "f")
    equal(s.median, 1.0, "300 to a bare 150, over 200 to a bare 100")
    equal([(n.who, n.what) for n in fig.over_lines(rounds, {"a": "f", "b": "f"}, ratios=True)],
          [("a", "over floor"), ("a", "ratio over floor")], "lines")
    equal(fig.over_lines(rounds[2:], {"a": "f"}), [], "one round is no figure")


@test(root=False)
def a_verdict_is_the_targets_alone():
    rounds = [{"bare": [100, 100], "a": fig.Pair(504, 100, 100), "f": fig.Pair(390, 100, 100)}] * 2
    lines = fig.table_of(rounds, ["a", "f"])
    fig.aim(lines, "a", "added", 240, floor="f")
    line = fig.find(lines, "a", "added")
    equal(line.verdict(), "MISSED by 164 ns; the floor itself 290 ns", "verdict")
    equal((line.json()["met"], line.json()["floor"]), (False, 290), "JSON")
    fig.aim(lines, "a", "added", 404, floor="f")
    equal(line.verdict(), "met", "at the target")
    fig.aim(lines, "a", "added", 400, slack=4)
    equal(line.verdict(), "met", "within the slack")
    fig.aim(lines, "a", "added", 400, slack=3, floor="nobody")
    equal(line.verdict(), "MISSED by 4.00 ns", "without a floor")
    fig.aim(lines, "a", "ratio", 3.2, floor="f")
    equal(fig.find(lines, "a", "ratio").verdict(), "MISSED by 1.84 ×; the floor itself 3.90 ×",
          "ratio")
    least = fig.Line("a", "events", fig.Spread([4, 5, 4.65]), "M/s", 5, least=True)
    equal((least.verdict(), least.target_text()), ("MISSED by 0.35 M/s", "≥ 5.00 M/s"), "at least")
    equal(fig.find(lines, "f", "added").verdict(), "", "no target, no verdict")


@test(root=False)
def spreads():
    s = fig.Spread([5, 1, 4, 2, 3])
    equal((s.n, s.min, s.q1, s.median, s.q3), (5, 1, 2, 3, 4), "of five")
    equal(fig.Spread([1, 2]).median, 1.5, "of two")
    for v, unit, want in ((1 / 209, "share", "1/209"), (0.0032, "x", "0.003 ×"),
                          (0.0, "x", "0.00 ×"), (1.25, "x", "1.25 ×"), (26.4, "x", "26 ×"),
                          (-50.94, "ns", "-50.9 ns")):
        equal(fig.figure(v, unit), want, f"{v} {unit}")


@test
def a_row_is_written_in_all_ways():
    with scratch() as d:
        table = os.path.join(d, "table.md")
        r = run([*BENCH, "--alone", "--rounds", "2", "--row", "getppid", "--json", "-",
                 "--markdown", table]).ok()
        doc = json.loads(r.out)
        row, = doc["rows"]
        got = {(f["contender"], f["what"]): f for f in row["figures"]}
        want = {(w, f) for w in ("exact", "wait", "floor exact", "floor wait")
                for f in ("ratio", "added")}
        want |= {("bare", "time"), ("exact", "over floor"), ("wait", "over floor")}
        check(not want - set(got), f"not in the figures: {sorted(want - set(got))}; {doc['notes']}")
        equal(got["exact", "added"]["floor"], got["floor exact", "added"]["median"], "floor")
        contains(r.err, "over floor", "text on stderr")
        with open(table, encoding="utf-8") as f:
            contains(f.read(), "| exact | over floor |", "the markdown table")
        path = os.path.join(d, "startup.json")
        run([*BENCH, "--alone", "--rounds", "2", "--row", "startup", "--json", path]).ok()
        what = {(f["contender"], f["what"]) for f in load_json(path)["rows"][0]["figures"]}
        check(("exact", "start to attached") in what, f"figures of startup: {sorted(what)}")


def held_by(pid, name):
    """The BPF objects of a descendant that runs name, once it has links."""
    for p in descendants(pid):
        try:
            exe = os.path.basename(os.readlink(f"/proc/{p}/exe"))
        except OSError:
            continue
        held = bpf_held(p) if exe == name else set()
        if any(kind == "link" for kind, _ in held):
            return held
    return None


@test
def killed_it_leaves_nothing_attached():
    for sig, row, name in ((signal.SIGKILL, "untraced", "tracer-live"),
                           (signal.SIGKILL, "untraced", "bench_floor"),
                           (signal.SIGKILL, "getppid", "bench_floor"),
                           (signal.SIGKILL, "startup", "tracer-live"),
                           (signal.SIGTERM, "untraced", "tracer-live"),
                           (signal.SIGTERM, "startup", "tracer-live")):
        p = start([*BENCH, "--alone", "--rounds", "50", "--row", row], stdout=DEVNULL)
        held = wait_for(f"{name} in {row}", lambda: held_by(p.pid, name))
        os.kill(p.pid, sig)
        wait_gone(held)
        p.wait(10)
        equal(p.returncode, -sig if sig == signal.SIGKILL else 128 + sig, "its code")


if __name__ == "__main__":
    main()
