#include "bankcheck/fit/index.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>
#include <numeric>
#include <utility>

#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {
namespace {

/// Whether a name that a bracket follows is in capital letters: it may be a macro, which stands for anything.
bool is_macro_call(const source::SourceTokens& code, std::size_t bracket) {
  return code.is(bracket, "(") && bracket > 0 && code.is_name(bracket - 1) &&
         std::ranges::none_of(code.text(bracket - 1), [](unsigned char c) { return std::islower(c) != 0; });
}

/// "threadIdx.x", "row[k]", "get_local_id(0)", "(y + 1)": needs no parentheses.
bool is_primary(const std::string& text) {
  const source::SourceTokens code(text);
  const std::size_t end = code.tokens.size();
  if (end == 0) return false;
  std::size_t i = code.is(0, "(") ? code.past_bracket(0) : 1;
  if (!code.is(0, "(") && !code.is_name(0) && code.tokens[0].kind != source::TokenKind::number) return false;
  while (i < end) {
    const bool is_call = code.is(i, "(") && !is_macro_call(code, i);
    const bool is_member = (code.is(i, ".") || code.is(i, "->") || code.is(i, "::")) && code.is_name(i + 1);
    if (is_call || code.is(i, "[")) {
      i = code.past_bracket(i);
    } else if (is_member) {
      i += 2;
    } else {
      return false;
    }
  }
  return true;
}
std::string operand(const std::string& text) { return is_primary(text) ? text : "(" + text + ")"; }

/// Whether some operator outside of brackets binds less than + does, as a summand may not.
bool binds_less_than_sum(const std::string& text) { return has_outside_brackets(text, "<>&|^?:=,"); }
std::string summand(const std::string& text) { return binds_less_than_sum(text) ? operand(text) : text; }
/// "(y + 1)" becomes "y + 1".
std::string without_parentheses(const std::string& text) {
  const source::SourceTokens code(text);
  const bool is_enclosed = code.is(0, "(") && code.past_bracket(0) == code.tokens.size();
  return is_enclosed ? std::string(source::trimmed(std::string_view(text).substr(1, text.size() - 2))) : text;
}

/// "(x >> 5)" or "x / 48": a whole quotient, as an operand of * and +.
std::string quotient(const std::string& text, std::uint64_t divisor) {
  if (divisor == 1) return operand(text);
  if (!std::has_single_bit(divisor)) return fmt::format("{} / {}", operand(text), divisor);
  return fmt::format("({} >> {})", operand(text), std::countr_zero(divisor));
}

std::string times(const std::string& text, std::uint64_t factor) {
  return factor == 1 ? text : fmt::format("{} * {}", text, factor);
}

/// What an XOR adds to an index: (row / divisor & mask) * factor. `mask` 0: none is needed.
struct XorTerm {
  std::uint64_t divisor = 1, mask = 0, factor = 1;
};

/// `bits` bits of row / per_step, times a factor. `rows`: the row is less; 0: not known.
struct RowBits {
  std::uint64_t per_step = 1;
  unsigned bits = 0;
  std::uint64_t factor = 1, rows = 0;
};

/// What an XOR adds to a number of `unit` bytes each.
RowBits row_bits(const RowXor& swizzle, std::uint64_t unit) {
  return {swizzle.row / unit, swizzle.bits, swizzle.unit() / unit, 0};
}

/// Where both are powers of two, a shift and a mask do.
XorTerm xor_term(const RowBits& added) {
  const auto& [per_step, bits, factor, rows] = added;
  const std::uint64_t steps = std::uint64_t{1} << bits;
  const bool all = rows > 0 && (rows + per_step - 1) / per_step <= steps;
  const bool is_power = std::has_single_bit(per_step);
  if (all && (per_step == 1 || (factor == 1 && is_power))) return {per_step, 0, factor};
  if (per_step == 1 || !is_power || per_step < factor) return {per_step, steps - 1, factor};
  return {per_step / factor, (steps - 1) * factor, 1};
}

std::string xor_text(const std::string& row, const RowBits& added) {
  const std::uint64_t mask = (std::uint64_t{1} << added.bits) - 1;
  if (is_number(row)) return std::to_string((std::stoull(row) / added.per_step & mask) * added.factor);
  const XorTerm term = xor_term(added);
  if (term.mask == 0) return times(quotient(row, term.divisor), term.factor);
  return times(fmt::format("({} & {})", quotient(row, term.divisor), term.mask), term.factor);
}

/// The operators of such an index, and one more for a mask that leaves out low bits.
unsigned xor_operators(const RowBits& added) {
  const XorTerm term = xor_term(added);
  const bool is_odd_mask = (term.mask & (term.mask + 1)) != 0;
  return 1 + unsigned(term.divisor > 1) + unsigned(term.mask > 0) + unsigned(is_odd_mask) + unsigned(term.factor > 1);
}

/// An index and what an XOR adds to it.
std::string xored(const std::string& index, const std::string& added) {
  if (added == "0") return index;
  if (index == "0") return without_parentheses(added);
  if (is_number(index) && is_number(added)) return std::to_string(std::stoull(index) ^ std::stoull(added));
  return fmt::format("{} ^ {}", operand(index), added);
}

/// One index from those of the dimensions from `first` to `last`.
std::string flattened(const std::vector<std::uint64_t>& lengths, const std::vector<std::string>& subscripts,
                      std::size_t first, std::size_t last) {
  std::string index = subscripts[first];
  for (std::size_t d = first + 1; d <= last; ++d) {
    if (is_number(index) && is_number(subscripts[d])) {
      index = std::to_string(std::stoull(index) * lengths[d] + std::stoull(subscripts[d]));
    } else if (index == "0") {
      index = subscripts[d];
    } else {
      index = fmt::format("{} * {} + {}", operand(index), lengths[d], operand(subscripts[d]));
    }
  }
  return index;
}

std::string flat_index(const Change& change, const ArrayShape& shape, const std::string& index) {
  const std::uint64_t element = shape.element;
  if (is_number(index)) return std::to_string(change(std::stoull(index) * element) / element);
  const RowXor& swizzle = change.swizzle;
  const std::string text = swizzle.bits == 0 ? index : xored(index, xor_text(index, row_bits(swizzle, element)));
  std::string padded = as_summand(text);
  for (const Pad& pad : change.pads) {
    if (pad.every == element) {  // the first one, if any: longer elements
      padded = fmt::format("{} * {}", operand(text), 1 + pad.bytes / element);
    } else if (pad.every > 0)
      padded += " + " + times(quotient(text, pad.every / element), pad.bytes / element);
  }
  return change.pads[0].every > 0 ? padded : text;
}

/// Whether no element is torn apart.
bool keeps_elements(const Change& change, std::uint64_t element) {
  const RowXor& swizzle = change.swizzle;
  if (swizzle.bits > 0 && (swizzle.unit() % element != 0 || swizzle.row % element != 0)) return false;
  return change.rows.to % element == 0 && std::ranges::all_of(change.pads, [&](const Pad& pad) {
           return pad.every % element == 0 && pad.bytes % element == 0;
         });
}

/// Bytes between neighbours in each dimension of an array after new rows, before pads.
std::vector<std::uint64_t> pitches_after(const Change& change, const ArrayShape& shape) {
  std::vector<std::uint64_t> pitches(shape.lengths.size(), shape.element);
  for (std::size_t d = pitches.size() - 1; d-- > 0;) {
    const bool is_row = d + 2 == pitches.size();
    pitches[d] = is_row && change.rows.from > 0 ? change.rows.to : shape.lengths[d + 1] * pitches[d + 1];
  }
  return pitches;
}

/// The number that an XOR adds to an index: bits of the dimensions from `first` to `last` as one number.
struct RowNumber {
  std::size_t first = 0, last = 0;
  RowBits added;
};

/// Of the last index. Nothing if indices do not give the number. The fewest of them that do.
std::optional<RowNumber> row_number(const Change& change, const ArrayShape& shape) {
  const RowXor& swizzle = change.swizzle;
  const std::uint64_t row = change.rows.from > 0 ? change.rows.to : shape.row_bytes();
  if (swizzle.bits == 0 || row == 0 || swizzle.row % row != 0) return std::nullopt;  // most swizzles of offsets
  const std::vector<std::uint64_t> pitches = pitches_after(change, shape);
  const std::uint64_t steps = std::uint64_t{1} << swizzle.bits;
  if (pitches.size() < 2 || pitches[pitches.size() - 2] % (steps << swizzle.base) != 0) return std::nullopt;
  std::size_t last = 0;
  const auto divides = [&](std::uint64_t pitch) { return pitch > 0 && swizzle.row % pitch == 0; };  // 0: an overflow
  while (last + 1 < pitches.size() && !divides(pitches[last])) ++last;
  if (last + 1 == pitches.size()) return std::nullopt;
  const std::uint64_t per_step = swizzle.row / pitches[last];
  const bool is_index = swizzle.plane > 0 ? last > 0 && swizzle.plane == pitches[last - 1]
                                          : last == 0 || shape.lengths[last] % (per_step * steps) == 0;
  if (swizzle.plane > 0 && !is_index) return std::nullopt;
  const std::size_t first = is_index ? last : 0;
  const auto begin = shape.lengths.begin();
  const std::uint64_t rows = std::accumulate(begin + std::ptrdiff_t(first), begin + std::ptrdiff_t(last) + 1,
                                             std::uint64_t{1}, std::multiplies<>());
  return RowNumber{first, last, {per_step, swizzle.bits, swizzle.unit() / shape.element, rows}};
}

/// Of the index that the form changes.
std::optional<RowNumber> added_number(const Change& change, const ArrayShape& shape, std::optional<IndexForm> form) {
  if (form == IndexForm::columns) return row_number(change, shape);
  if (form != IndexForm::order) return std::nullopt;
  const std::size_t row = shape.lengths.size() - 2;
  return RowNumber{row, row, row_bits(change.swizzle, shape.row_bytes())};
}

/// The shape of one row, and what a change that stays in the rows does there.
ArrayShape row_of(const ArrayShape& shape) { return {shape.element, {shape.lengths.back()}}; }
Change inside_row(Change change, const ArrayShape& shape) {
  for (Pad& pad : change.pads) pad = pad.every < shape.row_bytes() ? pad : Pad{};
  if (change.pads[0].every == 0) std::swap(change.pads[0], change.pads[1]);
  return change;
}

/// A length in the declaration becomes another one: "TILE" "TILE + 1", "TILE + 1" "TILE", "17" "16".
std::string length_text(const std::string& text, std::uint64_t before, std::uint64_t after) {
  if (before == after) return text;
  if (const std::size_t plus = text.rfind('+'); plus != std::string::npos) {
    const std::string sum(source::trimmed(std::string_view(text).substr(0, plus)));
    const std::string added(source::trimmed(std::string_view(text).substr(plus + 1)));
    const bool is_pad = !sum.empty() && !binds_less_than_sum(sum) && is_number(added);
    const std::uint64_t pad = is_pad ? std::stoull(added) : 0;
    if (pad > 0 && pad + after >= before) {
      return pad + after == before ? sum : fmt::format("{} + {}", sum, pad + after - before);
    }
  }
  if (after > before) return fmt::format("{} + {}", summand(text), after - before);
  return is_number(text) ? std::to_string(after) : fmt::format("{} - {}", operand(text), before - after);
}

// --- The price of an index. test_prices.cpp compares each rule with what nvcc makes of it. ---

/// Instructions for a number divided by `divisor`, if the product of the quotient and `factor` is masked, too: a shift
/// that a factor cancels is none.
unsigned shift_instructions(std::uint64_t divisor, std::uint64_t factor) {
  if (!std::has_single_bit(divisor)) return 2;  // IMAD.WIDE, SHF
  return divisor == factor ? 0 : 1;             // SHF
}

unsigned pad_instructions(std::uint64_t every, std::uint64_t elements) {
  if (every == 1) return 0;                                      // a longer element is a constant, too
  const unsigned division = std::has_single_bit(every) ? 0 : 1;  // IMAD.WIDE
  if (elements == 1) return division + 1;                        // LEA.HI
  if (elements == every && division == 0) return 2;              // the shifts cancel: LOP3, IADD
  return division + (std::has_single_bit(elements) ? 3 : 2);     // SHF, LOP3, IADD; SHF, IMAD
}

unsigned pads_instructions(const Change& change, std::uint64_t element) {
  unsigned sum = 0, additions = 0;
  for (const Pad& pad : change.pads) {
    if (pad.every == 0) continue;
    const std::uint64_t elements = pad.bytes / element;
    sum += pad_instructions(pad.every / element, elements);
    if (elements > 1 && std::has_single_bit(elements)) ++additions;
  }
  if (additions < 2) return sum;
  const bool have_one_factor = change.pads[0].bytes == change.pads[1].bytes;
  return have_one_factor ? std::min(sum, 3U) : sum - 1;  // SHF, LEA.HI, LEA; IADD3 adds both pads
}

unsigned flat_instructions(const Change& change, const ArrayShape& shape) {
  const RowXor& swizzle = change.swizzle;
  if (swizzle.bits == 0) return pads_instructions(change, shape.element);
  const RowBits added = row_bits(swizzle, shape.element);
  const unsigned instructions = shift_instructions(added.per_step, added.factor) + 1;
  // The quotient of the XOR, multiplied and added.
  const bool share_quotient = added.factor == 1 && change.pads[0].every == swizzle.row && shape.lengths.size() == 1;
  return instructions + (share_quotient ? 1 : pads_instructions(change, shape.element));
}

/// The lengths of the dimensions if new rows and pads are whole rows and planes.
std::optional<std::vector<std::uint64_t>> lengths_of_rows(const Change& change, const ArrayShape& shape) {
  if (shape.lengths.size() < 2 || shape.elements() == 0) return std::nullopt;
  const std::uint64_t row = change.rows.from > 0 ? change.rows.to : shape.row_bytes();
  for (const Pad& pad : change.pads) {
    if (row == 0 || pad.every % row != 0) return std::nullopt;  // most pads: they follow no row
  }
  std::vector<std::uint64_t> lengths = shape.lengths;
  if (change.rows.from > 0) {
    if (change.rows.from != shape.row_bytes()) return std::nullopt;
    lengths.back() = change.rows.to / shape.element;
  }
  const std::vector<std::uint64_t> pitches = pitches_after(change, shape);
  std::uint64_t padded = shape.element;  // the pitch of dimension d + 1
  std::size_t pads = 0;
  for (std::size_t d = lengths.size() - 1; d-- > 0;) {
    for (const Pad& pad : change.pads) {
      if (pad.every == 0 || pad.every != pitches[d] || pad.bytes % padded != 0) continue;
      lengths[d + 1] += pad.bytes / padded;
      ++pads;
    }
    padded *= lengths[d + 1];
  }
  const auto used = std::ranges::count_if(change.pads, [](const Pad& pad) { return pad.every > 0; });
  return pads == std::size_t(used) ? std::optional(lengths) : std::nullopt;
}

/// Whether an XOR only changes the order of the rows in their plane.
bool orders_rows(const Change& change, const ArrayShape& shape) {
  const std::uint64_t row = shape.row_bytes();
  const RowXor& swizzle = change.swizzle;
  if (shape.lengths.size() < 2 || change.kind() != ChangeKind::row_xor || swizzle.plane > 0) return false;
  if (!std::has_single_bit(row) || swizzle.unit() < row || swizzle.row % row != 0) return false;
  const std::uint64_t rows = shape.lengths[shape.lengths.size() - 2], bits = swizzle.base + swizzle.bits;
  const bool is_whole = rows % ((std::uint64_t{1} << bits) / row) == 0;
  return is_whole && (shape.lengths.size() == 2 || rows % ((swizzle.row / row) << swizzle.bits) == 0);
}

/// Whether an XOR moves no element of an array of so many behind its end, though its last block is not whole.
bool keeps_inside(const Change& change, std::uint64_t element, std::uint64_t elements) {
  if (change.kind() != ChangeKind::row_xor) return false;
  const std::uint64_t block = change.swizzle.block() / element;
  for (std::uint64_t i = elements - elements % block; i < elements; ++i) {
    if (change(i * element) / element >= elements) return false;
  }
  return true;
}

/// The length of an array of one dimension with room for an XOR and pads. A pad after the last element is none.
std::string longer_text(const Change& change, std::uint64_t element, std::uint64_t elements,
                        const std::vector<std::string>& dimensions) {
  std::string text = dimensions.size() == 1 ? dimensions.front() : operand(dimensions.front());
  for (std::size_t d = 1; d < dimensions.size(); ++d) text += " * " + operand(dimensions[d]);
  const RowXor& swizzle = change.swizzle;
  const std::uint64_t block = swizzle.block() / element;
  if (swizzle.bits > 0 && elements % block != 0) {
    text = fmt::format("({} + {}) / {} * {}", summand(text), block - 1, block, block);
  }
  const std::string whole = is_product(text) ? text : operand(text);
  if (binds_less_than_sum(text)) text = whole;
  for (const Pad& pad : change.pads) {
    if (pad.every == 0) continue;
    text += " + " + times(fmt::format("{} / {}", whole, pad.every / element), pad.bytes / element);
  }
  return text;
}

/// The XOR of an index that is not the row's, and the pads.
unsigned flat_operators(const Change& change, std::uint64_t element) {
  const RowXor& swizzle = change.swizzle;
  unsigned operators = 0;
  if (swizzle.bits > 0) operators += xor_operators(row_bits(swizzle, element));
  for (const Pad& pad : change.pads) {
    if (pad.every > 0) operators += 2 + unsigned(pad.bytes > element);
  }
  return operators;
}

}  // namespace

