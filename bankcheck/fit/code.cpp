// SPDX-License-Identifier: MIT
#include "bankcheck/fit/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>
#include <numeric>

namespace bankwise::fit {
namespace {

bool is_simple(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}
std::string operand(const std::string& text) {
  return is_simple(text) ? text : "(" + text + ")";
}

/// "(x >> 5)" or "x / 48": a whole quotient, as an operand of * + and ^.
std::string quotient(const std::string& text, std::uint64_t divisor) {
  if (divisor == 1) return operand(text);
  if (!std::has_single_bit(divisor)) return fmt::format("({} / {})", operand(text), divisor);
  return fmt::format("({} >> {})", operand(text), std::countr_zero(divisor));
}

std::string times(const std::string& text, std::uint64_t factor) {
  return factor == 1 ? text : fmt::format("{} * {}", text, factor);
}

/// The bits of a row's number that are XORed in. `rows`: the number is less; 0: not known.
std::string row_bits(const std::string& row, std::uint64_t rows_per_step, unsigned bits, std::uint64_t rows) {
  const std::uint64_t steps = std::uint64_t{1} << bits;
  if (rows > 0 && (rows + rows_per_step - 1) / rows_per_step <= steps) return quotient(row, rows_per_step);
  if (rows_per_step == 1) return fmt::format("({} & {})", operand(row), steps - 1);
  if (!std::has_single_bit(rows_per_step)) {
    return fmt::format("({} / {} & {})", operand(row), rows_per_step, steps - 1);
  }
  return fmt::format("({} >> {} & {})", operand(row), std::countr_zero(rows_per_step), steps - 1);
}

/// One index from several.
std::string flattened(const std::vector<std::uint64_t>& lengths, const std::vector<std::string>& subscripts) {
  std::string index = subscripts.front();
  for (std::size_t d = 1; d < subscripts.size(); ++d) {
    index = fmt::format("{} * {} + {}", operand(index), lengths[d], operand(subscripts[d]));
  }
  return index;
}

std::string flat_index(const Change& change, const ArrayShape& shape, const std::string& index) {
  const std::uint64_t element = shape.element;
  std::string text = index;
  const RowXor& one = change.swizzle;
  if (one.bits > 0) {
    const std::string bits = row_bits(index, one.row / element, one.bits, 0);
    text = fmt::format("{} ^ {}", operand(index), times(bits, (std::uint64_t{1} << one.base) / element));
  }
  std::string padded = operand(text);
  for (const Pad& pad : change.pads) {
    if (pad.every > 0) padded += " + " + times(quotient(text, pad.every / element), pad.bytes / element);
  }
  return change.pads[0].every > 0 ? padded : text;
}

std::uint64_t product(const std::vector<std::uint64_t>& lengths, std::size_t count) {
  return std::accumulate(lengths.begin(), lengths.begin() + std::ptrdiff_t(count), std::uint64_t{1},
                         std::multiplies<>());
}

}  // namespace

std::optional<Form> form_of(const Change& change, const ArrayShape& shape) {
  if (change.kind() == Kind::identity) return Form::none;
  const std::uint64_t element = shape.element;
  if (element == 0) return std::nullopt;
  if (change.kind() == Kind::pad && change.pads[0].every == element) return Form::elements;
  const RowXor& one = change.swizzle;
  if (one.bits > 0 && ((std::uint64_t{1} << one.base) % element != 0 || one.row % element != 0)) return std::nullopt;
  for (const Pad& pad : change.pads) {
    if (pad.every % element != 0 || pad.bytes % element != 0) return std::nullopt;
  }
  const std::uint64_t row = shape.lengths.size() < 2 ? 0 : shape.row_bytes();
  const bool rows = row > 0 && change.pads[1].every == 0 && (change.pads[0].every == 0 || change.pads[0].every == row);
  const bool columns = one.bits == 0 || (row > 0 && one.row % row == 0 && row % (1U << (one.base + one.bits)) == 0);
  if (!rows || !columns) return Form::flat;
  return one.bits > 0 ? Form::columns : Form::rows;
}

std::string index_text(const Change& change, const ArrayShape& shape, Form form,
                       const std::vector<std::string>& subscripts) {
  std::vector<std::string> texts = subscripts;
  if (form == Form::flat) return "[" + flat_index(change, shape, flattened(shape.lengths, subscripts)) + "]";
  if (form == Form::columns) {
    const RowXor& one = change.swizzle;
    const std::vector<std::string> upper(subscripts.begin(), subscripts.end() - 1);
    const std::uint64_t rows = product(shape.lengths, shape.lengths.size() - 1);
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): form_of() answers columns only if there are rows
    const std::string bits = row_bits(flattened(shape.lengths, upper), one.row / shape.row_bytes(), one.bits, rows);
    texts.back() =
        fmt::format("{} ^ {}", operand(texts.back()), times(bits, (std::uint64_t{1} << one.base) / shape.element));
  }
  std::string text;
  for (const std::string& one : texts) text += "[" + one + "]";
  return text;
}

std::vector<std::string> dimension_texts(const Change& change, const ArrayShape& shape, Form form,
                                         const std::vector<std::string>& dimensions) {
  std::vector<std::string> texts = dimensions;
  const std::uint64_t element = shape.element;
  if ((form == Form::rows || form == Form::columns) && change.pads[0].every > 0) {
    texts.back() = fmt::format("{} + {}", operand(texts.back()), change.pads[0].bytes / element);
  }
  if (form != Form::flat) return texts;
  const std::uint64_t elements = product(shape.lengths, shape.lengths.size()), bytes = elements * element;
  const std::uint64_t after = change.bytes_of(bytes) / element;
  if (after == elements && dimensions.size() == 1) return texts;
  const Pad& pad = change.pads[0];
  const bool plain = change.kind() == Kind::pad && dimensions.size() == 1 && pad.every > 0 && bytes % pad.every == 0;
  if (!plain || dimensions[0].empty()) return {std::to_string(after)};
  return {fmt::format("{} + {}", dimensions[0],
                      times(fmt::format("{} / {}", operand(dimensions[0]), pad.every / element), pad.bytes / element))};
}

std::vector<std::string> subscript_names(std::size_t dimensions) {
  if (dimensions == 1) return {"i"};
  std::vector<std::string> names{"y", "x"};
  for (std::size_t d = 2; d < dimensions; ++d) names.insert(names.begin(), d == 2 ? "z" : fmt::format("w{}", d));
  return names;
}

}  // namespace bankwise::fit
