// Kernels of cp.async, with 3 blocks of one warp if nothing else is said. The comments say what one copy takes on
// compute capability 9.0. Word i of global memory is i, and each lane checks what it got.
#include "common.cuh"

namespace {

constexpr unsigned blocks = 3, max_threads = 128;

__device__ unsigned address_of(const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); }

template <unsigned width>
__device__ void copy_through(const unsigned* to, const unsigned* from, unsigned bytes = width) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address_of(to)), "l"(from), "n"(width), "r"(bytes)
               : "memory");
#endif
}
__device__ void copy_past(const unsigned* to, const unsigned* from, unsigned bytes = 16) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address_of(to)), "l"(from), "r"(bytes) : "memory");
#endif
}

/// Waits for the warp, and gives whether the lane's word of shared memory is `expected`.
__device__ void give(unsigned* out, const volatile unsigned* word, unsigned expected) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  out[blockDim.x * blockIdx.x + threadIdx.x] = *word == expected ? 1 : 0;
#else
  out[blockDim.x * blockIdx.x + threadIdx.x] = 1;
#endif
}

// --- Through the L1 cache -------------------------------------------------------------------------------------------

/// 2 lanes read words of the same bank: 2 passes, ideal 1.
__global__ void through_4(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[32];
  copy_through<4>(to + threadIdx.x, words + 2 * threadIdx.x);
  give(out, to + threadIdx.x, 2 * threadIdx.x);
}
/// Of each 16 lanes, 2 write the same banks: 4 passes, ideal 2.
__global__ void through_8(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[128];
  copy_through<8>(to + 4 * threadIdx.x, words + 2 * threadIdx.x);
  give(out, to + 4 * threadIdx.x + 1, 2 * threadIdx.x + 1);
}
/// All lanes read the same 16 bytes: 32 passes, ideal 4.
__global__ void through_16(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[128];
  copy_through<16>(to + 4 * threadIdx.x, words + 64);
  give(out, to + 4 * threadIdx.x + 3, 67);
}
/// All lanes would read bank 0, but only the lower 16 do; the others write zeros: 16 passes, ideal 1.
__global__ void through_zeros(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[32];
  const bool reads = threadIdx.x < 16;
  copy_through<4>(to + threadIdx.x, words + 32 * threadIdx.x, reads ? 4 : 0);
  give(out, to + threadIdx.x, reads ? 32 * threadIdx.x : 0);
}

// --- Past the L1 cache ----------------------------------------------------------------------------------------------

/// 4 lines, from inside the first on, which are copied to lines in the same places: 5 passes, ideal 4.
__global__ void past_lines(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[160];
  copy_past(to + 16 + 4 * threadIdx.x, words + 16 + 4 * threadIdx.x);
  give(out, to + 16 + 4 * threadIdx.x + 1, 16 + 4 * threadIdx.x + 1);
}
/// 8 rows of 64 bytes, 2 KiB apart: 8 passes, ideal 4.
__global__ void past_tile(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[128];
  const unsigned first = threadIdx.x / 4 * 512 + threadIdx.x % 4 * 4;
  copy_past(to + 4 * threadIdx.x, words + first);
  give(out, to + 4 * threadIdx.x + 2, first + 2);
}
/// 32 lines: 32 passes, ideal 4.
__global__ void past_gather(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[128];
  copy_past(to + 4 * threadIdx.x, words + 96 * threadIdx.x);
  give(out, to + 4 * threadIdx.x, 96 * threadIdx.x);
}
/// Only 12 lanes copy, of two lines: 2 passes, ideal 2.
__global__ void past_idle(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[128];
  if (threadIdx.x < 12) copy_past(to + 4 * threadIdx.x, words + 4 * threadIdx.x);
  give(out, to + threadIdx.x % 12 * 4, threadIdx.x % 12 * 4);
}
/// First all lanes write zeros, 4 passes; then the lower 16 copy two lines: 6 passes, ideal 6.
__global__ void past_zeros(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[128];
  const bool reads = threadIdx.x < 16;
  copy_past(to + 4 * threadIdx.x, words + 4 * threadIdx.x, reads ? 16 : 0);
  give(out, to + 4 * threadIdx.x + 1, reads ? 4 * threadIdx.x + 1 : 0);
}
/// A size that the compiler does not know. Without a cost.
__global__ void past_filling(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[128];
  copy_past(to + 4 * threadIdx.x, words + 4 * threadIdx.x, words[16]);
  give(out, to + 4 * threadIdx.x + 1, 4 * threadIdx.x + 1);
}
/// Blocks of 4 warps; each warp copies 8 times 4 lines: 4 passes, ideal 4.
__global__ void past_stages(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[2][4][128];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#if __CUDA_ARCH__ >= 800
#pragma unroll 1
  for (unsigned stage = 0; stage < 8; ++stage) {
    copy_past(to[stage % 2][warp] + 4 * lane, words + 512 * stage + 128 * warp + 4 * lane);
    asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
  }
#endif
  give(out, to[1][warp] + 4 * lane, 512 * 7 + 128 * warp + 4 * lane);
}

