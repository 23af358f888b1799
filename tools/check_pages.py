#!/usr/bin/env python3
"""Checks the documents and the names of the tests; prints a line for each fault, with exit code 1.

    tools/check_pages.py            checks
    tools/check_pages.py --write    copies files into the code blocks of the documents first

Links of documents lead to files of the repository, every kernel has a link, and every page is at most two links from
README.md. Lines of prose and comments have at most 120 columns. A comment such as

    <!-- file tests/package/checking/matmul.cuh -->

on the line before a code block names the file that the block shows, or after the name its lines, such as 1-8. The name of
a test is a path of at most 60 characters that begins with the test's room. What a kernel needs or lacks stands right before
its contract. Some files must have the version of CMakeLists.txt, and all the same owner of the repository.
"""

import re
import sys
from fnmatch import fnmatch
from os.path import relpath
from pathlib import Path

sys.dont_write_bytecode = True  # of the module next to this file
from campaign import output
from reports import CASES, ROOT, STUDIES

LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
MARKED = re.compile(r"(<!-- file (\S+)(?: (\d+)-(\d+))? -->\n```\w*\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
COLUMNS, STEPS, NAME = 120, 2, 60
COMMENTED = ("*.cuh", "*.cl", "*.cu", "*.hpp", "*.cpp", "*.py", "*.sh", "script/*", "*CMakeLists.txt", "*.cmake")
RECORDED = ("tests/data/*", "docs/results/*/*")
COPIED = re.compile(r"^<!-- (?!end of)(\w+)\b[^\n]*-->\n(?:(?!<!--).)*<!-- end of \1 -->$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"^( *)(```|~~~).*?^ *\2 *$", re.DOTALL | re.MULTILINE)
VERSIONED = {
    "CHANGELOG.md": "\n## {} - ",
    "CITATION.cff": "\nversion: {}\n",
    "docs/bankcheck.1": '"bankwise {}"',
    "packaging/homebrew/bankwise.rb": "/bankwise-{}-source.tar.gz",
    "packaging/vcpkg/ports/bankwise/vcpkg.json": '"version": "{}"',
}
OWNED = re.compile(r"(?:github\.com/|--repo |github\.sh |install |repository |REPO |uses: |:-)([\w-]+)/(?:homebrew-)?bankwise\b")
PLAIN = (".cmake", ".json", ".md", ".rb", ".sh", ".yml")
REMARK = re.compile(r"^// (Needs|No OpenCL port|Not emulated): ", re.MULTILINE)
ORDERED = re.compile(r"(?:// Needs: .*\n)*(?:// No OpenCL port: .*\n)*(?:// Not emulated: .*\n)*//\n// Contract\n")
ONE_LINK = re.compile(r"\W*\[[^]]*\]\([^)]*\)\W*")


def tracked(root: Path = ROOT) -> list:
    """The names of all tracked files, sorted; of all files outside `build` where there is no git."""
    if (root / ".git").exists():
        listed = output(["git", "ls-files", "-z"], cwd=root)
        return sorted(name for name in listed.split("\0") if name and (root / name).is_file())
    paths = (path.relative_to(root) for path in root.rglob("*"))
    return sorted(str(path) for path in paths if (root / path).is_file() and path.parts[0] != "build")


def links(page: Path) -> set:
    """The files of the repository that a page links to outside of code, whether or not they exist."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    return {(page.parent / target).resolve() for target in LINK.findall(text)}


def wrong_links(pages: list) -> list:
    targets = {page: links(ROOT / page) for page in pages}
    faults = [f"{page}: there is no {relpath(to, ROOT)}" for page in pages for to in sorted(targets[page]) if not to.exists()]
    linked = set().union(*targets.values())
    kernels = [path for case in CASES for end in ("*.cuh", "*.cl") for path in (ROOT / case).glob(end)]
    return faults + [f"{relpath(kernel, ROOT)}: no document links to it" for kernel in kernels if kernel not in linked]


def far_pages(pages: list) -> list:
    """Pages that nothing links to within STEPS. A link to a folder is one to its README.md."""
    near = newest = {ROOT / "README.md"}
    for _ in range(STEPS):
        targets = set().union(*(links(page) for page in newest))
        newest = {target / "README.md" if target.is_dir() else target for target in targets} - near
        newest = {page for page in newest if page.suffix == ".md" and page.exists()}
        near = near | newest
    return [f"{page}: more than {STEPS} links from README.md" for page in pages if ROOT / page not in near]


def may_be_long(name: str, line: str) -> bool:
    if not name.endswith(".md"):
        return not re.match(r"\s*(?://|#|\*)", line) or len(line.split()) <= 2  # code, which is formatted, or a URL
    return line.lstrip().startswith(("|", "<!--")) or len(line.split()) == 1 or bool(ONE_LINK.fullmatch(line))


def long_lines(name: str) -> list:
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".md"):
        for copied in (COPIED, CODE):
            text = copied.sub(lambda found: "\n" * found[0].count("\n"), text)
    long = [number for number, line in enumerate(text.split("\n"), 1) if len(line) > COLUMNS and not may_be_long(name, line)]
    return [f"{name}:{number}: more than {COLUMNS} columns" for number in long]


def code_blocks(pages: list, write: bool) -> list:
    def filled(match: re.Match) -> str:
        lines = (ROOT / match[2]).read_text(encoding="utf-8").splitlines()
        first, last = (int(match[3]), int(match[4])) if match[3] else (1, len(lines))
        return match[1] + "".join(f"{line}\n" for line in lines[first - 1 : last]) + match[6]

    faults = []
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        new = MARKED.sub(filled, text)
        if len(MARKED.findall(text)) != len(re.findall(r"^<!-- file ", text, re.MULTILINE)):
            faults.append(f"{page}: a file mark without a code block")
        if new != text and write:
            (ROOT / page).write_text(new, encoding="utf-8")
        elif new != text:
            faults.append(f"{page} differs from its files; please run tools/check_pages.py --write")
    return faults


def kernel_heads(names: list) -> list:
    """What a kernel needs or lacks stands right before its contract, in one order."""
    faults = []
    for kernel in (name for name in names if name.endswith(".cuh") and name.split("/")[0] in STUDIES):
        head = re.match(r"(//.*\n)*", (ROOT / kernel).read_text(encoding="utf-8"))[0]
        remarks, ordered = REMARK.findall(head), ORDERED.search(head)
        if remarks and not (ordered and REMARK.findall(ordered[0]) == remarks):
            faults.append(f"{kernel}: {', '.join(remarks)}: not in order before the contract")
    return faults


def test_names(names: list) -> list:
    """Of Catch2's and CTest's tests; the programs in tests/package are examples of other projects."""
    faults = []
    sources = [n for n in names if n.startswith("tests/") and not n.startswith("tests/package/checking/")]
    for source in (name for name in sources if name.endswith((".cpp", "CMakeLists.txt"))):
        pattern = r"add_test\(NAME ([^\s)]+)" if source.endswith(".txt") else r'TEST_CASE\(\s*"([^"]*)"[,)]'
        for name in re.findall(pattern, (ROOT / source).read_text(encoding="utf-8")):
            if len(name) > NAME or not re.fullmatch(r"([a-z0-9_]|\$\{\w+\})+(/([a-z0-9_]|\$\{\w+\})+)*", name):
                faults.append(f"{source}: the name of a test is no path of at most {NAME} characters: {name}")
    return faults


def versions() -> list:
    """Files that do not have the version of CMakeLists.txt."""
    version = re.search(r"project\(bankwise VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    return [
        f"{name} does not have the version {version}"
        for name, text in VERSIONED.items()
        if text.format(version) not in (ROOT / name).read_text(encoding="utf-8")
    ]


def owners(names: list) -> list:
    """Where the owner of this repository's address is, if it is not the same everywhere; see packaging/github.sh."""
    own = [name for name in names if name.endswith(PLAIN) and not any(fnmatch(name, recorded) for recorded in RECORDED)]
    found = [(name, owner) for name in own for owner in OWNED.findall((ROOT / name).read_text(encoding="utf-8"))]
    several = len({owner for _, owner in found}) > 1
    return [f"{name}: the owner of the repository is {owner}, and another elsewhere" for name, owner in found if several]


def main() -> int:
    names = tracked()
    documents = [name for name in names if name.endswith(".md") and not name.startswith(".")]
    pages = [name for name in documents if name.count("/") <= 1 or name.startswith("docs/")]
    faults = code_blocks(pages, "--write" in sys.argv) + wrong_links(pages) + far_pages(pages)
    faults += test_names(names) + kernel_heads(names) + versions() + owners(names)
    prose = [*documents, *(name for name in names if any(fnmatch(name, pattern) for pattern in COMMENTED))]
    for name in prose:
        if not any(fnmatch(name, recorded) for recorded in RECORDED):
            faults += long_lines(name)
    print("\n".join(faults) or f"{len(prose)} files are good")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
