"""Launches kernels of PyTorch, of its libraries and of Triton, for `tools/counters.py program`.

    pytorch.py [PART …]

Without parts it runs all but `liger`, which needs the package liger-kernel. Each call has small fixed inputs that come
from the CPU, and runs forward and backward where there is a backward. Run it once before it is watched or profiled: the
first run compiles kernels, and PyTorch's compiler chooses among them by time. Exit codes: 0 ok, 2 usage, 3 a part failed
(the others ran).
"""

import os
import sys
import traceback

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no worker processes

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from triton.tools.tensor_descriptor import TensorDescriptor

HALF, BRAIN, FP8 = torch.float16, torch.bfloat16, torch.float8_e4m3fn
GENERATOR = torch.Generator().manual_seed(1)


def random(*shape: int, dtype: torch.dtype = HALF, grad: bool = False) -> torch.Tensor:
    return torch.randn(shape, generator=GENERATOR).to(dtype).cuda().requires_grad_(grad)


def backward(out: torch.Tensor) -> None:
    out.backward(random(*out.shape, dtype=out.dtype))


@triton.jit
def dot_pointers(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (start + depth)[None, :])
        right = tl.load(b + (start + depth)[:, None] * n + columns[None, :])
        sums = tl.dot(left, right, sums)
    tl.store(c + rows[:, None] * n + columns[None, :], sums.to(c.dtype.element_ty))


@triton.jit
def dot_descriptors(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    sums = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        sums = tl.dot(a.load([row, start]), b.load([start, column]), sums)
    c.store([row, column], sums.to(c.dtype))


def triton_dot() -> None:
    for dtype in (HALF, torch.float32):
        a, b = random(256, 512, dtype=dtype), random(512, 256, dtype=dtype)
        dot_pointers[2, 2](a, b, torch.empty(256, 256, dtype=dtype, device="cuda"), 256, 512, 128, 128, 32)
        dot_pointers[4, 4](a, b, torch.empty(256, 256, dtype=dtype, device="cuda"), 256, 512, 64, 64, 32, num_warps=8)


def triton_tma() -> None:
    for dtype, m, n, warps in ((HALF, 128, 128, 4), (HALF, 64, 64, 4), (BRAIN, 128, 256, 8)):
        a, b, c = random(256, 512, dtype=dtype), random(512, 256, dtype=dtype), random(256, 256, dtype=dtype)
        boxes = ((a, [m, 64]), (b, [64, n]), (c, [m, n]))
        descriptors = [TensorDescriptor.from_tensor(matrix, box) for matrix, box in boxes]
        dot_descriptors[256 // m, 256 // n](*descriptors, 512, m, n, 64, num_warps=warps)


def cublas() -> None:
    for dtype in (HALF, BRAIN):
        for m, n, k in ((512, 512, 512), (1024, 256, 128), (96, 80, 1024)):
            random(m, k, dtype=dtype) @ random(k, n, dtype=dtype)
            random(m, k, dtype=dtype) @ random(n, k, dtype=dtype).t()


def cublas_tf32() -> None:
    torch.backends.cuda.matmul.allow_tf32 = True
    random(512, 512, dtype=torch.float32) @ random(512, 512, dtype=torch.float32)
    torch.backends.cuda.matmul.allow_tf32 = False


def cublas_int8() -> None:
    a, b = ((8 * random(256, 256)).to(torch.int8) for _ in "ab")
    torch._int_mm(a, b.t())


def cublas_fp8() -> None:
    one = torch.ones((), device="cuda")
    for m, n, k in ((512, 512, 512), (128, 256, 1024)):
        a, b = random(m, k, dtype=FP8), random(n, k, dtype=FP8)
        torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=BRAIN)


def attention(backend: SDPBackend, dtype: torch.dtype, size: int) -> None:
    query, key, value = (random(1, 4, 256, size, dtype=dtype, grad=True) for _ in "qkv")
    with sdpa_kernel(backend):
        backward(F.scaled_dot_product_attention(query, key, value, is_causal=True))


def flash_attention() -> None:
    attention(SDPBackend.FLASH_ATTENTION, HALF, 64)
    attention(SDPBackend.FLASH_ATTENTION, BRAIN, 128)


def cudnn_attention() -> None:
    attention(SDPBackend.CUDNN_ATTENTION, HALF, 64)
    attention(SDPBackend.CUDNN_ATTENTION, BRAIN, 128)


def efficient_attention() -> None:
    attention(SDPBackend.EFFICIENT_ATTENTION, HALF, 64)
    attention(SDPBackend.EFFICIENT_ATTENTION, torch.float32, 64)


def compiled_mlp() -> None:
    layers = (nn.LayerNorm(512), nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 512), nn.Softmax(-1))
    torch.manual_seed(1)
    model = nn.Sequential(*layers).to(HALF).cuda()
    backward(torch.compile(model)(random(512, 512, grad=True)))


