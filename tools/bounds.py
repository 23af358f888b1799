# SPDX-License-Identifier: MIT
"""The tables of what keeps kernels from being faster: the bank model's passes beside the clock, the parts of the GPU that are
busy, and what warps wait for."""

import math

from reports import PAIRS, block_counters, limits, markdown, model_totals, report, rows, size_text, software, traffic


def clock_rate(device: str) -> float:
    """Clocks a second of a multiprocessor: from the longest of the kernels that count their own."""
    found = report(device, "access_patterns.block")["results"]
    timed = [row for row in found if row["api"] == "cuda" and row["time_median_s"] and row["access"]["clocks"]]
    longest = max(timed, key=lambda row: row["time_median_s"])
    return longest["access"]["clocks"] * longest["access"]["count"] / longest["time_median_s"]


def clocks_of_block(device: str, case: str, variant: str) -> float:
    """Of a turn. The multiprocessor that has most blocks sets the time."""
    row = rows(device, case, "cuda")["block"][variant]
    one = block_counters(device)[case, variant]  # with the extent of one block
    if "height" in row:
        blocks = math.ceil(row["height"] / one["height"]) * math.ceil(row["width"] / one["width"])
    else:
        blocks = math.ceil(row["n"] / one["width"])
    units = next(d["compute_units"] for d in report(device, f"{case}.block")["devices"] if d["api"] == "cuda")
    return row["time_median_s"] * clock_rate(device) / math.ceil(blocks / units)


def conflict_table(device: str) -> str:
    """What a removed conflict saves: clocks that the banks give back, beside passes that they no longer make."""
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
    head = ["pair", "passes, model", "clocks, measured", "saved", "conflicts less, model", "clocks each"]
    head += ["conflicts less, counted", "clocks each"]
    where = ", ".join([*software(device), f"{clock_rate(device) * 1e-9:.2f} GHz"])
    return f"{where}:\n\n" + markdown(head, body)


def block_table(device: str) -> str:
    """The kernels of the pairs inside the block: three ways to count passes, and what the rest of the clocks is."""
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
    head = ["kernel", "passes, model", "counted", "of the pipe", "clocks", "pipe busy", "schedulers busy", "waits at barriers"]
    return f"{', '.join(software(device))}:\n\n" + markdown(head, body)


def extent(flags: str) -> dict:
    words = flags.split()
    return {name.removeprefix("--"): int(value) for name, value in zip(words[::2], words[1::2])}


def memory_table(device: str) -> str:
    """The kernels at the end of the ladders, from memory."""
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
    head = ["kernel", "memory busy", "L2 fabric busy", "bytes moved ÷ needed", "warps resident", "wait for memory", "at barriers"]
    return f"{', '.join(software(device))}:\n\n" + markdown(head, body)
