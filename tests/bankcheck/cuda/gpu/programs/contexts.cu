// Several contexts on one device, and several devices.
#include "driver.cuh"

namespace {

/// A new context, which is current: the runtime launches in it.
CUcontext make_context() {
  CHECK_DRIVER(cuInit(0));
  CUdevice device = 0;
  CHECK_DRIVER(cuDeviceGet(&device, 0));
  CUcontext context = nullptr;
#if CUDA_VERSION >= 13000
  CHECK_DRIVER(cuCtxCreate(&context, nullptr, 0, device));
#else
  CHECK_DRIVER(cuCtxCreate(&context, 0, device));
#endif
  return context;
}

/// ways_32: 3 + 5 + 5 blocks.
void two() {
  const CUcontext first = make_context(), second = make_context();
  CHECK_DRIVER(cuCtxSetCurrent(first));
  run(ways_32, 3);
  CHECK_DRIVER(cuCtxSetCurrent(second));
  run(ways_32, 5);
  CHECK_DRIVER(cuCtxSetCurrent(first));
  run(ways_32, 5);
}

/// ways_32: 3 blocks, then 5; ways_2: 7.
void destroyed() {
  const CUcontext first = make_context();
  run(ways_32, 3);
  CHECK_DRIVER(cuCtxDestroy(first));
  const CUcontext second = make_context();
  run(ways_32, 5);
  run(ways_2, 7);
  CHECK_DRIVER(cuCtxDestroy(second));
}

/// The store of ways_32, after half a second.
__global__ void slow(const long long clocks) {
  __shared__ volatile unsigned tile[32 * 32];
  const long long start = clock64();
  while (clock64() - start < clocks) {
  }
  tile[32 * threadIdx.x] = threadIdx.x;  // late store
}

/// The context is destroyed while its kernel of 11 blocks runs.
void busy() {
  const CUcontext context = make_context();
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  slow<<<11, 32, 0, stream>>>(800'000'000);
  CHECK(cudaGetLastError());
  CHECK_DRIVER(cuCtxDestroy(context));
}

/// ways_32: 3 blocks on device 0, 5 on device 1; ways_2: 7 on device 1.
void devices() {
  CHECK(cudaSetDevice(0));
  run(ways_32, 3);
  CHECK(cudaSetDevice(1));
  run(ways_32, 5);
  run(ways_2, 7);
}

constexpr Mode modes[] = {{"two", two}, {"destroyed", destroyed}, {"busy", busy}, {"devices", devices}};

}  // namespace

int main(int count, char** arguments) { return play(modes, count, arguments); }
