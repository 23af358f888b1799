// SPDX-License-Identifier: MIT-0
//
// Matrix transpose with the Tensor Memory Accelerator (TMA) of Hopper: bulk copies load the rows of a tile, 256 bytes
// each, into shared memory and store the transposed rows (cp.async.bulk with an mbarrier: CUDA Programming Guide,
// chapter on TMA; PTX ISA).
//
// Changed against output_order.cuh: copies need one address per row and no registers for the data; threads transpose
// squares of 4 x 4 words in between.
//
//   lanes  Each thread transposes a square of 4 x 4 words: it loads four chunks of four words, one below the other,
//          transposes them in registers, and stores four chunks. All threads are active, even at the edge.
//   banks  A bulk copy keeps the words of a row in order, so single words cannot be swizzled; but any thread can take
//          any square. Eight lanes on adjacent squares of a row would load eight chunks of that row, all 32 banks, and
//          store eight chunks of one column: 8-way conflicts. If they take squares (d ^ x, x) on a diagonal instead,
//          loads and stores each use eight columns: no conflict.
//
// Needs: compute capability 9.0
// No OpenCL port: OpenCL C has no bulk copies
// Not emulated: bulk copies and their barriers are PTX
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of THREADS threads, tiles in column-major order
//   in      height x width words, row-major; 16-byte aligned
//   out     width x height words, row-major: out[x][y] = in[y][x]; 16-byte aligned; must not overlap `in`
//   height, width  any; launch no block if either is 0. Rows that are not whole chunks are copied by the threads

__global__ void __launch_bounds__(256)
    transpose_tma(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
#if __CUDA_ARCH__ >= 900
  constexpr unsigned TILE = 64;           // words along each side of a tile
  constexpr unsigned SQUARES = TILE / 4;  // per side of the tile, 4 x 4 words each
  constexpr unsigned THREADS = SQUARES * SQUARES;
  __shared__ __align__(128) unsigned tile[TILE * TILE];
  __shared__ unsigned long long arrived;  // mbarrier of the copies into the tile

  const unsigned tid = threadIdx.x;
  const unsigned tiles_down = unsigned((height + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x % tiles_down) * TILE;
  const size_t left = size_t(blockIdx.x / tiles_down) * TILE;
  const unsigned rows = unsigned(min(height - top, size_t(TILE)));  // fewer at the edge
  const unsigned columns = unsigned(min(width - left, size_t(TILE)));
  const unsigned tile_at = unsigned(__cvta_generic_to_shared(tile));
  const unsigned arrived_at = unsigned(__cvta_generic_to_shared(&arrived));

  // load the tile: one bulk copy per row, or word by word where rows are not whole chunks
  if (width % 4 == 0) {
    if (tid == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(arrived_at) : "memory");
      asm volatile("fence.proxy.async.shared::cta;" : : : "memory");  // the TMA unit sees the new mbarrier
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                   :
                   : "r"(arrived_at), "r"(rows * columns * 4)
                   : "memory");
    }
    __syncthreads();
    if (tid < rows) {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   :
                   : "r"(tile_at + tid * TILE * 4), "l"(in + (top + tid) * width + left), "r"(columns * 4),
                     "r"(arrived_at)
                   : "memory");
    }
    // wait for all bytes of the tile
    unsigned done = 0;
    while (done == 0) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(arrived_at)
                   : "memory");
    }
  } else {
    for (unsigned i = tid; i < rows * TILE; i += THREADS) {
      if (i % TILE < columns) tile[i] = in[(top + i / TILE) * width + left + i % TILE];
    }
    __syncthreads();
  }

  // load one square per thread, on diagonals, and store it transposed
  const unsigned across = tid % SQUARES, down = tid / SQUARES ^ across;
  uint4 row[4];
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) row[r] = *reinterpret_cast<const uint4*>(&tile[(4 * down + r) * TILE + 4 * across]);
  __syncthreads();  // after all loads: the transposed tile overwrites the tile
  uint4* const turned = reinterpret_cast<uint4*>(&tile[4 * across * TILE + 4 * down]);
  turned[0] = make_uint4(row[0].x, row[1].x, row[2].x, row[3].x);
  turned[SQUARES] = make_uint4(row[0].y, row[1].y, row[2].y, row[3].y);
  turned[2 * SQUARES] = make_uint4(row[0].z, row[1].z, row[2].z, row[3].z);
  turned[3 * SQUARES] = make_uint4(row[0].w, row[1].w, row[2].w, row[3].w);
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");  // the TMA unit sees the thread's stores
  __syncthreads();

  // store the rows of the transposed tile: one bulk copy per row, or word by word
  if (height % 4 == 0) {
    if (tid < columns) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                   :
                   : "l"(out + (left + tid) * height + top), "r"(tile_at + tid * TILE * 4), "r"(rows * 4)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" : : : "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");  // shared memory must outlive the reads
    }
  } else {
    for (unsigned i = tid; i < columns * TILE; i += THREADS) {
      if (i % TILE < rows) out[(left + i / TILE) * height + top + i % TILE] = tile[i];
    }
  }
#else
  __trap();  // compiled for a GPU without TMA: stop instead of writing nothing
#endif
}
