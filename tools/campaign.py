"""Shared by the tools: runs programs, also those from elsewhere, and reads the lists of them."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple


def data(name: str) -> dict:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


class Run(NamedTuple):
    code: int | None  # None: it took too long
    seconds: float  # of processor time
    out: str
    errors: str


def run(command: list, folder: Path, seconds: int, cpu: int = 0, env: dict | None = None) -> Run:
    """Runs for at most so many seconds, and if `cpu` is not 0, each process for so many seconds of processor time."""
    limited = ["timeout", "-k", "1", str(seconds), *(["prlimit", f"--cpu={cpu}"] if cpu else []), *command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        started = subprocess.Popen(limited, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read(1 << 22).decode(errors="replace"))
    stopped = started.returncode in (124, 137) or (cpu and re.search(r"signal (9 \(Killed\)|24)", texts[1]))
    return Run(None if stopped else started.returncode, usage.ru_utime + usage.ru_stime, *texts)


def said_by_bankcheck(errors: str) -> list:
    return [line.removeprefix("bankcheck: ") for line in errors.splitlines() if line.startswith("bankcheck: ")]


def output(command: list, **more) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def report_of(command: list, *rest: str, **more) -> dict:
    """What a program writes with --json, before the `rest` of its words. Error: subprocess.CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        subprocess.run([*command, "--json", path, *rest], check=True, stdout=subprocess.DEVNULL, **more)
        return json.loads(path.read_text(encoding="utf-8"))


def records(path: Path, *keys: str) -> dict:
    """The objects of a file of JSON Lines by the values of these keys, of which the last one counts."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {tuple(record[key] for key in keys): record for record in map(json.loads, lines)}


def add_record(path: Path, record: dict) -> None:
    with path.open("a", encoding="utf-8") as file:
        print(json.dumps(record), file=file)
