"""Watches Python programs that use CUDA or OpenCL, from outside (`bankwise run`) and from inside (`watch`)."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from bankwise import program
from bankwise.reports import Report


def another_way() -> str:
    """How to watch a program whose process has initialized CUDA."""
    if "ipykernel" in sys.modules:
        return "restart the kernel, or begin the cell with %%bankwise, which runs it in a process of its own"
    return f"python -m bankwise run {sys.argv[0] or 'SCRIPT.py'} watches the program from its beginning"


# --- From outside: bankcheck starts the interpreter ---


def checker_of(script: str) -> str:
    """"opencl" for a script that imports PyOpenCL, otherwise "cuda"."""
    try:
        text = Path(script).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ValueError(f"cannot read {script}: {error.strerror}") from None
    return "opencl" if re.search(r"^\s*(from|import\b.*)\s+pyopencl\b", text, re.MULTILINE) else "cuda"


def run_words(words: Sequence[str]) -> list[str]:
    """The words for bankcheck, for `bankwise run WORDS`. Error: ValueError."""
    options = list(words)
    checker = None
    if options and options[0] in ("--cuda", "--opencl"):
        checker = options.pop(0)[2:]
    at = next((i for i, word in enumerate(options) if word.endswith(".py") or word in ("-m", "--")), None)
    if at is None or options[at:] == ["--"]:
        raise ValueError("bankwise run [--cuda | --opencl] [options of bankcheck] SCRIPT.py [arguments], or -m MODULE")
    command = options[at:] if options[at] != "--" else options[at + 1 :]
    if checker is None:
        checker = "cuda" if command[0] == "-m" else checker_of(command[0])
    return [checker, *options[:at], "--", sys.executable, *command]


def run_command(words: Sequence[str]) -> int:
    """The command `bankwise run`. Error: ValueError, BankwiseError."""
    program.replace_process(run_words(words))
    return program.FAILED


# --- From inside: bankcheck starts a child that does nothing, and this process takes part in its run ---

# The child passes on what bankcheck asks of the programs that it starts, and lives until the pipe is closed.
HOLDER = """
import json, os, sys
folder = sys.argv[1]
names = [name for name in os.environ if name.startswith("BANKWISE_") or name == "CUDA_INJECTION64_PATH"]
with open(folder + "/part", "w") as file:
    json.dump({name: os.environ[name] for name in names}, file)
os.rename(folder + "/part", folder + "/environment.json")
open(folder + "/end").read()
"""

CUDA_ERROR_NOT_INITIALIZED = 3


def cuda_is_initialized() -> bool:
    """Whether this process has called cuInit(). The driver reads only there what is to be loaded."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False
    return bool(driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != CUDA_ERROR_NOT_INITIALIZED)


def finish_record(library: str) -> None:
    """Waits for the GPU, and ends the record; kernels launched later are not watched."""
    try:
        injected = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return  # the block did not use CUDA, as bankcheck will say
    injected.bankwise_finish_record()


class Watch:
    """See `watch`. `report` is there after the block."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._report: Report | None = None

    @property
    def report(self) -> Report:
        if self._report is None:
            raise program.BankwiseError("the report is there after the block of bankwise.watch()")
        return self._report

    def __enter__(self) -> Watch:
        self._block = self._watched()
        self._block.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._block.__exit__(kind, error, traceback)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        if cuda_is_initialized():
            raise program.BankwiseError(f"CUDA is initialized already, so it is too late to watch it: {another_way()}")
        with tempfile.TemporaryDirectory(prefix="bankwise.", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            os.mkfifo(folder / "end")
            bankcheck = subprocess.Popen(
                [program.find(), "cuda", "--color", "never", "--json", str(folder / "report.json"), *self._options, "--",
                 sys.executable, "-c", HOLDER, str(folder)],
                stdin=subprocess.DEVNULL, stdout=(folder / "stdout").open("w"), stderr=(folder / "stderr").open("w"),
            )

            def text(file: str) -> str:
                return (folder / file).read_text(encoding="utf-8")

            while not (folder / "environment.json").exists():
                if bankcheck.poll() is not None:
                    raise program.error_of(bankcheck.returncode, text("stderr"))
                time.sleep(0.01)
            environment: dict[str, str] = json.loads(text("environment.json"))
            before = {variable: os.environ[variable] for variable in environment if variable in os.environ}
            os.environ.update(environment)
            try:
                yield
            finally:
                for variable in environment:
                    os.environ.pop(variable, None)
                os.environ.update(before)
                if library := environment.get("CUDA_INJECTION64_PATH"):
                    finish_record(library)
                (folder / "end").open("w").close()
                bankcheck.wait()
            if bankcheck.returncode not in (program.OK, program.LIMIT_EXCEEDED):
                raise program.error_of(bankcheck.returncode, text("stderr"))
            self._report = Report(text("stdout"), json.loads(text("report.json")))


def watch(*options: str) -> Watch:
    """Watches the CUDA kernels that this process launches in the block, on the GPU:

        with bankwise.watch() as w:
            import torch
            softmax(torch.randn(64, 1024, device="cuda"))
        print(w.report)
        frame = w.report.to_pandas()

    The block must be the first of the process to use CUDA, and only one block can be watched: the CUDA driver loads the
    watcher when it is initialized. Kernels launched after the block run without being watched, but no faster.
    `options` are those of `bankcheck cuda`, for example "--kernel", "softmax*". Needs an NVIDIA GPU and NVIDIA's
    Sanitizer library (`pip install bankwise[cuda]`, or the CUDA Toolkit).

    Errors: NothingToRun without a GPU; BankwiseError, also if CUDA was initialized before.
    """
    return Watch(options)
