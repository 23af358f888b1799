# SPDX-License-Identifier: MIT
"""Part of tables.py: programs from elsewhere under bankcheck.

`counters.py program` writes the numbers of `bankcheck cuda`, docs/results/<device>/bankcheck_cuda.csv, next to the
hardware counters that follow instructions. `opencl_programs.py` writes those of `bankcheck opencl`,
docs/results/oclgrind/programs.csv and lines.csv.
"""

import re

from reports import RESULTS, csv_rows, markdown

NAMES = {"ld": "loads", "st": "stores", "atom": "atomics", "ldsm": "ldmatrix", "stsm": "stmatrix"}
WAYS = ("oclgrind", "oclgrind_O0", "same_device_O0", "bankcheck")  # to run a program: columns of programs.csv


def numbers(device: str) -> list:
    """The rows of kinds of access that have a cost."""
    return [row for row in csv_rows(RESULTS / device / "bankcheck_cuda.csv") if row["kind"] in NAMES]


def is_equal(row: dict) -> bool:
    """A counter may differ from run to run; then one of its runs must agree."""
    return row["passes"] in (row["counter"], *row["counter_runs"].split())


def watched_table(device: str) -> str:
    """By program: kernels with accesses to shared memory, and how many of them are equal in all numbers."""
    kernels = {}
    for row in numbers(device):
        equal = kernels.setdefault(row["program"], {})
        equal[row["kernel"]] = equal.get(row["kernel"], True) and is_equal(row)
    body = [[name, str(len(of)), str(sum(of.values()))] for name, of in kernels.items()]
    body.append(["all", *(str(sum(int(row[i]) for row in body)) for i in (1, 2))])
    return markdown(["program", "kernels", "equal"], body, 1)


def different_table(device: str) -> str:
    """Each number that is not equal."""
    body = [
        [row["program"], f"`{row['kernel']}`", NAMES[row["kind"]]]
        + [f"{int(row[key]):,}" if row[key] else "–" for key in ("passes", "counter", "l1tex_passes")]
        for row in numbers(device)
        if not is_equal(row)
    ]
    return markdown(["program", "kernel", "access", "computed", "counted", "`l1tex__`"], body, 3)


def sizes_text(sizes: str) -> str:
    sides = sizes.split()
    return "–" if not sides else sides[0] if len(sides) == 1 else f"{sides[0]}–{sides[-1]}"


def grouped(number: str) -> str:
    return f"{int(number):,}" if number else "–"


def program_table(device: str) -> str:
    body = [
        [f"`{row['program']}`", f"{row['source']}, `{row['version']}`"]
        + ["yes" if row["exit"] == "0" else f"{row['exit']}: {row['reason']}"]
        + [row["kernels"] or "–", grouped(row["work_groups"]), sizes_text(row["group_sizes"])]
        + [row["lanes"] or "–", grouped(row["passes"]), grouped(row["conflicts"])]
        for row in csv_rows(RESULTS / device / "programs.csv")
    ]
    head = ["program", "source", "finished", "kernels", "work-groups", "work-items", "lanes", "passes", "conflicts"]
    return markdown(head, body, 3)


def seconds_ratio(row: dict) -> float | None:
    """Nothing if the program fails without bankcheck's plugin."""
    cells = (row["bankcheck"].split(), row["same_device_O0"].split())
    return float(cells[0][0]) / float(cells[1][0]) if all(len(cell) == 1 for cell in cells) else None


def time_table(device: str) -> str:
    body = []
    for row in csv_rows(RESULTS / device / "programs.csv"):
        ratio = seconds_ratio(row)
        times = [re.sub(" (.*)", r" (\1)", row[way]) for way in WAYS]
        body.append([f"`{row['program']}`", *times, f"{ratio:.2f}" if ratio else "–"])
    head = ["program", "Oclgrind", "Oclgrind, `-O0`", "same device, `-O0`", "bankcheck", "ratio"]
    return markdown(head, body, 1)


def line_table(device: str) -> str:
    body = [
        [f"`{row['program']}`", f"`{row['kernel']}`", row["where"].lstrip(":"), row["operation"]]
        + [f"{row[key]}" for key in ("accesses", "passes", "found_accesses", "found_passes")]
        for row in csv_rows(RESULTS / device / "lines.csv")
    ]
    head = ["program", "kernel", "line", "access", "accesses, by hand", "passes, by hand", "accesses", "passes"]
    return markdown(head, body, 4)
