#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the shared-memory passes and conflicts of one block of each kernel with hardware counters.

    counters.py BUILD > counters.csv

BUILD is a build directory with the samples and the tests' `more_kernels`, built with CUDA. `ncu` of the CUDA Toolkit
reads the counters. Each number is the minimum of RUNS runs, because other traffic of the multiprocessor sometimes adds
a few passes. Exit codes: 0 ok, 2 usage, 3 a run failed.
"""

import csv
import sys

sys.dont_write_bytecode = True  # of the imported module next to this file
import subprocess
from pathlib import Path

from ncu import kernel_name, profiled, why

COUNTERS = {
    f"{kind}_{what}": f"l1tex__data_{name}_mem_shared_op_{op}.sum"
    for kind, op in (("load", "ld"), ("store", "st"), ("atomic", "atom"))
    for what, name in (("passes", "pipe_lsu_wavefronts"), ("conflicts", "bank_conflicts_pipe_lsu"))
}
RUNS = 3
# Case, then height, width and names of the variants whose block processes an extent of this size. No names: all
# variants, with one element each.
JOBS = (
    ("reduction", 1, 256, "modulo,interleaved,sequential,naive,packed"),
    ("reduction", 1, 512, "first_add,shuffle,streaming,single_pass"),
    ("prefix_sum", 1, 512, "hillis_steele,naive,padded"),
    ("prefix_sum", 1, 2048, "padded_twice,warp_scan"),
    ("prefix_sum", 1, 8192, "look_back,ring"),
    ("transpose", 16, 16, "global,naive,padded"),
    ("transpose", 32, 32, "tile32,tile32_padded,swizzled"),
    ("transpose", 64, 64, "vectorized,streamed,output_order,prefetched,persisting,tma"),
    ("more_kernels", 1, 1, ""),
    ("access_patterns", 1, 2, ""),
)
FOLDERS = {"more_kernels": Path("tests/case_studies/more_kernels")}


def listed(build: Path, case: str) -> list:
    """The names of all variants."""
    text = subprocess.run([f"./{case}", "--list"], cwd=build, check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in text.splitlines()[1:]]  # the first line has the headings


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["case", "variant", "height", "width", "kernel", *COUNTERS])
    for case, height, width, variants in JOBS:
        build = Path(sys.argv[1]) / FOLDERS.get(case, "")
        extent = ["--height", str(height), "--width", str(width)] if height > 1 else ["--n", str(width)]
        try:
            names = variants.split(",") if variants else listed(build, case)
            runs = [profiled(build, case, [*COUNTERS.values()], ["--variant", ",".join(names), *extent]) for _ in range(RUNS)]
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{case}: {why(error)}", file=sys.stderr)
            return 3
        if any(len(kernels) != len(names) for kernels in runs):
            print(f"{case}: {len(runs[0])} kernels for {len(names)} variants; expected one each", file=sys.stderr)
            return 3
        for name, *rows in zip(names, *runs):
            counts = [min(int(row[metric].replace(",", "")) for row in rows) for metric in COUNTERS.values()]
            out.writerow([case, name, height, width, kernel_name(rows[0]), *counts])
    return 0


if __name__ == "__main__":
    sys.exit(main())
