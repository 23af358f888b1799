#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The negative control of include_graph.py: each change to a copy of the sources must be noticed, and named."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import include_graph  # noqa: E402

ROOMS = "common/bankwise"
TOOLS = ("tools/include_graph.py", "tools/repository.py")


def add(name: str, line: str) -> tuple:
    """A file begins with one more line. Returns its name, and its text."""
    path = ROOT / name
    return name, line + "\n" + (path.read_text(encoding="utf-8") if path.exists() else "")


def replace(name: str, before: str, after: str) -> tuple:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert before in text, f"{name} has no {before}"
    return name, text.replace(before, after, 1)


# The file that is changed with its text, and the lines that must be said: none if the change is allowed.
CHANGES = (
    (
        add(f"{ROOMS}/support/table.hpp", "#include <bankwise/banks/units.hpp>"),
        (f"{ROOMS}/support/table.hpp:1: {ROOMS}/support must not know {ROOMS}/banks: {ROOMS}/banks/units.hpp",),
    ),
    (
        add(f"{ROOMS}/banks/units.hpp", "#include <bankwise/trace/tally_text.hpp>"),
        (
            f"{ROOMS}/banks/units.hpp:1: {ROOMS}/banks must not know {ROOMS}/trace: {ROOMS}/trace/tally_text.hpp",
            f"a cycle of rooms: {ROOMS}/banks -> {ROOMS}/trace -> {ROOMS}/banks",
        ),
    ),
    (
        add(f"{ROOMS}/banks/access.hpp", "#include <bankwise/banks/cost.hpp>"),
        (f"a cycle of files: {ROOMS}/banks/access.hpp -> {ROOMS}/banks/cost.hpp -> {ROOMS}/banks/access.hpp",),
    ),
    (
        add("bankcheck/driver/sarif.cpp", '#include "bankcheck/opencl/command.hpp"'),
        (
            "bankcheck/driver/sarif.cpp:1: bankcheck/driver must not know bankcheck/opencl: "
            "bankcheck/opencl/command.hpp",
        ),
    ),
    (
        add("reduction/reduction.cpp", "#  include <bankwise/run.hpp>"),
        (f"reduction/reduction.cpp:1: reduction must not know {ROOMS}/run*: {ROOMS}/run.hpp",),
    ),
    (
        add("transpose/transpose.cpp", '#include "reduction/variants.hpp"'),
        ("transpose/transpose.cpp:1: transpose must not know reduction: reduction/variants.hpp",),
    ),
    (
        add(f"{ROOMS}/study/levels.cpp", "#include <bankwise/banks/costs.hpp>"),
        (f"{ROOMS}/study/levels.cpp:1: bankwise/banks/costs.hpp is no tracked file",),
    ),
    (
        add("bankcheck/main.cpp", '#include "bankwise/banks/cost.hpp"'),
        ("bankcheck/main.cpp:1: bankwise/banks/cost.hpp is no tracked file",),
    ),
    (
        add(f"{ROOMS}/new_room/new.cpp", "#include <bankwise/banks/cost.hpp>"),
        (f"{ROOMS}/new_room/new.cpp: the table of rooms has no room for it",),
    ),
    (
        replace("CONTRIBUTING.md", "knows banks, support\n", "knows banks, support, study\n"),
        ("include_graph.py: CONTRIBUTING.md's table of rooms has a cycle: ",),
    ),
    (
        replace("CONTRIBUTING.md", f"{ROOMS}/gpu ", f"{ROOMS}/gpus"),
        ("include_graph.py: CONTRIBUTING.md's table of rooms has 0 rooms named gpu",),
    ),
    # What a room that one knows knows, one may include.
    (add(f"{ROOMS}/bench/measure.cpp", "#include <bankwise/emulator/emulate.hpp>"), ()),
    (add("tests/fuzz/replay.cpp", '#include "bankcheck/opencl/plugin/loops.hpp"'), ()),
    (add("tests/fuzz/replay.cpp", "#include <bankwise/bench/measure.hpp>"), ()),
)


def copy_of_sources(to: Path) -> None:
    for name in [*include_graph.files_of(ROOT), "CONTRIBUTING.md", *TOOLS]:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, to / name)


def main() -> int:
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        copy_of_sources(root)
        for number, ((name, text), wanted) in enumerate(CHANGES):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
            command = [sys.executable, root / "tools/include_graph.py", "--check"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            said = (done.stdout + done.stderr).splitlines()
            missing = [want for want in wanted if not any(line.startswith(want) for line in said)]
            if missing or len(said) < len(wanted) or done.returncode != bool(wanted):
                faults.append(f"change {number}: exit code {done.returncode}, {missing} is missing in {said}")
            (root / name).unlink()
            if (ROOT / name).exists():
                shutil.copy(ROOT / name, root / name)
    print("\n".join(faults) or f"{len(CHANGES)} changes are told apart")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
