#!/usr/bin/env python3
"""Generates the measured tables of the documents from the files in docs/results, so that no number is typed by hand.

A page marks the place of a table with two comments. The first names the device's directory, the table (a case study, or
one of TABLES and TABLES_BY_API below), and the API:

    <!-- table nvidia_h200 reduction cuda -->
    <!-- end of table -->

The pages are README.md, the README.md of each case study, and the pages below docs. With --check nothing is written,
and the exit code is 1 if a page differs.
"""

import math
import re
import sys
from collections import Counter
from functools import partial

sys.dont_write_bytecode = True  # of the imported modules next to this file
import bounds  # noqa: I001
import ranks
from reports import APIS, CASES, PAIRS, RESULTS, ROOT, SCOPES, STUDIES, fastest, markdown, report, rows, size_text, sizes, software
from reports import block_counters, csv_rows, limits, model_totals, traffic, write_or_check
from targets import target_table

POCL = "Portable Computing Language"
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
    if key == "bytes_per_s":
        return f"{value * 1e-9:.{0 if value >= 1e11 else 1}f}"
    return f"{100 * value:.0f} %" if key == "of_copy" else f"{value:.2f} ×"


def case_table(case: str, device: str, api: str) -> str:
    found, body = rows(device, case, api), []
    keys = {"block": ["time_median_s"], "l2": ["bytes_per_s"], "memory": ["bytes_per_s", "of_copy"]}
    for variant, row in found["memory"].items():
        name = f"`{variant}`" + (f" ({row['library']})" if row["library"] else "")
        cells = [cell(found[at].get(variant, {}), key) for at in keys for key in keys[at]]
        body.append([name, *cells])
    return markdown(["variant", "block", "L2, GB/s", "memory, GB/s", "of copy"], body)


def pair_table(device: str, api: str) -> str:
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


def stride_table(device: str) -> str:
    """By passes, which each stride has in common with the others of its greatest power of two."""
    groups: dict = {}
    for name, access in accesses(device, "strides"):
        groups.setdefault(access["passes"], []).append((name.removeprefix("stride"), access))
    body = []
    for passes, strides in sorted(groups.items()):
        clocks = [nearly([access[api] for _, access in strides]) for api in APIS]
        body.append([", ".join(stride for stride, _ in strides), str(passes), *clocks])
    return markdown(["strides", "passes", *APIS.values()], body)


def pattern_table(which: str, device: str) -> str:
    """The clocks of OpenCL are in the results; the last line says how near they are."""
    found = accesses(device, which)
    body = [
        [f"`{name}`", a["pattern"].replace("|", "\\|"), f"{a['operation']} {a['width']}"]
        + [f"{a['passes']}/{a['ideal_passes']}", a["cuda"]]
        for name, a in found
    ]
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


def conflict_table(device: str) -> str:
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
        body.append([name, *changes, f"{saved:.0f}", *(text for n in removed for text in (str(n), f"{saved / n:.2f}"))])
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
        body.append([f"{case} `{variant}`", str(model), str(counted), f"{pipe:.0f}"])
        body[-1] += [f"{clocks_of_block(device, case, variant):.0f}", *percents(limit, "shared", "issue", "stall_barrier")]
    head = ["kernel", "passes, model", "counted", "of the pipe", "clocks", "pipe busy", "schedulers busy", "stalled at barriers"]
    return f"{', '.join(software(device))}:\n\n" + markdown(head, body)


def percents(row: dict, *keys: str) -> list:
    return [f"{float(row[key]):.0f} %" for key in keys]


def memory_table(device: str) -> str:
    """The fastest kernels of the case studies, with data in DRAM."""
    body = []
    for row in limits(device):
        if row["flags"] == "--scope block":
            continue
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
}


def numbers(device: str) -> list:
    """The rows of kinds of access that have a cost."""
    rows = csv_rows(RESULTS / device / "bankcheck_cuda.csv")
    return [row for row in rows if row["kind"] in NAMES and (row["kind"] != "ldgsts" or row["passes"])]


def is_equal(row: dict) -> bool:
    """A counter may differ from run to run; then one of its runs must agree."""
    return row["passes" if "passes" in row else "sectors"] in (row["counter"], *row["counter_runs"].split())


def equal_kernels(rows: list) -> dict:
    """By program, then by kernel: whether all numbers are equal."""
    kernels = {}
    for row in rows:
        equal = kernels.setdefault(row["program"], {})
        equal[row["kernel"]] = equal.get(row["kernel"], True) and is_equal(row)
    return kernels


