#include <bankwise/support/stop_rule.hpp>

#include <algorithm>
#include <cmath>

#include <bankwise/support/numbers.hpp>

namespace bankwise::support {
namespace {

constexpr std::size_t window = 64;  // noise estimates that must agree before noise counts as stable
constexpr double agreement = 0.1;   // how far they may lie apart, relative to the largest

}  // namespace

bool StopRule::add(double sample, double elapsed) {
  samples_.push_back(sample);
  if (samples_.size() >= limits_.min_samples) {
    const double now = noise(samples_);
    if (noises_.size() == window) noises_.erase(noises_.begin());
    noises_.push_back(now);
    const bool full = samples_.size() >= limits_.max_samples;
    const bool long_enough = full || elapsed >= limits_.min_time;
    const auto [least, greatest] = std::minmax_element(noises_.begin(), noises_.end());
    if (long_enough && now <= limits_.max_noise) {
      reason_ = "quiet";
    } else if (long_enough && noises_.size() == window && *greatest - *least <= agreement * *greatest) {
      reason_ = "stable";
    } else if (full) {
      reason_ = "enough";
    }
  }
  return !reason_.empty() || out_of_time(elapsed);
}

bool StopRule::drop(double elapsed) {
  ++dropped_;
  return out_of_time(elapsed);
}

bool StopRule::out_of_time(double elapsed) {
  if (elapsed >= limits_.timeout) reason_ = dropped_ > 0 && dropped_ >= samples_.size() ? "throttled" : "timeout";
  return !reason_.empty();
}

MedianAndNoise median_and_noise(std::span<const double> samples) {
  MedianAndNoise result{.median = median(samples)};
  if (samples.size() >= fewest_for_noise) result.noise = noise(samples);
  return result;
}

std::optional<bool> differ(const MedianAndNoise& before, const MedianAndNoise& now) {
  if (!before.noise || !now.noise) return std::nullopt;
  return std::abs(now.median / before.median - 1) > std::hypot(*before.noise, *now.noise);
}

}  // namespace bankwise::support
