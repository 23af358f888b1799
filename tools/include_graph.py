#!/usr/bin/env python3
"""Who includes whom, by room: the table of rooms.txt, and what the sources do.

    tools/include_graph.py           each room: what it includes, and in how many files
    tools/include_graph.py --dot     the same for Graphviz: tools/include_graph.py --dot | dot -Tsvg >graph.svg
    tools/include_graph.py --check   one line for each include of no file, each include that the table does not allow,
                                     and a cycle; exit code 1 if there are any
"""

import argparse
import fnmatch
import re
import sys
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter

sys.dont_write_bytecode = True  # of the modules next to this file
from check_pages import tracked
from reports import ROOT

SOURCES = (".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".cl")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
CASE_STUDY = "<case study>"


def known_rooms(text: str) -> dict:
    """By room, those that it may include: lines `room  content  knows a, b`. A room knows what these rooms know."""
    rows = dict(re.findall(r"^(\S.*?)  +\S.*?  +knows (.*)$", text, re.MULTILINE))

    def room(word: str) -> str:
        """By its path, or by the path's last part."""
        rooms = [room for room in rows if word in (room, room.removesuffix(".*").split("/")[-1])]
        if len(rooms) != 1:
            sys.exit(f"include_graph.py: rooms.txt has {len(rooms)} rooms named {word}")
        return rooms[0]

    some = {"everything": set(rows), "nothing": set()}
    direct = {name: some[words] if words in some else set(map(room, words.split(", "))) for name, words in rows.items()}
    known: dict = {}
    for name in sorted_by_arrows({name: rooms - {name} for name, rooms in direct.items()}, "the rooms of rooms.txt"):
        known[name] = direct[name].union(*(known[room] for room in direct[name] - {name}))
    return known


def sorted_by_arrows(arrows: dict, nodes: str) -> list:
    try:
        return list(TopologicalSorter(arrows).static_order())
    except CycleError as error:
        sys.exit(f"include_graph.py: a cycle of {nodes}: {' -> '.join(reversed(error.args[1]))}")


def row_of(name: str, known: dict) -> str | None:
    """The row for a file: the longest that names it or a folder around it."""
    rows = [row for row in known if fnmatch.fnmatch(name, row) or name.startswith(row + "/")]
    top = name.split("/")[0]
    if not rows and "/" in name and not any(row.split("/")[0] == top for row in known):
        return CASE_STUDY
    return max(rows, key=len, default=None)


def room_of(name: str, known: dict) -> str | None:
    row = row_of(name, known)
    return name.split("/")[0] if row == CASE_STUDY else row


def includes(names: list) -> tuple:
    """What files include of the repository, as (file, line, included file), and includes of no file."""
    ours = {name.split("/")[0] for name in names if "/" in name} | {"bankwise"}
    found, faults, existing = [], [], set(names)
    for name in names:
        folders = name.split("/")[:-1]
        around = ["/".join(folders[:depth]) + "/" for depth in range(len(folders), 0, -1)]
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            if match := INCLUDE.match(line):
                # Next to the file, below the root, or below a folder around the file, which its target may search.
                places = ["common/"] if match[1] == "<" else [*around[:1], "", *around[1:]]
                target = next((place + match[2] for place in places if place + match[2] in existing), None)
                if target:
                    found.append((name, number, target))
                elif match[2].split("/")[0] in ours:
                    faults.append(f"{name}:{number}: {match[2]} is no tracked file")
    return found, faults


def check(names: list, known: dict) -> list:
    found, faults = includes(names)
    faults += [f"{name}: the table of rooms has no room for it" for name in names if not row_of(name, known)]
    arrows = defaultdict(set)
    for name, number, target in found:
        arrows[name].add(target)
        here, there = room_of(name, known), room_of(target, known)
        row, target_row = row_of(name, known), row_of(target, known)
        if here != there and row and target_row and (target_row not in known[row] or row == target_row):
            faults.append(f"{name}:{number}: {here} must not know {there}: {target}")
    if not faults:
        sorted_by_arrows(arrows, "files")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--dot", action="store_true", help="for Graphviz")
    output.add_argument("--check", action="store_true", help="exit with 1 if an include is not as it must be")
    options = parser.parse_args()
    names = [name for name in tracked() if name.endswith(SOURCES)]
    known = known_rooms((ROOT / "tools/rooms.txt").read_text(encoding="utf-8"))
    if options.check:
        faults = check(names, known)
        print("\n".join(faults) or f"{len(known)} rooms, {len(names)} files")
        return int(bool(faults))
    pairs = {(room_of(name, known), room_of(target, known), name) for name, _, target in includes(names)[0]}
    counts = sorted(Counter((str(here), str(there)) for here, there, _ in pairs if here != there).items())
    if options.dot:
        arrows = (f'  "{here}" -> "{there}" [label="{count}"]' for (here, there), count in counts)
        print("\n".join(["digraph includes {", "  node [shape=box]", *arrows, "}"]))
        return 0
    for room in sorted({here for (here, _), _ in counts}):
        print(f"{room}: {', '.join(f'{there} ({count})' for (here, there), count in counts if here == room)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