std::string as_summand(const std::string& text) {
  const source::SourceTokens code(text);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (is_macro_call(code, i)) return operand(text);
  }
  return summand(text);
}

bool is_number(const std::string& text) {
  constexpr std::size_t max_digits = 9;
  const bool is_octal = text.size() > 1 && text.starts_with('0');
  return !text.empty() && text.size() <= max_digits && !is_octal &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

bool has_outside_brackets(std::string_view text, std::string_view marks) {
  int depth = 0;
  return std::ranges::any_of(text, [&](char c) {
    depth += int(c == '(' || c == '[') - int(c == ')' || c == ']');
    return depth == 0 && marks.find(c) != marks.npos;
  });
}

bool is_product(const std::string& text) {
  const source::SourceTokens code(text);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    const bool is_factor = code.tokens[i].kind != source::TokenKind::mark;
    if (is_factor != (i % 2 == 0) || (!is_factor && !code.is(i, "*"))) return false;
  }
  return !code.tokens.empty();
}

bool stays_in_rows(const Change& change, const ArrayShape& shape) {
  const std::uint64_t row = shape.row_bytes();
  const RowXor& swizzle = change.swizzle;
  if (shape.lengths.size() < 2 || row == 0 || change.rows.from > 0 || swizzle.plane > 0) return false;
  if (swizzle.bits > 0 && row % (std::uint64_t{swizzle.row} << swizzle.bits) != 0) return false;
  return std::ranges::all_of(change.pads, [&](const Pad& pad) {
    return pad.every == 0 || (row % pad.every == 0 && pad.every > shape.element);
  });
}

