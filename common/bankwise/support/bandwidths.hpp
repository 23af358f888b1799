// Measured bandwidths of the GPUs of this user: the file bandwidths.csv in the folder of cache_folder().
#pragma once

#include <optional>
#include <string_view>

namespace bankwise::support {

/// In GB/s (10^9 bytes), the most that was reached.
struct Bandwidths {
  double l2 = 0, dram = 0;
};

/// Of a GPU by its name, "NVIDIA H200"; the last that was kept. Nothing if none was, or if the file cannot be read.
std::optional<Bandwidths> measured_bandwidths(std::string_view gpu);

/// Keeps them for later runs. Returns the file. Errors: UsageError, std::runtime_error if it cannot be written.
std::string keep_bandwidths(std::string_view gpu, const Bandwidths& bandwidths);

}  // namespace bankwise::support
