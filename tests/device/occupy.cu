#include "occupy.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <bankwise/gpu/cuda_api.hpp>

namespace {

constexpr unsigned long long max_ns = 20'000'000'000;
constexpr unsigned block = 256, probes = 256;
constexpr unsigned here = 1, gone = 2;

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// `signs` lies in host memory: a word that makes the blocks leave, then one word per block.
__global__ void occupy(volatile unsigned* signs) {
  if (threadIdx.x == 0) {
    volatile unsigned* const mine = signs + 1 + blockIdx.x;
    *mine = here;
    __threadfence_system();
    const unsigned long long begin = nanoseconds();
    while (*signs == 0 && nanoseconds() - begin < max_ns) {
#if __CUDA_ARCH__ >= 700
      __nanosleep(10000);
#endif
    }
    *mine = gone;
    __threadfence_system();
  }
  __syncthreads();
}

/// counts[0]: blocks that are resident now. counts[1]: the maximum so far.
__global__ void count_neighbours(unsigned* counts) {
  if (threadIdx.x == 0) {
    atomicMax(&counts[1], atomicAdd(&counts[0], 1) + 1);
    const unsigned long long begin = nanoseconds();
    while (nanoseconds() - begin < 50'000) {
    }
    atomicSub(&counts[0], 1);
  }
  __syncthreads();
}

int attribute(cudaDeviceAttr name, const bankwise::gpu::DeviceInfo& device) {
  int value = 0;
  BANKWISE_CUDA(cudaDeviceGetAttribute(&value, name, device.api_index));
  return value;
}

}  // namespace

struct OccupiedDevice::Parts {
  cudaStream_t occupied = nullptr, probe = nullptr;
  volatile unsigned* signs = nullptr;  // the host's
  unsigned* counts = nullptr;          // the device's
  unsigned blocks = 0;

  ~Parts() {
    using bankwise::gpu::log_cuda;
    if (signs != nullptr) *signs = 1;
    for (const cudaStream_t stream : {occupied, probe}) {
      if (stream == nullptr) continue;
      log_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      log_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }
    log_cuda(cudaFreeHost(const_cast<unsigned*>(signs)), "cudaFreeHost");
    log_cuda(cudaFree(counts), "cudaFree");
  }
};

OccupiedDevice::OccupiedDevice(const bankwise::gpu::DeviceInfo& device, unsigned free_units)
    : parts_(std::make_unique<Parts>()) {
  Parts& parts = *parts_;
  BANKWISE_CUDA(cudaSetDevice(device.api_index));
  const unsigned blocks = device.compute_units > free_units ? device.compute_units - free_units : 0;
  for (cudaStream_t* stream : {&parts.occupied, &parts.probe}) {
    BANKWISE_CUDA(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  }
  void *signs = nullptr, *device_signs = nullptr;
  BANKWISE_CUDA(cudaHostAlloc(&signs, (1 + blocks) * sizeof(unsigned), cudaHostAllocMapped));
  std::memset(signs, 0, (1 + blocks) * sizeof(unsigned));
  parts.signs = static_cast<volatile unsigned*>(signs);
  BANKWISE_CUDA(cudaHostGetDevicePointer(&device_signs, signs, 0));
  BANKWISE_CUDA(cudaMalloc(&parts.counts, 2 * sizeof(unsigned)));

  // A block with all of the shared memory has its multiprocessor to itself.
  const int shared = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  for (const auto kernel : {reinterpret_cast<const void*>(&occupy), reinterpret_cast<const void*>(&count_neighbours)}) {
    BANKWISE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  }
  max_resident({block, 1});  // loads its code
  if (blocks == 0) return;
  occupy<<<blocks, block, std::size_t(shared), parts.occupied>>>(static_cast<volatile unsigned*>(device_signs));
  BANKWISE_CUDA(cudaGetLastError());
  parts.blocks = blocks;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!is_occupied()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("the device has no room for the blocks that are to occupy it");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

OccupiedDevice::~OccupiedDevice() = default;

bool OccupiedDevice::is_occupied() const {
  for (unsigned i = 0; i < parts_->blocks; ++i) {
    if (parts_->signs[1 + i] != here) return false;
  }
  return true;
}

unsigned OccupiedDevice::max_resident(bankwise::gpu::GroupShape shape) const {
  const cudaStream_t stream = parts_->probe;
  BANKWISE_CUDA(cudaMemsetAsync(parts_->counts, 0, 2 * sizeof(unsigned), stream));
  count_neighbours<<<probes, dim3(shape.x, shape.y), shape.dynamic_shared, stream>>>(parts_->counts);
  BANKWISE_CUDA(cudaGetLastError());
  unsigned max = 0;
  BANKWISE_CUDA(cudaMemcpyAsync(&max, parts_->counts + 1, sizeof max, cudaMemcpyDeviceToHost, stream));
  BANKWISE_CUDA(cudaStreamSynchronize(stream));
  return max;
}

unsigned shared_per_block(unsigned blocks, const bankwise::gpu::DeviceInfo& device) {
  constexpr int others = 4096;  // what the block has besides, and what the system takes for each
  const int all = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  const int max = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return unsigned(std::min(all / int(blocks), max) - others);
}
