// SPDX-License-Identifier: MIT-0
//
// All-reduce of several GPUs in one launch, through peer memory: single_pass.cuh on each GPU's share of the records,
// and then the last block sends the GPU's sum to all others and adds theirs. Sums uint4 records, component-wise, modulo
// 2^32. Every GPU ends with the sum over all of them.
//
//   link   A message is one 8-byte word: the launch number in its upper half, a component of the sum in its lower half.
//          One relaxed store of system scope writes both together, so no fence is needed. Each rank sends four words to
//          every rank and polls its own memory until all have arrived: one latency of the link, without a second launch
//          and without the latency of a library's all-reduce.
//   lanes  As in single_pass.cuh.
//   banks  As in single_pass.cuh: no conflict.
//
// A rank may be one launch ahead of another, but no more: it ends launch k + 1 only with the other's message k + 1. So
// two sets of mailboxes, used in turn, suffice.
//
// Needs: compute capability 7.0
// No OpenCL port: OpenCL devices cannot access each other's memory
// Not emulated: it waits for other GPUs
//
// Contract
//   launch  on every rank, as often as on the others; up to 65535 blocks of exactly BLOCK threads, one-dimensional.
//           They need not be resident together, because only the last one waits
//   in      n records of this rank, 16-byte aligned; not read when n is 0
//   out     one record: the sum over all ranks
//   state   MAILBOXES + 8 * ranks words of 8 bytes, 8-byte aligned, zero before the first launch, in memory that the
//           other ranks can write
//   states  the addresses of all ranks' `state`, by rank
//   n       any, including 0; may differ between ranks

namespace reduce_ranks_peers_detail {

constexpr unsigned BLOCK = 512;  // threads per block; a multiple of 32, at most 1024
constexpr unsigned LOADS = 8;    // 16-byte loads in flight per thread
constexpr unsigned WARP = 32;
constexpr unsigned WARPS = BLOCK / WARP;
constexpr unsigned COUNT = 48;     // lowest bit of the block count in a word of `state`
constexpr unsigned LAUNCHES = 4;   // index in `state` of the launch numbers, one per component
constexpr unsigned MAILBOXES = 8;  // index in `state` of the mailboxes: 2 sets x ranks x 4 components

using Word64 = unsigned long long;

static __device__ uint4 add(uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

// Sum over a warp, returned in every lane. All lanes must call it.
static __device__ unsigned warp_sum(unsigned word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFF, word);
#else
  for (unsigned bit = WARP / 2; bit > 0; bit /= 2) word += __shfl_xor_sync(0xFFFFFFFF, word, bit);
  return word;
#endif
}
static __device__ uint4 warp_sum(uint4 record) {
  return make_uint4(warp_sum(record.x), warp_sum(record.y), warp_sum(record.z), warp_sum(record.w));
}

// Relaxed accesses of system scope: other GPUs read and write these words meanwhile.
static __device__ void send(Word64* mailbox, Word64 message) {
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(mailbox), "l"(message) : "memory");
}
static __device__ Word64 received(const Word64* mailbox) {
  Word64 message;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(message) : "l"(mailbox) : "memory");
  return message;
}

}  // namespace reduce_ranks_peers_detail

// minBlocksPerMultiprocessor = 2, as in single_pass.cuh
__global__ void __launch_bounds__(reduce_ranks_peers_detail::BLOCK, 2)
    reduce_ranks_peers(const uint4* __restrict__ in, uint4* __restrict__ out, unsigned long long* state,
                       unsigned long long* const* states, size_t n, size_t rank, size_t ranks) {
  using namespace reduce_ranks_peers_detail;
  __shared__ uint4 part[WARPS];

  const unsigned tid = threadIdx.x;
  const size_t step = size_t(gridDim.x) * BLOCK;
  uint4 mine = make_uint4(0, 0, 0, 0);
  // grid-stride loop, coalesced; cache-streaming loads (__ldcs)
  for (size_t i = size_t(blockIdx.x) * BLOCK + tid; i < n; i += LOADS * step) {
    uint4 record[LOADS];
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) {  // all loads are issued before the first addition
      record[k] = i + k * step < n ? __ldcs(&in[i + k * step]) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned k = 0; k < LOADS; ++k) mine = add(mine, record[k]);
  }

  // warp sums by warp intrinsics; lane 0 of each warp stores one
  uint4 sum = warp_sum(mine);
  if (tid % WARP == 0) part[tid / WARP] = sum;
  __syncthreads();
  // the first warp adds the warps' sums
  if (tid < WARP) sum = warp_sum(tid < WARPS ? part[tid] : make_uint4(0, 0, 0, 0));
  if (tid >= 4) return;

  // one atomic per component adds and counts this block's sum
  const unsigned component = tid == 0 ? sum.x : tid == 1 ? sum.y : tid == 2 ? sum.z : sum.w;
  const Word64 before = atomicAdd(&state[tid], 1ULL << COUNT | component);
  if (before >> COUNT != gridDim.x - 1) return;

  // the last block has this rank's sum: send it to every rank
  atomicExch(&state[tid], 0);  // reset for the next launch
  const Word64 launch = ++state[LAUNCHES + tid];
  const size_t mailbox = MAILBOXES + launch % 2 * 4 * ranks + tid;
  for (size_t r = 0; r < ranks; ++r) {
    send(states[r] + mailbox + 4 * rank, launch << 32 | unsigned(unsigned(before) + component));
  }
  // wait for the others' sums, and add them
  unsigned all = 0;
  for (size_t r = 0; r < ranks; ++r) {
    Word64 message;
    do {
      message = received(state + mailbox + 4 * r);
    } while (message >> 32 != unsigned(launch));
    all += unsigned(message);
  }
  reinterpret_cast<unsigned*>(out)[tid] = all;
}
