#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The negative control of tables.py and plots.py: each change to a copy of the documents must be noticed, and named."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEVICE, SEVERAL = "nvidia_h200", "nvidia_h200_x2"
PICTURE = f"docs/pictures/{DEVICE}_reduction_ladder.svg"
LIMITS = f"docs/results/{DEVICE}/limits.csv"
NUMBER = r">[1-8](\d\d[1-9])</text>"  # in a bar: those of the axis are round


def copy_of_documents(to: Path) -> None:
    for folder in ("docs", "tools"):
        shutil.copytree(ROOT / folder, to / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for page in [ROOT / "README.md", ROOT / "cmake/case_studies.txt", *ROOT.glob("*/README.md")]:
        (to / page.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(page, to / page.relative_to(ROOT))


def run(root: Path, program: str, *flags: str, **environment: str) -> tuple:
    """Exit code and everything that was printed."""
    command = [sys.executable, root / "tools" / program, *flags]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


def edit(root: Path, name: str, pattern: str, to) -> None:
    """In one place."""
    text, count = re.subn(pattern, to, (root / name).read_text(encoding="utf-8"), count=1)
    assert count == 1, f"{name} has no {pattern}"
    (root / name).write_text(text, encoding="utf-8")


def slower(name: str, variant: str, device: str = DEVICE):
    """Every result of a variant, by a tenth."""

    def change(root: Path) -> None:
        path = root / "docs/results" / device / f"{name}.json"
        report = json.loads(path.read_text())
        for row in (row for one in report.get("runs", [report]) for row in one["results"]):
            if row["variant"] == variant and row["time_median_s"]:
                row["time_median_s"] *= 1.1
                for rate in {"bytes_per_s", "of_floor", "weak_scaling"} & row.keys():
                    row[rate] = row[rate] and row[rate] / 1.1
        path.write_text(json.dumps(report))

    return change


def forged(root: Path) -> None:
    """A number next to a bar, and the digest of the picture, too."""
    edit(root, PICTURE, NUMBER, r">9\1</text>")
    text = (root / PICTURE).read_text(encoding="utf-8")
    picture = hashlib.sha256(text[: text.index("<!-- plots.py")].encode()).hexdigest()
    edit(root, PICTURE, r"picture \w{64}", f"picture {picture}")


# Changes that are made to one copy, because no two of them concern the same document: each with the name that
# `tables.py --check` must print.
TABLES = (
    (
        (slower("reduction.memory", "packed"), "reduction/README.md"),
        (
            lambda root: edit(root, f"docs/results/{DEVICE}/bankcheck_cuda.csv", r"(transpose_naive,ld,1),\d+", r"\1,7"),
            "docs/checking_cuda.md",
        ),
        (
            lambda root: edit(root, "docs/results/oclgrind/lines.csv", r"(viennacl_fft,\w+,:144,store),\d+", r"\1,7"),
            "docs/results/opencl_programs.md",
        ),
        (slower("ranks", "cyclic", SEVERAL), "docs/several_gpus.md"),
        (lambda root: edit(root, LIMITS, r"transpose_tma,(\d+),\d", r"transpose_tma,\1,1"), "docs/limits.md"),
        (lambda root: edit(root, "docs/results/README.md", r"\| (yes|stretch|no) \|", "| of course |"), "docs/results/README.md"),
    ),
    (
        (slower("transpose.sizes", "library"), "docs/results/README.md"),
        (slower("ranks_largest", "ring", SEVERAL), "docs/several_gpus.md"),
    ),
    ((slower("transpose.block", "tile32"), "docs/bank_model.md"),),
)
# Changes that `plots.py --check` must notice, each in a separate copy.
PLOTS = (
    (slower("reduction.memory", "packed"), PICTURE),
    (slower("transpose.sizes", "library"), f"docs/pictures/{DEVICE}_transpose_sizes.svg"),
    (slower("ranks", "cyclic", SEVERAL), f"docs/pictures/{SEVERAL}_ranks.svg"),
    (lambda root: edit(root, PICTURE, NUMBER, r">9\1</text>"), PICTURE),
    (lambda root: edit(root, PICTURE, r"L 1", "L 2"), PICTURE),
    (forged, PICTURE),
    (lambda root: (root / PICTURE).unlink(), PICTURE),
    (lambda root: edit(root, "tools/drawing.py", r"WIDTH = \d+", "WIDTH = 900"), PICTURE),
)
ROUNDS = [("tables.py", changes) for changes in TABLES] + [("plots.py", (change,)) for change in PLOTS]


def unnoticed() -> list:
    faults = []
    for number, (program, changes) in enumerate(ROUNDS):
        with tempfile.TemporaryDirectory() as scratch:
            copy_of_documents(Path(scratch))
            for change, _ in changes:
                change(Path(scratch))
            code, said = run(Path(scratch), program, "--check")
            for _, named in changes:
                if code != 1 or not any(line.startswith(named) for line in said.splitlines()):
                    faults.append(f"round {number}: {program} ends with {code}, does not name {named}: {said}")
    return faults


def otherwise_wrong() -> list:
    """What must be accepted; what a CPU's file adds to a table; and plots.py where there is no matplotlib."""
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        copy_of_documents(root)
        without = root / "without"
        without.mkdir()
        (without / "matplotlib.py").write_text("raise ModuleNotFoundError(name='matplotlib')\n")
        expected = (
            ((0, ""), run(root, "tables.py", "--check")),
            ((0, ""), run(root, "plots.py", "--check")),
            ((0, ""), run(root, "plots.py", "--check", PYTHONPATH=str(without))),
            (
                (3, "matplotlib is missing; Debian and Ubuntu have it as python3-matplotlib\n"),
                run(root, "plots.py", PYTHONPATH=str(without)),
            ),
        )
        faults += [f"{wanted} is wanted, and {got} is got" for wanted, got in expected if wanted != got]
        speeds = {
            "chunked/1": 9.1,
            "openmp/1": 8,
            "openmp_vectors/1": 10,
            "chunked/2": 9,
            "openmp/2": 10,
            "openmp_vectors/2": 9,
        }
        timed = [
            {"run_name": f"reduction_{name}/real_time", "run_type": "iteration", "bytes_per_second": v}
            for name, v in speeds.items()
        ]
        (root / "docs/results/pocl_epyc/cpu_shaped.json").write_text(json.dumps({"benchmarks": timed}))
        run(root, "tables.py")
        if not re.search(
            r"reduction `chunked`, PoCL .* \| 0\.90 × OpenMP at 2¹ elements \| yes \|", (root / "docs/results/README.md").read_text()
        ):
            faults.append("the slowest run on a CPU, 0.90 of the faster OpenMP, is not in docs/results/README.md")
    return faults


faults = unnoticed() + otherwise_wrong()
print("\n".join(faults) or f"{sum(len(changes) for _, changes in ROUNDS)} changes were noticed")
sys.exit(bool(faults))
