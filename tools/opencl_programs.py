#!/usr/bin/env python3
"""Runs OpenCL programs from Debian and PyPI, which are not part of bankwise, under `bankcheck opencl` and Oclgrind.

    opencl_programs.py --prepare FOLDER [--only NAME]               installs, downloads and builds them
    opencl_programs.py BANKCHECK FOLDER [--only NAME] [--rounds N]  runs them

Writes docs/results/oclgrind/programs.csv, one row per program, and lines.csv, the lines whose passes were counted by
hand; tables.py writes them to docs/results/opencl_programs.md. With --only the other rows stay as they are. Times are
seconds of processor time, user and system, of the program with everything that it starts: the minimum of N rounds (3).
Each round runs the program in four ways:

    oclgrind            as Oclgrind runs it
    oclgrind_O0         its kernels built with -O0, as bankcheck builds them
    same_device_O0      also on the device that the program meets under bankcheck: bankcheck without its plugin
    bankcheck

opencl_programs.json has the programs. --prepare uses apt-get, which needs root, and pip. Source packages come from the
mirrors that apt has.
Exit codes: 0 ok, 1 a program did not finish or a line counted by hand differs, 2 usage, 3 nothing could be prepared.
"""

import argparse
import json
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True  # of the modules next to this file
from campaign import Run, data, output, run, said_by_bankcheck
from reports import RESULTS, WAYS, csv_rows, write_csv

HEAD = ["program", "source", "version", "command", "exit", "reason", "kernels", "work_groups", "group_sizes"]
HEAD += ["accesses", "lanes", "passes", "conflicts", "remarks"]
LINE_HEAD = ["program", "kernel", "where", "operation", "accesses", "passes", "found_accesses", "found_passes"]
COMPARED = ("accesses", "passes")
LIMIT = 60  # seconds for one run of an OpenCL program
NO_PLUGIN = "Oclgrind saw no OpenCL context"
ICD = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"


class Source(NamedTuple):
    title: str
    programs: list
    apt: str = ""  # packages to install; the first has the version
    apt_source: str = ""  # a Debian source package to download and unpack; it has the version
    pip: str = ""  # packages of PyPI; the first has the version
    libraries: str = ""  # with which C++ programs are linked; without them, the programs are Python's
    code: str = "{name}.cpp"  # of a C++ program; {source} is the folder of the source package
    frame: list | str = ("{text}",)  # the lines of a program around its text, or the source that has the same


class Program(NamedTuple):
    name: str
    source: Source
    command: str  # in the folder of programs; {python} is that of the source
    text: str  # of NAME.py or NAME.cpp; empty: somebody else wrote it
    lines: list  # the accesses and passes of lines of a kernel on sm_90, counted by hand; `where` ends with the line

    def build(self) -> str:
        """The command that compiles it, in the same folder."""
        return f"g++ -w -DCL_TARGET_OPENCL_VERSION=120 -o {self.name} {self.source.code} {self.source.libraries}"


def programs() -> list:
    """Those of all sources, in the order of the list."""
    sources = {name: Source(**source) for name, source in data("opencl_programs.json").items()}
    texts = {row["name"]: row["text"] for source in sources.values() for row in source.programs if "text" in row}
    found = []
    for source in sources.values():
        for row in source.programs:
            name, lines = row["name"], texts.get(row.get("like", row["name"]))
            frame = source.frame if not isinstance(source.frame, str) else sources[source.frame].frame
            text = "\n".join([*frame, ""]).replace("{text}", "\n".join(lines)) if lines else ""
            own = f"./{name}" if source.libraries else f"{{python}} {name}.py"
            command = row.get("command") or f"{own} {row.get('arguments', '')}".strip()
            found.append(Program(name, source, command, text, row.get("lines", [])))
    return found


PROGRAMS = programs()


def python_of(source: Source, folder: Path) -> str:
    return str(folder / "environment/bin/python3") if source.pip else "/usr/bin/python3"


def unpacked(source: Source, folder: Path) -> Path:
    """The folder of a source package, or one that does not exist."""
    found = sorted(path for path in folder.glob(f"sources/{source.apt_source}-*") if path.is_dir())
    return found[0] if source.apt_source and found else folder / "sources/none"


def expanded(text: str, program: Program, folder: Path) -> list:
    source = program.source
    values = {"python": python_of(source, folder), "source": unpacked(source, folder), "name": program.name}
    return [word.format(**values) for word in shlex.split(text)]


