// One block of every kernel: hardware counters of an H200 compared with the emulator and the bank model.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/study/case_study.hpp>

/// Loads, stores and atomics: sectors of global memory.
using Sectors = std::array<std::uint64_t, 3>;
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
  Sectors measured_sectors{};
  std::optional<Sectors> emulated_sectors;
};

/// A kernel whose emulated numbers differ, mostly because the device compiler emitted other instructions than the
/// source has, according to its machine code (cuobjdump -sass, nvcc 13.0, sm_90): a row of known_differences.json.
struct Difference {
  std::string study, variant;
  std::optional<Counts> emulated, merged;  ///< counted in the source, and as a device compiler may merge the accesses
  std::string why;
  std::optional<Sectors> sectors;
  std::string why_sectors;
};

/// The rows of counters.csv and sectors.csv in docs/results/nvidia_h200, each emulated if possible.
std::vector<CountedKernel> counted_kernels();

/// The known difference of a kernel; null if there is none.
const Difference* known_difference(const CountedKernel& kernel);

/// docs/results/nvidia_h200/counters.md
std::string counters_page(const std::vector<CountedKernel>& kernels);
