import os
import sys
from importlib import metadata
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


# An installed wheel registers the plugin, and pytest refuses it a second time.
PLUGIN = [] if metadata.entry_points(group="pytest11", name="bankwise") else ["-p", "bankwise.pytest_plugin"]


def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> pytest.RunResult:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    return pytester.runpytest_inprocess(*PLUGIN, "-rs", *arguments)


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


def test_skips_without_oclgrind(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(OPENCL_TEST.replace("import pyopencl as cl", ""))
    monkeypatch.setenv("PATH", "")
    result = run(pytester, monkeypatch)
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED*no oclgrind on the PATH*"])


@pytest.mark.usefixtures("pyopencl")
def test_opencl(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(OPENCL_TEST)
    result = run(pytester, monkeypatch)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*column has 31 conflicts on sm_90; 0 are allowed*"])

    run(pytester, monkeypatch, "--bank-update-baseline", "conflicts.csv").assert_outcomes(passed=2)
    run(pytester, monkeypatch, "--bank-baseline", "conflicts.csv").assert_outcomes(passed=2)
    baseline = pytester.path / "conflicts.csv"
    baseline.write_text(baseline.read_text().replace(",31,", ",30,"))
    run(pytester, monkeypatch, "-k", "32", "--bank-baseline", "conflicts.csv").assert_outcomes(failed=1)


def test_update_baseline(tmp_path: Path) -> None:
    file = tmp_path / "conflicts.csv"
    file.write_text("kernel,architecture,accesses,conflicts,unknown\nother,sm_90,8,7,0\ncolumn,sm_90,900,900,0\n")
    session: pytest_plugin.Rows = {}
    for numbers in (["65", "0", "1", "", "", ""], ["64", "31", "0", "9", "2", "0"]):
        pytest_plugin.update_baseline(file, session, {("column", "sm_90"): numbers})
    rows = file.read_text().splitlines()
    assert rows[0].endswith(",conflicts,unknown,global_accesses,extra_sectors,global_unknown")
    assert rows[1:] == ["column,sm_90,65,31,1,9,2,0", "other,sm_90,8,7,0,,,"]
