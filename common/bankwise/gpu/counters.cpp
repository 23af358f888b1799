#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include <bankwise/gpu/session.hpp>

namespace bankwise::gpu {
namespace {

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

}  // namespace bankwise::gpu
