// One kernel for each engine that accesses shared memory without addresses of lanes, and for the shared memory of other
// blocks, as `engines KERNEL`; for compute capability 9.0. Each grid has 4 blocks, of one warpgroup for wgmma and of
// one warp otherwise. The comments say what the instruction reads or writes.
#include <cuda.h>

#include <cstdint>

#include "common.cuh"

namespace {

constexpr unsigned blocks = 4;

__device__ unsigned address_of(const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); }

// --- wgmma ----------------------------------------------------------------------------------------------------------

/// 8 x 8 matrices of 16-bit elements one after the other, without a swizzle.
__device__ std::uint64_t descriptor(const void* shared) {
  return (address_of(shared) & 0x3ffff) >> 4 | std::uint64_t(128 >> 4) << 16 | std::uint64_t(256 >> 4) << 32;
}
__device__ void begin_wgmma() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void end_wgmma() {
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
/// `bytes` of zeros that wgmma may read.
__device__ void clear(unsigned char* bytes, unsigned size) {
  for (unsigned i = threadIdx.x; i < size / 4; i += blockDim.x) reinterpret_cast<unsigned*>(bytes)[i] = 0;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
}

/// 64 x 16 and 16 x 8 elements of 2 bytes, twice: 2,048 bytes and 256.
__global__ void wgmma_shared(unsigned* out) {
  __shared__ __align__(1024) unsigned char a[2048], b[256];
  clear(a, sizeof(a));
  clear(b, sizeof(b));
  float c[4]{};
  begin_wgmma();
  for (unsigned i = 0; i < 2; ++i) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"  // both
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "l"(descriptor(a)), "l"(descriptor(b)));
  }
  end_wgmma();
  if (threadIdx.x < 32) out[32 * blockIdx.x + threadIdx.x] = threadIdx.x + unsigned(c[0] + c[3]);
}

/// A in registers: only the 32 x 16 bytes of B, 512.
__global__ void wgmma_registers(unsigned* out) {
  __shared__ __align__(1024) unsigned char b[512];
  clear(b, sizeof(b));
  float c[8]{};
  begin_wgmma();
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %8, %8, %8}, %9, "
      "1, 1, 1;"  // registers
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
      : "r"(0), "l"(descriptor(b)));
  end_wgmma();
  if (threadIdx.x < 32) out[32 * blockIdx.x + threadIdx.x] = threadIdx.x + unsigned(c[0] + c[7]);
}

/// A with every other element: of 64 x 32 elements half, 2,048 bytes; 32 x 8 of B, 512.
__global__ void wgmma_sparse(unsigned* out) {
  __shared__ __align__(1024) unsigned char a[2048], b[512];
  clear(a, sizeof(a));
  clear(b, sizeof(b));
  float c[4]{};
  begin_wgmma();
  asm volatile(
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"  // sparse
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "l"(descriptor(a)), "l"(descriptor(b)), "r"(0x44444444));
  end_wgmma();
  if (threadIdx.x < 32) out[32 * blockIdx.x + threadIdx.x] = threadIdx.x + unsigned(c[0] + c[3]);
}

// --- Copies ---------------------------------------------------------------------------------------------------------

__device__ void start(std::uint64_t& barrier, unsigned bytes) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(&barrier)), "r"(bytes)
                 : "memory");
  }
  __syncthreads();
}
__device__ void wait(std::uint64_t& barrier) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address_of(&barrier))
                 : "memory");
  }
}
/// The copies that the thread has begun have read shared memory, and have written global memory.
__device__ void wait_for_stores() {
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
__device__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ unsigned rank_in_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// The address in the shared memory of the block of that rank.
__device__ unsigned address_in(const void* shared, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address_of(shared)), "r"(rank));
  return there;
}
__device__ void fill(unsigned* words, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) words[i] = i % 32;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
}
__device__ void give(unsigned* out, unsigned value) { out[32 * blockIdx.x + threadIdx.x] = value; }

/// 1,040 bytes from 16 bytes past a cache line: 33 sectors of 9 cache lines. `in` has i % 32 in its word i.
__global__ void bulk_load(unsigned* out, const unsigned* in) {
  __shared__ __align__(16) unsigned words[260];
  __shared__ std::uint64_t barrier;
  start(barrier, sizeof(words));
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"  // bulk load
                 ::"r"(address_of(words)),
                 "l"(in + 4), "r"(unsigned(sizeof(words))), "r"(address_of(&barrier))
                 : "memory");
  }
  wait(barrier);
  give(out, words[28 + threadIdx.x]);
}

