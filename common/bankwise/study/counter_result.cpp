// SPDX-License-Identifier: MIT
#include <bankwise/study/counter_result.hpp>

#include <algorithm>
#include <stdexcept>

#include <bankwise/report/metrics.hpp>
#include <bankwise/study/levels.hpp>

namespace bankwise::study {
namespace {

using banks::Tally;

struct Sums {
  Tally loads, stores, atomics;
  std::uint64_t lanes = 0, executions = 0;  // sums over all instructions
  std::string unknown;

  void add(const trace::Report& block, std::uint64_t times) {
    if (!block.incomplete.empty()) throw std::runtime_error(block.incomplete.front());
    loads.add(block.loads, times);
    stores.add(block.stores, times);
    atomics.add(block.atomics, times);
    lanes += block.executed_lanes * times;
    executions += block.executions * times;
    if (unknown.empty() && !block.unknown.empty()) unknown = block.unknown.front();
  }
};

Sums sums_of(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units,
             const banks::Architecture& architecture) {
  const EmulatedPlan plan(study, variant, extent, units);
  Sums sums;
  for (const KernelLaunch& launch : plan.launches()) {
    sums.add(trace::report(plan.trace(launch, architecture.warp, false), architecture), launch.groups);
  }
  return sums;
}

}  // namespace

JobModel job_model(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units,
                   const banks::Architecture& architecture) {
  JobModel model;
  model.architecture = &architecture;
  try {
    const Sums sums = sums_of(study, variant, extent, units, architecture);
    model.loads = report::known(sums.loads);
    model.stores = report::known(sums.stores);
    model.atomics = report::known(sums.atomics);
    model.simt_efficiency = report::simt_efficiency(sums.lanes, sums.executions, architecture.warp);
    model.reason = sums.unknown;
  } catch (const std::exception& why) {
    model.reason = why.what();
  }
  return model;
}

std::optional<std::int64_t> CounterNumber::difference() const {
  if (!counted || !model) return std::nullopt;
  return std::int64_t(*counted - *model);
}

std::array<CounterNumber, 6> shared_memory_numbers(const CounterResult& result) {
  using gpu::Counters;
  const auto number = [&](std::string_view key, Counters::Count Counters::*counted,
                          std::optional<Tally> JobModel::*kind, std::uint64_t Tally::*value) {
    CounterNumber row{key, result.counted ? *result.counted.*counted : std::nullopt, std::nullopt};
    if (result.model && (*result.model.*kind).has_value()) row.model = (*(*result.model.*kind)).*value;
    return row;
  };
  using Model = JobModel;
  return {number("shared_load_passes", &Counters::shared_load_passes, &Model::loads, &Tally::passes),
          number("shared_load_conflicts", &Counters::shared_load_conflicts, &Model::loads, &Tally::conflicts),
          number("shared_store_passes", &Counters::shared_store_passes, &Model::stores, &Tally::passes),
          number("shared_store_conflicts", &Counters::shared_store_conflicts, &Model::stores, &Tally::conflicts),
          number("shared_atomic_passes", &Counters::shared_atomic_passes, &Model::atomics, &Tally::passes),
          number("shared_atomic_conflicts", &Counters::shared_atomic_conflicts, &Model::atomics, &Tally::conflicts)};
}

std::optional<double> simt_efficiency(const gpu::Counters& counters) {
  constexpr unsigned warp = 32;  // the size on every GPU that CUPTI knows
  if (!counters.lane_instructions || !counters.warp_instructions) return std::nullopt;
  return report::simt_efficiency(*counters.lane_instructions, *counters.warp_instructions, warp);
}

std::optional<double> counted_over_ideal(const gpu::Counters& counters) {
  const auto sum = [](const auto&... counts) {
    return (... && counts) ? std::optional((... + *counts)) : std::nullopt;
  };
  const auto passes = sum(counters.shared_load_passes, counters.shared_store_passes, counters.shared_atomic_passes);
  const auto conflicts =
      sum(counters.shared_load_conflicts, counters.shared_store_conflicts, counters.shared_atomic_conflicts);
  if (!passes || !conflicts) return std::nullopt;
  return report::passes_over_ideal(*passes, *passes > *conflicts ? *passes - *conflicts : 0);
}

}  // namespace bankwise::study
