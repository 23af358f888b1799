// SPDX-License-Identifier: MIT-0
//
// What the kernels in this folder share: sums and scans of a warp, messages between GPUs, and TMA copies into a ring.
#pragma once

namespace scan_ranks_detail {

using Word64 = unsigned long long;

constexpr unsigned WARP = 32;         // lanes of a warp
constexpr unsigned ALL = 0xFFFFFFFF;  // mask of all lanes

// Sum over a warp, returned in every lane. All lanes must call it.
inline __device__ unsigned warp_sum(unsigned word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, word);
#else
  for (unsigned bit = WARP / 2; bit > 0; bit /= 2) word += __shfl_xor_sync(ALL, word, bit);
  return word;
#endif
}

// Inclusive prefix sum over a warp. All lanes must call it.
inline __device__ unsigned warp_scan(unsigned word) {
  for (unsigned step = 1; step < WARP; step *= 2) {
    const unsigned lower = __shfl_up_sync(ALL, word, step);
    if (threadIdx.x % WARP >= step) word += lower;
  }
  return word;
}

// By all WARPS warps of a block: the exclusive prefix sum of `count` words in place. Returns the sum of all.
template <unsigned WARPS>
__device__ unsigned scan_in_place(unsigned* __restrict__ sums, size_t count) {
  __shared__ unsigned part[2][WARPS];  // of two rounds, alternating

  const unsigned tid = threadIdx.x, lane = tid % WARP, warp = tid / WARP;
  unsigned before = 0;  // the sum of all earlier rounds
  for (size_t first = 0, round = 0; first < count; first += WARPS * WARP, round ^= 1) {
    const unsigned word = first + tid < count ? sums[first + tid] : 0;
    const unsigned up_to = warp_scan(word);
    if (lane == WARP - 1) part[round][warp] = up_to;
    __syncthreads();
    // every warp scans the warps' sums
    const unsigned warps_up_to = warp_scan(part[round][lane]);
    const unsigned of_lower_warps = __shfl_sync(ALL, warps_up_to, warp) - part[round][warp];
    if (first + tid < count) sums[first + tid] = before + of_lower_warps + up_to - word;
    before += __shfl_sync(ALL, warps_up_to, WARP - 1);
  }
  return before;
}

// The sums of a lane's rows of four words, each after those of the lower lanes and of the rows above, which begin with
// `rows_before`. Returns the sum up to the end of the last row.
template <unsigned ROWS>
__device__ unsigned scan_rows(const uint4 (&words)[ROWS], unsigned (&before)[ROWS], unsigned rows_before) {
  const unsigned lane = threadIdx.x % WARP;
  for (unsigned row = 0; row < ROWS; ++row) {
    const unsigned four = words[row].x + words[row].y + words[row].z + words[row].w;
    unsigned sum = four;
    for (unsigned step = 1; step < WARP; step *= 2) {
      const unsigned theirs = __shfl_up_sync(ALL, sum, step);
      if (lane >= step) sum += theirs;
    }
    before[row] = rows_before + sum - four;
    rows_before += __shfl_sync(ALL, sum, WARP - 1);
  }
  return rows_before;
}

// Stores the exclusive prefix sums of the four words at index i, of those below n, after `before`.
template <class Index>
__device__ void store(unsigned* out, Index i, size_t n, unsigned before, uint4 words) {
  const unsigned a = before, b = a + words.x, c = b + words.y, d = c + words.z;
  if (i + 3 < n) {
    __stcs(reinterpret_cast<uint4*>(out + i), make_uint4(a, b, c, d));  // cache-streaming: not read again
  } else {
    if (i < n) out[i] = a;
    if (i + 1 < n) out[i + 1] = b;
    if (i + 2 < n) out[i + 2] = c;
  }
}

#ifdef __CUDACC__
// A message between GPUs is one 8-byte word: the launch number in its upper half, a sum in its lower half. One relaxed
// store of system scope writes both together, so no fence is needed.
inline __device__ void send(Word64* word, Word64 message) {
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(word), "l"(message) : "memory");
}
inline __device__ Word64 received(const Word64* word) {
  Word64 message;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(message) : "l"(word) : "memory");
  return message;
}

// The sum in a word, as soon as this launch has written it.
inline __device__ unsigned wait_for(const Word64* word, unsigned launch) {
  Word64 message;
  do {
    message = received(word);
  } while (message >> 32 != launch);
  return unsigned(message);
}

// Inline PTX, as in ../ring.cuh, which explains these functions.
inline __device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
inline __device__ void prepare_phases(Word64* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}
inline __device__ void then_the_copy_engine() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// `words` is a multiple of 4.
inline __device__ void begin_copy(unsigned* to, const unsigned* from, unsigned words, Word64* barrier) {
  Word64 keep;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(words * 4)
               : "memory");
  if (words == 0) return;
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(words * 4), "r"(shared_address(barrier)), "l"(keep)
      : "memory");
}
inline __device__ void wait_for_copy(Word64* barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred ended; again:"
      " mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1; @!ended bra again; }" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
#endif

}  // namespace scan_ranks_detail
