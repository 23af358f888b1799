#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/pictures/<device>_<case>_sizes.svg, _ladder.svg and <devices>_ranks.svg from the JSON files of
docs/results, with matplotlib.

    plots.py            draws all of them
    plots.py --check    writes nothing; lists the pictures that differ from the results, with exit code 1

A picture ends with two SHA-256 digests: of its numbers and this program, and of the picture itself. Therefore the check
does not need matplotlib. If the versions that drew a picture are installed, the check draws it again and compares every
byte. Exit codes: 0 ok, 1 pictures are out of date, 2 usage, 3 matplotlib is missing.
"""

import argparse
import hashlib
import json
import logging
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported modules next to this file
import ranks
from reports import APIS, CASES, NOT_OURS, RESULTS, ROOT, by_variant, report, size_text, sizes, words

try:
    import drawing

    ENGINE = drawing.ENGINE
except ModuleNotFoundError:
    drawing = ENGINE = None

# Directory, name, peak DRAM bandwidth in GB/s, and its source.
DEVICES = {"nvidia_h200": ("NVIDIA H200", 4800, "limit: 4.8 TB/s of HBM3e, by the data sheet")}
SEVERAL_DEVICES = {"nvidia_h200_x2": "two NVIDIA H200s"}
PICTURES = ROOT / "docs/pictures"
PROGRAM = [Path(__file__), Path(__file__).with_name("drawing.py")]


def gigabytes(row: dict) -> float | None:
    """GB/s, rounded to the precision of the pictures."""
    return None if row.get("bytes_per_s") is None else round(row["bytes_per_s"] * 1e-9, 2)


def sizes_data(device: str, case: str) -> dict:
    """The lines over all sizes: name, API, values (None: not measured). bankwise's variants first, by their last
    value."""
    name, limit, says = DEVICES[device]
    found = {api: sizes(device, case, api) for api in APIS}
    lines, copies = [], [at["copy"] for at in found["cuda"]]
    for api, of_sizes in found.items():
        for variant in of_sizes[0]:
            values = [gigabytes(at.get(variant, {})) for at in of_sizes]
            label = of_sizes[0][variant]["library"] or variant
            if any(values) and not (api == "opencl" and variant in NOT_OURS):
                lines.append({"variant": variant, "label": label, "api": api, "values": values})
    lines.sort(key=lambda line: (line["variant"] in NOT_OURS, -(line["values"][-1] or 0)))
    vector = case != "transpose"
    low = 0 if vector else 500 * int(min(v for line in lines for v in line["values"] if v) // 500)
    return {
        "title": f"{case}: {'size by size' if vector else 'shape by shape'}",
        "subtitle": f"GB/s on an {name}, from memory with a cold cache" + (f"; the axis begins at {low}" if low else ""),
        "low": low,
        "x": [words(copy, case) for copy in copies] if vector else None,
        "ticks": [size_text(copy, case) for copy in copies],
        "axis": "words of input" if vector else "height × width, in words",
        "limit": [limit, says],
        "lines": lines,
        "texts": [],
    }


def ladder_data(device: str, case: str) -> dict:
    """The bars in the order of the variants: name, and the value for each API, or None."""
    results = report(device, f"{case}.memory")["results"]
    found = {api: by_variant(results, api) for api in APIS}
    names = [name for name in found["cuda"] if name not in NOT_OURS and gigabytes(found["cuda"][name])]
    bars = [[name, *(gigabytes(found[api].get(name, {})) for api in APIS)] for name in names]
    copy, library = (found["cuda"][name] for name in NOT_OURS)
    size = size_text(copy, case) if case == "transpose" else f"{size_text(copy, case)} words"
    return {
        "title": f"{case}: variant by variant, {size}",
        "subtitle": f"GB/s on an {DEVICES[device][0]}, from memory with a cold cache",
        "bars": bars,
        "copy": gigabytes(copy),
        "library": [library["library"], gigabytes(library)],
        "texts": [f"{value:.0f}" for bar in bars for value in bar[1:] if value],
    }


def ranks_data(devices: str) -> dict:
    """The variants for several GPUs: the percentages of the table ranks_large."""
    cases = []
    for case in CASES:
        run = ranks.run_of(devices, ranks.max_ranks(devices), case, "cold", True)
        rows = [row for row in ranks.measured(run).values() if row["variant"] not in ranks.ONLY_RATES]
        bars = [[row["variant"], *(round(100 * row[key], 1) for key in ("of_floor", "weak_scaling"))] for row in rows]
        cases.append([f"{case}, {ranks.size_of(run)} words", bars])
    return {
        "title": "Large problems on several GPUs",
        "subtitle": f"on {SEVERAL_DEVICES[devices]}; floor of prefix_sum: 3 n words, of cyclic 2 n",
        "cases": cases,
        "texts": [f"{value:.0f}" for _, bars in cases for bar in bars for value in bar[1:]],
    }


def pictures() -> list:
    """Name, data and kind of every picture."""
    found = []
    for device in (device for device in DEVICES if (RESULTS / device).is_dir()):
        for case in CASES:
            found.append((f"{device}_{case}_sizes", sizes_data(device, case), "sizes"))
            found.append((f"{device}_{case}_ladder", ladder_data(device, case), "ladder"))
    for devices in (devices for devices in SEVERAL_DEVICES if (RESULTS / devices).is_dir()):
        found.append((f"{devices}_ranks", ranks_data(devices), "ranks"))
    return found


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(data: dict) -> str:
    """The digest of the numbers and of the program that draws them."""
    return digest(json.dumps(data, sort_keys=True) + "".join(path.read_text(encoding="utf-8") for path in PROGRAM))


SIGNED = re.compile(r"(.*)<!-- plots\.py, (.*): numbers (\w{64}), picture (\w{64}) -->\n", re.DOTALL)


def fault(path: Path, data: dict, kind: str) -> str | None:
    """The error of a picture; None if it is up to date."""
    if not path.is_file():
        return "is missing"
    signed = SIGNED.fullmatch(path.read_text(encoding="utf-8"))
    if not signed:
        return "was not written by plots.py"
    picture, engine, numbers, itself = signed.groups()
    if numbers != digest_of(data):
        return "differs from the results, or plots.py has changed"
    missing = list(data["texts"])
    for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture):
        if text in missing:
            missing.remove(text)
    if itself != digest(picture) or missing:
        return "has been changed by hand"
    if engine == ENGINE and drawing.svg_of(data, kind) != picture:
        return "differs when it is drawn again"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a picture is out of date")
    check = parser.parse_args().check
    if ENGINE is None and not check:
        print("matplotlib is missing; Debian and Ubuntu have it as python3-matplotlib", file=sys.stderr)
        return 3
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    stale = []
    for name, data, kind in pictures():
        path = PICTURES / f"{name}.svg"
        if not check:
            picture = drawing.svg_of(data, kind)
            signature = f"numbers {digest_of(data)}, picture {digest(picture)}"
            path.write_text(f"{picture}<!-- plots.py, {ENGINE}: {signature} -->\n", encoding="utf-8")
        if found := fault(path, data, kind):
            stale.append(f"{path.relative_to(ROOT)} {found}")
    if stale:
        print("\n".join([*stale, "please run tools/plots.py"]), file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
