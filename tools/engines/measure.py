#!/usr/bin/env python3
"""Measures what accesses shared memory without an address of each lane, or that of another block, on an NVIDIA GPU of
compute capability 9.0: wgmma, bulk and tensor copies (TMA), loads, stores and atomics of a cluster's shared memory.

    measure.py {wgmma,bulk,beside,remote} > rows.csv
        One kernel per row, and its clocks. `tools/counters.py engines` adds the hardware counters.

    measure.py {wgmma,bulk,beside,remote} --once > rows.csv
        For a profiler: each kernel is launched once, with few instructions (column `instructions`).

    measure.py {wgmma,bulk,beside,remote} --ptx > kernels.ptx
        The kernels. Needs no GPU. With --module FILE the other two take them compiled by ptxas instead of compiling them.

Exit codes: 0 ok, 2 usage, 3 no GPU, or a launch failed.
"""

import argparse
import csv
import ctypes
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # of the imported modules next to this file
from cluster import remote_rows
from copies import bulk_rows
from rows import WORDS, Row
from wgmma import wgmma_rows

SHARED = 200 * 1024  # bytes of dynamic shared memory of each block
DATA = 16 << 20  # bytes of global memory
RUNS = 3
SETS = {"wgmma": wgmma_rows, "bulk": bulk_rows, "remote": remote_rows}
SETS["beside"] = lambda: bulk_rows("loads") + bulk_rows("stores")


class Failed(Exception): ...


class Gpu:
    """The CUDA driver, as far as it is needed."""

    def __init__(self, module: bytes):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context, self.module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", ctypes.byref(self.module), module)
        self.out, self.data = self.memory(64), self.memory(DATA)
        self.call("cuMemsetD32_v2", self.data, ctypes.c_uint(0x01010101), ctypes.c_size_t(DATA // 4))
        self.functions = {}

    def call(self, name: str, *arguments) -> None:
        if error := getattr(self.driver, name)(*arguments):
            raise Failed(f"{name} returned {error}")

    def memory(self, size: int):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def function(self, name: str):
        if name not in self.functions:
            function = ctypes.c_void_p()
            self.call("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
            self.call("cuFuncSetAttribute", function, 8, SHARED)  # the most dynamic shared memory
            self.functions[name] = function
        return self.functions[name]

    def tensor_map(self, tensor: dict):
        """128 bytes aligned to 64; None if the driver refuses the parameters."""
        room = ctypes.create_string_buffer(192)
        address = (ctypes.addressof(room) + 63) & ~63
        rank = len(tensor["dims"])

        def numbers(kind, values):
            return (kind * max(len(values), 1))(*values)

        head = [ctypes.c_void_p(address), tensor["element"], rank, ctypes.c_void_p(self.data.value + tensor["at"])]
        head += [numbers(ctypes.c_uint64, tensor["dims"]), numbers(ctypes.c_uint64, tensor["strides"])]
        tail = [numbers(ctypes.c_uint32, tensor["steps"]), tensor["interleave"], tensor["swizzle"], 0, 0]
        if "pixels" in tensor:
            name = "cuTensorMapEncodeIm2col"
            middle = [numbers(ctypes.c_int, tensor["lower"]), numbers(ctypes.c_int, tensor["upper"])]
            middle += [tensor["channels"], tensor["pixels"]]
        else:
            name, middle = "cuTensorMapEncodeTiled", [numbers(ctypes.c_uint32, tensor["box"])]
        if getattr(self.driver, name)(*head, *middle, *tail):
            return None
        return ctypes.string_at(address, 128)

    def launch(self, row: Row, changed: dict) -> list | None:
        """The eight numbers that the kernel writes; None: the driver refuses the tensor. `changed`: words by index."""
        tensor = bytes(128)
        if row.tensor and (tensor := self.tensor_map(row.tensor)) is None:
            return None
        room = ctypes.create_string_buffer(tensor, 192)  # the driver copies it to an aligned parameter
        words = dict(enumerate(row.parameters)) | changed
        values = (ctypes.c_uint32 * WORDS)(*[words.get(i, 0) & 0xFFFFFFFF for i in range(WORDS)])
        parameters = (ctypes.c_void_p * 4)(*[ctypes.addressof(part) for part in (self.out, self.data, room, values)])
        self.call("cuMemsetD32_v2", self.out, 0, ctypes.c_size_t(16))
        one = [1, 1]
        self.call(
            "cuLaunchKernel", self.function(row.kernel.name), row.kernel.blocks, *one, row.kernel.threads, *one, SHARED,
            None, parameters, None,
        )  # fmt: skip
        self.call("cuCtxSynchronize")
        result = (ctypes.c_uint64 * 8)()
        self.call("cuMemcpyDtoH_v2", result, self.out, ctypes.c_size_t(64))
        return list(result)


def measured(gpu: Gpu, row: Row, once: bool) -> dict | None:
    """The columns of the row. None: the driver refuses it."""
    results = [gpu.launch(row, row.once if once else {}) for _ in range(1 if once else RUNS)]
    if results[0] is None:
        return None
    columns = {**row.columns, "instructions": row.instructions}
    if once:
        return columns
    columns |= {name: min(result[i] for result in results) for i, name in enumerate(row.results)}
    if any(result[4] for result in results):
        print(f"measure.py: not all bytes arrived: {row.columns}", file=sys.stderr)
    if row.checks:
        columns["written"] = 4 * gpu.launch(row, row.checks)[3]
    return columns


def part(text: str) -> slice:
    return slice(*(int(number) if number else None for number in text.split(":")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--ptx", action="store_true")
    parser.add_argument("--module", type=Path)
    parser.add_argument("--rows", type=part, default=slice(None), metavar="FIRST:LAST:STEP", help="measure these only")
    options = parser.parse_args()
    rows = SETS[options.set]()
    kernels = {row.kernel.name: row.kernel.text for row in rows}
    ptx = ".version 8.4\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 shared[];\n"
    ptx += "\n".join(kernels.values())
    if options.ptx:
        print(ptx)
        return 0
    names = [name for row in rows for name in (*row.columns, "instructions", *row.results)]
    names += ["written"] if any(row.checks for row in rows) else []
    out = csv.DictWriter(sys.stdout, list(dict.fromkeys(names)), lineterminator="\n")
    try:
        gpu = Gpu(options.module.read_bytes() if options.module else ptx.encode())
        out.writeheader()
        for row in rows[options.rows]:
            if columns := measured(gpu, row, options.once):
                out.writerow(columns)
                sys.stdout.flush()
    except (OSError, Failed) as error:
        print(f"measure.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