def equal_together(body: list) -> list:
    """Rows whose last two numbers are the same in one row with their sums, then the others, and the sum of all."""

    def summed(name: str, rows_to_sum: list) -> list:
        return [name, *(str(sum(column)) for column in list(zip(*rows_to_sum))[1:])]

    equal = [row for row in body if row[-1] == row[-2]]
    others = [[name, *map(str, counts)] for name, *counts in (row for row in body if row not in equal)]
    together = [summed(", ".join(name for name, *_ in equal), equal)] if equal else []
    return [*together, *others, summed("all", body)]


def watched_table(device: str) -> str:
    """By program: kernels with accesses to shared memory, and how many of them are equal in all numbers."""
    body = [[name, len(of), sum(of.values())] for name, of in equal_kernels(numbers(device)).items()]
    return markdown(["program", "kernels", "equal"], equal_together(body), 1)


def global_numbers(device: str) -> list:
    return csv_rows(RESULTS / device / "bankcheck_cuda_global.csv")


def watched_global_table(device: str) -> str:
    """By repository, which is the first part of a program's name: programs, kernels that access global memory, and how
    many of these are equal in all numbers."""
    repositories = {}
    for name, of in equal_kernels(global_numbers(device)).items():
        repositories.setdefault(name.split("/")[0], []).append(of)
    body = [[name, len(of), sum(map(len, of)), sum(sum(equal.values()) for equal in of)] for name, of in repositories.items()]
    return markdown(["repository", "programs", "kernels", "equal"], equal_together(body), 1)


def costs_table(device: str) -> str:
    """Of modern libraries: how many of the instructions that access shared memory have a cost, and kernels that are
    equal in all numbers."""
    equal, libraries = equal_kernels(numbers(device)), {}
    for row in csv_rows(RESULTS / device / "bankcheck_cuda_costs.csv"):
        library = next((text for name, text in LIBRARIES.items() if row["kernel"].startswith(name)), "PyTorch")
        executed, accesses, without = (int(row[key]) for key in ("executed", "accesses", "without_cost"))
        if executed == 0:
            continue
        counts = (1, equal[row["program"]].get(row["kernel"], True), executed, accesses - without)
        libraries[library] = [a + b for a, b in zip(libraries.get(library, (0, 0, 0, 0)), counts)]
    libraries = {text: libraries[text] for text in (*LIBRARIES.values(), "PyTorch") if text in libraries}
    libraries["all"] = [sum(column) for column in zip(*libraries.values())]
    body = [
        [text, str(kernels), str(good), f"{executed:,}", f"{math.floor(1000 * costed / executed) / 10:.1f} %"]
        for text, (kernels, good, executed, costed) in libraries.items()
    ]
    return markdown(["kernels of", "kernels", "equal", "instructions", "with a cost"], body, 1)


def different_table(device: str) -> str:
    """Each number that is not equal."""
    body = [
        [row["program"], f"`{row['kernel']}`", NAMES[row["kind"]]]
        + [grouped(row[key]) for key in ("passes", "counter", "l1tex_passes")]
        for row in numbers(device)
        if not is_equal(row)
    ]
    return markdown(["program", "kernel", "access", "computed", "counted", "`l1tex__`"], body, 3)


def arbitration_table(device: str) -> str:
    """The passes of launches of the case studies' kernels with shared memory by both counters, and in how many launches
    the conflicts by arbitration explain the difference; in lines of their own, kernels with launches that differ."""
    kernels = {}
    for row in csv_rows(RESULTS / device / "arbitration.csv"):
        exact, pipe = (sum(int(row[f"{of}{kind}_passes"]) for kind in ("ld", "st", "atom")) for of in ("", "l1tex_"))
        if exact and row["kernel"].startswith(STUDIES[row["case"]]["kernel_prefix"]):
            counts = (1, pipe - exact <= int(row["arbitration"]), exact, pipe - exact, int(row["arbitration"]))
            kernels[row["kernel"]] = [a + b for a, b in zip(kernels.get(row["kernel"], (0,) * 5), counts)]
    rows = [(f"`{name}`", *counts) for name, counts in kernels.items()]
    good = [row for row in rows if row[1] == row[2]]
    together = [(f"{len(good)} kernels", *(sum(column) for column in list(zip(*good))[1:]))] if good else []
    total = ("all", *(sum(column) for column in list(zip(*rows))[1:]))
    shown = [*together, *(row for row in rows if row not in good), total]
    body = [[name, *(f"{n:,}" for n in passes), f"{explained} of {launches}"] for name, launches, explained, *passes in shown]
    return markdown(["kernel", "passes per instruction", "more by `l1tex__…`", "arbitration", "launches explained"], body)


