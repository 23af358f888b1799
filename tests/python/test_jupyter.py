import pytest


def test_emulate(conflict: str) -> None:
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    shell = shell_module.InteractiveShell()
    shell.run_line_magic("load_ext", "bankwise.jupyter")
    report = shell.run_cell_magic("bankwise", "emulate --fit", conflict)
    assert report.kernels[0].conflicts == 992 and report.fits[0].passes_after == 64
