// SPDX-License-Identifier: MIT
#include "bankwise/runner/access_clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bankwise/runner/stop_rule.hpp"

namespace bankwise {
namespace {

/// The first row that took its time without conflict, in one pass a phase.
const Result* find_calibration(const std::vector<Result>& results) {
  const auto found = std::find_if(results.begin(), results.end(), [](const Result& result) {
    return result.access && result.access->cost && result.access->cost->conflicts == 0 &&
           result.access->cost->passes == result.access->cost->floor && result.time_median.value_or(0) > 0;
  });
  return found == results.end() ? nullptr : &*found;
}

}  // namespace

AccessResult access_of(const CaseStudy& study, const Variant& variant, Extent extent, const gpu::DeviceInfo& device,
                       const banks::Architecture* wanted) {
  const banks::Architecture* architecture = wanted != nullptr ? wanted : banks::find_architecture(device.architecture);
  if (architecture == nullptr) architecture = banks::find_architecture("sm_90");
  const RepeatedAccess repeated = study.access(variant, extent);
  AccessResult result;
  result.pattern = variant.idea;
  result.architecture = architecture->name;
  result.operation = repeated.operation;
  result.width = repeated.width;
  result.count = repeated.count;
  const std::uint64_t warp = ~std::uint64_t{0} >> (banks::most_lanes - architecture->warp);
  const banks::Access access{repeated.operation, repeated.width, repeated.mask & warp, repeated.addresses};
  const auto outcome = banks::cost(*architecture, access);
  if (const auto* cost = std::get_if<banks::Cost>(&outcome)) {
    result.cost = *cost;
  } else {
    result.refusal = banks::sentence(*architecture, access, std::get<banks::Refusal>(outcome));
  }
  return result;
}

std::optional<double> expected_clocks(const AccessResult& access) {
  if (!access.cost) return std::nullopt;
  return std::max(access.cost->passes, access.cost->floor);
}

std::optional<MeasuredPasses> measured_passes(const AccessResult& access) {
  if (!access.clocks || !access.cost) return std::nullopt;
  const auto nearest = unsigned(std::max(std::lround(*access.clocks), 1L));
  return MeasuredPasses{nearest, nearest <= access.cost->floor};
}

void derive_clocks(std::vector<Result>& results, const std::vector<std::vector<double>>& counted) {
  const Result* calibration = find_calibration(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].access || !results[i].time_median) continue;
    AccessResult& access = *results[i].access;
    const double clocks = i < counted.size() ? median(counted[i]) : 0;
    if (access.count == 0) {
      access.clocks_from = "nothing was accessed";
    } else if (clocks > 0) {
      access.clocks = clocks / double(access.count);
      access.clocks_from = "clock64";
    } else if (calibration != nullptr) {
      const double unit = *calibration->time_median / double(calibration->access->count);
      access.clocks = *results[i].time_median / double(access.count) / unit * *expected_clocks(*calibration->access);
      access.clocks_from = fmt::format("time, against {}", calibration->variant);
    } else {
      access.clocks_from = "no row without conflict to compare its time with; add --variant stride1";
    }
  }
}

}  // namespace bankwise
