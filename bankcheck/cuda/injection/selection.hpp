// Which kernels are watched, by the globs of --kernel, and which blocks of a large launch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bankwise::cuda {

class KernelFilter {
 public:
  KernelFilter() = default;  ///< all kernels

  /// Globs as fnmatch() has them, each for the mangled name, the whole demangled name, or the demangled name without
  /// return type, template arguments and parameters. No glob: all kernels.
  explicit KernelFilter(std::vector<std::string> globs) : globs_(std::move(globs)) {}

  bool accepts(const std::string& mangled) const;

  /// Whether a cubin may contain a kernel that is accepted: true if in doubt, also for bytes that are no cubin.
  bool accepts_some_kernel(std::string_view cubin) const;

 private:
  std::vector<std::string> globs_;
};

/// "void ns::transpose<float, 32>(float*)" -> "ns::transpose".
std::string bare_name(const std::string& demangled);

struct BlockSample {
  std::uint32_t threshold = 0;  ///< LaunchSlot::threshold
  std::uint64_t blocks = 0;     ///< that it watches
};

/// A sample of at most `max_blocks` (0: all) of a grid of `blocks`, spread evenly over the grid; at least one block of
/// a grid that has any. `blocks` is at most 2^63.
BlockSample sample_blocks(std::uint64_t blocks, std::uint64_t max_blocks);

/// How many of the numbers 0 to `blocks` - 1 is_watched_block() accepts for `threshold`; exact, in logarithmic time.
std::uint64_t count_watched_blocks(std::uint64_t blocks, std::uint32_t threshold);

}  // namespace bankwise::cuda
