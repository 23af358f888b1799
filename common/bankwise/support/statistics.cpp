// SPDX-License-Identifier: MIT
#include <bankwise/support/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bankwise {

double median(std::span<const double> samples) {
  if (samples.empty()) return 0;
  std::vector<double> sorted(samples.begin(), samples.end());
  const auto middle = sorted.begin() + std::ptrdiff_t(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  return (*std::max_element(sorted.begin(), middle) + *middle) / 2;
}

double noise(std::span<const double> samples) {
  const double centre = median(samples);
  if (centre == 0) return 0;
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (const double sample : samples) deviations.push_back(std::abs(sample - centre));
  return 1.4826 * median(deviations) / centre;
}

}  // namespace bankwise