def cudnn_convolution() -> None:
    for dtype in (HALF, torch.float32):
        images = random(4, 64, 32, 32, dtype=dtype).to(memory_format=torch.channels_last).requires_grad_()
        filters = random(64, 64, 3, 3, dtype=dtype).to(memory_format=torch.channels_last).requires_grad_()
        backward(F.conv2d(images, filters, padding=1))


def primitives() -> None:
    """Sorts, scans, selections and sums of CUB and PyTorch, and cuFFT."""
    values = random(1 << 16, dtype=torch.float32)
    values.sort(), values.topk(100), values.cumsum(0), (values > 1).nonzero(), values.sum(), values[:1000].sort()
    values.view(256, 256).sort(), values.view(256, 256).softmax(-1), values.view(256, 256).cumsum(0)
    torch.fft.rfft(values), torch.bucketize(values, values[:100].sort().values)
    table = random(1000, 64, dtype=torch.float32, grad=True)
    backward(F.embedding(values.abs().mul(100).long().clamp(max=999)[:4096], table))


def liger() -> None:
    from liger_kernel.transformers import functional as L

    def ones(*shape: int) -> torch.Tensor:
        return torch.ones(shape, device="cuda", requires_grad=True)

    def inputs() -> torch.Tensor:
        return random(256, 1024, dtype=torch.float32, grad=True)

    labels = torch.randint(1024, (256,), generator=GENERATOR).cuda()
    backward(L.liger_layer_norm(inputs(), ones(1024), ones(1024), 1e-6))
    backward(L.liger_rms_norm(inputs(), ones(1024), 1e-6))
    backward(L.liger_softmax(inputs()))
    backward(L.liger_geglu(inputs(), inputs()))
    backward(L.liger_swiglu(inputs(), inputs()))
    backward(L.liger_group_norm(random(4, 32, 256, dtype=torch.float32, grad=True), ones(32), ones(32), 32, 8, 1e-6))
    L.liger_cross_entropy(inputs(), labels).backward()
    L.liger_kl_div(inputs().log_softmax(-1), inputs().softmax(-1).detach(), reduction="batchmean").backward()
    L.liger_jsd(inputs().log_softmax(-1), inputs().log_softmax(-1).detach()).backward()
    query, key, value = (random(1, 2, 128, 64, grad=True) for _ in "qkv")
    backward(L.liger_fused_neighborhood_attention(query, key, value, 7, 1, 0.125))


PARTS = {part.__name__: part for part in (triton_dot, triton_tma, cublas, cublas_tf32, cublas_int8, cublas_fp8)}
PARTS |= {part.__name__: part for part in (flash_attention, cudnn_attention, efficient_attention, compiled_mlp)}
PARTS |= {part.__name__: part for part in (cudnn_convolution, primitives, liger)}


def main() -> int:
    names = sys.argv[1:] or [name for name in PARTS if name != "liger"]
    if unknown := set(names) - set(PARTS):
        print(f"pytorch.py: no part {', '.join(unknown)}; parts: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    failed = False
    for name in names:
        try:
            PARTS[name]()
            torch.cuda.synchronize()
        except Exception:  # the other parts still run
            print(f"pytorch.py: {name} failed:\n{traceback.format_exc()}", file=sys.stderr)
            failed = True
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
