// Which samples count, how to take one, and what follows from all.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string_view>

#include <bankwise/gpu/session.hpp>
#include <bankwise/study/result.hpp>
#include <bankwise/support/stop_rule.hpp>

namespace bankwise::bench {

using support::StopLimits;
using support::StopRule;

/// How long a device rests after a sample during which it throttled. Power and temperature are averages: without a
/// rest, throttling would continue in the next samples.
inline constexpr std::chrono::milliseconds throttle_rest{20};

/// Decides which samples are invalid because the device throttled: it reads the clock reasons before and after each. A
/// device may throttle and recover unnoticed within one sample; then the sample counts, and only the noise shows it.
class ThrottleWatch {
 public:
  /// `source` may be null: nothing ever counts as throttled. Reads the reasons once.
  explicit ThrottleWatch(gpu::Throttle* source) : source_(source) { look(); }

  /// Call this after each sample: the reasons why it does not count, or 0 if it counts. The reading after one sample is
  /// the reading before the next. Error: gpu::Error.
  gpu::ClockReasons throttled() {
    const gpu::ClockReasons before = last_;
    look();
    return gpu::throttling_in(before | last_).empty() ? 0 : before | last_;
  }

  /// Call this after a rest: earlier readings no longer count.
  void look() { last_ = source_ == nullptr ? 0 : source_->reasons(); }

 private:
  gpu::Throttle* source_;
  gpu::ClockReasons last_ = 0;
};

/// How many runs make one sample with hot caches, so that it lasts 100 ticks of the timer. Both times in seconds.
unsigned runs_per_sample(double run, double tick);

/// One sample in seconds: `time` measures `timing.batch` runs. A sample that was held back only in part is discarded,
/// `timing` says why, and this and all later samples are taken without the gate: `how` becomes immediate.
double take_sample(study::Timing& timing, gpu::Enqueueing& how, const std::function<gpu::Timed(gpu::Enqueueing)>& time);

/// Writes to `timing` what the rule has seen; without the samples if the row has failed.
void summarise(const StopRule& rule, study::Status status, study::Timing& timing);

/// Results of rows that were measured, relative to copy, and to the row of the baseline.
void derive_ratios(std::span<study::Result> results, std::string_view baseline);

/// What limits a measured row of an NVIDIA GPU, whose clock is known; `model` is that of the timed launches.
std::optional<study::Limits> limits_of(const study::Result& result, const study::JobModel& model);

/// On several ranks: relative to what the copies allow, and to the row `alone`.
void derive_scaling(std::span<study::Result> results);

}  // namespace bankwise::bench
