#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what limits the kernels: how busy the parts of the GPU are, and why warps stall.

    limits.py BUILD > limits.csv

BUILD is a build directory with the samples, built with CUDA. `ncu` of the CUDA Toolkit profiles each kernel in JOBS
once. The utilization of parts is in percent of their peak, stalls are in percent of the time that warps are resident.
The bytes of DRAM and the passes (NVIDIA: wavefronts) of the shared-memory pipe are totals of the kernel. Exit codes: 0
ok, 2 usage, 3 a run failed.
"""
import csv
import sys

sys.dont_write_bytecode = True  # of the imported module next to this file
import subprocess
from pathlib import Path

from ncu import blocks, kernel_name, profiled, why
from reports import PREFIX

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
# The stall reasons of a warp that does not issue (is not selected), by column.
STALLS = {
    "barrier": ["barrier"],
    "shared_memory": ["short_scoreboard", "mio_throttle"],
    "global_memory": ["long_scoreboard", "lg_throttle", "drain"],
    "instructions": ["wait", "no_instruction", "branch_resolving", "dispatch_stall", "math_pipe_throttle", "imc_miss"],
    "turn": ["not_selected"],
    "other": ["membar", "sleeping", "misc", "tex_throttle", "gmma"],
}
# Case, variants, flags.
JOBS = (
    ("reduction", "naive,packed", ["--scope", "block"]),
    ("prefix_sum", "naive,padded", ["--scope", "block"]),
    ("transpose", "naive,padded,tile32,tile32_padded,swizzled", ["--scope", "block"]),
    ("reduction", "single_pass", ["--n", str(1 << 28)]),
    ("prefix_sum", "look_back,ring", ["--n", str(1 << 28)]),
    ("transpose", "output_order,prefetched,persisting,tma", ["--height", "16384", "--width", "16384"]),
    ("transpose", "output_order,prefetched,persisting,tma", ["--height", "32768", "--width", "32768"]),
    ("transpose", "output_order,prefetched,persisting,tma", ["--height", "16384", "--width", "16416"]),
    ("transpose", "output_order,prefetched,persisting,tma", ["--height", "20000", "--width", "12345"]),
)


def stall(reason: str) -> str:
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


def metrics() -> list:
    return [*PARTS.values(), *TOTALS.values(), stall("selected"), *(stall(reason) for reasons in STALLS.values() for reason in reasons)]


def number(text: str | None) -> float:
    """The value of a metric; 0 for n/a, a metric that this GPU lacks."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return 0.0


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["case", "variant", "flags", "kernel", "blocks", *PARTS, *TOTALS, *(f"stall_{name}" for name in STALLS)])
    for case, variants, flags in JOBS:
        try:
            rows = profiled(Path(sys.argv[1]), case, metrics(), ["--variant", variants, *flags])
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{case} {' '.join(flags)}: {why(error)}", file=sys.stderr)
            return 3
        for variant in variants.split(","):
            # A variant may have several launches; the first one does most of the work.
            names = (PREFIX[case] + variant, PREFIX[case] + variant + "_repeated")
            row = next((row for row in rows if kernel_name(row) in names), None)
            if row is None:
                print(f"{case} {' '.join(flags)}: ncu reports no kernel of {variant}", file=sys.stderr)
                return 3
            waits = {name: sum(number(row.get(stall(reason))) for reason in reasons) for name, reasons in STALLS.items()}
            total = sum(waits.values()) + number(row.get(stall("selected"))) or 1.0
            out.writerow(
                [case, variant, " ".join(flags), kernel_name(row), blocks(row)]
                + [f"{number(row.get(metric)):.1f}" for metric in PARTS.values()]
                + [f"{number(row.get(metric)):.0f}" for metric in TOTALS.values()]
                + [f"{100 * wait / total:.1f}" for wait in waits.values()]
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
