#!/usr/bin/env python3
"""Compares the largest speedups that bankwise predicts with measured ones, and prints CSV.

    bounds.py RESULTS [PAIRS] > bounds.csv

RESULTS is a folder that script/bench wrote: each step from one variant of a case study to the next, and each pair of
`study.json`, in each scope and API. PAIRS is a folder with programs before and after a change: pairs_times.json, a list
of `pair`, `program`, `kernel`, `kernel_after`, `kind`, `before_ns`, `after_ns`, `noise` and the launches of a run, and
what `bankcheck cuda --time --json` wrote about them, json/PROGRAM.before.json and json/PROGRAM.after.json (the former
alone if both kernels are in one program).

`kind` is what the change removes: `conflicts`, `sectors`, or `other`. The bound of a change of conflicts or sectors is
that of the report: without any of them. For others it is the time before ÷ the least time that any memory needs for the
kernel after the change. `busy` is that of shared memory before. `tightness` is bound ÷ speedup. A row without a bound
is left out, and stderr says so.
"""

import csv
import json
import math
import statistics
import sys
from itertools import pairwise, product
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported module next to this file
from counters import base_name
from reports import APIS, CASES, NOT_OURS, PAIRS, RESULTS, SCOPES, by_key, by_variant, csv_rows, markdown, report

HEAD = ["pair", "run", "kind", "before_ns", "after_ns", "noise", "busy", "bound", "speedup", "tightness"]
KINDS = ("conflicts", "sectors", "other")


def row_of(pair: str, run: str, kind: str, ns: tuple, noise: float, busy: float | None, bound: float | None) -> dict:
    bound = bound and max(1.0, bound)
    row = {"pair": pair, "run": run, "kind": kind, "before_ns": f"{ns[0]:.4g}", "after_ns": f"{ns[1]:.4g}"}
    row |= {"noise": f"{noise:.4f}", "busy": "" if busy is None else f"{busy:.4f}", "bound": "", "speedup": f"{ns[0] / ns[1]:.4f}"}
    return row if bound is None else row | {"bound": f"{bound:.4f}", "tightness": f"{bound * ns[1] / ns[0]:.4f}"}


def of_ladder(folder: Path, case: str, scope: str, api: str) -> list:
    found = report(folder.resolve(), f"{case}.{scope}")
    totals = {row["variant"]: row for row in found["totals"]}
    measured = {name: row for name, row in by_variant(found["results"], api).items() if row["time_median_s"] and name not in NOT_OURS}
    of_case = [pair for name, *pair in PAIRS if name == case and set(pair) <= set(measured)]
    steps = list(dict.fromkeys([*pairwise(measured), *map(tuple, of_case)]))
    rows = []
    for names in steps:
        before, after = (measured[name] for name in names)
        (old, new) = ([totals[name][key] for key in ("ideal_passes", "conflicts")] for name in names)
        only_layout = old[0] and old[0] == new[0] and old[1] > new[1]
        times = (before["time_median_s"] * 1e9, after["time_median_s"] * 1e9)
        least = after.get("least_time_s")
        bound = before.get("bound") if only_layout else least and before["time_median_s"] / least
        noise = math.hypot(before["noise"] or 0, after["noise"] or 0)
        kind = "conflicts" if only_layout else "other"
        pair = f"{case}: {names[0]} -> {names[1]}"
        rows.append(row_of(pair, f"{scope} {api}", kind, times, noise, before.get("shared_busy"), bound))
    return rows


def kernel_of(folder: Path, program: str, version: str, name: str) -> dict | None:
    """The report of a kernel on the GPU's architecture, if there is one with a time."""
    path = folder / "json" / f"{program}.{version}.json"
    kernels = json.loads(path.read_text())["kernels"] if path.exists() else []
    named = [kernel for kernel in kernels if base_name(kernel["kernel"]) == name and kernel.get("time")]
    timed = [kernel for kernel in named if kernel["architectures"][0].get("busy")]
    if len(timed) != 1:  # several instantiations: their times are not apart in pairs_times.json
        return None
    return {**timed[0]["architectures"][0], "launches": timed[0]["time"]["launches"]}


