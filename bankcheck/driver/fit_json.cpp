// SPDX-License-Identifier: MIT
#include "bankcheck/driver/fit_json.hpp"

namespace bankwise::driver {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const fit::Change& change) {
  ordered_json object{{"kind", to_string(change.kind())}, {"text", to_text(change)}};
  if (change.swizzle.bits > 0) {
    object["xor"] = {{"row_bytes", change.swizzle.row}, {"bits", change.swizzle.bits}, {"base", change.swizzle.base}};
  }
  ordered_json pads = ordered_json::array();
  for (const fit::Pad& pad : change.pads) {
    if (pad.every > 0) pads.push_back({{"every_bytes", pad.every}, {"bytes", pad.bytes}});
  }
  if (!pads.empty()) object["pads"] = pads;
  return object;
}

ordered_json json_of(const fit::ArrayFit& array, const fit::PricedOption& option, const KernelReport& kernel) {
  ordered_json object = json_of(option.option.change);
  object["passes"] = option.option.passes;
  for (std::size_t a = 0; a < option.passes.size(); ++a) {
    object["passes_on"][std::string(kernel.reports[a].architecture->name)] = option.passes[a];
  }
  object["bytes"] = option.option.bytes;
  const auto form = form_of(option.option.change, array.shape);
  if (!form || *form == fit::Form::none || *form == fit::Form::elements) return object;
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
  for (const fit::PricedOption& one : array.options) object["options"].push_back(json_of(array, one, kernel));
  for (const fit::PricedOption& one : array.front) object["front"].push_back(json_of(array, one, kernel));
  if (source) object["source"] = edits_json(*source);
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
    ordered_json one{{"architecture", architecture.name},
                     {"passes_before", fit.before[a].all.passes},
                     {"passes_after", fit.after[a].all.passes},
                     {"ideal_passes", fit.before[a].all.ideal},
                     {"unknown", fit.before[a].all.unknown}};
    if (const auto& known = architecture.multiprocessor.fact) {
      one["resident_blocks_before"] = resident_blocks(*known, fit.shared_before, fit.threads);
      one["resident_blocks_after"] = resident_blocks(*known, fit.shared_after, fit.threads);
    }
    object["architectures"].push_back(std::move(one));
  }
  for (std::size_t i = 0; i < fit.arrays.size(); ++i) {
    object["arrays"].push_back(json_of(kernel, fit.arrays[i], report.sources[i]));
  }
  return object;
}

}  // namespace bankwise::driver
