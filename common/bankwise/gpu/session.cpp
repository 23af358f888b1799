#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>

#include <bankwise/gpu/error.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/support/numbers.hpp>

namespace bankwise::gpu {

Error::Error(std::string_view call, std::string_view error, CallSite where)
    : std::runtime_error(fmt::format("{}: {} ({}:{})", call, error,
                                     std::filesystem::path(where.file).filename().string(), where.line)) {}

void log_failure(std::string_view call, std::string_view error) noexcept {
  std::fprintf(stderr, "bankwise: %.*s: %.*s\n", int(call.size()), call.data(), int(error.size()), error.data());
}

extern const KernelSet common_gpu_kernels;  // generated from the kernels of this folder

namespace {

constexpr GroupShape read_all_group{256, 1};

/// NVIDIA's OpenCL reports a cache other than the L2. CUDA lists the same GPU under the same name with the right size.
void adopt_cache(DeviceInfo& device, const std::vector<DeviceInfo>& devices) {
  if (device.api == Api::cuda) return;
  const auto same = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& other) {
    return other.api == Api::cuda && other.name == device.name;
  });
  if (same != devices.end()) device.cache = same->cache;
}

/// Twice the reported size, but at least 256 MiB on a GPU, where OpenCL may not know the L2; a CPU without one: 64 MiB.
std::uint64_t flush_bytes(const DeviceInfo& device) {
  constexpr std::uint64_t MiB = 1 << 20;
  if (device.is_gpu) return std::min(std::max(2 * device.cache, 256 * MiB), device.max_allocation);
  return device.cache == 0 ? 64 * MiB : 2 * device.cache;
}

struct Remedy {
  int error;  // a CUptiResult as a number, so that a build without CUPTI has these sentences, too
  const char* sentence;
};
constexpr Remedy remedies[]{
    {26, "something else uses the hardware counters; end other profilers of this GPU (ncu, nsys, DCGM)"},
    {33, "the virtual GPU has no hardware counters; run on the GPU itself"},
    {35,
     "the driver lets only administrators read hardware counters; run as root (a container: --cap-add SYS_ADMIN), or "
     "load the kernel module nvidia with NVreg_RestrictProfilingToAdminUsers=0, see "
     "https://developer.nvidia.com/ERR_NVGPUCTRPERM"},
    {39, "another profiler has attached itself to this program; run without it, or without --counters"},
    {40, "the hypervisor lets no virtual GPU read hardware counters; enable profiling for the vGPU there"},
    {41, "confidential computing hides the hardware counters; run with that mode off"},
    {43, "this slice of a GPU has no hardware counters; run with MIG off"},
    {45, "WSL lets no program read hardware counters; enable them in NVIDIA's control panel on Windows"},
};

}  // namespace

Devices devices() {
  Devices devices;
  for (auto* append : {&append_cuda_devices, &append_opencl_devices}) {
    std::string missing;
    try {
      missing = append(devices.list);
    } catch (const std::exception& error) {
      missing = error.what();
    }
    if (!missing.empty()) devices.missing.push_back(missing);
  }
  for (auto& device : devices.list) adopt_cache(device, devices.list);
  int index = 0;
  for (auto& device : devices.list) {
    device.index = index++;
    device.throttling = throttling_of(device);
  }
  return devices;
}

std::string shown_name(const DeviceInfo& device) {
  if (device.is_gpu) return device.name;
  if (device.platform != "Portable Computing Language") return device.name + " (CPU)";
  // PoCL puts its driver and LLVM's name of the CPU in front, both in small letters: "cpu-skylake-avx512-".
  const auto model = std::adjacent_find(device.name.begin(), device.name.end(),
                                        [](char a, unsigned char b) { return a == '-' && std::isupper(b) != 0; });
  return (model == device.name.end() ? device.name : std::string(model + 1, device.name.end())) + " (PoCL, CPU)";
}

