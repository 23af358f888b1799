#include "bankcheck/fit/index_terms.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace bankwise::fit {
namespace {

/// The factors of a summand: a quotient or a remainder is one as a whole. Nothing if one has a sign.
std::vector<Part> factors_of(const Ranges& code, Part summand) {
  std::vector<Part> factors = code.split(summand, "*/%");
  for (const Part& factor : factors) {
    if (factor.size() == 0) return {};
    if (code.is_any(factor.end, "/%")) return {summand};
  }
  return factors;
}

/// Whether a variable serves only these indices.
bool serves_only(const Ranges& code, std::size_t name, const std::vector<Part>& indices) {
  const Part function = code.function_at(name);
  for (std::size_t i = function.begin; i < function.end; ++i) {
    const bool is_use = code.is(i, code.text(name)) && code.writing_at(i, function) == Ranges::Writing::none;
    if (is_use && std::ranges::none_of(indices, [&](const Part& index) { return index.contains(i); })) return false;
  }
  return true;
}

}  // namespace

std::vector<Term> terms_of(const Ranges& code, Part index) {
  index = code.inner(index);
  if (code.next_outside(index.begin, index.end, "<>&|^?,=!") < index.end) return {};
  std::vector<Term> terms;
  for (const Part& summand : code.split(index, "+-")) {
    terms.push_back({!terms.empty() && code.is(summand.begin - 1, "-"), factors_of(code, summand)});
    if (terms.back().factors.empty()) return {};
  }
  return terms;
}

std::vector<Term> with_definitions(const Ranges& code, const std::vector<Term>& terms,
                                   const std::vector<Part>& indices) {
  std::vector<Term> all;
  for (const Term& term : terms) {
    const bool is_name = term.factors.size() == 1 && term.factors[0].size() == 1 && !term.is_negative;
    const auto definition = is_name ? code.definition_of(term.factors[0].begin) : std::nullopt;
    std::vector<Term> parts = definition ? terms_of(code, *definition) : std::vector<Term>{};
    if (parts.size() < 2) {
      all.push_back(term);
      continue;
    }
    const bool is_own = serves_only(code, term.factors[0].begin, indices);
    for (Term& part : parts) {
      part.is_of_shared_variable = !is_own;
      all.push_back(std::move(part));
    }
  }
  return all;
}

bool is_operand(const Ranges& code, Part part) {
  const bool is_enclosed = code.is(part.begin, "(") && code.past_bracket(part.begin) == part.end;
  return part.size() == 1 || is_enclosed;
}

std::vector<Term> terms_of_call(const Ranges& code, Part call, const std::vector<Macro>& macros) {
  const bool is_call =
      code.is_name(call.begin) && code.is(call.begin + 1, "(") && code.past_bracket(call.begin + 1) == call.end;
  const auto is_called = [&](const Macro& macro) { return macro.name == code.text(call.begin); };
  const auto macro = std::ranges::find_if(macros, is_called);
  if (!is_call || std::ranges::count_if(macros, is_called) != 1 || !macro->has_parameters) return {};
  const auto [parameters, definition] = parts_of(*macro);
  const std::vector<Part> arguments = code.arguments_at(call.begin + 1);
  const Ranges text(definition, code.constants(), {});
  std::vector<Term> terms = terms_of(text, text.all());
  for (Term& term : terms) {
    for (Part& factor : term.factors) {
      const bool is_enclosed = is_operand(text, factor) && factor.size() > 1;
      if (is_enclosed) factor = {factor.begin + 1, factor.end - 1};
      const auto parameter = std::ranges::find(parameters, text.text(factor.begin));
      const auto number = std::size_t(parameter - parameters.begin());
      if (factor.size() != 1 || number >= arguments.size()) return {};
      factor = arguments[number];
      if (factor.size() == 0 || (!is_enclosed && !is_operand(code, factor))) return {};
    }
  }
  return terms;
}

}  // namespace bankwise::fit