std::size_t changed_dimension(IndexForm form, std::size_t dimensions) {
  if (form == IndexForm::columns) return dimensions - 1;
  return form == IndexForm::order ? dimensions - 2 : 0;
}

std::optional<std::vector<std::uint64_t>> lengths_after(const Change& change, const ArrayShape& shape) {
  if (orders_rows(change, shape)) return shape.lengths;
  if (auto lengths = lengths_of_rows(change, shape)) return lengths;
  if (!stays_in_rows(change, shape)) return std::nullopt;
  std::vector<std::uint64_t> lengths = shape.lengths;
  lengths.back() = change.bytes_of(shape.row_bytes()) / shape.element;
  return lengths;
}

std::optional<IndexForm> form_of(const Change& change, const ArrayShape& shape) {
  if (change.kind() == ChangeKind::identity || change.sequential) return IndexForm::none;
  const std::uint64_t element = shape.element;
  if (element == 0) return std::nullopt;
  if (change.kind() == ChangeKind::pad && change.pads[0].every == element) return IndexForm::elements;
  if (!keeps_elements(change, element)) return std::nullopt;
  const bool has_whole_rows = lengths_of_rows(change, shape).has_value();
  if (has_whole_rows && change.swizzle.bits == 0) return IndexForm::rows;
  if ((has_whole_rows && row_number(change, shape)) || stays_in_rows(change, shape)) return IndexForm::columns;
  if (change.rows.from > 0 || change.swizzle.plane > 0) return std::nullopt;
  return orders_rows(change, shape) ? IndexForm::order : IndexForm::flat;
}

