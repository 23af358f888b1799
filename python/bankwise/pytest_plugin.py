"""The pytest plugin: a test with the marker `bank_conflicts` fails if the GPU kernels that it launches have bank
conflicts.

    @pytest.mark.bank_conflicts(max=0, kernel="softmax*")
    def test_softmax(): ...

Each such test runs in a process of its own, which bankcheck starts, because the CUDA driver must load the watcher when
it is initialized. The test is skipped, with the reason, where there is no NVIDIA GPU, or with `checker="opencl"` no
Oclgrind.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bankwise.reports import Report

WATCHED = "BANKWISE_PYTEST_WATCHED"  # in the process of a test: the file for how the test has ended

Rows = dict[tuple[str, str], list[str]]  # the numbers of a baseline by kernel and architecture
SESSION_ROWS = pytest.StashKey[Rows]()
COLUMNS = ("accesses", "conflicts", "unknown", "global_accesses", "extra_sectors", "global_unknown")
WITHOUT_SECTORS = 3  # of these columns


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bankwise", "bank conflicts of GPU kernels")
    group.addoption("--bank-baseline", metavar="FILE", help="allow the conflicts that this file of bankcheck records")
    group.addoption("--bank-update-baseline", metavar="FILE", help="record the conflicts in this file")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "bank_conflicts(max=0, kernel='*', checker='cuda', arch=None): at most this many conflicts of each GPU kernel "
        "with such a name, in passes, summed over the launches of the test",
    )


def words_of(item: pytest.Item, kernel: str, rows: Path) -> tuple[list[str], list[str]]:
    """Options of bankcheck, and the command that runs the test alone. `rows`: for its rows of the new baseline."""
    options = ["--kernel", kernel]
    if file := item.config.getoption("bank_baseline"):
        options += ["--baseline", str(Path(file).absolute())]
    if item.config.getoption("bank_update_baseline"):
        options += ["--update-baseline", str(rows)]
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(item.config.rootpath)]
    return options, [*test, item.nodeid]


def read_rows(file: Path) -> Rows:
    with file.open(encoding="utf-8-sig", newline="") as text:
        return {
            (row["kernel"], row["architecture"]): [row.get(name) or "" for name in COLUMNS]
            for row in csv.DictReader(text)
        }


def update_baseline(file: Path, session: Rows, test: Rows) -> None:
    """Writes the rows of the session's tests, and keeps the others. A kernel of several tests has the most of each
    number, so that each test passes with the baseline."""
    for key, numbers in test.items():
        session[key] = [max(pair, key=lambda number: int(number or 0)) for pair in zip(numbers, session.get(key, numbers))]
    rows = {**(read_rows(file) if file.exists() else {}), **session}
    width = len(COLUMNS) if any("".join(numbers[WITHOUT_SECTORS:]) for numbers in rows.values()) else WITHOUT_SECTORS
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["kernel", "architecture", *COLUMNS[:width]])
        writer.writerows([*key, *numbers[:width]] for key, numbers in sorted(rows.items()))


def verdict_on(report: Report, most: int) -> str | None:
    """Why the test fails, or None."""
    reasons = [
        f"{kernel.kernel} has {kernel.conflicts_max:,} conflicts on {kernel.architecture}; {most:,} are allowed"
        for kernel in report.kernels
        if kernel.conflicts_max > most
    ]
    if not report.kernels:
        reasons.append("the test launched no kernel with such a name")
    if report.incomplete or not all(kernel.complete for kernel in report.kernels):
        reasons.append("not all accesses were watched")
    return f"{'; '.join(reasons)}\n{report}" if reasons else None


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In the process of a test: how it ended, unless it passed."""
    if (file := os.environ.get(WATCHED)) and not report.passed:
        # A skipped test has the file, the line and the reason.
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        Path(file).write_text(json.dumps([report.outcome, reason]), encoding="utf-8")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    marker = pyfuncitem.get_closest_marker("bank_conflicts")
    if marker is None or os.environ.get(WATCHED):
        return None
    return watched_call(pyfuncitem, **marker.kwargs)


def watched_call(item: pytest.Function, max: int = 0, kernel: str = "*", checker: str = "cuda",
                 arch: str | None = None) -> bool:
    from bankwise.program import LIMIT_EXCEEDED, BankwiseError, NothingToRun
    from bankwise.reports import run_command

    if checker == "opencl" and shutil.which("oclgrind") is None:
        pytest.skip("there is no oclgrind on the PATH (Debian, Ubuntu: apt-get install oclgrind)")
    update = item.config.getoption("bank_update_baseline")
    with tempfile.TemporaryDirectory() as folder:
        ending, rows = Path(folder, "ending.json"), Path(folder, "rows.csv")
        options, command = words_of(item, kernel, rows)
        words = [checker, *(["--arch", arch] if arch else []), *options]
        os.environ[WATCHED] = str(ending)
        done, outcome, reason = None, "failed", ""
        try:
            done = run_command(words, ["--", *command], directory=item.config.rootpath)
        except BankwiseError as error:
            outcome, reason = "skipped" if isinstance(error, NothingToRun) else "failed", str(error)
            if outcome == "failed" and ending.exists():
                outcome, reason = json.loads(ending.read_text(encoding="utf-8"))
        finally:
            del os.environ[WATCHED]
        if done is None and outcome == "skipped":
            pytest.skip(reason)
        if done is None:
            pytest.fail(reason, pytrace=False)
        if update and not rows.exists():
            pytest.fail(done.messages, pytrace=False)  # not all accesses were watched
        if update:
            update_baseline(Path(update), item.config.stash.setdefault(SESSION_ROWS, {}), read_rows(rows))
            return True
    if done.exit_code == LIMIT_EXCEEDED:
        pytest.fail(f"{done.messages}\n{done.report}", pytrace=False)
    if not item.config.getoption("bank_baseline") and (why := verdict_on(done.report, max)):
        pytest.fail(why, pytrace=False)
    return True
