// SPDX-License-Identifier: MIT
#include <bankwise/bench/sampling.hpp>

#include <algorithm>
#include <cmath>

#include <bankwise/support/numbers.hpp>

namespace bankwise::bench {
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

}  // namespace bankwise::bench