bool is_plain_pad(const Change& change, const ArrayShape& shape) {
  return change.parts() + int(change.rows.from > 0) == 1 && form_of(change, shape) == IndexForm::rows;
}

bool divides_index(const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  return (form == IndexForm::flat || form == IndexForm::columns) &&
         std::ranges::any_of(change.pads, [&](const Pad& pad) {
           return !std::has_single_bit(pad.every / shape.element) && pad.every > 0;
         });
}

std::vector<std::string> changed_subscripts(const Change& change, const ArrayShape& shape, IndexForm form,
                                            const std::vector<std::string>& subscripts) {
  std::vector<std::string> texts = subscripts;
  if (form == IndexForm::flat) {
    return {flat_index(change, shape, flattened(shape.lengths, subscripts, 0, subscripts.size() - 1))};
  }
  std::string& changed = texts[changed_dimension(form, texts.size())];
  if (const auto number = added_number(change, shape, form)) {
    const std::string index = flattened(shape.lengths, subscripts, number->first, number->last);
    changed = xored(changed, xor_text(index, number->added));
  } else if (form == IndexForm::columns) {
    changed = flat_index(inside_row(change, shape), row_of(shape), changed);
  }
  return texts;
}

std::string in_brackets(const std::vector<std::string>& subscripts) {
  return fmt::format("[{}]", fmt::join(subscripts, "]["));
}