def least_ns(kernel: dict | None) -> dict:
    """By memory, what it needs for a launch."""
    return {pipe["pipe"]: pipe["least_ns"] / kernel["launches"] for pipe in kernel["busy"]["pipes"]} if kernel else {}


def of_programs(folder: Path) -> list:
    rows = []
    for pair in json.loads((folder / "pairs_times.json").read_text()):
        version = "after" if (folder / "json" / f"{pair['program']}.after.json").exists() else "before"
        before = kernel_of(folder, pair["program"], "before", pair["kernel"])
        after = kernel_of(folder, pair["program"], version, pair["kernel_after"])
        kind, key = {"conflicts": ("conflicts", "without_conflicts"), "global": ("sectors", "without_extra_sectors")}[pair["kind"]]
        bound = before and (before["bound"] or {}).get(key)
        if not bound:  # the kernel has nothing of the kind, so the change is another one
            kind, least = "other", max(least_ns(after).values(), default=0)
            bound = pair["before_ns"] / least if least else None
        shared = least_ns(before).get("shared memory")
        times = (pair["before_ns"], pair["after_ns"])
        rows.append(row_of(pair["pair"], "program", kind, times, pair["noise"], shared and shared / times[0], bound))
    return rows


# The tables of docs/bottlenecks.md, from a recorded bounds.csv.


def recorded(device: str) -> list:
    path = RESULTS / device / "bounds.csv"
    rows = csv_rows(path) if path.exists() else []
    numbers = HEAD[HEAD.index("before_ns") :]
    return [{key: float(value) if key in numbers and value else value for key, value in row.items()} for row in rows]


def is_above(row: dict) -> bool:
    """Whether a change gained more than the bound, beyond the noise of both times."""
    return row["speedup"] > row["bound"] * (1 + row["noise"])


def summary_table(device: str) -> str:
    """How many pairs there are of each kind, how many gained more than the bound, and how tight it is."""
    places = {True: "other programs", False: "case studies"}
    rows = by_key(recorded(device), lambda row: (places[row["run"] == "program"], row["kind"]))
    body = []
    for where, kind in sorted(rows, key=lambda key: (key[0], KINDS.index(key[1]))):
        found, tightness = rows[where, kind], [row["tightness"] for row in rows[where, kind]]
        numbers = (f"{number:.2f}" for number in (statistics.median(tightness), max(tightness)))
        body.append([where, kind, len(found), sum(map(is_above, found)), *numbers])
    return markdown(["pairs of", "the change removes", "pairs", "above the bound", "median of bound ÷ speedup", "largest"], body, 2)


def pair_table(device: str) -> str:
    """The case studies' pairs in CUDA: how busy shared memory is, the bound and the speedup, in each scope."""
    found, body = {(row["pair"], row["run"]): row for row in recorded(device)}, []
    for case, before, after in PAIRS:
        cells = []
        for scope in SCOPES:
            row = found.get((f"{case}: {before} -> {after}", f"{scope} cuda"))
            cells += [f"{100 * row['busy']:.0f} %", f"{row['bound']:.2f} ×", f"{row['speedup']:.2f} ×"] if row else ["–"] * 3
        body.append([f"{case} `{before}` → `{after}`", *cells])
    head = [f"{scope}: {name}" if name == "busy" else name for scope in SCOPES for name in ("busy", "at most", "measured")]
    return markdown(["pair", *head], body)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    folders = [Path(argument) for argument in sys.argv[1:]]
    rows = [row for run in product(CASES, SCOPES, APIS) for row in of_ladder(folders[0], *run)]
    rows += of_programs(folders[1]) if folders[1:] else []
    without = [row["pair"] + ", " + row["run"] for row in rows if not row["bound"]]
    out = csv.DictWriter(sys.stdout, HEAD, lineterminator="\n")
    out.writeheader()
    out.writerows(row for row in rows if row["bound"])
    if without:
        print(f"bounds.py: {len(without)} without a bound: {'; '.join(without)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
