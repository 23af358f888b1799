#!/usr/bin/env python3
"""Makes random small mistakes in the sources, one at a time, and lists those that no test notices.

    tools/mutants.py [ROOM...] [--count N] [--seed S] [-j N]    N mutants of each room, by default of all in ROOMS below

A mutant has one change, such as < to <=, && to ||, a constant off by one, a dropped statement, a negated condition, an
early return or swapped arguments. Each of -j workers has a copy of the sources and of the build in FOLDER, builds one
mutant after the other and runs the tests of ROOMS until one fails. A mutant that does not compile does not count. Tests
that fail without a mutant are left out, and listed. With the same seed and sources the mutants are the same; those in
RESULTS (JSON, one line each) are not tried again, so an interrupted run goes on where it was. Nothing is downloaded.
Exit codes: 0 all mutants were noticed, 1 some survived, 2 usage, 3 the sources do not build.
"""

import argparse
import json
import os
import random
import re
import shutil
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from operator import itemgetter
from pathlib import Path

sys.dont_write_bytecode = True  # of the modules next to this file
from campaign import add_record, records, run
from check_pages import tracked
from reports import ROOT, by_key, markdown

# The sources of a room, and the beginnings of the names of the tests that must notice its mutants, the likeliest first.
COMMON = "common/bankwise"
ROOMS = {
    "banks": (f"{COMMON}/banks", "banks predict fit trace study docs/claims fuzz"),
    "trace": (f"{COMMON}/trace", "trace report driver fit emulator/merging emulator/golden fuzz"),
    "support": (f"{COMMON}/support", "support report driver predict fuzz"),
    "report": (f"{COMMON}/report", "report study driver trace emulator/golden bench fuzz"),
    "gpu": (f"{COMMON}/gpu", "gpu bench study device/opencl/interface device/opencl/measuring"),
    "cluster": (f"{COMMON}/cluster", "cluster study"),
    "study": (f"{COMMON}/study", "study report bench cluster"),
    "bench": (f"{COMMON}/bench", "bench study cluster device/command_line device/opencl/measuring device/negative"),
    "emulator": (f"{COMMON}/emulator/core", "emulator emulate study case_studies/ports fit/verify"),
    "cuda_api": (f"{COMMON}/emulator/cuda {COMMON}/emulator/runtime", "emulator emulate study"),
    "ptx": (f"{COMMON}/emulator/cuda/ptx", "emulator emulate"),
    "case_studies": ("reduction/*.?pp prefix_sum/*.?pp transpose/*.?pp access_patterns/*.?pp", "study access_patterns cluster"),
    "predict": ("bankcheck/predict", "predict bankcheck fuzz docs/claims"),
    "layouts": ("bankcheck/layouts", "layouts fuzz docs/layouts"),
    "fit": ("bankcheck/fit bankcheck/source", "fit driver emulate fuzz"),
    "driver": ("bankcheck/driver bankcheck/main.cpp", "driver bankcheck opencl emulate fit cuda fuzz"),
    "opencl": ("bankcheck/opencl", "opencl case_studies driver"),
    "emulate": ("bankcheck/emulate", "emulate fit driver"),
    "cuda": ("bankcheck/cuda", "cuda driver fuzz"),
}
GPU_ONLY = re.compile(r"(gpu|cluster)/(cuda_|nccl|cupti)")  # no test runs it elsewhere
HIDDEN = re.compile(
    r'//.*|/\*[\s\S]*?\*/|R"(\w*)\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|^ *#(?:.*\\\n)*.*', re.MULTILINE
)
SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+"}
SWAPPED |= {"*": "+", "/": "*", "%": "/", "<<": ">>", "&": "|", "|": "&", "+=": "-=", "-=": "+=", "|=": "&=", "true": "false"}
SWAPPED |= {"false": "true", "std::min": "std::max", "std::max": "std::min", "++": "--"}
ARGUMENT = r"(?:[\w.]|->|::|\[\w+\])+"
NESTED = r"(?:[^()\n;]|\((?:[^()\n;]|\([^()\n;]*\))*\))*"  # with balanced parentheses, two deep
BODY = r"^ {0,2}(?:[\w:<>,*&\[\] ]+ )?[\w:~]+\(" + NESTED + r"\)(?: const| noexcept| override)* \{"


