#!/usr/bin/env python3
"""Generates what describes the command lines, from --help of every program in a build directory: docs/cli.md, the manual
page docs/bankcheck.1, and the completions of shells in docs/completion.

    tools/cli_reference.py BUILD [--check]

With --check nothing is written, and the exit code is 1 if a file differs.
"""

import re
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported modules next to this file
from campaign import output
from reports import ROOT, STUDIES, markdown, write_or_check

# --- The --help text of a program as values ---

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


# --- docs/cli.md ---

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
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


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


# --- The manual page, in the macros of man(7) ---

SECTIONS = """.SH EXIT STATUS
.TP
0
Success.
.TP
1
More conflicts than a limit allows, a fault in the program, or a proposal that cannot be confirmed.
.TP
2
Bad usage, or an input that cannot be read.
.TP
3
The program, a build or an output failed.
.TP
77
Nothing to run on this machine.
.SH SEE ALSO
The documentation is in the folder
.I bankwise
of the system's documentation, such as
.IR /usr/share/doc/bankwise/docs/README.md .
"""


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def manual_entry(name: str, meaning: str) -> str:
    return f".TP\n.B {roff(name)}\n{roff(meaning)}\n"


def manual(programs: list) -> str:
    main, *commands = programs
    version = re.search(r"project\(bankwise VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    text = f'.TH BANKCHECK 1 "" "bankwise {version}" "User Commands"\n.SH NAME\n'
    text += f"bankcheck \\- {main.about[0].lower()}{roff(main.about[1:])}\n.SH SYNOPSIS\n"
    text += "\n.br\n".join(f".B {roff(command.usage)}" for command in commands) + "\n.SH DESCRIPTION\n"
    text += "".join(manual_entry(command.name, command.meaning) for command in main.groups["Commands"])
    for command in commands:
        text += f".SH {roff(command.name.upper())}\n{roff(command.about)}.\n"
        text += "".join(manual_entry(option.name, option.meaning) for option in command.options())
        text += "".join(f".PP\n{roff(paragraph)}\n" for paragraph in command.footer)
    return text + SECTIONS


# --- Completions for shells: commands, their options, and the words that an option can have ---

BASH = """# Completion of bankcheck for bash; generated by tools/cli_reference.py.
_bankcheck() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words="" i
  for ((i = 1; i < COMP_CWORD; ++i)); do [[ ${{COMP_WORDS[i]}} != -- ]] || return; done
  if ((COMP_CWORD == 1)); then
    words='{commands} --help --version'
  else
    case ${{COMP_WORDS[1]}}:$before in
{values}
    *)
      [[ $word == -* ]] || return
      case ${{COMP_WORDS[1]}} in
{options}
      esac
      ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o default -o bashdefault -F _bankcheck bankcheck
"""
ZSH = """#compdef bankcheck
# Completion of bankcheck for zsh; generated by tools/cli_reference.py.
local -a commands
commands=(
{commands}
)
if ((CURRENT == 2)); then
  _describe command commands
  return
fi
local command=$words[2]
shift words
((CURRENT--))
case $command in
{options}
esac
"""
FISH = "# Completion of bankcheck for fish; generated by tools/cli_reference.py.\n"


def described(text: str) -> str:
    """The beginning of a meaning, for a menu, without what the shells would read."""
    first = text.split(";")[0].split(". ")[0].split(" (")[0]
    return "".join(c for c in first if c not in "'\"[]:`$\\")


def bash(main, commands: list) -> str:
    values, options = [], []
    for command in commands:
        name = command.name.split()[1]
        flags = [flag for option in command.options() for flag in option.flags()]
        options.append(f"        {name}) words='{' '.join([*flags, '--help'])}' ;;")
        for option in command.options():
            if option.values() and option.flags():
                where = " | ".join(f"{name}:{flag}" for flag in option.flags())
                values.append(f"    {where}) words='{' '.join(option.values())}' ;;")
    return BASH.format(commands=" ".join(c.name for c in main.groups["Commands"]), values="\n".join(values), options="\n".join(options))


def zsh(main, commands: list) -> str:
    listed = "\n".join(f"  '{c.name}:{described(c.meaning)}'" for c in main.groups["Commands"])
    options = []
    for command in commands:
        lines = []
        for option in command.options():
            after = f":{option.argument()}:" if option.argument() else ""
            after = after.replace("[", "").replace("]", "").replace("'", "")
            action = f"({' '.join(option.values())})" if option.values() else "_files" if after else ""
            lines += [f"    '*{flag}[{described(option.meaning)}]{after}{action}'" for flag in option.flags()]
        options.append(f"{command.name.split()[1]})\n  _arguments \\\n" + " \\\n".join([*lines, "    '*:file:_files'"]) + "\n  ;;")
    return ZSH.format(commands=listed, options="\n".join(options))


def fish(main, commands: list) -> str:
    """A line for each option, with the commands that have it."""
    lines = [
        f"complete -c bankcheck -n __fish_use_subcommand -f -a {c.name} -d '{described(c.meaning)}'" for c in main.groups["Commands"]
    ]
    having: dict = {}
    for command in commands:
        for option in command.options():
            if option.flags():
                spelled = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags())
                after = f" -x -a '{' '.join(option.values())}'" if option.values() else " -r" if option.argument() else ""
                having.setdefault(f"{spelled}{after} -d '{described(option.meaning)}'", []).append(command.name.split()[1])
    for line, names in having.items():
        lines.append(f"complete -c bankcheck -n '__fish_seen_subcommand_from {' '.join(names)}' {line}")
    return FISH + "\n".join(lines) + "\n"


def files(build: Path) -> dict:
    main, *commands = programs = bankcheck(build)
    found = {
        "cli.md": page(programs, [program_of(build, study) for study in STUDIES]),
        "bankcheck.1": manual(programs),
        "completion/bankcheck.bash": bash(main, commands),
        "completion/_bankcheck": zsh(main, commands),
        "completion/bankcheck.fish": fish(main, commands),
    }
    return {ROOT / "docs" / name: text for name, text in found.items()}


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(write_or_check(files(Path(sys.argv[1]))))
