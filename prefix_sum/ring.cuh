// SPDX-License-Identifier: MIT-0
//
// Exclusive prefix sum of n words, modulo 2^32, in one launch: look_back.cuh with blocks that stay, two on each
// multiprocessor, and whose memory never rests. Shared memory is a ring of three tiles. While the block works on one of
// them, the copy engine (TMA) fills the others; no lane waits for a load, and no register holds one.
//
// Needs: compute capability 9.0
// No OpenCL port: OpenCL has neither the copy engine nor more than 48 KiB of local memory here
// Not emulated: the copy engine and its barriers are inline PTX
//
//   lanes  A tile's sum is published one tile ahead of the scan: those who look back seldom have to wait. The first
//          warp looks back while the others scan, and no further than to the block's own last tile, whose end it knows.
//   banks  A quarter of a warp reads 32 neighbouring words at once, 16 bytes a lane: no conflict. Each word of the ring
//          is read twice, for the sum and for the scan, which costs less than registers to keep it in.
//
// Why it ends, why it is right, and why nothing has to be cleared: as in look_back.cuh. A block takes tickets for three
// tiles, and finishes them in their order. So the first unfinished tile of all is what its block works on, and it waits
// for none.
//
// Contract
//   launch  from 1 to max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional; as many as run at once,
//           two for each multiprocessor, are best. 4 * STAGES * TILE bytes of dynamic shared memory,
//           which the kernel has to be allowed first: cudaFuncAttributeMaxDynamicSharedMemorySize
//   in      n words, from a multiple of 16 bytes on (else the copy engine stops the program); not read when n is 0
//   out     n words, from a multiple of 16 bytes on: out[i] = sum of in[0 .. i), modulo 2^32. No part of `in`
//   state   8 * (TICKETS + ceil(n / TILE)) bytes, 8-byte aligned, zero before the first launch, and then left alone:
//           for launches one after the other, of any n that it is large enough for. To be zeroed again after a launch
//           that was aborted, and before launch 2^30, when the numbers begin anew (the upper half of the first word
//           counts)
//   n       any, including 0; at most (2^31 - 1) * TILE

