"""The cell magic of IPython and Jupyter, after `%load_ext bankwise.jupyter`:

    %%bankwise [OPTIONS]           the cell is Python that uses CUDA or OpenCL, as in `bankwise run`
    %%bankwise emulate [OPTIONS]   the cell is a CUDA program, which runs on the CPU

A Python cell runs in an interpreter of its own, so it must import what it needs.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from bankwise.reports import Report, check
from bankwise.watching import checker_of


def bankwise(line: str, cell: str) -> Report:
    """The magic; its value is the report of the cell."""
    options = shlex.split(line)
    with tempfile.TemporaryDirectory() as folder:
        if options[:1] == ["emulate"]:
            source = Path(folder, "cell.cu")
            source.write_text(cell, encoding="utf-8")
            return check("emulate", [source], None, *options[1:])
        script = Path(folder, "cell.py")
        script.write_text(cell, encoding="utf-8")
        return check(checker_of(str(script)), [sys.executable, script], None, *options)


def load_ipython_extension(shell: Any) -> None:
    shell.register_magic_function(bankwise, magic_kind="cell")
