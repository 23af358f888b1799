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

/// Null for an empty text.
ordered_json optional_text(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

/// An array with what `json_of` makes of each element.
template <class Elements, class JsonOf>
ordered_json array_of(const Elements& elements, JsonOf json_of) {
  ordered_json array = ordered_json::array();
  for (const auto& element : elements) array.push_back(json_of(element));
  return array;
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

/// Both counts, the second one only where it differs.
void put(ordered_json& object, const banks::Tally& costs, const banks::Tally& merged, unsigned warp) {
  put(object, costs, warp);
  if (merged != costs) put(object["merged"], merged, warp);
}

ordered_json json_of(const trace::WorstAccess& worst) {
  ordered_json object{{"conflicts", worst.conflicts}, {"group", worst.block}, {"level", worst.level},
                      {"warp", worst.warp},           {"mask", worst.mask},   {"addresses", worst.addresses}};
  if (!worst.sources.empty()) object["sources"] = worst.sources;
  return object;
}

ordered_json json_of(const KernelReport& kernel, const trace::Report& report, const trace::LineReport& line,
                     const std::vector<EmittedLine>& emitted) {
  ordered_json object = json_of(kernel.placed(line.site));
  object["operation"] = to_string(line.operation);
  object["width"] = line.width;
  object["array"] = line.array;
  put(object, line.costs, line.merged, report.warp);
  if (const auto evidence = evidence_for(line, emitted)) {
    object["emitted"] = evidence->opcodes;
    object["emitted_agrees"] = evidence->agrees;
  }
  object["mixed_arrays"] = line.mixed;
  object["worst"] = line.worst ? json_of(*line.worst) : ordered_json();
  return object;
}

void put_sectors(ordered_json& object, const banks::SectorTally& tally, const banks::Architecture& architecture) {
  object["accesses"] = tally.accesses;
  object["lanes"] = tally.lanes;
  object["sectors"] = tally.sectors;
  object["ideal_sectors"] = tally.ideal;
  object["extra_sectors"] = report::extra_sectors(tally);
  object["cache_lines"] = tally.lines;
  object["bytes"] = tally.bytes;
  object["used"] = optional_number(used_share(tally, architecture));
  object["unknown"] = tally.unknown;
}

ordered_json json_of(const KernelReport& kernel, const trace::Report& report, const trace::GlobalLineReport& line) {
  ordered_json object = json_of(kernel.placed(line.site));
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

/// What the time of the kernel has to do with a line, if it was measured.
void put_time(ordered_json& line, const std::optional<MemoryTime>& time, std::uint64_t conflicts,
              std::uint64_t extra_sectors) {
  if (time && time->measured_ns) line["most_of_time"] = optional_number(time->most_share(conflicts, extra_sectors));
}

ordered_json json_of(const KernelReport& kernel, const trace::EngineLineReport& line) {
  const PlacedLine source = kernel.placed(line.site);
  return {{"file", source.place.file},   {"line", source.place.line},         {"is_file", source.is_file},
          {"source", source.text},       {"engine", to_string(line.engine)},  {"count", line.costs.accesses},
          {"bytes", line.bytes},         {"row_bytes", line.row_bytes},       {"rows", line.rows()},
          {"passes", line.costs.passes}, {"conflicts", line.costs.conflicts}, {"unknown", line.costs.unknown},
          {"engine_cycles", line.cycles}};
}

/// What has no lanes, and accesses to the shared memory of other blocks.
void put_engines(ordered_json& object, const KernelReport& kernel, std::size_t number) {
  const trace::Report& report = kernel.reports[number];
  object["all_accesses"] = report.accesses;
  object["without_cost"] = ordered_json::object();
  for (const auto& [cause, count] : report.without_cost)
    object["without_cost"][cause.empty() ? "unknown" : cause] = count > 0 ? ordered_json(count) : ordered_json(nullptr);
  object["engine_lines"] = array_of(report.engine_lines, [&](auto& line) { return json_of(kernel, line); });
  object["remote"] = nullptr;
  object["remote_lines"] = array_of(report.remote_lines, [&](auto& line) { return json_of(kernel, report, line); });
  if (!report.remote_lines.empty()) put_sectors(object["remote"], report.remote, *report.architecture);
}

/// Null where global memory was not watched.
void put_global(ordered_json& object, const KernelReport& kernel, std::size_t number) {
  const trace::Report& report = kernel.reports[number];
  object["global"] = nullptr;
  object["global_lines"] = nullptr;
  if (!kernel.trace.watches_global) return;
  put_sectors(object["global"], report.global, *report.architecture);
  const auto& memory = report.architecture->sectors.fact;
  object["global"]["sector_bytes"] = memory ? ordered_json(memory->sector_bytes) : ordered_json(nullptr);
  object["global"]["incomplete"] = report.global_incomplete;
  object["global_lines"] = array_of(report.global_lines, [&](const trace::GlobalLineReport& line) {
    ordered_json row = json_of(kernel, report, line);
    put_time(row, kernel.times[number], 0, report::extra_sectors(line.costs));
    return row;
  });
}

/// What the memories of the GPU are busy with, and how much faster the kernel can become.
void put_busy(ordered_json& object, const KernelReport& kernel, std::size_t number, bool is_part) {
  const auto& time = kernel.times[number];
  object["busy"] = nullptr;
  object["bound"] = nullptr;
  if (!time || time->busy.pipes.empty()) return;
  const auto json_of_pipe = [](const report::PipeUse& use) {
    return ordered_json{{"pipe", to_string(use.pipe)}, {"least_ns", use.least_ns}, {"busy", optional_number(use.busy)}};
  };
  object["busy"] = {{"gpu", time->gpu.name},
                    {"measured_ns", optional_number(time->measured_ns)},
                    {"pipes", array_of(time->busy.pipes, json_of_pipe)},
                    {"over_the_next", optional_number(time->busy.over_the_next)}};
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
  const unsigned other_line = diagnosis.other ? kernel.trace.sites.at(*diagnosis.other).line : 0;
  return {{"fault", row.id},           {"remark", row.is_remark},
          {"file", source.place.file}, {"line", source.place.line},
          {"is_file", source.is_file}, {"source", source.text},
          {"other_line", other_line},  {"ended_launch", diagnosis.ended},
          {"count", diagnosis.count},  {"text", sentence_of(diagnosis)}};
}

ordered_json json_of(const RunReport& run, const KernelReport& kernel, std::size_t number) {
  const trace::Report& report = kernel.reports[number];
  ordered_json object{{"architecture", report.architecture->name}, {"warp_width", report.warp}};
  put(object, report.all, merged(report).all, report.warp);
  object["why_unknown"] = report.unknown;
  if (!report.ranges.empty()) object["why_range"] = report.ranges;
  object["incomplete"] = report.incomplete;
  object["lines"] = array_of(report.lines, [&](const trace::LineReport& line) {
    ordered_json row = json_of(kernel, report, line, run.emitted);
    put_time(row, kernel.times[number], report::most_conflicts(line.costs), 0);
    return row;
  });
  put_engines(object, kernel, number);
  put_global(object, kernel, number);
  put_busy(object, kernel, number, is_incomplete(run, kernel, report) || is_global_incomplete(run, kernel, report));
  object["levels"] = array_of(report.levels, [&](const trace::LevelReport& level) {
    ordered_json row{
        {"level", level.level}, {"active_lanes", level.active_lanes}, {"issued_warps", level.issued_warps}};
    put(row, level.costs, report.warp);
    return row;
  });
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
  for (const fit::Pad& pad : change.pads) {
    if (pad.every > 0) object["pads"].push_back({{"every_bytes", pad.every}, {"bytes", pad.bytes}});
  }
  return object;
}

ordered_json json_of(const fit::Prediction& prediction, std::size_t architecture) {
  return {{"exact", prediction.is_exact()},
          {"of_recorded", prediction.of_recorded},
          {"least", prediction.least[architecture]},
          {"most", prediction.most ? ordered_json((*prediction.most)[architecture]) : ordered_json(nullptr)}};
}

ordered_json json_of(const fit::ArrayFit& array, const fit::PricedOption& option, const KernelReport& kernel) {
  const fit::Change& change = option.option.change;
  ordered_json object = json_of(change);
  object["passes"] = option.option.passes;
  for (std::size_t a = 0; a < option.passes.size(); ++a)
    object["passes_on"][std::string(kernel.reports[a].architecture->name)] = option.passes[a];
  object["bytes"] = option.option.bytes;
  object["instructions"] = option.option.instructions;
  object["estimated_cycles"] = option.option.cycles;
  const auto form = form_of(change, array.shape);
  if (!form || *form == fit::IndexForm::none || *form == fit::IndexForm::elements) return object;
  std::vector<std::string> dimensions;
  for (const std::uint64_t length : array.shape.lengths) dimensions.push_back(std::to_string(length));
  object["dimensions"] = dimension_texts(change, array.shape, *form, dimensions);
  object["index"] = index_text(change, array.shape, *form, fit::subscript_names(dimensions.size()));
  if (const auto cute = cute_name(change, unsigned(array.shape.element)); !cute.empty()) object["cute"] = cute;
  return object;
}

ordered_json edits_json(const ArraySource& source) {
  if (const auto* why = std::get_if<std::string>(&source.edits)) return {{"file", source.path}, {"why_no_edits", *why}};
  const auto json_of_edit = [](const fit::Edit& edit) {
    return ordered_json{{"begin", edit.begin}, {"end", edit.end}, {"text", edit.text}};
  };
  return {{"file", source.path}, {"edits", array_of(std::get<std::vector<fit::Edit>>(source.edits), json_of_edit)}};
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
                      {"array", optional_text(cure.array)},
                      {"unit", to_string(cure.unit)},
                      {"at_most", cure.at_most},
                      {"shuffles", cure.shuffles},
                      {"sentence", cure.sentence},
                      {"lines", array_of(cure.sites, [&](auto& site) { return json_of(kernel.placed(site)); })},
                      {"architectures", ordered_json::array()}};
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
  const auto json_of_version = [](const MeasuredLayouts& layouts) {
    const auto& times = layouts.times;
    ordered_json version{{"version", layouts.version},
                         {"changes", layouts.changes},
                         {"passes", layouts.passes.least.front()},
                         {"predicted", json_of(layouts.passes, 0)},
                         {"nanoseconds", times ? ordered_json(times->median) : ordered_json(nullptr)},
                         {"noise", optional_number(times ? times->noise : std::nullopt)},
                         {"speedup", optional_number(layouts.speedup)}};
    if (layouts.problem) version["problem"] = *layouts.problem;
    return version;
  };
  return {{"verdict", measured.verdict},
          {"fastest", optional_text(measured.fastest)},
          {"slows", optional_text(measured.slows)},
          {"passes_again", optional_number(measured.passes_again)},
          {"versions", array_of(measured.versions, json_of_version)}};
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
  for (std::size_t i = 0; i < fit.arrays.size(); ++i)
    object["arrays"].push_back(json_of(kernel, fit.arrays[i], report.sources[i]));
  object["cures"] = array_of(fit.cures, [&](const fit::Cure& cure) { return json_of(kernel, cure); });
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
    ordered_json object{
        {"kernel", kernel.name},
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
        {"diagnoses", array_of(kernel.trace.diagnoses, [&](auto& each) { return json_of(kernel, each); })},
        {"architectures", ordered_json::array()}};
    for (std::size_t i = 0; i < kernel.reports.size(); ++i)
      object["architectures"].push_back(json_of(report, kernel, i));
    if (k < fits.size()) object["fit"] = json_of(kernel, fits[k]);
    json["kernels"].push_back(std::move(object));
  }
  return json.dump(2, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace bankwise::driver
