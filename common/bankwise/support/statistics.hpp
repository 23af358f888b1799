// SPDX-License-Identifier: MIT
#pragma once

#include <span>

namespace bankwise {

/// 0 for no samples.
double median(std::span<const double> samples);

/// 1.4826 * median absolute deviation / median. For normal noise this is the standard deviation over the mean, but it
/// is robust against outliers. 0 for no samples.
double noise(std::span<const double> samples);

/// Of fewer samples, reports show no noise.
inline constexpr std::size_t fewest_for_noise = 5;

}  // namespace bankwise
