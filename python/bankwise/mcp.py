"""A server of the Model Context Protocol on stdin and stdout: assistants check kernels with it.

    bankwise mcp FOLDER

Its tools take only files in the folder, and write only below FOLDER/.bankwise. But check builds and runs programs,
which can read and do what they like. So start the server only for a folder whose programs you trust.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from bankwise import program

PROTOCOL = "2025-06-18"
TIME_LIMIT = 300  # seconds for one call

Arguments = dict[str, Any]


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


ARCH = _text("architecture or GPU, for example sm_90, h100, gfx942; several with commas")


@dataclass(frozen=True)
class Tool:
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...]
    words: Callable[[Path, Arguments], list[str]]  # the command line of bankcheck


def _file(folder: Path, name: str) -> str:
    """A file in the folder of the server. Error: ValueError for a path outside."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise ValueError(f"{name} is not in {folder}")
    if not path.exists():
        raise ValueError(f"there is no {name} in {folder}")
    return str(path)


def _output(folder: Path, name: str) -> str:
    """A file to write. Error: ValueError."""
    if Path(name).name != name or name in ("", ".", ".."):
        raise ValueError(f"{name} is not the name of a file: it is written to {folder}/.bankwise")
    (folder / ".bankwise").mkdir(exist_ok=True)
    return _file(folder, ".bankwise") + "/" + name


def _flags(arguments: Arguments, *names: str) -> list[str]:
    return [f"--{name}={arguments[name]}" for name in names if name in arguments]


def _explain(folder: Path, arguments: Arguments) -> list[str]:
    flags = _flags(arguments, "index", "array", "block", "op", "width", "space", "arch")
    return ["predict", *flags, *(f"--let={name}={value}" for name, value in arguments.get("let", {}).items())]


def _predict(folder: Path, arguments: Arguments) -> list[str]:
    return [*_explain(folder, arguments), "--json"]


def _check(folder: Path, arguments: Arguments) -> list[str]:
    checker = str(arguments["checker"])
    if checker not in ("emulate", "opencl", "cuda"):
        raise ValueError(f"checkers are emulate, opencl and cuda, not {checker}")
    words = [checker, f"--time-limit={TIME_LIMIT}", "--json=-", *_flags(arguments, "arch", "kernel")]
    words += ["--fit"] if arguments.get("fit") else []
    words += [f"--trace={_output(folder, str(arguments['trace']))}"] if "trace" in arguments else []
    files = [_file(folder, str(file)) for file in arguments["files"]]
    if not files:
        raise ValueError("files has no program")
    rest = [str(word) for word in arguments.get("arguments", ())]
    if checker == "emulate":
        return [*words, f"--cache={_output(folder, 'cache')}", *files, *(["--", *rest] if rest else [])]
    interpreter = [sys.executable] if files[0].endswith(".py") else []
    return [*words, "--", *interpreter, *files, *rest]


def _fit(folder: Path, arguments: Arguments) -> list[str]:
    return ["fit", "--json=-", *_flags(arguments, "arch", "kernel"), _file(folder, str(arguments["trace"]))]


INDEX = {
    "index": _text("index of the element that each lane accesses, in CUDA or OpenCL C: 17*tid, tile[threadIdx.x][3]"),
    "array": _text("declaration of the array in the index: float tile[32][33]"),
    "block": _text("threads of a block: 32x8"),
    "let": {"type": "object", "description": "values of other names", "additionalProperties": {"type": "integer"}},
    "op": _text("load, store, atomic, ldmatrix.x4, ..."),
    "width": {"type": "integer", "description": "bytes per lane"},
    "space": {"type": "string", "enum": ["shared", "global"]},
    "arch": ARCH,
}

