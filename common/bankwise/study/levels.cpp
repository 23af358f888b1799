#include <bankwise/study/levels.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <stdexcept>
#include <system_error>

#include <bankwise/emulator/core/emulate.hpp>
#include <bankwise/report/metrics.hpp>

namespace bankwise::study {
namespace {

using banks::Tally;

constexpr std::uint64_t filled_words = 1 << 16;                                 // words at the beginning of each input
constexpr std::uint64_t max_groups = std::numeric_limits<std::int32_t>::max();  // the limit of a CUDA grid in x

const emulator::NamedKernel& emulated_kernel(const CaseStudy& study, std::string_view name) {
  if (study.emulated != nullptr) {
    for (const emulator::NamedKernel* kernel : study.emulated->kernels) {
      if (kernel->name != name) continue;
      if (kernel->run == nullptr) throw std::runtime_error(std::string(kernel->why_not));
      return *kernel;
    }
  }
  throw std::runtime_error(fmt::format("there is no kernel {} for the emulator", name));
}

/// The problem's names for a kernel's levels, or their numbers if it has none.
std::vector<std::string> level_names(const CaseStudy& study, const Variant& variant, std::string_view kernel,
                                     std::size_t count) {
  std::vector<std::string> names;
  if (study.level_names != nullptr) names = study.level_names(variant, kernel);
  if (names.size() == count) return names;
  names.clear();
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("level {}", i));
  return names;
}

/// Error: any fault that the emulator finds, as an exception with a sentence.
void emulate(const CaseStudy& study, const Variant& variant, Extent extent, VariantLevels& levels) {
  // So many units that block 0 processes one tile, as in every other variant.
  const EmulatedPlan plan(study, variant, extent, ~0U);
  const unsigned warp = levels.architecture->warp;
  std::vector<std::string_view> seen;
  Tally sum;
  std::uint64_t lanes = 0, executions = 0;  // sums over all instructions
  for (const KernelLaunch& launch : plan.launches()) {
    if (std::find(seen.begin(), seen.end(), launch.kernel) != seen.end()) continue;
    seen.push_back(launch.kernel);
    trace::KernelTrace trace = plan.trace(launch, warp, true);  // for pictures of lanes
    trace::Report report = trace::report(trace, *levels.architecture);
    lanes += report.executed_lanes;
    executions += report.executions;
    if (accesses_of(trace) == 0) continue;
    sum.add(report.all);
    if (!report.unknown.empty() && levels.reason.empty()) levels.reason = report.unknown.front();
    if (!report.incomplete.empty()) throw std::runtime_error(report.incomplete.front());
    auto names = level_names(study, variant, launch.kernel, report.level_count);
    levels.kernels.push_back({launch.kernel, std::move(trace), std::move(report), std::move(names)});
  }
  levels.alu_utilization = report::alu_utilization(sum, warp);
  levels.simt_efficiency = report::simt_efficiency(lanes, executions, warp);
  levels.costs = report::known(sum);
}

}  // namespace

void EmulatedPlan::Unmap::operator()(void* memory) const { munmap(memory, bytes); }

/// Reserves addresses that read as zeros. The system provides memory page by page, on the first write.
EmulatedPlan::Memory EmulatedPlan::reserve(std::uint64_t bytes) {
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error(fmt::format("the emulator cannot reserve {} bytes of addresses: {}", bytes,
                                         std::generic_category().message(errno)));
  }
  return Memory(memory, Unmap{size});
}

EmulatedPlan::EmulatedPlan(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units)
    : study_(study) {
  if (variant.library) throw std::runtime_error("a library has no kernel here to emulate");
  const Plan plan = study.plan(variant, extent, units);
  launches_ = plan.launches();
  for (std::size_t i = 0; i < study.inputs.size(); ++i) {
    const std::uint64_t words = study.inputs[i].words(extent);
    Memory& input = memory_[input_slot_at(i)] = reserve(words * sizeof(std::uint32_t));
    input_words(study.inputs[i], 0, {static_cast<std::uint32_t*>(input.get()), std::min(filled_words, words)});
  }
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {
    memory_[output_slot_at(i)] = reserve(study.outputs[i].words(extent) * sizeof(std::uint32_t));
  }
  for (std::size_t i = 0; i < plan.scratch_bytes.size(); ++i) memory_[scratch_slot(i)] = reserve(plan.scratch_bytes[i]);
  memory_[state_slot] = reserve(plan.state_bytes);
}

