// SPDX-License-Identifier: MIT
#include "access_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <bankwise/study/levels.hpp>
#include <bankwise/support/numbers.hpp>

namespace bankwise::access_patterns {
namespace {

/// The first timed row without conflicts: one pass per lane group, so its clocks are known.
const Row* find_calibration(const std::vector<Row>& rows) {
  const auto calibration = std::find_if(rows.begin(), rows.end(), [](const Row& row) {
    const auto& cost = row.access.on_device;
    if (row.result.status == Status::wrong || row.result.timing.median.value_or(0) <= 0) return false;
    return cost && cost->conflicts == 0 && cost->passes == cost->floor;
  });
  return calibration == rows.end() ? nullptr : &*calibration;
}

/// The tally of `times` more iterations, if each adds the difference between the second and the first.
std::optional<banks::Tally> extrapolated(const std::optional<banks::Tally>& first,
                                         const std::optional<banks::Tally>& second, std::uint64_t times) {
  if (!first || !second) return std::nullopt;
  const auto at = [&](std::uint64_t banks::Tally::*value) {
    return *first.*value + times * (*second.*value - *first.*value);
  };
  using banks::Tally;
  return Tally{at(&Tally::accesses), at(&Tally::lanes), at(&Tally::passes), at(&Tally::ideal), at(&Tally::conflicts)};
}

}  // namespace

AccessResult access_of(const Variant& variant, Extent extent, const gpu::DeviceInfo& device,
                       const banks::Architecture* wanted) {
  const banks::Architecture* own = banks::find_architecture(device.architecture);
  const banks::Architecture& architecture = model_architecture(wanted, device.architecture);
  const RepeatedAccess repeated = repeated_access(variant, extent);
  AccessResult result{.pattern = std::string(variant.idea),
                      .architecture = std::string(architecture.name),
                      .operation = repeated.operation,
                      .width = repeated.width,
                      .count = repeated.count};
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

void derive_clocks(std::vector<Row>& rows) {
  const Row* calibration = find_calibration(rows);
  for (Row& row : rows) {
    if (!row.result.timing.median) continue;
    AccessResult& access = row.access;
    const double clocks = row.counted.empty() ? 0 : median(row.counted);
    if (access.count == 0) {
      access.clocks_from = "no access was made";
    } else if (clocks > 0) {
      access.clocks = clocks / double(access.count);
      access.clocks_from = "clock64";
    } else if (calibration != nullptr) {
      const double unit = *calibration->result.timing.median / double(calibration->access.count);
      const banks::Cost& known = *calibration->access.on_device;
      access.clocks = *row.result.timing.median / double(access.count) / unit * double(known.passes);
      access.clocks_from = fmt::format("time relative to {}", calibration->result.variant);
    } else {
      access.clocks_from = access.on_device ? "no conflict-free row to compare its time with; add --variant stride1"
                                            : "the bank model does not know this device";
    }
  }
}

JobModel model_of_turns(const Variant& variant, Extent extent, const banks::Architecture& architecture) {
  constexpr std::uint64_t emulated = 2;
  const auto turns = [&](std::uint64_t count) { return job_model(case_study(), variant, {1, count}, 1, architecture); };
  if (extent.width <= emulated) return turns(extent.width);
  const JobModel first = turns(1);
  JobModel model = turns(emulated);
  const std::uint64_t more = extent.width - 1;
  model.loads = extrapolated(first.loads, model.loads, more);
  model.stores = extrapolated(first.stores, model.stores, more);
  model.atomics = extrapolated(first.atomics, model.atomics, more);
  model.simt_efficiency.reset();  // two iterations and the setup before them do not represent many iterations
  return model;
}

}  // namespace bankwise::access_patterns
