#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The negative control of check_words.py: in a small repository, each fault must be reported, and nothing else."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
import check_words  # noqa: E402

TERMS = ", ".join(term for term, _ in check_words.CENSUS)
LONG = "column " * 18
PRIVATE = "at" + " once"
TABLE = f"| {LONG} |\n"
# A repository without a fault.
FILES = {
    "README.md": f"# Good\n\n[near](docs/near.md), [results](docs/results)\n\nThe terms: {TERMS}.\n",
    "docs/near.md": f"[far](far.md)\n\n{TABLE}\n```\n{LONG}\n```\n\n<{'x' * 130}>\n\n[{LONG}](far.md)\n",
    "docs/far.md": f"<!-- table x -->\n| {PRIVATE} |\n<!-- end of table -->\n\n<!-- file x -->\n```\n{PRIVATE}\n```\n",
    "docs/results/README.md": "Results\n",
    "docs/results/gpu/reduction.memory.json": "{}",
    "docs/results/gpu/recorded.md": f"{LONG} {PRIVATE}\n",
    "cmake/case_studies.txt": "reduction reduce_\n",
    "reduction/kernel.cuh": f"// The terms: {TERMS}.\n",
    "notes.txt": PRIVATE,
}
ALLOWED = (
    "return std::turn; returns in turn",
    "the source is turned into LLVM code and is turned off",
    "a round trip, round-trip time, trip counts",
    "a warp in the loop, lanes take turns, words of 4 bytes",
    "Quick start, secure, obscured, hogwash, desktop, besides",
    "as explained by some compilers",
    "bytes_of_first_phase",
    "of its owner, by some. At oncea",
)


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def faults_with(changes: dict, *flags: str) -> list:
    """What check_words.py prints for the repository in which these files have more text, or none (None)."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for name, text in FILES.items():
            write(root, name, text)
        write(root, "README.md", FILES["README.md"] + "\n[recorded](docs/results/gpu/recorded.md)\n")
        for name in ("check_words.py", "reports.py", "repository.py"):
            (root / "tools").mkdir(exist_ok=True)
            shutil.copy(ROOT / "tools" / name, root / "tools" / name)
        for name, change in changes.items():
            before = (root / name).read_text(encoding="utf-8") if (root / name).exists() else ""
            write(root, name, change(before) if callable(change) else before + change)
        command = [sys.executable, root / "tools/check_words.py", *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        printed = (done.stdout + done.stderr).splitlines()
        clean = len(printed) >= 1 and printed[-1].startswith("the words of ")
        if done.returncode != (not clean):
            return [f"exit code {done.returncode}", *printed]
        return printed[:-1] if clean else printed


def without(word: str):
    return lambda text: text.replace(word, "something")


def number_of(name: str, more: int = 1) -> int:
    """The line number of the first, second ... line past those that a file has."""
    text = FILES.get(name, "")
    return text.count("\n") + more + (2 if name == "README.md" else 0)


# What is changed, and the beginnings of the lines that must be printed: these and no others.
CHANGES = (
    ({}, ()),
    ({"more.cpp": "\n".join(f"// {sentence}" for sentence in ALLOWED)}, ()),
    ({"docs/near.md": LONG}, (f"docs/near.md:{number_of('docs/near.md')}: 126 columns",)),
    ({"more.hpp": f"/// {LONG}\n{LONG}\n"}, ("more.hpp:1: 130 columns",)),
    ({"script/run": f"# {PRIVATE}\n"}, (f"script/run:1: '{PRIVATE}': write simultaneously",)),
    ({"docs/results/README.md": PRIVATE}, (f"docs/results/README.md:2: '{PRIVATE}': write",)),
    ({"docs/lost.md": "Lost\n"}, ("docs/lost.md: more than 2 links from README.md",)),
    ({"README.md": without("docs/near.md")}, ("docs/far.md: more than 2 links", "docs/near.md: more than 2 links")),
    (
        {"docs/far.md": "[farther](farther.md)\n", "docs/farther.md": "Too far\n"},
        ("docs/farther.md: more than 2 links from README.md",),
    ),
    ({"README.md": without("grid-stride")}, ("'grid-stride' occurs in no document",)),
    ({"reduction/kernel.cuh": without("occupancy")}, ("'occupancy' occurs in no kernel",)),
)


def unnoticed() -> list:
    faults = []
    for number, (changes, wanted) in enumerate(CHANGES):
        printed = faults_with(changes)
        if len(printed) != len(wanted) or not all(map(str.startswith, printed, wanted)):
            faults.append(f"change {number}: {wanted} is wanted, and this is printed: {printed}")
    return faults


def unnoticed_words() -> list:
    """Each rule's example: in a document, as part of an identifier, and over two lines of a comment."""
    examples = [rule.example for rule in check_words.RULES]
    broken = [example.replace(" ", "\n/// ") for example in examples]
    printed = faults_with({"words.cpp": "\n".join(f"// {example}" for example in examples) + "\n"})
    in_lines = faults_with({"words.hpp": "\n".join(f"/// {example}" for example in broken) + "\n"})
    faults = []
    for number, rule in enumerate(check_words.RULES, 1):
        if not any(line.startswith(f"words.cpp:{number}: ") and line.endswith(f"write {rule.fix}") for line in printed):
            faults.append(f"'{rule.example}' is not reported by the rule for '{rule.pattern}'")
        if not any(line.startswith("words.hpp:") and line.endswith(f"write {rule.fix}") for line in in_lines):
            faults.append(f"'{rule.example}' over several lines is not reported by the rule for '{rule.pattern}'")
        if not rule.example.isascii() or rule.not_in and check_words.private_words(rule.not_in[0], rule.example):
            faults.append(f"'{rule.example}' is reported where it is allowed")
    return faults


def wrong_census() -> list:
    line = f"{'persistent blocks':17}     1 in documents     1 in kernels"
    printed = faults_with({}, "--census")
    return [] if line in printed and len(printed) == len(check_words.CENSUS) else [f"the census is {printed}"]


faults = unnoticed() + unnoticed_words() + wrong_census()
print("\n".join(faults) or f"{len(CHANGES)} changes and {len(check_words.RULES)} words were told apart")
sys.exit(bool(faults))
