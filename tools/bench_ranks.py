#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the case studies on several GPUs of this machine, with the settings of docs/several_gpus.md.

    tools/bench_ranks.py FILE --ranks N [--build BUILD] [--largest]

Starts each case study with mpirun: on N ranks and on one, large and small problems. Writes the reports to FILE (JSON)
as a list, `runs`. BUILD is a build directory with the case studies, by default that of the preset cuda. With --largest
it measures only a prefix sum of 2^35 words, which takes 128 GiB on each of two GPUs, and a few minutes. FILE is written
after each run. Exit codes: 0 ok, 1 a run failed, 2 usage.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

GPU_WORDS = 1 << 30  # of a GPU in weak scaling
SIDE = 1 << 15  # the matrix of a GPU has SIDE x SIDE words
SMALL = ["--cache", "hot"]
LONG_ENOUGH = ["--min-time", "0.1", "--timeout", "0.5"]


def jobs(ranks: int, largest: bool) -> list:
    """Number of ranks and command of each run."""
    if largest:
        return [(ranks, ["prefix_sum", "--n", 1 << 35, "--variant", "ring"])]
    found = [
        (ranks, ["reduction", "--n", ranks * GPU_WORDS // 4]),  # weak scaling
        (ranks, ["prefix_sum", "--n", ranks * GPU_WORDS]),
        (ranks, ["transpose", "--height", ranks * SIDE, "--width", SIDE]),
        (ranks, ["reduction", "--n", 256, *SMALL]),
        (ranks, ["prefix_sum", "--n", 1024, *SMALL]),
        (ranks, ["transpose", "--height", 64, "--width", 64, *SMALL]),
    ]
    for n in (1, ranks):  # strong scaling
        found += [
            (n, ["reduction", "--n", GPU_WORDS // 8]),
            (n, ["prefix_sum", "--n", GPU_WORDS // 2]),
            (n, ["transpose", "--height", SIDE // 2, "--width", SIDE // 2]),
        ]
    found += [(ranks, ["prefix_sum", "--n", ranks * words]) for words in (1 << 22, 1 << 23, 1 << 24, 1 << 26)]
    return [*found, (ranks, ["transpose", "--height", SIDE - 2, "--width", SIDE // 2 - 2])]


def report_of(build: Path, ranks: int, arguments: list) -> dict:
    """The report of one run. Error: subprocess.CalledProcessError; the message is on stderr."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "report.json"
        program, *flags = map(str, arguments)
        # Without --bind-to none, all host threads of a rank that check the results share one core.
        command = ["mpirun", "--bind-to", "none", "-n", str(ranks), f"./{program}", "--api", "cuda", *flags, *LONG_ENOUGH]
        print(" ".join(command), flush=True)
        subprocess.run([*command, "--json", path], cwd=build, check=True, stdout=subprocess.DEVNULL)
        report = json.loads(path.read_text())
    report["command"] = command
    for rank in report["ranks"]:
        del rank["host"]
    for row in report["results"]:
        row["samples"] = len(row.pop("samples_s"))  # to keep the file short: the summaries are sufficient
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--build", type=Path, default=Path(__file__).parents[1] / "build/cuda")
    parser.add_argument("--largest", action="store_true")
    options = parser.parse_args()
    if options.ranks < 2:
        parser.error("--ranks must be at least 2")
    runs, failed = [], False
    for ranks, arguments in jobs(options.ranks, options.largest):
        try:
            runs.append(report_of(options.build, ranks, arguments))
        except subprocess.CalledProcessError:
            failed = True
            continue
        rows = ",\n".join(json.dumps(run, ensure_ascii=False) for run in runs)
        temporary = options.file.with_suffix(".part")
        temporary.write_text('{"schema_version": 1,\n"runs": [\n' + rows + "\n]}\n")
        os.replace(temporary, options.file)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