std::optional<unsigned> compute_capability(const DeviceInfo& device) {
  unsigned number = 0;
  const std::string_view prefix = "sm_", name = device.architecture;
  if (!name.starts_with(prefix)) return std::nullopt;
  return support::parse_number(name.substr(prefix.size()), number) ? std::optional(number) : std::nullopt;
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

std::shared_ptr<std::byte> Session::allocate_host(std::uint64_t bytes) {
  return {new std::byte[bytes], std::default_delete<std::byte[]>()};
}

void Session::read_all(Buffer& buffer, std::uint64_t rounds) {
  const std::array<KernelArgument, 4> arguments{&buffer, &buffer, buffer.bytes() / 4, rounds};
  launch(common_gpu_kernels.images.front(), Form::once, info().compute_units * std::uint64_t{8}, read_all_group,
         arguments);
}

void Session::flush_caches() {
  if (!flush_) {
    prepare(common_gpu_kernels.images.front(), Form::once, read_all_group);
    flush_ = allocate(flush_bytes(info()));
    fill(*flush_, 0, flush_->bytes(), 0);
  }
  read_all(*flush_, 1);
}

double Session::read_bandwidth(std::uint64_t bytes, std::uint64_t rounds) {
  constexpr int samples = 5;
  prepare(common_gpu_kernels.images.front(), Form::once, read_all_group);
  const auto buffer = allocate(bytes);
  fill(*buffer, 0, bytes, 0);
  double best = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const auto read = [&] { read_all(*buffer, rounds); };
    const double seconds = time(read, read).seconds;  // the first warms up
    if (seconds > 0) best = std::max(best, double(bytes) * double(rounds) / seconds);
  }
  return best;
}

Counters without_other_traffic(Counters pipe, const Counters& per_instruction) {
  const auto correct = [&](Counters::Count Counters::*passes, Counters::Count Counters::*conflicts) {
    const Counters::Count fewer = per_instruction.*passes;
    if (!(pipe.*passes) || !fewer || *fewer >= *(pipe.*passes)) return;
    const std::uint64_t difference = *(pipe.*passes) - *fewer;
    pipe.*passes = fewer;
    if (pipe.*conflicts) pipe.*conflicts = *(pipe.*conflicts) - std::min(*(pipe.*conflicts), difference);
  };
  correct(&Counters::shared_load_passes, &Counters::shared_load_conflicts);
  correct(&Counters::shared_store_passes, &Counters::shared_store_conflicts);
  correct(&Counters::shared_atomic_passes, &Counters::shared_atomic_conflicts);
  pipe.replays += per_instruction.replays;
  return pipe;
}

std::string why_no_counters(int error, std::string_view call, std::string_view name) {
  const auto* const remedy = std::ranges::find(remedies, error, &Remedy::error);
  if (remedy != std::end(remedies)) return remedy->sentence;
  return fmt::format("{}: {}; see whether ncu can read counters here", call, name);
}

// In place of the backends, and of the reader of CUDA's counters, that need what was not found at configure time.

#ifndef BANKWISE_HAVE_CUDA
std::string append_cuda_devices(std::vector<DeviceInfo>&) {
  return "no CUDA: this build is without it; install the CUDA Toolkit (12 or newer) and configure again";
}

std::unique_ptr<Session> open_cuda(const DeviceInfo&) { throw Unsupported("this build is without CUDA"); }
#endif

#ifndef BANKWISE_HAVE_CUPTI
Counters count_on_cuda(const std::function<void()>&, const std::function<void()>&, const std::function<void()>&) {
  throw Unsupported("this build reads no hardware counters; install CUPTI of CUDA 12.6 or newer and configure again");
}
#endif

#ifndef BANKWISE_HAVE_OPENCL
std::string append_opencl_devices(std::vector<DeviceInfo>&) {
  return "no OpenCL: this build is without it; install ocl-icd-opencl-dev and opencl-clhpp-headers and configure again";
}

std::unique_ptr<Session> open_opencl(const DeviceInfo&) { throw Unsupported("this build is without OpenCL"); }
#endif

}  // namespace bankwise::gpu
