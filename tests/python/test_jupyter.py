from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "python" / "examples"


@pytest.fixture
def shell() -> Any:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.run_line_magic("load_ext", "bankwise.jupyter")
    return shell


def test_emulate(shell: Any, conflict: str) -> None:
    report = shell.run_cell_magic("bankwise", "emulate --fit", conflict)
    assert report.kernels[0].conflicts == 992 and report.fits[0].passes_after == 64


@pytest.mark.usefixtures("pyopencl")
def test_pyopencl(shell: Any) -> None:
    cell = (EXAMPLES / "pyopencl_column.py").read_text()
    (kernel,) = shell.run_cell_magic("bankwise", "", cell).kernels
    assert kernel.kernel == "column" and kernel.conflicts == 31
    (kernel,) = shell.run_cell_magic("bankwise", "", cell.replace('"32"', '"33"')).kernels
    assert kernel.conflicts == 0
