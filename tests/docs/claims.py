#!/usr/bin/env python3
"""Compares the claims of four articles about bank conflicts (claims.json) with the bank model, and with docs/claims.md.

    tests/docs/claims.py BANKCHECK            exit code 1 if a number, a verdict or the page differs
    tests/docs/claims.py BANKCHECK --write    writes the page

A claim has points: `at` is the case, `model` the number of the bank model, `hand` the one that we computed from the
published rules, and `article` the one of the article, where it is not `hand`. They are Python expressions, and indexes
are in `t`, the thread. A point with `n` stands for one point for each of these numbers. A point whose `met` is false
does not meet the claim's condition.
"""

import csv
import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from math import gcd, inf
from pathlib import Path
from textwrap import fill
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/claims.md"
VERDICTS = {"": "not checkable", "holds": "holds", "condition": "holds {condition}", "fails": "**fails**"}
STEPS = (256, 128, 64, 32, 16, 8, 4, 2, 1)  # threads in each step of the prefix sum of 512 elements
MAX_NAMED, MAX_GROUPS = 2, 6  # points that a cell lists by name; numbers that it lists

HEAD = """<!-- Written by tests/docs/claims.py from tests/docs/claims.json; a test compares. Do not edit. -->
# Four articles about bank conflicts, checked

bankwise began with four articles about bank conflicts. This page lists the claims of which the [bank
model](bank_model.md) computes something else, in our words. `tests/docs/claims.json` has every claim with its case, the
model's number and the number that we computed by hand; a test compares all of them.

"""
LEGEND = """
| article | compared with | holds | holds under a condition | fails | not checkable |
| --- | --- | ---: | ---: | ---: | ---: |
"""
CONDITIONS = """
## Claims that hold only under a condition

The articles do not state the conditions; claims.json has the reasons. `tid` is the thread index.

"""


