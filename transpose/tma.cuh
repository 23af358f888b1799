// SPDX-License-Identifier: MIT-0
//
// output_order.cuh with the copying left to Hopper's engine for bulk copies: it brings the rows of a tile, 256 bytes
// each, into shared memory and takes the turned ones away. That costs the threads neither addresses nor registers.
//
//   lanes  Each takes a square of 4 x 4 words: reads four chunks of four words, one below the other, turns them in
//          registers, and writes four chunks. All busy, edge or not.
//   banks  Rows lie as in memory, so no word can move to another bank; but any thread may take any square. Eight lanes
//          side by side would read eight chunks of a row, all 32 banks, and write eight of a column: 8-way conflicts.
//          On a diagonal, square (d ^ x, x), their chunks are in eight columns on either side: no conflict.
//
// Contract
//   launch  ceil(height / TILE) * ceil(width / TILE) blocks of THREADS threads, column after column of tiles
//   in      height x width words, row after row; 16-byte aligned
//   out     width x height words, row after row: out[x][y] = in[y][x]; 16-byte aligned; must not overlap `in`
//   height, width  any; no blocks at all where one of them is 0. Rows that are not whole chunks are copied by the
//           threads
// Needs: compute capability 9.0
// Not emulated: bulk copies and their barriers are PTX
// No OpenCL port: OpenCL C has no bulk copies

__global__ void __launch_bounds__(256)
    transpose_tma(const unsigned* __restrict__ in, unsigned* __restrict__ out, size_t height, size_t width) {
#if __CUDA_ARCH__ >= 900
  constexpr unsigned TILE = 64;           // words along each side of a tile
  constexpr unsigned SQUARES = TILE / 4;  // along each side, a chunk wide
  constexpr unsigned THREADS = SQUARES * SQUARES;
  __shared__ __align__(128) unsigned tile[TILE * TILE];
  __shared__ unsigned long long arrived;  // the barrier of the copies into the tile

  const unsigned tid = threadIdx.x;
  const unsigned tiles_down = unsigned((height + TILE - 1) / TILE);
  const size_t top = size_t(blockIdx.x % tiles_down) * TILE;
  const size_t left = size_t(blockIdx.x / tiles_down) * TILE;
  const unsigned rows = unsigned(min(height - top, size_t(TILE)));  // fewer at the edge
  const unsigned columns = unsigned(min(width - left, size_t(TILE)));
  const unsigned tile_at = unsigned(__cvta_generic_to_shared(tile));
  const unsigned arrived_at = unsigned(__cvta_generic_to_shared(&arrived));

  if (width % 4 == 0) {
    if (tid == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(arrived_at) : "memory");
      asm volatile("fence.proxy.async.shared::cta;" : : : "memory");  // the engine sees the barrier made
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

  const unsigned across = tid % SQUARES, down = tid / SQUARES ^ across;
  uint4 row[4];
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) row[r] = *reinterpret_cast<const uint4*>(&tile[(4 * down + r) * TILE + 4 * across]);
  __syncthreads();  // all is read, and the turned tile takes its place
  uint4* const turned = reinterpret_cast<uint4*>(&tile[4 * across * TILE + 4 * down]);
  turned[0] = make_uint4(row[0].x, row[1].x, row[2].x, row[3].x);
  turned[SQUARES] = make_uint4(row[0].y, row[1].y, row[2].y, row[3].y);
  turned[2 * SQUARES] = make_uint4(row[0].z, row[1].z, row[2].z, row[3].z);
  turned[3 * SQUARES] = make_uint4(row[0].w, row[1].w, row[2].w, row[3].w);
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");  // the engine sees what the thread has written
  __syncthreads();

  if (height % 4 == 0) {
    if (tid < columns) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                   :
                   : "l"(out + (left + tid) * height + top), "r"(tile_at + tid * TILE * 4), "r"(rows * 4)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" : : : "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");  // shared memory ends with the block
    }
  } else {
    for (unsigned i = tid; i < columns * TILE; i += THREADS) {
      if (i % TILE < rows) out[(left + i / TILE) * height + top + i % TILE] = tile[i];
    }
  }
#else
  __trap();  // compiled for a GPU that has no copy engine: stop, rather than write nothing
#endif
}
