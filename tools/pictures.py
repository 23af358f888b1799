#!/usr/bin/env python3
"""Draws the pictures in docs/pictures that show no results; with --check, tests whether they are up to date.

The contents of the bank pictures are computed from the index formulas of the kernels, never typed in.
"""

import math
import sys
from html import escape

sys.dont_write_bytecode = True  # of the module next to this file
from reports import ROOT, write_or_check

BANKS, WARP = 32, 32

PAPER, WHITE, RULE, INK, MUTED, STALE = "#fdfdfb", "#fff", "#c3cad2", "#1f2933", "#5f6b78", "#a3acb6"
BUSY, BUSY_TOO, IDLE, FRESH, ALARM = "#2f6fb3", "#74a7d8", "#e4e7eb", "#d5e6f6", "#a3211b"
BOLD, MIDDLE, END = 'font-weight="bold"', 'text-anchor="middle"', 'text-anchor="end"'
MONO = "font-family=\"Menlo, Consolas, 'DejaVu Sans Mono', monospace\""

Lanes = list[list[int]]  # the words that each lane touches


def words_per_bank(lanes: Lanes) -> list[int]:
    """The number of distinct words that each bank serves: a word that several lanes access counts once."""
    words = {word for lane in lanes for word in lane}
    return [sum(word % BANKS == bank for word in words) for bank in range(BANKS)]


def degree(lanes: Lanes) -> int:
    return max(words_per_bank(lanes))


def heat(words: int) -> tuple[str, str]:
    """Fill and text colour: grey for no word, green for one, then from orange at 2 to red at 32 and more."""
    fills = IDLE, "#8fce8f", "#fdcd82", "#eda066", "#de714b", "#ce432f", "#be1814"
    return fills[min(words.bit_length(), 6)], WHITE if words >= 16 else INK


