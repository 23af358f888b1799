"""Shared by the tools: the --help text of a program as values."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from campaign import output

COLUMN = 28  # of the meanings


@dataclass(frozen=True)
class Option:
    """One option; `name` has its spellings and its argument as in --help: `-o FILE`, `-c, --compile`, `FILE`."""

    name: str
    meaning: str

    def flags(self) -> list:
        return re.findall(r"(?<![\w-])-{1,2}[A-Za-z][\w-]*", self.name)

    def argument(self) -> str:
        return "" if self.name.endswith(tuple(self.flags())) else self.name.split(" ", 1)[-1]

    def values(self) -> list:
        """The words that the argument can be, if the meaning ends with a list of them."""
        found = re.search(r": ([\w.-]+(?:, [\w.-]+)+)(?: \(default: [^()]*\))?$", self.meaning)
        return found[1].split(", ") if found else []


@dataclass
class Program:
    name: str
    about: str
    usage: str
    groups: dict = field(default_factory=dict)  # of options, or of commands, by heading
    footer: list = field(default_factory=list)  # paragraphs

    def options(self) -> list:
        return [option for name, group in self.groups.items() if name not in ("Help", "Commands") for option in group]


def parsed(name: str, text: str) -> Program:
    """A program from its --help."""
    head, *parts = text.strip().split("\n\n")
    about, usage = head.split("\nUsage: ")
    program = Program(name, joined(about), joined(usage))
    for part in parts:
        heading, *lines = part.splitlines()
        if re.fullmatch(r"[A-Z][\w ]*:", heading):
            program.groups[heading[:-1]] = entries(lines)
        else:
            program.footer += [joined(paragraph) for paragraph in re.split(r"\n(?! )", part)]
    return program


def entries(lines: list) -> list:
    found = []
    for line in lines:
        if not line.startswith(" " * COLUMN):
            name, _, meaning = line.strip().partition("  ") if len(line) > COLUMN else (line.strip(), "", "")
            found.append([name, [meaning]])
        else:
            found[-1][1].append(line)
    return [Option(name, joined(" ".join(meaning))) for name, meaning in found]


def joined(text: str) -> str:
    return " ".join(text.split())


def program_of(build: Path, *command: str) -> Program:
    """Errors: subprocess.CalledProcessError, OSError."""
    return parsed(" ".join(command), output([build / command[0], *command[1:], "--help"]))


def bankcheck(build: Path) -> list:
    """bankcheck, and its commands."""
    main = program_of(build, "bankcheck")
    return [main, *(program_of(build, "bankcheck", command.name) for command in main.groups["Commands"])]
