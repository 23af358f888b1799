"""The pytest plugin: a test with the marker `bank_conflicts` fails if the GPU kernels that it launches have bank
conflicts.

    @pytest.mark.bank_conflicts(max=0, kernel="softmax*")
    def test_softmax(): ...

Each such test runs in a process of its own, which bankcheck starts, because the CUDA driver must load the watcher when
it is initialized. The test is skipped, with the reason, where there is no NVIDIA GPU, or with `checker="opencl"` no
Oclgrind.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bankwise.reports import Report

WATCHED = "BANKWISE_PYTEST_WATCHED"  # in the process of a test: the file for how the test has ended


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


def words_of(item: pytest.Item, kernel: str) -> tuple[list[str], list[str]]:
    """Options of bankcheck, and the command that runs the test alone."""
    options = ["--kernel", kernel]
    for name in ("baseline", "update-baseline"):
        if file := item.config.getoption(f"bank_{name.replace('-', '_')}"):
            options += [f"--{name}", str(Path(file).absolute())]
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(item.config.rootpath)]
    return options, [*test, item.nodeid]


def verdict_on(report: Report, most: int) -> str | None:
    """Why the test fails, or None."""
    reasons = [
        f"{kernel.kernel} has {kernel.conflicts:,} conflicts on {kernel.architecture}; {most:,} are allowed"
        for kernel in report.kernels
        if kernel.conflicts > most
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

    options, command = words_of(item, kernel)
    with tempfile.TemporaryDirectory() as folder:
        ending = Path(folder, "ending.json")
        os.environ[WATCHED] = str(ending)
        try:
            words = [checker, *(["--arch", arch] if arch else []), *options]
            done = run_command(words, ["--", *command], directory=item.config.rootpath)
        except NothingToRun as error:
            pytest.skip(str(error))
        except BankwiseError as error:
            if ending.exists():
                outcome, reason = json.loads(ending.read_text(encoding="utf-8"))
                (pytest.skip if outcome == "skipped" else pytest.fail)(str(reason))
            pytest.fail(str(error), pytrace=False)
        finally:
            del os.environ[WATCHED]
    if done.exit_code == LIMIT_EXCEEDED and not item.config.getoption("bank_update_baseline"):
        pytest.fail(f"{done.messages}\n{done.report}", pytrace=False)
    has_baseline = item.config.getoption("bank_baseline") or item.config.getoption("bank_update_baseline")
    if not has_baseline and (why := verdict_on(done.report, max)):
        pytest.fail(why, pytrace=False)
    return True
