#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the speed of the emulator with Oclgrind: the CUDA kernel in the emulator and its OpenCL port in Oclgrind run
the same job alternately.

    beside_oclgrind.py BENCH_EMULATOR [ROUNDS]

Prints a Markdown table: median times in seconds, and the median of the ratios per round.
"""
import statistics
import subprocess
import sys

JOBS = {
    ("reduction", 1, 1 << 20): ("sequential", "packed"),
    ("prefix_sum", 1, 1 << 20): ("naive", "padded"),
    ("transpose", 1024, 1024): ("naive", "tile32", "swizzled"),
}


def seconds(command):
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    bench, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("| job | Oclgrind, s | emulator, s | ratio |\n| --- | ---: | ---: | ---: |")
    for (case, height, width), variant in ((job, variant) for job in JOBS for variant in JOBS[job]):
        job = [case, variant, str(height), str(width)]
        both = [(seconds(["oclgrind", bench, "opencl", *job]), seconds([bench, "emulator", *job])) for _ in range(rounds)]
        size = f"{height} × {width}" if height > 1 else f"{width}"
        ratio = statistics.median(theirs / ours for theirs, ours in both)
        theirs, ours = (statistics.median(column) for column in zip(*both))
        print(f"| {case} `{variant}`, {size} | {theirs:.2f} | {ours:.2f} | {ratio:.1f} |", flush=True)


main()
