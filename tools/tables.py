#!/usr/bin/env python3
"""Generates the measured tables of the documents from the files in docs/results, so that no number is typed by hand.

A page marks the place of a table with two comments. The first names the device's directory, the table (a case study, or
one of TABLES and TABLES_BY_API below: a function NAME_table generates the table NAME), and the API:

    <!-- table nvidia_h200 reduction cuda -->
    <!-- end of table -->

The pages are README.md, the README.md of each case study, and the pages below docs. With --check nothing is written,
and the exit code is 1 if a page differs.
"""

import math
import re
import sys
from functools import partial

sys.dont_write_bytecode = True  # of the imported modules next to this file
import bounds  # noqa: I001
import fits
import ranks
import targets
from reports import APIS, CASES, PAIRS, RESULTS, ROOT, SCOPES, STUDIES, fastest, report, rows, size_text, sizes, software
from reports import block_counters, by_key, csv_rows, grouped, limits, markdown, model_totals, summed, traffic, write_or_check

MARKED = re.compile(r"(<!-- table (\w+) (\w+) (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def time_text(seconds: float) -> str:
    scale, unit = next((s, u) for s, u in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")) if seconds >= s)
    value = seconds / scale
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"


def cell(row: dict, key: str) -> str:
    value = row.get(key)
    if value is None:
        return "–"
    if key == "time_median_s":
        return time_text(value)
    return f"{value * 1e-9:.{0 if value >= 1e11 else 1}f}" if key == "bytes_per_s" else f"{100 * value:.0f} %"


def table_of_case(case: str, device: str, api: str) -> str:
    found, body = rows(device, case, api), []
    keys = {"block": ["time_median_s"], "l2": ["bytes_per_s"], "memory": ["bytes_per_s", "of_copy"]}
    for variant, row in found["memory"].items():
        name = f"`{variant}`" + (f" ({row['library']})" if row["library"] else "")
        cells = [cell(found[at].get(variant, {}), key) for at in keys for key in keys[at]]
        body.append([name, *cells])
    return markdown(["variant", "block", "L2, GB/s", "memory, GB/s", "of copy"], body)


def pairs_table(device: str, api: str) -> str:
    body = []
    for case, before, after in PAIRS:
        found = rows(device, case, api)
        gains = [found[s][before]["time_median_s"] / found[s][after]["time_median_s"] for s in SCOPES]
        body.append([f"[{case}]({case}/README.md): `{before}` → `{after}`"] + [f"{gain:.2f} ×" for gain in gains])
    return markdown(["from → to", "inside the block", "from the L2 cache", "from memory"], body)


def best_table(device: str, api: str) -> str:
    """The fastest variant of each case study at its largest size; ratios rounded down, as in the table of targets."""
    body = []
    for case in CASES:
        at = max(sizes(device, case, api), key=lambda row: row["copy"]["bytes"])
        best, library = fastest(at), at["library"]
        of_copy, speedup = (math.floor(100 * ratio) for ratio in (best["of_copy"], library["time_median_s"] / best["time_median_s"]))
        name = f"[{case}]({case}/README.md) `{best['variant']}`, {size_text(best, case)}{'' if 'height' in best else ' words'}"
        body.append([name, cell(best, "bytes_per_s"), f"{of_copy} %", f"{speedup / 100:.2f} × {library['library']}"])
    return markdown(["variant and size", "GB/s", "of copy", "compared with the library"], body)


def is_stride(row: dict) -> bool:
    return re.fullmatch(r"stride\d+", row["variant"]) is not None


# The tables of access_patterns, with the rows that each contains.
ACCESSES = {
    "strides": is_stride,
    "loads": lambda row: row["access"]["operation"] == "load" and not is_stride(row),
    "stores": lambda row: row["access"]["operation"] == "store",
    "atomics": lambda row: row["access"]["operation"].startswith("atomic"),
    "matrices": lambda row: "matrix" in row["access"]["operation"],
}


def accesses(device: str, which: str) -> list:
    """The name and the row of each pattern, in order. A row has the clocks by API."""
    found: dict = {}
    for row in filter(ACCESSES[which], report(device, "access_patterns.block")["results"]):
        clocks = row["access"]["clocks"]
        found.setdefault(row["variant"], row["access"])[row["api"]] = "–" if clocks is None else f"{clocks:.2f}"
    return list(found.items())


def nearly(clocks: list) -> str:
    """The range of some clocks, or one of them if all are the same."""
    low, high = min(clocks, key=float), max(clocks, key=float)
    return low if low == high else f"{low} to {high}"


def strides_table(device: str) -> str:
    """By passes, which each stride has in common with the others of its greatest power of two."""
    body = []
    for passes, strides in sorted(by_key(accesses(device, "strides"), lambda found: found[1]["passes"]).items()):
        clocks = [nearly([access[api] for _, access in strides]) for api in APIS]
        body.append([", ".join(name.removeprefix("stride") for name, _ in strides), passes, *clocks])
    return markdown(["strides", "passes", *APIS.values()], body)


def table_of_patterns(which: str, device: str) -> str:
    """The clocks of OpenCL are in the results; the last line says how near they are."""
    found, body = accesses(device, which), []
    for name, a in found:
        access, passes = f"{a['operation']} {a['width']}", f"{a['passes']}/{a['ideal_passes']}"
        body.append([f"`{name}`", a["pattern"].replace("|", "\\|"), access, passes, a["cuda"]])
    off = max(abs(float(a["cuda"]) / a["expected_clocks"] - 1) for _, a in found)
    both = [abs(float(a["opencl"]) / float(a["cuda"]) - 1) for _, a in found if a.get("opencl", "–") != "–"]
    near = f", and OpenCL's from CUDA's by at most {math.ceil(1000 * max(both)) / 10:.1f} %" if both else ""
    table = markdown(["pattern", "", "access", "passes/ideal", "cycles"], body, 3)
    return table + f"\nThe cycles differ by at most {math.ceil(1000 * off) / 10:.1f} % from those expected{near}.\n"


KINDS = ("load", "store", "atomic")  # of the counters


def clock_rate(device: str) -> float:
    """The clock rate of a multiprocessor in Hz, from the longest kernel that counts its own clocks."""
    found = report(device, "access_patterns.block")["results"]
    timed = [row for row in found if row["api"] == "cuda" and row["time_median_s"] and row["access"]["clocks"]]
    longest = max(timed, key=lambda row: row["time_median_s"])
    return longest["access"]["clocks"] * longest["access"]["count"] / longest["time_median_s"]


def clocks_of_block(device: str, case: str, variant: str) -> float:
    """The clocks of one block per iteration. The multiprocessor with the most blocks determines the time."""
    row = rows(device, case, "cuda")["block"][variant]
    one = block_counters(device)[case, variant]  # with the extent of one block
    blocks = math.prod(math.ceil(row.get(side, row["n"] if side == "width" else 1) / one[side]) for side in ("height", "width"))
    units = next(d["compute_units"] for d in report(device, f"{case}.block")["devices"] if d["api"] == "cuda")
    return row["time_median_s"] * clock_rate(device) / math.ceil(blocks / units)


def conflicts_table(device: str) -> str:
    """The clocks saved per removed conflict: the difference in clocks, compared with the difference in conflicts."""
    counters, body = block_counters(device), []
    for case, before, after in PAIRS:
        totals = model_totals(device, case)
        old, new = (counters[case, variant] for variant in (before, after))
        clocks = [clocks_of_block(device, case, variant) for variant in (before, after)]
        passes, conflicts = ([totals[v][key] for v in (before, after)] for key in ("passes", "conflicts"))
        saved, counted = clocks[0] - clocks[1], sum(old[f"{k}_conflicts"] - new[f"{k}_conflicts"] for k in KINDS)
        name, changes = f"{case} `{before}` → `{after}`", (f"{a:.0f} → {b:.0f}: {a / b:.2f} ×" for a, b in (passes, clocks))
        removed = (conflicts[0] - conflicts[1], counted)
        body.append([name, *changes, f"{saved:.0f}", *(cell for n in removed for cell in (n, f"{saved / n:.2f}"))])
    head = ["pair", "passes, model", "clocks, measured", "clocks saved"]
    head += ["conflicts removed, model", "clocks per conflict", "conflicts removed, counted", "clocks per conflict"]
    where = ", ".join([*software(device), f"{clock_rate(device) * 1e-9:.2f} GHz"])
    return f"{where}:\n\n" + markdown(head, body)


def block_table(device: str) -> str:
    """The kernels of the pairs in shared memory: three counts of passes, and where the other clocks are spent."""
    counters, body = block_counters(device), []
    found = {(row["case"], row["variant"]): row for row in limits(device) if row["flags"] == "--scope block"}
    for case, variant in dict.fromkeys((case, variant) for case, *pair in PAIRS for variant in pair):
        limit, turns = found[case, variant], rows(device, case, "cuda")["block"][variant]["repeats"]
        model = model_totals(device, case)[variant]["passes"]
        counted = sum(counters[case, variant][f"{kind}_passes"] for kind in KINDS)
        pipe = int(limit["shared_passes"]) / int(limit["blocks"]) / turns
        body.append([f"{case} `{variant}`", model, counted, f"{pipe:.0f}"])
        body[-1] += [f"{clocks_of_block(device, case, variant):.0f}", *percents(limit, "shared", "issue", "stall_barrier")]
    head = ["kernel", "passes, model", "counted", "of the pipe", "clocks", "pipe busy", "schedulers busy", "stalled at barriers"]
    return f"{', '.join(software(device))}:\n\n" + markdown(head, body)


def percents(row: dict, *keys: str) -> list:
    return [f"{float(row[key]):.0f} %" for key in keys]


def memory_table(device: str) -> str:
    """The fastest kernels of the case studies, with data in DRAM."""
    body = []
    for row in (row for row in limits(device) if row["flags"] != "--scope block"):
        size = {name: int(value) for name, value in re.findall(r"--(\w+) (\d+)", row["flags"])}  # n, or height and width
        moved = (int(row["bytes_read"]) + int(row["bytes_written"])) / (math.prod(size.values()) * traffic(row["case"]))
        body.append([f"{row['case']} `{row['variant']}`, {size_text(size, row['case'])}", *percents(row, "memory", "l2_fabric")])
        body[-1] += [f"{moved:.3f}", *percents(row, "warps", "stall_global_memory", "stall_barrier")]
    head = ["kernel", "DRAM busy", "L2 fabric busy", "bytes moved ÷ needed"]
    head += ["warps resident", "stalled on memory", "stalled at barriers"]
    return f"{', '.join(software(device))}:\n\n" + markdown(head, body)


# Programs from elsewhere. `counters.py program` writes bankcheck_cuda.csv, opencl_programs.py the other files.
NAMES = {"ld": "loads", "st": "stores", "atom": "atomics", "ldsm": "ldmatrix", "stsm": "stmatrix", "gmma": "wgmma"}
NAMES |= {"ldgsts": "cp.async"}
# The first letters of kernels' names, and where the kernels come from.
LIBRARIES = {
    "nvjet_": "cuBLAS, `nvjet_…`",
    "Kernel": "CUTLASS 2 in libraries",
    "cudnn_": "cuDNN, attention",
    "sm90_xmma_": "cuDNN, convolution",
    "flash_": "FlashAttention",
    "fmha_": "memory-efficient attention",
    "triton_": "PyTorch's compiler",
    "dot_pointers": "Triton, `tl.dot` with pointers",
    "dot_descriptors": "Triton, `tl.dot` with descriptors",
    "device_kernel": "CUTLASS 3",
    "": "PyTorch",
}


def numbers(device: str) -> list:
    """The rows of kinds of access that have a cost."""
    rows = csv_rows(RESULTS / device / "bankcheck_cuda.csv")
    return [row for row in rows if row["kind"] in NAMES and (row["kind"] != "ldgsts" or row["passes"])]


def is_equal(row: dict) -> bool:
    """A counter may differ from run to run; then one of its runs must agree."""
    return row["passes" if "passes" in row else "sectors"] in (row["counter"], *row["counter_runs"].split())


def equal_kernels(rows: list) -> dict:
    """By program and kernel: whether all numbers are equal."""
    kernels = by_key(rows, lambda row: (row["program"], row["kernel"]))
    return {kernel: all(map(is_equal, rows)) for kernel, rows in kernels.items()}


def equal_together(counts: list, heading=", ".join) -> list:
    """Sums by name: of the names whose last two numbers are the same in one row, of each other name, and of all."""
    sums = summed(counts)
    equal = [name for name, numbers in sums.items() if numbers[-1] == numbers[-2]]
    rows = [(heading(equal), sums[name]) for name in equal]
    rows += [(name, numbers) for name, numbers in sums.items() if name not in equal]
    rows += [("all", numbers) for numbers in sums.values()]
    return [[name, *numbers] for name, numbers in summed(rows).items()]


def watched_table(device: str) -> str:
    """By program: kernels with accesses to shared memory, and how many of them are equal in all numbers."""
    counts = [(program, (1, equal)) for (program, _), equal in equal_kernels(numbers(device)).items()]
    return markdown(["program", "kernels", "equal"], equal_together(counts))


def watched_global_table(device: str) -> str:
    """By repository, which is the first part of a program's name: programs, kernels that access global memory, and how
    many of these are equal in all numbers."""
    kernels = equal_kernels(csv_rows(RESULTS / device / "bankcheck_cuda_global.csv"))
    counts = [(program.split("/")[0], (0, 1, equal)) for (program, _), equal in kernels.items()]
    counts += [(program.split("/")[0], (1, 0, 0)) for program in {program for program, _ in kernels}]
    return markdown(["repository", "programs", "kernels", "equal"], equal_together(counts))


def costs_table(device: str) -> str:
    """Of modern libraries: how many of the instructions that access shared memory have a cost, and kernels that are
    equal in all numbers."""
    equal, counts = equal_kernels(numbers(device)), []
    for row in csv_rows(RESULTS / device / "bankcheck_cuda_costs.csv"):
        library = next(text for name, text in LIBRARIES.items() if row["kernel"].startswith(name))
        executed, accesses, without = (int(row[key]) for key in ("executed", "accesses", "without_cost"))
        if executed:
            is_good = equal.get((row["program"], row["kernel"]), True)
            counts.append((library, (1, is_good, executed, accesses - without)))
    counts.sort(key=lambda count: list(LIBRARIES.values()).index(count[0]))
    body = [
        [text, kernels, good, f"{executed:,}", f"{math.floor(1000 * costed / executed) / 10:.1f} %"]
        for text, (kernels, good, executed, costed) in summed([*counts, *(("all", of) for _, of in counts)]).items()
    ]
    return markdown(["kernels of", "kernels", "equal", "instructions", "with a cost"], body)


def different_table(device: str) -> str:
    """Each number that is not equal."""
    body = []
    for row in (row for row in numbers(device) if not is_equal(row)):
        counts = (grouped(row[key]) for key in ("passes", "counter", "l1tex_passes"))
        body.append([row["program"], f"`{row['kernel']}`", NAMES[row["kind"]], *counts])
    return markdown(["program", "kernel", "access", "computed", "counted", "`l1tex__`"], body, 3)


def arbitration_table(device: str) -> str:
    """The passes of launches of the case studies' kernels with shared memory by both counters, and in how many launches
    the conflicts by arbitration explain the difference; in lines of their own, kernels with launches that differ."""
    counts = []
    for row in csv_rows(RESULTS / device / "arbitration.csv"):
        exact, pipe = (sum(int(row[f"{of}{kind}_passes"]) for kind in ("ld", "st", "atom")) for of in ("", "l1tex_"))
        more, arbitration = pipe - exact, int(row["arbitration"])
        if exact and row["kernel"].startswith(STUDIES[row["case"]]["kernel_prefix"]):
            counts.append((f"`{row['kernel']}`", (exact, more, arbitration, 1, more <= arbitration)))
    body = [
        [name, *(f"{n:,}" for n in passes), f"{explained} of {launches}"]
        for name, *passes, launches, explained in equal_together(counts, lambda names: f"{len(names)} kernels")
    ]
    return markdown(["kernel", "passes per instruction", "more by `l1tex__…`", "arbitration", "launches explained"], body)


def programs_table(device: str) -> str:
    """By library: its programs, their sums, and the range of the ratio of times."""
    rows, body = csv_rows(RESULTS / device / "programs.csv"), []
    for library, programs in by_key(rows, lambda row: f"{row['source']}, `{row['version']}`").items():
        # No ratio if the program fails without bankcheck's plugin.
        alone = [(row["same_device_O0"].split(), row["bankcheck"].split()) for row in programs]
        ratios = [f"{float(ours[0]) / float(plain[0]):.2f}" for plain, ours in alone if not plain[1:] and not ours[1:]]
        failed = [f" ({row['program']} {row['exit']}: {row['reason']})" for row in programs if row["exit"] != "0"]
        sums = [f"{sum(int(row[key] or 0) for row in programs):,}" for key in ("kernels", "passes", "conflicts")]
        body.append([library + "".join(failed), len(programs), *sums, nearly(ratios) if ratios else "–"])
    return markdown(["library", "programs", "kernels", "passes", "conflicts", "time, bankcheck ÷ Oclgrind"], body)


def lines_table(device: str) -> str:
    body = []
    for row in csv_rows(RESULTS / device / "lines.csv"):
        access = [f"`{row['program']}`", f"`{row['kernel']}`", row["where"].lstrip(":"), row["operation"]]
        body.append(access + [row[key] for key in ("accesses", "passes", "found_accesses", "found_passes")])
    head = ["program", "kernel", "line", "access", "accesses, by hand", "passes, by hand", "accesses", "passes"]
    return markdown(head, body, 4)


# The functions that generate a table from a device's directory, by the name in the mark; some also need an API.
# Any other name is that of a case study.
TABLES = {name.removesuffix("_table"): made for name, made in globals().items() if name.endswith("_table")}
TABLES_BY_API = {name: TABLES.pop(name) for name in ("pairs", "best")}
TABLES |= {which: partial(table_of_patterns, which) for which in ACCESSES if which != "strides"}
TABLES |= {f"ranks_{name}": getattr(ranks, f"{name}_table") for name in ("large", "sizes", "model")}
TABLES |= {name: getattr(fits, f"{name}_table") for name in ("fitted", "timed", "unpredicted", "unchanged")}
TABLES |= {"targets": targets.target_table, "bounds": bounds.summary_table, "bounds_of_pairs": bounds.pair_table}


def filled(text: str) -> str:
    def table(match: re.Match) -> str:
        begin, device, name, api, end = match.groups()
        if name in TABLES:
            return begin + TABLES[name](device) + end
        return begin + TABLES_BY_API.get(name, partial(table_of_case, name))(device, api) + end

    return MARKED.sub(table, text)


if __name__ == "__main__":
    PAGES = [ROOT / "README.md", *sorted(ROOT.glob("*/README.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    sys.exit(write_or_check({path: filled(path.read_text(encoding="utf-8")) for path in PAGES}))
