// A kernel that NVRTC compiles while the program runs: `compiled`, 4 blocks, a stride of 16 words.
#include <nvrtc.h>

#include "driver.cuh"

namespace {

constexpr const char* source = R"(extern "C" __global__ void compiled(unsigned* out) {
  __shared__ volatile unsigned words[16 * 32];
  words[16 * threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
  out[32 * blockIdx.x + threadIdx.x] = words[16 * threadIdx.x];
}
)";

void check_nvrtc(nvrtcResult result, const char* call) {
  if (result == NVRTC_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", call, nvrtcGetErrorString(result));
  std::exit(9);
}
#define CHECK_NVRTC(call) check_nvrtc(call, #call)

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  cudaDeviceProp device{};
  CHECK(cudaGetDeviceProperties(&device, 0));
  const std::string architecture = "-arch=sm_" + std::to_string(10 * device.major + device.minor);
  const char* const options[]{architecture.c_str(), "-lineinfo"};
  nvrtcProgram program = nullptr;
  CHECK_NVRTC(nvrtcCreateProgram(&program, source, "compiled.cu", 0, nullptr, nullptr));
  CHECK_NVRTC(nvrtcCompileProgram(program, 2, options));
  std::size_t bytes = 0;
  CHECK_NVRTC(nvrtcGetCUBINSize(program, &bytes));
  std::string cubin(bytes, '\0');
  CHECK_NVRTC(nvrtcGetCUBIN(program, cubin.data()));
  run(load(cubin, false), "compiled", 4);
  return 0;
}
