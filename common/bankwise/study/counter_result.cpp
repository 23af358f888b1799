// SPDX-License-Identifier: MIT
#include <bankwise/study/counter_result.hpp>

#include <algorithm>
#include <stdexcept>

#include <bankwise/report/metrics.hpp>
#include <bankwise/study/emulated_launch.hpp>

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
  const Plan plan = plan_to_emulate(study, variant, extent, units);
  const EmulatedMemory memory(study, extent, plan);
  Sums sums;
  for (const KernelLaunch& launch : plan.launches()) {
    sums.add(trace::report(trace_of(study, launch, memory, architecture.warp, false), architecture), launch.groups);
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
  const auto counted = [&](gpu::Counters::Count gpu::Counters::*which) {
    return result.counted ? *result.counted.*which : std::nullopt;
  };
  const auto of_model = [&](std::optional<Tally> JobModel::*kind, std::uint64_t Tally::*value) {
    const bool there = result.model && (*result.model.*kind).has_value();
    return there ? gpu::Counters::Count((*(*result.model.*kind)).*value) : std::nullopt;
  };
  using gpu::Counters;
  return {
      {{"shared_load_passes", counted(&Counters::shared_load_passes), of_model(&JobModel::loads, &Tally::passes)},
       {"shared_load_conflicts", counted(&Counters::shared_load_conflicts),
        of_model(&JobModel::loads, &Tally::conflicts)},
       {"shared_store_passes", counted(&Counters::shared_store_passes), of_model(&JobModel::stores, &Tally::passes)},
       {"shared_store_conflicts", counted(&Counters::shared_store_conflicts),
        of_model(&JobModel::stores, &Tally::conflicts)},
       {"shared_atomic_passes", counted(&Counters::shared_atomic_passes), of_model(&JobModel::atomics, &Tally::passes)},
       {"shared_atomic_conflicts", counted(&Counters::shared_atomic_conflicts),
        of_model(&JobModel::atomics, &Tally::conflicts)}}};
}

std::optional<double> simt_efficiency(const gpu::Counters& counters) {
  constexpr unsigned warp = 32;  // the size on every GPU that CUPTI knows
  if (!counters.lane_instructions || !counters.warp_instructions) return std::nullopt;
  return report::simt_efficiency(*counters.lane_instructions, *counters.warp_instructions, warp);
}

std::optional<double> counted_over_ideal(const gpu::Counters& counters) {
  std::uint64_t passes = 0, conflicts = 0;
  for (const auto which : {&gpu::Counters::shared_load_passes, &gpu::Counters::shared_store_passes,
                           &gpu::Counters::shared_atomic_passes}) {
    if (!(counters.*which)) return std::nullopt;
    passes += *(counters.*which);
  }
  for (const auto which : {&gpu::Counters::shared_load_conflicts, &gpu::Counters::shared_store_conflicts,
                           &gpu::Counters::shared_atomic_conflicts}) {
    if (!(counters.*which)) return std::nullopt;
    conflicts += *(counters.*which);
  }
  return report::passes_over_ideal(passes, passes > conflicts ? passes - conflicts : 0);
}

}  // namespace bankwise::study
