#!/usr/bin/env python3
"""Draws docs/pictures/session.svg: a terminal session that finds, fixes and proves a bank conflict, from a real run.

    tools/terminal.py BANKCHECK [--check]

With --check nothing is written, and the exit code is 1 if the picture differs. The lines appear one after another; a
browser that is asked for less motion shows all of them at once.
"""

import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

sys.dont_write_bytecode = True  # of the module next to this file
from reports import ROOT, write_or_check

PICTURE = ROOT / "docs/pictures/session.svg"
SOURCE = ROOT / "docs/tutorial/matmul.cu"
COMMANDS = ("bankcheck emulate --summary --verify --patch fix.diff matmul.cu", "git apply fix.diff")
COMMANDS += ("bankcheck emulate --summary --max-conflicts 0 matmul.cu",)
COLUMNS, LINE, CHARACTER, MARGIN, PAUSE = 116, 20, 8.4, 18, 0.5  # columns, pixels, seconds
STYLE = """text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6deeb;white-space:pre}
.typed{fill:#fff;font-weight:bold}.s31{fill:#ff6b6b}.s32{fill:#7ee787}.s33{fill:#f2cc60}.s1{font-weight:bold}.s2{fill:#8b98a9}
g{animation:show .1s backwards}@keyframes show{from{opacity:0}}
@media (prefers-reduced-motion:reduce){g{animation:none}}"""


def session(bankcheck: Path) -> list:
    """Of each line: its text with escape sequences, and whether it is typed."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / SOURCE.name).write_text(SOURCE.read_text())
        environment = {**os.environ, "PATH": f"{bankcheck.resolve().parent}:{os.environ['PATH']}", "COLUMNS": str(COLUMNS)}
        for command in COMMANDS:
            run = command.replace("--summary", "--summary --color always")
            output = subprocess.run(run, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
            lines += [(f"$ {command}", True), *((line, False) for line in output.splitlines())]
    return lines


def spans(text: str) -> str:
    """The text of a line, with a tspan for each style."""
    parts = re.split(r"\033\[([\d;]*)m", text)
    found = escape(parts[0])
    for style, part in zip(parts[1::2], parts[2::2]):
        names = " ".join(f"s{number}" for number in style.split(";") if number not in ("", "0"))
        found += f'<tspan class="{names}">{escape(part)}</tspan>' if names and part else escape(part)
    return found


def picture(lines: list) -> str:
    width, height = round(COLUMNS * CHARACTER) + 2 * MARGIN, LINE * len(lines) + 2 * MARGIN
    body, seconds = [], 0.2
    for number, (text, typed) in enumerate(lines):
        seconds += 2 * PAUSE if typed else PAUSE / 2
        name = ' class="typed"' if typed else ""
        y = MARGIN + LINE * number + 14
        body.append(f'<g style="animation-delay:{seconds:.2f}s"><text x="{MARGIN}" y="{y}"{name}>{spans(text)}</text></g>')
    title = "bankcheck finds a 32-way bank conflict, proposes the padding, proves it by a run, and passes with a limit of 0"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">\n<title>{title}</title>\n'
        f'<style>{STYLE}</style>\n<rect width="{width}" height="{height}" rx="8" fill="#0d1520"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(write_or_check({PICTURE: picture(session(Path(sys.argv[1])))}))
