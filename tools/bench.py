#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the case studies as the documents show them, on this machine, and writes the results of one device.

    script/bench FOLDER [--build BUILD] [--only CASE]

FOLDER, in docs/results or anywhere, gets a file for each case study and scope, with all variants in both APIs, and one with
the fastest variants at many sizes: CASE.sizes.json, whose `runs` are reports as the samples write them. BUILD holds the
samples; the preset cuda's is the default. A run of everything takes less than ten minutes on an H200. A file is replaced when
its run has succeeded. Exit codes: 0 ok, 1 a run failed, 2 usage.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # of the module beside this file
from reports import PREFIX, ROOT

SCOPES = ("memory", "l2", "block")
WORDS = [1 << exponent for exponent in range(16, 31, 2)]
SHAPES = ((8192, 8192), (16384, 16384), (32768, 32768), (16384, 16416), (20000, 12345))  # height, width
# What is measured at every size, beside the library and a copy.
FASTEST = {
    "reduction": ("single_pass", [["--n", str(words // 4)] for words in WORDS]),
    "prefix_sum": ("look_back,ring", [["--n", str(words)] for words in WORDS]),
    "transpose": ("output_order,prefetched,persisting,tma", [["--height", str(h), "--width", str(w)] for h, w in SHAPES]),
}
LONG_ENOUGH = ["--min-time", "0.1", "--timeout", "1"]
# Hosts spend half of their time on the page faults of large problems; with large pages they are fewer.
ENVIRONMENT = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


def report_of(build: Path, case: str, flags: list) -> dict:
    """Error: subprocess.CalledProcessError; what went wrong is on stderr."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "report.json"
        command = [f"./{case}", *flags]
        print(" ".join(command), flush=True)
        subprocess.run([*command, "--json", path], cwd=build, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
        report = json.loads(path.read_text())
    report["command"] = command
    return report


def write(path: Path, content: dict) -> None:
    """A line for each key, and for each element of a list."""

    def value(of: object) -> str:
        if isinstance(of, list) and of and isinstance(of[0], dict):
            return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in of) + "\n]"
        return json.dumps(of, ensure_ascii=False)

    path.write_text("{\n" + ",\n".join(f"{json.dumps(key)}: {value(of)}" for key, of in content.items()) + "\n}\n")


def jobs() -> list:
    """Of each file its name, its case study, and the flags of each run."""
    own = [case for case in PREFIX if (ROOT / case / "main.cpp").exists()]  # programs of their own, without scopes
    cases = [case for case in PREFIX if case not in own]
    listed = [(f"{case}.{scope}.json", case, [["--scope", scope, *LONG_ENOUGH]]) for case in cases for scope in SCOPES]
    listed += [(f"{case}.block.json", case, [LONG_ENOUGH]) for case in own]
    for case, (variants, sizes) in FASTEST.items():
        flags = ["--variant", f"{variants},library", "--no-levels", *LONG_ENOUGH]
        runs = [[*flags, "--api", api, *size] for api in ("cuda", "opencl") for size in sizes]
        listed.append((f"{case}.sizes.json", case, runs))
    return listed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="script/bench")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", type=Path, default=Path(__file__).parents[1] / "build/cuda")
    parser.add_argument("--only", choices=[*PREFIX], action="append")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name, case, runs in jobs():
        if options.only and case not in options.only:
            continue
        try:
            reports = [report_of(options.build, case, flags) for flags in runs]
        except subprocess.CalledProcessError:
            failed = True
            continue
        if len(reports) > 1:
            for row in (row for report in reports for row in report["results"]):
                del row["samples_s"]  # the summaries are enough, and these files are long
            write(options.folder / name, {"schema_version": 1, "case": case, "runs": reports})
        else:
            write(options.folder / name, reports[0])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
