#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the passes that `bankcheck cuda` computes with the hardware counters of the same program.

    cuda_counters.py BANKCHECK NAME [--repeat N] -- PROGRAM ARGUMENTS … >> bankcheck_cuda.csv

Prints one CSV row for each kernel and kind of access, without a heading (HEAD has it). The instantiations of a template
are one kernel; launches are added up. `ncu` of the CUDA Toolkit reads the counters, two in each run of the program, as
more of them are counted less exactly: those that follow instructions (smsp__sass_…) and those of the data pipe (l1tex__…).
With --repeat the counters are read N times, and the column `counter_runs` has all sums that differ. Exit codes: 0 ok,
2 usage, 3 a run failed.
"""

import argparse
import collections
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = ["program", "kernel", "kind", "launches", "passes", "conflicts", "counter", "counter_runs", "l1tex_passes", "l1tex_conflicts"]
SASS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
PIPE = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
KINDS = ("ld", "st", "atom", "ldsm", "stsm", "ldgsts")
PIPE_KINDS = ("ld", "st", "atom")
KIND_OF = {"load": "ld", "store": "st", "atomic": "atom", "atomic.inc": "atom", "atomic.cas": "atom"}
WIDTH = 80  # bankcheck cuda cuts longer names


def base_name(kernel: str) -> str:
    """A kernel's name without its namespace, template arguments, parameters and number, cut as bankcheck cuts it."""
    name = re.sub(r"\((anonymous|unnamed)[^)]*\)|<unnamed>|#\d+$", "", kernel)
    name = re.split(r"[<(\[]", name.removeprefix("void "), maxsplit=1)[0]
    name = name.strip().split("::")[-1].split(" ")[-1]
    return name if len(name) <= WIDTH else name[: WIDTH - 3] + "..."


def counters(metrics: list, command: list) -> tuple:
    """The launches and the sum of each metric, by kernel."""
    run = ["ncu", "--clock-control", "none", "--target-processes", "all", "--csv", "--page", "raw"]
    run += ["--print-units", "base", "--metrics", ",".join(metrics), *command]
    text = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(line for line in text.splitlines() if line.startswith('"')))[1:]  # the first has the units
    launches, sums = collections.Counter(), collections.defaultdict(collections.Counter)
    for row in rows:
        kernel = base_name(row["Kernel Name"])
        launches[kernel] += 1
        for metric in metrics:
            sums[kernel][metric] += round(float(row.get(metric, "0").replace(",", "") or 0))
    return launches, sums


def reported(bankcheck: str, command: list) -> dict:
    """By kernel and kind: passes and conflicts; `None`: some accesses have no cost."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        subprocess.run([bankcheck, "cuda", "--json", path, "--", *command], check=True, stdout=subprocess.DEVNULL)
        report = json.loads(path.read_text())
    found = collections.defaultdict(lambda: [0, 0])
    for kernel in report["kernels"]:
        for line in kernel["architectures"][0]["lines"]:
            kind = KIND_OF.get(line["operation"]) or ("ldsm" if line["operation"].startswith("ld") else "stsm")
            numbers = found[base_name(kernel["kernel"]), kind]
            for i, key in enumerate(("passes", "conflicts")):
                numbers[i] = None if line.get(key) is None or numbers[i] is None else numbers[i] + line[key]
    return found


def main() -> int:
    if "--" not in sys.argv:
        print(__doc__, file=sys.stderr)
        return 2
    at = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("bankcheck")
    parser.add_argument("name")
    parser.add_argument("--repeat", type=int, default=1)
    options, command = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    pairs = [KINDS[i : i + 2] for i in range(0, len(KINDS), 2)]
    try:
        ours = reported(options.bankcheck, command)
        runs = [[counters([SASS.format(kind) for kind in pair], command) for pair in pairs] for _ in range(options.repeat)]
        pipe = counters([text.format(kind) for text in (PIPE, CONFLICTS) for kind in PIPE_KINDS], command)[1]
    except (OSError, subprocess.CalledProcessError) as error:
        printed = "".join(getattr(error, stream, None) or "" for stream in ("stdout", "stderr"))
        print(f"{options.name}: {error} {printed[-300:]}", file=sys.stderr)
        return 3
    launches = runs[0][0][0]
    out = csv.writer(sys.stdout, lineterminator="\n")
    for kernel in sorted(set(launches) | {kernel for kernel, _ in ours}):
        for i, kind in enumerate(KINDS):
            seen = [run[i // 2][1][kernel][SASS.format(kind)] for run in runs]
            # bankcheck cuda counts copies (cp.async) without a cost.
            passes, conflicts = ["", ""] if kind == "ldgsts" else ours.get((kernel, kind), [0, 0])
            if not passes and passes is not None and not any(seen):
                continue
            row = [options.name, kernel, kind, launches[kernel], passes, conflicts, min(seen), " ".join(map(str, sorted(set(seen))))]
            row += [pipe[kernel][text.format(kind)] if kind in PIPE_KINDS else "" for text in (PIPE, CONFLICTS)]
            out.writerow(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
