#!/usr/bin/env python3
"""What script/lib.sh says while something is built: one sentence, and a progress line where a terminal looks."""

import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLEAR = "\r\x1b[K"
NINJA = (
    'echo "[0/2] Re-checking globbed directories..."; echo "[1/2] Re-running CMake..."; sleep 0.9;'
    'echo "[1/3] Building one.o"; sleep 0.9; echo "[2/3] Building $(printf %0200d 0)"; echo "a warning"; sleep 0.9;'
    'echo "[3/3] Linking"; exit'
)
LOG = ["[0/2] Re-checking globbed directories...", "[1/2] Re-running CMake...", "[1/3] Building one.o"]


def command(log: Path, built: str) -> list:
    return ["bash", "-c", 'source "$1/script/lib.sh"; step "building N files" "$2" bash -c "$3"', "", ROOT, log, built]


def on_terminal(log: Path, built: str) -> tuple:
    """Exit code and what the terminal gets."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command(log, built), stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
    os.close(ours)
    return process.returncode, said.decode()


def elsewhere(log: Path, built: str) -> tuple:
    done = subprocess.run(command(log, built), stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def main() -> int:
    faults = []

    def check(what: str, holds: bool, got) -> None:
        if not holds:
            faults.append(f"{what}: {got!r}")

    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "new folder" / "build.log"
        code, said = elsewhere(log, NINJA)
        check("one sentence", (code, said) == (0, "building 3 files\n"), (code, said))
        lines = log.read_text().splitlines()
        check("the log has everything", lines[:3] == LOG and "a warning" in lines and len(lines) == 6, lines)

        code, said = on_terminal(log, NINJA)
        check("the sentence comes first", code == 0 and said.startswith("building 3 files\r\n" + CLEAR), said)
        shown = [part for part in said.split("\r\n")[1].split(CLEAR) if part]
        check("a progress line", {line.split()[0] for line in shown} >= {"[1/3]", "[2/3]"}, shown)
        check("it fits", max(map(len, shown)) < 80, shown)
        check("it is gone at the end", said.endswith(CLEAR) and said.count("\n") == 1, said)

        check("fast commands print nothing", elsewhere(log, "true") == (0, ""), "")
        code, said = elsewhere(log, "echo reason; exit 1")
        check("a failure", code == 3 and said == f"reason\nbuilding files failed: the end of {log} is above\n", said)
    print("\n".join(faults) or "as it must be")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
