// SPDX-License-Identifier: MIT-0
//
// Second launch of a prefix sum on several GPUs, with the exchange inside, through peer memory: offsets.cuh, whose
// block then sends this rank's total to all others and waits for theirs. No library's latency, and no launch in
// between.
//
//   link   A message is one 8-byte word: the launch number in its upper half, the total in its lower half. One relaxed
//          store of system scope writes both together, so no fence is needed. Thread r sends to rank r and waits for
//          the message of rank r, so all messages are in flight together.
//   lanes  As in offsets.cuh.
//   banks  As in offsets.cuh: no conflict.
//
// A rank may be one launch ahead of another, but no more: it ends launch k + 1 only with the other's message k + 1. So
// two sets of mailboxes, used in turn, suffice.
//
// Needs: compute capability 7.0
// Not emulated: it waits for other GPUs
// No OpenCL port: OpenCL devices cannot access each other's memory
//
// Contract
//   launch  one block of exactly BLOCK threads, on every rank, as often as on the others
//   sums    `count` words, replaced by their exclusive prefix sums
//   totals  one word per rank: the sum of all its words
//   state   MAILBOXES + 2 * ranks words of 8 bytes, 8-byte aligned, zero before the first launch, in memory that the
//           other ranks can write
//   states  the addresses of all ranks' `state`, by rank
//   count   any

namespace scan_ranks_offsets_peers_detail {

constexpr unsigned BLOCK = 1024;  // threads per block; a multiple of 32
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;  // at most 32: one warp-shuffle scan of their sums

constexpr unsigned MAILBOXES = 1;  // index in `state` of the mailboxes: 2 sets x ranks; word 0: launches

using Word64 = unsigned long long;

// Relaxed accesses of system scope: other GPUs read and write these words meanwhile.
static __device__ void send(Word64* mailbox, Word64 message) {
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(mailbox), "l"(message) : "memory");
}
static __device__ Word64 received(const Word64* mailbox) {
  Word64 message;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(message) : "l"(mailbox) : "memory");
  return message;
}

// Inclusive prefix sum over a warp. All lanes must call it.
static __device__ unsigned warp_scan(unsigned word) {
  for (unsigned step = 1; step < WARP; step *= 2) {
    const unsigned lower = __shfl_up_sync(0xFFFFFFFF, word, step);
    if (threadIdx.x % WARP >= step) word += lower;
  }
  return word;
}

}  // namespace scan_ranks_offsets_peers_detail

__global__ void __launch_bounds__(scan_ranks_offsets_peers_detail::BLOCK)
    scan_ranks_offsets_peers(unsigned* __restrict__ sums, unsigned* __restrict__ totals, unsigned long long* state,
                             unsigned long long* const* states, size_t count, size_t rank, size_t ranks) {
  using namespace scan_ranks_offsets_peers_detail;
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

  // send the total to every rank, and wait for theirs
  const Word64 launch = state[0] + 1;
  __syncthreads();  // all threads have read the launch number
  if (tid == 0) state[0] = launch;
  const size_t mailbox = MAILBOXES + launch % 2 * ranks;
  for (size_t r = tid; r < ranks; r += BLOCK) send(states[r] + mailbox + rank, launch << 32 | before);
  for (size_t r = tid; r < ranks; r += BLOCK) {
    Word64 message;
    do {
      message = received(state + mailbox + r);
    } while (message >> 32 != unsigned(launch));
    totals[r] = unsigned(message);
  }
}
