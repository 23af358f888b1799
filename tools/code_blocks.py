#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies files into the code blocks of the documents, so that no block is typed by hand.

A document marks a code block with a comment on the line before it, with the path of the file from the repository's
root:

    <!-- file tests/package/checking/matmul.cuh -->

With --check nothing is written, and the exit code is 1 if a document differs, or if no document shows a file of the
directories in SHOWN.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"(<!-- file (\S+) -->\n```\w*\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
SHOWN = ("tests/package/checking", "tests/bankcheck/opencl/example")


def filled(match: re.Match) -> str:
    text = (ROOT / match[2]).read_text()
    return match[1] + text + ("" if text.endswith("\n") else "\n") + match[4]


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    blocks, wrong, shown = 0, [], set()
    for document in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]):
        name, text = str(document.relative_to(ROOT)), document.read_text()
        if len(MARKED.findall(text)) != len(re.findall(r"^<!-- file ", text, re.MULTILINE)):
            wrong.append(f"{name}: a file mark without a code block")
        blocks += len(MARKED.findall(text))
        new = MARKED.sub(filled, text)
        if new != text and check:
            wrong.append(f"{name} differs from its files; please run tools/code_blocks.py")
        elif new != text:
            document.write_text(new)
        shown |= {match[1] for match in MARKED.findall(text)}
    files = {str(path.relative_to(ROOT)) for folder in SHOWN for path in (ROOT / folder).iterdir()}
    wrong += [f"no document shows {file}" for file in sorted(files - shown)]
    print("\n".join(wrong) or f"{blocks} code blocks match their files")
    return bool(wrong)


sys.exit(main())
