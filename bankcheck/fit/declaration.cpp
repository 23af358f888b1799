#include "bankcheck/fit/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/index.hpp"
#include "bankcheck/fit/source_constants.hpp"
#include "bankcheck/fit/uses.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// The words that put an array into shared memory, with the macros that stand for them.
Qualifiers qualifiers_in(std::string_view source, const SoughtArray& array) {
  const Qualifiers of_languages{"__shared__", "local", "__local"};
  Qualifiers words = of_languages;
  const auto add = [&](std::string_view text) {
    for (const Macro& macro : macros_of(text)) {
      const SourceTokens inside(macro.text);
      for (std::size_t i = 0; !macro.has_parameters && i < inside.tokens.size(); ++i) {
        if (of_languages.contains(inside.text(i))) words.emplace(macro.name);
      }
    }
  };
  for (const std::string_view header : array.headers) add(header);
  add(source);
  return words;
}

/// What the dimensions' names stand for.
SourceConstants constants_of(std::string_view source, const SoughtArray& array) {
  SourceConstants constants;
  constants.add_options(array.options);
  for (const std::string_view header : array.headers) constants.add_source(header);
  constants.add_source(source);
  return constants;
}

/// Adds the values of template parameters around a declaration, and notes which of them its dimensions need.
void add_arguments(SourceConstants& constants, const SoughtArray& array, Candidate& candidate) {
  Declaration& declaration = candidate.declaration;
  std::string dimensions;
  for (const std::string& dimension : declaration.dimensions) dimensions += constants.with_values(dimension) + ";";
  for (const Template& around : candidate.templates) {
    for (const std::string_view name : {array.name, array.kernel}) {
      const auto all = template_arguments(name);
      const auto arguments = all.find(around.name);
      if (arguments == all.end()) continue;
      const std::size_t known = std::min(around.parameters.size(), arguments->second.size());
      for (std::size_t k = 0; k < known; ++k) constants.add(around.parameters[k], arguments->second[k]);
      break;
    }
    for (const std::string& parameter : around.parameters) {
      if (has_token(dimensions, parameter)) declaration.parameters.push_back(parameter);
    }
  }
  sort_distinct(declaration.parameters);
}

/// From the bytes of the array, if one length, or two equal ones, are not known.
void infer_lengths(Declaration& declaration, std::uint64_t bytes) {
  if (declaration.element == 0 || bytes == 0 || bytes % declaration.element != 0) return;
  const std::uint64_t elements = bytes / declaration.element;
  if (declaration.dimensions.size() == 1) declaration.lengths = {elements};
  if (declaration.dimensions.size() == 2 && declaration.dimensions[0] == declaration.dimensions[1]) {
    const auto side = std::uint64_t(std::llround(std::sqrt(double(elements))));
    if (side * side == elements) declaration.lengths = {side, side};
  }
}

void refuse_lengths(Declaration& declaration, std::string why) {
  declaration.lengths.clear();
  declaration.unknown = std::move(why);
}

std::string other_size(const Declaration& declaration) {
  return fmt::format("line {} declares an array of another size", declaration.line);
}

/// The compiler knows better than a macro of some other branch. Numbers that are others are of a branch that it does
/// not see.
void take_compiled_lengths(Declaration& declaration, const std::vector<std::uint64_t>& lengths) {
  if (lengths.size() != declaration.dimensions.size()) {
    declaration.unknown = fmt::format("line {} has some of the dimensions in a type", declaration.line);
    return;
  }
  declaration.lengths = lengths;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    const auto written = SourceConstants().value_of(declaration.dimensions[d]);
    if (written && *written != lengths[d]) return refuse_lengths(declaration, other_size(declaration));
  }
}

/// "TILE" and its value, of "TILE + PAD".
Declaration::Unpadded unpadded_of(const std::string& dimension, const SourceConstants& constants) {
  const std::size_t plus = dimension.rfind('+');
  if (plus == dimension.npos || has_outside_brackets(dimension, "<>&|^?:=,-")) return {};
  const std::string text(source::trimmed(std::string_view(dimension).substr(0, plus)));
  const bool is_split = has_outside_brackets(dimension.substr(plus), "+") && !has_outside_brackets(text, "+");
  return is_split ? Declaration::Unpadded{text, constants.value_of(text).value_or(0)} : Declaration::Unpadded{};
}

/// Sets the element and the lengths, as far as they are known, and returns whether they give the bytes of the array.
bool compute_lengths(Declaration& declaration, const SourceConstants& constants, const SoughtArray& array) {
  declaration.element = array.element > 0 ? array.element : constants.size_of(declaration.type);
  declaration.lengths.clear();
  std::uint64_t product = 1;
  for (const std::string& dimension : declaration.dimensions) {
    declaration.lengths.push_back(constants.value_of(dimension).value_or(0));
    product *= declaration.lengths.back();
  }
  if (product == 0 || array.bytes == 0) return product > 0;
  if (declaration.element == 0 && array.bytes % product == 0) declaration.element = array.bytes / product;
  return product * declaration.element == array.bytes;
}

