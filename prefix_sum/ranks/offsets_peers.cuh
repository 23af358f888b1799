// SPDX-License-Identifier: MIT-0
//
// Second launch of a prefix sum on several GPUs, with the exchange inside, through peer memory: offsets.cuh, whose
// block then sends this rank's total to all others and waits for theirs. No library's latency, and no launch in
// between.
//
//   link   Messages as in parts.hpp. Thread r sends to rank r and waits for the message of rank r, so all messages are
//          in flight together.
//   lanes  As in offsets.cuh.
//   banks  As in offsets.cuh: no conflict.
//
// A rank may be one launch ahead of another, but no more: it ends launch k + 1 only with the other's message k + 1. So
// two sets of mailboxes, used in turn, suffice.
//
// Needs: compute capability 7.0
// No OpenCL port: OpenCL devices cannot access each other's memory
// Not emulated: it waits for other GPUs
//
// Contract
//   launch  one block of exactly BLOCK threads, on every rank, as often as on the others
//   sums    `count` words, replaced by their exclusive prefix sums
//   totals  one word per rank: the sum of all its words
//   state   MAILBOXES + 2 * ranks words of 8 bytes, 8-byte aligned, zero before the first launch, in memory that the
//           other ranks can write
//   states  the addresses of all ranks' `state`, by rank
//   count   any

#include "parts.hpp"

namespace scan_ranks_offsets_peers_detail {

using namespace scan_ranks_detail;

constexpr unsigned BLOCK = 1024;          // threads per block; a multiple of 32
constexpr unsigned WARPS = BLOCK / WARP;  // at most 32: one warp-shuffle scan of their sums

constexpr unsigned MAILBOXES = 1;  // index in `state` of the mailboxes: 2 sets x ranks; word 0: launches

}  // namespace scan_ranks_offsets_peers_detail

__global__ void __launch_bounds__(scan_ranks_offsets_peers_detail::BLOCK)
    scan_ranks_offsets_peers(unsigned* __restrict__ sums, unsigned* __restrict__ totals, unsigned long long* state,
                             unsigned long long* const* states, size_t count, size_t rank, size_t ranks) {
  using namespace scan_ranks_offsets_peers_detail;
  const unsigned sum = scan_in_place<WARPS>(sums, count);

  // send the total to every rank, and wait for theirs
  const Word64 launch = state[0] + 1;
  __syncthreads();  // all threads have read the launch number
  if (threadIdx.x == 0) state[0] = launch;
  const size_t mailbox = MAILBOXES + launch % 2 * ranks;
  for (size_t r = threadIdx.x; r < ranks; r += BLOCK) send(states[r] + mailbox + rank, launch << 32 | sum);
  for (size_t r = threadIdx.x; r < ranks; r += BLOCK) totals[r] = wait_for(state + mailbox + r, unsigned(launch));
}
