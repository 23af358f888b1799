#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the case studies on this machine, with the settings of the documents, and writes the results of one device.

    script/bench FOLDER [--build BUILD] [--only CASE]

Writes to FOLDER, in docs/results or anywhere, one file per case study and scope, with all variants in both APIs, and
one file with the fastest variants at many sizes: CASE.sizes.json, whose `runs` are reports as the samples write them.
BUILD is a build directory with the samples, by default that of the preset cuda. A full run takes less than ten minutes
on an H200. A file is only replaced after its run has succeeded. Exit codes: 0 ok, 1 a run failed, 2 usage.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported module next to this file
from reports import PREFIX, ROOT

SCOPES = ("memory", "l2", "block")
WORDS = [1 << exponent for exponent in range(16, 31, 2)]
SHAPES = ((8192, 8192), (16384, 16384), (32768, 32768), (16384, 16416), (20000, 12345))  # height, width
# The variants that are measured at every size, in addition to the library and a copy.
FASTEST = {
    "reduction": ("single_pass", [["--n", str(words // 4)] for words in WORDS]),
    "prefix_sum": ("look_back,ring", [["--n", str(words)] for words in WORDS]),
    "transpose": ("output_order,prefetched,persisting,tma", [["--height", str(h), "--width", str(w)] for h, w in SHAPES]),
}
LONG_ENOUGH = ["--min-time", "0.1", "--timeout", "1"]
# Page faults take half of the host's time for large problems; huge pages reduce their number.
ENVIRONMENT = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


def report_of(build: Path, case: str, flags: list) -> dict:
    """The report of one run. Error: subprocess.CalledProcessError; the message is on stderr."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "report.json"
        command = [f"./{case}", *flags]
        print(" ".join(command), flush=True)
        subprocess.run([*command, "--json", path], cwd=build, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
        report = json.loads(path.read_text())
    report["command"] = command
    return report


def write(path: Path, content: dict) -> None:
    """Writes JSON with one line per key, and one line per element of a list of objects."""

    def value(of: object) -> str:
        if isinstance(of, list) and of and isinstance(of[0], dict):
            return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in of) + "\n]"
        return json.dumps(of, ensure_ascii=False)

    path.write_text("{\n" + ",\n".join(f"{json.dumps(key)}: {value(of)}" for key, of in content.items()) + "\n}\n")


def jobs() -> list:
    """The name of each file, its case study, and the flags of each run."""
    own = [case for case in PREFIX if (ROOT / case / "main.cpp").exists()]  # with their own main(), no scopes
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
                del row["samples_s"]  # to keep the files short: the summaries are sufficient
            write(options.folder / name, {"schema_version": 1, "case": case, "runs": reports})
        else:
            write(options.folder / name, reports[0])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