class Model:
    """Answers with the numbers of `bankcheck predict`: collects the accesses of one pass over all claims, predicts them
    in one run for each GPU, and knows their costs in the next pass."""

    def __init__(self, bankcheck: str):
        self.bankcheck = bankcheck
        self.costs: dict = {}  # by access; None: not yet predicted
        rows = json.loads(self.run("archs", "--json"))["architectures"]
        self.gpus = {gpu["name"]: gpu for gpu in rows}
        functions = ("passes", "conflicts", "ideal", "bank", "rule", "warp", "request_bits", "group", "words", "scan", "wavefronts")
        self.names = {name: getattr(self, name) for name in functions}
        self.names |= {"gcd": gcd, "at_least": lambda number: (number, inf), "index": index, "span": span}
        self.names |= {"STEPS": STEPS, "record_bytes": lambda alignment: -(-20 // alignment) * alignment}

    def run(self, *arguments: str, accesses: str = "") -> str:
        return subprocess.run([self.bankcheck, *arguments], input=accesses, capture_output=True, text=True, check=True).stdout

    def evaluate(self, expression: str, n: int) -> tuple:
        """The range of numbers that an expression stands for."""
        if isinstance(expression, str) and re.search(r"\bn\b", expression):
            expression = re.sub(r"\bn\b", str(n), expression)
        return as_range(eval(expression, dict(self.names)))

    def predict(self) -> None:
        for gpu in {access[0] for access in self.costs}:
            lanes = self.warp(gpu)
            accesses = [access for access in self.costs if access[0] == gpu]
            lines = ["id,op,width,mask," + ",".join(f"a{lane}" for lane in range(lanes))]
            for number, (_, operation, width, places) in enumerate(accesses):
                mask, bytes_of = sum(1 << lane for lane, _ in places), dict(places)
                offsets = ",".join(str(bytes_of.get(lane, 0)) for lane in range(lanes))
                lines.append(f"{number},{operation},{width},{mask:x},{offsets}")
            for row in csv.DictReader(self.run("predict", "--arch", gpu, "-", accesses="\n".join(lines) + "\n").splitlines()):
                self.costs[accesses[int(row.pop("id"))]] = {key: int(value) for key, value in row.items()}

    def cost(self, gpu: str, operation: str, width: int, places: tuple, key: str) -> tuple:
        cost = self.costs.setdefault((gpu, operation, width, places), None) or {}
        return cost.get(key, 0), cost.get(f"{key}_max", cost.get(key, 0))

    def of_lanes(self, key: str, gpus: str, width: int, text: str, lanes=None, op: str = "load") -> tuple:
        """Passes, conflicts or ideal of an access by an index in items of its width; on sm_13 of a half-warp."""
        ranges = []
        for gpu in gpus.split():
            active = (16 if gpu == "sm_13" else self.warp(gpu)) if lanes is None else lanes
            places = tuple((t, width * index(text, t)) for t in (range(active) if isinstance(active, int) else active))
            ranges.append(self.cost(gpu, op, width, places, key))
        return span(ranges)

    def passes(self, *access, **options) -> tuple:
        return self.of_lanes("passes", *access, **options)

    def conflicts(self, *access, **options) -> tuple:
        return self.of_lanes("conflicts", *access, **options)

    def ideal(self, *access) -> tuple:
        return self.of_lanes("ideal", *access)

    def bank(self, gpu: str, byte: int) -> int:
        """The bank of a byte: the only one in which it conflicts with a distant word."""
        far = 1 << 16
        costs = [self.cost(gpu, "load", 1, ((0, byte), (1, far + 4 * b)), "passes") for b in range(self.rule(gpu, 4)["banks"])]
        return costs.index((2, 2)) if costs.count((2, 2)) == 1 else -1

    def rule(self, gpus: str, width: int) -> dict:
        """The rule of loads; it must be the same on all GPUs."""
        rules = [r for gpu in gpus.split() for r in self.gpus[gpu]["rules"] if "load" in r["operations"] and width in r["widths"]]
        assert len({(r["banks"], r["bank_bytes"]) for r in rules}) == 1, gpus
        return rules[0]

    def warp(self, gpus: str) -> int:
        (width,) = {self.gpus[gpu]["warp_width"] for gpu in gpus.split()}
        return width

    def request_bits(self, gpu: str, width: int) -> int:
        found = re.search(r"in requests of (\d+) bytes", self.rule(gpu, width)["served"])
        return 8 * (int(found[1]) if found else width)

    def group(self, gpus: str, width: int, text: str, number: int) -> dict:
        """The passes of a lane group, and its lanes. It must be the same on all GPUs."""
        groups = []
        for gpu in gpus.split():
            formula = re.sub(r"\bt\b", "tid", text).replace("//", "/")
            arguments = ("predict", "--arch", gpu, "--width", str(width), "--index", formula, "--json")
            groups.append(json.loads(self.run(*arguments))["lane_groups"][number])
        assert groups.count(groups[0]) == len(groups), gpus
        ends = [list(map(int, part.split("-"))) for part in re.findall(r"\d+(?:-\d+)?", groups[0]["lanes"])]
        return {"passes": groups[0]["passes"], "lanes": [t for end in ends for t in range(end[0], end[-1] + 1)]}

    def words(self, gpus: str, width: int, text: str, number: int) -> tuple:
        """The first and the last word of a lane group, if the index grows with the thread."""
        lanes, item = self.group(gpus, width, text, number)["lanes"], width // 4
        return item * index(text, lanes[0]), item * index(text, lanes[-1]) + item - 1

    def wavefronts(self, threads: int) -> int:
        return -(-threads // self.warp("hd5870"))

    def scan(self, threads: int, which: int, place: str) -> int:
        """Conflicts of all wavefronts of a step of the prefix sum; `place` maps element x to its index."""
        total, warp = 0, self.warp("hd5870")
        for first in range(0, threads, warp):
            x = f"(256 // {threads} * (2 * (t + {first}) + {which}) - 1)"
            lanes = min(threads - first, warp)
            total += self.conflicts("hd5870", 4, re.sub(r"\bx\b", x, place), lanes)[0]
        return total


@cache
def code(text: str):
    return compile(text, text, "eval")


def index(text: str, thread: int) -> int:
    return eval(code(text), {"t": thread})


def as_range(number) -> tuple:
    return number if isinstance(number, tuple) else (number, number)


def span(numbers) -> tuple:
    ranges = [as_range(number) for number in numbers]
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def numbers_of(text: str) -> list:
    """"0 … 15", "2, 4 … 64", "64, 32, 16"."""
    if "…" not in text:
        return [int(part) for part in text.split(",")]
    *first, last = (int(part) for part in re.split(r", | … ", text))
    return list(range(first[0], last + 1, first[1] - first[0] if len(first) > 1 else 1))


def points_of(claim: dict, model: Model) -> list:
    points = []
    for point in claim.get("points", ()):
        for n in numbers_of(point.get("n", "0")):
            hand, computed = model.evaluate(point["hand"], n), model.evaluate(point["model"], n)
            article = model.evaluate(point.get("article", point["hand"]), n)
            agrees = article[0] <= computed[0] and computed[1] <= article[1]
            met = bool(model.evaluate(point.get("met", "True"), n)[0])
            at = point["at"].replace("{n}", str(n))
            points.append(SimpleNamespace(at=at, article=article, hand=hand, model=computed, agrees=agrees, met=met))
    return points


def contradiction(claim: dict, points: list) -> str:
    """The inconsistency in a claim: a number that is not the one by hand, or a verdict that does not follow."""
    verdict = claim.get("verdict", "")
    if not claim["subject"] or not claim["says"]:
        return "needs a subject, and what the article says"
    if not verdict:
        return "" if not points and claim.get("why") else "not checkable: needs a reason, and no numbers"
    if not points:
        return "no numbers"
    for point in points:
        if point.model != point.hand:
            return f"{point.at}: {text_of(point.model)} by the model, {text_of(point.hand)} by hand"
    if verdict == "condition":
        if not claim.get("condition") or len({point.met for point in points}) != 2:
            return "needs a condition, points that meet it and points that do not"
        return "" if all(p.agrees == p.met for p in points) else "the condition does not separate equal numbers from different ones"
    if not all(point.met for point in points):
        return "a point misses a condition that the verdict does not have"
    if verdict == "holds":
        return "" if all(point.agrees for point in points) else "a number differs, so the claim does not hold"
    return "" if not all(point.agrees for point in points) and claim.get("why") else "needs a number that differs, and a reason"


def text_of(number: tuple) -> str:
    low, high = (f"{end:.5g}" for end in number)
    return low if low == high else f"at least {low}" if high == "inf" else f"{low} to {high}"


def with_unit(unit: str, number: tuple, mark: str = "") -> str:
    """"2 steps", "1 step", "bank 0"."""
    if number == (1, 1):
        unit = re.sub(r"^(\{\} \S+)s(?= |$)", r"\1", unit)
    return unit.replace("{}", f"{mark}{text_of(number)}{mark}", 1)


def places(names: list) -> str:
    return ", ".join(names) if len(names) <= MAX_NAMED else f"{names[0]} … {names[-1]} ({len(names)} of them)"


def model_cell(claim: dict, points: list) -> str:
    unit = claim.get("unit", "")
    if not points:
        return "–"
    if not unit:  # each number with its own
        texts = [with_unit("{} " + p.at, p.model, "" if p.agrees else "**") for p in points]
        return "; ".join(text if p.agrees else f"{text}, not {text_of(p.article)}" for text, p in zip(texts, points))
    agreeing, differing = ([p for p in points if p.agrees == agrees] for agrees in (True, False))
    groups: dict = {}
    for point in agreeing:
        groups.setdefault(point.model, []).append(point.at)
    texts = [with_unit(unit, number) + (f" for {places(names)}" if names[0] else "") for number, names in groups.items()]
    if all(p.article == p.model for p in agreeing) and (claim.get("listed") or len(groups) > MAX_GROUPS):
        texts = ["same as the article for " + places([p.at for p in agreeing])]
    named = differing if len(differing) <= MAX_NAMED + 1 else differing[:MAX_NAMED]
    for p in named:
        texts.append(f"{with_unit(unit, p.model, '**')}, not {text_of(p.article)}" + (f", for {p.at}" if p.at else ""))
    if len(named) < len(differing):
        texts.append(f"and {len(differing) - len(named)} more")
    return "; ".join(texts)


def wrapped(text: str, indent: str = "") -> str:
    return fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def page(articles: list, points: dict) -> str:
    claims = [claim for article in articles for claim in article["claims"]]
    cells = {claim["key"]: model_cell(claim, points[claim["key"]]) for claim in claims}
    counts = {article["article"]: Counter(claim.get("verdict", "") for claim in article["claims"]) for article in articles}
    count = sum(counts.values(), Counter())
    text = HEAD + wrapped(
        f"Of {len(claims)} claims, {count['holds']} hold, {count['condition']} hold only under a condition that the article "
        f"does not state, {count['fails']} fail, and {count['']} cannot be checked with a bank model. These claims fail:"
    )
    text += "\n\n"
    for claim in claims:
        if claim.get("verdict") == "fails":
            said = f"The article: {claim['says']}. The model: {cells[claim['key']]}. {claim['why']}"
            text += wrapped(f"- **{claim['key'][:2]}**, {claim['subject']}. {said}", "  ") + "\n"
    text += LEGEND
    for article in articles:
        verdicts = " | ".join(str(counts[article["article"]][verdict]) for verdict in ("holds", "condition", "fails", ""))
        text += f"| {article['article']}: {article['title']} | {article['compared']} | {verdicts} |\n"
    text += CONDITIONS
    for claim in claims:
        if claim.get("verdict") == "condition":
            verdict = VERDICTS["condition"].format_map(claim)
            text += wrapped(f"- **{claim['key'][:2]}**, {claim['subject']}: it {verdict}.", "  ") + "\n"
    return text


def unnoticed(claims: dict, points: dict, model: Model) -> list:
    """The negative control: a falsified claim must contradict itself, and numbers compare as intervals."""
    one, six = (1, 1), (6, 6)
    falsified = (  # the changes to points by their position (None: no points), and to texts
        ("a1.stride4", {0: {"article": one, "agrees": False}}, {}),
        ("a1.stride4", {0: {"model": one}}, {}),
        ("a1.stride4", {}, {"verdict": "fails", "why": "x"}),
        ("a1.stride4", {}, {"verdict": ""}),
        ("a1.stride4", {}, {"subject": ""}),
        ("a1.stride4", {}, {"says": ""}),
        ("a1.stride4", None, {}),
        ("a4.stride10", {}, {"verdict": "holds"}),
        ("a4.stride10", {0: {"agrees": True}}, {}),
        ("a4.stride10", {0: {"hand": six}}, {}),
        ("a4.stride10", {0: {"model": six, "agrees": True}}, {}),
        ("a4.stride10", {}, {"why": ""}),
        ("a2.stride", {0: {"met": True}}, {}),
        ("a2.stride", {1: {"met": False}}, {}),
        ("a2.stride", {}, {"condition": ""}),
        ("a2.speed", {}, {"why": ""}),
    )
    faults = []
    for key, changes, text in falsified:
        changed = [] if changes is None else [SimpleNamespace(**vars(p) | changes.get(i, {})) for i, p in enumerate(points[key])]
        if contradiction(claims[key], points[key]) or not contradiction({**claims[key], **text}, changed):
            faults.append(f"{key} with {changes} {text} is not noticed")
    numbers = (  # of the article and of the model, whether they agree, and the article's as text
        ("at_least(2)", "16", True, "at least 2"),
        ("at_least(2)", "1", False, "at least 2"),
        ("(1, 2)", "2", True, "1 to 2"),
        ("1", "(1, 2)", False, "1"),  # the hardware may choose a number that the article excludes
        ("61.418", "61.418", True, "61.418"),
    )
    for article, computed, agrees, text in numbers:
        (point,) = points_of({"points": [{"at": "", "article": article, "hand": computed, "model": computed}]}, model)
        if (point.agrees, text_of(point.article)) != (agrees, text):
            faults.append(f"{article} next to {computed}: {point.agrees} {text_of(point.article)}, not {agrees} {text}")
    return faults


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    articles = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    claims = {claim["key"]: claim for article in articles for claim in article["claims"]}
    model = Model(sys.argv[1])
    for predicted in (False, True):  # the first pass collects the accesses
        points = {key: points_of(claim, model) for key, claim in claims.items()}
        text = page(articles, points)
        if not predicted:
            model.predict()
    if "--write" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    faults = [f"{key}: {fault}" for key, claim in claims.items() if (fault := contradiction(claim, points[key]))]
    faults += unnoticed(claims, points, model)
    if len(claims) != 79:
        faults.append(f"{len(claims)} claims, not 79")
    if PAGE.read_text(encoding="utf-8") != text:
        faults.append("docs/claims.md differs; please run tests/docs/claims.py BANKCHECK --write")
    print("\n".join(faults) or f"{len(claims)} claims, {sum(map(len, points.values()))} numbers")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
