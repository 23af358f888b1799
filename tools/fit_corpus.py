#!/usr/bin/env python3
"""Runs `bankcheck cuda --measure` on public CUDA programs with bank conflicts, and writes a table as CSV.

  tools/fit_corpus.py [options] --results FILE --csv FILE FOLDER...

Each folder is a checkout of a repository of fit_corpus.json and has its name; the script fetches nothing. A program is
copied and built. bankcheck watches it, and if it proposes a layout that can be applied, it builds a copy with it, runs
both in turn, compares what they print, and watches the fastest again. One program runs at a time: flock keeps the
others from the GPU. A program that is done adds a line to the file of --results, and does not run again while it has
one. Needs an NVIDIA GPU, nvcc, git and flock. Programs run with your rights: give it only sources that you trust.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True  # of the modules next to this file
from campaign import Run, add_record, data, output, records, run, said_by_bankcheck
from reports import write_csv

COLUMNS = ["repository", "program", "kernel", "arrays", "result", "passes_before", "passes_predicted", "passes_again"]
COLUMNS += ["ns_before", "ns_after", "speedup", "at_most"]  # at most: without any conflict, as the report says
COLUMNS += ["passes_most"]  # of the prediction, whose least is passes_predicted; "?": not known
NO_LAYOUT = {"none": "no layout has fewer passes", "chance": "no layout helps random addresses", "unprofitable": "no layout pays"}
VERDICTS = {"faster": "faster", "slower": "slower", "none": "equal within the noise", "unknown": "no verdict"}
LIMIT = 40  # seconds for one run of a program, watched or not; its exit code is then 124


class Program(NamedTuple):
    repository: str  # owner and name
    path: str  # in the repository: a folder, or the only source
    folder: str  # from the folder of all repositories
    headers: list  # other such folders, with headers
    sources: str = ""
    options: str = ""  # of nvcc
    arguments: str = ""
    limits: str = ""  # of what is watched: options of bankcheck

    def build(self, nvcc: str) -> str:
        headers = [f"-I{os.path.relpath(header, self.folder)}" for header in self.headers]
        return " ".join([nvcc, *headers, self.options, self.sources, "-o prog"])


def programs(checkouts: dict, only: str) -> list:
    """Those of the repositories that are there."""
    found = []
    for repository, rows in data("fit_corpus.json").items():
        name, headers = repository.split("/")[1], rows.get("headers", [])
        if {name, *(header.split("/")[0] for header in headers)} <= checkouts.keys():
            for path, row in rows["programs"].items():
                folder, source = os.path.split(path) if path.endswith(".cu") else (path, rows.get("sources", ""))
                found.append(Program(repository, path, f"{name}/{folder}", headers, **{"sources": source} | row))
    return [program for program in found if only in f"{program.repository}/{program.path}"]


def built(program: Program, root: Path, checkouts: dict, options) -> str:
    """Builds a copy, in a work tree of git, all of which bankcheck copies again. Returns why it is not built."""
    try:
        for folder in (program.folder, *program.headers):
            repository, *inside = Path(folder).parts
            shutil.copytree(checkouts[repository].joinpath(*inside), root / folder, dirs_exist_ok=True)
        output(["git", "init", "-q", str(root)])
    except OSError as error:
        return f"not copied: {error}"
    return built_in(root / program.folder, program, options)


def built_in(folder: Path, program: Program, options) -> str:
    made = run(["sh", "-c", program.build(options.nvcc)], folder, options.seconds)
    errors = [line for line in (made.errors + made.out).splitlines() if "error" in line] or [f"exit code {made.code}"]
    return "" if made.code == 0 else f"not built: {errors[0] if made.code else 'it takes too long'}"


def kernels_of(report: dict) -> list:
    """The kernels that have arrays with conflicts, and why arrays stay as they are."""
    kernels = []
    for kernel in (kernel for kernel in report["kernels"] if "fit" in kernel):
        fit, row = kernel["fit"], {"kernel": kernel["kernel"], "arrays": [], "refusals": []}
        for array in (array for array in fit["arrays"] if array["passes_before"] > array["ideal_passes"]):
            row["arrays"].append(array["array"])
            why = array.get("source", {}).get("why_no_edits")
            row["refusals"].append(array.get("why_fixed") or NO_LAYOUT.get(array["verdict"]) or why)
        known = {"passes": fit["architectures"][0]["passes_before"], "measured": fit.get("measured", {})}
        known["at_most"] = (kernel["architectures"][0]["bound"] or {}).get("without_conflicts")
        kernels += [row | known] if row["arrays"] else []
    return kernels


def watching(program: Program, root: Path, report: Path, options, more: list) -> Run:
    """Runs bankcheck on the program, which waits for the GPU."""
    command = [options.bankcheck, "cuda", "--memory", "shared", *program.limits.split(), *more, "--json", str(report)]
    command += ["--", "flock", "-F", str(root.parent / "gpu"), "timeout", "--foreground", str(LIMIT)]
    temporary = os.environ | {"TMPDIR": str(report.parent)}
    return run([*command, "./prog", *program.arguments.split()], root / program.folder, options.seconds, env=temporary)


def watch_patched(program: Program, root: Path, trace: Path, kernels: list, options) -> None:
    """Adds the passes of the kernels that the patch changes, also with another kernel, and the fastest program does not."""
    patch, report, fitted = (trace.with_suffix(end) for end in (".diff", ".json", ".fit.json"))
    folder = root / program.folder
    fit = [options.bankcheck, "fit", str(trace), "--sources", str(folder), "--patch", str(patch), "--json", str(fitted)]
    run(fit, folder, options.seconds)
    if run(["git", "apply", str(patch)], folder, LIMIT).code or built_in(folder, program, options):
        return
    watching(program, root, report, options, [])
    again = json.loads(report.read_text())["kernels"] if report.exists() else []
    passes = {kernel["kernel"]: kernel["architectures"][0]["passes"] for kernel in again}
    fits = json.loads(fitted.read_text())["kernels"]
    predicted = {kernel["kernel"]: kernel["fit"]["architectures"][0].get("patched") for kernel in fits}
    for kernel in kernels:
        if predicted.get(kernel["kernel"]) and kernel["measured"].get("passes_again") is None:
            kernel["measured"]["passes_again"] = passes.get(kernel["kernel"])
            kernel["patched"] = predicted[kernel["kernel"]]


def measured(building: Future, program: Program, root: Path, options) -> dict:
    """What bankcheck says if it fails, and what it writes of each kernel with conflicts: a line of the results."""
    reason, kernels, temporary = building.result(), [], root.with_suffix(".tmp")
    if not reason:
        temporary.mkdir()
        report, trace = temporary / "report.json", temporary / "trace.jsonl"
        more = ["--time", "--measure", "--candidates", "1", "--measure-time", str(options.seconds / 4)]
        ended = watching(program, root, report, options, [*more, "--build", program.build(options.nvcc), "--trace", str(trace)])
        said = said_by_bankcheck(ended.errors) if ended.code else [f"not done after {options.seconds} s"]
        reason = "" if ended.code == 0 else (said or [f"exit code {ended.code}"])[-1]
        kernels = kernels_of(json.loads(report.read_text())) if report.exists() else []
        if any(kernel["measured"].get("passes_again") is None for kernel in kernels):
            watch_patched(program, root, trace, kernels, options)
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(temporary, ignore_errors=True)
    return {"repository": program.repository, "program": program.path, "reason": reason, "kernels": kernels}


def row_of(record: dict, kernel: dict) -> dict:
    found = kernel["measured"]
    before, after = found.get("versions", [{}, {}])
    changed = "changed with another kernel" if found.get("passes_again") else record["reason"]
    refusals = [why or found.get("not_measured") or changed for why in kernel["refusals"]]
    result = after.get("problem") or VERDICTS[found["verdict"]] if after else "; ".join(filter(None, dict.fromkeys(refusals)))
    predicted = kernel.get("patched") or after.get("predicted") or {}
    most = "?" if predicted and (predicted["of_recorded"] or predicted["most"] is None) else predicted.get("most")
    row = {"kernel": kernel["kernel"], "arrays": " ".join(kernel["arrays"]), "result": result}
    row |= {"passes_before": kernel["passes"], "passes_predicted": predicted.get("least"), "passes_most": most}
    row |= {"passes_again": found.get("passes_again"), "ns_before": before.get("nanoseconds")}
    row |= {"ns_after": after.get("nanoseconds"), "speedup": after.get("speedup"), "at_most": kernel["at_most"]}
    return {key: f"{cell:.4g}" if isinstance(cell, float) else cell for key, cell in row.items()}


def rows_of(record: dict) -> list:
    kernels = [row_of(record, kernel) for kernel in record["kernels"]]
    program = {"repository": record["repository"], "program": record["program"]}
    return [program | row for row in kernels or [{"result": record["reason"] or "no conflicts"}]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--results", type=Path, required=True, help="JSON Lines: what is done")
    parser.add_argument("--csv", type=Path, required=True, help="the table, for tools/tables.py")
    parser.add_argument("--bankcheck", default="build/default/bankcheck")
    parser.add_argument("--nvcc", default="nvcc -O3 -lineinfo -std=c++17 -arch=native -I.", help="how programs are compiled")
    parser.add_argument("--only", default="", help="a part of OWNER/REPOSITORY/PROGRAM")
    parser.add_argument("--seconds", type=int, default=400, help="limit for one program, also while it waits for the GPU")
    parser.add_argument("--at-once", type=int, default=3, help="programs measured at a time, of which one runs")
    options = parser.parse_args()
    options.bankcheck = str(Path(options.bankcheck).resolve())
    checkouts = {folder.resolve().name: folder.resolve() for folder in options.folders}
    work = programs(checkouts, options.only)
    if not work:
        parser.error("no program of fit_corpus.json is in these folders")
    done = records(options.results, "repository", "program")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor() as cpu, ThreadPoolExecutor(options.at_once) as gpu:
        trials = []
        for number, program in enumerate(program for program in work if program[:2] not in done):
            root = Path(scratch) / str(number)
            trials.append(gpu.submit(measured, cpu.submit(built, program, root, checkouts, options), program, root, options))
        for trial in as_completed(trials):
            record = trial.result()
            add_record(options.results, record)
            print(f"{record['program']}: {len(record['kernels'])} kernels {record['reason']}", file=sys.stderr, flush=True)
    done = records(options.results, "repository", "program")
    write_csv(options.csv, COLUMNS, [row for program in work for row in rows_of(done[program[:2]])])


if __name__ == "__main__":
    main()
