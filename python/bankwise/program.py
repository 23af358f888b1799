"""Finds the program bankcheck and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

# Exit codes of bankcheck.
OK, LIMIT_EXCEEDED, USAGE, FAILED, NOTHING_TO_RUN = 0, 1, 2, 3, 77


class BankwiseError(Exception):
    """bankcheck failed; the text is its sentence. `exit_code`: 2 for wrong input, 3 if the checked program failed."""

    def __init__(self, sentence: str, exit_code: int = FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


class NothingToRun(BankwiseError):
    """There is nothing to check here, for example because the machine has no NVIDIA GPU. The text says why."""


def find() -> str:
    """The path of bankcheck: the one in this package, or, in a clone, the one that BANKWISE_PROGRAM names or that is on
    the PATH. Error: BankwiseError."""
    packaged = Path(__file__).parent / "bin" / "bankcheck"
    found = str(packaged) if packaged.exists() else os.environ.get("BANKWISE_PROGRAM") or shutil.which("bankcheck")
    if not found:
        raise BankwiseError("there is no program bankcheck in this package: please install its wheel")
    return found


def error_of(exit_code: int, messages: str) -> BankwiseError:
    """What bankcheck's last sentence on stderr says."""
    sentences = [line.removeprefix("bankcheck: ") for line in messages.splitlines() if line.startswith("bankcheck: ")]
    sentence = sentences[-1] if sentences else f"bankcheck ended with {exit_code}: {messages.strip()}"
    return (NothingToRun if exit_code == NOTHING_TO_RUN else BankwiseError)(sentence, exit_code)


def run(arguments: Sequence[str], *, timeout: float | None = None,
        directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs bankcheck without input, and returns its output with exit codes 0 and 1. Errors: BankwiseError with
    the last sentence of stderr; NothingToRun."""
    done = subprocess.run(
        [find(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, cwd=directory
    )
    if done.returncode in (OK, LIMIT_EXCEEDED):
        return done
    raise error_of(done.returncode, done.stderr)


def version() -> str:
    """That of the package; "unknown" in a clone."""
    try:
        return metadata.version("bankwise")
    except metadata.PackageNotFoundError:
        return "unknown"


def replace_process(arguments: Sequence[str]) -> None:
    """Goes on as bankcheck, with its output and exit code. Error: BankwiseError."""
    sys.stdout.flush()
    sys.stderr.flush()
    program = find()
    os.execv(program, [program, *arguments])


def bankcheck() -> int:
    """The console script of this name."""
    try:
        replace_process(sys.argv[1:])
    except (BankwiseError, OSError) as error:
        print(f"bankcheck: {error}", file=sys.stderr)
    return FAILED