TOOLS = {
    "predict": Tool(
        "The bank conflicts of one access of a warp to shared memory, or the sectors of one to global memory, as JSON. "
        "Computed; measured rules are named as such.",
        INDEX, ("index",), _predict,
    ),
    "explain": Tool("The same as a text with a picture: which bank serves which lane in which pass.",
                    INDEX, ("index",), _explain),
    "check": Tool(
        "Runs a program and reports the bank conflicts of its kernels by source line, as JSON. A kernel with "
        "'incomplete' was not watched completely: its numbers are lower bounds.",
        {
            "checker": {
                "type": "string",
                "enum": ["emulate", "opencl", "cuda"],
                "description": "emulate: CUDA or HIP sources, on the CPU, needs g++; opencl: an OpenCL program, needs "
                "Oclgrind; cuda: a CUDA program, needs an NVIDIA GPU",
            },
            "files": _texts("sources for emulate, otherwise the program; paths in the folder of the server"),
            "arguments": _texts("of the program"),
            "arch": ARCH,
            "kernel": _text("report only kernels with this name, which may be a glob"),
            "fit": {"type": "boolean", "description": "also find the padding or swizzle that removes the conflicts"},
            "trace": _text("name of a trace to write to .bankwise in the folder of the server, for fit"),
        },
        ("checker", "files"), _check,
    ),
    "fit": Tool(
        "The padding or swizzle that removes the bank conflicts of a trace, as JSON.",
        {"trace": _text("path in the folder of the server"), "arch": ARCH, "kernel": _text("a glob")},
        ("trace",), _fit,
    ),
}


def call(folder: Path, name: str, arguments: Arguments) -> str:
    """What the tool prints. Errors: ValueError, BankwiseError, subprocess.TimeoutExpired."""
    if name not in TOOLS:
        raise ValueError(f"there is no tool {name}")
    for needed in TOOLS[name].required:
        if needed not in arguments:
            raise ValueError(f"{name} needs {needed}")
    if unknown := sorted(set(arguments) - set(TOOLS[name].properties)):
        raise ValueError(f"{name} does not take {', '.join(unknown)}")
    return program.run(TOOLS[name].words(folder, arguments), timeout=2 * TIME_LIMIT, directory=folder).stdout


def _listed(name: str, tool: Tool) -> dict[str, Any]:
    schema = {"type": "object", "properties": tool.properties, "required": list(tool.required)}
    hints = {"readOnlyHint": name != "check", "destructiveHint": False, "openWorldHint": False}
    return {"name": name, "description": tool.description, "inputSchema": schema, "annotations": hints}


def _called(folder: Path, parameters: Arguments) -> dict[str, Any]:
    try:
        text, failed = call(folder, str(parameters.get("name")), dict(parameters.get("arguments") or {})), False
    except Exception as error:  # for the assistant, which may call again with other arguments
        text, failed = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


METHODS: dict[str, Callable[[Path, Arguments], dict[str, Any]]] = {
    "initialize": lambda folder, parameters: {
        "protocolVersion": PROTOCOL,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "bankwise", "version": program.version()},
    },
    "ping": lambda folder, parameters: {},
    "tools/list": lambda folder, parameters: {"tools": [_listed(name, tool) for name, tool in TOOLS.items()]},
    "tools/call": _called,
}


def serve(folder: Path, requests: TextIO, answers: TextIO) -> None:
    """Answers requests, one line each, until there are no more."""
    folder = folder.resolve()
    for line in requests:
        if not line.strip():
            continue
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": None}
        try:
            request = json.loads(line)
            identity, method, parameters = request.get("id"), str(request["method"]), request.get("params") or {}
            if identity is None:
                continue  # a notification
            answer["id"] = identity
            if method in METHODS:
                answer["result"] = METHODS[method](folder, dict(parameters))
            else:
                answer["error"] = {"code": -32601, "message": f"there is no method {method}"}
        except json.JSONDecodeError as error:
            answer["error"] = {"code": -32700, "message": f"not JSON: {error}"}
        except (AttributeError, KeyError, TypeError, ValueError):
            answer["error"] = {"code": -32600, "message": "not a request of JSON-RPC 2.0"}
        print(json.dumps(answer), file=answers, flush=True)


def command(words: Sequence[str]) -> int:
    """The command `bankwise mcp`. Error: ValueError."""
    if len(words) != 1 or words[0].startswith("-") or not Path(words[0]).is_dir():
        raise ValueError("bankwise mcp FOLDER: the folder of the programs that it may read and run")
    serve(Path(words[0]), sys.stdin, sys.stdout)
    return program.OK
