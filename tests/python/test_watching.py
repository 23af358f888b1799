import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bankwise
import pytest
from bankwise import watching

TESTS = Path(__file__).parent.parent
RECORDS = TESTS / "data" / "cuda_records"
EXAMPLES = TESTS.parent / "python" / "examples"


def test_checker_of(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    for text, checker in [
        ("import torch", "cuda"),
        ("import pyopencl as cl", "opencl"),
        ("    from pyopencl import array", "opencl"),
        ("import numpy as np, pyopencl as cl", "opencl"),
        ("import pyopencl_like", "cuda"),
        ("from loader import pyopencl", "cuda"),
        ("# import pyopencl", "cuda"),
    ]:
        script.write_text(text)
        assert watching.checker_of(str(script)) == checker


def test_run_words(tmp_path: Path) -> None:
    script = str(tmp_path / "train.py")
    Path(script).write_text("import torch")
    assert watching.run_words(["--fit", script, "--opencl", "8"]) == [
        "cuda", "--fit", "--", sys.executable, script, "--opencl", "8"
    ]  # fmt: skip
    assert watching.run_words(["--opencl", "-m", "module", "x"])[0] == "opencl"
    for words in ([], ["--fit"], ["--"]):
        with pytest.raises(ValueError, match="bankwise run"):
            watching.run_words(words)
    with pytest.raises(ValueError, match="cannot read"):
        watching.run_words([str(tmp_path / "none.py")])


def test_watch_without_gpu() -> None:
    try:
        with bankwise.watch() as w:
            pytest.skip("this machine has a GPU")
    except bankwise.NothingToRun as error:
        assert "NVIDIA" in str(error)
        return
    with pytest.raises(bankwise.BankwiseError, match="after the block"):
        w.report  # noqa: B018


def run_bankwise(*words: str) -> subprocess.CompletedProcess[str]:
    """The command bankwise, without its compiled module, which is not needed here and not built everywhere."""
    program = """
import runpy, sys, types
sys.modules["bankwise._model"] = types.ModuleType("_model")
sys.argv[0] = "bankwise"
runpy.run_module("bankwise", run_name="__main__")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, env=environment)


@pytest.mark.usefixtures("pyopencl")
@pytest.mark.parametrize(("pitch", "conflicts"), [("32", 31), ("33", 0)])
def test_run_pyopencl(tmp_path: Path, pitch: str, conflicts: int) -> None:
    report = tmp_path / "report.json"
    done = run_bankwise("run", "--json", str(report), str(EXAMPLES / "pyopencl_column.py"), pitch)
    assert done.returncode == 0, done.stderr
    (kernel,) = json.loads(report.read_text())["kernels"]
    assert kernel["kernel"] == "column" and kernel["architectures"][0]["conflicts"] == conflicts


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A driver that only has a device, and the folder of a library that stands for NVIDIA's."""
    folder = os.environ.get("BANKWISE_TEST_DRIVER")
    if not folder:
        pytest.skip("this build has no stand-in for the CUDA driver")
    monkeypatch.setenv("LD_LIBRARY_PATH", folder)
    (tmp_path / "libsanitizer-public.so").touch()
    return str(tmp_path)


def test_watch_reports(driver: str) -> None:
    before = dict(os.environ)
    with bankwise.watch("--sanitizer", driver) as w:
        assert Path(os.environ["CUDA_INJECTION64_PATH"]).name == "bankcheck_cuda.so"
        for name in ("transpose_naive.record", "transpose_naive.0.cubin"):  # in place of a kernel
            shutil.copy(RECORDS / name, os.environ["BANKWISE_CUDA_RECORDS"])
    assert dict(os.environ) == before
    (kernel,) = w.report.kernels
    assert kernel.conflicts > 0 and "transpose" in kernel.kernel


def test_watch_of_nothing(driver: str) -> None:
    with pytest.raises(bankwise.BankwiseError, match="did not use CUDA"), bankwise.watch("--sanitizer", driver):
        pass


def test_watch_passes_exceptions_on(driver: str) -> None:
    with pytest.raises(KeyError), bankwise.watch("--sanitizer", driver):
        raise KeyError
    assert "CUDA_INJECTION64_PATH" not in os.environ


def test_watch_too_late(driver: str) -> None:
    program = """
import ctypes, sys, types
sys.modules["bankwise._model"] = types.ModuleType("_model")  # not needed here, and not built everywhere
import bankwise
ctypes.CDLL("libcuda.so.1").cuInit(0)
with bankwise.watch():
    print("watched")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert "CUDA is initialized already" in done.stderr and "watched" not in done.stdout
