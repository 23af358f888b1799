// One kernel for each kind of access, as `kinds KERNEL`. Each has one warp per block and 3 blocks; each lane ends with
// its own number, which the program verifies. The comments say what one warp's access takes on compute capability 9.0.
#include <cuda_fp16.h>

#include "common.cuh"

namespace {

__device__ void give(unsigned* out, unsigned value) { out[blockDim.x * blockIdx.x + threadIdx.x] = value; }

/// A store and a load of a T at a stride of so many.
template <class T, unsigned stride>
__device__ void store_and_load(unsigned* out) {
  __shared__ volatile T slots[32 * stride];
  slots[stride * threadIdx.x] = T(threadIdx.x);
  give(out, unsigned(slots[stride * threadIdx.x]));
}

/// 32 lanes in bank 0: 32 passes.
__global__ void bytes_1(unsigned* out) { store_and_load<unsigned char, 128>(out); }
/// 16 bytes from lane to lane, so lanes 8 apart share a bank: 4 passes.
__global__ void bytes_2(unsigned* out) { store_and_load<unsigned short, 8>(out); }
/// 2 passes.
__global__ void bytes_4(unsigned* out) { store_and_load<unsigned, 2>(out); }
__device__ unsigned address_of(const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); }

/// Two groups of 16 lanes, each with 2 passes, since lanes 8 apart share banks: 4, ideal 2.
__global__ void bytes_8(unsigned* out) {
  __shared__ uint2 slots[2 * 32];
  const unsigned at = address_of(slots + 2 * threadIdx.x), lane = threadIdx.x;
  unsigned a, b;
  asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(lane) : "memory");
  asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
  give(out, a == b ? a : 99);
}

/// Four groups of 8 lanes, each with 2 passes, since lanes 4 apart share banks: 8, ideal 4.
__global__ void bytes_16(unsigned* out) {
  __shared__ uint4 slots[2 * 32];
  const unsigned at = address_of(slots + 2 * threadIdx.x), lane = threadIdx.x;
  unsigned a, b, c, d;
  asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(lane) : "memory");
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(at)
               : "memory");
  give(out, a == d && b == c ? a : 99);
}

/// nvcc loads three words that all lanes need as four, which lie at a multiple of 16: 2 passes.
__global__ void three_words(unsigned* out) {
  __shared__ uint3 words;
  if (threadIdx.x == 5) words = make_uint3(blockDim.y, blockDim.y, blockDim.y + 1);
  __syncwarp();
  give(out, threadIdx.x * words.x * (words.z - words.y));
}

// --- Atomics: all lanes whose words are in one bank queue -----------------------------------------------------------

/// 2 lanes in each bank: 2 passes; the result is not used.
__global__ void add_unused(unsigned* out) {
  __shared__ unsigned slots[2 * 32];
  volatile unsigned* const words = slots;
  words[2 * threadIdx.x] = 0;
  atomicAdd(slots + 2 * threadIdx.x, threadIdx.x);  // atomic
  give(out, words[2 * threadIdx.x]);
}
/// 4 passes.
__global__ void add_used(unsigned* out) {
  __shared__ unsigned slots[4 * 32];
  volatile unsigned* const words = slots;
  words[4 * threadIdx.x] = threadIdx.x;
  give(out, atomicAdd(slots + 4 * threadIdx.x, 3U));  // atomic
}
/// Adds the constant 1 to 16 words of bank 0, two lanes to each, which are served together: 16 passes.
__global__ void increments(unsigned* out) {
  __shared__ unsigned slots[32 * 16];
  volatile unsigned* const words = slots;
  words[32 * (threadIdx.x / 2)] = threadIdx.x & ~1U;
  __syncwarp();
  atomicAdd(slots + 32 * (threadIdx.x / 2), 1U);  // atomic
  __syncwarp();
  give(out, words[32 * (threadIdx.x / 2)] - 2 + (threadIdx.x & 1));
}
/// 2 lanes in each bank, and each takes two passes: 4, ideal 2, 1 conflict.
__global__ void swaps(unsigned* out) {
  __shared__ unsigned slots[2 * 32];
  volatile unsigned* const words = slots;
  words[2 * threadIdx.x] = 77;
  const unsigned before = atomicCAS(slots + 2 * threadIdx.x, 77U, threadIdx.x);  // atomic
  give(out, before == 77 ? words[2 * threadIdx.x] : 99);
}
/// One turn of a loop around a compare-and-swap of two passes, since no two lanes have a word or a bank in common: 2,
/// ideal 2.
__global__ void float_adds(unsigned* out) {
  __shared__ float slots[32];
  volatile float* const words = slots;
  words[threadIdx.x] = 0;
  atomicAdd(slots + threadIdx.x, float(threadIdx.x));  // atomic
  give(out, unsigned(words[threadIdx.x]));
}

