#!/usr/bin/env python3
"""Runs `bankcheck emulate` on the CUDA programs below folders, and prints a table in Markdown.

  tools/emulate_corpus.py [options] FOLDER...
  tools/emulate_corpus.py [options] --sample OUT FOLDER

The second runs the programs of emulate_sample.json, CUDA and HIP, which their own makefiles build with `bankcheck nvcc`
and `bankcheck hipcc`; FOLDER has their repositories. OUT/results.jsonl gets a line for each, with the end of its output;
a run that is repeated continues. A program that is not done in time is run up to three times more, with smaller numbers.

A program is a .cu file that defines main(). Each folder is a repository: its programs run in their own folders, and are
looked through in the order of their names. emulate_corpus.json has the arguments of those that need some, or that take
a size. The script fetches nothing. Programs run with the rights of the caller, so give it only sources that you would
also build and run by hand.
"""

import argparse
import os
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.dont_write_bytecode = True  # of the module next to this file
from campaign import Run, add_record, data, records, run, said_by_bankcheck
from reports import markdown

MAIN = re.compile(r"^\s*(?:int|void|auto)?\s*main\s*\(", re.MULTILINE)
RIGHT = r"\b(pass(ed|es)?|success(ful|fully)?|correct|match(es|ed)?|right|verified|ok|no error)\b|all results"
WRONG = r"\b(fail(ed|ure|s)?|mismatch(es)?|do not match|don't match|incorrect|wrong|not correct|not match)\b"
FOLDERS = ("include", "inc", "Common", "common", "Common/helper", "src", "utils")


def has_main(path: Path) -> bool:
    try:
        return bool(MAIN.search(path.read_text(errors="replace")))
    except OSError:
        return False


