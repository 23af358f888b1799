#!/usr/bin/env python3
"""Reads hardware counters with `ncu` of the CUDA Toolkit, and prints CSV.

    counters.py block BUILD > counters.csv
        The shared-memory passes and conflicts of one block of each kernel. Each number is the minimum of RUNS runs,
        because other traffic of the multiprocessor sometimes adds a few passes.

    counters.py block BUILD --space global > sectors.csv
        The same for the sectors of global memory.

    counters.py limits BUILD > limits.csv
        What limits the kernels, each profiled once: the utilization of parts of the GPU in percent of their peak, why
        warps stall in percent of the time that they are resident, and the totals of the kernel.

    counters.py arbitration BUILD > arbitration.csv
        The passes of each launch of the case studies with 2^24 words: those of the data pipe (l1tex__…), those that
        follow instructions (smsp__sass_…), and the conflicts by arbitration.

    counters.py engines {wgmma,bulk,remote} [--rows FIRST:LAST:STEP] [--module FILE] > tests/data/h200_wgmma.csv
        What engines/measure.py measures, with hardware counters; about eight rows a second. Without --module, `wgmma`
        needs a minute to compile its kernels.

    counters.py program BANKCHECK NAME [--repeat N] [--costs FILE] -- PROGRAM ARGUMENTS … >> bankcheck_cuda.csv
        The passes that `bankcheck cuda` computes for a program, next to its counters: a row for each kernel and kind of
        access, without a heading (HEAD has it). The instantiations of a template are one kernel; launches are added up.
        The counters are read two in each run of the program, as more of them are counted less exactly: those that
        follow instructions (smsp__sass_…) and those of the data pipe (l1tex__…). With --repeat they are read N times,
        and the column `counter_runs` has all sums that differ. --costs appends to FILE how many instructions that
        access shared memory each kernel executes by the counters, how many of them `bankcheck cuda` saw, and how many
        of these have no cost, by cause (HEAD_COSTS). A wgmma counts once for its four warps.

    counters.py program BANKCHECK NAME --space global [--repeat N] -- PROGRAM ARGUMENTS … >> bankcheck_cuda_global.csv
        The same for the sectors of global memory (HEAD_GLOBAL).

    counters.py copies MEASURE_COPIES SEED COUNT [--repeat N] > h200_cp_async_kernels.csv
        COUNT whole kernels of cp.async by SEED (tests/device/engines/cp_async.cu): their parameters, and the passes of
        each by the counter, the least and the most of N runs.

BUILD is a build directory with the samples and the tests' `more_kernels`, built with CUDA. Exit codes: 0 ok, 2 usage,
3 a run failed.
"""

import argparse
import csv
import math
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True  # of the modules next to this file
from campaign import output, report_of
from reports import CASES, STUDIES, TEST_STUDIES

ALL_STUDIES = STUDIES | TEST_STUDIES
DATA_PIPE = {
    "passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
}
SECTORS = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{}.sum"
# By kind of access: the counter of passes that follows instructions. Of wgmma, smsp__sass_… reads 0.
SASS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
KINDS = {kind: [SASS.format(kind)] for kind in ("ld", "st", "atom", "ldsm", "stsm", "ldgsts")}
KINDS |= {"gmma": ["sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum"]}
PIPE_KINDS = ("ld", "st", "atom", "gmma")
ARBITRATED = {"load": "ld", "store": "st", "atomic": "atom"}
KIND_OF = ARBITRATED | {"ldmatrix": "ldsm", "stmatrix": "stsm", "wgmma": "gmma"}
KIND_OF |= {"cp.async": "ldgsts", "cp.async.cg": "ldgsts"}
# The counters of global memory that a kind of access adds up: an atomic whose result nobody uses is a red.
GLOBAL_KINDS = {"ld": ["ld"], "st": ["st"], "atom": ["red", "atom"], "ldgsts": ["ldgsts"]}
GLOBAL_KINDS = {kind: [SECTORS.format(op) for op in ops] for kind, ops in GLOBAL_KINDS.items()}
# By column of `block`: the counters that it adds up.
COLUMNS = {f"{name}_{of}": [pipe.format(kind)] for name, kind in ARBITRATED.items() for of, pipe in DATA_PIPE.items()}
GLOBAL_COLUMNS = {f"{name}_sectors": GLOBAL_KINDS[kind] for name, kind in ARBITRATED.items()}
RUNS = 3

