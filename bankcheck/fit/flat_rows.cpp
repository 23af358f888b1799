#include "bankcheck/fit/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "bankcheck/fit/index.hpp"
#include "bankcheck/fit/index_terms.hpp"
#include "bankcheck/fit/uses.hpp"
#include "bankcheck/fit/value_ranges.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// The value of an expression that has only one.
std::optional<std::int64_t> only_value(const Ranges& code, Part part) {
  const auto range = code.of(part);
  return range && range->low == range->high ? std::optional(range->low) : std::nullopt;
}

using Factors = std::vector<Part>;
bool is_in(const Factors& factors, const Part& factor) {
  return std::ranges::find(factors, factor.begin, &Part::begin) != factors.end();
}

/// The factors of a summand that are a pitch together: one alone, or all whose values are known. Empty: none are.
Factors pitch_factors(const Ranges& code, const Term& term, std::int64_t pitch) {
  Factors known;
  std::int64_t product = 1;
  for (const Part& factor : term.factors) {
    const auto value = only_value(code, factor);
    if (value == pitch) return {factor};
    if (!value || *value < 1 || *value > pitch) continue;
    known.push_back(factor);
    product *= *value;
  }
  return product == pitch ? known : Factors{};
}

/// Whether only multiplications stand between factors: those of a call may be arguments of a macro.
bool are_neighbours(const Ranges& code, const Factors& factors) {
  for (std::size_t i = 1; i < factors.size(); ++i) {
    if (factors[i - 1].end + 1 != factors[i].begin || !code.is(factors[i].begin - 1, "*")) return false;
  }
  return true;
}

/// The product of the factors of a summand, without some of them, or of these alone.
std::string product_text(const Ranges& code, const Term& term, const Factors& part, bool without) {
  std::string text;
  for (const Part& factor : term.factors) {
    if (is_in(part, factor) == without) continue;
    const bool is_sum = code.next_outside(factor.begin, factor.end, "+-<>&|^?") < factor.end;  // an argument
    text += (text.empty() ? "" : " * ") + (is_sum ? fmt::format("({})", code.text_of(factor)) : code.text_of(factor));
  }
  return text.empty() ? "1" : text;
}

void append_summand(std::string& sum, bool is_negative, const std::string& text) {
  sum += sum.empty() ? (is_negative ? "-" : "") : is_negative ? " - " : " + ";
  sum += text;
}

/// An index, and its summands, as far as they are known.
struct Index {
  Part tokens;
  std::vector<Term> terms;
  std::vector<Term> defined;  ///< with the definitions of variables
};

/// Adds a summand with the pitch, of these factors, to the row; false if its factors are no neighbours.
bool add_row(const Ranges& code, const Term& term, const Factors& factors, RowIndex& split) {
  const std::string row = product_text(code, term, factors, true);
  append_summand(split.row, term.is_negative, row);
  const std::string text = product_text(code, term, factors, false);
  if (term.is_of_shared_variable) {
    append_summand(split.other_row, term.is_negative, row);
    split.other_pitch = text;
    return true;
  }
  const bool is_alone = factors.size() == 1;
  if (!is_alone && !are_neighbours(code, term.factors)) return false;
  const Part place{is_alone ? factors[0].begin : term.factors[0].begin,
                   is_alone ? factors[0].end : term.factors.back().end};
  split.pitches.push_back(
      {{code.tokens[place.begin].begin, code.tokens[place.end - 1].end}, is_alone ? "" : row, text});
  return true;
}

