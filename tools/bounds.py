# SPDX-License-Identifier: MIT
"""Generates the tables of what limits the kernels: the bank model's passes compared with measured clocks, the
utilization of the parts of the GPU, and the stall reasons of warps."""

import math

from reports import PAIRS, block_counters, limits, markdown, model_totals, report, rows, size_text, software, traffic


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
    if "height" in row:
        blocks = math.ceil(row["height"] / one["height"]) * math.ceil(row["width"] / one["width"])
    else:
        blocks = math.ceil(row["n"] / one["width"])
    units = next(d["compute_units"] for d in report(device, f"{case}.block")["devices"] if d["api"] == "cuda")
    return row["time_median_s"] * clock_rate(device) / math.ceil(blocks / units)


def conflict_table(device: str) -> str:
    """The clocks saved per removed conflict: the difference in clocks, compared with the difference in conflicts."""
    counters, body = block_counters(device), []
    for case, before, after in PAIRS:
        totals = model_totals(device, case)
        old, new = (counters[case, variant] for variant in (before, after))
        clocks = [clocks_of_block(device, case, variant) for variant in (before, after)]
        saved = clocks[0] - clocks[1]
        model = totals[before]["conflicts"] - totals[after]["conflicts"]
        counted = sum(old[k] - new[k] for k in ("load_conflicts", "store_conflicts", "atomic_conflicts"))
        passes = [totals[v]["passes"] for v in (before, after)]
        body.append(
            [f"{case} `{before}` → `{after}`"]
            + [f"{passes[0]} → {passes[1]}: {passes[0] / passes[1]:.2f} ×"]
            + [f"{clocks[0]:.0f} → {clocks[1]:.0f}: {clocks[0] / clocks[1]:.2f} ×", f"{saved:.0f}"]
            + [text for removed in (model, counted) for text in (str(removed), f"{saved / removed:.2f}")]
        )
    head = ["pair", "passes, model", "clocks, measured", "clocks saved", "conflicts removed, model", "clocks per conflict"]
    head += ["conflicts removed, counted", "clocks per conflict"]
    where = ", ".join([*software(device), f"{clock_rate(device) * 1e-9:.2f} GHz"])
    return f"{where}:\n\n" + markdown(head, body)


def block_table(device: str) -> str:
    """The kernels of the pairs in shared memory: three counts of passes, and where the other clocks are spent."""
    counters, body = block_counters(device), []
    found = {(row["case"], row["variant"]): row for row in limits(device) if row["flags"] == "--scope block"}
    for case, variant in dict.fromkeys((case, variant) for case, *pair in PAIRS for variant in pair):
        limit, turns = found[case, variant], rows(device, case, "cuda")["block"][variant]["repeats"]
        model = model_totals(device, case)[variant]["passes"]
        counted = sum(counters[case, variant][kind] for kind in ("load_passes", "store_passes", "atomic_passes"))
        pipe = int(limit["shared_passes"]) / int(limit["blocks"]) / turns
        body.append(
            [f"{case} `{variant}`", str(model), str(counted), f"{pipe:.0f}", f"{clocks_of_block(device, case, variant):.0f}"]
            + [f"{float(limit[part]):.0f} %" for part in ("shared", "issue", "stall_barrier")]
        )
    head = ["kernel", "passes, model", "counted", "of the pipe", "clocks", "pipe busy", "schedulers busy", "stalled at barriers"]
    return f"{', '.join(software(device))}:\n\n" + markdown(head, body)


def extent(flags: str) -> dict:
    words = flags.split()
    return {name.removeprefix("--"): int(value) for name, value in zip(words[::2], words[1::2])}


def memory_table(device: str) -> str:
    """The fastest kernels of the case studies, with data in DRAM."""
    body = []
    for row in limits(device):
        if row["flags"] == "--scope block":
            continue
        size = extent(row["flags"])
        elements = size["n"] if "n" in size else size["height"] * size["width"]
        moved = (int(row["bytes_read"]) + int(row["bytes_written"])) / (elements * traffic(row["case"]))
        body.append(
            [f"{row['case']} `{row['variant']}`, {size_text(size, row['case'])}"]
            + [f"{float(row[part]):.0f} %" for part in ("memory", "l2_fabric")]
            + [f"{moved:.3f}"]
            + [f"{float(row[part]):.0f} %" for part in ("warps", "stall_global_memory", "stall_barrier")]
        )
    head = ["kernel", "DRAM busy", "L2 fabric busy", "bytes moved ÷ needed", "warps resident"]
    head += ["stalled on memory", "stalled at barriers"]
    return f"{', '.join(software(device))}:\n\n" + markdown(head, body)
