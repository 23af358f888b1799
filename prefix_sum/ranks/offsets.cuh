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

#include "parts.hpp"

namespace scan_ranks_offsets_detail {

using namespace scan_ranks_detail;

constexpr unsigned BLOCK = 1024;          // threads per block; a multiple of 32
constexpr unsigned WARPS = BLOCK / WARP;  // at most 32: one warp-shuffle scan of their sums

}  // namespace scan_ranks_offsets_detail

__global__ void __launch_bounds__(scan_ranks_offsets_detail::BLOCK)
    scan_ranks_offsets(unsigned* __restrict__ sums, unsigned* __restrict__ total, size_t count) {
  using namespace scan_ranks_offsets_detail;
  const unsigned sum = scan_in_place<WARPS>(sums, count);
  if (threadIdx.x == 0) total[0] = sum;
}
