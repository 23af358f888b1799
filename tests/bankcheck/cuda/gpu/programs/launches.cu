// Ways to launch.
#include <cooperative_groups.h>

#include "common.cuh"

namespace {

extern __shared__ unsigned dynamic[];

constexpr unsigned dynamic_words = 15 * 1024;  // 60 KiB: more than a kernel gets without asking

/// A stride of 480 words, over all 60 KiB: bank 0, 32 passes.
__global__ void much_memory(unsigned* out) {
  volatile unsigned* const words = dynamic;
  words[480 * threadIdx.x] = value_of(blockIdx.x, threadIdx.x);   // far store
  out[32 * blockIdx.x + threadIdx.x] = words[480 * threadIdx.x];  // far load
}

/// A stride of 8 words: 8 passes.
__global__ void together(unsigned* out) {
  __shared__ volatile unsigned words[8 * 32];
  words[8 * threadIdx.x] = value_of(blockIdx.x, threadIdx.x);  // store together
  cooperative_groups::this_grid().sync();
  out[32 * blockIdx.x + threadIdx.x] = words[8 * threadIdx.x];  // load together
}

/// 3 blocks, twice.
void much() {
  CHECK(cudaFuncSetAttribute(much_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_words * 4));
  for (int i = 0; i < 2; ++i) {
    const Output out(3);
    much_memory<<<3, 32, dynamic_words * 4>>>(out.data);
    CHECK(cudaGetLastError());
    out.verify();
  }
}

/// 4 blocks.
void cooperative() {
  const Output out(4);
  unsigned* data = out.data;
  void* arguments[]{&data};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(together), dim3(4), dim3(32), arguments, 0, nullptr));
  out.verify();
}

/// ways_32 with 6 blocks, in the default stream, with an attribute.
void extended() {
  const Output out(6);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = 0;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(6);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, ways_32, out.data));
  out.verify();
}

constexpr Mode modes[] = {{"much", much}, {"cooperative", cooperative}, {"extended", extended}};

}  // namespace

int main(int count, char** arguments) { return play(modes, count, arguments); }
