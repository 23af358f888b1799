// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include <bankwise/gpu/throttle.hpp>

namespace bankwise {

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

}  // namespace bankwise
