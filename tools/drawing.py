# SPDX-License-Identifier: MIT
"""Draws the pictures of plots.py with matplotlib. A picture is 860 pixels wide; its text is stored as text, not as
paths."""

import io
import re
from html import escape

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ft2font import __freetype_version__ as freetype
from matplotlib.lines import Line2D

from reports import APIS, NOT_OURS

ENGINE = f"matplotlib {matplotlib.__version__}, FreeType {freetype}"
WIDTH = 860
TOP = 5000  # of the axes, in GB/s
# As in tools/pictures.py.
PAPER, RULE, INK, MUTED = "#fdfdfb", "#c3cad2", "#1f2933", "#5f6b78"
FONTS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
COPY, LIBRARY = MUTED, "#c4501b"
BARS = {"cuda": ("#2f6fb3", "#fff"), "opencl": ("#9cc3e6", INK)}  # bar, and numbers inside it
OURS = ("#2f6fb3", "#2b8a57", "#8a5bb5", "#b58a00", "#b0397a", "#3aa0a8")  # bankwise's variants, the fastest first
MARKERS = "osD^v<"
DASHES, DOTS = (0, (4, 2.5)), (0, (1.5, 2))


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
    look = {"frameon": False, "labelcolor": INK, "columnspacing": 1.6, "handlelength": 2.78, "borderpad": 0, "borderaxespad": 0}
    figure.legend(
        handles=handles,
        loc="upper right",
        ncols=len(handles),
        bbox_to_anchor=(1 - 24 / WIDTH, 1 - 42 / figure.bbox.height),
        **look,
    )


def spread(wanted: list, gap: float) -> list:
    """The heights `wanted`, in rising order, moved apart so that neighbours are at least `gap` apart."""
    groups = [[height, [height]] for height in wanted]  # each group's middle, and its members' heights
    merged = True
    while merged:
        merged = False
        for i in range(len(groups) - 1):
            (low, below), (high, above) = groups[i], groups[i + 1]
            if high - low < gap * (len(below) + len(above)) / 2 - 1e-9:
                members = below + above
                groups[i : i + 2] = [[sum(members) / len(members), members]]
                merged = True
                break
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
    left, names_left = 62, WIDTH - 46 - round(6.9 * max(len(text) for _, text, _ in names))
    figure, axes, *lower = canvas(
        data, 580 if data["x"] else 430, (left, 80, names_left, 380), *([(left, 432, names_left, 532)] if data["x"] else [])
    )
    positions = [value.bit_length() - 1 for value in data["x"]] if data["x"] else list(range(len(data["ticks"])))
    ours = list(dict.fromkeys(line["variant"] for line in data["lines"] if line["variant"] not in NOT_OURS))
    colors = {"copy": COPY, "library": LIBRARY} | {name: OURS[i % len(OURS)] for i, name in enumerate(ours)}
    markers = {"copy": "", "library": "x"} | {name: MARKERS[i % len(MARKERS)] for i, name in enumerate(ours)}

    def draw(on, line: dict, values: list) -> None:
        variant, dashed = line["variant"], line["api"] == "opencl"
        color = colors[variant]
        look = {
            "marker": markers[variant],
            "markersize": 6 if variant == "library" else 5,
            "markerfacecolor": PAPER if dashed else color,
        }
        look |= {"linestyle": DASHES if dashed else "-", "linewidth": 1.3 if variant == "copy" else 1.8}
        on.plot(
            positions,
            [float("nan") if value is None else value for value in values],
            color=color,
            zorder=(3 if variant in ours else 2.5) + dashed / 10,
            **look,
        )

    limit, says = data["limit"]
    axes.axhline(limit, color=INK, linewidth=1.3, linestyle=DOTS)
    axes.text(0, limit - 15 * unit, says, color=INK, transform=axes.get_yaxis_transform())
    for line in data["lines"]:
        draw(axes, line, line["values"])
    end, pixel = positions[-1], (axes.get_xlim()[1] - axes.get_xlim()[0]) / (names_left - left)
    for (height, text, variant), at in zip(names, spread([height for height, *_ in names], 15 * unit)):
        axes.plot(
            [end + 8 * pixel, end + 20 * pixel, end + 26 * pixel],
            [height, at, at],
            color=colors[variant],
            linewidth=0.7,
            clip_on=False,
        )
        axes.text(end + 30 * pixel, at - 4 * unit, text, color=colors[variant])
    axes.set_xlim(positions[0] - 22 * pixel, end + 8 * pixel)
    axes.set_ylim(data["low"], TOP)
    axes.set_yticks(range(data["low"], TOP + 1, 1000 if data["x"] else 500))
    library = next(line for line in data["lines"] if line["variant"] == "library")
    for below in lower:
        for line in data["lines"]:
            if line["variant"] != "copy":
                draw(
                    below, line, [value and other and value / other for value, other in zip(line["values"], library["values"])]
                )
        below.set_xlim(axes.get_xlim())
        below.text(0, 1.1, f"the same ÷ {library['label']}", color=MUTED, transform=below.transAxes)
        below.yaxis.set_major_formatter("{x:.1f} ×")
    for each in (axes, *lower):
        each.set_xticks(positions, data["ticks"])
    (lower or [axes])[-1].set_xlabel(data["axis"], color=MUTED, labelpad=8)
    solid = Line2D([], [], color=INK, linewidth=1.8, marker="o", markersize=5, label="CUDA")
    dashed = Line2D(
        [], [], color=INK, linewidth=1.8, linestyle=DASHES, marker="o", markersize=5, markerfacecolor=PAPER, label="OpenCL"
    )
    legend(figure, [solid, dashed])
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
            inside = value > 400  # a line of copy or library may pass above
            axes.text(
                x,
                value + (-210 if inside else 60),
                f"{value:.0f}",
                ha="center",
                fontsize=9.5,
                color=ink if inside else INK,
                zorder=4,
            )
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


DRAW = {"sizes": draw_sizes, "ladder": draw_ladder, "ranks": draw_ranks}


def svg_of(data: dict, kind: str) -> str:
    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": "bankwise",
        "font.family": "DejaVu Sans",  # part of matplotlib, which uses it to measure text
        "font.size": 11,
        "text.parse_math": False,
    }
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **settings, "backend": "svg"}):
        out = io.StringIO()
        DRAW[kind](data).savefig(
            out, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
        )
    text = out.getvalue()
    height = re.search(r'viewBox="0 0 \d+ (\d+)"', text)[1]
    size = f'width="{WIDTH}" height="{height}"'
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    head = f'<svg {spaces} {size} viewBox="0 0 {WIDTH} {height}" role="img">\n<title>{escape(data["title"])}</title>\n'
    paper = f'<rect {size} rx="8" fill="{PAPER}"/>\n'  # dark ink would be lost on a dark page
    body = text[re.search(r"<svg[^>]*>\n", text).end() :]
    return head + paper + body.replace("'DejaVu Sans'", FONTS)
