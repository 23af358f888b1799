# SPDX-License-Identifier: MIT
"""What the checks of the repository share: which files there are, which of them are pages, and what pages link to."""

import re
import subprocess
from pathlib import Path

LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def files(root: Path) -> list:
    """The names of all tracked files, sorted; of all files outside `build` where there is no git."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
        return sorted(name for name in listed.stdout.split("\0") if name and (root / name).exists())
    paths = (path.relative_to(root) for path in root.rglob("*"))
    return sorted(str(path) for path in paths if (root / path).is_file() and path.parts[0] != "build")


def pages(root: Path) -> list:
    """The names of all documents: at the top, in folders at the top, and anywhere below docs."""
    documents = (name for name in files(root) if name.endswith(".md") and not name.startswith("."))
    return [name for name in documents if name.count("/") <= 1 or name.startswith("docs/")]


def links(page: Path) -> set:
    """The files of the repository that a page links to, whether or not they exist."""
    return {(page.parent / target).resolve() for target in LINK.findall(page.read_text(encoding="utf-8"))}