/// A loop around a compare-and-swap of the word through a generic address. Two lanes want each word, and one of them
/// has to try again, except lane 1, whose word does not change when lane 0 adds 0: 32 lanes with 4 passes, ideal 2, and
/// 15 lanes with 2.
__global__ void half_adds(unsigned* out) {
  __shared__ __half slots[32];
  slots[threadIdx.x] = __float2half(0);
  __syncwarp();
  atomicAdd(slots + threadIdx.x, __float2half(float(threadIdx.x)));  // atomic
  __syncwarp();
  give(out, unsigned(__half2float(slots[threadIdx.x])));
}

// --- Matrices: rows of 16 bytes -------------------------------------------------------------------------------------

/// Fills the rows with their byte offsets, so that a loaded word says where it came from.
__device__ void fill_with_offsets(unsigned* words, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += 32) words[i] = 4 * i;  // fill
  __syncwarp();
}

/// Lane l gets word l % 4 of row l / 4, which begins `pitch` bytes after the one before.
__device__ unsigned offset_of(unsigned pitch) { return threadIdx.x / 4 * pitch + threadIdx.x % 4 * 4; }

/// 8 rows, 128 bytes apart: 8 passes.
__global__ void ldmatrix_1(unsigned* out) {
  __shared__ __align__(128) unsigned rows[8 * 32];
  fill_with_offsets(rows, 8 * 32);
  unsigned a = 0;
  const unsigned at = address_of(rows) + 128 * (threadIdx.x % 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at) : "memory");
  give(out, a == offset_of(128) ? threadIdx.x : 99);
}
/// 16 rows, 32 bytes apart: of each 8, those 4 apart share banks: 2 x 2 passes, ideal 2.
__global__ void ldmatrix_2(unsigned* out) {
  __shared__ __align__(128) unsigned rows[16 * 8];
  fill_with_offsets(rows, 16 * 8);
  unsigned a = 0, b = 0;
  const unsigned at = address_of(rows) + 32 * (threadIdx.x % 16);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
  give(out, a == offset_of(32) && b == a + 8 * 32 ? threadIdx.x : 99);
}
/// 32 rows, 64 bytes apart: 4 x 4 passes, ideal 4.
__global__ void ldmatrix_4(unsigned* out) {
  __shared__ __align__(128) unsigned rows[32 * 16];
  fill_with_offsets(rows, 32 * 16);
  unsigned a = 0, b = 0, c = 0, d = 0;
  const unsigned at = address_of(rows) + 64 * threadIdx.x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(at)
               : "memory");
  give(out, a == offset_of(64) && b == a + 8 * 64 && c == a + 16 * 64 && d == a + 24 * 64 ? threadIdx.x : 99);
}
/// 32 rows, 16 bytes apart: 4 passes, no conflict. Transposed, which the banks do not notice.
__global__ void ldmatrix_4_transposed(unsigned* out) {
  __shared__ __align__(128) unsigned rows[32 * 4];
  for (unsigned i = 0; i < 4; ++i) rows[4 * threadIdx.x + i] = 0x10001 * threadIdx.x;  // halves with their row's number
  __syncwarp();
  unsigned a = 0, b = 0, c = 0, d = 0;
  const unsigned at = address_of(rows) + 16 * threadIdx.x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(at)
               : "memory");
  const unsigned row = threadIdx.x % 4 * 2, halves = row | (row + 1) << 16;
  give(out, a == halves && b == a + 8 * 0x10001 && c == a + 16 * 0x10001 && d == a + 24 * 0x10001 ? threadIdx.x : 99);
}
/// 8 rows, 128 bytes apart: 8 passes. From compute capability 9.0.
__global__ void stmatrix_1(unsigned* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ __align__(128) unsigned rows[8 * 32];
  const unsigned at = address_of(rows) + 128 * (threadIdx.x % 8), lane = threadIdx.x;
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(lane) : "memory");
  __syncwarp();
  give(out, static_cast<volatile unsigned*>(rows)[threadIdx.x / 4 * 32 + threadIdx.x % 4]);
#else
  give(out, threadIdx.x);
#endif
}
/// 32 rows, 32 bytes apart: 4 x 2 passes, ideal 4.
__global__ void stmatrix_4(unsigned* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ __align__(128) unsigned rows[32 * 8];
  const unsigned at = address_of(rows) + 32 * threadIdx.x, lane = threadIdx.x;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(lane) : "memory");
  __syncwarp();
  give(out, static_cast<volatile unsigned*>(rows)[(24 + threadIdx.x / 4) * 8 + threadIdx.x % 4]);
