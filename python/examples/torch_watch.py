"""PyTorch's own kernels, watched from inside: python torch_watch.py."""

import bankwise

with bankwise.watch("--max-launches", "1") as w:
    import torch

    matrix = torch.randn(512, 512, device="cuda")
    (matrix @ matrix.T).softmax(dim=1)

for kernel in w.report.kernels:
    print(f"{kernel.conflicts:>10,} conflicts{'' if kernel.complete else ' at least'}  {kernel.kernel[:80]}")
