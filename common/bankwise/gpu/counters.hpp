// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bankwise::gpu {

/// What a device counted in one run, over all its multiprocessors. Empty: this GPU does not count it.
struct Counters {
  using Count = std::optional<std::uint64_t>;
  Count shared_load_passes, shared_load_conflicts;
  Count shared_store_passes, shared_store_conflicts;
  Count shared_atomic_passes, shared_atomic_conflicts;
  Count warp_instructions;  ///< that warps executed
  Count lane_instructions;  ///< the lanes that were active in them, added up
  Count dram_read_bytes, dram_write_bytes;
  unsigned replays = 0;  ///< runs that it took, because the device counts only so much at once
};

/// Lanes active in the instructions of warps ÷ lanes there. Empty where nothing was executed, or not counted.
std::optional<double> simt_efficiency(const Counters& counters);

/// Why CUPTI reads no counters, and what to do about it: a sentence for its error.
std::string why_no_counters(int error, std::string_view call, std::string_view name);

/// Counts what `run` does in CUDA's current context, again and again until everything is counted. `before` precedes each
/// run and is not counted. `wait` waits for either. Error: Unsupported with a sentence of why_no_counters(), or because
/// CUPTI is not there.
Counters count_on_cuda(const std::function<void()>& before, const std::function<void()>& run,
                       const std::function<void()>& wait);

}  // namespace bankwise::gpu
