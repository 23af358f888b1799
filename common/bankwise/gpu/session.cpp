// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include <bankwise/gpu/session.hpp>

namespace bankwise::gpu {

extern const KernelSet common_gpu_kernels;  // generated from the kernels of this folder

namespace {

/// Twice the size that the device reports, but at least 256 MiB on a GPU, where OpenCL may not know the L2. A CPU that
/// reports nothing gets 64 MiB.
std::uint64_t flush_bytes(const DeviceInfo& device) {
  constexpr std::uint64_t MiB = 1 << 20;
  if (device.is_gpu) return std::min(std::max(2 * device.cache, 256 * MiB), device.max_allocation);
  return device.cache == 0 ? 64 * MiB : 2 * device.cache;
}

}  // namespace

std::shared_ptr<std::byte> Session::allocate_host(std::uint64_t bytes) {
  return {new std::byte[bytes], std::default_delete<std::byte[]>()};
}

void Session::flush_caches() {
  constexpr GroupShape group{256, 1};
  const KernelImage& image = common_gpu_kernels.images.front();
  if (!flush_) {
    prepare(image, Form::once, group);
    flush_ = allocate(flush_bytes(info()));
    fill(*flush_, 0, flush_->bytes(), 0);
  }
  const std::array<KernelArgument, 3> arguments{flush_.get(), flush_.get(), flush_->bytes() / 4};
  launch(image, Form::once, info().compute_units * std::uint64_t{8}, group, arguments);
}

}  // namespace bankwise::gpu
