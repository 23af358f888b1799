// When to stop measuring, and whether two medians differ.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bankwise::support {

/// When to stop measuring a variant. Times in seconds, noise as a fraction.
struct StopLimits {
  std::size_t min_samples = 10;
  std::size_t max_samples = 1024;  ///< replaces min_time, and is the end in any case
  double min_time = 0.2;           ///< spent on this variant, cache flushes included
  double max_noise = 0.01;
  double timeout = 1;  ///< spent on this variant, cache flushes included
};

/// Decides after each sample. The caller passes the time, so the rule has no clock.
class StopRule {
 public:
  explicit StopRule(const StopLimits& limits) : limits_(limits) {}

  /// Adds a sample. `elapsed` is the time spent on this variant so far. True if it was the last sample.
  bool add(double sample, double elapsed);

  /// Instead of add(): the sample is dropped because the device throttled, but its time was spent.
  bool drop(double elapsed);

  std::span<const double> samples() const { return samples_; }
  std::size_t dropped() const { return dropped_; }
  /// Why it stopped: "quiet", "stable" (noisy, but more samples would not change that), "enough", "timeout",
  /// "throttled" (a timeout, and half of the samples or more were dropped). Empty while measuring continues.
  std::string_view reason() const { return reason_; }

 private:
  bool out_of_time(double elapsed);

  StopLimits limits_;
  std::vector<double> samples_;
  std::size_t dropped_ = 0;
  std::vector<double> noises_;  // the estimate after each sample, of the last `window`
  std::string_view reason_;
};

/// A median of samples, and their noise as a fraction; nothing for too few samples to know it.
struct MedianAndNoise {
  double median = 0;
  std::optional<double> noise;
};
MedianAndNoise median_and_noise(std::span<const double> samples);

/// Whether two medians differ by more than the noise of both; nothing if the noise of one is not known.
std::optional<bool> differ(const MedianAndNoise& before, const MedianAndNoise& now);

}  // namespace bankwise::support
