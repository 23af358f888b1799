#include "bankcheck/fit/merged.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/source_constants.hpp"
#include "bankcheck/predict/predict.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

bool is_one_of(const std::vector<std::uint32_t>& arrays, std::uint32_t array) {
  return std::ranges::find(arrays, array) != arrays.end();
}

}  // namespace

bool casts_to_wider(std::string_view source, std::uint64_t element) {
  const std::vector<Macro> macros = macros_of(source);  // they are no tokens of the source
  if (std::ranges::any_of(macros, [&](const Macro& macro) { return casts_to_wider(macro.text, element); })) return true;
  const source::SourceTokens code(source);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.is(i, "reinterpret_cast") || code.is(i, "__builtin_assume_aligned")) return true;
    // (float4*), (const Pack *)
    const bool is_cast = code.is_name(i) && code.is(i + 1, "*") && code.is(i + 2, ")") &&
                         (code.is(i - 1, "(") || code.is(i - 1, "const") || code.is(i - 1, "volatile"));
    if (!is_cast || code.is(i, "void")) continue;
    const std::uint64_t bytes = predict::bytes_of_type(std::string(code.text(i)));
    if (bytes == 0 || bytes > element) return true;
  }
  return false;
}

bool are_plain(std::string_view source, const std::vector<Use>& uses) {
  const source::SourceTokens code(source);
  const auto is_plain = [&](const Use& use) {
    std::size_t i = 0;
    while (i < code.tokens.size() && code.tokens[i].begin < use.begin) ++i;
    int depth = 0;
    for (; i > 0 && !code.is(i - 1, ";") && !code.is(i - 1, "{") && !code.is(i - 1, "}"); --i) {
      depth += int(code.is(i - 1, ")")) - int(code.is(i - 1, "("));
      if (depth >= 0) continue;
      depth = 0;
      const bool is_statement = i > 1 && support::has_word("if for while switch return", code.text(i - 2));
      if (i > 1 && (code.is_name(i - 2) || code.is(i - 2, ">")) && !is_statement) return false;
    }
    return true;
  };
  return std::ranges::all_of(uses, is_plain);
}

unsigned merged_bytes(const Change& change, const ArrayShape& shape, unsigned widest) {
  const auto form = form_of(change, shape);
  if (!form || *form == IndexForm::none) return widest;
  if (*form != IndexForm::rows) return std::min(unsigned(shape.element), widest);
  std::uint64_t lengths = change.rows.to | change.pads[0].bytes | change.pads[1].bytes;
  lengths = lengths == 0 ? widest : std::uint64_t{1} << std::countr_zero(lengths);
  return unsigned(std::clamp<std::uint64_t>(lengths, shape.element, widest));
}

unsigned widest_merged(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays,
                       const ArrayShape& shape) {
  if (!shape.merges || !std::has_single_bit(shape.element)) return 0;
  unsigned widest = 0;
  for (const trace::Pattern& pattern : trace.patterns) {
    if (!is_one_of(arrays, pattern.array) || pattern.width <= shape.element) continue;
    const bool is_plain = pattern.operation == banks::Operation::load || pattern.operation == banks::Operation::store;
    if (!is_plain || !std::has_single_bit(pattern.width) || !pattern.lane_arrays.empty()) return 0;
    widest = std::max(widest, pattern.width);
  }
  return widest;
}

trace::KernelTrace split_accesses(trace::KernelTrace trace, const std::vector<std::uint32_t>& arrays, unsigned bytes) {
  std::vector<trace::Pattern> patterns;
  for (trace::Pattern& pattern : trace.patterns) {
    const bool is_split = is_one_of(arrays, pattern.array) && pattern.width > bytes;
    const unsigned parts = is_split ? pattern.width / bytes : 1;
    if (is_split) pattern.width = bytes;
    for (unsigned part = 0; part + 1 < parts; ++part) {
      patterns.push_back(pattern);
      banks::for_each_lane(pattern.mask, [&](unsigned lane) { pattern.addresses[lane] += bytes; });
    }
    patterns.push_back(std::move(pattern));
  }
  trace.patterns = std::move(patterns);
  return trace;
}

}  // namespace bankwise::fit
