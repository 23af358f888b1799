#!/usr/bin/env python3
"""Generates docs/cli.md from --help of every program in a build directory and from the head comments of the scripts.

    tools/cli_reference.py BUILD [--check]

With --check nothing is written, and the exit code is 1 if the page differs.
"""
import re
import sys
from itertools import takewhile
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported module next to this file
from campaign import output
from reports import ROOT, STUDIES, write_or_check

HEAD = """# Command-line reference

This page has the `--help` text of every program; `tools/cli_reference.py` generates it. The programs are in the build
directory, for example `build/default/bankcheck`.

The checkers and the case studies have the same exit codes: 0 success; 1 a wrong result, or more conflicts than a limit
allows; 2 bad usage or unreadable input; 3 a device, driver, build or output failed; 77 nothing to run on this machine.
The text of each script lists the script's exit codes. `bankcheck` alone prints its help, with exit code 2: a script in
which the variable with the command is empty must fail.
"""


def help_of(build: Path, *command: str) -> str:
    """The section of one program. Errors: subprocess.CalledProcessError, OSError."""
    return section(" ".join(command), output([build / command[0], *command[1:], "--help"]))


def section(name: str, text: str) -> str:
    return f"\n### `{name}`\n\n```\n{text.strip()}\n```\n"


def comment_of(script: Path) -> str:
    """The comment at the head of the script."""
    lines = takewhile(lambda line: line.startswith("#"), script.read_text().splitlines()[1:])
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)


def page(build: Path) -> str:
    text = help_of(build, "bankcheck")
    commands = re.findall(r"^  (\w+) +\w", text[text.index("Commands:") :], re.MULTILINE)
    text = HEAD + "\n## Checkers\n" + text + "".join(help_of(build, "bankcheck", name) for name in commands)
    text += "\n## Case studies\n" + "".join(help_of(build, case) for case in STUDIES) + "\n## Scripts\n"
    scripts = sorted(path for path in (ROOT / "script").iterdir() if path.suffix == "")
    return text + "".join(section(f"script/{script.name}", comment_of(script)) for script in scripts)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(write_or_check({ROOT / "docs/cli.md": page(Path(sys.argv[1]))}))