// --- More different copies than the smallest table has room for -----------------------------------------------------

/// Blocks of 4 warps; each warp copies 1024 times, from anywhere to anywhere.
template <bool past>
__device__ void copy_anywhere(const unsigned* words, unsigned* out) {
  __shared__ __align__(128) unsigned to[1024];
#pragma unroll 1
  for (unsigned i = 0; i < 1024; ++i) {
    unsigned random = (1024 * (blockDim.x * blockIdx.x + threadIdx.x) + i) * 0x9e3779b1;
    random = (random ^ random >> 15) * 0x85ebca77;
    random ^= random >> 13;
    const unsigned* const from = words + random % 1024 * 4;
    unsigned* const slot = to + random / 1024 % 256 * 4;
    past ? copy_past(slot, from) : copy_through<16>(slot, from);
  }
  give(out, words, 0);
}
__global__ void through_anywhere(const unsigned* words, unsigned* out) { copy_anywhere<false>(words, out); }
__global__ void past_anywhere(const unsigned* words, unsigned* out) { copy_anywhere<true>(words, out); }

using CopyKernel = void (*)(const unsigned*, unsigned*);
struct Entry {
  const char* name;
  CopyKernel kernel;
  unsigned threads = 32;
};
#define NAMED(kernel) #kernel, kernel
constexpr Entry entries[] = {{NAMED(through_4)},
                             {NAMED(through_8)},
                             {NAMED(through_16)},
                             {NAMED(through_zeros)},
                             {NAMED(past_lines)},
                             {NAMED(past_tile)},
                             {NAMED(past_gather)},
                             {NAMED(past_idle)},
                             {NAMED(past_zeros)},
                             {NAMED(past_filling)},
                             {NAMED(past_stages), max_threads},
                             {NAMED(through_anywhere), max_threads},
                             {NAMED(past_anywhere), max_threads}};

}  // namespace

int main() {
  std::vector<unsigned> words(4096);
  for (unsigned i = 0; i < words.size(); ++i) words[i] = i;
  unsigned *from = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&from, words.size() * sizeof(unsigned)));
  CHECK(cudaMalloc(&out, blocks * max_threads * sizeof(unsigned)));
  CHECK(cudaMemcpy(from, words.data(), words.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
  for (const Entry& entry : entries) {
    std::vector<unsigned> right(std::size_t{blocks} * entry.threads);
    CHECK(cudaMemset(out, 0, right.size() * sizeof(unsigned)));
    entry.kernel<<<blocks, entry.threads>>>(from, out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(right.data(), out, right.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (const unsigned lane_is_right : right) expect(lane_is_right == 1, entry.name);
  }
}
