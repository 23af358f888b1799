#!/usr/bin/env python3
"""Compares the speed of the emulator with Oclgrind: the CUDA kernel in the emulator and its OpenCL port in Oclgrind run
the same job alternately.

    beside_oclgrind.py BENCH_EMULATOR [ROUNDS]

Prints a Markdown table: median times in seconds, and the median of the ratios per round.
"""
import statistics
import sys

sys.dont_write_bytecode = True  # of the module next to this file
from campaign import output

JOBS = {
    ("reduction", 1, 1 << 20): ("sequential", "packed"),
    ("prefix_sum", 1, 1 << 20): ("naive", "padded"),
    ("transpose", 1024, 1024): ("naive", "tile32", "swizzled"),
}


def main():
    programs = ["oclgrind", sys.argv[1], "opencl"], [sys.argv[1], "emulator"]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("| job | Oclgrind, s | emulator, s | ratio |\n| --- | ---: | ---: | ---: |")
    for (case, height, width), variant in ((job, variant) for job in JOBS for variant in JOBS[job]):
        job = [case, variant, str(height), str(width)]
        both = [[float(output([*program, *job])) for program in programs] for _ in range(rounds)]
        size = f"{height} × {width}" if height > 1 else f"{width}"
        ratio = statistics.median(theirs / ours for theirs, ours in both)
        theirs, ours = (statistics.median(column) for column in zip(*both))
        print(f"| {case} `{variant}`, {size} | {theirs:.2f} | {ours:.2f} | {ratio:.1f} |", flush=True)


main()
