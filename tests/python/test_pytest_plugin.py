import os
import sys
from pathlib import Path

import pytest
from bankwise import pytest_plugin, read

GPU_TEST = """
import pytest

@pytest.mark.bank_conflicts(max=0, kernel="softmax*")
def test_softmax():
    pass

def test_other():
    pass
"""


def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> pytest.RunResult:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    return pytester.runpytest_inprocess("-p", "bankwise.pytest_plugin", "-rs", *arguments)


def test_skips_without_gpu(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    pytester.makepyfile(GPU_TEST)
    result = run(pytester, monkeypatch)
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*NVIDIA*"])


def test_verdict(trace: Path) -> None:
    report = read(trace)
    assert pytest_plugin.verdict_on(report, 992) is None
    why = pytest_plugin.verdict_on(report, 991)
    assert why is not None and "transpose has 992 conflicts on sm_90; 991 are allowed" in why


def test_verdict_on_incomplete(trace: Path) -> None:
    report = read(trace)
    report.json["kernels"][0]["architectures"][0]["incomplete"] = ["a sentence"]
    why = pytest_plugin.verdict_on(report, 10**6)
    assert why is not None and "not all accesses were watched" in why


def test_verdict_on_nothing(trace: Path) -> None:
    report = read(trace)
    report.json["kernels"] = []
    why = pytest_plugin.verdict_on(report, 0)
    assert why is not None and "launched no kernel" in why


OPENCL_TEST = """
import numpy as np
import pyopencl as cl
import pytest

SOURCE = '''
kernel void column(global float* out) {
  local float tile[PITCH * 32];
  for (int i = 0; i < 32; ++i) tile[i * PITCH + get_local_id(0)] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_local_id(0)] = tile[get_local_id(0) * PITCH];
}'''

@pytest.mark.parametrize("pitch", [32, 33])
@pytest.mark.bank_conflicts(max=0, kernel="col*", checker="opencl")
def test_column(pitch):
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    program = cl.Program(context, SOURCE).build([f"-DPITCH={pitch}"])
    out = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, 128)
    program.column(queue, (32,), (32,), out)
    queue.finish()
"""


def test_opencl(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyopencl")
    pytester.makepyfile(OPENCL_TEST)
    result = run(pytester, monkeypatch)
    if result.parseoutcomes().get("skipped"):
        pytest.skip("no Oclgrind")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*column has 31 conflicts on sm_90; 0 are allowed*"])
