"""The manual page of bankcheck, in the macros of man(7)."""

import re

from reports import ROOT

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


def escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def version() -> str:
    """The one that CMakeLists.txt has."""
    return re.search(r"project\(bankwise VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def entry(name: str, meaning: str) -> str:
    return f".TP\n.B {escaped(name)}\n{escaped(meaning)}\n"


def manual(programs: list) -> str:
    main, *commands = programs
    text = f'.TH BANKCHECK 1 "" "bankwise {version()}" "User Commands"\n.SH NAME\n'
    text += f"bankcheck \\- {main.about[0].lower()}{escaped(main.about[1:])}\n.SH SYNOPSIS\n"
    text += "\n.br\n".join(f".B {escaped(command.usage)}" for command in commands) + "\n.SH DESCRIPTION\n"
    text += "".join(entry(command.name, command.meaning) for command in main.groups["Commands"])
    for command in commands:
        text += f".SH {escaped(command.name.upper())}\n{escaped(command.about)}.\n"
        text += "".join(entry(option.name, option.meaning) for option in command.options())
        text += "".join(f".PP\n{escaped(paragraph)}\n" for paragraph in command.footer)
    return text + SECTIONS
