#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `bankcheck emulate` on the CUDA programs below folders, and prints a table in Markdown.

  tools/emulate_corpus.py [options] FOLDER...

A program is a .cu file that defines main(). Each folder is a repository: its programs run in their own folders, and are
looked through in the order of their names. emulate_corpus.json has the arguments of those that need some, or that take
a size. The script fetches nothing. Programs run with the rights of the caller, so give it only sources that you would
also build and run by hand.
"""

import argparse
import concurrent.futures
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

MAIN = re.compile(r"^\s*(?:int|void|auto)?\s*main\s*\(", re.M)
RIGHT = re.compile(r"\b(pass(ed|es)?|success(ful|fully)?|correct|match(es|ed)?|right|verified|ok|no error)\b|all results", re.I)
WRONG = re.compile(r"\b(fail(ed|ure|s)?|mismatch(es)?|do not match|don't match|incorrect|wrong|not correct|not match)\b", re.I)
ARGUMENTS = json.loads(Path(__file__).with_suffix(".json").read_text())
FOLDERS = ("include", "inc", "Common", "common", "Common/helper", "src", "utils")


def has_main(path: Path) -> bool:
    try:
        return bool(MAIN.search(path.read_text(errors="replace")))
    except OSError:
        return False


def is_exercise(path: Path) -> bool:
    """Whether the reader is to complete the program first."""
    return "FIXME" in re.sub(r"//.*", "", path.read_text(errors="replace"))


def programs(folder: Path, most: int) -> list:
    found = [path for path in sorted(folder.rglob("*.cu")) if has_main(path) and not is_exercise(path)]
    if most and len(found) > most:  # spread over the repository
        found = [found[i * len(found) // most] for i in range(most)]
    return found


def includes(path: Path, folder: Path) -> list:
    """Folders of headers that a makefile would name: of the usual names, in the program's folders."""
    all_, at = [], path.parent
    while True:
        all_ += [str(at / name) for name in FOLDERS if (at / name).is_dir()]
        if at == folder:
            return all_
        if at != path.parent:
            all_.append(str(at))
        at = at.parent


def run(command: list, folder: Path, seconds: int) -> tuple:
    """Exit code (None: too long), and stdout and stderr. The limit is one of processor time, for busy machines."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
        try:
            code = process.wait(10 * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None

        def text(file):
            file.seek(0)
            return file.read(1 << 22).decode(errors="replace")

        said = text(err)
        return None if "signal 9 (Killed)" in said or "signal 24" in said else code, text(out), said


def verdict(output: str) -> str:
    if WRONG.search(re.sub(r"\b0+ (failed|failures|errors|mismatches)\b", "", output)):
        return "wrong"
    return "right" if RIGHT.search(output) else "–"


def others(path: Path, headers: list) -> list:
    """The other sources of a program that one file does not make: those of its folder and below, and those next to
    the headers that it includes, without a main()."""
    text = path.read_text(errors="replace")
    found = [one for end in ("*.cu", "*.cpp", "*.cc") for one in sorted(path.parent.rglob(end))]
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
        for folder in (str(path.parent), *headers):
            found += [one for one in sorted(Path(folder).glob(f"{Path(name).with_suffix('')}.c*")) if one.is_file()]
    found += sorted(path.parent.glob("*.c"))
    # A source that the program includes is part of it.
    names = [one for one in dict.fromkeys(found) if one != path and not has_main(one) and f'{one.name}"' not in text]
    return [os.path.relpath(one, path.parent) for one in names][:40]


def check(path: Path, folder: Path, options) -> tuple:
    """Builds, runs, printed result, last message. A program that lacks definitions gets its folder's other sources."""
    row = check_with([path.name], path, folder, options)
    headers = [*includes(path, folder), *options.include]
    more = others(path, headers) if "no source and no library defines" in row[3] else []
    return check_with([path.name, *more], path, folder, options) if more else row


def check_with(sources: list, path: Path, folder: Path, options) -> tuple:
    command = [options.bankcheck, "emulate", "--max-groups", "2", "--json", os.devnull]
    for name in [*includes(path, folder), *options.include]:
        command += ["-I", name]
    if "omp.h" in path.read_text(errors="replace"):
        command += ["--compiler-options=-fopenmp"]
    if options.cache:
        command += ["--cache", options.cache]
    arguments = ARGUMENTS.get(f"{folder.name}/{path.relative_to(folder)}", [])
    code, out, err = run([*command, *sources, "--", *arguments], path.parent, options.seconds)
    said = [line[11:] for line in err.splitlines() if line.startswith("bankcheck: ")]
    reason = said[-1] if said else ""
    reason = reason.replace(f"{folder}/", "").replace("|", "\\|")
    if code is None:
        return "yes", "no", "–", f"not done after {options.seconds} s of processor time"
    if code == 2:
        return "no", "no", "–", reason
    if code == 3 and "the program " not in reason:
        return "no", "no", "–", reason
    # With a report on stdout after it, the program's own output is what precedes the first kernel.
    checks = verdict(out + "\n".join(line for line in err.splitlines() if not line.startswith("bankcheck: ")))
    if code == 0:
        return "yes", "yes", checks, ""
    if code == 3 and "ran no kernel" in reason:
        return "yes", "yes", checks, "no kernel was launched"
    return "yes", "no" if "the program " in reason else "yes", checks, reason


def name_of(path: Path, folder: Path) -> str:
    return f"`{folder.name}/{path.relative_to(folder)}`"


def kept_rows(table: Path) -> dict:
    """For each program that need not run again, a function that returns its row."""
    if not table:
        return {}
    rows = [re.split(r" (?<!\\)\| ", line.strip("| \n")) for line in table.read_text().splitlines() if line.startswith("| ")]
    rows = [(*row, "")[:5] for row in rows if len(row) >= 4]
    return {row[0]: lambda *_, row=row: row[1:] for row in rows if row[2] == "yes"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--bankcheck", default="build/default/bankcheck")
    parser.add_argument("--most", type=int, default=0, help="programs of each folder; 0: all")
    parser.add_argument("--seconds", type=int, default=60, help="limit of processor time for one program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-I", dest="include", action="append", default=[], help="a directory of headers for all")
    parser.add_argument("--again", type=Path, help="an earlier table: its programs that ran are kept")
    parser.add_argument("--cache", help="bankcheck's --cache")
    options = parser.parse_args()
    options.bankcheck = str(Path(options.bankcheck).resolve())
    kept = kept_rows(options.again)
    work = [(path, folder.resolve()) for folder in options.folders for path in programs(folder.resolve(), options.most)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(kept.get(name_of(*one)) or check, *one, options) for one in work]
        rows = []
        for (path, folder), future in zip(work, futures):
            rows.append((name_of(path, folder), *future.result()))
            print(f"{len(rows)}/{len(work)} {' '.join(rows[-1])}", file=sys.stderr, flush=True)
    counts = Counter()
    for _, builds, runs, checks, _ in rows:
        counts["builds"] += builds == "yes"
        counts["runs"] += runs == "yes" and checks != "wrong"
        counts["right"] += runs == "yes" and checks == "right"
        counts["wrong"] += runs == "yes" and checks == "wrong"
    total = max(len(rows), 1)
    print(f"{len(rows)} programs: {counts['builds']} ({100 * counts['builds'] // total} %) build, {counts['runs']} "
          f"({100 * counts['runs'] // total} %) run to the end without a wrong result; {counts['right']} of them print "
          f"that their result is right. {counts['wrong']} print that it is wrong.\n")
    print("| file | builds | runs | printed result | last message |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