/// 512 bytes for both blocks of a cluster.
__global__ void bulk_multicast(unsigned* out, const unsigned* in) {
  __shared__ __align__(16) unsigned words[128];
  __shared__ std::uint64_t barrier;
  start(barrier, sizeof(words));
  meet_cluster();
  if (threadIdx.x == 0 && rank_in_cluster() == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
        "%4;"  // multicast
        ::"r"(address_of(words)),
        "l"(in), "r"(unsigned(sizeof(words))), "r"(address_of(&barrier)), "h"(std::uint16_t(3))
        : "memory");
  }
  wait(barrier);
  give(out, words[threadIdx.x]);
  meet_cluster();
}

/// 128 bytes.
__global__ void bulk_store(unsigned* out) {
  __shared__ __align__(16) unsigned words[32];
  fill(words, 32);
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;"  // bulk store
                 ::"l"(out + 32 * blockIdx.x),
                 "r"(address_of(words))
                 : "memory");
    wait_for_stores();
  }
}

/// Adds 128 bytes to zeros.
__global__ void bulk_reduce(unsigned* out) {
  __shared__ __align__(16) unsigned words[32];
  give(out, 0);
  fill(words, 32);
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;"  // bulk reduction
                 ::"l"(out + 32 * blockIdx.x),
                 "r"(address_of(words))
                 : "memory");
    wait_for_stores();
  }
}

/// 256 bytes to the other block of a cluster, and the sum of 128 bytes.
__global__ void bulk_to_block(unsigned* out) {
  __shared__ __align__(16) unsigned from[64], to[64], sums[32];
  __shared__ std::uint64_t barrier;
  fill(from, 64);
  sums[threadIdx.x] = 100;
  start(barrier, sizeof(to) + sizeof(sums));
  asm volatile("fence.proxy.async;" ::: "memory");
  meet_cluster();
  const unsigned other = rank_in_cluster() ^ 1;
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"  // copy
        ::"r"(address_in(to, other)),
        "r"(address_of(from)), "r"(address_in(&barrier, other))
        : "memory");
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], 128, "
        "[%2];"  // sum
        ::"r"(address_in(sums, other)),
        "r"(address_of(from)), "r"(address_in(&barrier, other))
        : "memory");
  }
  wait(barrier);
  give(out, sums[threadIdx.x] == 100 + threadIdx.x ? to[32 + threadIdx.x] : 99);
  meet_cluster();
}

/// `st.async` of 4 bytes, `red.async`, and a load and a store of 16 bytes at a stride of 32, all in the other block.
__global__ void remote_lanes(unsigned* out) {
  __shared__ __align__(16) unsigned stored[32], sums[32], wide[8 * 32];
  __shared__ std::uint64_t barrier;
  sums[threadIdx.x] = 7;
  start(barrier, sizeof(stored) + sizeof(sums));
  meet_cluster();
  const unsigned other = rank_in_cluster() ^ 1, lane = threadIdx.x;
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"  // asynchronous store
               ::"r"(address_in(stored + lane, other)),
               "r"(lane), "r"(address_in(&barrier, other))
               : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"  // reduction
      ::"r"(address_in(sums + lane, other)),
      "r"(lane), "r"(address_in(&barrier, other))
      : "memory");
  unsigned a, b, c, d;
  asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};"  // wide store
               ::"r"(address_in(wide + 8 * lane, other)),
               "r"(lane)
               : "memory");
  meet_cluster();
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"  // wide load
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(address_in(wide + 8 * lane, other))
               : "memory");
  wait(barrier);
  give(out, a == d && b == c && sums[lane] == 7 + lane && stored[lane] == lane ? a : 99);
  meet_cluster();
}

// --- Tensor copies: a matrix of 64 x 64 words, each with its column % 32 ---------------------------------------------

/// A box of 16 words x 8 rows: 8 rows of 64 bytes.
__global__ void tensor_load(unsigned* out, const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) unsigned box[8][16];
  __shared__ std::uint64_t barrier;
  start(barrier, sizeof(box));
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];"  // tensor load
        ::"r"(address_of(box)),
        "l"(&map), "r"(0), "r"(8), "r"(address_of(&barrier))
        : "memory");
  }
  wait(barrier);
  give(out, box[7][threadIdx.x % 16] + threadIdx.x / 16 * 16);
}

/// A box of 32 words x 4 rows for both blocks of a cluster: 4 rows of 128 bytes in each.
__global__ void tensor_multicast(unsigned* out, const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) unsigned box[4][32];
  __shared__ std::uint64_t barrier;
  start(barrier, sizeof(box));
  meet_cluster();
  if (threadIdx.x == 0 && rank_in_cluster() == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
        "{%2, %3}], [%4], %5;"  // tensor multicast
        ::"r"(address_of(box)),
        "l"(&map), "r"(32), "r"(0), "r"(address_of(&barrier)), "h"(std::uint16_t(3))
        : "memory");
  }
  wait(barrier);
  give(out, box[3][threadIdx.x]);
  meet_cluster();
}

