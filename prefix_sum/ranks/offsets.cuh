// SPDX-License-Identifier: MIT-0
//
// Second launch of a prefix sum on several GPUs: the exclusive prefix sum of the chunks' sums in place, modulo 2^32,
// and their total, by one block. The ranks then exchange their totals.
//
//   lanes  Latency-bound: a few hundred words. Each thread adds up the words at tid, tid + BLOCK, ... one round after
//          another; a round is a warp-shuffle scan.
//   banks  Lane 31 of each warp stores a sum, and all warps load them in one access: no conflict.
//
// Contract
//   launch  one block of exactly BLOCK threads
//   sums    `count` words, replaced by their exclusive prefix sums
//   total   one word: the sum of all
//   count   any

namespace scan_ranks_offsets_detail {

constexpr unsigned BLOCK = 1024;  // threads per block; a multiple of 32
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;  // at most 32: one warp-shuffle scan of their sums

// Inclusive prefix sum over a warp. All lanes must call it.
static __device__ unsigned warp_scan(unsigned word) {
  for (unsigned step = 1; step < WARP; step *= 2) {
    const unsigned lower = __shfl_up_sync(0xFFFFFFFF, word, step);
    if (threadIdx.x % WARP >= step) word += lower;
  }
  return word;
}

}  // namespace scan_ranks_offsets_detail

__global__ void __launch_bounds__(scan_ranks_offsets_detail::BLOCK)
    scan_ranks_offsets(unsigned* __restrict__ sums, unsigned* __restrict__ total, size_t count) {
  using namespace scan_ranks_offsets_detail;
  __shared__ unsigned part[2][WARPS];  // of two rounds, alternating

  const unsigned tid = threadIdx.x, lane = tid % WARP, warp = tid / WARP;
  unsigned before = 0;  // the sum of all earlier rounds
  for (size_t first = 0, round = 0; first < count; first += BLOCK, round ^= 1) {
    const unsigned word = first + tid < count ? sums[first + tid] : 0;
    const unsigned up_to = warp_scan(word);
    if (lane == WARP - 1) part[round][warp] = up_to;
    __syncthreads();
    // every warp scans the warps' sums
    const unsigned warps_up_to = warp_scan(part[round][lane]);
    const unsigned of_lower_warps = __shfl_sync(0xFFFFFFFF, warps_up_to, warp) - part[round][warp];
    if (first + tid < count) sums[first + tid] = before + of_lower_warps + up_to - word;
    before += __shfl_sync(0xFFFFFFFF, warps_up_to, WARP - 1);
  }
  if (tid == 0) total[0] = before;
}