def version(source: Source, folder: Path) -> str:
    """The version of the first package."""
    if source.pip:
        name = source.pip.split()[0]
        code = f"import importlib.metadata as m; print(m.version('{name}'))"
        return f"{name} {output([python_of(source, folder), '-c', code]).strip()}"
    name = source.apt.split()[0]
    if source.apt_source:
        return unpacked(source, folder).name.replace("-", " ", 1)
    return f"{name} {output(['dpkg-query', '-W', '-f', '${Version}', name])}"


def download_source_packages(names: list, folder: Path) -> None:
    """With a list of the sources of the mirrors that apt has, in the folder, so that the system's stay as they are."""
    apt = folder / "apt"
    (apt / "lists/partial").mkdir(parents=True, exist_ok=True)
    (apt / "sources").mkdir(exist_ok=True)
    for path in [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt").glob("sources.list.d/*")]:
        if path.suffix in (".list", ".sources"):
            text = re.sub(r"^(Types: )?deb\b", r"\1deb-src", path.read_text(), flags=re.MULTILINE)
            (apt / "sources" / path.name).write_text(text)
    settings = ("Dir::Etc::sourcelist=/dev/null", f"Dir::Etc::sourceparts={apt}/sources", f"Dir::State::lists={apt}/lists")
    (folder / "sources").mkdir(exist_ok=True)
    for command in ["update"], *(["source", "--only-source", name] for name in names):
        subprocess.run(["apt-get", "-q", *(f"-o{setting}" for setting in settings), *command], check=True, cwd=folder / "sources")


def prepare(programs: list, folder: Path) -> None:
    """Errors: OSError; subprocess.CalledProcessError."""
    sources = {program.source.title: program.source for program in programs}.values()
    for name in ("programs", "home"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    packages = sorted({"oclgrind", "python3"}.union(*(source.apt.split() for source in sources)))
    missing = [name for name in packages if subprocess.run(["dpkg", "-s", name], capture_output=True).returncode != 0]
    if missing:
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing], check=True)
    packages = sorted(set().union(*(source.pip.split() for source in sources)))
    if packages:
        subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
        subprocess.run([folder / "environment/bin/python3", "-m", "pip", "install", "-q", *packages], check=True)
    needed = {source.apt_source for source in sources if source.apt_source and not unpacked(source, folder).exists()}
    if needed:
        download_source_packages(sorted(needed), folder)
    for program in programs:
        compiled = program.source.libraries
        binary = folder / "programs" / program.name
        if program.text:
            path = folder / "programs" / f"{program.name}.{'cpp' if compiled else 'py'}"
            if compiled and path.exists() and path.read_text() != program.text:
                binary.unlink(missing_ok=True)
            path.write_text(program.text)
        if compiled and not binary.exists():
            print(program.build(), flush=True)
            subprocess.run(expanded(program.build(), program, folder), check=True, cwd=folder / "programs")


def environment(folder: Path, way: str) -> dict:
    """Caches lie in the folder. Programs that bring their own OpenCL library find Oclgrind as a driver."""
    (folder / "vendors").mkdir(exist_ok=True)
    (folder / "vendors/oclgrind.icd").write_text(f"{ICD}\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OCLGRIND", "PYOPENCL"))}
    kept |= {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home/cache"), "PYOPENCL_NO_CACHE": "1"}
    if way.startswith("oclgrind"):
        kept["OCL_ICD_VENDORS"] = str(folder / "vendors")
    return kept | ({"OCLGRIND_BUILD_OPTIONS": "-O0"} if way == "oclgrind_O0" else {})


def run_one_way(way: str, bankcheck: str, program: Program, folder: Path, report: Path) -> Run:
    command = expanded(program.command, program, folder)
    if way.startswith("oclgrind"):
        command = ["oclgrind", *command]
    else:
        ours = [bankcheck, "opencl", *(["--json", str(report)] if way == "bankcheck" else []), "--"]
        command = [*ours, *(["env", "-u", "OCLGRIND_PLUGINS"] if way == "same_device_O0" else []), *command]
    return run(command, folder / "programs", LIMIT, env=environment(folder, way))


def seconds(bankcheck: str, program: Program, folder: Path, report: Path, rounds: int) -> tuple:
    """The least time of each way, as text, and how it failed; and the last run under bankcheck."""
    runs: dict = {way: [] for way in WAYS}
    for way in rounds * WAYS:
        if not runs[way] or runs[way][-1].code is not None:  # what takes too long is not repeated
            runs[way].append(run_one_way(way, bankcheck, program, folder, report))

    def text(way: str) -> str:
        # Without its plugin, bankcheck sees no context, and its exit code is 3.
        fine = (0, 3) if way == "same_device_O0" and NO_PLUGIN in runs[way][-1].errors else (0,)
        codes = [ended.code for ended in runs[way] if ended.code not in fine]
        failure = f"more than {LIMIT} s" if None in codes else f"exit {codes[-1]}" if codes else ""
        return f"{min(ended.seconds for ended in runs[way]):.2f} {failure}".strip()

    return {way: text(way) for way in WAYS}, runs["bankcheck"][-1]


def counted(report: dict) -> dict:
    """The sums over all kernels, on the first architecture."""
    kernels = report["kernels"]
    sums = [kernel["architectures"][0] for kernel in kernels]
    sizes = sorted({math.prod(kernel["local_size"]) for kernel in kernels})
    totals = {key: sum(kernel[key] for kernel in sums) for key in ("accesses", "lanes", "passes", "conflicts")}
    totals["lanes"] = f"{totals['lanes'] / totals['accesses']:.1f}" if totals["accesses"] else ""
    groups = sum(kernel["work_groups"] for kernel in kernels)
    return totals | {"kernels": len(kernels), "work_groups": groups, "group_sizes": " ".join(map(str, sizes))}


def compared(program: Program, report: dict) -> list:
    """A row for each line counted by hand."""
    rows = []
    for line in program.lines:
        found = [
            row
            for kernel in report["kernels"]
            if kernel["kernel"].split()[0] == line["kernel"]
            for row in kernel["architectures"][0]["lines"]
            if f"{row['file']}:{row['line']}".endswith(line["where"]) and row["operation"] == line["operation"]
        ]
        sums = {f"found_{key}": sum(row[key] for row in found) for key in COMPARED}
        rows.append({"program": program.name, **line, **sums})
    return rows


def row_of(bankcheck: str, program: Program, folder: Path, rounds: int) -> tuple:
    """The row of the table, and those of the lines."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    times, last = seconds(bankcheck, program, folder, report, rounds)
    row = {"program": program.name, "source": program.source.title, "command": program.command}
    row |= {"version": version(program.source, folder)}
    row |= times | {"exit": f"more than {LIMIT} s" if last.code is None else last.code}
    said = said_by_bankcheck(last.errors)
    if last.code != 0:
        return row | {"reason": said[-1] if said else "", "remarks": ""}, []
    content = json.loads(report.read_text())
    return row | {"reason": "", "remarks": "; ".join(said)} | counted(content), compared(program, content)


def replace(path: Path, head: list, rows: list, name: str) -> None:
    """Writes the new rows to a CSV file, and the old ones of all programs but this one."""
    old = [row for row in csv_rows(path) if row["program"] != name] if path.exists() else []
    order = [program.name for program in PROGRAMS]
    rows = [row for row in [*old, *rows] if row["program"] in order]
    write_csv(path, head, sorted(rows, key=lambda row: order.index(row["program"])))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bankcheck", nargs="?")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prepare", action="store_true", help="install, download and build, and run nothing")
    parser.add_argument("--only", action="append", help="the beginning of a program's name; may be repeated")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = options.folder.resolve()
    programs = [program for program in PROGRAMS if not options.only or program.name.startswith(tuple(options.only))]
    if options.prepare == bool(options.bankcheck) or not programs:
        parser.error("either --prepare FOLDER or BANKCHECK FOLDER, with the beginning of a program's name after --only")
    try:
        if options.prepare:
            return prepare(programs, folder) or 0
    except (OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 3
    bankcheck = str(Path(options.bankcheck).resolve())
    failed = False
    for program in programs:
        row, lines = row_of(bankcheck, program, folder, options.rounds)
        replace(RESULTS / "oclgrind/programs.csv", [*HEAD, *WAYS], [row], program.name)
        replace(RESULTS / "oclgrind/lines.csv", LINE_HEAD, lines, program.name)
        failed |= row["exit"] != 0 or any(line[name] != line[f"found_{name}"] for line in lines for name in COMPARED)
        print(f"{program.name}:", *(row.get(key, "") for key in ["exit", "reason", *HEAD[6:], *WAYS]), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
