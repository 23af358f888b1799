#include <optional>

#include <nlohmann/json.hpp>

#include <bankwise/report/kernel_text.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {
namespace {

using nlohmann::ordered_json;

template <class Number>
ordered_json optional_number(const std::optional<Number>& number) {
  return number ? ordered_json(*number) : ordered_json(nullptr);
}

ordered_json json_of(const PlacedLine& line) {
  return {{"file", line.place.file},
          {"line", line.place.line},
          {"column", line.place.column},
          {"is_file", line.is_file},
          {"source", line.text}};
}

/// Uses the same keys as the levels in the case studies' JSON.
void put(ordered_json& object, const banks::Tally& tally, unsigned warp) {
  object["alu_utilization"] = optional_number(report::alu_utilization(tally, warp));
  object["accesses"] = tally.accesses;
  object["lanes"] = tally.lanes;
  object["passes"] = tally.passes;
  object["ideal_passes"] = tally.ideal;
  object["conflicts"] = tally.conflicts;
  object["unknown"] = tally.unknown;
  if (tally.more_passes == 0) return;
  object["passes_most"] = tally.passes + tally.more_passes;
  object["conflicts_most"] = report::most_conflicts(tally);
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

ordered_json json_of(const trace::Report& report, const trace::LineReport& line, const PlacedLine& source,
                     const std::vector<EmittedLine>& emitted) {
  ordered_json object = json_of(source);
  object["operation"] = to_string(line.operation);
  object["width"] = line.width;
  object["array"] = line.array;
  put(object, line.costs, report.warp);
  put_merged(object, line.costs, line.merged, report.warp);
  if (const auto evidence = evidence_for(line, emitted)) {
    object["emitted"] = evidence->opcodes;
    object["emitted_agrees"] = to_string(evidence->column);
  }
  object["mixed_arrays"] = line.mixed;
  object["worst"] = line.worst ? json_of(*line.worst) : ordered_json();
  return object;
}

/// Nothing is said of used bytes where the size of a sector is not known.
void put_sectors(ordered_json& object, const banks::SectorTally& tally, const banks::Architecture& architecture) {
  const auto& memory = architecture.sectors.fact;
  const auto used = report::used_share(tally, memory ? memory->sector_bytes : 1);
  object["accesses"] = tally.accesses;
  object["lanes"] = tally.lanes;
  object["sectors"] = tally.sectors;
  object["ideal_sectors"] = tally.ideal;
  object["extra_sectors"] = report::extra_sectors(tally);
  object["cache_lines"] = tally.lines;
  object["bytes"] = tally.bytes;
  object["used"] = optional_number(used);
  object["unknown"] = tally.unknown;
}

ordered_json json_of(const trace::Report& report, const trace::GlobalLineReport& line, const PlacedLine& source) {
  ordered_json object = json_of(source);
  object["operation"] = to_string(line.operation);
  object["width"] = line.width;
  put_sectors(object, line.costs, *report.architecture);
  object["pattern"] = report::looks_like(report, line);
  object["typical"] = nullptr;
  if (const auto& typical = line.typical) {
    object["typical"] = {{"count", typical->count},
                         {"sectors", typical->cost.sectors},
                         {"ideal_sectors", typical->cost.ideal},
                         {"block", typical->block},
                         {"warp", typical->warp},
                         {"mask", typical->mask},
                         {"addresses", typical->addresses}};
  }
  return object;
}

/// What has no lanes, and accesses to the shared memory of other blocks.
void put_engines(ordered_json& object, const KernelReport& kernel, std::size_t number) {
  const trace::Report& report = kernel.reports[number];
  object["all_accesses"] = report.accesses;
  object["without_cost"] = ordered_json::object();
  for (const auto& [cause, count] : report.without_cost)
    object["without_cost"][cause.empty() ? "unknown" : cause] = count > 0 ? ordered_json(count) : ordered_json(nullptr);
  object["engine_lines"] = ordered_json::array();
  for (const trace::EngineLineReport& line : report.engine_lines) {
    const PlacedLine source = kernel.placed(line.site);
    object["engine_lines"].push_back({{"file", source.place.file},
                                      {"line", source.place.line},
                                      {"is_file", source.is_file},
                                      {"source", source.text},
                                      {"engine", to_string(line.engine)},
                                      {"count", line.costs.accesses},
                                      {"bytes", line.bytes},
                                      {"row_bytes", line.row_bytes},
                                      {"rows", line.rows()},
                                      {"passes", line.costs.passes},
                                      {"conflicts", line.costs.conflicts},
                                      {"unknown", line.costs.unknown},
                                      {"engine_cycles", line.cycles}});
  }
  object["remote"] = nullptr;
  object["remote_lines"] = ordered_json::array();
  if (report.remote_lines.empty()) return;
  object["remote"] = ordered_json::object();
  put_sectors(object["remote"], report.remote, *report.architecture);
  for (const trace::GlobalLineReport& line : report.remote_lines)
    object["remote_lines"].push_back(json_of(report, line, kernel.placed(line.site)));
}

/// Null where global memory was not watched.
void put_global(ordered_json& object, const KernelReport& kernel, std::size_t number) {
  const trace::Report& report = kernel.reports[number];
  object["global"] = nullptr;
  object["global_lines"] = nullptr;
  if (!kernel.trace.watches_global) return;
  object["global"] = ordered_json::object();
  put_sectors(object["global"], report.global, *report.architecture);
  const auto& memory = report.architecture->sectors.fact;
  object["global"]["sector_bytes"] = memory ? ordered_json(memory->sector_bytes) : ordered_json(nullptr);
  object["global"]["incomplete"] = report.global_incomplete;
  object["global_lines"] = ordered_json::array();
  for (const trace::GlobalLineReport& line : report.global_lines) {
    object["global_lines"].push_back(json_of(report, line, kernel.placed(line.site)));
    if (const auto& time = kernel.times[number]; time && time->measured_ns) {
      const std::uint64_t extra = report::extra_sectors(line.costs);
      object["global_lines"].back()["most_of_time"] = optional_number(time->most_share(0, extra));
    }
  }
}

/// What the memories of the GPU are busy with, and how much faster the kernel can become.
void put_busy(ordered_json& object, const KernelReport& kernel, std::size_t number, bool is_part) {
  const auto& time = kernel.times[number];
  object["busy"] = nullptr;
  object["bound"] = nullptr;
  if (!time || time->busy.pipes.empty()) return;
  ordered_json& busy = object["busy"] = {{"gpu", time->gpu.name}, {"measured_ns", optional_number(time->measured_ns)}};
  for (const report::PipeUse& use : time->busy.pipes) {
    busy["pipes"].push_back(
        {{"pipe", to_string(use.pipe)}, {"least_ns", use.least_ns}, {"busy", optional_number(use.busy)}});
  }
  busy["over_the_next"] = optional_number(time->busy.over_the_next);
  if (!time->measured_ns || is_part) return;
  const Bound bound = bound_of(*time, kernel.trace, kernel.reports[number]);
  object["bound"] = {{"without_conflicts", optional_number(bound.without_conflicts)},
                     {"without_extra_sectors", optional_number(bound.without_extra_sectors)}};
}

ordered_json json_of(const std::optional<trace::KernelTime>& time) {
  if (!time) return nullptr;
  return {{"launches", time->launches},
          {"nanoseconds", time->nanoseconds},
          {"clock_khz", time->clock_khz},
          {"gpu", time->gpu},
          {"overlapped", time->overlapped}};
}

ordered_json json_of(const KernelReport& kernel, const trace::DiagnosisRecord& diagnosis) {
  const PlacedLine source = kernel.placed(kernel.trace.sites.at(diagnosis.site));
  const trace::FaultRow& row = row_of(diagnosis.fault);
  ordered_json object{{"fault", row.id},           {"remark", row.is_remark},
                      {"file", source.place.file}, {"line", source.place.line},
                      {"is_file", source.is_file}, {"source", source.text},
                      {"other_line", 0},           {"ended_launch", diagnosis.ended},
                      {"count", diagnosis.count},  {"text", sentence_of(diagnosis)}};
  if (diagnosis.other) object["other_line"] = kernel.trace.sites.at(*diagnosis.other).line;
  return object;
}

ordered_json json_of(const RunReport& run, const KernelReport& kernel, std::size_t number) {
  const trace::Report& report = kernel.reports[number];
  ordered_json object{{"architecture", report.architecture->name}, {"warp_width", report.warp}};
  put(object, report.all, report.warp);
  put_merged(object, report.all, merged(report).all, report.warp);
  object["why_unknown"] = report.unknown;
  if (!report.ranges.empty()) object["why_range"] = report.ranges;
  object["incomplete"] = report.incomplete;
  object["lines"] = ordered_json::array();
  for (const trace::LineReport& line : report.lines) {
    object["lines"].push_back(json_of(report, line, kernel.placed(line.site), run.emitted));
    if (const auto& time = kernel.times[number]; time && time->measured_ns) {
      const std::uint64_t conflicts = report::most_conflicts(line.costs);
      object["lines"].back()["most_of_time"] = optional_number(time->most_share(conflicts, 0));
    }
  }
  put_engines(object, kernel, number);
  put_global(object, kernel, number);
  put_busy(object, kernel, number, is_incomplete(run, kernel, report) || is_global_incomplete(run, kernel, report));
  object["levels"] = ordered_json::array();
  for (const trace::LevelReport& level : report.levels) {
    ordered_json level_object{
        {"level", level.level}, {"active_lanes", level.active_lanes}, {"issued_warps", level.issued_warps}};
    put(level_object, level.costs, report.warp);
    object["levels"].push_back(std::move(level_object));
  }
  return object;
}

// --- What --fit adds ---

ordered_json json_of(const fit::Change& change) {
  ordered_json object{{"kind", to_string(change.kind())}, {"text", to_text(change)}};
  if (change.rows.from > 0) object["rows"] = {{"from_bytes", change.rows.from}, {"to_bytes", change.rows.to}};
  if (const fit::RowXor& swizzle = change.swizzle; swizzle.bits > 0) {
    object["xor"] = {{"row_bytes", swizzle.row}, {"bits", swizzle.bits}, {"base", swizzle.base}};
    if (swizzle.plane > 0) object["xor"]["plane_bytes"] = swizzle.plane;
  }
  ordered_json pads = ordered_json::array();
  for (const fit::Pad& pad : change.pads) {
    if (pad.every > 0) pads.push_back({{"every_bytes", pad.every}, {"bytes", pad.bytes}});
  }
  if (!pads.empty()) object["pads"] = pads;
  return object;
}

ordered_json json_of(const fit::Prediction& prediction, std::size_t architecture) {
  return {{"exact", prediction.is_exact()},
          {"of_recorded", prediction.of_recorded},
          {"least", prediction.least[architecture]},
          {"most", prediction.most ? ordered_json((*prediction.most)[architecture]) : ordered_json(nullptr)}};
}

ordered_json json_of(const fit::ArrayFit& array, const fit::PricedOption& option, const KernelReport& kernel) {
  ordered_json object = json_of(option.option.change);
  object["passes"] = option.option.passes;
  for (std::size_t a = 0; a < option.passes.size(); ++a) {
    object["passes_on"][std::string(kernel.reports[a].architecture->name)] = option.passes[a];
  }
  object["bytes"] = option.option.bytes;
  object["instructions"] = option.option.instructions;
  object["estimated_cycles"] = option.option.cycles;
  const auto form = form_of(option.option.change, array.shape);
  if (!form || *form == fit::IndexForm::none || *form == fit::IndexForm::elements) return object;
  std::vector<std::string> dimensions;
  for (const std::uint64_t length : array.shape.lengths) dimensions.push_back(std::to_string(length));
  object["dimensions"] = dimension_texts(option.option.change, array.shape, *form, dimensions);
  object["index"] =
      index_text(option.option.change, array.shape, *form, fit::subscript_names(array.shape.lengths.size()));
  if (const auto cute = cute_name(option.option.change, unsigned(array.shape.element)); !cute.empty()) {
    object["cute"] = cute;
  }
  return object;
}

ordered_json edits_json(const ArraySource& source) {
  ordered_json object{{"file", source.path}};
  if (const auto* why = std::get_if<std::string>(&source.edits)) {
    object["why_no_edits"] = *why;
    return object;
  }
  object["edits"] = ordered_json::array();
  for (const fit::Edit& edit : std::get<std::vector<fit::Edit>>(source.edits)) {
    object["edits"].push_back({{"begin", edit.begin}, {"end", edit.end}, {"text", edit.text}});
  }
  return object;
}

ordered_json json_of(const KernelReport& kernel, const fit::ArrayFit& array, const std::optional<ArraySource>& source) {
  ordered_json object{{"array", array.name},
                      {"bytes", array.facts.extent},
                      {"bytes_known", array.facts.extent_known},
                      {"element_bytes", array.shape.element},
                      {"lengths", array.shape.lengths},
                      {"shape_inferred", array.shape_inferred},
                      {"verdict", to_string(array.verdict)},
                      {"passes_before", array.before().option.passes},
                      {"passes_after", array.after().option.passes},
                      {"ideal_passes", array.ideal},
                      {"bound", array.bound},
                      {"family", array.family},
                      {"tried", array.tried},
                      {"doubts", array.doubts}};
  if (!array.facts.why_fixed.empty()) object["why_fixed"] = array.facts.why_fixed;
  object["chosen"] = json_of(array, array.after(), kernel);
  if (array.chosen > 0) object["reason"] = reason_of(array, array.after());
  for (const fit::PricedOption& option : array.options) object["options"].push_back(json_of(array, option, kernel));
  for (const fit::PricedOption& option : array.front) object["front"].push_back(json_of(array, option, kernel));
  if (source) object["source"] = edits_json(*source);
  return object;
}

ordered_json json_of(const KernelReport& kernel, const fit::Cure& cure) {
  ordered_json object{{"cure", to_string(cure.kind)},
                      {"array", cure.array.empty() ? ordered_json(nullptr) : ordered_json(cure.array)},
                      {"unit", to_string(cure.unit)},
                      {"at_most", cure.at_most},
                      {"shuffles", cure.shuffles},
                      {"sentence", cure.sentence},
                      {"lines", ordered_json::array()},
                      {"architectures", ordered_json::array()}};
  for (const trace::Site& site : cure.sites) object["lines"].push_back(json_of(kernel.placed(site)));
  for (std::size_t a = 0; a < cure.costs.size(); ++a) {
    object["architectures"].push_back({{"architecture", kernel.reports[a].architecture->name},
                                       {"before", cure.costs[a].before},
                                       {"after", cure.costs[a].after}});
  }
  return object;
}

/// What `--measure` adds to a fit.
ordered_json json_of(const MeasuredKernel& measured) {
  if (!measured.not_measured.empty()) return {{"not_measured", measured.not_measured}};
  ordered_json object{{"verdict", measured.verdict},
                      {"fastest", measured.fastest.empty() ? ordered_json(nullptr) : ordered_json(measured.fastest)},
                      {"slows", measured.slows.empty() ? ordered_json(nullptr) : ordered_json(measured.slows)},
                      {"passes_again", optional_number(measured.passes_again)},
                      {"versions", ordered_json::array()}};
  for (const MeasuredLayouts& layouts : measured.versions) {
    const auto& times = layouts.times;
    object["versions"].push_back({{"version", layouts.version},
                                  {"changes", layouts.changes},
                                  {"passes", layouts.passes.least.front()},
                                  {"predicted", json_of(layouts.passes, 0)},
                                  {"nanoseconds", times ? ordered_json(times->median) : ordered_json(nullptr)},
                                  {"noise", optional_number(times ? times->noise : std::nullopt)},
                                  {"speedup", optional_number(layouts.speedup)}});
    if (layouts.problem) object["versions"].back()["problem"] = *layouts.problem;
  }
  return object;
}

/// What `--fit` adds to a kernel.
ordered_json json_of(const KernelReport& kernel, const KernelFitReport& report) {
  const fit::KernelFit& fit = report.fit;
  ordered_json object{{"shared_bytes_before", fit.shared_before},
                      {"shared_bytes_after", fit.shared_after},
                      {"architectures", ordered_json::array()},
                      {"arrays", ordered_json::array()}};
  for (std::size_t a = 0; a < fit.before.size(); ++a) {
    const banks::Architecture& architecture = *kernel.reports[a].architecture;
    ordered_json row{{"architecture", architecture.name},
                     {"passes_before", fit.before[a].all.passes},
                     {"passes_after", fit.after[a].all.passes},
                     {"ideal_passes", fit.before[a].all.ideal},
                     {"unknown", fit.before[a].all.unknown}};
    if (const auto& known = architecture.multiprocessor.fact) {
      row["resident_blocks_before"] = resident_blocks(*known, fit.shared_before, fit.threads);
      row["resident_blocks_after"] = resident_blocks(*known, fit.shared_after, fit.threads);
    }
    if (report.patched) row["patched"] = json_of(report.patched->passes, a);
    object["architectures"].push_back(std::move(row));
  }
  if (report.patched) object["patched_with"] = report.patched->with.empty() ? kernel.name : report.patched->with;
  for (std::size_t i = 0; i < fit.arrays.size(); ++i) {
    object["arrays"].push_back(json_of(kernel, fit.arrays[i], report.sources[i]));
  }
  object["cures"] = ordered_json::array();
  for (const fit::Cure& cure : fit.cures) object["cures"].push_back(json_of(kernel, cure));
  if (report.measured) object["measured"] = json_of(*report.measured);
  return object;
}

}  // namespace

std::string to_json(const RunReport& report, const std::vector<KernelFitReport>& fits) {
  ordered_json json{{"schema_version", 1},
                    {"command", report.command},
                    {"revision", support::revision()},
                    {"incomplete", report.incomplete},
                    {"kernels", ordered_json::array()}};
  const Terms& terms = terms_of(report.maker);
  for (std::size_t k = 0; k < report.kernels.size(); ++k) {
    const KernelReport& kernel = report.kernels[k];
    const trace::LaunchShape& shape = kernel.trace.shapes.front();
    ordered_json object{{"kernel", kernel.name},
                        {"build_options", kernel.trace.options},
                        {"launches", launches_of(kernel.trace)},
                        {terms.blocks_key, kernel.trace.blocks},
                        {"launched_" + std::string(terms.blocks_key), launched_blocks(kernel.trace)},
                        {"global_size", shape.threads},
                        {"local_size", shape.block},
                        {"several_sizes", kernel.trace.shapes.size() > 1},
                        {"copied_bytes", kernel.trace.copied_bytes},
                        {"time", json_of(kernel.trace.time)},
                        {"same_sources", kernel.same_sources},
                        {"diagnoses", ordered_json::array()},
                        {"architectures", ordered_json::array()}};
    for (const trace::DiagnosisRecord& diagnosis : kernel.trace.diagnoses)
      object["diagnoses"].push_back(json_of(kernel, diagnosis));
    for (std::size_t i = 0; i < kernel.reports.size(); ++i)
      object["architectures"].push_back(json_of(report, kernel, i));
    if (k < fits.size()) object["fit"] = json_of(kernel, fits[k]);
    json["kernels"].push_back(std::move(object));
  }
  return json.dump(2, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace bankwise::driver
