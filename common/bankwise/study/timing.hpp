// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bankwise {

/// The samples of one row, and what follows from them. Times in seconds, noise as a fraction.
struct Timing {
  unsigned batch = 1;  ///< runs in one sample; a sample is their mean
  std::vector<double> samples;
  std::size_t dropped = 0;      ///< samples that do not count because a device throttled
  std::string launch_overhead;  ///< why the samples may include launch overhead, as one sentence; empty: they do not
  std::string stop;             ///< why measuring ended
  std::optional<double> median, min;
  std::optional<double> noise;  ///< empty for too few samples
};

}  // namespace bankwise
