"""Shared by the tools: reads docs/results, formats numbers, and writes or checks documents."""

import csv
import json
import math
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/results"


def write_or_check(texts: dict) -> int:
    """Writes files of the repository; with the flag --check only says which ones differ, with exit code 1."""
    check, program = "--check" in sys.argv, Path(sys.argv[0]).name
    stale = [path for path, text in texts.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if not check:
            path.write_text(texts[path], encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: " + (f"differs; please run tools/{program}" if check else "written"))
    return int(check and bool(stale))


def studies(listed: str) -> dict:
    """The study.json of each case study in a list, by name."""
    folders = [line for line in (ROOT / listed).read_text().splitlines() if not line.startswith("#")]
    return {Path(folder).name: json.loads((ROOT / folder / "study.json").read_text()) for folder in folders}


STUDIES = studies("cmake/case_studies.txt")
TEST_STUDIES = studies("tests/case_studies.txt")
CASES = tuple(case for case in STUDIES if any(RESULTS.glob(f"*/{case}.memory.json")))  # those with results
SCOPES = ("block", "l2", "memory")
APIS = {"cuda": "CUDA", "opencl": "OpenCL"}
NOT_OURS = ("copy", "library")
WAYS = ("oclgrind", "oclgrind_O0", "same_device_O0", "bankcheck")  # to run an OpenCL program: columns of programs.csv
# Case, the kernel with conflicts, and the kernel with fewer or none.
PAIRS = tuple((case, *pair) for case, study in STUDIES.items() for pair in study.get("pairs", []))


def remains(case: str, variant: str, api: str = "cuda") -> bool:
    """Whether the repository still has the variant in this API. Results keep the rows of those that are gone."""
    ending = "cl" if api == "opencl" else "cu*"
    return case not in CASES or variant in NOT_OURS or any((ROOT / case).glob(f"**/{variant}.{ending}"))


def report(device: str, name: str) -> dict:
    """The results in a file, of kernels that the repository still has."""
    found = json.loads((RESULTS / device / f"{name}.json").read_text())
    for run in [found, *found.get("runs", [])]:
        if "results" in run:
            run["results"] = [row for row in run["results"] if remains(name.split(".")[0], row["variant"], row.get("api", "cuda"))]
    return found


def by_variant(results: list, api: str) -> dict:
    return {row["variant"]: row for row in results if row["api"] == api}


def rows(device: str, case: str, api: str) -> dict:
    """Results by scope and variant."""
    return {scope: by_variant(report(device, f"{case}.{scope}")["results"], api) for scope in SCOPES}


def sizes(device: str, case: str, api: str) -> list:
    """Results by variant for each size, in the order of the sizes."""
    found = [by_variant(run["results"], api) for run in report(device, f"{case}.sizes")["runs"]]
    return [row for row in found if row]


def fastest(at_a_size: dict) -> dict:
    """The row of the fastest bankwise variant."""
    ours = [row for name, row in at_a_size.items() if name not in NOT_OURS and row["time_median_s"]]
    return min(ours, key=lambda row: row["time_median_s"])


def words(row: dict, case: str) -> int:
    """The number of words of the input."""
    return row["n"] * STUDIES[case].get("words_per_element", 1)


@cache
def traffic(case: str) -> int:
    """Bytes read and written per element, from any device's report."""
    path = min(RESULTS.glob(f"*/{case}.memory.json"))
    row = next(row for row in json.loads(path.read_text())["results"] if row["variant"] not in NOT_OURS)
    return round(row["bytes"] / row["n"])


def size_text(row: dict, case: str) -> str:
    if "height" in row:
        return f"{row['height']} × {row['width']}"
    exponent = math.log2(words(row, case))
    return power(int(exponent)) if exponent.is_integer() else f"{words(row, case)} words"


def power(exponent: int) -> str:
    return "2" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def grouped(number: str) -> str:
    """A count from a CSV file, which may be empty."""
    return f"{int(number):,}" if number else "–"


def csv_rows(path: Path) -> list:
    """One dictionary per row."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, head: list, rows: list) -> None:
    """Rows are dictionaries; what one lacks is empty."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, head, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def block_counters(device: str) -> dict:
    """The hardware counters of one block, by case and variant."""
    rows = csv_rows(RESULTS / device / "counters.csv")
    return {(row["case"], row["variant"]): {k: int(v) for k, v in row.items() if v.isdigit()} for row in rows}


def limits(device: str) -> list:
    """The rows of limits.csv, one dictionary per kernel."""
    return [row for row in csv_rows(RESULTS / device / "limits.csv") if remains(row["case"], row["variant"])]


def model_totals(device: str, case: str, architecture: str = "sm_90") -> dict:
    """The totals of the bank model for one block, by variant."""
    return {row["variant"]: row for row in report(device, f"{case}.block")["totals"] if row["architecture"] == architecture}


def software(device: str) -> list:
    """The devices and drivers of the reports."""
    devices = [d for case in CASES for d in report(device, f"{case}.memory")["devices"]]
    names = [d["name"] for d in devices]
    opencl, cuda = ([d["driver"] for d in devices if d["api"] == api] for api in ("opencl", "cuda"))
    return list(dict.fromkeys([*names, *(f"driver {version}" for version in opencl), *cuda]))


def cpu_shaped() -> dict:
    """The results of tests/bench_cpu_shaped by device directory: bytes per second by job, size (as text, and in bytes)
    and implementation."""
    found: dict = {}
    for path in sorted(RESULTS.glob("*/cpu_shaped.json")):
        jobs: dict = {}
        for row in json.loads(path.read_text())["benchmarks"]:
            if row.get("run_type") != "iteration" or row.get("error_occurred"):
                continue
            name, *size = row["run_name"].split("/")  # reduction_openmp_vectors/65536/real_time
            case = next(case for case in CASES if name.startswith(case))
            sides = [int(part) for part in size if part.isdigit()]
            at = " × ".join(map(str, sides)) if len(sides) > 1 else f"{power(sides[0].bit_length() - 1)} elements"
            job = jobs.setdefault(case, {}).setdefault((at, math.prod(sides) * traffic(case)), {})
            job.setdefault(name.removeprefix(case + "_"), []).append(row["bytes_per_second"])
        found[path.parent.name] = jobs
    return found


def by_key(rows, key) -> dict:
    """The rows that have the same key, by this key."""
    found: dict = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def summed(counts) -> dict:
    """Of pairs of a name and some numbers: by name, the sum of each of its numbers."""
    names = by_key(counts, lambda pair: pair[0])
    return {name: [sum(column) for column in zip(*(numbers for _, numbers in pairs))] for name, pairs in names.items()}


def markdown(head: list, body: list, left: int = 1) -> str:
    """A table whose first columns are text, and the others numbers."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left)] + body
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)
