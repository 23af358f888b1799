// SPDX-License-Identifier: MIT
#include <bankwise/bench/sampling.hpp>

#include <algorithm>
#include <cmath>

#include <bankwise/support/statistics.hpp>

namespace bankwise {

unsigned runs_per_sample(double run, double tick) {
  return unsigned(std::clamp(std::ceil(100 * tick / std::max(run, 1e-9)), 1.0, 100.0));
}

double take_sample(Timing& timing, gpu::Enqueueing& how, const std::function<gpu::Timed(gpu::Enqueueing)>& time) {
  gpu::Timed timed = time(how);
  if (!timed.launch_overhead.empty()) {
    timing.launch_overhead = timed.launch_overhead;
    how = gpu::Enqueueing::immediate;
    timed = time(how);
  }
  return timed.seconds / timing.batch;
}

void summarise(const StopRule& rule, Status status, Timing& timing) {
  const auto samples = rule.samples();
  timing.dropped = rule.dropped();
  timing.stop = rule.reason();
  if (samples.empty() || status != Status::ok) return;
  timing.samples.assign(samples.begin(), samples.end());
  timing.median = median(samples);
  timing.min = *std::min_element(samples.begin(), samples.end());
  if (samples.size() >= fewest_for_noise) timing.noise = noise(samples);
}

}  // namespace bankwise