/// The index as a row and a column; nothing if it is not certain that the column lies in the row.
std::optional<RowIndex> row_index(const Ranges& code, Part part, std::vector<Term> terms, std::int64_t pitch) {
  if (part.begin >= part.end) return std::nullopt;  // the source ends, or the brackets are empty
  RowIndex split{.begin = code.tokens[part.begin].begin, .end = code.tokens[part.end - 1].end};
  if (terms.empty()) terms = {{false, {part}}};
  Range column{0, 0};
  for (const Term& term : terms) {
    const Factors factors = pitch_factors(code, term, pitch);
    if (factors.empty()) {
      const Part whole{term.factors.front().begin, term.factors.back().end};
      const auto range = code.of(whole);
      const auto sum = range ? combined(term.is_negative ? "-" : "+", column, *range) : std::nullopt;
      if (!sum) return std::nullopt;
      column = *sum;
      append_summand(split.column, term.is_negative, code.text_of(whole));
      continue;
    }
    if (!add_row(code, term, factors, split)) return std::nullopt;
  }
  if (column.low < 0 || column.high >= pitch) return std::nullopt;
  if (split.row.empty()) split.row = "0";
  if (split.column.empty()) split.column = "0";
  return split;
}

/// With rows of this pitch; nothing if an index is not certain to be in them.
std::vector<RowIndex> row_indices_of(const Ranges& code, const std::vector<Index>& indices, std::int64_t pitch) {
  std::vector<RowIndex> splits;
  for (const Index& index : indices) {
    auto split = row_index(code, index.tokens, index.terms, pitch);
    if (!split) split = row_index(code, index.tokens, index.defined, pitch);
    if (!split) return {};
    splits.push_back(std::move(*split));
  }
  return splits;
}

/// Whether a length is a product with the pitch of the indices, as they write it: "BM * BK" of `OFFSET(y, x, BM)`.
bool names_pitch(const std::string& length, const std::vector<RowIndex>& indices) {
  return is_product(length) && std::ranges::all_of(indices, [&](const RowIndex& index) {
           return std::ranges::all_of(index.pitches, [&](const PitchPlace& pitch) {
             return pitch.text != length && has_token(length, pitch.text);
           });
         });
}

/// The factors in the indices that divide the length; long rows first.
std::set<std::int64_t, std::greater<>> pitches_in(const Ranges& code, const std::vector<Index>& indices,
                                                  std::int64_t length) {
  std::set<std::int64_t, std::greater<>> pitches;
  for (const Index& index : indices) {
    for (const Term& term : index.defined) {
      if (term.factors.size() < 2) continue;
      std::int64_t product = 1;
      const auto add = [&](std::int64_t value) {
        if (value > 1 && value < length && length % value == 0) pitches.insert(value);
      };
      for (const Part& factor : term.factors) {
        const std::int64_t value = only_value(code, factor).value_or(0);
        add(value);
        if (value > 0 && value < length) product = std::min(product * value, length);
      }
      add(product);
    }
  }
  return pitches;
}

/// The last factors of a length, which are the pitch: "BX * 2" of "BY * BX * 2"; "" if none are.
std::string last_factors(const SourceConstants& constants, const std::string& length, std::int64_t pitch) {
  const SourceTokens code(length);
  for (std::size_t i = code.tokens.size(); i-- > 1 && is_product(length);) {
    const std::string text = length.substr(code.tokens[i].begin);
    const auto value = code.is(i, "*") ? std::nullopt : constants.value_of(text);
    if (value && std::int64_t(*value) >= pitch) return std::int64_t(*value) == pitch ? text : "";
  }
  return "";
}

/// Whether an index names a pitch that is known only of this run: "blockDim.x".
bool has_pitch_of_run(const std::vector<RowIndex>& indices) {
  const auto is_of_run = [](std::string_view text) {
    return text.find("blockDim") != text.npos || text.find("get_local_size") != text.npos;
  };
  return std::ranges::any_of(indices, [&](const RowIndex& index) {
    return is_of_run(index.other_pitch) || std::ranges::any_of(index.pitches, is_of_run, &PitchPlace::text);
  });
}

