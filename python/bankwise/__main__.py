"""The command bankwise: the commands of bankcheck, and those that need Python."""

from __future__ import annotations

import sys

from bankwise import mcp, watching
from bankwise.program import FAILED, OK, USAGE, BankwiseError, replace_process

COMMANDS = {
    "run": (watching.run_command, "Watch a Python script that uses CUDA or OpenCL, and report its bank conflicts"),
    "mcp": (mcp.command, "Serve the checkers to an assistant: Model Context Protocol on stdin and stdout"),
}


def main() -> int:
    words = sys.argv[1:]
    try:
        if words and words[0] in COMMANDS:
            return COMMANDS[words[0]][0](words[1:])
        if words and words[0] in ("-h", "--help"):
            print("bankwise COMMAND ...: the commands of bankcheck (bankcheck --help lists them), and")
            for name, (_, description) in COMMANDS.items():
                print(f"  {name:8}{description}")
            return OK
        replace_process(words)
    except BankwiseError as error:
        print(f"bankwise: {error}", file=sys.stderr)
        return error.exit_code
    except (OSError, ValueError) as error:
        print(f"bankwise: {error}", file=sys.stderr)
        return USAGE if isinstance(error, ValueError) else FAILED
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