trace::KernelTrace EmulatedPlan::trace(const KernelLaunch& launch, unsigned warp, bool record_order) const {
  const emulator::NamedKernel& kernel = emulated_kernel(study_, launch.kernel);
  if (launch.groups > max_groups) {
    throw std::runtime_error(fmt::format("no CUDA grid has {} blocks; at most {}", launch.groups, max_groups));
  }
  std::vector<emulator::Argument> arguments;
  for (const auto& argument : launch.arguments) {
    if (const auto* slot = std::get_if<Slot>(&argument)) {
      arguments.emplace_back(memory_.at(*slot).get());
    } else {
      arguments.emplace_back(std::get<std::uint64_t>(argument));
    }
  }
  emulator::Launch shape;
  shape.grid = unsigned(launch.groups);
  shape.block = {launch.group.x, launch.group.y};
  shape.dynamic_shared = launch.group.dynamic_shared;
  shape.warp = warp;
  shape.run_traced_only = true;
  shape.threads = 1;
  shape.record_order = record_order;
  shape.source_lines = false;
  return kernel.run(shape, arguments);
}

const banks::Architecture& model_architecture(const banks::Architecture* wanted, std::string_view own) {
  if (wanted != nullptr) return *wanted;
  const banks::Architecture* architecture = banks::find_architecture(own);
  return architecture != nullptr ? *architecture : *banks::find_architecture("sm_90");
}

std::vector<VariantLevels> levels_of(const CaseStudy& study, std::span<const Variant* const> variants, Extent extent,
                                     const banks::Architecture& architecture) {
  std::vector<VariantLevels> levels_of_variants;
  for (const Variant* variant : variants) {
    VariantLevels& levels = levels_of_variants.emplace_back();
    levels.variant = variant->name;
    levels.architecture = &architecture;
    levels.group = variant->group;
    try {
      emulate(study, *variant, extent, levels);
    } catch (const std::exception& why) {
      levels.kernels.clear();
      levels.reason = why.what();
    }
  }
  return levels_of_variants;
}

JobModel job_model(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units,
                   const banks::Architecture& architecture, std::size_t launches) {
  JobModel model;
  model.architecture = &architecture;
  Tally loads, stores, atomics, all;
  report::Work work, conflict_free;
  std::uint64_t lanes = 0, executions = 0;  // sums over all instructions
  try {
    const EmulatedPlan plan(study, variant, extent, units);
    for (const KernelLaunch& launch : plan.launches().first(std::min(launches, plan.launches().size()))) {
      const trace::Report block = trace::report(plan.trace(launch, architecture.warp, false), architecture);
      if (!block.incomplete.empty()) throw std::runtime_error(block.incomplete.front());
      loads.add(block.loads, launch.groups);
      stores.add(block.stores, launch.groups);
      atomics.add(block.atomics, launch.groups);
      all.add(block.all, launch.groups);
      const auto add_path = [&](report::Work& sum, std::uint64_t Tally::*passes) {
        sum.path_passes = sum.path_passes.value_or(0) +
                          double(launch.groups) * report::path_of(block, passes).value_or(double(block.all.*passes));
        sum.grids.push_back({.blocks = launch.groups, .threads = launch.group.size()});
      };
      if (block.all.accesses > 0) add_path(work, &Tally::passes), add_path(conflict_free, &Tally::ideal);
      lanes += block.executed_lanes * launch.groups;
      executions += block.executions * launch.groups;
      if (model.reason.empty() && !block.unknown.empty()) model.reason = block.unknown.front();
    }
  } catch (const std::exception& why) {
    model.reason = why.what();
    return model;
  }
  model.loads = report::known(loads);
  model.stores = report::known(stores);
  model.atomics = report::known(atomics);
  work.passes = all.passes;
  conflict_free.passes = all.ideal;
  if (all.unknown == 0) model.work = work, model.conflict_free = conflict_free;
  model.simt_efficiency = report::simt_efficiency(lanes, executions, architecture.warp);
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
