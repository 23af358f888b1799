// SPDX-License-Identifier: MIT
#include <bankwise/bench/stop_rule.hpp>

#include <algorithm>
#include <cmath>

namespace bankwise {
namespace {

constexpr std::size_t window = 64;  // noise estimates that must agree before noise counts as stable
constexpr double agreement = 0.1;   // by how much, of the largest

}  // namespace

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

bool StopRule::add(double sample, double elapsed) {
  samples_.push_back(sample);
  if (samples_.size() >= limits_.min_samples) {
    const double now = noise(samples_);
    if (noises_.size() == window) noises_.erase(noises_.begin());
    noises_.push_back(now);
    const bool full = samples_.size() >= limits_.max_samples;
    const bool long_enough = full || elapsed >= limits_.min_time;
    const auto [least, most] = std::minmax_element(noises_.begin(), noises_.end());
    if (long_enough && now <= limits_.max_noise) {
      reason_ = "quiet";
    } else if (long_enough && noises_.size() == window && *most - *least <= agreement * *most) {
      reason_ = "stable";
    } else if (full) {
      reason_ = "enough";
    }
  }
  if (reason_.empty() && elapsed >= limits_.timeout) reason_ = "timeout";
  return !reason_.empty();
}

}  // namespace bankwise