std::vector<std::string> dimension_texts(const Change& change, const ArrayShape& shape, IndexForm form,
                                         const std::vector<std::string>& dimensions) {
  std::vector<std::string> texts = dimensions;
  const std::uint64_t element = shape.element;
  if (form == IndexForm::rows || form == IndexForm::columns) {
    const auto after = lengths_after(change, shape);
    for (std::size_t d = 0; after && d < std::min(texts.size(), after->size()); ++d) {
      texts[d] = length_text(texts[d], shape.lengths[d], (*after)[d]);
    }
    if (!lengths_of_rows(change, shape) && after != shape.lengths)
      texts.back() = longer_text(change, element, shape.lengths.back(), {dimensions.back()});
  }
  if (form != IndexForm::flat) return texts;
  const std::uint64_t elements = shape.elements(), bytes = elements * element;
  const std::uint64_t after = change.bytes_of(bytes) / element;
  if (dimensions.size() == 1 && (after == elements || keeps_inside(change, element, elements))) return texts;
  if (dimensions.front().empty()) return {std::to_string(after)};
  const bool is_simple = dimensions.size() == 1 && change.parts() <= 1;
  if (std::ranges::all_of(dimensions, is_number) && !is_simple) return {std::to_string(after)};
  return {longer_text(change, element, elements, dimensions)};
}

