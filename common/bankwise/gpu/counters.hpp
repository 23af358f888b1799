#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bankwise::gpu {

/// What a device counted in one run, over all its multiprocessors. Empty: this GPU does not have the counter.
struct Counters {
  using Count = std::optional<std::uint64_t>;
  Count shared_load_passes, shared_load_conflicts;
  Count shared_store_passes, shared_store_conflicts;
  Count shared_atomic_passes, shared_atomic_conflicts;
  Count warp_instructions;  ///< executed by warps
  Count lane_instructions;  ///< the active lanes in these, added up
  Count dram_read_bytes, dram_write_bytes;
  unsigned replays = 0;  ///< runs that it took, because the device has only a few counters
};

/// Corrects what the data pipe of shared memory counted by counts of passes per instruction. On an H200, the pipe also
/// counts delays by other traffic, as passes and as conflicts: up to 8 % in a full grid. Counts per instruction do not,
/// but have some merged lane groups twice. So the smaller number of passes is right, and if it is the one per
/// instruction, the difference is no conflicts either. `replays` are added.
Counters without_other_traffic(Counters pipe, const Counters& per_instruction);

/// Why CUPTI reads no counters, and what to do about it: a sentence for its error code.
std::string why_no_counters(int error, std::string_view call, std::string_view name);

/// Counts what `run` does in CUDA's current context, and calls it repeatedly until every counter is read. `before`
/// precedes each run and is not counted. `wait` waits for both. Error: Unsupported with a sentence of
/// why_no_counters(), or because CUPTI is missing.
Counters count_on_cuda(const std::function<void()>& before, const std::function<void()>& run,
                       const std::function<void()>& wait);

}  // namespace bankwise::gpu
