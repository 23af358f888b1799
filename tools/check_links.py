#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exits with 1 if a document links to a file of the repository that does not exist, or no document links to a kernel."""
import sys
from os.path import relpath
from pathlib import Path

sys.dont_write_bytecode = True  # of the modules next to this file
from reports import CASES
from repository import links, pages

ROOT = Path(__file__).resolve().parents[1]

linked, broken = set(), []
for name in pages(ROOT):
    targets = links(ROOT / name)
    linked |= targets
    broken += [f"{name}: there is no {relpath(target, ROOT)}" for target in sorted(targets) if not target.exists()]
for case in CASES:
    for kernel in [*(ROOT / case).glob("*.cuh"), *(ROOT / case).glob("*.cl")]:
        if kernel not in linked:
            broken.append(f"{kernel.relative_to(ROOT)}: no document links to it")
print("\n".join(broken) or f"{len(linked)} links are good")
sys.exit(bool(broken))
