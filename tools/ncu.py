# SPDX-License-Identifier: MIT
"""Shared by limits.py and counters.py: reads hardware counters of a sample's kernels with Nsight Compute."""

import csv
import math
import subprocess
from pathlib import Path

from reports import PREFIX


def profiled(build: Path, sample: str, metrics: list, flags: list) -> list:
    """The metrics of each bankwise kernel that `sample` launches with `flags`, one row per kernel, in launch order.

    Errors: OSError if there is no ncu or no sample; subprocess.CalledProcessError.
    """
    prefixes = "|".join([*PREFIX.values(), "more_"])
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)]
    command += ["-k", f"regex:^({prefixes})", f"./{sample}", "--profile", "--api", "cuda", *flags]
    run = subprocess.run(command, cwd=build, check=True, capture_output=True, text=True)
    lines = [line for line in run.stdout.splitlines() if line.startswith('"')]
    return list(csv.DictReader(lines))[1:]  # the first row has the units


def kernel_name(row: dict) -> str:
    return row["Kernel Name"].split("(")[0]


def blocks(row: dict) -> int:
    return math.prod(int(side) for side in row["Grid Size"].strip("()").split(","))


def why(error: Exception) -> str:
    """The error, with the end of the output of the program that failed."""
    printed = "".join(getattr(error, stream, None) or "" for stream in ("stdout", "stderr"))
    return f"{error} {printed[-300:]}"
