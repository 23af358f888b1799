// For the library.cu of a case study, compiled by nvcc.
#pragma once

#include <cub/version.cuh>

#include <string>

#include <bankwise/gpu/cuda_api.hpp>
#include <bankwise/gpu/kernel_image.hpp>

namespace bankwise::gpu {

/// "CUB 3.0.1"
inline std::string versioned(std::string name, int major, int minor, int patch) {
  return name + ' ' + std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

/// A routine with CUB's interface, called twice: without a workspace it only returns how many bytes it needs.
using CubRoutine = void (*)(void* workspace, std::size_t& bytes, const void* in, void* out, std::uint64_t n,
                            cudaStream_t stream);

/// The Library of a CUB routine over vectors.
template <CubRoutine routine>
constexpr Library cub_library() {
  return {
      .name = [] { return versioned("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION); },
      .workspace_bytes =
          [](std::uint64_t height, std::uint64_t width) {
            std::size_t bytes = 0;
            routine(nullptr, bytes, nullptr, nullptr, height * width, nullptr);
            return std::uint64_t{bytes};
          },
      .enqueue =
          [](void* stream, const void* in, void* out, void* workspace, std::uint64_t bytes, std::uint64_t height,
             std::uint64_t width) {
            std::size_t size = bytes;
            routine(workspace, size, in, out, height * width, static_cast<cudaStream_t>(stream));
          },
  };
}

}  // namespace bankwise::gpu
