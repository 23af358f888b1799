#include "bankcheck/explorer/typed_access.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "bankcheck/fit/fit.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::explorer {
namespace {

using fit::IndexForm;
using nlohmann::ordered_json;

/// The access as the trace of a kernel whose only array it reads and, somewhere, writes: arrays that no lane writes are
/// taken for the target of a copy engine, which knows few layouts. The kernel's other accesses are not known.
trace::KernelTrace trace_of(const predict::Prediction& prediction, std::uint64_t bytes) {
  trace::KernelTrace trace;
  trace.warp = prediction.architecture->warp;
  if ((prediction.mask >> (trace.warp - 1)) > 1) trace.warp = prediction.architecture->lanes;
  trace.splits = true;
  trace.blocks = trace.levels = 1;
  trace.sites = {{"?", 0, 0, "", std::nullopt}};
  trace.arrays = {{"array", 0, std::uint32_t(bytes)}};
  trace::Pattern access;
  access.operation = prediction.operation;
  access.width = prediction.width;
  access.mask = prediction.mask;
  access.addresses = prediction.addresses;
  access.count = 1;
  trace::Pattern store = access;
  store.operation = banks::Operation::store;
  store.mask = 0;
  store.addresses.clear();
  store.count = 0;
  trace.patterns = {access, store};
  return trace;
}

std::string bracketed(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& each : texts) text += "[" + each + "]";
  return text;
}

/// A fix of a layout of CuTe, as the field's new text.
ordered_json cute_fix(const TypedAccess& typed, const std::string& text) {
  return {{"code", {text}}, {"apply", {{typed.layout_in_index ? "index" : "declaration", text}}}};
}

std::string& layout_field(const TypedAccess& typed, TypedCode& code) {
  return typed.layout_in_index ? code.index : code.declaration;
}

/// The text of a field with a swizzle of its layout.
std::string with_swizzle(const TypedAccess& typed, TypedCode code, const std::string& cute) {
  const std::string& old = layout_field(typed, code);
  const std::string layout = old.substr(typed.layout_at);
  const bool is_code = layout.find("ayout") != std::string::npos;  // not as CuTe prints it
  return old.substr(0, typed.layout_at) +
         (is_code ? fmt::format("composition({}{{}}, {})", cute, layout) : fmt::format("{} o {}", cute, layout));
}

/// The text of a field without the swizzle of its layout.
std::string without_swizzle(const TypedAccess& typed, TypedCode code) {
  const std::string& old = layout_field(typed, code);
  std::string layout = old.substr(typed.layout_at);
  const std::size_t call = layout.find("composition("),
                    end = layout.find_first_of(call == std::string::npos ? "o\xE2" : ",", layout.find('>'));
  layout = std::string(source::trimmed(layout.substr(end + (layout[end] == '\xE2' ? 3 : 1))));
  if (call != std::string::npos) layout.erase(layout.rfind(')'));
  return old.substr(0, typed.layout_at) + layout;
}

/// Code, and what to put into the fields of the page.
ordered_json code_of(const TypedAccess& typed, const fit::Change& change, const fit::ArrayShape& shape,
                     IndexForm form) {
  ordered_json lines = ordered_json::array(), apply = ordered_json::object();
  if (!typed.lengths.empty()) {
    const auto dimensions = dimension_texts(change, shape, form, typed.dimensions);
    const std::string declaration = fmt::format("{} {}{}", typed.type, typed.name, bracketed(dimensions));
    if (dimensions != typed.dimensions) apply["declaration"] = declaration;
    lines.push_back("__shared__ " + declaration + ";");
  }
  const std::string index = index_text(change, shape, form, typed.subscripts);
  const std::string use = typed.name.empty() ? index.substr(1, index.size() - 2) : typed.name + index;
  lines.push_back(use);
  if (form != IndexForm::rows) apply["index"] = use;
  const auto cute = cute_name(change, unsigned(shape.element));
  if (!cute.empty()) lines.push_back(fmt::format("// CuTe: {} on elements", cute));
  return {{"code", lines}, {"apply", apply}};
}