/// The constants, if the array has this length with them. A file that includes this one may define the only name that
/// is not known: it then has the value that gives the length.
std::optional<SourceConstants> with_length(const SourceConstants& constants, const std::string& dimension,
                                           std::uint64_t length) {
  constexpr int max_unknown = 1024;
  if (const auto value = constants.value_of(dimension)) {
    return *value == length ? std::optional(constants) : std::nullopt;
  }
  const std::string name = constants.unknown_in(dimension);
  if (name == dimension || source::tokens_of(name).size() != 1) return std::nullopt;
  for (int value = 1; value <= max_unknown; ++value) {
    SourceConstants all = constants;
    all.add(name, std::to_string(value));
    const auto product = all.value_of(dimension);
    if (!product || *product > length) return std::nullopt;
    if (*product == length) return all;
  }
  return std::nullopt;
}

/// A macro whose text is an element of an array: `#define AT(y, x) t[x + y * 17]`.
struct ElementMacro {
  std::string_view name;
  std::vector<std::string_view> parameters;
  std::string_view text;  // after the parameters
};

/// The only macro that names the array, if its text is one element; nothing otherwise.
std::optional<ElementMacro> element_macro(std::string_view source, const Declaration& declaration) {
  if (declaration.macros.size() != 1) return std::nullopt;
  for (const Macro& macro : macros_of(source)) {
    if (macro.line != declaration.macros.front().line || !macro.has_parameters) continue;
    const auto [parameters, text] = parts_of(macro);
    const SourceTokens code(text);
    if (!code.is(0, declaration.name) || !code.is(1, "[") || code.past_bracket(1) != code.tokens.size()) break;
    return ElementMacro{macro.name, parameters, text.substr(code.tokens.front().begin)};
  }
  return std::nullopt;
}

/// The index of a macro as a row, which is one parameter, and a column, which is another one.
struct MacroRows {
  std::size_t row = 0, column = 0;  // numbers of the parameters
  std::int64_t pitch = 0;
  RowIndex index;
};

std::optional<MacroRows> rows_of_macro(const ElementMacro& macro, std::string_view source,
                                       const SourceConstants& constants) {
  const Ranges code(macro.text, constants, {});
  const auto parameter = [&](Part part) {
    const auto place = std::ranges::find(macro.parameters, code.text_of(part));
    return std::size_t(place - macro.parameters.begin());  // the number of parameters if it is none
  };
  const std::size_t none = macro.parameters.size();
  const Part whole{2, code.tokens.size() - 1};
  const auto terms = terms_of(code, whole);
  if (terms.size() != 2 || terms[0].is_negative || terms[1].is_negative) return std::nullopt;
  const bool is_first = terms[0].factors.size() == 2;  // the row
  const Term &row = terms[is_first ? 0 : 1], &column = terms[is_first ? 1 : 0];
  if (row.factors.size() != 2 || column.factors.size() != 1) return std::nullopt;
  const bool is_pitch_first = parameter(row.factors[0]) == none;
  const Part &pitch = row.factors[is_pitch_first ? 0 : 1], &factor = row.factors[is_pitch_first ? 1 : 0];
  MacroRows rows{.row = parameter(factor), .column = parameter(column.factors[0])};
  rows.pitch = only_value(code, pitch).value_or(0);
  const bool is_split = rows.row < none && rows.column < none && rows.row != rows.column && rows.pitch > 1;
  if (!is_split || parameter(pitch) < none) return std::nullopt;
  const auto offset = std::size_t(macro.text.data() - source.data());
  const auto extract = [&](Part part) {
    return Extract{offset + code.tokens[part.begin].begin, offset + code.tokens[part.end - 1].end};
  };
  const Extract index = extract(whole);
  rows.index = {index.begin,
                index.end,
                fmt::format("({})", macro.parameters[rows.row]),
                fmt::format("({})", macro.parameters[rows.column]),
                {{extract(pitch), "", code.text_of(pitch)}}};
  return rows;
}

