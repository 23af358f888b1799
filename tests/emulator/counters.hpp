// One block of every kernel: hardware counters of an H200 compared with the emulator and the bank model.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/study/case_study.hpp>

/// Loads, stores and atomics: passes and conflicts of each.
using Counts = std::array<std::uint64_t, 6>;
inline constexpr std::array<std::string_view, 6> count_names{"load passes",     "load conflicts", "store passes",
                                                             "store conflicts", "atomic passes",  "atomic conflicts"};

struct CountedKernel {
  std::string study, variant, kernel;
  bankwise::study::Extent extent;
  Counts measured{};
  std::optional<Counts> merged;    ///< the emulator's second count
  std::optional<Counts> emulated;  ///< empty if it is not emulated; `why_not` has the reason
  std::string why_not;
};

/// A kernel whose emulated numbers differ, because the device compiler emitted other instructions than the source has,
/// according to its machine code (cuobjdump -sass, nvcc 13.0, sm_90): a row of known_differences.json.
struct Difference {
  std::string study, variant;
  Counts emulated, merged;  ///< counted in the source, and as a device compiler may merge the accesses
  std::string why;
};

/// The rows of docs/results/nvidia_h200/counters.csv, each emulated if possible.
std::vector<CountedKernel> counted_kernels();

/// The known difference of a kernel; null if there is none.
const Difference* known_difference(const CountedKernel& kernel);

/// CSV: the sectors of global memory of each emulated kernel, as tools/counters.py counts them with --space global.
std::string sectors_table(const std::vector<CountedKernel>& kernels);

/// docs/results/nvidia_h200/counters.md
std::string counters_page(const std::vector<CountedKernel>& kernels);
