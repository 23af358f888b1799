"""A transpose in Warp, whose tile has rows of PITCH words: 32 has conflicts, 33 is the fix. lineinfo gives the report
the lines of this file.

bankwise run warp_transpose.py; bankwise run warp_transpose.py 33
"""

import sys

import numpy as np
import warp as wp

PITCH = int(sys.argv[1]) if len(sys.argv) > 1 else 32
wp.config.lineinfo = True


@wp.kernel
def transpose(out: wp.array2d[float], source: wp.array2d[float]):
    row, column = wp.tid()
    rows = wp.tile_zeros(shape=(32, PITCH), dtype=float, storage="shared")
    wp.tile_assign(rows, wp.tile_load(source, shape=(32, 32), offset=(row * 32, column * 32)), offset=(0, 0))
    tile = wp.tile_view(rows, offset=(0, 0), shape=(32, 32))
    wp.tile_store(out, wp.tile_transpose(tile), offset=(column * 32, row * 32))


n = 1024
source = np.random.rand(n, n).astype(np.float32)
out = wp.empty((n, n), dtype=float)
wp.launch_tiled(transpose, dim=(n // 32, n // 32), inputs=[out, wp.array(source)], block_dim=256)
assert (out.numpy() == source.T).all()
