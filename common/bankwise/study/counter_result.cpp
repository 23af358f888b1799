// SPDX-License-Identifier: MIT
#include <bankwise/study/counter_result.hpp>

#include <algorithm>
#include <stdexcept>

#include <bankwise/study/emulated_launch.hpp>
#include <bankwise/study/levels.hpp>

namespace bankwise {
namespace {

using banks::Tally;

struct Sums {
  Tally loads, stores, atomics;
  std::uint64_t lanes = 0, issued = 0;  // of all instructions
  std::string unknown;

  void add_times(const Sums& of, std::uint64_t times) {
    loads.add(of.loads, times);
    stores.add(of.stores, times);
    atomics.add(of.atomics, times);
    lanes += of.lanes * times;
    issued += of.issued * times;
    if (unknown.empty()) unknown = of.unknown;
  }
};

Sums sums_of_block(const emulator::Trace& trace, const banks::Architecture& architecture) {
  const trace::Report report = trace::report(trace, architecture);
  Sums sums{report.loads, report.stores, report.atomics, 0, 0, {}};
  for (const auto& block : trace.basic_blocks) {
    sums.lanes += block.lanes;
    sums.issued += block.issued;
  }
  if (!report.unknown.empty()) sums.unknown = report.unknown.front();
  if (!report.incomplete.empty()) throw std::runtime_error(report.incomplete.front());
  return sums;
}

Sums sums_of(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units,
             const banks::Architecture& architecture) {
  const Plan plan = plan_to_emulate(study, variant, extent, units);
  const EmulatedMemory memory(study, extent, plan);
  Sums all;
  for (const KernelLaunch& launch : plan.launches()) {
    all.add_times(sums_of_block(trace_of(study, launch, memory, architecture.warp, false), architecture),
                  launch.groups);
  }
  return all;
}

}  // namespace

JobModel job_model(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units,
                   const banks::Architecture& architecture) {
  JobModel model;
  model.architecture = &architecture;
  try {
    const Sums sums = sums_of(study, variant, extent, units, architecture);
    model.loads = known(sums.loads);
    model.stores = known(sums.stores);
    model.atomics = known(sums.atomics);
    if (sums.issued > 0) model.simt_efficiency = double(sums.lanes) / (double(sums.issued) * architecture.warp);
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
  if (passes <= conflicts) return std::nullopt;  // shared memory was not accessed
  return double(passes) / double(passes - conflicts);
}

}  // namespace bankwise