def grouped(number: str) -> str:
    return f"{int(number):,}" if number else "–"


def program_table(device: str) -> str:
    """By library: its programs, their sums, and the range of the ratio of times."""
    libraries: dict = {}
    for row in csv_rows(RESULTS / device / "programs.csv"):
        libraries.setdefault(f"{row['source']}, `{row['version']}`", []).append(row)
    body = []
    for library, programs in libraries.items():
        # No ratio if the program fails without bankcheck's plugin.
        alone = [(row["same_device_O0"].split(), row["bankcheck"].split()) for row in programs]
        ratios = [f"{float(ours[0]) / float(plain[0]):.2f}" for plain, ours in alone if not plain[1:] and not ours[1:]]
        failed = [f" ({row['program']} {row['exit']}: {row['reason']})" for row in programs if row["exit"] != "0"]
        sums = [f"{sum(int(row[key] or 0) for row in programs):,}" for key in ("kernels", "passes", "conflicts")]
        body.append([library + "".join(failed), str(len(programs)), *sums, nearly(ratios) if ratios else "–"])
    return markdown(["library", "programs", "kernels", "passes", "conflicts", "time, bankcheck ÷ Oclgrind"], body)


def line_table(device: str) -> str:
    body = [
        [f"`{row['program']}`", f"`{row['kernel']}`", row["where"].lstrip(":"), row["operation"]]
        + [row[key] for key in ("accesses", "passes", "found_accesses", "found_passes")]
        for row in csv_rows(RESULTS / device / "lines.csv")
    ]
    head = ["program", "kernel", "line", "access", "accesses, by hand", "passes, by hand", "accesses", "passes"]
    return markdown(head, body, 4)


# Programs of public repositories that were changed with the patches of `bankcheck cuda --patch`.
APPLIED = ("faster", "equal within the noise", "slower")  # results of kernels whose change was timed


def fitted_kernels(device: str) -> dict:
    """The rows of the kernels with conflicts, by what became of them; instances of a template are kernels."""
    kernels: dict = {state: [] for state in ("no layout", "refused", "not timed", *APPLIED)}
    for row in csv_rows(RESULTS / device / "fit_programs.csv"):
        reasons = row["result"].split("; ")
        if row["result"] in APPLIED:
            kernels[row["result"]].append(row)
        elif row["kernel"] and all(re.match("no layout|an access reaches", reason) for reason in reasons):
            kernels["no layout"].append(row)
        elif row["kernel"]:
            is_refused = not row["passes_predicted"] and re.search(r"\bline \d|declaration", row["result"])
            kernels["refused" if is_refused else "not timed"].append(row)
    return kernels


def as_predicted(row: dict) -> bool | None:
    """Whether the passes that were watched again are in the predicted range; nothing if that is not known."""
    most = row.get("passes_most") or row["passes_predicted"]
    return None if most == "?" else int(row["passes_predicted"]) <= int(row["passes_again"]) <= int(most)


def fitted_table(device: str) -> str:
    """By repository: kernels with conflicts, and what became of them."""
    kernels = fitted_kernels(device)
    programs_of = Counter(repository for repository, _ in {(row["repository"], row["program"]) for row in sum(kernels.values(), [])})
    small = [name for name, programs in programs_of.items() if programs < 5]
    groups = {name: [name] for name, programs in programs_of.most_common() if name not in small}
    body = []
    for name, repositories in (groups | {f"{len(small)} others": small, "all": list(programs_of)}).items():
        own = {state: [row for row in rows if row["repository"] in repositories] for state, rows in kernels.items()}
        programs = {row["program"] for rows in own.values() for row in rows}
        predicted = [as_predicted(row) for rows in own.values() for row in rows if row["passes_again"]]
        known = f"{sum(filter(None, predicted))} of {len(predicted)}"
        unknown = f", {predicted.count(None)} not known" if None in predicted else ""
        body.append([name, *map(str, [len(programs), *map(len, own.values())]), known + unknown])
    return markdown(["repository", "programs", *kernels, "as predicted"], body)