def early(function: str) -> str:
    return function + (" return;" if re.match(r" *(static |inline |constexpr |\[\[\w+\]\] )*void ", function) else " return {};")


def off_by(step: int):
    return lambda text: re.sub(r"\d+", lambda number: str(int(number[0]) + step), text)


OPERATOR = r"(?<= )(?:[<>=!]=|&&|\|\||[-+|]=|<<|[<>+\-*/%&|])(?= \S)|\bstd::(?:min|max)(?=\()|\b(?:true|false)\b|\+\+"
STATEMENT = ARGUMENT + r"(?:\(" + NESTED + r"\)|\s[-+*/|&^]?=\s[^;{}]*)|(?:\+\+|--)[^;\n]+|continue|break"
# By kind: how often, what is found in the code, without texts and comments, and what replaces it.
CHANGES = {
    "operator": (4, OPERATOR, SWAPPED.get),
    "constant": (2, r"(?<![\w.'<])\d+[uU]?(?![\w.'])", off_by(1)),
    "constant less": (1, r"(?<![\w.'<])[1-9]\d*[uU]?(?![\w.'])", off_by(-1)),
    "dropped": (2, r"(?<=[;{}:)]\n)[^\S\n]+\*?(?:" + STATEMENT + ");$", lambda _: ";"),
    "dropped after": (1, r"(?<=\) )(?:return|" + STATEMENT + ");$", lambda _: ";"),
    "negated if": (2, r"(?<=\bif )\(" + NESTED + r"\)(?= )", "(!{})".format),
    "negated": (2, r"(?<=return )[^;\n]*(?: [<>=!]=? | && | \|\| )[^;\n]*(?=;)", "!({})".format),
    "without not": (2, r"(?<=[( ])!(?=[\w(])", lambda _: ""),
    "early return": (1, BODY + "$", early),
    "no value": (1, r"(?<=\{ return )[^;\n{}]+(?=; \}$)", lambda _: "{}"),
    "arguments": (1, r"(?<=\w\()(?<!min\()(?<!max\()(" + ARGUMENT + "), (" + ARGUMENT + r")(?=\))", None),
}


def mutants_of(name: str) -> list:
    """All of a source: kind, where it begins and ends, and the new text."""
    source = (ROOT / name).read_text(encoding="utf-8")
    code = HIDDEN.sub(lambda hidden: re.sub(r"[^\n]", "\x01", hidden[0]), source)
    found = []
    for kind, (_, pattern, change) in CHANGES.items():
        for match in re.finditer(pattern, code, re.MULTILINE):
            old = source[match.start() : match.end()]
            if "static_assert" in code[code.rfind("\n", 0, match.start()) : match.start()]:
                continue
            new = change(old) if change else f"{match[2]}, {match[1]}"
            if new not in (None, old):
                found.append((kind, match.start(), match.end(), new))
    return found


def in_order(room: str, seed: int, endings: tuple):
    """Yields the mutants of a room in random order: first a kind, then one of its places."""
    patterns = ROOMS[room][0].split()
    sources = [name for name in tracked() if name.endswith(endings) and not GPU_ONLY.search(name)]
    sources = [name for name in sources if any(fnmatch(name, p) or name.startswith(p + "/") for p in patterns)]
    kinds = by_key(((name, *mutant) for name in sources for mutant in mutants_of(name)), itemgetter(1))
    dice = random.Random(f"{seed} {room}")
    for places in kinds.values():
        dice.shuffle(places)
    while kinds:
        (kind,) = dice.choices(list(kinds), [CHANGES[kind][0] for kind in kinds])
        yield kinds[kind].pop()
        kinds = {kind: places for kind, places in kinds.items() if places}


def described(room: str, name: str, kind: str, begin: int, end: int, new: str) -> dict:
    """With the lines before and after."""
    source = (ROOT / name).read_text(encoding="utf-8")
    first, last = source.rfind("\n", 0, begin) + 1, source.find("\n", end)
    place = f"{name}:{source.count(chr(10), 0, begin) + 1}"
    return {"room": room, "at": place, "kind": kind, "old": source[first:last], "new": source[first:begin] + new + source[end:last]}


