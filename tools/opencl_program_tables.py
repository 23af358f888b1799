# SPDX-License-Identifier: MIT
"""Part of tables.py: OpenCL programs from elsewhere under `bankcheck opencl`, and lines of theirs counted by hand.

opencl_programs.py writes the numbers, docs/results/oclgrind/programs.csv and lines.csv.
"""

import csv
import re

from reports import RESULTS, markdown

WAYS = ("oclgrind", "oclgrind_O0", "same_device_O0", "bankcheck")  # to run a program: columns of programs.csv


def rows_of(device: str, name: str) -> list:
    with open(RESULTS / device / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


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
        for row in rows_of(device, "programs")
    ]
    head = ["program", "source", "finished", "kernels", "work-groups", "work-items", "lanes", "passes", "conflicts"]
    return markdown(head, body, 3)


def seconds_ratio(row: dict) -> float | None:
    """Nothing if the program fails without bankcheck's plugin."""
    cells = (row["bankcheck"].split(), row["same_device_O0"].split())
    return float(cells[0][0]) / float(cells[1][0]) if all(len(cell) == 1 for cell in cells) else None


def time_table(device: str) -> str:
    body = []
    for row in rows_of(device, "programs"):
        ratio = seconds_ratio(row)
        times = [re.sub(" (.*)", r" (\1)", row[way]) for way in WAYS]
        body.append([f"`{row['program']}`", *times, f"{ratio:.2f}" if ratio else "–"])
    head = ["program", "Oclgrind", "Oclgrind, `-O0`", "same device, `-O0`", "bankcheck", "ratio"]
    return markdown(head, body, 1)


def line_table(device: str) -> str:
    body = [
        [f"`{row['program']}`", f"`{row['kernel']}`", row["where"].lstrip(":"), row["operation"]]
        + [f"{row[key]}" for key in ("accesses", "passes", "found_accesses", "found_passes")]
        for row in rows_of(device, "lines")
    ]
    head = ["program", "kernel", "line", "access", "accesses, by hand", "passes, by hand", "accesses", "passes"]
    return markdown(head, body, 4)