std::string pitch_text(const Change& change, const ArrayShape& shape, const std::string& pitch) {
  const std::uint64_t before = shape.lengths.back(), after = lengths_after(change, shape)->back();
  if (before == after) return operand(pitch);
  if (is_number(pitch)) return std::to_string(after);
  return operand(length_text(without_parentheses(pitch), before, after));
}

std::string row_index_text(const Change& change, const ArrayShape& shape, const std::string& row,
                           const std::string& column, const std::string& pitch) {
  const std::string new_column = form_of(change, shape) == IndexForm::columns
                                     ? changed_subscripts(change, shape, IndexForm::columns, {row, column}).back()
                                     : column;
  return fmt::format("[{} * {} + {}]", operand(row), pitch_text(change, shape, pitch), summand(new_column));
}

std::string rows_text(const Change& change, const ArrayShape& shape, const std::string& length,
                      const std::string& pitch) {
  const std::uint64_t before = shape.lengths.back(), after = lengths_after(change, shape)->back();
  if (before == after) return length;
  if (is_number(length)) return fmt::format("{} * {}", shape.lengths.front(), after);
  if (is_product(length) && length.ends_with("* " + pitch)) {
    return length.substr(0, length.size() - pitch.size()) + pitch_text(change, shape, pitch);
  }
  const auto plain = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
    while (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
    return text;
  };
  const Expressions code(length);
  const std::vector<Part> factors = code.split(code.all(), "*");
  for (std::size_t k = factors.size(); k-- > 0;) {  // the last one that is the pitch
    const Part& factor = factors[k];
    const std::string text = code.text_of(factor);
    if (has_outside_brackets(text, ".:<>=+-/%&|^?!~,]")) break;  // no product
    if (plain(text) != plain(pitch)) continue;
    return length.substr(0, code.tokens[factor.begin].begin) + pitch_text(change, shape, pitch) +
           length.substr(code.tokens[factor.end - 1].end);
  }
  const std::string inner = without_parentheses(length);
  return fmt::format("{} / {} * {}", is_product(inner) ? inner : operand(length), operand(pitch),
                     pitch_text(change, shape, pitch));
}

