// SPDX-License-Identifier: MIT
#include <bankwise/study/levels.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include <bankwise/report/metrics.hpp>
#include <bankwise/study/emulated_launch.hpp>

namespace bankwise::study {
namespace {

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
  const Plan plan = plan_to_emulate(study, variant, extent, ~0U);
  const EmulatedMemory memory(study, extent, plan);
  const unsigned warp = levels.architecture->warp;
  std::vector<std::string_view> seen;
  banks::Tally sum;
  std::uint64_t lanes = 0, executions = 0;  // sums over all instructions
  for (const KernelLaunch& launch : plan.launches()) {
    if (std::find(seen.begin(), seen.end(), launch.kernel) != seen.end()) continue;
    seen.push_back(launch.kernel);
    trace::KernelTrace trace = trace_of(study, launch, memory, warp, true);  // for pictures of lanes
    trace::Report report = trace::report(trace, *levels.architecture);
    lanes += report.executed_lanes;
    executions += report.executions;
    if (accesses_of(trace) == 0) continue;
    sum.add(report.all);
    if (!report.unknown.empty() && levels.reason.empty()) levels.reason = report.unknown.front();
    if (!report.incomplete.empty()) throw std::runtime_error(report.incomplete.front());
    auto names = level_names(study, variant, launch.kernel, report.levels.size());
    levels.kernels.push_back({launch.kernel, std::move(trace), std::move(report), std::move(names)});
  }
  levels.alu_utilization = report::alu_utilization(sum, warp);
  levels.simt_efficiency = report::simt_efficiency(lanes, executions, warp);
  levels.costs = report::known(sum);
}

}  // namespace

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

}  // namespace bankwise::study