void find_lengths(Declaration& declaration, const SourceConstants& constants, const SoughtArray& array) {
  if (!array.lengths.empty()) {
    declaration.element = array.element > 0 ? array.element : constants.size_of(declaration.type);
    return take_compiled_lengths(declaration, array.lengths);
  }
  if (compute_lengths(declaration, constants, array)) return;
  // Of a macro with several definitions, the branch of an #if may be another one than the last.
  std::vector<Declaration> others;
  for (const SourceConstants& branch : constants.other_branches()) {
    Declaration other = declaration;
    const auto is_same = [&](const Declaration& known) {
      return known.element == other.element && known.lengths == other.lengths;
    };
    const bool fits = array.bytes > 0 && compute_lengths(other, branch, array);
    if (fits && std::ranges::none_of(others, is_same)) others.push_back(other);
  }
  if (others.size() == 1) {
    declaration = std::move(others.front());
    return;
  }
  for (const std::string& dimension : declaration.dimensions) {
    if (constants.value_of(dimension)) continue;
    const bool has_open_rows = dimension.empty() && declaration.dimensions.size() > 1;
    declaration.unknown =
        has_open_rows ? "the launch gives the number of its rows" : constants.unknown_in(dimension) + " is not known";
    declaration.lengths.clear();
    return infer_lengths(declaration, array.bytes);
  }
  refuse_lengths(declaration, other_size(declaration));
}

/// The declaration that the lines of the array see, or the only one in its kernel. `name`: "" if it has none.
std::optional<Candidate> declared_for(std::vector<Candidate> candidates, const SoughtArray& array,
                                      std::string_view name) {
  const auto sees = [&](const Candidate& candidate) {
    return array.lines.empty() || std::ranges::any_of(array.lines, [&](unsigned used) {
             return used >= candidate.declaration.line && used <= candidate.last_line;
           });
  };
  if (!name.empty() && std::ranges::none_of(candidates, sees)) {
    // Only functions that get the array access it.
    const std::string_view kernel = array.kernel.substr(0, array.kernel.find_first_of("<("));
    std::erase_if(candidates, [&](const Candidate& candidate) {
      return candidate.declaration.is_parameter || candidate.function.empty() ||
             !(kernel == candidate.function || kernel.ends_with("::" + candidate.function));
    });
    if (candidates.size() > 1) return std::nullopt;
  } else {
    std::erase_if(candidates, std::not_fn(sees));
  }
  if (candidates.empty() || (name.empty() && candidates.size() > 1)) return std::nullopt;
  return std::move(candidates.back());
}

/// Sets what changes with the array, because the same functions get it.
void find_tied(Declaration& declaration, std::string_view source, const Qualifiers& qualifiers) {
  for (const TiedName& tied : tied_names(source, declaration)) {
    const bool is_of_all = tied.line == 0;  // lines
    auto others = declarations_in(source, qualifiers, tied.name);
    if (!is_of_all) {
      std::erase_if(others, [&](const Candidate& other) {
        return tied.line < other.declaration.line || tied.line > other.last_line;
      });
      if (others.size() > 1) others.erase(others.begin(), others.end() - 1);  // the last one that the line sees
    }
    if (!is_of_all && others.empty()) {
      declaration.other_memory = fmt::format(
          "line {}: a function that gets the array also gets {}, which is no array in shared memory; write a "
          "copy of the function first",
          tied.line, tied.name);
    }
    for (auto other = others.rbegin(); other != others.rend(); ++other) {
      if (other->declaration.at != declaration.at) declaration.tied.push_back({other->declaration.at, is_of_all});
    }
  }
}

}  // namespace

std::string with_parentheses(const Declaration& declaration, const std::string& text) {
  const SourceTokens code(text);
  const bool is_macro = code.tokens.size() == 1 || code.is(1, "(");
  const bool is_sum = is_macro && std::ranges::find(declaration.sums, code.text(0)) != declaration.sums.end();
  return is_sum ? "(" + text + ")" : text;
}

std::optional<Declaration> find_declaration(std::string_view source, const SoughtArray& array) {
  const std::size_t colons = array.name.rfind("::");
  std::string_view name = colons == std::string_view::npos ? array.name : array.name.substr(colons + 2);
  if (name.find(' ') != std::string_view::npos) name = "";
  const Qualifiers qualifiers = qualifiers_in(source, array);
  const std::vector<Candidate> declared = declarations_in(source, qualifiers, name);
  std::optional<Candidate> candidate = declared_for(declared, array, name);
  if (!candidate) return std::nullopt;
  Declaration& declaration = candidate->declaration;
  const SourceConstants of_source = constants_of(source.substr(0, declaration.at), array);
  SourceConstants constants = of_source;
  add_arguments(constants, array, *candidate);
  find_lengths(declaration, constants, array);
  declaration.unpadded = unpadded_of(declaration.dimensions.back(), constants);
  const auto is_alike = [&](const Candidate& other) {  // two blocks of one function: a trace does not tell which it is
    const bool in_function = !candidate->function.empty() && other.function_at == candidate->function_at;
    return other.block == candidate->block || (in_function && other.declaration.name == declaration.name);
  };
  if (std::ranges::count_if(declared, is_alike) > 1) refuse_lengths(declaration, "declared twice");
  declaration.sums = sums_of(source, array.headers);
  declaration.pure_macros = pure_macros_of(array.headers);
  declaration.macros = macros_naming(declaration, source, array.headers);
  declaration.hidden_lines = hidden_lines_of(declaration, candidate->last_line, source, array.lines, constants);
  declaration.function = candidate->function;
  find_tied(declaration, source, qualifiers);
  find_flat_rows(declaration, source, constants, array);
  find_based_indices(declaration, source, constants, of_source, array.block);
  return declaration;
}

}  // namespace bankwise::fit