class Worker:
    """A copy of the sources and their build. All copies have the same path, where a mount namespace can be had."""

    def __init__(self, options, number: int, first: "Worker | None" = None):
        self.options, self.cores = options, max(1, (os.cpu_count() or 1) // (options.jobs if first else 1))
        self.folder = options.folder / f"worker{number}"
        self.path, self.inside, self.left_out = self.folder, [], first.left_out if first else options.leave_out
        if first and run(["unshare", "-m", "true"], ROOT, 10).code == 0:
            self.path = first.folder
            self.inside = ["unshare", "-m", "bash", "-c", 'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"', self.folder, self.path]
            if not self.folder.exists() and run(["cp", "-a", "--reflink=auto", first.folder, self.folder], ROOT, 600).code == 0:
                return  # as first.update() left it
        self.update()

    def do(self, command: list, seconds: int):
        environment = os.environ | {"XDG_CACHE_HOME": str(self.path / "build/cache")}
        return run([*map(str, self.inside), *map(str, command)], self.folder, seconds, env=environment)

    def build(self, seconds: int, targets: list):
        return self.do(["ninja", "-C", self.path / "build", "-j", self.cores, *targets], seconds)

    def test(self, tests: str, *flags: str):
        regex = f"^({'|'.join(tests.split())})(/|$)"
        command = ["ctest", "--test-dir", self.path / "build", "-R", regex, "-j", self.cores, "--timeout", self.options.limit]
        return self.do([*command, "--no-tests=error", *flags, *(["-E", self.left_out] if self.left_out else [])], 9 * self.options.limit)

    def programs(self, tests: str) -> list:
        """What the build makes and these tests run, and the programs that some of them run in turn."""
        listed, build = json.loads(self.test(tests, "--show-only=json-v1").out)["tests"], f"{self.path}/build/"
        words = {word for test in listed for word in test.get("command", ()) if word.startswith(build)}
        words.update(map(str, Path(build).iterdir()))
        return sorted(word.removeprefix(build) for word in words if os.path.isfile(word) and os.access(word, os.X_OK))

    def update(self) -> None:
        """Copies the sources that have changed, configures and builds."""
        names = tracked()
        for name in set(tracked(self.folder)).difference(names) if self.folder.exists() else ():
            (self.folder / name).unlink()
        for name in names:
            old, new = ROOT / name, self.folder / name
            if not new.exists() or new.read_bytes() != old.read_bytes():
                new.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(old, new)
        flags = ["-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D", "CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", *self.options.cmake]
        self.do(["cmake", "-S", self.path, "-B", self.path / "build", *flags], 300)
        built = self.build(7200, self.options.target or [])
        if built.code != 0:
            sys.exit(f"mutants.py: the sources do not build:\n{(built.out + built.errors)[-3000:]}")

    def outcome(self, name: str, begin: int, end: int, new: str, steps: list) -> str:
        """Of a mutant whose tests are in steps, each with its programs."""
        path = self.folder / name
        source = (ROOT / name).read_text(encoding="utf-8")
        path.write_text(source[:begin] + new + source[end:], encoding="utf-8")
        try:
            for tests, programs in steps:
                built = self.build(3 * self.options.limit, programs)
                if built.code != 0:  # stillborn, too, if so much is to be compiled that it takes too long
                    wrong = re.search(r":\d+:\d+: error: (?!static assertion)|undefined reference", built.out)
                    return "stillborn" if wrong or built.code is None else "killed: the build"
                tested = self.test(tests, "--stop-on-failure")
                failed = re.search(r"^\s*\d+/\d+ Test +#\d+: (\S+) \.*\s*\*\*\*(?!Skipped|Not Run)", tested.out, re.MULTILINE)
                if tested.code != 0:
                    return f"killed: {failed[1] if failed else 'the tests take too long'}"
            return "survived"
        finally:
            path.write_text(source, encoding="utf-8")
            for cache in [self.folder / "build/cache", *self.folder.glob("build/tests/**/cache")]:  # a mutant may have filled it
                shutil.rmtree(cache, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("--count", type=int, default=9, help="mutants of each room (9)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=1, help="workers, which share the cores")
    parser.add_argument("--limit", type=int, default=100, help="seconds for a test; three times as many for a build")
    parser.add_argument("--seconds", type=int, default=10**9, help="start no mutant after so long")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutants", help="for the copies")
    parser.add_argument("--results", type=Path, help="FOLDER/results.jsonl by default")
    parser.add_argument("--leave-out", default="", metavar="REGEX", help="leave out these tests")
    parser.add_argument("--target", action="append", help="build only this, and leave out the tests of other targets")
    parser.add_argument("--cmake", action="append", default=["-DBANKWISE_CUDA_LIBRARIES=OFF"], help="a flag of cmake, as --cmake=-DX=Y")
    parser.add_argument("--headers", dest="endings", action="store_const", const=(".cpp", ".hpp"), default=".cpp", help="change them, too")
    parser.add_argument("--list", action="store_true", help="print the mutants, and build nothing")
    options = parser.parse_args()
    rooms = options.rooms or list(ROOMS)
    if unknown := set(rooms) - set(ROOMS):
        parser.error(f"no room {' '.join(sorted(unknown))}; there are {' '.join(ROOMS)}")
    if options.list:
        for room in rooms:
            for _, mutant in zip(range(options.count), in_order(room, options.seed, options.endings)):
                print("{at}: {kind}\n- {old}\n+ {new}".format_map(described(room, *mutant)))
        return 0
    began, options.folder = time.monotonic(), options.folder.resolve()
    results = options.results or options.folder / "results.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    known = {key: row["outcome"] for key, row in records(results, "room", "at", "new").items()}
    first = Worker(options, 0)
    tests = sorted({name for room in rooms for name in ROOMS[room][1].split()})
    if first.test(" ".join(tests)).code != 0:
        log = first.folder / "build/Testing/Temporary/LastTestsFailed.log"
        failed = log.read_text().split() if log.exists() else sys.exit("mutants.py: the tests do not run")
        first.left_out = "|".join(filter(None, [options.leave_out, *(f"^{re.escape(line.split(':', 1)[1])}$" for line in failed)]))
        print("left out, because they fail without a mutant:", *failed, flush=True)
    with ThreadPoolExecutor() as pool:
        workers = [first, *pool.map(lambda number: Worker(options, number, first), range(1, options.jobs))]
    first.cores = max(1, (os.cpu_count() or 1) // options.jobs)
    # First the tests that most often notice: the others and their programs take most of the time.
    steps = {room: [(tests, first.programs(tests)) for tests in ROOMS[room][1].split(" ", 1)] for room in rooms}
    lock, found = threading.Lock(), Counter()
    queues = {room: in_order(room, options.seed, options.endings) for room in rooms}
    survivors = []

    def next_mutant() -> tuple | None:
        """Of the room with the fewest; one that runs counts until it is stillborn."""
        with lock:
            while queues and time.monotonic() - began < options.seconds:
                room = min(queues, key=lambda room: found[room])
                mutant = next(queues[room], None) if found[room] < options.count else None
                if mutant is None:
                    del queues[room]
                    continue
                row = described(room, *mutant)
                outcome = known.get((room, row["at"], row["new"]))
                found[room] += outcome != "stillborn"
                if outcome is None:
                    return row, mutant
                if outcome == "survived":
                    survivors.append(row)
            return None

    def work(worker: Worker) -> None:
        for row, (name, _, begin, end, new) in iter(next_mutant, None):
            row["outcome"] = worker.outcome(name, begin, end, new, steps[row["room"]])
            with lock:
                found[row["room"]] -= row["outcome"] == "stillborn"
                if row["outcome"] == "survived":
                    survivors.append(row)
                add_record(results, row)
                print(f"{time.monotonic() - began:.0f} s {row['at']} {row['kind']}: {row['outcome']}", flush=True)

    with ThreadPoolExecutor(len(workers)) as pool:
        list(pool.map(work, workers))
    for row in survivors:
        print("\n{room}: {at} survived ({kind})\n- {old}\n+ {new}".format_map(row))
    alive = Counter(row["room"] for row in survivors)
    counts = [[room, found[room], found[room] - alive[room]] for room in rooms]
    print("\n" + markdown(["room", "mutants", "noticed"], counts), end="")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
