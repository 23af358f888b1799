"""A transpose in Triton: bankwise run triton_transpose.py, and what to look for.

Triton chooses the layout of shared memory itself, with a swizzle, so that this kernel should have few conflicts: the
report shows which lines of this file have any.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose(out, source, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(source + rows[:, None] * n + columns[None, :])
    tl.store(out + columns[:, None] * n + rows[None, :], tl.trans(tile))


n = 1024
source = torch.randn(n, n, device="cuda")
out = torch.empty_like(source)
transpose[(n // 64, n // 64)](out, source, n, BLOCK=64)
assert torch.equal(out, source.T)
