# SPDX-License-Identifier: MIT
"""The arithmetic of the benchmarks: turns, pairs, spreads, and lines with their verdicts."""
import statistics
from collections import namedtuple


class Skip(Exception):
    """A row or a contender cannot run here; the text says why."""


class Spread:
    """Median, quartiles and least of a list of figures."""
    def __init__(self, values):
        v = sorted(values)
        self.n = len(v)
        self.median = statistics.median(v)
        self.q1, self.q3 = (v[int(q * (len(v) - 1) + 0.5)] for q in (0.25, 0.75))
        self.min = v[0]

    def json(self):
        return {"n": self.n, "median": round(self.median, 3), "q1": round(self.q1, 3),
                "q3": round(self.q3, 3), "min": round(self.min, 3)}


class Line:
    """One figure of a row: what, how much, its unit, the target and whether it is met.

    floor is the same figure of the empty programs in the same rounds. It does not
    change the verdict: it stands beside it."""
    def __init__(self, who, what, spread, unit, target=None, least=False, slack=0):
        self.who, self.what, self.spread, self.unit = who, what, spread, unit
        self.target, self.least, self.slack = target, least, slack
        self.floor = None

    def met(self):
        if self.target is None:
            return None
        m = self.spread.median
        return m >= self.target if self.least else m <= self.target + self.slack

    def verdict(self):
        met = self.met()
        if met is None:
            return ""
        if met:
            return "met"
        text = f"MISSED by {figure(abs(self.spread.median - self.target), self.unit)}"
        if self.floor is not None:
            text += f"; the floor itself {figure(self.floor, self.unit)}"
        return text

    def target_text(self):
        if self.target is None:
            return ""
        return ("≥ " if self.least else "≤ ") + figure(self.target, self.unit)

    def json(self):
        return {"contender": self.who, "what": self.what, "unit": self.unit,
                "target": self.target, "met": self.met(),
                "floor": None if self.floor is None else round(self.floor, 3),
                **self.spread.json()}


def figure(v, unit):
    if unit == "x":
        if 0 < abs(v) < 0.005:
            return f"{v:.1g} ×"	# a miss by 0.00 × would be none
        return f"{v:.2f} ×" if abs(v) < 20 else f"{v:.0f} ×"
    if unit == "share":
        return f"1/{1 / v:.0f}" if v > 0 else "0"
    digits = 0 if abs(v) >= 100 else 1 if abs(v) >= 10 else 2
    return f"{v:.{digits}f} {unit}"


# ---- turns ----------------------------------------------------------------

class Pair(namedtuple("Pair", "value before after")):
    """A contender's figure, and those of the bare runs right before and right after it."""
    __slots__ = ()

    @property
    def bare(self):
        return (self.before + self.after) / 2

    @property
    def added(self):
        return self.value - self.bare

    @property
    def ratio(self):
        return self.value / self.bare


def takes_part(i, n, few):
    """Whether one that runs in few of n rounds runs in round i: evenly spread."""
    return (i + 1) * few // n > i * few // n


def rotated(names, by):
    by %= max(1, len(names))
    return names[by:] + names[:by]


def take_turns(contenders, measure, rounds, seldom=(), few=3, lost=None):
    """Rounds of measure(who), each contender between two bare runs.

    A round is {contender: Pair, "bare": [figures]}. The order moves on by one from
    round to round. Those in seldom run in few of the rounds. One whose measure()
    raises Skip is told of by lost(who, reason) and drops out; a bare run's Skip is
    the caller's."""
    live, out = list(contenders), []
    for i in range(rounds):
        got = {"bare": [measure("bare")]}
        for who in rotated(live, i):
            if who in seldom and not takes_part(i, rounds, min(few, rounds)):
                continue
            try:
                value = measure(who)
            except Skip as e:
                live.remove(who)
                if lost:
                    lost(who, e)
                continue
            got["bare"].append(measure("bare"))
            got[who] = Pair(value, *got["bare"][-2:])
        out.append(got)
    return out


def have(rounds, *who):
    """Whether two rounds or more have all of them."""
    return sum(all(w in r for w in who) for r in rounds) >= 2


def bare(rounds):
    return Spread([v for r in rounds for v in r["bare"]])


def noise(rounds):
    """By how much two bare runs differ that have only one contender between them."""
    return Spread([abs(a - b) for r in rounds for a, b in zip(r["bare"], r["bare"][1:])]).median


def ratio(rounds, who):
    return Spread([r[who].ratio for r in rounds if who in r])


def added(rounds, who):
    return Spread([r[who].added for r in rounds if who in r])


def added_over(rounds, who, floor):
    """What who adds beyond what floor adds in the same round."""
    return Spread([r[who].added - r[floor].added for r in rounds if who in r and floor in r])


def ratio_over(rounds, who, floor):
    return Spread([r[who].ratio / r[floor].ratio for r in rounds if who in r and floor in r])


def added_share(rounds, who, of):
    return Spread([r[who].added / r[of].added for r in rounds if who in r and of in r])


# ---- lines of a row -------------------------------------------------------

def table_of(rounds, contenders):
    """Lines without a target for every contender that ran: bare's time and the ratios."""
    lines = [Line("bare", "time", bare(rounds), "ns")]
    for who in contenders:
        if have(rounds, who):
            lines.append(Line(who, "ratio", ratio(rounds, who), "x"))
            lines.append(Line(who, "added", added(rounds, who), "ns"))
    return lines


def over_lines(rounds, floors, suffix="", ratios=False):
    """Lines "over floor" for {contender: its floor}, paired by rounds."""
    lines = []
    for who, floor in floors.items():
        if have(rounds, who, floor):
            lines.append(Line(who, "over floor" + suffix, added_over(rounds, who, floor), "ns"))
            if ratios:
                lines.append(Line(who, "ratio over floor" + suffix,
                                  ratio_over(rounds, who, floor), "x"))
    return lines


def find(lines, who, what):
    return next((line for line in lines if (line.who, line.what) == (who, what)), None)


def aim(lines, who, what, target, slack=0, floor=None):
    """Sets the target of one line; the floor's own figure goes beside its verdict."""
    line, under = find(lines, who, what), find(lines, floor, what)
    if line:
        line.target, line.slack = target, slack
        line.floor = under.spread.median if under else None
