// CUB's single-pass scan, cub::DeviceScan::ExclusiveSum, for comparison.
#include <cub/device/device_scan.cuh>

#include <bankwise/gpu/cuda_library.hpp>

namespace bankwise::gpu {
namespace {

void scan(void* workspace, std::size_t& bytes, const void* in, void* out, std::uint64_t n, cudaStream_t stream) {
  BANKWISE_CUDA(cub::DeviceScan::ExclusiveSum(workspace, bytes, static_cast<const unsigned*>(in),
                                              static_cast<unsigned*>(out), n, stream));
}

}  // namespace

extern const Library prefix_sum_library{cub_library<&scan>()};

}  // namespace bankwise::gpu
