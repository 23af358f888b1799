#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Collects hardware counters of single blocks into one table.

    counters.py VARIANTS=NCU.csv[,NCU.csv...]... > counters.csv

VARIANTS is CASE:HEIGHTxWIDTH:v1,v2,...: the variants in the order that they were launched in, one kernel each.
NCU.csv is what `ncu --csv --page raw` wrote; docs/results/README.md has the command. Of several files each number is the
least: other traffic of the multiprocessor now and then adds a few passes, and never takes any away.
"""
import csv
import sys

COUNTERS = {
    f"{kind}_{what}": f"l1tex__data_{name}_mem_shared_op_{op}.sum"
    for kind, op in (("load", "ld"), ("store", "st"), ("atomic", "atom"))
    for what, name in (("passes", "pipe_lsu_wavefronts"), ("conflicts", "bank_conflicts_pipe_lsu"))
}


def rows_of(path):
    with open(path, newline="") as file:
        lines = [line for line in file if line.startswith('"')]
    return list(csv.DictReader(lines))[1:]  # the first has the units


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["case", "variant", "height", "width", "kernel", *COUNTERS])
    for argument in sys.argv[1:]:
        what, paths = argument.split("=", 1)
        case, extent, variants = what.split(":")
        variants = variants.split(",")
        runs = [rows_of(path) for path in paths.split(",")]
        if any(len(rows) != len(variants) for rows in runs):
            sys.exit(f"{paths}: not as many kernels as variants, {len(variants)}")
        for variant, *rows in zip(variants, *runs):
            counts = [min(int(row[name].replace(",", "")) for row in rows) for name in COUNTERS.values()]
            out.writerow([case, variant, *extent.split("x"), rows[0]["Kernel Name"].split("(")[0], *counts])


main()
