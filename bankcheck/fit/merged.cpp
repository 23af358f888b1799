#include "bankcheck/fit/merged.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

bool is_one_of(const std::vector<std::uint32_t>& arrays, std::uint32_t array) {
  return std::ranges::find(arrays, array) != arrays.end();
}

bool are_plain(std::string_view source, const std::vector<Use>& uses) {
  const source::SourceTokens code(source);
  const auto is_plain = [&](const Use& use) {
    int depth = 0;
    for (std::size_t i = code.at_offset(use.begin), begin = statement_begin(code, i); i > begin; --i) {
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
  if (*form == IndexForm::order) return unsigned(std::min<std::uint64_t>(shape.row_bytes(), widest));
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
    if (!may_be_merged(pattern, shape)) return 0;
    widest = std::max(widest, pattern.width);
  }
  return widest;
}

bool may_be_merged(const trace::Pattern& pattern, const ArrayShape& shape) {
  const bool is_plain = pattern.operation == banks::Operation::load || pattern.operation == banks::Operation::store;
  return is_plain && pattern.lane_arrays.empty() && std::has_single_bit(pattern.width) &&
         std::has_single_bit(shape.element) && pattern.width > shape.element;
}

void add_parts(trace::Pattern pattern, unsigned bytes, std::vector<trace::Pattern>& patterns) {
  const unsigned parts = pattern.width > bytes ? pattern.width / bytes : 1;
  if (parts > 1) pattern.width = bytes;
  for (unsigned part = 0; part + 1 < parts; ++part) {
    patterns.push_back(pattern);
    banks::for_each_lane(pattern.mask, [&](unsigned lane) { pattern.addresses[lane] += bytes; });
  }
  patterns.push_back(std::move(pattern));
}

trace::KernelTrace split_accesses(trace::KernelTrace trace, const std::vector<std::uint32_t>& arrays, unsigned bytes) {
  std::vector<trace::Pattern> patterns;
  for (trace::Pattern& pattern : trace.patterns) {
    const unsigned width = is_one_of(arrays, pattern.array) ? bytes : pattern.width;
    add_parts(std::move(pattern), width, patterns);
  }
  trace.patterns = std::move(patterns);
  return trace;
}

}  // namespace bankwise::fit
