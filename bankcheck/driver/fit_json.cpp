// The part of the JSON report that --fit adds.
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/kernel_report_json.hpp"

namespace bankwise::driver {
namespace {

using nlohmann::ordered_json;

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
  for (const trace::Site& site : cure.sites) {
    const PlacedLine line = placed_line(kernel, site);
    object["lines"].push_back({{"file", line.place.file},
                               {"line", line.place.line},
                               {"column", line.place.column},
                               {"is_file", line.is_file},
                               {"source", line.text}});
  }
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

}  // namespace

ordered_json fit_json(const KernelReport& kernel, const KernelFitReport& report) {
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

}  // namespace bankwise::driver
