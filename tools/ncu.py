"""Shared by the tools: what `ncu` of the CUDA Toolkit counts."""

import csv
import subprocess
from pathlib import Path

from campaign import output
from reports import STUDIES, TEST_STUDIES

ALL_STUDIES = {**STUDIES, **TEST_STUDIES}


class Failed(Exception): ...


def ncu(metrics: list, flags: list, command: list, folder: Path | None = None) -> list:
    """The metrics of each launch, in order. Errors: OSError if there is no ncu; subprocess.CalledProcessError."""
    run = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    run += ["--metrics", ",".join(metrics), *flags, *command]
    lines = output(run, cwd=folder, stderr=subprocess.PIPE).splitlines()
    return list(csv.DictReader(line for line in lines if line.startswith('"')))[1:]  # the first has the units


def number(row: dict, metric: str) -> float:
    """The value of a metric; 0 for n/a, a metric that this GPU lacks."""
    try:
        return float((row.get(metric) or "").replace(",", ""))
    except ValueError:
        return 0.0


def of_sample(build: Path, sample: str, metrics: list, flags: list) -> list:
    """The metrics of each bankwise kernel that `sample` launches with `flags`."""
    prefixes = "|".join(study["kernel_prefix"] for study in ALL_STUDIES.values())
    command = [f"./{sample}", "--profile", "--api", "cuda", *flags]
    return ncu(metrics, ["-k", f"regex:^({prefixes})"], command, build)


def kernel_name(row: dict) -> str:
    return row["Kernel Name"].split("(")[0]


def listed(build: Path, case: str) -> list:
    """The names of all variants, without the line of the headings."""
    return [line.split()[0] for line in output([f"./{case}", "--list"], cwd=build, stderr=subprocess.PIPE).splitlines()[1:]]
