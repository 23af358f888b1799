#include <bankwise/bench/sampling.hpp>

#include <algorithm>
#include <cmath>

#include <bankwise/report/busy.hpp>
#include <bankwise/support/numbers.hpp>

namespace bankwise::bench {

using namespace study;

namespace {

/// The row, if it was measured.
const Result* measured(std::span<const Result> results, std::string_view name) {
  const auto row = std::ranges::find_if(results, [&](const Result& result) {
    return result.variant == name && result.status == Status::ok && result.timing.median.value_or(0) > 0;
  });
  return row == results.end() ? nullptr : &*row;
}

}  // namespace

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
  timing.median = support::median(samples);
  timing.min = *std::min_element(samples.begin(), samples.end());
  if (samples.size() >= support::fewest_for_noise) timing.noise = support::noise(samples);
}

void derive_ratios(std::span<Result> results, std::string_view baseline_row) {
  const Result *copy = measured(results, copy_row), *baseline = measured(results, baseline_row);
  for (Result& result : results) {
    if (copy != nullptr && result.bytes_per_second) {
      result.of_copy = *result.bytes_per_second / *copy->bytes_per_second;
    }
    if (baseline != nullptr && result.timing.median.value_or(0) > 0 && &result != copy) {
      result.speedup = *baseline->timing.median / *result.timing.median;
    }
  }
}

std::optional<Limits> limits_of(const Result& result, const JobModel& model) {
  const gpu::DeviceInfo& device = *result.device;
  const bool own_model = banks::find_architecture(device.architecture) == model.architecture;
  const double seconds = result.timing.median.value_or(0);
  if (!gpu::compute_capability(device) || !own_model || device.clock_hz <= 0 || seconds <= 0 || !model.work) {
    return std::nullopt;
  }
  const banks::GpuModel* row = banks::find_gpu(device.name);
  report::GpuRates rates = row != nullptr ? report::rates_of(*row) : report::GpuRates{};
  rates.multiprocessors = device.compute_units;
  rates.clock_ghz = device.clock_hz * 1e-9;
  rates.l2_bytes = double(device.cache);
  report::Work work = *model.work, after = *model.conflict_free;
  if (result.repeats == 1) work.sectors_read = after.sectors_read = result.bytes / std::uint64_t(report::sector_bytes);
  const double ns = seconds * 1e9;
  Limits limits{.speedup = report::most_speedup(work, after, rates, ns)};
  for (const report::PipeUse& use : report::busy(work, rates, ns).pipes) {
    if (use.pipe == report::Pipe::shared) limits.shared_busy = use.busy.value_or(0);
  }
  for (const auto& least : report::least_times(work, rates, report::Assuming::nothing)) {
    limits.least_s = std::max(limits.least_s, least.value_or(0) * 1e-9);
  }
  return limits;
}

void derive_scaling(std::span<Result> results) {
  const Result *copy = measured(results, copy_row), *peers = measured(results, peer_copy_row),
               *alone = measured(results, alone_row);
  for (Result& result : results) {
    Scaling& scaling = result.scaling;
    if (!is_variant(result.variant) || result.timing.median.value_or(0) <= 0 || copy == nullptr) continue;
    if (alone != nullptr) scaling.weak = *alone->timing.median / *result.timing.median;
    if (scaling.link_bytes > 0 && peers == nullptr) continue;  // the link's rate is unknown
    const double memory = double(result.bytes) / double(copy->bytes) * *copy->timing.median;
    const double link =
        peers == nullptr ? 0 : double(scaling.link_bytes) / double(peers->scaling.link_bytes) * *peers->timing.median;
    scaling.floor_s = std::max(memory, link);
    scaling.of_floor = *scaling.floor_s / *result.timing.median;
  }
}

}  // namespace bankwise::bench
