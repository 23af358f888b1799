#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies files into the code blocks of the documents that show them, so that none is typed by hand.

A document marks a code block with a comment on the line before it, which names the file from the repository's root:

    <!-- file tests/package/checking/matmul.cuh -->

With --check nothing is written, and the exit code is 1 if a document differs, or shows none of the files of a folder
that is there to be shown.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"(<!-- file (\S+) -->\n```\w*\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
SHOWN = {"docs/checking_your_kernel.md": "tests/package/checking"}


def filled(match: re.Match) -> str:
    text = (ROOT / match[2]).read_text()
    return match[1] + text + ("" if text.endswith("\n") else "\n") + match[4]


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    blocks, wrong = 0, []
    for document in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]):
        name, text = str(document.relative_to(ROOT)), document.read_text()
        if len(MARKED.findall(text)) != len(re.findall(r"^<!-- file ", text, re.MULTILINE)):
            wrong.append(f"{name}: a mark without a code block")
        blocks += len(MARKED.findall(text))
        new = MARKED.sub(filled, text)
        if new != text and check:
            wrong.append(f"{name} does not show its files as they are; docs/code_blocks.py writes them")
        elif new != text:
            document.write_text(new)
        if name in SHOWN:
            files = {str(p.relative_to(ROOT)) for p in (ROOT / SHOWN[name]).iterdir()}
            wrong += [f"{name} does not show {file}" for file in sorted(files - {m[1] for m in MARKED.findall(text)})]
    print("\n".join(wrong) or f"{blocks} code blocks are their files")
    return bool(wrong)


sys.exit(main())
