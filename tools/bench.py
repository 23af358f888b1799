#!/usr/bin/env python3
"""Measures the case studies on this machine, with the settings of the documents, and writes the results of one device.

    script/bench FOLDER [--build BUILD] [--only CASE]
    script/bench FOLDER --ranks N [--largest] [--build BUILD]

The first writes to FOLDER, in docs/results or anywhere, one file per case study and scope, with all variants in both
APIs, and one file with the fastest variants at many sizes: CASE.sizes.json, whose `runs` are reports as the samples
write them. A full run takes less than ten minutes on an H200.

With --ranks, mpirun starts each case study on N GPUs of this machine and on one, with large and small problems: the
settings of docs/several_gpus.md. The reports go to ranks.json; with --largest only that of a prefix sum of 2^35 words,
which takes 128 GiB on each of two GPUs, and a few minutes, to ranks_largest.json.

BUILD is a build directory with the samples, by default that of the preset cuda. A file is only replaced after its runs
have succeeded; those of ranks are written after each run. Exit codes: 0 ok, 1 a run failed, 2 usage.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # of the modules next to this file
from campaign import report_of
from reports import ROOT, STUDIES

SCOPES = ("memory", "l2", "block")
LONG_ENOUGH = ["--min-time", "0.1", "--timeout"]
# Page faults take half of the host's time for large problems; huge pages reduce their number.
ENVIRONMENT = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
GPU_WORDS = 1 << 30  # of a GPU in weak scaling
SIDE = 1 << 15  # the matrix of a GPU has SIDE x SIDE words


def report(build: Path, command: list, environment: dict | None = None) -> dict:
    """The report of one run. Error: subprocess.CalledProcessError; the message is on stderr."""
    command = [*map(str, command)]
    print(" ".join(command), flush=True)
    return {**report_of(command, cwd=build, env=environment), "command": command}


def write(path: Path, content: dict) -> None:
    """Writes JSON with one line per key, and one line per element of a list of objects."""

    def value(item: object) -> str:
        if isinstance(item, list) and item and isinstance(item[0], dict):
            return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in item) + "\n]"
        return json.dumps(item, ensure_ascii=False)

    path.write_text("{\n" + ",\n".join(f"{json.dumps(key)}: {value(item)}" for key, item in content.items()) + "\n}\n")


def jobs() -> list:
    """The name of each file, its case study, and the flags of each run."""
    own = [case for case in STUDIES if (ROOT / case / "main.cpp").exists()]  # with their own main(), no scopes
    cases = [case for case in STUDIES if case not in own]
    listed = [(f"{case}.{scope}.json", case, [["--scope", scope]]) for case in cases for scope in SCOPES]
    listed += [(f"{case}.block.json", case, [[]]) for case in own]
    for case, sizes in ((case, study["sizes"]) for case, study in STUDIES.items() if "sizes" in study):
        flags = ["--variant", ",".join([*sizes["variants"], "library"]), "--no-levels"]
        runs = [[*flags, "--api", api, *size.split()] for api in ("cuda", "opencl") for size in sizes["flags"]]
        listed.append((f"{case}.sizes.json", case, runs))
    return listed


def bench(options) -> bool:
    """Whether all runs succeeded."""
    succeeded = True
    for name, case, runs in jobs():
        if options.only and case not in options.only:
            continue
        try:
            reports = [report(options.build, [f"./{case}", *flags, *LONG_ENOUGH, 1], ENVIRONMENT) for flags in runs]
        except subprocess.CalledProcessError:
            succeeded = False
            continue
        if len(reports) > 1:
            for row in (row for run in reports for row in run["results"]):
                del row["samples_s"]  # to keep the files short: the summaries are sufficient
        content = reports[0] if len(reports) == 1 else {"schema_version": 1, "case": case, "runs": reports}
        write(options.folder / name, content)
    return succeeded


def rank_jobs(ranks: int, largest: bool) -> list:
    """Number of ranks and command of each run."""
    if largest:
        return [(ranks, ["prefix_sum", "--n", 1 << 35, "--variant", "ring"])]

    def triple(reduced: int, summed: int, height: int, width: int, *flags: str) -> list:
        sizes = {"reduction": ["--n", reduced], "prefix_sum": ["--n", summed], "transpose": ["--height", height, "--width", width]}
        return [[case, *size, *flags] for case, size in sizes.items()]

    weak = triple(ranks * GPU_WORDS // 4, ranks * GPU_WORDS, ranks * SIDE, SIDE)
    strong = triple(GPU_WORDS // 8, GPU_WORDS // 2, SIDE // 2, SIDE // 2)
    more = [["prefix_sum", "--n", ranks * words] for words in (1 << 22, 1 << 23, 1 << 24, 1 << 26)]
    more.append(["transpose", "--height", SIDE - 2, "--width", SIDE // 2 - 2])
    jobs = [(ranks, weak + triple(256, 1024, 64, 64, "--cache", "hot")), (1, strong), (ranks, strong + more)]
    return [(n, command) for n, commands in jobs for command in commands]


def bench_ranks(options) -> bool:
    runs, succeeded = [], True
    for ranks, (case, *flags) in rank_jobs(options.ranks, options.largest):
        # Without --bind-to none, all host threads of a rank that check the results share one core.
        command = ["mpirun", "--bind-to", "none", "-n", ranks, f"./{case}", "--api", "cuda", *flags, *LONG_ENOUGH, 0.5]
        try:
            run = report(options.build, command)
        except subprocess.CalledProcessError:
            succeeded = False
            continue
        for rank in run["ranks"]:
            del rank["host"]
        for row in run["results"]:
            row["samples"] = len(row.pop("samples_s"))  # to keep the file short: the summaries are sufficient
        runs.append(run)
        name = "ranks_largest.json" if options.largest else "ranks.json"
        write(options.folder / name, {"schema_version": 1, "runs": runs})
    return succeeded


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="script/bench")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build/cuda")
    parser.add_argument("--only", choices=[*STUDIES], action="append")
    parser.add_argument("--ranks", type=int, help="measure on so many GPUs, at least 2")
    parser.add_argument("--largest", action="store_true")
    options = parser.parse_args()
    if options.ranks is not None and options.ranks < 2:
        parser.error("--ranks must be at least 2")
    options.folder.mkdir(parents=True, exist_ok=True)
    return 0 if (bench_ranks if options.ranks else bench)(options) else 1


if __name__ == "__main__":
    sys.exit(main())
