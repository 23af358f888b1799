// Measures the clock cycles per access of each shared-memory access pattern, and compares them with the bank model.
#include <algorithm>
#include <map>
#include <span>

#include <bankwise/bench/program.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/files.hpp>
#include "access_patterns.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;
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
    const Variant& variant = *std::ranges::find(study.variants, result.variant, &Variant::name);
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

/// What the formats write: a run, and its rows.
struct PatternRun {
  const RunResults& run;
  const std::vector<Row>& rows;
};

constexpr report::Sink<PatternRun> sinks[]{
    {nullptr, nullptr,
     [](const PatternRun& of) {
       return text_report(of.run, of.rows) + report::counters_text(of.run) + of.run.comparison;
     }},
    {"--json", report::json_help, [](const PatternRun& of) { return json_report(of.run, of.rows); }},
    {"--csv", report::csv_help, [](const PatternRun& of) { return csv_report(of.run, of.rows); }},
};
constexpr std::span<const report::Sink<PatternRun>> table(sinks);

}  // namespace

int main(int argc, char** argv) {
  std::vector<Row> rows;
  const auto measure = [&](const DeviceJob& job, const CaseStudy& study, const Options& options) {
    std::vector<Result> results;
    for (Row& row : rows_on(job, study, options)) results.push_back(rows.emplace_back(std::move(row)).result);
    return results;
  };
  const auto write = [&](std::span<const support::OutputFile> files, const RunResults& run) {
    report::write_files(table, files, PatternRun{run, rows}, [](const std::string&) {});
  };
  return run_program(
      case_study(), argc, argv,
      {.offered = {.scopes = false, .levels = false, .bandwidth = true, .outputs = report::outputs_of(table)},
       .extent = default_extent,
       .measure = measure,
       .write = write});
}
