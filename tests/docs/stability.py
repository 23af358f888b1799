#!/usr/bin/env python3
"""Compares what docs/stability.md promises with version 1.0; exit code 1 and a line for each broken promise.

    tests/docs/stability.py BUILD            checks; options_1.0.txt and headers_1.0.txt have the lists of version 1.0
    tests/docs/stability.py BUILD --write    writes these lists, for a new major version
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
from cli_reference import bankcheck, program_of
from reports import STUDIES

EXAMPLE = re.search(r"```json\n(.*?)```", (ROOT / "docs/trace_format.md").read_text(encoding="utf-8"), re.DOTALL)[1]
# What users include. These include further headers, which may change.
INCLUDED = re.compile(r"bankwise/(banks|report|study|trace)/.*|bankwise/(run|emulator/cuda|emulator/core/(emulate|launch))\.hpp")
VERSION = '"bankwise_trace":2'
# With one conflict less than the example has, and with all of them.
BASELINES = {"strict.csv": 123, "loose.csv": 124}


def options(build: Path) -> list:
    programs = [*bankcheck(build)[1:], *(program_of(build, study) for study in STUDIES)]
    return sorted(f"{p.name} {flag}" for p in programs for option in p.options() for flag in option.flags())


def headers() -> list:
    """The headers that users include, of those that the rooms list as public."""
    found = []
    for room in ROOT.glob("common/bankwise/**/CMakeLists.txt"):
        for words in re.findall(r"bankwise_room\(([^()]*)\)", room.read_text(encoding="utf-8")):
            listed = re.search(r"\bHEADERS\s+([^A-Z]*)", words)
            found += [(room.parent / name).resolve() for name in (listed[1].split() if listed else [])]
    names = (str(path.relative_to(ROOT / "common")) for path in found)
    return sorted(name for name in names if INCLUDED.fullmatch(name))


def gone(listed: str, now: list) -> list:
    return [f"{listed}: gone: {line}" for line in (HERE / listed).read_text().splitlines() if line not in now]


def inputs(folder: Path) -> None:
    for number in (1, 2, 3):
        (folder / f"trace{number}.jsonl").write_text(EXAMPLE.replace(VERSION, f'"bankwise_trace":{number}'))
    for name, conflicts in BASELINES.items():
        (folder / name).write_text(f"kernel,architecture,accesses,conflicts,unknown\ncolumn,sm_90,4,{conflicts},0\n")


EXIT_CODES = {
    "report trace2.jsonl": 0,
    "report trace1.jsonl": 0,
    "report trace3.jsonl": 2,
    "report --max-conflicts 124 trace2.jsonl": 0,
    "report --max-conflicts 123 trace2.jsonl": 1,
    "report --baseline loose.csv trace2.jsonl": 0,
    "report --baseline strict.csv trace2.jsonl": 1,
    "report --no-such-option trace2.jsonl": 2,
    "report no_such_trace.jsonl": 2,
    "report --json no/folder.json trace2.jsonl": 2,
    "report --json /dev/full trace2.jsonl": 3,
    "predict --index tid --max-conflicts 0": 0,
    "predict --index 2*tid --max-conflicts 0": 1,
    "": 2,
}


def exit_codes(build: Path) -> list:
    """Of commands that need no device."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        inputs(Path(folder))
        for words, code in EXIT_CODES.items():
            run = subprocess.run([build / "bankcheck", *words.split()], cwd=folder, capture_output=True, check=False)
            if run.returncode != code:
                found.append(f"bankcheck {words}: exit code {run.returncode}, not {code}")
    return found


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    lists = {"options_1.0.txt": options(build), "headers_1.0.txt": headers()}
    if "--write" in sys.argv:
        for name, lines in lists.items():
            (HERE / name).write_text("\n".join(lines) + "\n")
    broken = [line for name, now in lists.items() for line in gone(name, now)]
    broken += [f"{name}: a line that goes is not noticed" for name, now in lists.items() if not gone(name, now[1:])]
    broken += exit_codes(build)
    print("\n".join(broken) or f"{sum(map(len, lists.values()))} names and {len(EXIT_CODES)} exit codes are as promised")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
