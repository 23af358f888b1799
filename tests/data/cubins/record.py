#!/usr/bin/env python3
"""Makes the cubins of this folder and what nvdisasm says about them; needs nvcc, ptxas and nvdisasm, but no GPU.

For each cubin a text file: per instruction that can access shared memory its function, offset, opcode, and the file and
line of each call that was inlined, innermost first. nvdisasm prints callers only where the innermost line changes; "?"
ends a line whose callers are not printed. encodings.txt has instructions with changed bits: architecture, the two
halves, and nvdisasm's opcode.
"""
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# name, architecture, kernels, options of ptxas
CUBINS = [
    ("turing", 75, ["transpose/tile32_padded", "tests/case_studies/more_kernels/bytes"], ["-lineinfo"]),
    ("ampere", 80, ["tests/case_studies/more_kernels/queue"], ["-lineinfo"]),
    ("hopper", 90, ["tests/case_studies/more_kernels/shuffle_scan", "tests/case_studies/more_kernels/histogram"],
     ["-lineinfo"]),
    ("blackwell", 120, ["tests/case_studies/more_kernels/double_columns",
                        "tests/case_studies/more_kernels/queue_aggregated"], ["-lineinfo"]),
    ("named_arrays", 90, ["tests/case_studies/more_kernels/queue"], ["-g"]),
    ("copies", 90, ["tests/data/cubins/copies"], ["-lineinfo"]),
    ("no_lines", 100, ["transpose/tile32_padded"], []),
]
ENCODINGS_OF = [75, 80, 86, 89, 90, 100, 120]
SHARED = re.compile(r"(LDS|STS|ATOMS|LDSM|STSM|LDGSTS|STAS|REDAS|LD|ST|ATOM)(\.|$)")


def run(*command, folder=ROOT):
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=folder).stdout


def make(folder, arch, kernels, options, cubin):
    source, ptx = folder / "kernels.cu", folder / "kernels.ptx"
    for kernel in kernels:  # copied, as debug information holds the folder's path
        (folder / kernel).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / f"{kernel}.cuh", folder / f"{kernel}.cuh")
    source.write_text("".join(f'#include "{kernel}.cuh"\n' for kernel in kernels))
    front = {"-lineinfo": "-lineinfo", "-g": "-G"}
    run("nvcc", "-ptx", f"-arch=compute_{arch}", *[front[option] for option in options], "-I.", source.name,
        "-o", ptx.name, folder=folder)
    # Paths of this machine do not belong in the repository.
    text = re.sub(r'"/\S*/include/', '"cuda/include/', ptx.read_text())
    ptx.write_text(re.sub(r'(\.file\s+\d+ ")\./', r"\1", text.replace(f"{folder}/", "")))
    run("ptxas", f"-arch=sm_{arch}", *options, ptx, "-o", cubin)


def opcode_of(instruction):
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0].rstrip(";")


def described(cubin):
    """The lines of the text file, from nvdisasm's listing."""
    lines, function, chain, calls, is_fresh = [], None, [], None, False
    for text in run("nvdisasm", "-gi", "-c", cubin).splitlines():
        if label := re.match(r"\.text\.(\S+):$", text):
            function, chain, is_fresh = label[1], [], False
        elif mark := re.match(r'\s*//## File "(.*?)", line (\d+)( inlined at "(.*)", line (\d+))?', text):
            here = (mark[1], mark[2])
            chain = chain + [here] if is_fresh and here == calls else [here]
            calls, is_fresh = ((mark[4], mark[5]) if mark[3] else None), True
        elif (code := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?);", text)) and function:
            opcode = opcode_of(code[2])
            if SHARED.match(opcode):
                places = chain if is_fresh else chain[:1] + ["?"] * bool(chain)
                lines.append(" ".join([function, code[1], opcode] +
                                      [place if place == "?" else ":".join(place) for place in places]))
            is_fresh = False
    return lines


def disassembled(arch, words, folder):
    """nvdisasm's opcode for each instruction, None where it refuses it."""
    found, rest = [None] * len(words), list(range(len(words)))
    raw = folder / "words.bin"
    while rest:
        raw.write_bytes(b"".join(words[i].to_bytes(16, "little") for i in rest))
        done = subprocess.run(["nvdisasm", "-b", f"SM{arch}", "-ndf", "-hex", str(raw)], capture_output=True, text=True)
        if done.returncode == 0:
            for offset, text in re.findall(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?);?\s*/\* 0x[0-9a-f]{16} \*/", done.stdout,
                                           re.MULTILINE):
                found[rest[int(offset, 16) // 16]] = opcode_of(text)
            break
        refused = {int(offset, 16) // 16 for offset in re.findall(r"address 0x([0-9a-f]+)", done.stderr)}
        rest = [word for i, word in enumerate(rest) if i not in refused]
    return found


def encodings(arch, folder):
    """Instructions of all kernels, each as it is and with some bits of its modifiers changed."""
    cubin = folder / "all.cubin"
    lists = [(ROOT / room / "case_studies.txt").read_text().splitlines() for room in ("cmake", "tests")]
    folders = [line for lines in lists for line in lines if not line.startswith("#")]
    kernels = [path for folder in folders for path in sorted((ROOT / folder).glob("*.cuh"))]
    source = folder / "all.cu"
    source.write_text("".join(f'#include "{path}"\n' for path in kernels) + (HERE / "more_accesses.cu").read_text())
    run("nvcc", "-cubin", "-std=c++17", f"-arch=sm_{arch}", source, "-o", cubin)
    seeds = {}
    listing = run("nvdisasm", "-c", "-hex", cubin)
    half = r"\s+/\* 0x([0-9a-f]{16}) \*/"
    for text, low, high in re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?);" + half + half, listing, re.MULTILINE):
        if SHARED.match(opcode_of(text)):
            word = int(low, 16) | int(high, 16) << 64
            seeds.setdefault((word & 0xFFF, opcode_of(text)), word)
    chance = random.Random(arch)
    words = list(seeds.values())
    for seed in seeds.values():
        for count in (1,):
            word = seed
            for bit in chance.sample(range(64, 92), count):
                word ^= 1 << bit
            words.append(word)
    rows = []
    for word, opcode in zip(words, disassembled(arch, words, folder)):
        if opcode and SHARED.match(opcode):
            rows.append(f"{arch} {word % 2**64:016x} {word >> 64:016x} {opcode}")
    return sorted(set(rows), key=lambda row: (row.split()[3], row))


def main():
    folder = Path(tempfile.gettempdir()) / "bankwise_cubins"
    folder.mkdir()
    try:
        for name, arch, kernels, options in CUBINS:
            cubin = HERE / f"{name}.cubin"
            make(folder, arch, kernels, options, cubin)
            (HERE / f"{name}.txt").write_text("\n".join(described(cubin)) + "\n")
            print(name, cubin.stat().st_size, "bytes")
        rows = [row for arch in ENCODINGS_OF for row in encodings(arch, folder)]
        (HERE / "encodings.txt").write_text("\n".join(rows) + "\n")
        print(len(rows), "encodings")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
