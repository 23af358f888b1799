#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the links of the documents. Exits with 1 if a linked file does not exist, or if no document links to a
kernel."""
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported module next to this file
from reports import CASES

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")

linked, broken = set(), []
for document in [p for pattern in ("*.md", "*/*.md", "docs/*/*.md") for p in ROOT.glob(pattern) if "build" not in p.parts]:
    for target in LINK.findall(document.read_text()):
        path = (document.parent / target).resolve()
        linked.add(path)
        if not path.exists():
            broken.append(f"{document.relative_to(ROOT)}: there is no {target}")
for case in CASES:
    for kernel in [*(ROOT / case).glob("*.cuh"), *(ROOT / case).glob("*.cl")]:
        if kernel not in linked:
            broken.append(f"{kernel.relative_to(ROOT)}: no document links to it")
print("\n".join(broken) or f"{len(linked)} links are good")
sys.exit(bool(broken))
