#!/usr/bin/env python3
"""Completes command lines with the bash functions of docs/completion; exit code 1 and a line for each that differs."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs/completion/bankcheck.bash"
EXPECTED = {
    ("emul",): {"emulate"},
    ("emulate", "--max-conf"): {"--max-conflicts"},
    ("emulate", "--color", "a"): {"auto", "always"},
    ("opencl", "--warp-synchr"): set(),  # an option of emulate only
    ("emulate", "--", "./program", "--max-conf"): set(),  # an option of the program
    ("fit", "trace"): set(),  # the shell completes names of files
}


def completed(words: tuple) -> set:
    line = " ".join(f"'{word}'" for word in ("bankcheck", *words))
    script = f"source '{SCRIPT}'; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _bankcheck; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    found = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=False).stdout
    return set(found.split())


def main() -> int:
    wrong = [(words, found) for words in EXPECTED if (found := completed(words)) != EXPECTED[words]]
    for words, found in wrong:
        print(f"{' '.join(words)}: completed to {sorted(found)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