namespace scan_ring_detail {

constexpr unsigned BLOCK = 512;                // threads per block; a multiple of 32
constexpr unsigned WARP = 32;                  // lanes of a warp
constexpr unsigned WARPS = BLOCK / WARP;       // at most 32, as one warp adds up their sums
constexpr unsigned ROWS = 4;                   // times four words of each lane
constexpr unsigned ROW = 4 * WARP;             // words of a warp in a row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words that a block takes at once
constexpr unsigned STAGES = 3;                 // tiles in the ring: one at work, one summed up, one on its way
static_assert(2 * (STAGES * TILE * 4 + 2048) <= 228 * 1024, "two rings and a little more fit into shared memory");

using Word64 = unsigned long long;

#if __CUDA_ARCH__ >= 900
constexpr unsigned ALL = 0xFFFFFFFF;  // lanes
constexpr unsigned TICKETS = 32;      // words of `state` that the counter has to itself
constexpr unsigned MAX_POLLS = 1024;  // of a tile's word before its sum is computed here

// What a tile's word says, in its upper half, of the number in the lower: 4 * launch + one of these.
constexpr unsigned TILE_ALONE = 1;  // the tile's words
constexpr unsigned UP_TO_END = 2;   // all words up to the tile's end

static __device__ Word64 status(unsigned launch, unsigned what, unsigned sum) {
  return static_cast<Word64>(launch << 2 | what) << 32 | sum;
}

// Both are relaxed atomics of device scope.
static __device__ void publish(Word64* word, Word64 value) {
  atomicExch(word, value);
}

// Past the L1 cache. nvcc has a built-in for it since 12.8, __nv_atomic_load_n(); this is for older ones, too.
static __device__ Word64 published(Word64* word) {
#ifdef __CUDACC__
  Word64 value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
  return value;
#else
  return atomicAdd(word, 0ULL);
#endif
}

// CUDA C++ has no intrinsics for the following. A barrier counts arrivals and bytes; each time that all are there, its
// phase ends, and the next begins.

static __device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// One arrival a phase. By one thread; the block may use it after a barrier of its own.
static __device__ void prepare_phases(Word64* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

// What threads have done to shared memory up to here comes before what the copy engine does to it from here on.
static __device__ void then_the_copy_engine() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// A tile on its way into the ring. The phase ends when all bytes are there. What is read is to stay in the L2 cache
// longer than anything else; then the results leave it instead.
static __device__ void begin_copy(unsigned* to, const unsigned* from, Word64* barrier) {
  Word64 keep;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(TILE * 4)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(TILE * 4), "r"(shared_address(barrier)), "l"(keep)
      : "memory");
}

// Waits for the end of a phase, even or odd. Then the copied words are there, for the thread that has waited.
static __device__ void wait_for_copy(Word64* barrier, unsigned parity) {
  asm volatile(
      "{\n"
      "  .reg .pred ended;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
      "  @!ended bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// The sum of a tile that is not the last, from the input. By a warp.
static __device__ unsigned sum_of_tile(const unsigned* in, unsigned tile) {
  const uint4* words = reinterpret_cast<const uint4*>(in + size_t(tile) * TILE) + threadIdx.x % WARP;
  unsigned sum = 0;
#pragma unroll 1  // seldom needed
  for (unsigned row = 0; row < WARPS * ROWS; ++row, words += WARP) sum += words->x + words->y + words->z + words->w;
  return __reduce_add_sync(ALL, sum);
}

// The sum of all tiles before one, given that of all before `known`. By a warp: lane k looks at the k-th tile back.
static __device__ unsigned sum_before(const unsigned* in, Word64* statuses, unsigned tile, unsigned launch,
                                      unsigned known, unsigned before_known) {
  const unsigned lane = threadIdx.x % WARP;
  const unsigned far = tile - known;  // tiles to gather, if none of them knows better
  unsigned sum = 0;
  for (unsigned back = 1 + lane;; back += WARP) {
    Word64* const word = &statuses[tile - (back <= far ? back : 0)];
    Word64 seen = back <= far ? published(word) : status(launch, UP_TO_END, before_known);
    for (unsigned polls = 1;; ++polls) {
      const unsigned what = unsigned(seen >> 32) - (launch << 2);
      const unsigned final = __ballot_sync(ALL, what == UP_TO_END);
      const unsigned open = __ballot_sync(ALL, what != UP_TO_END && what != TILE_ALONE);
      const unsigned wanted = final != 0 ? final ^ (final - 1) : ALL;  // as far as the nearest that is final
      if ((open & wanted) == 0) {
        sum += __reduce_add_sync(ALL, wanted >> lane & 1 ? unsigned(seen) : 0);
        if (final != 0) return sum;
        break;
      }
      if (polls < MAX_POLLS) {
        if ((open & wanted) >> lane & 1) seen = published(word);
      } else {
        const unsigned helped = __ffs(int(open & wanted)) - 1;  // the lane whose tile is added up for it
        const unsigned distance = __shfl_sync(ALL, back, helped);
        const Word64 found = status(launch, TILE_ALONE, sum_of_tile(in, tile - distance));
        if (lane == helped) {
          // For those who come after. If the tile has published something meanwhile, that stays.
          atomicCAS(word, seen, found);
          seen = found;
        }
      }
    }
  }
}
#endif

}  // namespace scan_ring_detail

__global__ void __launch_bounds__(scan_ring_detail::BLOCK, 2)
    scan_ring(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned long long* state, size_t n) {
#if __CUDA_ARCH__ >= 900
  using namespace scan_ring_detail;
  extern __shared__ __align__(128) unsigned ring[];
  __shared__ Word64 full[STAGES];  // barriers: the stage's tile is there
  __shared__ unsigned tile_in[STAGES], launch_number;
  __shared__ unsigned warp_total[2][WARPS];  // of two tiles in turn
  __shared__ unsigned tiles_before[2];

  const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned mine = warp * (ROWS * ROW) + 4 * lane;  // this lane's first word of a tile
  const unsigned tiles = unsigned((n + TILE - 1) / TILE);
  Word64* const statuses = state + TICKETS;

  // A ticket for a stage, and its tile on the way. The last tile, if it is not whole, is read without the ring. By
  // thread 0.
  const auto refill = [&](unsigned stage) {
    const Word64 ticket = atomicAdd(state, 1ULL);
    const unsigned tile = unsigned(ticket);
    tile_in[stage] = tile;
    launch_number = unsigned(ticket >> 32);
    // Each block takes STAGES tickets in vain. After the last: the next launch has the next number.
    if (tile == tiles + gridDim.x * STAGES - 1) publish(state, ((ticket >> 32) + 1) << 32);
    if (n / TILE > tile) begin_copy(ring + stage * TILE, in + size_t(tile) * TILE, &full[stage]);
  };
  // Four words of this lane, of the k-th tile that this block has taken.
  const auto words_of = [&](unsigned k, unsigned tile, bool whole, unsigned row) {
    const unsigned i = mine + row * ROW;
    if (whole) return *reinterpret_cast<const uint4*>(ring + k % STAGES * TILE + i);
    const size_t first = size_t(tile) * TILE + i;
    return make_uint4(first < n ? in[first] : 0, first + 1 < n ? in[first + 1] : 0, first + 2 < n ? in[first + 2] : 0,
                      first + 3 < n ? in[first + 3] : 0);
  };
  if (threadIdx.x == 0) {
    for (unsigned stage = 0; stage < STAGES; ++stage) prepare_phases(&full[stage]);
    then_the_copy_engine();
    for (unsigned stage = 0; stage < STAGES; ++stage) refill(stage);
  }
  __syncthreads();
  const unsigned launch = launch_number;

  // Waits for the k-th tile, if there is one, and publishes its sum.
  const auto sum_up = [&](unsigned k) {
    const unsigned tile = tile_in[k % STAGES];
    if (tile >= tiles) return;  // so says every lane
    const bool whole = n / TILE > tile;
    if (whole) wait_for_copy(&full[k % STAGES], k / STAGES % 2);
    unsigned sum = 0;
    for (unsigned row = 0; row < ROWS; ++row) {
      const uint4 words = words_of(k, tile, whole, row);
      sum += words.x + words.y + words.z + words.w;
    }
    sum = __reduce_add_sync(ALL, sum);
    if (lane == 0) warp_total[k % 2][warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    const unsigned total = __reduce_add_sync(ALL, lane < WARPS ? warp_total[k % 2][lane] : 0);
    if (lane == 0) publish(&statuses[tile], status(launch, tile == 0 ? UP_TO_END : TILE_ALONE, total));
  };

  unsigned known = 0, before_known = 0;  // before the first tile stands nothing
  sum_up(0);
  for (unsigned k = 0;; ++k) {
    const unsigned tile = tile_in[k % STAGES];
    if (tile >= tiles) break;  // so says every lane
    sum_up(k + 1);

    const unsigned other = lane < WARPS ? warp_total[k % 2][lane] : 0;
    if (warp == 0) {
      const unsigned before_tile = sum_before(in, statuses, tile, launch, known, before_known);
      known = tile + 1;
      before_known = before_tile + __reduce_add_sync(ALL, other);
      if (lane == 0) {
        if (tile > 0) publish(&statuses[tile], status(launch, UP_TO_END, before_known));
        tiles_before[k % 2] = before_tile;
      }
    }
    uint4 words[ROWS];
    unsigned before[ROWS];
    for (unsigned row = 0; row < ROWS; ++row) words[row] = words_of(k, tile, n / TILE > tile, row);
    unsigned rows_before = __reduce_add_sync(ALL, lane < warp ? other : 0);
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
    __syncthreads();  // the stage has been read, and what stands before the tile is known
    if (threadIdx.x == 0) {
      then_the_copy_engine();
      refill(k % STAGES);
    }

    const unsigned offset = tiles_before[k % 2];
    for (unsigned row = 0; row < ROWS; ++row) {
      const size_t i = size_t(tile) * TILE + mine + row * ROW;
      const unsigned a = offset + before[row], b = a + words[row].x, c = b + words[row].y, d = c + words[row].z;
      if (i + 3 < n) {
        __stcs(reinterpret_cast<uint4*>(out + i), make_uint4(a, b, c, d));  // nobody reads it again here
      } else {
        if (i < n) out[i] = a;
        if (i + 1 < n) out[i + 1] = b;
        if (i + 2 < n) out[i + 2] = c;
      }
    }
  }
#else
  __trap();  // compiled for a GPU that has no copy engine: stop, rather than write nothing
#endif
}