class Picture:
    def __init__(self, width: int, height: int, title: str):
        size = f'width="{width}" height="{height}"'
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">',
            f'<path d="M0 0L8 4L0 8z" fill="{MUTED}"/></marker>',
            f'<rect {size} rx="8" fill="{PAPER}"/>',  # dark ink would be lost on a dark page
            "<g font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">",
        ]
        self.text(20, 24, title, BOLD, size=15)

    def __str__(self) -> str:
        return "\n".join([*self.parts, "</g></svg>", ""])

    def rect(self, x: float, y: float, width: float, height: float, fill: str, stroke: str = "none") -> None:
        box = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        self.parts.append(f'<rect {box} fill="{fill}" stroke="{stroke}"/>')

    def text(self, x: float, y: float, text: object, *style: str, size: int = 12, fill: str = INK) -> None:
        """Text that is vertically centred at y."""
        where = f'x="{x:g}" y="{y + 0.36 * size:.4g}" font-size="{size}"'
        self.parts.append(f'<text {" ".join([where, *style])} fill="{fill}">{escape(str(text))}</text>')

    def label(self, y: float, name: str, formula: str) -> None:
        self.text(20, y - 8, name, BOLD)
        self.text(20, y + 8, formula, MONO)

    def cell(self, x: float, y: float, size: tuple[float, float], text: object, fill: str, ink: str, font: int) -> None:
        self.rect(x, y, *size, fill, RULE if fill in (WHITE, FRESH) else WHITE)
        if text != "":
            self.text(x + size[0] / 2, y + size[1] / 2, text, MIDDLE, size=font, fill=ink)

    def words(self, middle: list[int], y: float, words: list[int], fresh: set[int], live: int = 8) -> None:
        for i, word in enumerate(words):
            self.cell(middle[i] - 23, y, (46, 26), word, FRESH if i in fresh else WHITE, INK if i < live else STALE, 14)

    def lane(self, x: float, y: float, number: int, busy: bool = True) -> None:
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="11" fill="{BUSY if busy else IDLE}"/>')
        self.text(x, y, number, MIDDLE, fill=WHITE if busy else MUTED)

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str = RULE, style: str = "") -> None:
        self.parts.append(f'<path d="M{x1:g} {y1:g}L{x2:.4g} {y2:.4g}" stroke="{stroke}"{style}/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float, gap: float = 2, dashed: bool = False) -> None:
        """An arrow that ends `gap` before (x2, y2), for instance at the rim of a circle."""
        keep = 1 - gap / math.hypot(x2 - x1, y2 - y1)
        style = ' stroke-width="1.3" marker-end="url(#tip)"' + ' stroke-dasharray="4 3"' * dashed
        self.line(x1, y1, x1 + (x2 - x1) * keep, y1 + (y2 - y1) * keep, MUTED, style)

    def legend(self, x: float, y: float, *entries: tuple[str, str]) -> None:
        for fill, label in entries:
            self.rect(x, y - 7, 14, 14, fill, RULE)
            self.text(x + 20, y, label, fill=MUTED)
            x += 46 + 6.4 * len(label)

    def bank_legend(self, y: float) -> None:
        labels = {0: "no word", 1: "one word", 2: "2", 4: "4", 8: "8", 16: "16", 32: "32 distinct words in a bank"}
        self.legend(20, y, *((heat(words)[0], label) for words, label in labels.items()))

    def bank_numbers(self, x: float, y: float, size: int) -> None:
        self.text(20, y, "bank", fill=MUTED)
        for bank in (*range(0, BANKS, 4), BANKS - 1):
            self.text(x + (bank + 0.5) * size, y, bank, MIDDLE, size=10, fill=MUTED)

    def bank_strip(self, x: float, middle: float, size: int, lanes: Lanes) -> None:
        for bank, words in enumerate(words_per_bank(lanes)):
            count = words if words > 1 else ""
            self.cell(x + bank * size, middle - size / 2, (size, size), count, *heat(words), 10)
        self.verdict(x + BANKS * size + 8, middle, lanes)

    def verdict(self, x: float, y: float, lanes: Lanes, about: str = "") -> None:
        ways = degree(lanes)
        text = about + ("no conflict" if ways == 1 else f"{ways}-way conflict")
        self.text(x, y, text, fill=INK if ways == 1 else ALARM)


def reduction_tree() -> Picture:
    p = Picture(860, 546, "Sum of 8 words by 8 lanes: part[lane] += part[lane + stride]")
    part = [3, 1, 7, 0, 4, 1, 6, 3]
    middle = [170 + 72 * i for i in range(8)]
    p.text(20, 66, "part[0 .. 7]", MONO)
    p.words(middle, 53, part, set())
    above = 79
    for step, stride in enumerate((4, 2, 1)):
        y = above + 40 + 15 * stride  # of the lanes: low enough that the arrows pass above the neighbouring lanes
        p.label(y, f"step {step + 1}", f"stride = {stride}")
        p.text(840, y, f"{stride} of 8 busy", END, fill=MUTED)
        for lane in range(8):
            p.lane(middle[lane], y, lane, lane < stride)
            if lane < stride:
                p.arrow(middle[lane], above, middle[lane], y, 12)
                p.arrow(middle[lane + stride], above, middle[lane], y, 12)
                p.arrow(middle[lane], y + 11, middle[lane], y + 36)
                part[lane] += part[lane + stride]
        p.words(middle, y + 36, part, set(range(stride)), stride)
        above = y + 62
    p.legend(20, 524, (BUSY, "busy lane: adds two words"), (IDLE, "idle lane"), (FRESH, "word just written"))
    return p


def reduction_banks() -> Picture:
    p = Picture(900, 370, "One warp reads part[lane]: 16-byte records in 32 banks")
    left, size = 178, 19
    p.bank_numbers(left, 54, size)
    for y, name, stride in ((86, "naive", 4), (130, "packed", 5)):
        p.label(y, f"{name}: component x", f"word {stride}t")
        p.bank_strip(left, y, size, [[stride * t] for t in range(WARP)])
    p.line(20, 164, 880, 164)
    p.label(194, "sequential: 16 bytes per lane, one quarter-warp at a time (NVIDIA since Volta)", "words 4t .. 4t + 3")
    for quarter in range(4):
        y, t = 230 + 26 * quarter, range(WARP * quarter // 4, WARP * (quarter + 1) // 4)
        p.text(20, y, f"lane group {quarter + 1}: t = {t[0]} .. {t[-1]}")
        p.bank_strip(left, y, size, [[4 * lane + c for c in range(4)] for lane in t])
    p.bank_legend(348)
    return p


def prefix_sum_tree() -> Picture:
    p = Picture(860, 758, "Exclusive prefix sum of 8 words by 4 lanes, in place: Blelloch's two sweeps")
    tree = [3, 1, 7, 0, 4, 1, 6, 3]
    middle = [178 + 66 * i for i in range(8)]
    p.text(793, 69, "lanes", MIDDLE, fill=MUTED)
    p.text(20, 69, "tree[0 .. 7]", MONO)
    p.words(middle, 56, tree, set())
    y = 82
    for down, step in ((False, 1), (False, 2), (False, 4), (True, 4), (True, 2), (True, 1)):
        if down and step == 4:
            p.text(20, y - 13, f"total = {tree[7]}", MONO)
            tree[7] = 0
            p.text(20, y + 31, "root = 0", MONO)
            p.words(middle, y + 18, tree, {7})
            y += 44
        adder, below = y + 33, y + 64
        pairs = [(step * (2 * lane + 1) - 1, step * (2 * lane + 2) - 1) for lane in range(4 // step)]
        fresh = {i for pair in pairs for i in pair[0 if down else 1 :]}
        p.label(adder, "down-sweep" if down else "up-sweep", f"step = {step}")
        for lane in range(4):
            p.lane(754 + 26 * lane, adder, lane, lane < 4 // step)
        for lane, (left, right) in enumerate(pairs):
            if down:
                p.arrow(middle[right], y, middle[left], below, dashed=True)
            p.arrow(middle[left], y, middle[right], adder, 12)
            p.arrow(middle[right], y, middle[right], adder, 12)
            p.arrow(middle[right], adder + 11, middle[right], below)
            p.lane(middle[right], adder, lane)
            tree[left], tree[right] = tree[right] if down else tree[left], tree[left] + tree[right]
        for i in set(range(8)) - fresh:
            p.line(middle[i], y, middle[i], below)
        p.words(middle, below, tree, fresh)
        y += 90
    p.text(20, y - 13, "out[0 .. 7]", MONO)
    p.legend(20, 710, (BUSY, "busy lane: adds two words"), (IDLE, "idle lane"), (FRESH, "word just written"))
    p.arrow(20, 736, 46, 736, dashed=True)
    p.text(54, 736, "down-sweep: the same lane passes the sum before the parent on to the left child", fill=MUTED)
    return p


def prefix_sum_banks() -> Picture:
    p = Picture(860, 396, "Up-sweep over a tile of 512 words by 256 lanes: conflicts and idle lanes per level")
    block = 256

    def access(step: int, pad: bool, offset: int = 0) -> Lanes:
        words = [step * (2 * lane + 1) - 1 + offset for lane in range(min(WARP, block // step))]
        return [[i + i // BANKS if pad else i] for i in words]

    p.text(20, 84, "Degree of conflict: the first warp reads tree[left], left = step * (2 * lane + 1) - 1", BOLD)
    p.label(115, "naive", "word i")
    p.label(153, "padded", "word i + i / 32")
    p.text(20, 186, "tree[right] has the same conflicts. The down-sweep runs from right to left.", fill=MUTED)
    p.text(20, 226, "Busy lanes, and the warps that contain them", BOLD)
    rows = {56: "step", 252: "lanes", 284: "8 warps, busy part", 316: "active warps", 340: "busy lanes in active warps"}
    for y, name in rows.items():
        p.text(20, y, name)
    for level in range(9):
        step, left, middle = 2**level, 190 + level * 72, 226 + level * 72
        p.text(middle, 56, step, MIDDLE, size=13)
        for y, pad in ((98, False), (136, True)):
            ways = degree(access(step, pad))
            assert ways == degree(access(step, pad, offset=step))  # as the picture states for tree[right]
            p.cell(left, y, (72, 34), ways, *heat(ways), 14)
        busy, warps = block // step, math.ceil(block / step / WARP)
        for warp in range(block // WARP):
            x, filled = left + 5.6 + 7.75 * warp, 26 * min(WARP, max(0, busy - warp * WARP)) / WARP
            p.rect(x, 271, 6.5, 26, IDLE)
            p.rect(x, 297 - filled, 6.5, filled, BUSY)
        for y, value in (252, busy), (316, warps), (340, f"{100 * busy / (warps * WARP):g} %"):
            p.text(middle, y, value, MIDDLE, size=13)
    p.legend(20, 374, (BUSY, "busy"), (IDLE, "idle"), (heat(1)[0], "no conflict"), (heat(16)[0], "16-way"))
    return p


def places(side: int, load: bool) -> list[tuple[int, int]]:
    """Row and column in the tile of each lane of the first warp: (y, x) for its store, (x, y) for its load."""
    threads = [divmod(lane, side) for lane in range(WARP)]
    return [(x, y) if load else (y, x) for y, x in threads]


def transpose_tile() -> Picture:
    p = Picture(880, 510, "naive, 16 x 16 words: the positions of the first warp's 32 lanes in the tile")
    side, size, span, top = 16, 22, 16 * 22, 92
    for left, name, load in ((46, "Written by rows", False), (508, "Read by columns", True)):
        p.text(left, 54, name, BOLD, size=13)
        p.text(left + span, 54, "tile[x][y]" if load else "tile[y][x]", END, MONO)
        p.rect(left, top, span, span, IDLE)
        for i in range(side):  # lines instead of 256 cells, for a smaller file
            p.line(left, top + i * size, left + span, top + i * size, WHITE)
            p.line(left + i * size, top, left + i * size, top + span, WHITE)
            p.text(left + (i + 0.5) * size, top - 10, i, MIDDLE, size=10, fill=MUTED)
            p.text(left - 8, top + (i + 0.5) * size, i, END, size=10, fill=MUTED)
        for lane, (row, column) in enumerate(places(side, load)):
            fill, ink = (BUSY, WHITE) if lane < side else (BUSY_TOO, INK)
            p.cell(left + column * size, top + row * size, (size, size), lane, fill, ink, 11)
        words = [[side * row + column] for row, column in places(side, load)]
        p.verdict(left, 462, words, f"{WARP} words in {sum(map(bool, words_per_bank(words)))} banks: ")
    p.text(448, top - 10, "banks", MIDDLE, size=10, fill=MUTED)
    for row in range(side):
        first = side * row % BANKS
        p.text(448, top + (row + 0.5) * size, f"{first} .. {first + side - 1}", MIDDLE, size=10, fill=MUTED)
    p.legend(46, 488, (BUSY, "lanes 0 .. 15: y = 0"), (BUSY_TOO, "lanes 16 .. 31: y = 1"), (IDLE, "other warps"))
    return p


def transpose_banks() -> Picture:
    p = Picture(900, 434, "One warp stores to the tile and loads from it: distinct words in each bank")
    left, size = 278, 16
    p.bank_numbers(left, 54, size)
    tiles = {"naive": (16, 16), "padded": (16, 17), "tile32": (32, 32), "tile32_padded": (32, 33), "swizzled": (32, 32)}
    for i, (name, (side, stride)) in enumerate(tiles.items()):
        swizzled, y_name = name == "swizzled", "y" if side < WARP else "r"
        p.label(89 + 62 * i, name, f"{side} x {stride}")
        for y, kind, load in ((78 + 62 * i, "store", False), (100 + 62 * i, "load\u00a0", True)):
            row, column = ("x", y_name) if load else (y_name, "x")
            p.text(124, y, f"{kind} tile[{row}][{column}{f' ^ {row}' if swizzled else ''}]", MONO)
            words = [[stride * r + (c ^ r if swizzled else c)] for r, c in places(side, load)]
            p.bank_strip(left, y, size, words)
    p.text(20, 386, "The first warp: rows of threads y = 0 and 1 in tiles of 16, r = 0 in tiles of 32.", fill=MUTED)
    p.bank_legend(412)
    return p


def requests(shared: int, row: int) -> int:
    """Those of a TMA load for a row of so many bytes, from the beginning of a cache line to this offset in one."""
    count, at = 0, 0
    while at < row:
        end = min(row, at + 128 - at % 128, at + 128 - (shared + at) % 128)
        full = -(-at // 32) * 32, end // 32 * 32  # the first whole sector, and past the last
        count += 1 if full[0] > full[1] else (at < full[0]) + (full[0] < full[1]) + (full[1] < end)
        at = end
    return count


def engine_rows() -> Picture:
    p = Picture(860, 352, "Bytes per clock of a TMA load, by the bytes of a row of its box (H200, data in the L2 cache)")
    most, top, bottom, left, step = 107, 60, 290, 70, 97
    for mark in (0, 32, 64, 96, 128):
        y = bottom - (bottom - top) * mark / 128
        p.line(left, y, 840, y)
        p.text(left - 8, y, mark, END, size=11, fill=MUTED)
    for i, row in enumerate((16, 32, 48, 64, 80, 96, 112, 128)):
        x = left + 12 + step * i
        for column, fill, shared in ((0, BUSY, [0] * 8), (1, BUSY_TOO, [row * r % 128 for r in range(8)])):
            rate = min(most, 8 * row / sum(requests(at, row) for at in shared))
            height = (bottom - top) * rate / 128
            p.rect(x + 36 * column, bottom - height, 34, height, fill)
            p.text(x + 36 * column + 17, bottom - height - 9, f"{rate:.0f}", MIDDLE, size=11)
        p.text(x + 35, bottom + 14, row, MIDDLE)
    labels = (BUSY, "rows begin at cache lines: a swizzle"), (BUSY_TOO, "rows follow each other: no swizzle")
    p.legend(left, 332, *labels)
    return p


if __name__ == "__main__":
    PICTURES = (reduction_tree, reduction_banks, prefix_sum_tree, prefix_sum_banks, transpose_tile, transpose_banks, engine_rows)
    sys.exit(write_or_check({ROOT / f"docs/pictures/{draw.__name__}.svg": str(draw()) for draw in PICTURES}))
