#!/usr/bin/env python3
"""Runs the commands of docs/layouts.md, and compares their output with the page.

    tests/docs/layouts.py BANKCHECK            exit code 1 if the page differs
    tests/docs/layouts.py BANKCHECK --write    writes the outputs into the page

A block of code that begins with `$ bankcheck` has the whole output of the command. If its last line is `...`, it has
only the beginning, which may lack the first line.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/layouts.md"
BLOCK = re.compile(r"^```console\n(\$ bankcheck (?:[^\n]*\\\n)*[^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ABRIDGED = "...\n"


def output(bankcheck: str, command: str) -> str:
    words = shlex.split(command.removeprefix("$ bankcheck ").replace("\\\n", " "))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run([bankcheck, *words], capture_output=True, text=True, check=True, env=environment).stdout


def abridged(text: str, shown: str) -> str:
    """As many lines of the text as are shown, from the first or from the second."""
    lines, count = text.splitlines(keepends=True), shown.count("\n") - 1
    first = 0 if shown.startswith(lines[0]) else 1
    return "".join(lines[first : first + count]) + ABRIDGED


def main() -> int:
    bankcheck, *write = sys.argv[1:]
    page = PAGE.read_text(encoding="utf-8")

    def filled(block: re.Match) -> str:
        text = output(bankcheck, block[1])
        shown = abridged(text, block[2]) if block[2].endswith(ABRIDGED) else text
        return f"```console\n{block[1]}\n{shown}```"

    new = BLOCK.sub(filled, page)
    count = len(BLOCK.findall(page))
    if write:
        PAGE.write_text(new, encoding="utf-8")
    elif new != page:
        print("docs/layouts.md differs from the output of its commands; please run tests/docs/layouts.py BANKCHECK --write")
    print(f"{count} commands")
    return int(not write and new != page or count < 10)


if __name__ == "__main__":
    sys.exit(main())
