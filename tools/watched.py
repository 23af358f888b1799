# SPDX-License-Identifier: MIT
"""Part of tables.py: the passes that `bankcheck cuda` computes, next to the hardware counters that follow instructions.

cuda_counters.py writes the numbers, docs/results/<device>/bankcheck_cuda.csv.
"""

import csv

from reports import ROOT, markdown

NAMES = {"ld": "loads", "st": "stores", "atom": "atomics", "ldsm": "ldmatrix", "stsm": "stmatrix"}


def numbers(device: str) -> list:
    """The rows of kinds of access that have a cost."""
    path = ROOT / "docs" / "results" / device / "bankcheck_cuda.csv"
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["kind"] in NAMES]


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
