// SPDX-License-Identifier: MIT-0
//
// Single-pass scan with persistent blocks and TMA loads into a ring of tiles in shared memory: the exclusive prefix sum
// of n words, modulo 2^32, in one launch. TMA bulk copies (cp.async.bulk) fill the ring asynchronously while the block
// works on one of its tiles. No thread waits for a global load, and no register holds a word in flight.
//
// Changed against look_back.cuh: two resident blocks per multiprocessor take tile after tile, each with a ring of three
// tiles.
//
//   lanes  A block publishes a tile's aggregate one tile ahead of the scan, so other blocks rarely wait for it in their
//          look-back. The first warp looks back while the other warps scan. It stops at the block's own previous tile,
//          whose inclusive prefix the block knows.
//   banks  A quarter of a warp loads 32 consecutive words per pass (NVIDIA: wavefront), 16 bytes per lane, without a
//          conflict. Each word of the ring is loaded twice, for the sum and for the scan, which costs less than keeping
//          it in a register. Of the stores of sums an H200 counts one conflict per block.
//
// Forward progress, memory ordering and launch numbers are as in look_back.cuh. A block takes tickets for three tiles
// and finishes them in order. The unfinished tile with the lowest number is therefore always one that a block is
// working on, and that block waits for no other tile.
//
// Needs: compute capability 9.0
// No OpenCL port: OpenCL has no TMA, and NVIDIA's OpenCL offers only 48 KiB of local memory
// Not emulated: TMA and mbarrier instructions are inline PTX
//
// Contract
//   launch  from 1 to max(1, ceil(n / TILE)) blocks of exactly BLOCK threads, one-dimensional; ideally as many as are
//           resident: two per multiprocessor. 4 * STAGES * TILE bytes of dynamic shared memory, which must be allowed
//           first: cudaFuncAttributeMaxDynamicSharedMemorySize
//   in      n words, 16-byte aligned (otherwise the bulk copy faults); not read when n is 0
//   out     n words, 16-byte aligned: out[i] = sum of the lower ranks' words and of in[0 .. i), modulo 2^32. Must not
//           overlap `in`
//   state   8 * (TICKETS + ceil(n / TILE)) bytes, 8-byte aligned. Zero it before the first launch and leave it
//           unchanged between launches. It then serves any n that it is large enough for, in launches that run one
//           after another. Zero it again after an aborted launch, and before launch 2^30, when the launch numbers wrap
//           around (they are in the upper half of the first word)
//   totals  on several GPUs one word for each rank: the sum of its words. `rank` of them are read: null for rank 0
//   n       any, including 0; at most (2^31 - 1) * TILE
//   rank    of this GPU; 0 on a single one. The scan begins with the sum of all words of the lower ranks

