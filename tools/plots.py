#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/pictures/<device>_<case>_sizes.svg, _ladder.svg and <devices>_ranks.svg from the JSON files of
docs/results, with matplotlib. A picture is 860 pixels wide; its text is stored as text, not as paths.

    plots.py            draws all of them
    plots.py --check    writes nothing; lists the pictures that differ from the results, with exit code 1

A picture ends with two SHA-256 digests: of its numbers and this program, and of the picture itself. Therefore the check
does not need matplotlib. If the versions that drew a picture are installed, the check draws it again and compares every
byte. Exit codes: 0 ok, 1 pictures are out of date, 2 usage, 3 matplotlib is missing.
"""

import argparse
import hashlib
import io
import json
import logging
import re
import sys
from html import escape
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported modules next to this file
import ranks
from pictures import INK, MUTED, PAPER, RULE
from reports import APIS, CASES, NOT_OURS, RESULTS, ROOT, by_variant, report, size_text, sizes, words

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ft2font import __freetype_version__ as freetype
    from matplotlib.lines import Line2D

    ENGINE = f"matplotlib {matplotlib.__version__}, FreeType {freetype}"
except ModuleNotFoundError:
    ENGINE = None

# Directory, name, peak DRAM bandwidth in GB/s, and its source.
DEVICES = {"nvidia_h200": ("NVIDIA H200", 4800, "limit: 4.8 TB/s of HBM3e, by the data sheet")}
SEVERAL_DEVICES = {"nvidia_h200_x2": "two NVIDIA H200s"}
PICTURES = ROOT / "docs/pictures"
WIDTH = 860
TOP = 5000  # of the axes, in GB/s
FONTS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
COPY, LIBRARY = MUTED, "#c4501b"
BARS = {"cuda": ("#2f6fb3", "#fff"), "opencl": ("#9cc3e6", INK)}  # bar, and numbers inside it
OURS = ("#2f6fb3", "#2b8a57", "#8a5bb5", "#b58a00", "#b0397a", "#3aa0a8")  # bankwise's variants, the fastest first
MARKERS = "osD^v<"
DASHES, DOTS = (0, (4, 2.5)), (0, (1.5, 2))


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


def canvas(data: dict, height: int, *panels: tuple) -> tuple:
    """A figure with its heading, and one set of axes per panel. A panel is left, top, right and bottom in pixels."""
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    figure.text(20 / WIDTH, 1 - 30 / height, data["title"], fontsize=15, fontweight="bold", color=INK)
    figure.text(20 / WIDTH, 1 - 50 / height, data["subtitle"], color=MUTED)
    drawn = []
    for left, top, right, bottom in panels:
        axes = figure.add_axes((left / WIDTH, 1 - bottom / height, (right - left) / WIDTH, (bottom - top) / height))
        axes.set_facecolor("none")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(RULE)
        axes.tick_params(length=0, colors=INK, pad=7)
        axes.grid(axis="y", color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
        drawn.append(axes)
    return figure, *drawn


def legend(figure, handles: list) -> None:
    """Draws the legend as a row, right of the heading."""
    corner = (1 - 24 / WIDTH, 1 - 42 / figure.bbox.height)
    look = {"frameon": False, "labelcolor": INK, "columnspacing": 1.6, "handlelength": 2.78, "borderpad": 0, "borderaxespad": 0}
    figure.legend(handles=handles, loc="upper right", ncols=len(handles), bbox_to_anchor=corner, **look)


def spread(wanted: list, gap: float) -> list:
    """The heights `wanted`, in rising order, moved apart so that neighbours are at least `gap` apart."""
    groups = [[height, [height]] for height in wanted]  # each group's middle, and its members' heights
    i = 0
    while i < len(groups) - 1:
        (low, below), (high, above) = groups[i : i + 2]
        if high - low < gap * (len(below) + len(above)) / 2 - 1e-9:
            members = below + above
            groups[i : i + 2] = [[sum(members) / len(members), members]]
            i = 0
        else:
            i += 1
    return [middle + gap * (k - (len(members) - 1) / 2) for middle, members in groups for k in range(len(members))]


def names_of(lines: list, near: float) -> list:
    """The labels at the ends of the lines: height, text, variant. The two APIs share a label if their lines end
    together."""
    found = []
    lines = [line for line in lines if line["values"][-1]]
    for line in lines:
        ends = [other["values"][-1] for other in lines if other["variant"] == line["variant"]]
        together = len(ends) == 2 and abs(ends[0] - ends[1]) < near
        if together and line["api"] == "opencl":
            continue
        alone = len(ends) == 1 and line["variant"] not in NOT_OURS
        text = line["label"] + (f", {APIS[line['api']]}" if len(ends) == 2 and not together or alone else "")
        found.append((sum(ends) / 2 if together else line["values"][-1], text, line["variant"]))
    return sorted(found)


def draw_sizes(data: dict):
    unit = (TOP - data["low"]) / 300  # of a pixel
    names = names_of(data["lines"], 12 * unit)
    left, right = 62, WIDTH - 46 - round(6.9 * max(len(text) for _, text, _ in names))
    panels = [(left, 80, right, 380), *([(left, 432, right, 532)] if data["x"] else [])]
    figure, axes, *lower = canvas(data, 580 if data["x"] else 430, *panels)
    positions = [value.bit_length() - 1 for value in data["x"]] if data["x"] else list(range(len(data["ticks"])))
    ours = list(dict.fromkeys(line["variant"] for line in data["lines"] if line["variant"] not in NOT_OURS))
    colors = {"copy": COPY, "library": LIBRARY} | {name: OURS[i % len(OURS)] for i, name in enumerate(ours)}
    markers = {"copy": "", "library": "x"} | {name: MARKERS[i % len(MARKERS)] for i, name in enumerate(ours)}

    def draw(on, line: dict, values: list) -> None:
        variant, dashed = line["variant"], line["api"] == "opencl"
        values, color = [float("nan") if value is None else value for value in values], colors[variant]
        marker = {"marker": markers[variant], "markersize": 6 if variant == "library" else 5}
        stroke = {"linestyle": DASHES if dashed else "-", "linewidth": 1.3 if variant == "copy" else 1.8}
        order = (3 if variant in ours else 2.5) + dashed / 10
        on.plot(positions, values, color=color, zorder=order, markerfacecolor=PAPER if dashed else color, **marker, **stroke)

    limit, says = data["limit"]
    axes.axhline(limit, color=INK, linewidth=1.3, linestyle=DOTS)
    axes.text(0, limit - 15 * unit, says, color=INK, transform=axes.get_yaxis_transform())
    for line in data["lines"]:
        draw(axes, line, line["values"])
    end, pixel = positions[-1], (axes.get_xlim()[1] - axes.get_xlim()[0]) / (right - left)
    for (height, text, variant), at in zip(names, spread([height for height, *_ in names], 15 * unit)):
        x = [end + pixels * pixel for pixels in (8, 20, 26)]
        axes.plot(x, [height, at, at], color=colors[variant], linewidth=0.7, clip_on=False)
        axes.text(end + 30 * pixel, at - 4 * unit, text, color=colors[variant])
    axes.set_xlim(positions[0] - 22 * pixel, end + 8 * pixel)
    axes.set_ylim(data["low"], TOP)
    axes.set_yticks(range(data["low"], TOP + 1, 1000 if data["x"] else 500))
    library = next(line for line in data["lines"] if line["variant"] == "library")
    for below in lower:
        for line in data["lines"]:
            if line["variant"] != "copy":
                draw(below, line, [value and other and value / other for value, other in zip(line["values"], library["values"])])
        below.set_xlim(axes.get_xlim())
        below.text(0, 1.1, f"the same ÷ {library['label']}", color=MUTED, transform=below.transAxes)
        below.yaxis.set_major_formatter("{x:.1f} ×")
    for each in (axes, *lower):
        each.set_xticks(positions, data["ticks"])
    (lower or [axes])[-1].set_xlabel(data["axis"], color=MUTED, labelpad=8)
    look = {"color": INK, "linewidth": 1.8, "marker": "o", "markersize": 5}
    solid = Line2D([], [], label="CUDA", **look)
    legend(figure, [solid, Line2D([], [], label="OpenCL", linestyle=DASHES, markerfacecolor=PAPER, **look)])
    return figure


def draw_ladder(data: dict):
    figure, axes = canvas(data, 430, (62, 80, 840, 376))
    handles, wide = [], 0.42
    for side, api in enumerate(APIS):
        fill, ink = BARS[api]
        for place, bar in enumerate(data["bars"]):
            value, x = bar[1 + side], place + (side - 0.5) * wide
            if value is None:
                axes.text(x, 60, "–", ha="center", color=MUTED)
                continue
            drawn = axes.bar(x, value, wide * 0.95, color=fill, label=APIS[api], zorder=3)
            up, color = (-210, ink) if value > 400 else (60, INK)  # a line of copy or library may pass above
            axes.text(x, value + up, f"{value:.0f}", ha="center", fontsize=9.5, color=color, zorder=4)
        handles.append(drawn)
    handles.append(axes.axhline(data["library"][1], color=LIBRARY, linewidth=1.4, zorder=2, label=data["library"][0]))
    handles.append(axes.axhline(data["copy"], color=COPY, linewidth=1.4, linestyle=DOTS, zorder=2, label="copy"))
    axes.set_xticks(range(len(data["bars"])), [bar[0].replace("_", "_\n") for bar in data["bars"]])
    axes.set_xlim(-0.55, len(data["bars"]) - 0.45)
    axes.set_ylim(0, TOP)
    legend(figure, handles)
    return figure


def draw_ranks(data: dict):
    """Two bars per variant, in percent; the case studies next to each other."""
    figure, axes = canvas(data, 412, (62, 80, 840, 336))
    looks, wide, place, ticks, handles = (("of floor", "cuda"), ("weak scaling", "opencl")), 0.42, 0, [], []
    for case, bars in data["cases"]:
        axes.text(place - 0.4, -28, case, color=MUTED)
        for name, *values in bars:
            for side, (label, look) in enumerate(looks):
                fill, ink = BARS[look]
                x, value = place + (side - 0.5) * wide, values[side]
                handles.append(axes.bar(x, value, wide * 0.95, color=fill, label=label, zorder=3))
                axes.text(x, value - 6, f"{value:.0f}", ha="center", fontsize=9.5, color=ink, zorder=4)
            ticks.append((place, name))
            place += 1
        place += 0.6
    axes.axhline(100, color=COPY, linewidth=1.4, linestyle=DOTS, zorder=2)
    axes.set_xticks([x for x, _ in ticks], [name.replace("_", "_\n") for _, name in ticks])
    axes.set_xlim(-0.6, ticks[-1][0] + 0.6)
    axes.set_ylim(0, 115)
    axes.set_yticks(range(0, 101, 25))
    axes.yaxis.set_major_formatter("{x:.0f} %")
    legend(figure, handles[:2])
    return figure


def svg_of(data: dict, draw) -> str:
    settings = {"svg.fonttype": "none", "svg.hashsalt": "bankwise", "font.size": 11, "text.parse_math": False}
    settings["font.family"] = "DejaVu Sans"  # part of matplotlib, which uses it to measure text
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **settings, "backend": "svg"}):
        out = io.StringIO()
        draw(data).savefig(out, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = out.getvalue()
    height = re.search(r'viewBox="0 0 \d+ (\d+)"', text)[1]
    size = f'width="{WIDTH}" height="{height}"'
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    head = f'<svg {spaces} {size} viewBox="0 0 {WIDTH} {height}" role="img">\n<title>{escape(data["title"])}</title>\n'
    paper = f'<rect {size} rx="8" fill="{PAPER}"/>\n'  # dark ink would be lost on a dark page
    body = text[re.search(r"<svg[^>]*>\n", text).end() :]
    return head + paper + body.replace("'DejaVu Sans'", FONTS)


def pictures() -> list:
    """Name, data and drawing function of every picture."""
    found = []
    for device in (device for device in DEVICES if (RESULTS / device).is_dir()):
        for case in CASES:
            found.append((f"{device}_{case}_sizes", sizes_data(device, case), draw_sizes))
            found.append((f"{device}_{case}_ladder", ladder_data(device, case), draw_ladder))
    several = (devices for devices in SEVERAL_DEVICES if (RESULTS / devices).is_dir())
    return found + [(f"{devices}_ranks", ranks_data(devices), draw_ranks) for devices in several]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(data: dict) -> str:
    """The digest of the numbers and of the program that draws them."""
    return digest(json.dumps(data, sort_keys=True) + Path(__file__).read_text(encoding="utf-8"))


SIGNED = re.compile(r"(.*)<!-- plots\.py, (.*): numbers (\w{64}), picture (\w{64}) -->\n", re.DOTALL)


def fault(path: Path, data: dict, draw) -> str | None:
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
    return "differs when it is drawn again" if engine == ENGINE and svg_of(data, draw) != picture else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a picture is out of date")
    check = parser.parse_args().check
    if ENGINE is None and not check:
        print("matplotlib is missing; Debian and Ubuntu have it as python3-matplotlib", file=sys.stderr)
        return 3
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    stale = []
    for name, data, draw in pictures():
        path = PICTURES / f"{name}.svg"
        if not check:
            picture = svg_of(data, draw)
            signature = f"numbers {digest_of(data)}, picture {digest(picture)}"
            path.write_text(f"{picture}<!-- plots.py, {ENGINE}: {signature} -->\n", encoding="utf-8")
        if found := fault(path, data, draw):
            stale.append(f"{path.relative_to(ROOT)} {found}")
    if stale:
        print("\n".join([*stale, "please run tools/plots.py"]), file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
