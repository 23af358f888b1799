// SPDX-License-Identifier: MIT
#include <bankwise/study/access_clocks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <bankwise/study/levels.hpp>
#include <bankwise/support/statistics.hpp>

namespace bankwise {
namespace {

/// The first row that took its time without conflict, in one pass a section.
const Result* find_calibration(const std::vector<Result>& results) {
  const auto found = std::find_if(results.begin(), results.end(), [](const Result& result) {
    const auto* cost = result.access && result.access->on_device ? &*result.access->on_device : nullptr;
    if (result.status == Status::wrong) return false;
    return cost != nullptr && cost->conflicts == 0 && cost->passes == cost->floor && result.time_median.value_or(0) > 0;
  });
  return found == results.end() ? nullptr : &*found;
}

}  // namespace

AccessResult access_of(const CaseStudy& study, const Variant& variant, Extent extent, const gpu::DeviceInfo& device,
                       const banks::Architecture* wanted) {
  const banks::Architecture* own = banks::find_architecture(device.architecture);
  const banks::Architecture& architecture = model_architecture(wanted, device.architecture);
  const RepeatedAccess repeated = study.access(variant, extent);
  AccessResult result;
  result.pattern = variant.idea;
  result.architecture = architecture.name;
  result.operation = repeated.operation;
  result.width = repeated.width;
  result.count = repeated.count;
  const auto access_on = [&](const banks::Architecture& on) {
    const std::uint64_t warp = ~std::uint64_t{0} >> (banks::max_lanes - on.warp);
    return banks::Access{repeated.operation, repeated.width, repeated.mask & warp, repeated.addresses};
  };
  const auto outcome = banks::cost(architecture, access_on(architecture));
  if (const auto* cost = std::get_if<banks::Cost>(&outcome)) {
    result.cost = *cost;
  } else {
    result.refusal = banks::sentence(architecture, access_on(architecture), std::get<banks::Refusal>(outcome));
  }
  if (own != nullptr) {
    const auto here = banks::cost(*own, access_on(*own));
    if (const auto* cost = std::get_if<banks::Cost>(&here)) result.on_device = *cost;
  }
  return result;
}

std::optional<double> expected_clocks(const AccessResult& access) {
  if (!access.cost) return std::nullopt;
  return std::max(access.cost->passes, access.cost->floor);
}

std::optional<MeasuredPasses> measured_passes(const AccessResult& access) {
  if (!access.clocks || !access.on_device) return std::nullopt;
  const auto nearest = unsigned(std::max(std::lround(*access.clocks), 1L));
  return MeasuredPasses{nearest, nearest <= access.on_device->floor};
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
      const banks::Cost& known = *calibration->access->on_device;
      access.clocks = *results[i].time_median / double(access.count) / unit * double(known.passes);
      access.clocks_from = fmt::format("time, against {}", calibration->variant);
    } else {
      access.clocks_from = access.on_device ? "no row without conflict to compare its time with; add --variant stride1"
                                            : "the bank model does not know this device";
    }
  }
}

}  // namespace bankwise
