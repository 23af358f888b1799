"""What bankcheck reports, as objects."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bankwise import program

if TYPE_CHECKING:
    import pandas as pd

Paths = str | os.PathLike[str]
Row = TypeVar("Row")


@dataclass(frozen=True)
class Line:
    """Accesses of one kind in one source line, on one architecture; the unit of passes and conflicts is passes.
    `conflicts_max`: more than `conflicts` if atomics compile to loops, whose conflicts depend on the order."""

    kernel: str
    architecture: str
    file: str
    line: int
    operation: str
    width: int
    array: str
    accesses: int
    passes: int
    ideal_passes: int
    conflicts: int
    conflicts_max: int
    unknown: int  # accesses without a known cost, which are not in the three numbers before
    source: str


@dataclass(frozen=True)
class Kernel:
    """A kernel on one architecture, summed over its launches. If it is not `complete`, its numbers are lower bounds:
    never take them for "no conflicts"."""

    kernel: str
    architecture: str
    launches: int
    accesses: int
    passes: int
    ideal_passes: int
    conflicts: int
    conflicts_max: int  # as in Line; a test compares this one
    unknown: int
    sectors: int | None  # of global memory; None if it was not watched
    extra_sectors: int | None  # beyond the ideal
    complete: bool
    lines: tuple[Line, ...] = field(repr=False)


@dataclass(frozen=True)
class ArrayFit:
    """The best layout of one array. `verdict` is bankcheck's word; `change` says what the layout is; `bound` is a number
    of passes that no layout of the family goes below."""

    kernel: str
    array: str
    verdict: str
    passes_before: int
    passes_after: int
    ideal_passes: int
    bound: int | None
    change: str
    dimensions: tuple[str, ...]
    index: str


def _made(kind: type[Row], *values: dict[str, Any]) -> Row:
    """An object from the values of JSON objects that it has fields for."""
    names = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for each in values for name, value in each.items() if name in names})


def _most(numbers: dict[str, Any]) -> dict[str, Any]:
    return {"conflicts_max": numbers.get("conflicts_most", numbers["conflicts"])}


TABLES: dict[str, type[Any]] = {"lines": Line, "kernels": Kernel, "fits": ArrayFit}


class _Result:
    """What a command of bankcheck prints: for a terminal and a notebook as `text`, and as `json`."""

    def __init__(self, text: str, numbers: dict[str, Any]) -> None:
        self.text = text
        self.json = numbers

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class Report(_Result):
    """Bank conflicts by kernel and source line. `str` is the report for a terminal; `json` holds all numbers."""

    @property
    def incomplete(self) -> list[Any]:
        """What was not watched in any kernel; empty if nothing is known to be missing."""
        numbers = (numbers for kernel in self.json["kernels"] for numbers in kernel["architectures"])
        return [missing for each in (self.json, *numbers) for missing in each["incomplete"]]

    @property
    def kernels(self) -> list[Kernel]:
        return [self._kernel(kernel, numbers) for kernel in self.json["kernels"] for numbers in kernel["architectures"]]

    def _kernel(self, kernel: dict[str, Any], numbers: dict[str, Any]) -> Kernel:
        names = {"kernel": kernel["kernel"], "architecture": numbers["architecture"]}
        complete = not (self.json["incomplete"] or numbers["incomplete"] or numbers["unknown"])
        lines = tuple(_made(Line, line, names, _most(line)) for line in numbers["lines"])
        more = {"launches": kernel["launches"], "complete": complete, "lines": lines}
        of_global = numbers["global"] or {"sectors": None, "extra_sectors": None}
        return _made(Kernel, of_global, numbers, names, more, _most(numbers))

    @property
    def lines(self) -> list[Line]:
        """All lines, most conflicts first."""
        return sorted((line for kernel in self.kernels for line in kernel.lines), key=lambda line: -line.conflicts)

    @property
    def fits(self) -> list[ArrayFit]:
        """The best layout of each array; empty unless the report was made with fit."""
        return [
            _made(ArrayFit, {"index": ""}, array, array["chosen"],
                  {"kernel": kernel["kernel"], "change": array["chosen"]["text"],
                   "dimensions": tuple(array["chosen"].get("dimensions", ()))})
            for kernel in self.json["kernels"]
            for array in (kernel.get("fit") or {}).get("arrays", ())
        ]

    def to_pandas(self, rows: str = "lines") -> pd.DataFrame:
        """A data frame with a row for each of the "lines", the "kernels" or the "fits". Error: BankwiseError without
        pandas."""
        if rows not in TABLES:
            raise ValueError(f"rows are 'lines', 'kernels' or 'fits', not {rows!r}")
        try:
            import pandas
        except ImportError:
            raise program.BankwiseError("to_pandas() needs pandas: pip install bankwise[pandas]") from None
        columns = [each.name for each in fields(TABLES[rows]) if each.name != "lines"]
        return pandas.DataFrame([[getattr(row, name) for name in columns] for row in getattr(self, rows)], columns=columns)

    def __repr__(self) -> str:
        conflicts = sum(kernel.conflicts for kernel in self.kernels)
        return f"<bankwise.Report: {len(self.json['kernels'])} kernels, {conflicts} conflicts>"


def _options(arch: str | Sequence[str] | None, options: Sequence[str]) -> list[str]:
    names = [] if arch is None else ["--arch", arch if isinstance(arch, str) else ",".join(arch)]
    return [*names, *options]


@dataclass(frozen=True)
class Checked:
    report: Report
    exit_code: int  # program.OK or program.LIMIT_EXCEEDED
    messages: str  # stderr


def run_command(words: Sequence[str], rest: Sequence[str], timeout: float | None = None,
                directory: Path | None = None) -> Checked:
    """Runs a command of bankcheck that makes a report; `rest` follows its options. Errors as program.run()."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.json")
        done = program.run([*words, "--color", "never", "--json", str(file), *rest], timeout=timeout,
                           directory=directory)
        return Checked(Report(done.stdout, json.loads(file.read_text(encoding="utf-8"))), done.returncode, done.stderr)