unsigned index_operators(const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  const auto flattening = [](std::size_t dimensions) { return 2 * unsigned(dimensions); };
  if (form == IndexForm::flat) return flattening(shape.lengths.size() - 1) + flat_operators(change, shape.element);
  if (const auto number = added_number(change, shape, form)) {
    return flattening(number->last - number->first) + xor_operators(number->added);
  }
  return form == IndexForm::columns ? flat_operators(inside_row(change, shape), shape.element) : 0;
}

std::uint64_t block_of_masked(const Change& change, const ArrayShape& shape) {
  const auto number = form_of(change, shape) == IndexForm::columns ? row_number(change, shape) : std::nullopt;
  if (!number || number->first != number->last || change.kind() != ChangeKind::row_xor) return 0;
  const bool has_mask = xor_term(number->added).mask > 0;
  return has_mask ? number->added.factor << number->added.bits : 0;
}

std::uint64_t block_of_rows(const Change& change, const ArrayShape& shape) {
  if (form_of(change, shape) != IndexForm::order) return 0;
  const RowXor& swizzle = change.swizzle;
  const bool has_planes = shape.lengths.size() > 2;
  return std::max(swizzle.block(), has_planes ? std::uint64_t{swizzle.row} << swizzle.bits : 0) / shape.row_bytes();
}

unsigned index_instructions(const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  if (form == IndexForm::flat) return flat_instructions(change, shape);
  if (form == IndexForm::order) return 2;  // SHF, LOP3
  if (form != IndexForm::columns) return 0;
  const auto number = row_number(change, shape);
  if (!number) return flat_instructions(inside_row(change, shape), row_of(shape));
  const auto flattening = unsigned(number->last - number->first);  // IMAD
  const auto& [per_step, bits, factor, rows] = number->added;
  const bool shifts_anyway = shape.element >= 16 && std::has_single_bit(per_step);     // for its offset in bytes
  return flattening + (shifts_anyway ? 0 : shift_instructions(per_step, factor)) + 1;  // LOP3
}

std::vector<std::string> subscript_names(std::size_t dimensions) {
  if (dimensions == 1) return {"i"};
  std::vector<std::string> names{"y", "x"};
  for (std::size_t d = 2; d < dimensions; ++d) names.insert(names.begin(), d == 2 ? "z" : fmt::format("w{}", d));
  return names;
}

}  // namespace bankwise::fit
