#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who includes whom, by room: the table of CONTRIBUTING.md, and what the sources do.

  tools/include_graph.py           each room: what it includes, and in how many files
  tools/include_graph.py --dot     the same for Graphviz: tools/include_graph.py --dot | dot -Tsvg >graph.svg
  tools/include_graph.py --check   one line for each include of no file, each include that the table does not allow, and
                                   each cycle; exit code 1 if there are any
"""

import argparse
import fnmatch
import re
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # of the module next to this file
from repository import files

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".cl")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
NOTHING, EVERYTHING = "nothing", "everything"


def files_of(root: Path) -> list:
    return [name for name in files(root) if name.endswith(SOURCES)]


class Table:
    """The rooms of CONTRIBUTING.md: lines `room  what it is  knows a, b`. Who knows a room knows what that knows."""

    def __init__(self, text: str):
        rows = [re.match(r"^(\S.*?)  +\S.*?  +knows (.*)$", line) for line in text.splitlines()]
        self.rows = {row[1]: row[2] for row in rows if row}
        if not self.rows:
            sys.exit("include_graph.py: CONTRIBUTING.md has no table of rooms")
        self.known = {room: self.closure(room, ()) for room in self.rows}

    def named(self, word: str) -> str:
        """A room by its path, or by the path's last part."""
        rooms = [room for room in self.rows if word == room or word == re.sub(r"\.\*$", "", room).split("/")[-1]]
        if len(rooms) != 1:
            sys.exit(f"include_graph.py: CONTRIBUTING.md's table of rooms has {len(rooms)} rooms named {word}")
        return rooms[0]

    def closure(self, room: str, above: tuple) -> set:
        if room in above:
            sys.exit(f"include_graph.py: CONTRIBUTING.md's table of rooms has a cycle: {' -> '.join((*above, room))}")
        words = [word.strip() for word in self.rows[room].split(",")]
        if words == [NOTHING]:
            return set()
        if words == [EVERYTHING]:
            return set(self.rows)
        direct = {self.named(word) for word in words}
        return direct.union(*(self.closure(one, (*above, room)) for one in direct))

    def row_of(self, name: str) -> str:
        """The row for a file: the longest that names it or a folder around it."""
        rows = [row for row in self.rows if fnmatch.fnmatch(name, row) or name.startswith(row + "/")]
        top = name.split("/", maxsplit=1)[0]
        if not rows and "/" in name and not any(row.split("/")[0] == top for row in self.rows):
            rows = [row for row in self.rows if row == "<case study>"]
        return max(rows, key=len, default=None)

    def room_of(self, name: str) -> str:
        row = self.row_of(name)
        return name.split("/")[0] if row == "<case study>" else row


class Includes:
    """What files include of the repository: (file, line, included file). `faults` are includes of no file."""

    def __init__(self, root: Path):
        self.files = files_of(root)
        tracked = set(self.files)
        ours = {name.split("/")[0] for name in self.files if "/" in name} | {"bankwise"}
        self.all, self.faults = [], []
        for name in self.files:
            for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
                found = INCLUDE.match(line)
                if not found:
                    continue
                bracket, path = found.groups()
                places = [f"common/{path}"] if bracket == "<" else self.near(name, path)
                target = next((place for place in places if place in tracked), None)
                if target:
                    self.all.append((name, number, target))
                elif path.split("/")[0] in ours:
                    self.faults.append(f"{name}:{number}: {path} is no tracked file")

    @staticmethod
    def near(name: str, path: str) -> list:
        """Next to the file, below the root, or below a folder around the file, which its target may search."""
        folders = name.split("/")[:-1]
        around = ["/".join(folders[:depth]) for depth in range(len(folders), 0, -1)]
        same = around[:1] if around else []
        return [f"{folder}/{path}" for folder in same] + [path] + [f"{folder}/{path}" for folder in around[1:]]


def cycles(arrows: dict) -> list:
    """One cycle, as a list of nodes that begins with the first by name, for each node that closes one."""
    found, state = [], {}
    for start in sorted(arrows):
        if start in state:
            continue
        path, todo = [], [(start, iter(sorted(arrows[start])))]
        state[start] = "open"
        path.append(start)
        while todo:
            node, targets = todo[-1]
            target = next(targets, None)
            if target is None:
                state[node] = "done"
                todo.pop()
                path.pop()
            elif state.get(target) == "open":
                cycle = path[path.index(target) :]
                first = cycle.index(min(cycle))
                found.append(cycle[first:] + cycle[:first])
            elif target not in state:
                state[target] = "open"
                path.append(target)
                todo.append((target, iter(sorted(arrows.get(target, ())))))
    return found


def faults_of(table: Table, includes: Includes) -> list:
    faults = list(includes.faults)
    faults += [f"{name}: the table of rooms has no room for it" for name in includes.files if not table.row_of(name)]
    of_files, of_rooms = {}, {}
    for name, number, target in includes.all:
        of_files.setdefault(name, set()).add(target)
        here, there = table.room_of(name), table.room_of(target)
        if here is None or there is None or here == there:
            continue
        of_rooms.setdefault(here, set()).add(there)
        row = table.row_of(target)
        if row not in table.known[table.row_of(name)] or row == table.row_of(name):
            faults.append(f"{name}:{number}: {here} must not know {there}: {target}")
    for what, arrows in (("files", of_files), ("rooms", of_rooms)):
        faults += [f"a cycle of {what}: {' -> '.join([*cycle, cycle[0]])}" for cycle in cycles(arrows)]
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--dot", action="store_true", help="for Graphviz")
    output.add_argument("--check", action="store_true", help="exit with 1 if an include is not as it must be")
    arguments = parser.parse_args()

    table = Table((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    includes = Includes(ROOT)
    if arguments.check:
        faults = faults_of(table, includes)
        print("\n".join(faults), end="\n" if faults else "")
        return int(bool(faults))
    arrows = {(table.room_of(name), table.room_of(target), name) for name, _, target in includes.all}
    counts = Counter((str(here), str(there)) for here, there, _ in arrows if here != there)
    if arguments.dot:
        print("digraph includes {\n  node [shape=box]")
        for (here, there), count in sorted(counts.items()):
            print(f'  "{here}" -> "{there}" [label="{count}"]')
        print("}")
        return 0
    for room in sorted({here for here, _ in files}):
        known = [f"{there} ({count})" for (here, there), count in sorted(counts.items()) if here == room]
        print(f"{room}: {', '.join(known)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
