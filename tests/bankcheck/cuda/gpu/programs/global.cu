// Accesses to global memory whose sectors are counted by hand: `global KERNEL`. The comments say what one warp's access
// moves in sectors of 32 bytes, what it asks for, and how many lines of 128 bytes it touches. 3 blocks of one warp.
#include <string_view>

#include "common.cuh"

namespace {

constexpr unsigned blocks = 3;
constexpr unsigned block_words = 64 * 1024;

__device__ unsigned* words_of_block(unsigned* words) { return words + block_words * blockIdx.x; }

template <class T>
__device__ T load(const T* from) {
  return *static_cast<const volatile T*>(from);
}
/// 4 sectors of one line, all of which the lanes ask for. Keeps a load alive.
__device__ void give(unsigned* words, unsigned value) {
  static_cast<volatile unsigned*>(words_of_block(words))[threadIdx.x] = value;
}
template <class T>
__device__ void load_one(unsigned* words, unsigned index) {
  const unsigned long long value = load(reinterpret_cast<const T*>(words_of_block(words)) + index);
  give(words, unsigned(value ^ value >> 32));  // all bytes, or the compiler would load fewer
}

/// 4 sectors of 4, one line, 128 bytes.
__global__ void row(unsigned* words) { load_one<unsigned>(words, threadIdx.x); }
/// 32 sectors, where 4 would do; 32 lines.
__global__ void column(unsigned* words) { load_one<unsigned>(words, 1024 * threadIdx.x); }
/// Every third word: 384 bytes, so 12 sectors of 3 lines.
__global__ void structures(unsigned* words) { load_one<unsigned>(words, 3 * threadIdx.x); }
/// 128 bytes from the second word on: 5 sectors of 2 lines.
__global__ void misaligned(unsigned* words) { load_one<unsigned>(words, threadIdx.x + 1); }
/// Lanes backwards, as a row.
__global__ void backwards(unsigned* words) { load_one<unsigned>(words, 31 - threadIdx.x); }
/// 4 bytes of one sector.
__global__ void broadcast(unsigned* words) { load_one<unsigned>(words, 7); }
/// Without a step from lane to lane, the lanes' order turned around in pairs: as a row.
__global__ void pairs(unsigned* words) { load_one<unsigned>(words, threadIdx.x ^ 1); }
/// 32 bytes of one sector.
__global__ void bytes_1(unsigned* words) { load_one<unsigned char>(words, threadIdx.x); }
/// 8 sectors of 2 lines, 256 bytes.
__global__ void bytes_8(unsigned* words) { load_one<unsigned long long>(words, threadIdx.x); }
/// 16 sectors of 4 lines, 512 bytes.
__global__ void bytes_16(unsigned* words) {
  unsigned a, b, c, d;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(words_of_block(words) + 4 * threadIdx.x)
               : "memory");
  give(words, a ^ b ^ c ^ d);
}
/// By the read-only path: as a row.
__global__ void read_only(unsigned* words) {
  unsigned value;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(value) : "l"(words_of_block(words) + 32 + threadIdx.x));
  give(words, value);
}
/// A store of 32 sectors.
__global__ void column_store(unsigned* words) {
  static_cast<volatile unsigned*>(words_of_block(words))[1024 * threadIdx.x] = threadIdx.x;
}
/// 21 of the lanes, 84 bytes of 4 sectors.
__global__ void two_thirds(unsigned* words) {
  if (threadIdx.x % 3 != 0) load_one<unsigned>(words, threadIdx.x);
}
/// Every fourth lane, and every fourth word: 4 sectors, 32 bytes.
__global__ void every_fourth(unsigned* words) {
  if (threadIdx.x % 4 == 1) load_one<unsigned>(words, threadIdx.x);
}
/// Atomics of every second word, with a result and without one, and compare-and-swap: 8 sectors of 2 lines, 128 bytes.
__global__ void atomics(unsigned* words) {
  unsigned* const word = words_of_block(words) + 128 + 2 * threadIdx.x;
  atomicAdd(word, threadIdx.x);
  const unsigned old = atomicMax(word, 5);
  give(words, old + atomicCAS(word, 5, 6));
}
/// Lanes in two groups 3 GiB apart, each with every second word: 8 sectors of 2 lines, 128 bytes.
__global__ void far(unsigned* words) {
  load_one<unsigned>(words, threadIdx.x % 2 == 0 ? threadIdx.x : 3U << 28 | threadIdx.x);
}

__noinline__ __device__ unsigned load_from(const volatile unsigned* anywhere) { return *anywhere; }

/// A generic load of shared memory, one of global memory, and one of which the lanes of one half do each: in global
/// memory a row, and 16 lanes that ask for 64 bytes of 2 sectors.
__global__ void anywhere(unsigned* words) {
  __shared__ volatile unsigned slots[32];
  slots[threadIdx.x] = threadIdx.x;
  const volatile unsigned* const row = words_of_block(words) + 64 + threadIdx.x;
  const unsigned sum = load_from(slots + threadIdx.x) + load_from(row);
  give(words, sum + load_from(threadIdx.x < 16 ? slots + threadIdx.x : row));
}

/// cp.async of 4, 8 and 16 bytes: 4, 8 and 16 sectors; and one of 4 bytes of which the upper half fills with zeros: 2.
__global__ void copies(unsigned* words) {
#if __CUDA_ARCH__ >= 800
  __shared__ __align__(16) unsigned small[32], middle[64], large[128], half[32];
  const auto at = [](const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); };
  const unsigned* const from = words_of_block(words);
  const unsigned lane = threadIdx.x, bytes = lane < 16 ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(small + lane)), "l"(from + lane) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at(middle + 2 * lane)), "l"(from + 2 * lane)
               : "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(large + 4 * lane)), "l"(from + 4 * lane)
               : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at(half + lane)), "l"(from + lane), "r"(bytes)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  give(words, static_cast<volatile unsigned*>(small)[lane]);