/// A map that the kernel changes: the box becomes 32 words x 2 rows.
__global__ void tensor_replaced(unsigned* out, CUtensorMap* map) {
  __shared__ __align__(128) unsigned box[2][32];
  __shared__ std::uint64_t barrier;
  start(barrier, sizeof(box));
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    asm volatile("tensormap.replace.tile.box_dim.global.b1024.b32 [%0], 0, 32;" ::"l"(map) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.global.b1024.b32 [%0], 1, 2;" ::"l"(map) : "memory");
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];"  // replaced
        ::"r"(address_of(box)),
        "l"(map), "r"(0), "r"(0), "r"(address_of(&barrier))
        : "memory");
  }
  if (blockIdx.x == 0) wait(barrier);
  give(out, blockIdx.x == 0 ? box[1][threadIdx.x] : threadIdx.x);
}

/// A box of 32 words x 1 row of the output, stored and then added to itself: 128 bytes each.
__global__ void tensor_store(unsigned* out, const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) unsigned box[32];
  box[threadIdx.x] = 0;
  fill(box, 32);
  if (threadIdx.x != 0) return;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"  // tensor store
               ::"l"(&map),
               "r"(0), "r"(blockIdx.x), "r"(address_of(box))
               : "memory");
  wait_for_stores();
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.bulk_group [%0, {%1, %2}], [%3];"  // reduction
               ::"l"(&map),
               "r"(0), "r"(blockIdx.x), "r"(address_of(box))
               : "memory");
  wait_for_stores();
}

// --- The program ----------------------------------------------------------------------------------------------------

constexpr unsigned side = 64;  // words of the matrix

CUtensorMap map_of(unsigned* matrix, unsigned columns, unsigned rows, unsigned box_columns, unsigned box_rows) {
  alignas(64) CUtensorMap map{};
  const cuuint64_t extents[]{columns, rows}, pitches[]{columns * sizeof(unsigned)};
  const cuuint32_t box[]{box_columns, box_rows}, steps[]{1, 1};
  expect(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, matrix, extents, pitches, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS,
         "cuTensorMapEncodeTiled");
  return map;
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned threads, unsigned cluster, const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

template <class T>
T* allocated(const std::vector<T>& contents) {
  T* data = nullptr;
  CHECK(cudaMalloc(&data, contents.size() * sizeof(T)));
  CHECK(cudaMemcpy(data, contents.data(), contents.size() * sizeof(T), cudaMemcpyHostToDevice));
  return data;
}

}  // namespace

int main(int count, char** arguments) {
  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major != 9) return 0;
  std::vector<unsigned> columns(std::size_t{side} * side), answers(std::size_t{blocks} * 32);
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = unsigned(i % 32);
  unsigned *const out = allocated(answers), *const matrix = allocated(columns);
  const auto box = [&](unsigned width, unsigned rows) { return map_of(matrix, side, side, width, rows); };
  CUtensorMap* const map = allocated(std::vector<CUtensorMap>{box(8, 8)});
  bool ran = false;
  const auto run = [&](const char* name, auto kernel, unsigned threads, unsigned cluster, const auto&... parameters) {
    if (count > 1 && std::strcmp(arguments[1], name) != 0) return;
    CHECK(cudaMemset(out, 0xff, answers.size() * sizeof(unsigned)));
    launch(kernel, threads, cluster, out, parameters...);
    CHECK(cudaMemcpy(answers.data(), out, answers.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < answers.size(); ++i) expect(answers[i] == i % 32, name);
    ran = true;
  };
#define NAMED(kernel) #kernel, kernel
  run(NAMED(wgmma_shared), 128, 1);
  run(NAMED(wgmma_registers), 128, 1);
  run(NAMED(wgmma_sparse), 128, 1);
  run(NAMED(bulk_load), 32, 1, matrix);
  run(NAMED(bulk_multicast), 32, 2, matrix);
  run(NAMED(bulk_store), 32, 1);
  run(NAMED(bulk_reduce), 32, 1);
  run(NAMED(bulk_to_block), 32, 2);
  run(NAMED(remote_lanes), 32, 2);
  run(NAMED(tensor_load), 32, 1, box(16, 8));
  run(NAMED(tensor_multicast), 32, 2, box(32, 4));
  run(NAMED(tensor_replaced), 32, 1, map);
  run(NAMED(tensor_store), 32, 1, map_of(out, 32, blocks, 32, 1));
  return ran ? 0 : 2;
}
