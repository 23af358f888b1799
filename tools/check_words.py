#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the language of documents, comments, messages and identifiers: private words, long lines, field terms.

  tools/check_words.py            prints a line for each private word, each line that is too long, each page that takes
                                  more than two steps from README.md, and each field term that no document or no kernel
                                  uses; exit code 1 if there are any
  tools/check_words.py --census   prints how often documents and kernels use each field term, too

Text that a tool copies into a document, between marks such as `<!-- table ... -->` or after `<!-- file ... -->`, is
checked where it comes from.
"""

import argparse
import re
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True  # of the modules next to this file
from reports import CASES
from repository import files, links, pages

ROOT = Path(__file__).resolve().parents[1]
SCANNED = ("*.md", "*.cuh", "*.cl", "*.cu", "*.hpp", "*.cpp", "*.py", "*.sh", "script/*", "*CMakeLists.txt", "*.cmake")
NOT_SCANNED = ("tools/check_words.py", "tests/data/*", "docs/results/*/*", "docs/results/emulated_programs.md")
COLUMNS = 120
STEPS = 2  # from README.md to each page


class Rule(NamedTuple):
    pattern: str  # in lower case; a space also stands for a line break inside a comment, a paragraph or a string
    fix: str  # what to write instead
    example: str  # that the pattern finds
    not_in: tuple = ()  # files where the words mean something else


# In `_` and digits a word may end: the rule for `cure` finds the identifier `cure_of`, too.
RULES = (
    Rule("cure[sd]?", "fix", "What the cure is worth."),
    Rule("curing", "fixing", "Curing a conflict"),
    Rule("(?:is|are|be|been|was|were|the) turned(?! (?:into|on|off|out|down))", "transposed", "its factor is turned"),
    Rule("turned (?:matrix|matrices|tiles?|ones|without)", "transposed", "a turned matrix"),
    Rule("(?:an?|each|every|one|per|two|number of|more|further|first|next|last) turns?", "iteration", "Per turn,"),
    Rule("turns? (?:of|around) the (?:banks?|loops?)", "pass, cycle or iteration", "one turn around the banks"),
    Rule("twins?", "counterpart, OpenCL port", "its OpenCL twin"),
    Rule("behind (?:the|its|their) (?:end|last|loop|barrier)", "past, after", "a load behind the end"),
    Rule("behind (?:all|both|it|them|that|this|each)", "after, past", "the guard words behind all buffers"),
    Rule("beside(?!_oclgrind)", "next to, compared with, alongside", "beside the counters"),
    Rule("blocks (?:that|which) stay", "persistent blocks", "by blocks that stay"),
    Rule("under way", "in flight", "16 bytes are under way"),
    Rule("on order", "in flight", "bytes on order"),
    Rule("on (?:its|their) way", "in flight", "tiles on their way"),
    Rule("no words? for", "no intrinsic for, no equivalent of", "CUDA C++ has no words for them."),
    Rule("(?:cuda|opencl|nvidia|c\\+\\+)(?: c)?'s words", "intrinsics, built-ins", "CUDA's words"),
    Rule("patience", "poll limit", "constexpr unsigned PATIENCE = 4;"),
    Rule("desks?", "exchange slots", "DESK"),
    Rule("scouts?", "look-back lanes", "SCOUTS"),
    Rule("hog(?:s|ged|ging)?", "occupy", "hog(device)"),
    Rule("contestants?", "candidate", "struct Contestant"),
    Rule("telescopes?", "telescoping sum", "telescope.cuh"),
    Rule("most_[a-z]+", "max_...", "most_blocks"),
    Rule("(?<!round[\\s-])trips?(?! counts?)", "round trip, latency", "three trips to the L2 cache"),
    Rule("shared-memory phases?", "shared-memory section", "the shared-memory phase"),
    Rule('(?<![_"])phases?(?!_)', "shared-memory section, lane group", "different phases", ("*/cyclic.*", "*/on_chip.*", "*/ring.*", "*/tma.*")),
    Rule("quick(?:er|est|ly)?(?! start)", "fast", "the quicker kernel"),
    Rule("handsome(?:ly)?", "round", "a handsome extent"),
    Rule("reckon(?:s|ed|ing)?", "compute, expect", "reckoned by hand"),
    Rule("complain(?:s|ed|ing|ts?)?", "warn, report", "nvcc complains"),
    Rule(
        "(?:compiler|driver|tool|emulator|checker|nvcc|ptxas|clang|gcc|g\\+\\+|oclgrind|bankcheck)s?"
        " (?:says?|said|tells?|told)",
        "report, print, warn",
        "ptxas says so",
    ),
    Rule("at once", "simultaneously, immediately", "all lanes at once"),
    Rule("somebody|nobody|everybody|whoever", "a block, a thread, the compiler, you ...", "nobody can see it"),
    Rule("seldom", "rarely", "it seldom pays"),
    Rule("likewise", "also, in the same way", "stores likewise"),
    Rule("in vain", "without effect", "waits in vain"),
    Rule("it seems", "we think (once), or drop it", "memory, it seems, is slower"),
    Rule("by some (?:[0-9]+|two|three|four|five|ten|percent|hundred[a-z]*)", "by about", "faster by some two percent"),
    Rule("of (?:its|their) own", "its own ..., separate", "a file of its own"),
    Rule("hundredths?", "percent", "two hundredths"),
    Rule("or else", "otherwise", "return, or else wait"),
    Rule("strangers?", "untrusted", "strangers' input"),
)
# Each must occur in at least one document and at least one kernel.
CENSUS = (
    ("in flight", "in(?:-| )flight"),
    ("occupancy", "occupancy"),
    ("resident", "resident"),
    ("coalesced", "uncoalesced|coalesc(?:ed?|es|ing)"),
    ("latency", "latency|latencies"),
    ("throughput", "throughputs?"),
    ("speedup", "speedups?"),
    ("grid-stride", "grid-stride"),
    ("persistent blocks", "persistent(?: thread)?(?:-| )blocks?"),
)
BREAK = '[ \\t]*"?\\n[ \\t]*(?:///?<?|#|\\*|>|")?[ \\t]*'  # between two words: a line ends, and a comment goes on
COPIED = (
    re.compile(r"^<!-- (?!end of)(\w+)\b[^\n]*-->\n(?:(?!<!--).)*<!-- end of \1 -->$", re.DOTALL | re.MULTILINE),
    re.compile(r"^<!-- file [^\n]*-->\n```.*?^```$", re.DOTALL | re.MULTILINE),
)
CODE = re.compile(r"^( *)(```|~~~).*?^ *\2 *$", re.DOTALL | re.MULTILINE)
ONE_LINK = re.compile(r"\W*\[[^]]*\]\([^)]*\)\W*")
COMMENT = re.compile(r"\s*(?://|#|\*)")


def with_breaks(pattern: str) -> str:
    return pattern.replace(" ", f"(?: |{BREAK})")


def of_words(pattern: str) -> re.Pattern:
    return re.compile(rf"(?<![a-z])(?:{with_breaks(pattern)})(?![a-z])", re.IGNORECASE)


# For text in lower case. That a word begins is left to starts_word(): re searches patterns that begin with letters
# several times as fast.
FORBIDDEN = tuple((re.compile(rf"(?:{with_breaks(rule.pattern)})(?![a-z])"), rule) for rule in RULES)


def starts_word(text: str, match: re.Match) -> bool:
    return match.start() == 0 or not "a" <= text[match.start() - 1] <= "z"


def blanked(text: str, patterns: tuple) -> str:
    """The text with as many lines, but those that a pattern finds empty."""
    for pattern in patterns:
        text = pattern.sub(lambda found: "\n" * found[0].count("\n"), text)
    return text


def private_words(name: str, text: str) -> list:
    found = []
    lower = text.lower()
    for pattern, rule in FORBIDDEN:
        if any(fnmatch(name, other) for other in rule.not_in):
            continue
        for match in pattern.finditer(lower):
            if not starts_word(lower, match):
                continue
            line = lower.count("\n", 0, match.start()) + 1
            words = re.sub(BREAK, " ", match[0])
            found.append((line, f"{name}:{line}: '{words}': write {rule.fix}"))
    return [message for _, message in sorted(found)]


def may_be_long(name: str, line: str) -> bool:
    if not name.endswith(".md"):
        return not COMMENT.match(line) or len(line.split()) <= 2  # code, which clang-format wraps, or a URL
    return line.lstrip().startswith(("|", "<!--")) or len(line.split()) == 1 or bool(ONE_LINK.fullmatch(line))


def long_lines(name: str, text: str) -> list:
    if name.endswith(".md"):
        text = blanked(text, (CODE,))
    lines = enumerate(text.split("\n"), 1)
    long = ((number, line) for number, line in lines if len(line) > COLUMNS and not may_be_long(name, line))
    return [f"{name}:{number}: {len(line)} columns: write at most {COLUMNS}" for number, line in long]


def far_pages(root: Path) -> list:
    """Pages that nothing links to within STEPS. A link to a folder is one to its README.md."""
    near = newest = {root / "README.md"}
    for _ in range(STEPS):
        targets = set().union(*(links(page) for page in newest))
        newest = {target / "README.md" if target.is_dir() else target for target in targets} - near
        newest = {page for page in newest if page.suffix == ".md" and page.exists()}
        near = near | newest
    return [f"{name}: more than {STEPS} links from README.md" for name in pages(root) if root / name not in near]


def census(root: Path) -> list:
    """Of each field term: how often documents have it, and how often kernels do."""
    kernels = [name for name in files(root) if name.endswith((".cuh", ".cl")) and name.split("/")[0] in CASES]
    patterns = [of_words(pattern) for _, pattern in CENSUS]
    counts = []
    for names in (pages(root), kernels):
        texts = [(root / name).read_text(encoding="utf-8") for name in names]
        counts.append([sum(len(pattern.findall(text)) for text in texts) for pattern in patterns])
    return list(zip((term for term, _ in CENSUS), *counts))


def scanned(root: Path) -> list:
    names = (name for name in files(root) if any(fnmatch(name, pattern) for pattern in SCANNED))
    return [name for name in names if not any(fnmatch(name, pattern) for pattern in NOT_SCANNED)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--census", action="store_true", help="print how often each field term occurs")
    arguments = parser.parse_args()

    names, faults = scanned(ROOT), []
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        text = blanked(text, COPIED) if name.endswith(".md") else text
        faults += private_words(name, text) + long_lines(name, text)
    faults += far_pages(ROOT)
    terms = census(ROOT)
    for term, documents, kernels in terms:
        faults += [] if documents else [f"'{term}' occurs in no document: use the term where its subject is treated"]
        faults += [] if kernels else [f"'{term}' occurs in no kernel: use the term where its subject is treated"]
    if arguments.census:
        for term, documents, kernels in terms:
            print(f"{term:17}  {documents:4} in documents  {kernels:4} in kernels")
    print("\n".join(faults) or f"the words of {len(names)} files are good")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