namespace scan_ring_detail {

constexpr unsigned BLOCK = 512;                // threads per block; a multiple of 32
constexpr unsigned WARP = 32;                  // lanes of a warp
constexpr unsigned WARPS = BLOCK / WARP;       // at most 32, because one warp adds up their sums
constexpr unsigned ROWS = 4;                   // 16-byte loads per lane
constexpr unsigned ROW = 4 * WARP;             // words per warp and row
constexpr unsigned TILE = WARPS * ROWS * ROW;  // words per tile
constexpr unsigned STAGES = 3;                 // tiles in the ring: one being scanned, one summed up, one in flight
constexpr unsigned TICKETS = 32;               // words of `state` reserved for the ticket counter
static_assert(2 * (STAGES * TILE * 4 + 2048) <= 228 * 1024, "two rings and a little more fit into shared memory");

using Word64 = unsigned long long;

#if __CUDA_ARCH__ >= 900
constexpr unsigned ALL = 0xFFFFFFFF;  // mask of all lanes
constexpr unsigned MAX_POLLS = 1024;  // polls of a tile's word before this block computes its sum

// A tile's word holds a sum in its lower half, and 4 * launch + one of these in its upper half.
constexpr unsigned TILE_ALONE = 1;  // the sum is that of the tile: its aggregate
constexpr unsigned UP_TO_END = 2;   // the sum is that of all words up to the tile's end: its inclusive prefix

static __device__ Word64 status(unsigned launch, unsigned what, unsigned sum) {
  return static_cast<Word64>(launch << 2 | what) << 32 | sum;
}

// publish() and published() are relaxed atomics of device scope.
static __device__ void publish(Word64* word, Word64 value) { atomicExch(word, value); }

// Bypasses the L1 cache. nvcc 12.8 added the built-in __nv_atomic_load_n() for this; inline PTX also suits older ones.
static __device__ Word64 published(Word64* word) {
#ifdef __CUDACC__
  Word64 value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
  return value;
#else
  return atomicAdd(word, 0ULL);
#endif
}

// CUDA C++ has no intrinsics for the following, hence inline PTX. An mbarrier counts arrivals and bytes. When all that
// it expects have arrived, its phase ends and the next phase begins.

static __device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Initializes an mbarrier with one arrival per phase. One thread calls it; the others may use the mbarrier after a
// __syncthreads().
static __device__ void prepare_phases(Word64* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

// Proxy fence: orders earlier accesses of threads to shared memory before later accesses of TMA to it.
static __device__ void then_the_copy_engine() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Starts the bulk copy of a tile into the ring. The mbarrier's phase ends when all bytes have arrived. The policy
// evict_last keeps the input in the L2 cache longest, so the L2 evicts the results first.
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

// Waits for the end of the phase with this parity. The thread that has waited may then read the copied words.
static __device__ void wait_for_copy(Word64* barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred ended; again:"
      " mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1; @!ended bra again; }" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// The sum of a tile other than the last, computed from the input. All lanes of the warp must call.
static __device__ unsigned sum_of_tile(const unsigned* in, unsigned tile) {
  const uint4* words = reinterpret_cast<const uint4*>(in + size_t(tile) * TILE) + threadIdx.x % WARP;
  unsigned sum = 0;
#pragma unroll 1  // rarely executed
  for (unsigned row = 0; row < WARPS * ROWS; ++row, words += WARP) sum += words->x + words->y + words->z + words->w;
  return __reduce_add_sync(ALL, sum);
}

// Decoupled look-back: the sum of all tiles before `tile`, given `before_known`, the sum of all tiles before `known`.
// All lanes of the warp must call. Lane k first polls tile number `tile` - k - 1, then every 32nd tile before that one.
static __device__ unsigned sum_before(const unsigned* in, Word64* statuses, unsigned tile, unsigned launch,
                                      unsigned known, unsigned before_known) {
  const unsigned lane = threadIdx.x % WARP;
  const unsigned far = tile - known;  // tiles to add up, unless one of them has an inclusive prefix
  unsigned sum = 0;
  for (unsigned back = 1 + lane;; back += WARP) {
    // poll one tile per lane; the sum before tile `known` is final
    Word64* const word = &statuses[tile - (back <= far ? back : 0)];
    Word64 seen = back <= far ? published(word) : status(launch, UP_TO_END, before_known);
    for (unsigned polls = 1;; ++polls) {
      const unsigned what = unsigned(seen >> 32) - (launch << 2);
      const unsigned final = __ballot_sync(ALL, what == UP_TO_END);
      const unsigned open = __ballot_sync(ALL, what != UP_TO_END && what != TILE_ALONE);
      const unsigned wanted = final != 0 ? final ^ (final - 1) : ALL;  // lanes up to the nearest inclusive prefix
      // all of these have published: add them up
      if ((open & wanted) == 0) {
        sum += __reduce_add_sync(ALL, wanted >> lane & 1 ? unsigned(seen) : 0);
        if (final != 0) return sum;
        break;
      }
      // otherwise poll again, or fall back
      if (polls < MAX_POLLS) {
        if ((open & wanted) >> lane & 1) seen = published(word);
      } else {
        const unsigned helped = __ffs(int(open & wanted)) - 1;  // lane of the nearest tile without a sum
        const unsigned distance = __shfl_sync(ALL, back, helped);
        const Word64 found = status(launch, TILE_ALONE, sum_of_tile(in, tile - distance));
        if (lane == helped) {
          // publish the sum for later tiles, unless the tile itself has published meanwhile
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
    scan_ring(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned long long* state,
              const unsigned* __restrict__ totals, size_t n, size_t rank) {
#if __CUDA_ARCH__ >= 900
  using namespace scan_ring_detail;
  extern __shared__ __align__(128) unsigned ring[];
  __shared__ Word64 full[STAGES];  // mbarriers: the stage's tile has arrived
  __shared__ unsigned tile_in[STAGES], launch_number;
  __shared__ unsigned warp_total[2][WARPS];  // of two tiles, alternating
  __shared__ unsigned tiles_before[2];

  const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned mine = warp * (ROWS * ROW) + 4 * lane;  // the lane's first word in a tile
  const unsigned tiles = unsigned((n + TILE - 1) / TILE);
  Word64* const statuses = state + TICKETS;

  // Takes a ticket for a stage and starts the copy of its tile. A last tile that is not full is read directly, without
  // the ring. Thread 0 calls it.
  const auto refill = [&](unsigned stage) {
    const Word64 ticket = atomicAdd(state, 1ULL);
    const unsigned tile = unsigned(ticket);
    tile_in[stage] = tile;
    launch_number = unsigned(ticket >> 32);
    // each block takes STAGES tickets past the last tile; the last ticket of all increments the launch number
    if (tile == tiles + gridDim.x * STAGES - 1) publish(state, ((ticket >> 32) + 1) << 32);
    if (n / TILE > tile) begin_copy(ring + stage * TILE, in + size_t(tile) * TILE, &full[stage]);
  };
  // Loads four words of this lane, of the block's k-th tile; zero past the end.
  const auto words_of = [&](unsigned k, unsigned tile, bool whole, unsigned row) {
    const unsigned i = mine + row * ROW;
    if (whole) return *reinterpret_cast<const uint4*>(ring + k % STAGES * TILE + i);
    const size_t first = size_t(tile) * TILE + i;
    return make_uint4(first < n ? in[first] : 0, first + 1 < n ? in[first + 1] : 0, first + 2 < n ? in[first + 2] : 0,
                      first + 3 < n ? in[first + 3] : 0);
  };

  // the sum of all words of the lower ranks
  unsigned lower_ranks = 0;
  for (size_t r = lane; r < rank; r += WARP) lower_ranks += totals[r];
  lower_ranks = __reduce_add_sync(ALL, lower_ranks);

  // claim three tiles and start their copies
  if (threadIdx.x == 0) {
    for (unsigned stage = 0; stage < STAGES; ++stage) prepare_phases(&full[stage]);
    then_the_copy_engine();
    for (unsigned stage = 0; stage < STAGES; ++stage) refill(stage);
  }
  __syncthreads();
  const unsigned launch = launch_number;

  // Waits for the block's k-th tile, if there is one, adds up its words, and publishes its aggregate.
  const auto sum_up = [&](unsigned k) {
    const unsigned tile = tile_in[k % STAGES];
    if (tile >= tiles) return;  // the same for all threads
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
    const Word64 first = status(launch, UP_TO_END, lower_ranks + total);
    if (lane == 0) publish(&statuses[tile], tile == 0 ? first : status(launch, TILE_ALONE, total));
  };

  unsigned known = 0, before_known = lower_ranks;  // the prefix before tile 0
  sum_up(0);
  for (unsigned k = 0;; ++k) {
    const unsigned tile = tile_in[k % STAGES];
    if (tile >= tiles) break;  // the same for all threads
    // publish the next tile's aggregate
    sum_up(k + 1);

    // look back, then publish the inclusive prefix
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

    // scan the rows by shuffles, as in warp_scan.cuh
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

    // reuse the stage: claim the next tile and start its copy
    __syncthreads();  // the stage has been read, and the tile's prefix is known
    if (threadIdx.x == 0) {
      then_the_copy_engine();
      refill(k % STAGES);
    }

    // store the results, coalesced
    const unsigned offset = tiles_before[k % 2];
    for (unsigned row = 0; row < ROWS; ++row) {
      const size_t i = size_t(tile) * TILE + mine + row * ROW;
      const unsigned a = offset + before[row], b = a + words[row].x, c = b + words[row].y, d = c + words[row].z;
      if (i + 3 < n) {
        __stcs(reinterpret_cast<uint4*>(out + i), make_uint4(a, b, c, d));  // cache-streaming: not read again
      } else {
        if (i < n) out[i] = a;
        if (i + 1 < n) out[i + 1] = b;
        if (i + 2 < n) out[i + 2] = c;
      }
    }
  }
#else
  __trap();  // compiled for a GPU without TMA: abort instead of writing nothing
#endif
}
