#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates the measured tables of the documents from the files in docs/results, so that no number is typed by hand.

A page marks the place of a table with two comments. The first names the device's directory, the table, and the API:

    <!-- table nvidia_h200 reduction cuda -->      every variant of a case study, one API, three scopes
    <!-- table nvidia_h200 pairs cuda -->          speedup of each fix, per case study
    <!-- table nvidia_h200 best cuda -->           fastest variant at the largest size, next to a copy and the library
    <!-- table nvidia_h200 strides both -->        passes and clocks of t * s, by stride, both APIs
    <!-- table nvidia_h200 loads both -->          the same for every other load; also stores, atomics, matrices
    <!-- table nvidia_h200 targets both -->        the project's targets and results
    <!-- table nvidia_h200 conflicts cuda -->      clocks saved per removed conflict, per case study
    <!-- table nvidia_h200 block cuda -->          what limits these kernels in shared memory, by hardware counters
    <!-- table nvidia_h200 memory cuda -->         what limits the fastest kernels in DRAM, by hardware counters
    <!-- table nvidia_h200 watched cuda -->        kernels whose passes in bankcheck cuda equal the hardware counters
    <!-- table nvidia_h200 different cuda -->      passes in bankcheck cuda that do not
    <!-- table nvidia_h200_x2 ranks_large cuda -->   several GPUs: large problems, and weak scaling
    <!-- table nvidia_h200_x2 ranks_small cuda -->   the smallest problems, next to NCCL's latency
    <!-- table nvidia_h200_x2 ranks_strong cuda -->  strong scaling
    <!-- table nvidia_h200_x2 ranks_sizes cuda -->   a prefix sum, size by size
    <!-- table nvidia_h200_x2 ranks_model cuda -->   expected times on more GPUs
    <!-- table oclgrind programs opencl -->           OpenCL programs from elsewhere under bankcheck opencl
    <!-- table oclgrind times opencl -->              their times, compared with Oclgrind
    <!-- table oclgrind lines opencl -->              lines of theirs whose passes were counted by hand
    <!-- end of table -->

The pages are README.md, the README.md of each case study, and the pages below docs. With --check nothing is written,
and the exit code is 1 if a page differs.
"""

import re
import sys

sys.dont_write_bytecode = True  # of the imported modules next to this file
from bounds import block_table, conflict_table, memory_table
from program_tables import different_table, line_table, program_table, time_table, watched_table
from ranks import large_table, model_table, sizes_table, small_table, strong_table
from reports import CASES, PAIRS, ROOT, SCOPES, fastest, markdown, report, rows, size_text, sizes
from targets import target_table

MARKED = re.compile(r"(<!-- table (\w+) (\w+) (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


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


def best_table(device: str, api: str) -> str:
    """The fastest variant of each case study at its largest size."""
    body = []
    for case in CASES:
        at = max(sizes(device, case, api), key=lambda row: row["copy"]["bytes"])
        best, library = fastest(at), at["library"]
        speedup = library["time_median_s"] / best["time_median_s"]
        body.append(
            [f"[{case}]({case}/README.md) `{best['variant']}`, {size_text(best, case)}{'' if 'height' in best else ' words'}"]
            + [cell(best, "bytes_per_s"), cell(best, "of_copy"), f"{speedup:.2f} × {library['library']}"]
        )
    return markdown(["variant and size", "GB/s", "of copy", "compared with the library"], body)


def is_stride(row: dict) -> bool:
    return re.fullmatch(r"stride\d+", row["variant"]) is not None


# The tables of access_patterns, with the rows that each contains.
ACCESSES = {
    "strides": is_stride,
    "loads": lambda row: row["access"]["operation"] == "load" and not is_stride(row),
    "stores": lambda row: row["access"]["operation"] == "store",
    "atomics": lambda row: row["access"]["operation"].startswith("atomic"),
    "matrices": lambda row: "matrix" in row["access"]["operation"],
}


def accesses(device: str, which: str) -> list:
    """The name and the row of each pattern, in order. A row has the clocks by API."""
    found: dict = {}
    for row in filter(ACCESSES[which], report(device, "access_patterns.block")["results"]):
        clocks = row["access"]["clocks"]
        found.setdefault(row["variant"], row["access"])[row["api"]] = "–" if clocks is None else f"{clocks:.2f}"
    return list(found.items())


def stride_table(device: str) -> str:
    """Two halves side by side, to use the width of the page."""
    found = accesses(device, "strides")
    half = len(found) // 2
    cells = [[name.removeprefix("stride"), str(a["passes"]), a["cuda"], a["opencl"]] for name, a in found]
    head = ["stride", "passes", "CUDA", "OpenCL"]
    return markdown(head * 2, [cells[i] + cells[i + half] for i in range(half)])


def pattern_table(device: str, which: str) -> str:
    body = [
        [f"`{name}`", a["pattern"].replace("|", "\\|"), f"{a['operation']} {a['width']}", str(a["passes"])]
        + [str(a["conflicts"]), f"{a['expected_clocks']:.0f}", a["cuda"], a["opencl"]]
        for name, a in accesses(device, which)
    ]
    return markdown(["pattern", "", "access", "passes", "conflicts", "expected", "CUDA", "OpenCL"], body, 3)


# The functions that generate a table from a device's directory and an API, by the name in the mark. Any other name is
# that of a case study.
TABLES = {
    "pairs": pair_table,
    "best": best_table,
    **{
        which: lambda device, api, which=which: pattern_table(device, which)
        for which in ACCESSES
        if which != "strides"
    },
    "strides": lambda device, api: stride_table(device),
    "targets": lambda device, api: target_table(device),
    "conflicts": lambda device, api: conflict_table(device),
    "block": lambda device, api: block_table(device),
    "memory": lambda device, api: memory_table(device),
    "watched": lambda device, api: watched_table(device),
    "different": lambda device, api: different_table(device),
    "ranks_large": lambda device, api: large_table(device),
    "ranks_small": lambda device, api: small_table(device),
    "ranks_strong": lambda device, api: strong_table(device),
    "ranks_sizes": lambda device, api: sizes_table(device),
    "ranks_model": lambda device, api: model_table(device),
    "programs": lambda device, api: program_table(device),
    "times": lambda device, api: time_table(device),
    "lines": lambda device, api: line_table(device),
}


def filled(text: str) -> str:
    def table(match: re.Match) -> str:
        begin, device, what, api, end = match.groups()
        return begin + (TABLES[what](device, api) if what in TABLES else case_table(device, what, api)) + end

    return MARKED.sub(table, text)


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    stale = []
    for path in [ROOT / "README.md", *sorted(ROOT.glob("*/README.md")), *sorted(ROOT.glob("docs/**/*.md"))]:
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
