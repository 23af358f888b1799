// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/revision.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/fit_json.hpp"
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/driver/report_words.hpp"

namespace bankwise::driver {
namespace {

using nlohmann::ordered_json;

/// Uses the same keys as the levels in the case studies' JSON.
void put(ordered_json& object, const banks::Tally& tally, unsigned warp) {
  const auto utilization = report::alu_utilization(tally, warp);
  object["alu_utilization"] = utilization ? ordered_json(*utilization) : ordered_json(nullptr);
  object["accesses"] = tally.accesses;
  object["lanes"] = tally.lanes;
  object["passes"] = tally.passes;
  object["ideal_passes"] = tally.ideal;
  object["conflicts"] = tally.conflicts;
  object["unknown"] = tally.unknown;
  if (tally.more_passes == 0) return;
  object["passes_most"] = tally.passes + tally.more_passes;
  object["conflicts_most"] = tally.conflicts + tally.more_conflicts;
}

/// The second count, only where it differs.
void put_merged(ordered_json& object, const banks::Tally& costs, const banks::Tally& merged, unsigned warp) {
  if (merged == costs) return;
  ordered_json second;
  put(second, merged, warp);
  object["merged"] = std::move(second);
}

ordered_json json_of(const trace::WorstAccess& worst) {
  ordered_json object{{"conflicts", worst.conflicts}, {"group", worst.block}, {"level", worst.level},
                      {"warp", worst.warp},           {"mask", worst.mask},   {"addresses", worst.addresses}};
  if (!worst.sources.empty()) object["sources"] = worst.sources;
  return object;
}

ordered_json json_of(const trace::Report& report, const trace::LineReport& line, const SourceLine& source,
                     const std::vector<EmittedLine>& emitted) {
  ordered_json object{{"file", source.place.file},     {"line", source.place.line},
                      {"column", source.place.column}, {"is_file", source.is_file},
                      {"source", source.text},         {"operation", to_string(line.operation)},
                      {"width", line.width},           {"array", line.array}};
  put(object, line.costs, report.warp);
  const trace::MergedLine left = merged_line(report, line);
  put_merged(object, line.costs, left.costs, report.warp);
  if (const auto evidence = evidence_for(line, left, emitted)) {
    object["emitted"] = evidence->opcodes;
    object["emitted_agrees"] = to_string(evidence->column);
  }
  object["mixed_arrays"] = line.mixed;
  object["worst"] = line.worst ? json_of(*line.worst) : ordered_json();
  return object;
}

ordered_json json_of(const KernelReport& kernel, const trace::DiagnosisRecord& diagnosis, const SourceLine& source) {
  const trace::FaultRow& row = row_of(diagnosis.fault);
  ordered_json object{{"fault", row.id},           {"remark", row.is_remark},
                      {"file", source.place.file}, {"line", source.place.line},
                      {"is_file", source.is_file}, {"source", source.text},
                      {"other_line", 0},           {"ended_launch", diagnosis.ended},
                      {"count", diagnosis.count},  {"text", sentence_of(diagnosis)}};
  if (diagnosis.other) object["other_line"] = kernel.trace.sites.at(*diagnosis.other).line;
  return object;
}

ordered_json json_of(const KernelReport& kernel, std::size_t number, const std::vector<EmittedLine>& emitted) {
  const trace::Report& report = kernel.reports[number];
  ordered_json object{{"architecture", report.architecture->name}, {"warp_width", report.warp}};
  put(object, report.all, report.warp);
  put_merged(object, report.all, merged(report).all, report.warp);
  object["why_unknown"] = report.unknown;
  if (!report.ranges.empty()) object["why_range"] = report.ranges;
  object["incomplete"] = report.incomplete;
  object["lines"] = ordered_json::array();
  for (std::size_t i = 0; i < report.lines.size(); ++i) {
    object["lines"].push_back(json_of(report, report.lines[i], kernel.lines[number][i], emitted));
  }
  object["levels"] = ordered_json::array();
  for (const trace::LevelReport& level : report.levels) {
    ordered_json one{
        {"level", level.level}, {"active_lanes", level.active_lanes}, {"issued_warps", level.issued_warps}};
    put(one, level.costs, report.warp);
    object["levels"].push_back(std::move(one));
  }
  return object;
}

}  // namespace

std::string to_json(const RunReport& report) {
  return to_json(report, {});
}

std::string to_json(const RunReport& report, const std::vector<KernelFitReport>& fits) {
  ordered_json json{{"schema_version", 1},
                    {"command", report.command},
                    {"revision", revision()},
                    {"incomplete", report.incomplete},
                    {"kernels", ordered_json::array()}};
  for (std::size_t k = 0; k < report.kernels.size(); ++k) {
    const KernelReport& kernel = report.kernels[k];
    const trace::LaunchShape& shape = kernel.trace.shapes.front();
    ordered_json object{{"kernel", kernel.name},
                        {"build_options", kernel.trace.options},
                        {"launches", launches_of(kernel.trace)},
                        {terms_of(report.maker).blocks_key, kernel.trace.blocks},
                        {"global_size", shape.threads},
                        {"local_size", shape.block},
                        {"several_sizes", kernel.trace.shapes.size() > 1},
                        {"copied_bytes", kernel.trace.copied_bytes},
                        {"same_sources", kernel.same_sources},
                        {"diagnoses", ordered_json::array()},
                        {"architectures", ordered_json::array()}};
    for (std::size_t i = 0; i < kernel.trace.diagnoses.size(); ++i) {
      object["diagnoses"].push_back(json_of(kernel, kernel.trace.diagnoses[i], kernel.diagnoses.at(i)));
    }
    for (std::size_t i = 0; i < kernel.reports.size(); ++i)
      object["architectures"].push_back(json_of(kernel, i, report.emitted));
    if (k < fits.size()) object["fit"] = fit_json(kernel, fits[k]);
    json["kernels"].push_back(std::move(object));
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace bankwise::driver
