// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>

#include <bankwise/gpu/backend.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/gpu/throttle.hpp>

namespace bankwise::gpu {

namespace {

/// NVIDIA's OpenCL reports a cache other than the L2. CUDA lists the same GPU under the same name with the right size.
void adopt_cache(DeviceInfo& device, const std::vector<DeviceInfo>& all) {
  if (device.api == Api::cuda) return;
  const auto same = std::find_if(all.begin(), all.end(), [&](const DeviceInfo& other) {
    return other.api == Api::cuda && other.name == device.name;
  });
  if (same != all.end()) device.cache = same->cache;
}

}  // namespace

Devices devices() {
  Devices found;
  for (auto* append : {&append_cuda_devices, &append_opencl_devices}) {
    std::string missing;
    try {
      missing = append(found.list);
    } catch (const std::exception& error) {
      missing = error.what();
    }
    if (!missing.empty()) found.missing.push_back(missing);
  }
  for (auto& device : found.list) adopt_cache(device, found.list);
  int index = 0;
  for (auto& device : found.list) {
    device.index = index++;
    device.throttling = throttling_of(device);
  }
  return found;
}

std::optional<unsigned> compute_capability(const DeviceInfo& device) {
  unsigned number = 0;
  const std::string_view prefix = "sm_", name = device.architecture;
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto end = name.data() + name.size();
  const auto [behind, error] = std::from_chars(name.data() + prefix.size(), end, number);
  return error == std::errc() && behind == end ? std::optional(number) : std::nullopt;
}

void require_capability(const DeviceInfo& device, std::string_view kernel, unsigned least) {
  const unsigned capability = compute_capability(device).value_or(least);
  if (capability >= least) return;
  throw Unsupported(fmt::format("{} needs compute capability {}.{}; {} has {}.{}", kernel, least / 10, least % 10,
                                device.name, capability / 10, capability % 10));
}

const void* cuda_handle(const KernelImage& image, Form form) {
  const void* handle = form == Form::once ? image.cuda : image.cuda_repeated;
  if (handle != nullptr) return handle;
  if (!image.why_not_ported.empty()) throw Unsupported(std::string(image.why_not_ported));
  if (image.cuda == nullptr) throw Unsupported(fmt::format("{} was not built for CUDA", image.name));
  throw Unsupported(
      fmt::format("{} was built without the form that repeats its section; configure with -D "
                  "BANKWISE_CUDA_REPEATED=ON",
                  image.name));
}

std::unique_ptr<Session> open(const DeviceInfo& device) {
  return device.api == Api::cuda ? open_cuda(device) : open_opencl(device);
}

}  // namespace bankwise::gpu
