#!/usr/bin/env python3
"""Generates what describes the command lines, from --help of every program in a build directory: docs/cli.md, the manual
page docs/bankcheck.1, and the completions of shells in docs/completion.

    tools/cli_reference.py BUILD [--check]

With --check nothing is written, and the exit code is 1 if a file differs.
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported modules next to this file
from cli_completion import completions
from cli_help import Program, bankcheck, program_of
from cli_man import manual
from reports import ROOT, STUDIES, markdown, write_or_check

HEAD = """# Command-line reference: options and exit codes of bankcheck and the case studies

Generated from `--help` by `tools/cli_reference.py`. Every program has `-h`, `--help` and `--version`. Options that
several programs have are in one table for all of them.

The checkers and the case studies have the same exit codes: 0 success; 1 a wrong result, or more conflicts than a limit
allows; 2 bad usage or unreadable input; 3 a device, driver, build or output failed; 77 nothing to run on this machine.
`bankcheck` alone prints its help, with exit code 2: a script in which the variable with the command is empty must fail.
Each script in `script/` describes itself in its head.
"""

# Programs that share options: the heading of their table, and their names.
CHECKERS = [f"bankcheck {name}" for name in ("opencl", "cuda", "emulate", "report", "fit")]
FAMILIES = {
    "Options of the checkers": CHECKERS,
    "Options of the compilers": [f"bankcheck {name}" for name in ("emulate", "nvcc", "hipcc")],
    "Options of the case studies": list(STUDIES),
}


def escaped(text: str) -> str:
    """Text for a cell of a table; what is quoted becomes code."""
    parts = re.split(r"(?<!\w)'([^']*)'(?!\w)", text)
    plain = (re.sub(r"([*<|]|__)", r"\\\1", part) for part in parts[::2])
    code = ("`" + part.replace("|", "\\|") + "`" for part in parts[1::2])
    return "".join(a + b for a, b in zip(plain, [*code, ""]))


def option_table(options: list) -> str:
    body = [["`" + option.name.replace("|", "\\|") + "`", escaped(option.meaning)] for option in options]
    return "\n" + markdown(["option", "meaning"], body, 2)


def paragraphs(texts: list) -> str:
    """A paragraph that lists exit codes or gives an example keeps its beginning."""
    found = []
    for text in texts:
        example = re.fullmatch(r"Example: (.*)", text)
        found.append(f"\n```sh\n{example[1]}\n```\n" if example else f"\n{wrapped(escaped(text))}\n")
    return "".join(found)


def wrapped(text: str) -> str:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) >= 120:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def families(programs: list) -> tuple:
    """The sections of the families by heading, and by program what these have: options and paragraphs."""
    known = {program.name: program for program in programs}
    covered: dict = {name: set() for name in known}
    texts = {}
    for heading, names in FAMILIES.items():
        members = [known[name] for name in names]
        tables: dict = {tuple(names): []}  # by the programs that have the options
        for option in dict.fromkeys(option for program in members for option in program.options()):
            having = tuple(p.name for p in members if option in p.options() and option not in covered[p.name])
            if len(having) > 1:
                tables.setdefault(having, []).append(option)
                for name in having:
                    covered[name].add(option)
        texts[heading] = f"\n### {heading}\n"
        for having, options in tables.items():
            texts[heading] += f"\n{', '.join(f'`{name}`' for name in having)}:\n{option_table(options)}" if options else ""
        shared = [text for text in members[0].footer if all(text in program.footer for program in members)]
        for name in names:
            covered[name].update(shared)
        texts[heading] += paragraphs(shared)
    return texts, covered


def section(program: Program, covered: set) -> str:
    text = f"\n### `{program.name}`\n\n{wrapped(program.about)}:\n`{program.usage}`\n"
    own = [option for option in program.options() if option not in covered]
    headings = [heading for heading, names in FAMILIES.items() if program.name in names]
    also = " and ".join(f"[{heading.lower()}](#{heading.lower().replace(' ', '-')})" for heading in headings)
    if also:
        text += f"\n{wrapped('It has ' + also + (', and' if own else '.'))}\n"
    if own:
        text += option_table(own)
    return text + paragraphs([text for text in program.footer if text not in covered])


def page(programs: list, studies: list) -> str:
    main, *commands = programs
    shared, covered = families([*commands, *studies])
    of_studies = shared.pop("Options of the case studies")
    links = ", ".join(f"[`{c.name}`](#bankcheck-{c.name})" for c in main.groups["Commands"])
    text = HEAD + f"\n## Checkers\n\n{wrapped(links)}.\n" + "".join(shared.values())
    text += "".join(section(command, covered[command.name]) for command in commands)
    return text + "\n## Case studies\n" + of_studies + "".join(section(study, covered[study.name]) for study in studies)


def files(build: Path) -> dict:
    programs = bankcheck(build)
    studies = [program_of(build, study) for study in STUDIES]
    found = {"docs/cli.md": page(programs, studies), "docs/bankcheck.1": manual(programs), **completions(programs)}
    return {ROOT / name: text for name, text in found.items()}


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(write_or_check(files(Path(sys.argv[1]))))