/// Whether all calls of the macro in the function around the array have columns of its rows.
bool has_certain_columns(const Ranges& code, const ElementMacro& macro, const MacroRows& rows, std::size_t declared) {
  const std::size_t body = code.function_body(declared), end = body == 0 ? 0 : code.past_bracket(body);
  bool is_called = false;
  for (std::size_t i = body; i < end; ++i) {
    if (!code.is(i, macro.name)) continue;
    if (!code.is(i + 1, "(")) return false;
    const std::vector<Part> arguments = code.arguments_at(i + 1);
    if (arguments.size() != macro.parameters.size()) return false;
    const Part& column = arguments[rows.column];
    const bool are_whole =
        is_operand(code, arguments[rows.row]) && (is_operand(code, column) || !terms_of(code, column).empty());
    const auto range = code.of(column);
    if (!are_whole || !range || range->low < 0 || range->high >= rows.pitch) return false;
    is_called = true;
  }
  return is_called;
}

/// Rows in the text of the macro through which all uses go.
void find_macro_rows(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                     const std::array<std::uint64_t, 3>& block) {
  const auto macro = element_macro(source, declaration);
  const auto rows = macro ? rows_of_macro(*macro, source, constants) : std::nullopt;
  if (!rows || declaration.lengths.front() % std::uint64_t(rows->pitch) != 0) return;
  const Uses uses = uses_of(source, declaration, true);
  if (!uses.why.empty() || uses.uses.size() != 1) return;  // that of the macro
  const Ranges code(source, constants, block);
  if (!has_certain_columns(code, *macro, *rows, code.at_offset(declaration.at))) return;
  declaration.pitch = std::uint64_t(rows->pitch);
  declaration.row_indices = {rows->index};
}

}  // namespace

void find_flat_rows(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                    const SoughtArray& array) {
  const std::string& dimension = declaration.dimensions.back();
  const bool may_have_rows = declaration.lengths.size() == declaration.dimensions.size() && !dimension.empty() &&
                             declaration.hidden_lines.empty() &&
                             std::ranges::all_of(declaration.tied, &Declaration::Tie::by_macro);
  // A macro of another branch would give another length.
  if (!may_have_rows) return;
  const auto known = with_length(constants, dimension, declaration.lengths.back());
  if (!known) return;
  const bool is_line = declaration.dimensions.size() == 1;
  if (is_line && !declaration.macros.empty()) return find_macro_rows(declaration, source, *known, array.block);
  const Uses uses = uses_of(source, declaration, true);
  const bool has_others = !uses.pointers.empty() || !declaration.macros.empty();
  if (!uses.why.empty() || uses.uses.empty() || has_others) return;
  const Ranges code(source, *known, array.block, array.only_block);
  const std::vector<Macro> macros = macros_of(source);
  std::vector<Part> places;
  for (const Use& use : uses.uses) {
    std::size_t open = code.at_offset(use.begin);
    for (std::size_t d = 1; d < declaration.dimensions.size(); ++d) open = code.past_bracket(open);
    places.push_back({open + 1, code.past_bracket(open) - 1});
  }
  std::vector<Index> indices;
  for (const Part& part : places) {
    std::vector<Term> terms = terms_of_call(code, part, macros);
    if (terms.empty()) terms = terms_of(code, part);
    std::vector<Term> defined = with_definitions(code, terms, places);
    indices.push_back({part, std::move(terms), std::move(defined)});
  }
  for (const std::int64_t pitch : pitches_in(code, indices, std::int64_t(declaration.lengths.back()))) {
    auto row_indices = row_indices_of(code, indices, pitch);
    if (row_indices.empty() || (!is_line && !names_pitch(dimension, row_indices))) continue;
    std::string length_pitch = last_factors(*known, dimension, pitch);
    if (length_pitch.empty() && has_pitch_of_run(row_indices)) continue;
    declaration.length_pitch = std::move(length_pitch);
    declaration.pitch = std::uint64_t(pitch);
    declaration.row_indices = std::move(row_indices);
    return;
  }
}

}  // namespace bankwise::fit
