"""A transpose in CuTe DSL, whose tile has rows of PITCH words: 32 has conflicts, 33 is the fix. GenerateLineInfo gives
the report the lines of this file.

bankwise run cute_dsl_transpose.py; bankwise run cute_dsl_transpose.py 33
"""

import sys

import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack

PITCH = int(sys.argv[1]) if len(sys.argv) > 1 else 32


@cute.kernel
def transpose(out: cute.Tensor, source: cute.Tensor):
    x, y, _ = cute.arch.thread_idx()
    column, row, _ = cute.arch.block_idx()
    tile = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout((32, 32), stride=(PITCH, 1)))
    tile[y, x] = source[row * 32 + y, column * 32 + x]
    cute.arch.sync_threads()
    out[column * 32 + y, row * 32 + x] = tile[x, y]


@cute.jit
def launch(out: cute.Tensor, source: cute.Tensor):
    transpose(out, source).launch(grid=(n // 32, n // 32, 1), block=(32, 32, 1))


n = 1024
source = torch.rand(n, n, device="cuda")
out = torch.empty_like(source)
arguments = from_dlpack(out), from_dlpack(source)
cute.compile[cute.GenerateLineInfo(True)](launch, *arguments)(*arguments)
assert torch.equal(out, source.T)
