"""A transpose in CuPy, whose tile has rows of PITCH words: 32 has conflicts, 33 is the fix. #line gives the report the
lines of this file.

bankwise run cupy_transpose.py; bankwise run cupy_transpose.py 33
"""

import sys

import cupy

SOURCE = r"""
#line 13 "cupy_transpose.py"
extern "C" __global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][PITCH];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += 8) tile[i][threadIdx.x] = in[(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
  for (int i = threadIdx.y; i < 32; i += 8) out[(y + i) * n + x] = tile[threadIdx.x][i];
}
"""

pitch = sys.argv[1] if len(sys.argv) > 1 else "32"
kernel = cupy.RawKernel(SOURCE, "transpose", options=(f"-DPITCH={pitch}", "-lineinfo"))
n = 1024
source = cupy.random.rand(n, n, dtype=cupy.float32)
out = cupy.empty_like(source)
kernel((n // 32, n // 32), (32, 8), (out, source, cupy.int32(n)))
assert (out == source.T).all()
