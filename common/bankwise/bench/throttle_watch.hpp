// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include <bankwise/gpu/throttle.hpp>

namespace bankwise {

/// How long a device rests after a sample that it throttled in. Power and temperature are averages: without a rest, the
/// samples that follow keep them up.
inline constexpr std::chrono::milliseconds throttle_rest{20};

/// Decides which samples a throttling device has spoilt: clocks are looked at before and after each. A device may
/// throttle and recover unseen within one sample; then the sample counts, and only the noise shows it.
class ThrottleWatch {
 public:
  /// `source` may be null: nothing is ever throttled. Asks it once.
  explicit ThrottleWatch(gpu::Throttle* source) : source_(source) { look(); }

  /// To be called after each sample: the reasons for which it does not count, or 0 if it counts. The look after one
  /// sample is the look before the next. Error: gpu::Error.
  gpu::ClockReasons throttled() {
    const gpu::ClockReasons before = last_;
    look();
    return gpu::throttling_in(before | last_).empty() ? 0 : before | last_;
  }

  /// To be called after a rest: what was seen before it no longer counts.
  void look() { last_ = source_ == nullptr ? 0 : source_->reasons(); }

 private:
  gpu::Throttle* source_;
  gpu::ClockReasons last_ = 0;
};

}  // namespace bankwise
