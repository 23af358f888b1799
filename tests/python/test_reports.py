from pathlib import Path

import bankwise
import pytest


def test_read(trace: Path) -> None:
    report = bankwise.read(trace)
    (kernel,) = report.kernels
    assert (kernel.kernel, kernel.passes, kernel.ideal_passes, kernel.conflicts) == ("transpose", 1056, 64, 992)
    assert kernel.complete and report.incomplete == []
    assert (report.lines[0].line, report.lines[0].array, report.lines[0].conflicts) == (6, "tile", 992)
    assert "transpose" in str(report) and "992 conflicts" in repr(report)
    assert len(bankwise.read(trace, ["sm_90", "sm_75"]).kernels) == 2


def test_incomplete(trace: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_text("\n".join(trace.read_text().splitlines()[:-1]))
    assert bankwise.read(torn).incomplete
    for name, value in [("incomplete", ["a sentence"]), ("unknown", 1)]:
        report = bankwise.read(trace)
        report.json["kernels"][0]["architectures"][0][name] = value
        assert not report.kernels[0].complete


def test_fit(trace: Path) -> None:
    (fit,) = bankwise.fit(trace).fits
    assert (fit.array, fit.verdict, fit.passes_before, fit.passes_after) == ("tile", "removed", 1056, 64)
    assert bankwise.read(trace).fits == []


def test_to_pandas(trace: Path) -> None:
    pytest.importorskip("pandas")
    report = bankwise.fit(trace)
    assert report.to_pandas().conflicts.sum() == 992
    assert report.to_pandas("kernels").kernel.tolist() == ["transpose"]
    assert report.to_pandas("fits").passes_after.tolist() == [64]
    with pytest.raises(ValueError, match="rows are"):
        report.to_pandas("columns")


def test_layout() -> None:
    plain = bankwise.layout("(64,64):(64,1)", "ldmatrix.x4", type="half")
    assert plain.conflicts == 448 and "Swizzle<3, 3, 3>" in str(plain)
    assert bankwise.layout("Swizzle<3,3,3> o (64,64):(64,1)", "ldmatrix.x4", type="half").conflicts == 0


def test_layout_of_array() -> None:
    np = pytest.importorskip("numpy")
    tile = np.zeros((64, 64), dtype="float16")
    assert bankwise.layout(tile, "ldmatrix.x4").conflicts == 448
    assert bankwise.layout(np.zeros((64, 72), dtype="float16")[:, :64], "ldmatrix.x4").conflicts == 0


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(bankwise.BankwiseError, match="cannot read") as error:
        bankwise.read(tmp_path / "none.jsonl")
    assert error.value.exit_code == 2
    with pytest.raises(ValueError, match="checkers are"):
        bankwise.check("cpu", ["a.cu"])
    with pytest.raises(bankwise.BankwiseError):
        bankwise.layout("no layout")
