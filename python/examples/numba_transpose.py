"""A transpose in Numba, whose tile has rows of PITCH words: 32 has conflicts, 33 is the fix. lineinfo=True gives the
report the lines of this file.

bankwise run numba_transpose.py; bankwise run numba_transpose.py 33
"""

import sys

import numpy as np
from numba import cuda, float32

PITCH = int(sys.argv[1]) if len(sys.argv) > 1 else 32


@cuda.jit(lineinfo=True)
def transpose(out, source):
    tile = cuda.shared.array((32, PITCH), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = source[cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x]
    cuda.syncthreads()
    out[cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x] = tile[x, y]


n = 1024
source = np.random.rand(n, n).astype(np.float32)
out = cuda.device_array_like(source)
transpose[(n // 32, n // 32), (32, 32)](out, cuda.to_device(source))
assert (out.copy_to_host() == source.T).all()
