// SPDX-License-Identifier: MIT
//
// Measures the clock cycles per access of each shared-memory access pattern, and compares them with the bank model.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <span>

#include <bankwise/bench/program.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/files.hpp>
#include "access_patterns.hpp"

using namespace bankwise;
using namespace bankwise::access_patterns;

namespace {

/// Enough iterations for a precise measurement on a GPU; on a CPU the results are only verified.
Extent default_extent(const CaseStudy&, const Options&, const gpu::DeviceInfo& device) {
  return {1, has_banks(device) ? 16384U : 32U};
}

/// Modelled and measured cost of each pattern on one device.
std::vector<Row> rows_on(const DeviceJob& job, const CaseStudy& study, const Options& options) {
  std::map<std::string_view, std::vector<double>> counted;
  Manner manner{.copy = false, .timing = has_banks(*job.device)};
  manner.after_sample = [&](Workbench& bench, const PreparedVariant& prepared) {
    std::uint64_t clocks = 0;
    bench.read_scratch(prepared, 0, std::as_writable_bytes(std::span(&clocks, 1)));
    counted[prepared.variant->name].push_back(double(clocks));
  };
  std::vector<Row> rows;
  for (Result& result : measure_on(job, study, options, manner)) {
    const Variant& variant = *std::find_if(study.variants.begin(), study.variants.end(),
                                           [&](const Variant& other) { return other.name == result.variant; });
    result.scope = Scope::block;      // the time goes into shared-memory accesses,
    result.bytes_per_second.reset();  // not into DRAM traffic
    if (result.counters && result.counters->counted) {
      result.counters->model = model_of_turns(variant, job.extent, *result.architecture);
    }
    AccessResult access = access_of(variant, job.extent, *job.device, options.architecture);
    if (!manner.timing) access.clocks_from = "a CPU has no banks to measure";
    rows.push_back({std::move(result), std::move(access), std::move(counted[variant.name])});
  }
  derive_clocks(rows);
  return rows;
}

bool measure_and_report(const CaseStudy& study, const Options& options, std::span<const DeviceJob> jobs,
                        Report& report) {
  std::optional<report::EarlierRun> baseline;
  if (!options.compare.empty()) baseline.emplace(study, options.compare);
  const OutputFile json("--json", options.json), csv("--csv", options.csv);
  std::vector<Row> rows;
  const bool complete = run_each(study.name, jobs, [&](const DeviceJob& job) {
    std::ranges::move(rows_on(job, study, options), std::back_inserter(rows));
  });
  for (const Row& row : rows) report.results.push_back(row.result);
  if (rows.empty()) return false;
  json.write(json ? json_report(report, rows) : "");
  csv.write(csv ? csv_report(rows) : "");
  const std::string comparison = baseline ? baseline->compare(report) : "";
  if (options.json != "-" && options.csv != "-") {
    show(text_report(report, rows) + report::counters_text(report) + comparison);
  } else {
    std::fputs(comparison.c_str(), stderr);  // stdout holds the results and nothing else
  }
  return complete;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      case_study(), argc, argv,
      {.offered = {.scopes = false, .levels = false}, .extent = default_extent, .run = measure_and_report});
}