def measured_table(device: str) -> str:
    """The kernels whose change was timed: the greatest gains, and all that lost; the others are counted."""
    rows = sorted((row for state in APPLIED for row in fitted_kernels(device)[state]), key=lambda row: -float(row["speedup"]))
    shown = [row for row in rows if float(row["speedup"]) >= 1.3 or row["result"] == "slower"]
    instances: dict = {}
    for row in shown:
        program = row["program"].rsplit("/", 1)[-1].removesuffix("-cuda").removesuffix(".cu")
        instances.setdefault((program, row["kernel"].split("<")[0], row["result"]), []).append(row)
    body = []
    for (program, kernel, _), same in instances.items():
        count = f", {len(same)} instances" if len(same) > 1 else ""
        row = same[-1]  # the slowest
        time = f"{float(row['ns_before']) / 1000:,.2f}"
        passes = f"{int(row['passes_before']) / int(row['passes_again']):.2f}"
        most = f"{float(row['at_most']):.2f} ×" if row["at_most"] else "–"
        factors = " to ".join(f"{float(row['speedup']):.2f}" for row in (same if count == "" else [same[-1], same[0]]))
        body.append([program, f"`{kernel}`{count}", passes, time, f"{factors} ×", most])
    others = Counter(row["result"] for row in rows if row not in shown)
    counted = ", ".join(f"{n} {result}" for result, n in others.items())
    head = ["program", "kernel", "passes before ÷ after", "µs before", "speedup", "at most"]
    return markdown(head, body, 2) + f"\nBetween these: {counted}.\n"


def unpredicted_table(device: str) -> str:
    """The changed kernels whose passes are not the predicted ones, also where the prediction said that it lacks accesses."""
    body = [
        [row["program"].rsplit("/", 1)[-1], f"`{row['kernel']}`"]
        + [grouped(row[key]) for key in ("passes_before", "passes_predicted", "passes_again")]
        for row in csv_rows(RESULTS / device / "fit_programs.csv")
        if row["passes_again"] and not as_predicted(row) and row["passes_again"] != row["passes_predicted"]
    ]
    return markdown(["program", "kernel", "before", "predicted", "watched again"], body, 2)


def unchanged_table(device: str) -> str:
    """Why kernels with conflicts were not changed: bankcheck's sentences without lines and advice, the commonest first."""
    reasons = Counter()
    kernels = fitted_kernels(device)
    for state in ("no layout", "refused", "not timed"):
        for row in kernels[state]:
            sentences = row["result"].split("; ")
            sentence = next((text for text in sentences if state == "no layout" or not text.startswith("no ")), "no layout pays")
            reason = re.sub(r"^(.*?: )?line \d+: ", "", sentence)
            reasons[state, re.sub(r".*(the declaration of) \S+", r"\1 the array", reason)] += 1
    once = [reason for reason, n in reasons.items() if n == 1]
    body = [[state, reason, str(n)] for (state, reason), n in reasons.most_common() if n > 1]
    body.append(["", "each another reason", str(len(once))])
    return markdown(["", "why", "kernels"], body, 2)


# The functions that generate a table from a device's directory, by the name in the mark; some also need an API.
# Any other name is that of a case study.
TABLES = {
    "strides": stride_table,
    **{which: partial(pattern_table, which) for which in ACCESSES if which != "strides"},
    "targets": target_table,
    "conflicts": conflict_table,
    "block": block_table,
    "bounds": bounds.summary_table,
    "bounds_of_pairs": bounds.pair_table,
    "memory": memory_table,
    "watched": watched_table,
    "costs": costs_table,
    "different": different_table,
    "watched_global": watched_global_table,
    "arbitration": arbitration_table,
    "fitted": fitted_table,
    "timed": measured_table,
    "unpredicted": unpredicted_table,
    "unchanged": unchanged_table,
    "programs": program_table,
    "lines": line_table,
    **{f"ranks_{name}": getattr(ranks, f"{name}_table") for name in ("large", "sizes", "model")},
}
TABLES_BY_API = {"pairs": pair_table, "best": best_table}


def filled(text: str) -> str:
    def table(match: re.Match) -> str:
        begin, device, name, api, end = match.groups()
        if name in TABLES:
            return begin + TABLES[name](device) + end
        return begin + TABLES_BY_API.get(name, partial(case_table, name))(device, api) + end

    return MARKED.sub(table, text)


if __name__ == "__main__":
    PAGES = [ROOT / "README.md", *sorted(ROOT.glob("*/README.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    sys.exit(write_or_check({path: filled(path.read_text(encoding="utf-8")) for path in PAGES}))
