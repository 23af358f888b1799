// SPDX-License-Identifier: MIT
//
// What measurements on one device and on several ranks do alike.
#pragma once

#include <functional>

#include <bankwise/bench/stop_rule.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise {

/// How many runs make one sample with hot caches, so that it lasts 100 ticks of the timer. Both times in seconds.
unsigned runs_per_sample(double run, double tick);

/// One sample in seconds: `time` measures `timing.batch` runs. A sample that was held back only in part is discarded,
/// `timing` says why, and this and all later samples are taken without the gate: `how` becomes immediate.
double take_sample(Timing& timing, gpu::Enqueueing& how, const std::function<gpu::Timed(gpu::Enqueueing)>& time);

/// Writes to `timing` what the rule has seen; without the samples if the row has failed.
void summarise(const StopRule& rule, Status status, Timing& timing);

}  // namespace bankwise
