"""A transpose in TileLang, whose tile has rows of PITCH words: 32 has conflicts, 33 is the fix. tl.emit_line_directives
gives the report the lines of this file.

bankwise run tilelang_transpose.py; bankwise run tilelang_transpose.py 33
"""

import sys

import tilelang
import tilelang.language as T
import torch

PITCH = int(sys.argv[1]) if len(sys.argv) > 1 else 32


@tilelang.jit(out_idx=[1], pass_configs={"tl.emit_line_directives": True})
def transposed(n):
    @T.prim_func
    def transpose(source: T.Tensor((n, n), "float32"), out: T.Tensor((n, n), "float32")):
        with T.Kernel(n // 32, n // 32, threads=256) as (column, row):
            tile = T.alloc_shared((32, PITCH), "float32")
            for i, j in T.Parallel(32, 32):
                tile[i, j] = source[row * 32 + i, column * 32 + j]
            for i, j in T.Parallel(32, 32):
                out[column * 32 + i, row * 32 + j] = tile[j, i]

    return transpose


n = 1024
source = torch.rand(n, n, device="cuda")
assert torch.equal(transposed(n)(source), source.T)
