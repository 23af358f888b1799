#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the measured tables of the READMEs from the JSON files in this folder, so that none is typed by hand.

A README marks the place of a table with two comments, which name the device's folder and what to show:

    <!-- table nvidia_h200 reduction cuda -->      every variant of a case study, one API, three scopes
    <!-- table nvidia_h200 pairs cuda -->          what each cure is worth, case study by case study
    <!-- table nvidia_h200 strides both -->        passes and clocks of t * s, by stride, both APIs
    <!-- table nvidia_h200 patterns both -->       of every other pattern
    <!-- table nvidia_h200 limit both -->         the fastest variants beside libraries and copies, over many sizes
    <!-- end of table -->

With --check nothing is written, and the exit code is 1 if a README differs.
"""
import json
import re
import sys
from pathlib import Path

RESULTS = Path(__file__).parent
ROOT = RESULTS.parent.parent
SCOPES = ("block", "l2", "memory")
# From the kernel with conflicts to the one with fewer or none.
PAIRS = (
    ("reduction", "scalar", "packed"),
    ("prefix_sum", "naive", "padded"),
    ("transpose", "naive", "padded"),
    ("transpose", "tile32", "tile32_padded"),
    ("transpose", "tile32", "swizzled"),
)
MARKED = re.compile(r"(<!-- table (\w+) (\w+) (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def rows(device: str, case: str, api: str) -> dict:
    """Results by scope and variant."""
    found: dict = {}
    for scope in SCOPES:
        report = json.loads((RESULTS / device / f"{case}.{scope}.json").read_text())
        found[scope] = {row["variant"]: row for row in report["results"] if row["api"] == api}
    return found


def time_text(seconds: float) -> str:
    scale, unit = next((s, u) for s, u in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")) if seconds >= s)
    value = seconds / scale
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"


def cell(row: dict, key: str) -> str:
    value = row.get(key)
    if value is None:
        return "–"
    if key == "time_median_s":
        return time_text(value)
    if key == "bytes_per_s":
        return f"{value * 1e-9:.{0 if value >= 1e11 else 1}f}"
    return f"{100 * value:.0f} %" if key == "of_copy" else f"{value:.2f} ×"


def markdown(head: list, body: list, left: int = 1) -> str:
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left)] + body
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def case_table(device: str, case: str, api: str) -> str:
    found = rows(device, case, api)
    head = ["variant", "block", "over naive", "L2, GB/s", "over naive", "memory, GB/s", "of copy", "over naive"]
    body = []
    for variant, row in found["memory"].items():
        name = f"`{variant}`" + (f" ({row['library']})" if row["library"] else "")
        block, l2 = (found[scope].get(variant, {}) for scope in ("block", "l2"))
        body.append(
            [name, cell(block, "time_median_s"), cell(block, "speedup_over_naive")]
            + [cell(l2, "bytes_per_s"), cell(l2, "speedup_over_naive")]
            + [cell(row, key) for key in ("bytes_per_s", "of_copy", "speedup_over_naive")]
        )
    return markdown(head, body)


def pair_table(device: str, api: str) -> str:
    body = []
    for case, before, after in PAIRS:
        found = rows(device, case, api)
        gains = [found[s][before]["time_median_s"] / found[s][after]["time_median_s"] for s in SCOPES]
        body.append([f"[{case}]({case}/README.md): `{before}` → `{after}`"] + [f"{gain:.2f} ×" for gain in gains])
    return markdown(["from → to", "inside the block", "from the L2 cache", "from memory"], body)


def accesses(device: str, strides: bool) -> list:
    """Name and row of each pattern, in order, with the clocks by API."""
    report = json.loads((RESULTS / device / "access_patterns.block.json").read_text())
    found: dict = {}
    for row in report["results"]:
        if bool(re.fullmatch(r"stride\d+", row["variant"])) == strides:
            found.setdefault(row["variant"], row["access"])[row["api"]] = f"{row['access']['clocks']:.2f}"
    return list(found.items())


def stride_table(device: str) -> str:
    """In two halves beside each other, so that the odd half of the page is not empty."""
    found = accesses(device, True)
    half = len(found) // 2
    cells = [[name.removeprefix("stride"), str(a["passes"]), a["cuda"], a["opencl"]] for name, a in found]
    head = ["stride", "passes", "CUDA", "OpenCL"]
    return markdown(head * 2, [cells[i] + cells[i + half] for i in range(half)])


def pattern_table(device: str) -> str:
    body = [
        [f"`{name}`", a["pattern"].replace("|", "\\|"), f"{a['operation']} {a['width']}"]
        + [str(a[key]) for key in ("passes", "conflicts", "expected_clocks")]
        + [a["cuda"], a["opencl"]]
        for name, a in ((name, a | {"expected_clocks": f"{a['expected_clocks']:.0f}"}) for name, a in accesses(device, False))
    ]
    return markdown(["pattern", "", "access", "passes", "conflicts", "expected", "CUDA", "OpenCL"], body, 3)


def sizes(device: str, case: str, api: str, words: range | None = None) -> list:
    """Results by variant, of each size."""
    runs = json.loads((RESULTS / device / f"{case}.sizes.json").read_text())["runs"]
    per_element = 4 if case == "reduction" else 1  # words
    found = [{row["variant"]: row for row in run["results"] if row["api"] == api} for run in runs]
    return [r for r in found if r and (words is None or r["copy"]["n"] * per_element in words)]


def limit_table(device: str) -> str:
    """Each row: what, where, and the worst that is seen in that range of sizes. A row of one API says so."""

    def worst(found: list, variants: tuple, value) -> str:
        """The fastest variant of each size, and of these values the least."""
        best = [min((r[v] for v in variants if r[v]["time_median_s"]), key=lambda row: row["time_median_s"]) for r in found]
        return min(value(row, r) for row, r in zip(best, found))

    def over_library(row: dict, r: dict) -> float:
        return r["library"]["time_median_s"] / row["time_median_s"]

    def of_copy(row: dict, r: dict) -> float:
        return row["of_copy"]

    small, large = range(2**16, 2**22 + 1), range(2**26, 2**30 + 1)
    ranges = (
        ("reduction", ("single_pass",), "2¹⁶…2²² words", small),
        ("reduction", ("single_pass",), "2²⁴…2³⁰ words", range(2**24, 2**30 + 1)),
        ("prefix_sum", ("look_back", "ring"), "2¹⁶…2²² words", small),
        ("prefix_sum", ("look_back", "ring"), "2²⁶…2³⁰ words", large),
    )
    body = []
    for case, variants, what, words in ranges:
        found = sizes(device, case, "cuda", words)
        names = ", ".join(f"`{v}`" for v in variants)
        share = f"{100 * worst(found, variants, of_copy):.0f} %" if words is not small else "–"
        body.append([f"[{case}]({case}/README.md)", names, what, f"{worst(found, variants, over_library):.2f} ×", share])
    for r in sizes(device, "transpose", "cuda"):
        variants = ("output_order", "tma")
        best = min((r[v] for v in variants), key=lambda row: row["time_median_s"])
        shape = f"{best['height']} × {best['width']}" if "height" in best else f"{best['n']} words"
        body.append(["[transpose](transpose/README.md)", f"`{best['variant']}`", shape, f"{over_library(best, r):.2f} ×", f"{100 * best['of_copy']:.0f} %"])
    table = markdown(["", "fastest of", "size", "over the library, at least", "of copy, at least"], body, 3)
    twins = []
    for case, variant in (("reduction", "single_pass"), ("prefix_sum", "look_back"), ("transpose", "output_order")):
        pairs = zip(sizes(device, case, "cuda"), sizes(device, case, "opencl"))
        ratios = [cuda[variant]["time_median_s"] / opencl[variant]["time_median_s"] for cuda, opencl in pairs]
        twins.append([case, f"`{variant}`", f"{min(ratios):.2f} to {max(ratios):.2f} ×"])
    return table + "\n" + markdown(["", "the same kernel", "OpenCL over CUDA, by size"], twins, 2)


def filled(text: str) -> str:
    def table(match: re.Match) -> str:
        begin, device, what, api, end = match.groups()
        special = {
            "pairs": lambda: pair_table(device, api),
            "strides": lambda: stride_table(device),
            "patterns": lambda: pattern_table(device),
            "limit": lambda: limit_table(device),
        }
        return begin + special.get(what, lambda: case_table(device, what, api))() + end

    return MARKED.sub(table, text)


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    stale = []
    for path in [ROOT / "README.md", *sorted(ROOT.glob("*/README.md"))]:
        text = path.read_text()
        if filled(text) != text:
            stale.append(path.relative_to(ROOT))
            if not check:
                path.write_text(filled(text))
    for path in stale:
        print(f"{path}: " + ("differs from the results" if check else "written"))
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