PARTS = {
    "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_fabric": "lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "shared": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "issue": "smsp__inst_issued.avg.pct_of_peak_sustained_elapsed",
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
TOTALS = {
    "bytes_read": "dram__bytes_read.sum",
    "bytes_written": "dram__bytes_write.sum",
    "shared_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
}
STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
# The stall reasons of a warp that does not issue (is not selected), by column.
STALLS = {
    "barrier": ["barrier"],
    "shared_memory": ["short_scoreboard", "mio_throttle"],
    "global_memory": ["long_scoreboard", "lg_throttle", "drain"],
    "instructions": ["wait", "no_instruction", "branch_resolving", "dispatch_stall", "math_pipe_throttle", "imc_miss"],
    "turn": ["not_selected"],
    "other": ["membar", "sleeping", "misc", "tex_throttle", "gmma"],
}
HEAD = ["program", "kernel", "kind", "launches", "passes", "conflicts"]
HEAD += ["counter", "counter_runs", "l1tex_passes", "l1tex_conflicts"]
HEAD_COSTS = ["program", "kernel", "executed", "accesses", "without_cost", "causes"]
HEAD_GLOBAL = ["program", "kernel", "kind", "launches", "sectors", "counter", "counter_runs"]
# Instructions that access shared memory, and how they add up; `shared` includes wgmma, and `tma_st` reductions.
EXECUTED = {"shared": 1, "shared_gmma": -3 / 4, "ldgsts": 1, "dshared": 1, "tma_ld": 1, "tma_st": 1}
EXECUTED = {f"smsp__sass_inst_executed_op_{op}.sum": factor for op, factor in EXECUTED.items()}
# By set: the counters of each column.
DSHARED = "l1tex__t_{}_pipe_lsu_mem_dshared.sum"
ENGINES = {
    "wgmma": {"passes": KINDS["gmma"][0], "conflicts": DATA_PIPE["conflicts"].format("gmma")},
    "bulk": {
        "bank_reads": "l1tex__data_bank_reads.sum",
        "bank_writes": "l1tex__data_bank_writes.sum",
        "lsu_passes": "l1tex__data_pipe_lsu_wavefronts.sum",
        "lsu_conflicts": "l1tex__data_bank_conflicts_pipe_lsu.sum",
    },
    "remote": {
        "sectors": DSHARED.format("sectors"),
        "output_wavefronts": DSHARED.format("output_wavefronts"),
        "gds_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_gds.sum",
    },
}
WIDTH = 80  # bankcheck cuda cuts longer names


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


def pairs(metrics: list) -> list:
    """Lists for a run each: of the counters that follow instructions, at most two are exact in a run."""
    return [metrics[i : i + 2] for i in range(0, len(metrics), 2)]


def flags_of(names: list, height: int, width: int) -> list:
    extent = ["--height", str(height), "--width", str(width)] if height > 1 else ["--n", str(width)]
    return ["--variant", ",".join(names), *extent]


def block(out, options) -> None:
    columns = GLOBAL_COLUMNS if options.space == "global" else COLUMNS
    metrics = [metric for column in columns.values() for metric in column]
    parts = pairs(metrics) if options.space == "global" else [metrics]
    out.writerow(["case", "variant", "height", "width", "kernel", *columns])
    for case, job in ((case, job) for case, study in ALL_STUDIES.items() for job in study.get("counters", [])):
        height, width = job["extent"] if isinstance(job["extent"], list) else (1, job["extent"])
        names = job.get("variants") or listed(options.build, case)
        flags = flags_of(names, height, width)
        runs = []
        for _ in range(RUNS):
            kernels = [of_sample(options.build, case, part, flags) for part in parts]
            runs.append([{key: value for row in rows for key, value in row.items()} for rows in zip(*kernels)])
        if any(len(kernels) != len(names) for kernels in runs):
            raise Failed(f"{case}: {len(runs[0])} kernels for {len(names)} variants; expected one each")
        for name, *rows in zip(names, *runs):
            numbers = [{metric: int(row[metric].replace(",", "")) for metric in metrics} for row in rows]
            counts = [min(sum(row[metric] for metric in column) for row in numbers) for column in columns.values()]
            out.writerow([case, name, height, width, kernel_name(rows[0]), *counts])


def limits(out, options) -> None:
    out.writerow(["case", "variant", "flags", "kernel", "blocks", *PARTS, *TOTALS, *(f"stall_{name}" for name in STALLS)])
    stalls = [[STALLED.format(reason) for reason in reasons] for reasons in STALLS.values()]
    selected = STALLED.format("selected")
    metrics = [*PARTS.values(), *TOTALS.values(), selected, *sum(stalls, [])]
    jobs = [(case, job["variants"], flags) for case in STUDIES for job in STUDIES[case].get("limits", []) for flags in job["flags"]]
    for case, variants, flags in jobs:
        rows = of_sample(options.build, case, metrics, ["--variant", ",".join(variants), *flags.split()])
        for variant in variants:
            # A variant may have several launches; the first one does most of the work.
            name = STUDIES[case]["kernel_prefix"] + variant
            row = next((row for row in rows if kernel_name(row) in (name, f"{name}_repeated")), None)
            if row is None:
                raise Failed(f"{case} {flags}: ncu reports no kernel of {variant}")
            waits = [sum(number(row, metric) for metric in column) for column in stalls]
            total = sum(waits) + number(row, selected) or 1.0
            blocks = math.prod(int(side) for side in row["Grid Size"].strip("()").split(","))
            parts, totals = ([number(row, metric) for metric in metrics.values()] for metrics in (PARTS, TOTALS))
            cells = [*(f"{n:.1f}" for n in parts), *(f"{n:.0f}" for n in totals), *(f"{100 * wait / total:.1f}" for wait in waits)]
            out.writerow([case, variant, flags, kernel_name(row), blocks, *cells])


def arbitration(out, options) -> None:
    kinds = ARBITRATED.values()
    pipe = {f"l1tex_{kind}_{name}": text.format(kind) for kind in kinds for name, text in DATA_PIPE.items()}
    pipe |= {"arbitration": "l1tex__data_bank_conflicts_type_arbitration.sum"}
    by_instruction = {f"{kind}_passes": SASS.format(kind) for kind in kinds}
    columns = pipe | by_instruction
    parts = [[*pipe.values()], *pairs([*by_instruction.values()])]
    out.writerow(["case", "kernel", "height", "width", *columns])
    for case in CASES:
        study = STUDIES[case]
        height, width = (4096, 4096) if isinstance(study["block"], list) else (1, (1 << 24) // study.get("words_per_element", 1))
        flags = flags_of(listed(options.build, case), height, width)
        with ThreadPoolExecutor(len(parts)) as pool:
            runs = list(pool.map(partial(of_sample, options.build, case, flags=flags), parts))
        if len({tuple(map(kernel_name, run)) for run in runs}) != 1:
            raise Failed(f"{case}: its runs launch different kernels")
        for launch in zip(*runs):
            counted = {metric: round(number(row, metric)) for part, row in zip(parts, launch) for metric in part}
            out.writerow([case, kernel_name(launch[0]), height, width, *(counted[metric] for metric in columns.values())])


def engines(out, options) -> None:
    program = [sys.executable, str(Path(__file__).parent / "engines/measure.py"), options.set, "--rows", options.rows]
    program += ["--module", str(options.module)] if options.module else []
    rows = list(csv.DictReader(output(program, stderr=subprocess.PIPE).splitlines()))
    if not rows:
        raise Failed(f"the driver refuses all rows of {options.set}")
    counters = ENGINES[options.set]
    counted = ncu(list(counters.values()), [], [*program, "--once"])
    if len(counted) != len(rows):
        raise Failed(f"{len(counted)} kernels for {len(rows)} rows")
    for row, numbers in zip(rows, counted):
        row |= {column: f"{number(numbers, metric):.0f}" for column, metric in counters.items()}
    out.writerow(rows[0])
    out.writerows(row.values() for row in rows)


def base_name(kernel: str) -> str:
    """A kernel's name without its namespace, template arguments, parameters and number, cut as bankcheck cuts it."""
    name = re.sub(r"\((anonymous|unnamed)[^)]*\)|<unnamed>|#\d+$", "", kernel)
    name = re.split(r"[<(\[]", name.removeprefix("void "), maxsplit=1)[0]
    name = name.strip().split("::")[-1].split(" ")[-1]
    return name if len(name) <= WIDTH else name[: WIDTH - 3] + "..."


def of_program(metrics: list, command: list) -> tuple:
    """The launches and the sum of each metric, by kernel."""
    launches, sums = Counter(), defaultdict(Counter)
    for row in ncu(metrics, ["--target-processes", "all"], command):
        kernel = base_name(row["Kernel Name"])
        launches[kernel] += 1
        for metric in metrics:
            sums[kernel][metric] += round(number(row, metric))
    return launches, sums


def of_programs(metrics: list, command: list) -> list:
    """`of_program` for each list of metrics, eight runs at once: ncu profiles one kernel at a time on a GPU."""
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(of_program, metrics, [command] * len(metrics)))


def kind_of(line: dict) -> str | None:
    """Of a line of the report: its kind; `None`: no counter counts it."""
    name = line.get("operation") or line["engine"]
    return KIND_OF.get(name) or KIND_OF.get(name.split(".")[0])  # ldmatrix.x4 is an ldmatrix


def reported(report: dict, of_global: bool) -> dict:
    """By kernel and kind: passes and conflicts, or sectors of global memory; `None`: some accesses have no cost."""
    keys = ["sectors"] if of_global else ["passes", "conflicts"]
    found = defaultdict(lambda: [0] * len(keys))
    for kernel in report["kernels"]:
        name, costs = base_name(kernel["kernel"]), kernel["architectures"][0]
        for cause in () if of_global else costs["without_cost"]:  # "cp.async.cg with ZFILL"
            if kind := KIND_OF.get(cause.split()[0]):
                found[name, kind] = [None, None]
        for line in (costs["global_lines"] or ()) if of_global else [*costs["lines"], *costs["engine_lines"]]:
            numbers = found[name, kind_of(line)]
            for i, key in enumerate(keys):
                known = line.get(key) is not None and not line.get("unknown") and numbers[i] is not None
                numbers[i] = numbers[i] + line[key] if known else None
    return found


def write_costs(path: Path, program: str, report: dict, command: list) -> None:
    """Accesses to shared memory by kernel; the causes name those without a cost, "?" where their number is not known."""
    accesses, causes = Counter(), defaultdict(Counter)
    runs = of_programs(pairs([*EXECUTED]), command)
    for kernel in report["kernels"]:
        name, costs = base_name(kernel["kernel"]), kernel["architectures"][0]
        accesses[name] += costs["all_accesses"]
        for cause, n in costs["without_cost"].items():
            causes[name][cause] += n or 0  # null: how often is not known
    with open(path, "a", newline="") as file:
        for name, count in sorted(accesses.items()):
            text = "; ".join(f"{cause} {n or '?'}" for cause, n in causes[name].most_common())
            executed = sum(EXECUTED[metric] * n for _, sums in runs for metric, n in sums[name].items())
            row = [program, name, round(executed), count, causes[name].total(), text]
            csv.writer(file, lineterminator="\n").writerow(row)


def program(out, options) -> None:
    of_global = options.space == "global"
    spaces = ["--memory", "shared,global"] if of_global else []
    report = report_of([options.bankcheck, "cuda", *spaces], "--", *options.command)
    if options.costs:
        write_costs(options.costs, options.name, report, options.command)
    ours = reported(report, of_global)
    metrics = GLOBAL_KINDS if of_global else KINDS
    parts = pairs([metric for column in metrics.values() for metric in column])
    of_pipe = [] if of_global else DATA_PIPE.values()
    more = [[text.format(kind) for text in of_pipe for kind in PIPE_KINDS]] if of_pipe else []
    runs = of_programs([*parts * options.repeat, *more], options.command)
    launches, pipe = runs[-1]
    for kernel in sorted(set(launches) | {kernel for kernel, _ in ours}):
        for kind, column in metrics.items():
            repeated = (runs[i : i + len(parts)] for i in range(0, len(parts) * options.repeat, len(parts)))
            seen = [sum(sums[kernel][metric] for _, sums in run for metric in column) for run in repeated]
            numbers = ours.get((kernel, kind), [0] if of_global else [0, 0])
            if numbers[0] == 0 and not any(seen):
                continue
            row = [options.name, kernel, kind, launches[kernel], *numbers]
            row += [min(seen), " ".join(map(str, sorted(set(seen))))]
            out.writerow(row + [pipe[kernel][text.format(kind)] if kind in PIPE_KINDS else "" for text in of_pipe])


def copies(out, options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "kernels.csv"
        command = [str(options.program.resolve()), str(options.seed), str(options.count), str(table)]
        metric = SASS.format("ldgsts")
        runs = [[round(number(row, metric)) for row in ncu([metric], [], command)] for _ in range(options.repeat)]
        head, *kernels = csv.reader(table.read_text().splitlines())
    if any(len(run) != len(kernels) for run in runs):
        raise Failed(f"{len(runs[0])} launches for {len(kernels)} kernels")
    out.writerow([*head, "passes", "passes_max"])
    for kernel, *counts in zip(kernels, *runs):
        out.writerow([*kernel, min(counts), max(counts)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command_of(function):
        command = commands.add_parser(function.__name__)
        command.set_defaults(function=function)
        return command

    for function in (block, limits, arbitration):
        command = command_of(function)
        command.add_argument("build", type=Path)
        command.add_argument("--space", choices=("shared", "global"), default="shared")
    command = command_of(engines)
    command.add_argument("set", choices=ENGINES)
    command.add_argument("--rows", default=":", metavar="FIRST:LAST:STEP", help="count these only")
    command.add_argument("--module", type=Path, help="the kernels, compiled by ptxas")
    command = command_of(program)
    command.add_argument("bankcheck")
    command.add_argument("name")
    command.add_argument("--space", choices=("shared", "global"), default="shared")
    command.add_argument("--repeat", type=int, default=1)
    command.add_argument("--costs", type=Path)
    command = command_of(copies)
    command.add_argument("program", type=Path)
    command.add_argument("seed", type=int)
    command.add_argument("count", type=int)
    command.add_argument("--repeat", type=int, default=2)
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:at])
    options.command = sys.argv[at + 1 :]
    try:
        options.function(csv.writer(sys.stdout, lineterminator="\n"), options)
    except (OSError, subprocess.CalledProcessError, Failed) as error:
        printed = "".join(getattr(error, stream, None) or "" for stream in ("stdout", "stderr"))
        print(f"counters.py: {error} {printed[-300:]}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