def cuda_programs(folder: Path, limit: int) -> list:
    """Without the exercises, which the reader is to complete first."""
    found = [path for path in sorted(folder.rglob("*.cu")) if has_main(path)]
    found = [path for path in found if "FIXME" not in re.sub(r"//.*", "", path.read_text(errors="replace"))]
    if limit and len(found) > limit:  # spread over the repository
        found = [found[i * len(found) // limit] for i in range(limit)]
    return found


def includes(path: Path, folder: Path) -> list:
    """Folders of headers that a makefile would name: of the usual names, in the program's folders."""
    headers = []
    for at in path.parents[: path.parents.index(folder) + 1]:
        headers += [str(at / name) for name in FOLDERS if (at / name).is_dir()]
        headers += [str(at)] if at not in (path.parent, folder) else []
    return headers


def verdict(output: str) -> str:
    if re.search(WRONG, re.sub(r"\b0+ (failed|failures|errors|mismatches)\b", "", output), re.IGNORECASE):
        return "wrong"
    return "right" if re.search(RIGHT, output, re.IGNORECASE) else "–"


def others(path: Path, headers: list) -> list:
    """The other sources of a program that one file does not make: those of its folder and below, and those next to
    the headers that it includes, without a main()."""
    text = path.read_text(errors="replace")
    found = [source for end in ("*.cu", "*.cpp", "*.cc") for source in sorted(path.parent.rglob(end))]
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
        for folder in (str(path.parent), *headers):
            found += filter(Path.is_file, sorted(Path(folder).glob(f"{Path(name).with_suffix('')}.c*")))
    found += sorted(path.parent.glob("*.c"))
    # A source that the program includes is part of it.
    sources = [source for source in dict.fromkeys(found) if source != path and not has_main(source) and f'{source.name}"' not in text]
    return [os.path.relpath(source, path.parent) for source in sources][:40]


def check(path: Path, folder: Path, options) -> tuple:
    """Builds, runs, printed result, last message. A program that lacks definitions gets its folder's other sources."""
    headers = [*includes(path, folder), *options.include]
    row = check_with([path.name], headers, path, folder, options)
    more = others(path, headers) if "no source and no library defines" in row[3] else []
    return check_with([path.name, *more], headers, path, folder, options) if more else row


def check_with(sources: list, headers: list, path: Path, folder: Path, options) -> tuple:
    command = [options.bankcheck, "emulate", "--max-groups", "2", "--json", os.devnull]
    command += [word for name in headers for word in ("-I", name)]
    if "omp.h" in path.read_text(errors="replace"):
        command += ["--compiler-options=-fopenmp"]
    if options.cache:
        command += ["--cache", options.cache]
    arguments = data("emulate_corpus.json").get(f"{folder.name}/{path.relative_to(folder)}", [])
    # The limit is one of processor time, for busy machines.
    command = [*command, *sources, "--", *arguments]
    code, _, out, err = run(command, path.parent, 10 * options.seconds, options.seconds)
    said = said_by_bankcheck(err)
    reason = said[-1].replace(f"{folder}/", "").replace("|", "\\|") if said else ""
    if code is None:
        return "yes", "no", "–", f"not done after {options.seconds} s of processor time"
    if code == 2 or code == 3 and "the program " not in reason:
        return "no", "no", "–", reason
    # With a report on stdout after it, the program's own output is what precedes the first kernel.
    checks = verdict(out + said_by_program(err))
    if code == 0:
        return "yes", "yes", checks, ""
    if code == 3 and "ran no kernel" in reason:
        return "yes", "yes", checks, "no kernel was launched"
    return "yes", "no" if "the program " in reason else "yes", checks, reason


def compilers(bankcheck: str, folder: Path) -> dict:
    """The environment in which makefiles find bankcheck as nvcc and hipcc."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("nvcc", "hipcc"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {bankcheck} {name} "$@"\n')
        script.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HIPCXX": "hipcc", "HIPCC": "hipcc", "NVCC": "nvcc"}


NUMBER = re.compile(r"((?:--?[A-Za-z][\w-]*=|-[A-Za-z])?)(\d+)")  # 100, --size=100, -n100


def smaller(command: str, times: int = 0) -> str:
    """With smaller numbers: two repetitions, which mostly are the last number, and a fraction of others. `times`: how
    often this command has been made smaller."""
    program, *words = command.split(" ")
    found = {i: match for i, word in enumerate(words) if (match := NUMBER.fullmatch(word))}
    numbers = list(found)
    is_size = bool(numbers) and int(found[numbers[-1]][2]) >= 8192
    repeats = [] if times else numbers[-1:] if not is_size else numbers[:1] if len(numbers) == 2 else []
    for i, match in found.items():
        number = int(match[2])
        by = 64 if number >= 1 << 20 else 8 if number >= 1024 else 4 if number >= (128, 32, 8)[times] else 1
        words[i] = f"{match[1]}{min(number, 2) if i in repeats else number // by}"
    return " ".join([program, *words])


def smaller_commands(row: dict, commands: dict) -> list:
    """The commands of the next run. A makefile that names no numbers has those of emulate_sample.json."""
    done = row.get("smaller", 0)
    if commands["smaller"] and not done:
        return [f"{line} {commands['smaller']}" for line in row["command"]]
    tried = ([smaller(line, times) for line in row["command"]] for times in range(done, 3))
    return next((lines for lines in tried if lines != row["command"]), row["command"])


def said_by_program(errors: str) -> str:
    return "\n".join(line for line in errors.splitlines() if not line.startswith("bankcheck: "))


def tail_of(done: Run) -> list:
    return (done.out + done.errors)[-6000:].splitlines()[-40:]


class Sample:
    """Programs that their own makefiles build: emulate_sample.json."""

    def __init__(self, folder: Path, out: Path, options):
        self.folder, self.out, self.options = folder.resolve(), out.resolve(), options
        self.env = compilers(options.bankcheck, self.out / "bin")
        if options.cache:
            self.env["XDG_CACHE_HOME"] = str(Path(options.cache).resolve())

    def shell(self, command: str, at: Path, seconds: int, cpu: int = 0) -> Run:
        return run(["bash", "-c", command], at, seconds, cpu, self.env)

    def check(self, api: str, name: str, commands: dict, earlier: dict | None = None) -> dict:
        """`earlier`: the row of a run that was not done in time; this one has smaller numbers."""
        at = self.folder / name.split("/")[0] / commands["in"]
        done = self.shell(commands["build"], at, 600)  # also earlier, as this may be another machine
        if earlier:
            launched = self.launch(api, name, smaller_commands(earlier, commands), at)
            return {**earlier, **launched, "smaller": earlier.get("smaller", 0) + 1}
        row = {"api": api, "program": name, "builds": done.code == 0, "build_seconds": round(done.seconds, 1)}
        # The commands of the makefile's own run.
        listed = self.shell(commands["run"], at, 30).out if row["builds"] else ""
        matches = (re.match(r"(?:.*LAUNCH )?(\./.*?|'\./.*?)[ \\]*$", line) for line in listed.splitlines())
        if lines := [f"{found[1]} {commands['arguments']}".rstrip() for found in matches if found]:
            return {**row, **self.launch(api, name, lines, at)}
        return {**row, "code": 0, "said": said_by_bankcheck(done.out + done.errors)[-3:], "tail": tail_of(done)}

    def launch(self, api: str, name: str, lines: list, at: Path) -> dict:
        report = self.out / "reports" / api / f"{re.sub('[/ ]', '+', name)}.json"
        report.parent.mkdir(parents=True, exist_ok=True)
        arch = "--arch gfx942 " if api == "hip" else ""
        # A program that the makefile runs several times has the report of the last run.
        launch = f"{self.options.bankcheck} emulate {arch}--max-groups 2 --json {report} -- "
        commands = " && echo bankcheck: next && ".join(launch + line for line in lines[:4])
        done = self.shell(commands, at, 10 * self.options.seconds, self.options.seconds)
        # What precedes a report, whose words are no result.
        printed = [re.split("^-- bankcheck emulate", each, flags=re.MULTILINE)[0] for each in done.out.split("bankcheck: next\n")]
        row = {"command": lines[:4], "code": done.code, "seconds": round(done.seconds, 1)}
        row |= {"printed": verdict("\n".join([*printed, said_by_program(done.errors)]))}
        return {**row, "said": said_by_bankcheck(done.errors)[-6:], "tail": tail_of(done)}

    def run_all(self) -> None:
        """Appends a line for each program; its last line counts."""
        results, until = self.out / "results.jsonl", time.monotonic() + self.options.stop_after
        rows, programs = records(results, "api", "program"), sampled()
        with ThreadPoolExecutor(self.options.jobs) as pool:

            def run_each(keys: list) -> None:
                def row_of(key: tuple) -> dict | None:
                    return self.check(*key, programs[key], rows.get(key)) if time.monotonic() < until else None

                for ended in as_completed([pool.submit(row_of, key) for key in keys]):
                    if row := ended.result():
                        rows[row["api"], row["program"]] = row
                        add_record(results, row)
                        done = (row["api"], row["program"], row["builds"], row["code"])
                        print(f"{len(rows)}/{len(programs)}", *done, file=sys.stderr, flush=True)

            run_each([key for key in programs if key not in rows])
            for _ in range(3):
                slow = [key for key, row in rows.items() if row["code"] is None and row.get("smaller", 0) < 3]
                run_each([key for key in slow if smaller_commands(rows[key], programs[key]) != rows[key]["command"]])


NO_FILE = re.compile(r"no such file|cannot (be )?open|does not exist|(could not|unable to|failed to|can't) (open|load|import|read)"
                     r"|file (was not opened|error)|ERROR: could not open|open .*(failed|fails)", re.IGNORECASE)


def outcome(row: dict) -> tuple:
    """Builds, ends, the result, and why not, of a program of the sample."""
    tail, said = "\n".join(row["tail"]), row["said"]
    if "command" not in row and row["builds"]:
        return "yes", "no", "–", "its makefile runs nothing"
    if "command" not in row:
        return "no", "–", "–", said[-1] if said else row["tail"][-1]
    how = ", with smaller numbers" if row.get("smaller") else ""
    if row["code"] is None:
        return "yes", "no", "–", f"not done after 120 s of processor time{how}"
    faults = [line.removeprefix("fault: ") for line in row["tail"] if line.startswith("fault: ")]
    if faults or row["code"] == 1:
        return "yes", "yes", "fault", (faults or said or ["?"])[0].split(" [--")[0][:160] + how
    if row["code"] == 0 or "ran no kernel" in "".join(said) and not NO_FILE.search(tail):
        result = "right" if row["printed"] == "right" else "wrong" if row["printed"] == "wrong" else "ends"
        return "yes", "yes", result, "no kernel was launched" if row["code"] else how.removeprefix(", ")
    if NO_FILE.search(tail):
        return "yes", "no", "–", "a data file is missing in the repository"
    return "yes", "no", "–", said[-1] if said else row["tail"][-1]


def table_of(results: Path) -> None:
    """A table of the outcomes, and one of all programs."""
    outcomes = {name: outcome(row) for name, row in sorted(records(results, "api", "program").items())}

    def line(words: str, holds) -> tuple:
        return words, *(sum(of == api and holds(each) for (of, _), each in outcomes.items()) for api in ("cuda", "hip"))

    counts = [
        line("programs", lambda each: True),
        line("build", lambda each: each[0] == "yes"),
        line("end, and print that their result is right", lambda each: each[2] == "right"),
        line("end, and do not check their result", lambda each: each[2] == "ends"),
        line("end, and have a fault", lambda each: each[2] == "fault"),
        line("of these three, with smaller numbers", lambda each: each[1] == "yes" and "smaller" in each[3]),
        line("print a wrong result, without a fault", lambda each: each[2] == "wrong"),
        line("not done in time", lambda each: each[3].startswith("not done")),
        line("lack a data file that is not in the repository", lambda each: "data file" in each[3]),
        line("fail for another reason", lambda each: each[:3] == ("yes", "no", "–") and "not done" not in each[3]
                                                     and "data file" not in each[3]),
    ]
    print(markdown(["", "CUDA", "HIP"], counts, 1))
    cells = [(f"`{name}`", api, *(cell.replace("|", "\\|") for cell in each)) for (api, name), each in outcomes.items()]
    print(markdown(["program", "API", "builds", "ends", "result", "remark"], cells, 6))


def sampled() -> dict:
    """The commands of each program of emulate_sample.json, by API and folder."""
    work = {}
    for group in data("emulate_sample.json")["groups"]:
        for program in group["programs"]:
            path = Path(program)
            commands = {key: group[key].replace("{name}", path.stem) for key in ("build", "run")}
            commands |= {key: group.get(key, {}).get(program, "") for key in ("arguments", "smaller")}
            commands["in"] = str(path.parent if group["in"] == "{dir}" else path)
            work[group["api"], f"{group['repository'].split('/')[1]}/{program}"] = commands
    return work


def kept_rows(table: Path | None) -> dict:
    """The rows of the programs that need not run again, by name."""
    lines = [line for line in table.read_text().splitlines() if line.startswith("| ")] if table else []
    rows = [(*re.split(r" (?<!\\)\| ", line.strip("| \n")), "")[:5] for line in lines]
    return {row[0]: row[1:] for row in rows if len(row) == 5 and row[2] == "yes"}


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
    parser.add_argument("--table", action="store_true", help="print the table of the results.jsonl in FOLDER")
    parser.add_argument("--stop-after", type=int, default=1 << 30, metavar="S", help="start none of the sample's programs later")
    parser.add_argument("--sample", type=Path, metavar="OUT", help="run the programs of emulate_sample.json")
    options = parser.parse_args()
    options.bankcheck = str(Path(options.bankcheck).resolve())
    if options.table:
        table_of(options.folders[0] / "results.jsonl")
        return 0
    if options.sample:
        Sample(options.folders[0], options.sample, options).run_all()
        return 0
    kept = kept_rows(options.again)
    folders = [folder.resolve() for folder in options.folders]
    work = [(path, folder) for folder in folders for path in cuda_programs(folder, options.most)]
    rows = []

    def row_of(path: Path, folder: Path) -> tuple:
        name = f"`{folder.name}/{path.relative_to(folder)}`"
        return name, *(kept.get(name) or check(path, folder, options))

    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(row_of, *zip(*work)):
            rows.append(row)
            print(f"{len(rows)}/{len(work)} {' '.join(row)}", file=sys.stderr, flush=True)
    builds = sum(row[1] == "yes" for row in rows)
    ran = Counter(row[3] for row in rows if row[2] == "yes")  # by printed result
    runs, total = ran.total() - ran["wrong"], max(len(rows), 1)
    print(f"{len(rows)} programs: {builds} ({100 * builds // total} %) build, {runs} ({100 * runs // total} %) run to the "
          f"end without a wrong result; {ran['right']} of them print that their result is right. {ran['wrong']} print "
          f"that it is wrong.\n")
    print(markdown(["file", "builds", "runs", "printed result", "last message"], rows, 5), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
