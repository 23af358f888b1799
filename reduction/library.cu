#include <cub/device/device_reduce.cuh>

#include <bankwise/gpu/cuda_library.hpp>

namespace bankwise::gpu {
namespace {

struct Add {
  __host__ __device__ uint4 operator()(const uint4& a, const uint4& b) const {
    return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
};

void reduce(void* workspace, std::size_t& bytes, const void* in, void* out, std::uint64_t n, cudaStream_t stream) {
  BANKWISE_CUDA(cub::DeviceReduce::Reduce(workspace, bytes, static_cast<const uint4*>(in), static_cast<uint4*>(out), n,
                                          Add{}, make_uint4(0, 0, 0, 0), stream));
}

}  // namespace

extern const Library reduction_library{cub_library<&reduce>()};

}  // namespace bankwise::gpu