#else
  give(out, threadIdx.x);
#endif
}

// --- Other blocks' shared memory -------------------------------------------------------------------------------------

/// In clusters of 2 blocks: a store, a load and an atomic in the other block's shared memory.
__global__ void remote(unsigned* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ unsigned words[32];
  unsigned rank = 0, there = 0, value = 0;
  const auto barrier = [] {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  };
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address_of(words + threadIdx.x)), "r"(rank ^ 1));
  barrier();
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(threadIdx.x) : "memory");  // remote store
  barrier();
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(value) : "r"(there) : "memory");  // remote atomic
  barrier();
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");  // remote load
  barrier();
  give(out, value - 1);
#else
  give(out, threadIdx.x);
#endif
}

// --- Some of the lanes ----------------------------------------------------------------------------------------------

/// 21 of the 32 lanes, all in bank 0: 21 passes, ideal 1.
__global__ void two_thirds(unsigned* out) {
  __shared__ unsigned slots[32 * 32];
  volatile unsigned* const words = slots;
  unsigned value = threadIdx.x;
  if (threadIdx.x % 3 != 0) {
    words[32 * threadIdx.x] = value;  // partial store
    value = words[32 * threadIdx.x];  // partial load
  }
  give(out, value);
}

/// A block of 17 threads: 17 passes.
__global__ void part_of_warp(unsigned* out) {
  __shared__ volatile unsigned words[32 * 17];
  words[32 * threadIdx.x] = threadIdx.x;  // partial store
  __syncthreads();
  give(out, words[32 * threadIdx.x]);  // partial load
}

// --- Pointers that may lead anywhere --------------------------------------------------------------------------------

__noinline__ __device__ unsigned load_from(const volatile unsigned* anywhere) {
  return *anywhere;  // generic load
}

/// 4 passes; and as many loads of global memory, which do not count.
__global__ void anywhere(unsigned* out) {
  __shared__ unsigned slots[4 * 32];
  volatile unsigned* const words = slots;
  words[4 * threadIdx.x] = threadIdx.x;  // store
  give(out, load_from(words + 4 * threadIdx.x));
  give(out, load_from(out + 32 * blockIdx.x + threadIdx.x));
}

constexpr unsigned blocks = 3;

struct Entry {
  const char* name;
  Kernel kernel;
  unsigned threads = 32, cluster = 1;
};
#define NAMED(kernel) #kernel, kernel
constexpr Entry entries[] = {
    {NAMED(bytes_1)},          {NAMED(bytes_2)},    {NAMED(bytes_4)},       {NAMED(bytes_8)},
    {NAMED(bytes_16)},         {NAMED(add_unused)}, {NAMED(three_words)},   {NAMED(add_used)},
    {NAMED(increments)},       {NAMED(swaps)},      {NAMED(float_adds)},    {NAMED(half_adds)},
    {NAMED(ldmatrix_1)},       {NAMED(ldmatrix_2)}, {NAMED(ldmatrix_4)},    {NAMED(ldmatrix_4_transposed)},
    {NAMED(stmatrix_1)},       {NAMED(stmatrix_4)}, {NAMED(remote), 32, 2}, {NAMED(two_thirds)},
    {NAMED(part_of_warp), 17}, {NAMED(anywhere)}};

/// Grids of clusters have 4 blocks. GPUs before compute capability 9.0 have no clusters.
void run(const Entry& entry) {
  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (entry.cluster > 1 && major < 9) return;
  const unsigned grid = entry.cluster == 1 ? blocks : 2 * entry.cluster;
  unsigned* out = nullptr;
  std::vector<unsigned> answers(std::size_t{grid} * entry.threads);
  CHECK(cudaMalloc(&out, answers.size() * sizeof(unsigned)));
  CHECK(cudaMemset(out, 0xff, answers.size() * sizeof(unsigned)));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = entry.cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(entry.threads);
  config.attrs = &attribute;
  config.numAttrs = entry.cluster == 1 ? 0 : 1;
  CHECK(cudaLaunchKernelEx(&config, entry.kernel, out));
  CHECK(cudaMemcpy(answers.data(), out, answers.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < answers.size(); ++i) expect(answers[i] == i % entry.threads, entry.name);
}

}  // namespace

int main(int count, char** arguments) {
  for (const Entry& entry : entries) {
    if (count > 1 && std::strcmp(arguments[1], entry.name) != 0) continue;
    run(entry);
    if (count > 1) return 0;
  }
  return count > 1 ? 2 : 0;
}
