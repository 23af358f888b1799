"""Tests of kernels: pytest test_kernels.py. Without an NVIDIA GPU, or without Oclgrind, they are skipped."""

import runpy
import sys
from pathlib import Path

import pytest


def run(script, *arguments):
    sys.argv = [script, *arguments]
    runpy.run_path(str(Path(__file__).with_name(script)))


@pytest.mark.bank_conflicts(max=0, kernel="transpose")
def test_cuda():
    pytest.importorskip("cupy")
    run("cupy_transpose.py", "33")


@pytest.mark.bank_conflicts(max=0, kernel="column", checker="opencl")
def test_opencl():
    pytest.importorskip("pyopencl")
    run("pyopencl_column.py", "33")