#endif
}

/// One store and one load of local memory.
__global__ void local(unsigned* words) {
  volatile unsigned own[64];
  own[(words[0] + threadIdx.x) % 64] = threadIdx.x;
  give(words, own[(words[1] + threadIdx.x) % 64]);
}

/// Reads and writes each word once, 2 MiB of each: 65,536 sectors.
constexpr unsigned copied_words = 1 << 19;
__global__ void copy(unsigned* words) {
  for (unsigned i = 32 * blockIdx.x + threadIdx.x; i < copied_words; i += 32 * blocks) {
    words[copied_words + i] = words[i];
  }
}
/// Each block reads the same 4 KiB, twice: 128 sectors. And an atomic on one of them, which is also written.
__global__ void again(unsigned* words) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 64; ++i) sum += load(words + 32 * (i % 32) + threadIdx.x);
  atomicAdd(words, sum & 1);
}

struct Entry {
  const char* name;
  Kernel kernel;
  unsigned threads = 32, launches = 1;
  std::size_t bytes = 16 << 20;
};
#define NAMED(kernel) #kernel, kernel
constexpr Entry entries[] = {
    {NAMED(row)},         {NAMED(column)},       {NAMED(structures)},
    {NAMED(misaligned)},  {NAMED(backwards)},    {NAMED(broadcast)},
    {NAMED(pairs)},       {NAMED(bytes_1)},      {NAMED(bytes_8)},
    {NAMED(bytes_16)},    {NAMED(read_only)},    {NAMED(column_store)},
    {NAMED(two_thirds)},  {NAMED(every_fourth)}, {NAMED(atomics)},
    {NAMED(anywhere)},    {NAMED(copies)},       {NAMED(local)},
    {NAMED(copy), 32, 2}, {NAMED(again), 32, 3}, {NAMED(far), 32, 1, (std::size_t{3} << 30) + (16 << 20)}};

void run(const Entry& entry) {
  unsigned* words = nullptr;
  CHECK(cudaMalloc(&words, entry.bytes));
  CHECK(cudaMemset(words, 0, std::size_t{16} << 20));
  for (unsigned i = 0; i < entry.launches; ++i) entry.kernel<<<blocks, entry.threads>>>(words);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(words));
}

// --- Gathers: more patterns than the table keeps --------------------------------------------------------------------

constexpr unsigned gather_blocks = 512, gather_warps = 4, gather_rounds = 50, gathered_words = 1 << 14;

__host__ __device__ unsigned gather_index(unsigned thread, unsigned round) {
  unsigned value = thread * gather_rounds + round;
  value = (value ^ value >> 16) * 0x85ebca6bU;
  value = (value ^ value >> 13) * 0xc2b2ae35U;
  return (value ^ value >> 16) % gathered_words;
}

__global__ void gather(unsigned* words) {
  unsigned sum = 0;
  const unsigned thread = blockDim.x * blockIdx.x + threadIdx.x;
#pragma unroll 1
  for (unsigned i = 0; i < gather_rounds; ++i) sum ^= load(words + gather_index(thread, i));
  if (sum == 1) words[0] = sum;  // the words are 0
}

/// Different values of `index` >> `shift` in a warp.
unsigned different(const unsigned (&index)[32], unsigned shift) {
  unsigned count = 0;
  for (unsigned a = 0; a < 32; ++a) {
    bool first = true;
    for (unsigned b = 0; b < a; ++b) first = first && index[a] >> shift != index[b] >> shift;
    count += first ? 1 : 0;
  }
  return count;
}

/// Prints sectors, the fewest that would do, lines, and bytes of all gathers, and sectors of the words that are read.
void run_gather() {
  unsigned* words = nullptr;
  CHECK(cudaMalloc(&words, gathered_words * sizeof(unsigned)));
  CHECK(cudaMemset(words, 0, gathered_words * sizeof(unsigned)));
  gather<<<gather_blocks, 32 * gather_warps>>>(words);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  unsigned long long sectors = 0, ideal = 0, lines = 0, bytes = 0;
  for (unsigned warp = 0; warp < gather_blocks * gather_warps; ++warp) {
    for (unsigned round = 0; round < gather_rounds; ++round) {
      unsigned index[32];
      for (unsigned lane = 0; lane < 32; ++lane) index[lane] = gather_index(32 * warp + lane, round);
      const unsigned asked = 4 * different(index, 0);
      sectors += different(index, 3);
      lines += different(index, 5);
      bytes += asked;
      ideal += (asked + 31) / 32;
    }
  }
  std::printf("%llu %llu %llu %llu\n", sectors, ideal, lines, bytes);
}

/// 8 replays of a graph of copy().
void run_graph() {
  unsigned* words = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaMalloc(&words, 2 * copied_words * sizeof(unsigned)));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  copy<<<blocks, 32, 0, stream>>>(words);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (unsigned i = 0; i < 8; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view wanted = count > 1 ? arguments[1] : "";
  if (wanted == "gather") run_gather();
  if (wanted == "graph") run_graph();
  for (const Entry& entry : entries) {
    if (wanted == entry.name || (wanted.empty() && entry.kernel != far)) run(entry);
  }
  return 0;
}
