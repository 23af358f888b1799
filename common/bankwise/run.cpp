// SPDX-License-Identifier: MIT
#include <bankwise/run.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/run_ranks.hpp>
#include <bankwise/runner.hpp>
#include <bankwise/support/output_file.hpp>

namespace bankwise {
namespace {

/// A default size: a few blocks per multiprocessor, half of the last-level cache, or well beyond any cache. Cache sizes
/// that are implausible are clamped to those of real GPUs.
Extent default_extent(const CaseStudy& study, const Options& options, const gpu::DeviceInfo& device) {
  constexpr std::uint64_t KiB = 1 << 10, MiB = 1 << 20;
  if (options.scope == Scope::block) return study.extent_for(device.compute_units * 64 * KiB);
  if (options.scope == Scope::l2) return study.extent_for(std::clamp(device.cache / 2, MiB, 32 * MiB));
  return study.extent_for(device.is_gpu ? 1024 * MiB : 64 * MiB);
}

/// Levels for each architecture that a device has or is assumed to have.
std::vector<VariantLevels> all_levels(const CaseStudy& study, const Options& options, std::span<const Job> jobs) {
  std::vector<const Variant*> variants;
  for (const Variant& variant : study.variants) {
    const bool named =
        std::find(options.variants.begin(), options.variants.end(), variant.name) != options.variants.end();
    if (named || (options.variants.empty() && !variant.library)) variants.push_back(&variant);
  }
  std::vector<VariantLevels> all;
  for (const Job& job : jobs) {
    const banks::Architecture& architecture = model_architecture(options.architecture, job.device->architecture);
    const auto is_there = [&](const VariantLevels& levels) { return levels.architecture == &architecture; };
    if (std::any_of(all.begin(), all.end(), is_there)) continue;
    std::ranges::move(levels_of(study, variants, job.extent, architecture), std::back_inserter(all));
  }
  return all;
}

bool measure_and_report(const CaseStudy& study, const Options& options, std::span<const Job> jobs, Report& report) {
  std::optional<Baseline> baseline;
  if (!options.compare.empty()) baseline.emplace(study, options.compare);
  const OutputFile json("--json", options.json), csv("--csv", options.csv), svg("--levels-svg", options.levels_svg);
  if (options.levels) report.levels = all_levels(study, options, jobs);
  const bool complete = run_each(study.name, jobs, [&](const Job& job) {
    std::ranges::move(measure_on(job, study, options), std::back_inserter(report.results));
  });
  if (report.results.empty()) return false;
  json.write(json ? json_report(report) : "");
  csv.write(csv ? csv_report(report) : "");
  svg.write(svg ? levels_svg(report) : "");
  const std::string comparison = baseline ? baseline->compare(report) : "";
  if (options.json != "-" && options.csv != "-" && options.levels_svg != "-") {
    show(text_report(report) + counters_text(report) + levels_text(report) + comparison);
  } else {
    std::fputs(comparison.c_str(), stderr);  // stdout holds only the results
  }
  return complete;
}

}  // namespace

Program case_study_program() {
  return {.offered = {}, .extent = default_extent, .run = measure_and_report};
}

int run(const CaseStudy& study, int argc, const char* const* argv) {
  if (cluster::started_by_launcher()) return run_ranks(study, argc, argv);
  return run_program(study, argc, argv, case_study_program());
}

}  // namespace bankwise