def read(trace: Paths, arch: str | Sequence[str] | None = None, *options: str) -> Report:
    """The report of a trace that a checker wrote with --trace. `arch`: architectures or GPUs, by default "sm_90";
    `options`: more of `bankcheck report`. Errors: BankwiseError, ValueError."""
    return run_command(["report", *_options(arch, options)], [os.fspath(trace)]).report


def fit(trace: Paths, arch: str | Sequence[str] | None = None, *options: str) -> Report:
    """The padding or swizzle that removes the conflicts of a trace: `Report.fits`. Arguments as for `read`, options
    those of `bankcheck fit`."""
    return run_command(["fit", *_options(arch, options)], [os.fspath(trace)]).report


def check(checker: str, words: Sequence[Paths], arch: str | Sequence[str] | None = None, *options: str,
          timeout: float | None = None) -> Report:
    """Runs a program and reports it: what the program prints is in the report's text, too.

    checker  "emulate", with the sources of a CUDA or HIP program, and g++ on the machine; "opencl", with a program and
             its arguments, and Oclgrind; "cuda", with the same and an NVIDIA GPU
    words    sources, or the program and its arguments
    options  of this checker, for example "--fit", "--max-launches", "1"
    timeout  seconds, after which subprocess.TimeoutExpired ends the call

    Errors: BankwiseError; NothingToRun if there is no GPU.
    """
    if checker not in ("emulate", "opencl", "cuda"):
        raise ValueError(f"checkers are 'emulate', 'opencl' and 'cuda', not {checker!r}")
    rest = [os.fspath(word) for word in words]
    rest = rest if checker == "emulate" else ["--", *rest]
    return run_command([checker, *_options(arch, options)], rest, timeout).report


class Layout(_Result):
    """What the layout of a tile costs, and its best swizzle and pad. `str` is the report for a terminal; `json` holds all
    numbers; `copies` those of each copy on each architecture."""

    @property
    def copies(self) -> list[dict[str, Any]]:
        return list(self.json["copies"])

    @property
    def conflicts(self) -> int:
        """Of all copies on all architectures."""
        return sum(int(copy["conflicts"]) for copy in self.json["copies"])

    def __repr__(self) -> str:
        return f"<bankwise.Layout {self.json['layout']}: {self.conflicts} conflicts>"


def layout(tile: Any, *copies: str, type: str | None = None, shape: Sequence[int] | None = None,
           arch: str | Sequence[str] | None = None) -> Layout:
    """What the layout of a tile in shared memory costs, without a program.

    tile    a layout of CuTe, for example "Swizzle<3,3,3> o (8,64):(64,1)"; a shared encoding of Triton, with `shape`;
            or an array of NumPy, whose shape, strides and dtype count
    copies  how warps read or write the whole tile: "load" (the default), "store.16", "ldmatrix.x4 by column", ...
    type    of an element: "half", "f16", "float16"; the array's own by default

    Errors: BankwiseError, ValueError.
    """
    words = ["layout"]
    if isinstance(tile, str):
        words += [tile, *(["--shape", ",".join(map(str, shape))] if shape is not None else [])]
    else:
        words += ["--shape", ",".join(map(str, tile.shape)), "--strides", ",".join(map(str, tile.strides))]
        type = type or str(tile.dtype)
    words += ["--type", type] if type else []
    words += [word for copy in copies for word in ("--copy", copy)]
    words += _options(arch, ())
    return Layout(program.run(words).stdout, json.loads(program.run([*words, "--json"]).stdout))