/// The swizzles that do better than the layout's own, and the layout without one if that does.
ordered_json other_swizzles(const predict::Prediction& prediction, const TypedAccess& typed, TypedCode code) {
  layout_field(typed, code) = without_swizzle(typed, code);
  const TypedAccess plain = typed_access(code, prediction.width, prediction.mask);
  predict::Prediction without = prediction;
  without.addresses = plain.addresses;
  find_cost(without, predict::Space::shared);
  ordered_json answer = fix_of(without, &plain, code), fixes = ordered_json::array();
  const unsigned before = prediction.cost.passes;
  if (without.cost.passes < before) {
    fixes.push_back({{"change", "no swizzle"}, {"passes", without.cost.passes}, {"bytes", 0}});
    fixes.back().update(cute_fix(plain, layout_field(plain, code)));
  }
  for (const ordered_json& fix : answer["fixes"]) {
    if (fix["passes"] < before) fixes.insert(fix["passes"] < without.cost.passes ? fixes.begin() : fixes.end(), fix);
  }
  answer.update({{"passes", before}, {"fixes", fixes}});
  return answer;
}

/// Why no layout is looked for; "" if one is.
std::string why_not(const TypedAccess* typed) {
  if (typed == nullptr || typed->lengths.empty()) return "";
  if (typed->subscripts.size() != typed->lengths.size())
    return fmt::format("A fix needs all indices of {} in brackets.", typed->name);
  return typed->outside;
}

}  // namespace

ordered_json fix_of(const predict::Prediction& prediction, const TypedAccess* typed, const TypedCode& code) {
  if (typed != nullptr && typed->layout && typed->layout->is_swizzled())
    return other_swizzles(prediction, *typed, code);
  if (const std::string why = why_not(typed); !why.empty()) return {{"error", why}};
  std::uint64_t end = 0;
  banks::for_each_lane(prediction.mask, [&](unsigned lane) {
    end = std::max(end, std::uint64_t{prediction.addresses[lane]} + prediction.width);
  });
  fit::ArrayShape shape{typed == nullptr ? prediction.width : typed->element, {}};
  if (typed != nullptr) shape.lengths = typed->lengths;
  std::uint64_t bytes = shape.element;
  for (const std::uint64_t length : shape.lengths) bytes *= length;
  if (shape.lengths.empty()) {
    const std::uint64_t row = 32 * shape.element;
    if (typed != nullptr && typed->layout) end = std::max(end, typed->layout->extent() * shape.element);
    bytes = (end + row - 1) / row * row;
    shape.lengths = {bytes / shape.element};
  }
  const fit::Architectures architectures{prediction.architecture};
  const trace::KernelTrace trace = trace_of(prediction, bytes);
  const fit::KernelFit kernel = fit::fit_kernel(trace, architectures, {{0, shape}}, {.complete = false});
  const fit::ArrayFit& array = kernel.arrays.front();
  ordered_json answer{
      {"verdict", to_string(array.verdict)},
      {"passes", array.before().option.passes},
      {"ideal", array.ideal},
      {"least", array.bound},
      {"reason", array.verdict == fit::FitVerdict::unprofitable ? "no better layout is worth its index or its bytes"
                                                                : array.facts.why_fixed},
      {"is_layout", typed != nullptr && typed->layout.has_value()},
      {"fixes", ordered_json::array()}};
  if (array.chosen == 0) return answer;
  std::vector<std::size_t> order{array.chosen};
  for (std::size_t i = 1; i < array.options.size(); ++i) {
    if (i != array.chosen) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {  // of equals, the one that is easier to read first
    const fit::Option& option = array.options[i].option;
    return std::tuple(option.passes, std::max(option.bytes, bytes), option.change.kind() != fit::ChangeKind::pad);
  });
  for (const std::size_t i : order) {
    const fit::Option& option = array.options[i].option;
    const auto form = form_of(option.change, shape);
    if (option.passes > array.after().option.passes || !form || *form == IndexForm::none) continue;
    ordered_json fix{{"change", to_string(option.change.kind())},
                     {"passes", option.passes},
                     {"bytes", option.bytes > bytes ? option.bytes - bytes : 0}};
    const bool of_bytes = typed != nullptr && typed->layout && typed->layout->element_bytes() > 0;  // smem_ptr[16b]
    const std::string cute = cute_name(option.change, of_bytes ? 1 : unsigned(shape.element));
    if (typed != nullptr && typed->layout) {
      if (cute.empty()) continue;
      fix.update(cute_fix(*typed, with_swizzle(*typed, code, cute)));
    } else if (*form == IndexForm::elements) {
      fix["code"] = {fmt::format("// elements of {} bytes instead of {}: add a member to the type",
                                 shape.element + option.change.pads[0].bytes, shape.element)};
    } else if (typed != nullptr) {
      fix.update(code_of(*typed, option.change, shape, *form));
    } else {
      fix["code"] = {"array" + index_text(option.change, shape, *form, {"i"})};
    }
    answer["fixes"].push_back(fix);
  }
  return answer;
}

}  // namespace bankwise::explorer
