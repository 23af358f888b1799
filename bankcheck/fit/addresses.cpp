#include "bankcheck/fit/addresses.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/edits_parts.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/side_effects.hpp"
#include "bankcheck/fit/source_constants.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::fit {
namespace {

constexpr int max_depth = 8;  // of functions that pass an address on

/// What a cast to a pointer or a reference accesses; the type is without the * or &.
Reach reach_of_cast(const Expressions& code, Part type, std::string_view element) {
  std::string words;
  for (std::size_t i = type.begin; i < type.end; ++i) {
    const bool is_repeated = code.is(i, "long") && code.is(i - 1, "long");
    if (predict::is_decoration(code.text(i)) || code.is(i, "std") || code.is(i, "::") || is_repeated) continue;
    words += (words.empty() ? "" : " ") + std::string(code.text(i));
  }
  const std::uint64_t bytes = words.empty() ? 0 : predict::bytes_of_type(words);
  return {bytes > 0 || words == element, bytes};
}

/// Whether a macro of the source may stand for a name, or for code that has it.
bool is_in_macro(const Expressions& code, std::string_view name) {
  return !macro_that_names(code.whole().source, name).empty();
}

/// Whether the * before a token dereferences what begins there.
bool is_dereferenced(const Expressions& code, std::size_t i) {
  return code.is(i - 1, "*") && !code.is_operand(i - 2) && !code.takes_address(i - 2);
}

/// Whether some tokens are a whole argument of a call.
bool is_argument(const Expressions& code, Part part) {
  return (code.is(part.begin - 1, "(") || code.is(part.begin - 1, ",")) &&
         (code.is(part.end, ")") || code.is(part.end, ","));
}

/// A parameter of a function.
struct Parameter {
  Part declaration;
  std::size_t name = 0;
  std::string_view text;  // of the name
  Part body;              // of the function, without its brackets
};

/// The parameter with this number of those in the parenthesis at a token; nothing if it is 0, or there is no name.
std::optional<Parameter> parameter_in(const Expressions& code, std::size_t open, std::size_t number) {
  const std::vector<Part> all = open == 0 ? std::vector<Part>() : code.arguments_at(open);
  const auto name = number < all.size() ? name_of_parameter(code, all[number]) : std::nullopt;
  if (!name) return std::nullopt;
  const std::size_t body = code.past_bracket(open);
  return Parameter{all[number], *name, code.text(*name), {body + 1, code.past_bracket(body) - 1}};
}

bool function_gives_address(const Expressions& code, ArgumentPlace argument, int depth);

/// Whether code takes the address of what a name refers to: from there, other elements are in reach.
bool gives_address(const Expressions& code, std::string_view name, Part part, int depth) {
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (!code.is_name(i) || !code.is(i, name) || code.is_member(i)) continue;
    if (code.takes_address(i - 1)) return true;
    if (is_argument(code, {i, i + 1}) && function_gives_address(code, argument_at(code, i), depth)) return true;
  }
  return false;
}

/// Whether a function of this source gets a reference, and takes its address.
bool function_gives_address(const Expressions& code, ArgumentPlace argument, int depth) {
  if (depth > max_depth) return true;
  const Expressions& source = code.whole();
  return std::ranges::any_of(places_of(source, code.text(argument.function)).definitions, [&](std::size_t open) {
    const auto parameter = parameter_in(source, open, argument.number);
    return parameter && source.is(parameter->name - 1, "&") &&
           gives_address(source, parameter->text, parameter->body, depth + 1);
  });
}

bool stays_at_element(const Expressions& code, std::string_view pointer, Part body, int depth);

/// Whether the only function of this name just dereferences the pointer that it gets.
bool function_stays_at_element(const Expressions& code, ArgumentPlace argument, int depth) {
  const std::string_view function = code.text(argument.function);
  if (is_atomic(function)) return argument.number == 0;
  const Expressions& source = code.whole();
  const auto parameter = parameter_in(source, places_of(source, function).open(), argument.number);
  if (!parameter || depth > max_depth) return false;
  const Part declaration = parameter->declaration;
  return count_tokens(source, declaration, "*") == 1 && !has_token(source, declaration, "&") &&
         stays_at_element(source, parameter->text, parameter->body, depth + 1);
}

/// Whether code just dereferences a pointer, `*p`, `p->x` or `p[0]`, or passes it to functions that do.
bool stays_at_element(const Expressions& code, std::string_view pointer, Part body, int depth) {
  if (is_in_macro(code, pointer)) return false;
  for (std::size_t i = body.begin; i < body.end; ++i) {
    if (!code.is_name(i) || !code.is(i, pointer) || code.is_member(i)) continue;
    const bool is_first = code.is(i + 1, "[") && code.is(i + 2, "0") && code.is(i + 3, "]");
    const bool is_pointed = code.is(i + 1, "->") || is_first;
    const bool is_stepped = (code.is(i + 1, "+") || code.is(i + 1, "-")) && code.is(i + 2, code.text(i + 1));
    const bool is_starred = is_dereferenced(code, i) && !is_stepped;
    if (is_starred ? !code.is(i + 1, "[") && !code.is(i + 1, "(") && !code.is(i + 1, "->")
                   : is_pointed && !code.takes_address(i - 1) && !code.is(i - 1, "*")) {
      continue;
    }
    const bool is_passed = is_argument(code, {i, i + 1});
    if (!is_passed || !function_stays_at_element(code, argument_at(code, i), depth)) return false;
  }
  return true;
}

// --- The number of an address in shared memory ---

/// Whether the inline PTX around a token only accesses memory: an instruction that adds to the address, or an offset in
/// brackets, reaches other elements.
bool only_accesses(const Expressions& code, std::size_t i) {
  constexpr std::string_view accesses = "ld st ldmatrix stmatrix cp atom red";
  std::string assembly;
  for (i = statement_begin(code, i);
       i < code.tokens.size() && !code.is(i, ":") && !code.is(i, "::") && !code.is(i, ";"); ++i) {
    if (code.tokens[i].kind == source::TokenKind::text) assembly += code.text(i);
  }
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  bool is_first = true, is_bracket = false;  // the first word of an instruction; between brackets
  for (std::size_t at = 0; at < assembly.size(); ++at) {
    const char c = assembly[at];
    is_bracket = c == '[' || (is_bracket && c != ']');
    if (is_bracket && c == '+') return false;
    if (c == ';') is_first = true;
    if (c == '\\') ++at;  // the n of \n
    if (c == '\\' || !is_first || !is_letter(c)) continue;
    const auto end = std::min(assembly.find_first_of(". \t;\"", at), assembly.size());
    const std::string_view word = std::string_view(assembly).substr(at, end - at);
    if (!support::has_word(accesses, word) || assembly.find("cp.async.bulk") != std::string::npos) return false;
    is_first = false;
    at = end - 1;
  }
  return true;
}

/// An expression with the casts and parentheses around it.
Part with_casts(const Expressions& code, Part value) {
  for (;;) {
    const std::size_t before = value.begin - 1;
    if (code.is(before, ")") && code.closes_cast(before)) {
      value.begin = code.opening(before);
    } else if (code.is(before, "(") && code.is(value.end, ")")) {
      const std::size_t callee = callee_before(code, before);
      const bool is_cast = code.is(callee, "static_cast") || code.is(callee, "reinterpret_cast") ||
                           (callee + 1 == before && code.is_name(callee) && code.names_type(callee));
      const bool is_literal = callee < code.tokens.size() && code.tokens[callee].kind == source::TokenKind::text;
      if (!is_cast && (code.is_operand(callee) || is_literal)) return value;
      value = {is_cast ? callee : before, value.end + 1};
    } else {
      return value;
    }
  }
}

bool is_operand_of_ptx(const Expressions& code, Part value, int depth);

/// Whether all uses of a number are operands of PTX instructions that access memory, or other values replace it.
bool all_are_operands(const Expressions& code, std::string_view name, Part part, int depth) {
  if (is_in_macro(code, name)) return false;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (!code.is_name(i) || !code.is(i, name) || code.is_member(i)) continue;
    const bool is_replaced = code.is(i + 1, "=") && !code.is(i + 2, "=");
    if (!is_replaced && !is_operand_of_ptx(code, {i, i + 1}, depth)) return false;
  }
  return true;
}

/// Whether a function has a variable of this name that is no pointer and no reference.
bool is_declared_in(const Expressions& code, Part body, std::string_view name) {
  for (std::size_t i = body.begin; i < body.end; ++i) {
    if (code.is(i, name) && code.declares(i)) return code.is_name(i - 1);
  }
  return false;
}

bool is_operand_of_ptx(const Expressions& code, Part value, int depth) {
  if (depth > max_depth) return false;
  value = with_casts(code, value);
  const std::size_t before = value.begin - 1;
  if (code.is(before, "=") && code.is_name(before - 1) && code.is(value.end, ";")) {
    const std::size_t body = code.function_body(before);
    const Part rest{value.end, code.past_bracket(body)};
    const bool is_local = body > 0 && is_declared_in(code, {body, rest.end}, code.text(before - 1));
    return is_local && all_are_operands(code, code.text(before - 1), rest, depth + 1);
  }
  if (!is_argument(code, value)) return false;
  if (code.is(before, "(") && before > 0 && code.tokens[before - 1].kind == source::TokenKind::text) {
    return only_accesses(code, before);
  }
  const ArgumentPlace argument = argument_at(code, value.begin);
  const Expressions& source = code.whole();
  const std::size_t open = places_of(source, code.text(argument.function)).open();
  const auto parameter = parameter_in(source, open, argument.number);
  return parameter && all_are_operands(source, parameter->text, parameter->body, depth + 1);
}

/// Whether the statement at a token declares a reference whose address is taken later.
bool variable_gives_address(const Expressions& code, std::size_t i) {
  std::size_t equals = i;
  while (equals > 0 && !code.is(equals, "=") && !ends_statement(code, equals)) --equals;
  if (!code.is(equals, "=") || !code.is_name(equals - 1) || !code.is(equals - 2, "&")) return false;
  const std::size_t body = code.function_body(equals);
  const Part rest{i + 1, body == 0 ? code.tokens.size() : code.past_bracket(body)};
  return gives_address(code, code.text(equals - 1), rest, 0);
}

/// Finds what a function does with one pointer.
class PointerReader {
 public:
  PointerReader(const Expressions& code, std::size_t array, std::size_t name)
      : code_(code), array_(code.text(array)), body_(code.function_body(name)) {
    pointer_.name = code.text(name);
  }

  std::optional<LocalPointer> run() {
    if (body_ == 0 || !find_declaration()) return std::nullopt;
    for (std::size_t i = declared_; i < code_.past_bracket(body_); ++i) {
      const bool is_use = code_.is_name(i) && code_.is(i, pointer_.name) && !code_.is_member(i);
      if (is_use && !read(i)) return std::nullopt;
    }
    if (!declare()) return std::nullopt;
    return std::move(pointer_);
  }

 private:
  /// The only declaration of the name in the function.
  bool find_declaration() {
    for (std::size_t i = body_; i < code_.past_bracket(body_); ++i) {
      if (!code_.is_name(i) || !code_.is(i, pointer_.name) || !code_.declares(i)) continue;
      if (declared_ > 0) return false;
      declared_ = i;
    }
    return declared_ > 0;
  }

  bool read(std::size_t i) {
    if (i == declared_ && !code_.is(i + 1, "=")) return true;
    const bool begins = i == declared_ || ends_statement(code_, i - 1);
    if (begins && code_.is(i + 1, "=") && !code_.is(i + 2, "=")) return read_value(i + 2);
    if (begins && code_.is_any(i + 1, "+-") &&
        (code_.is(i + 2, "=") || (code_.is(i + 2, code_.text(i + 1)) && code_.is(i + 3, ";")))) {
      ++changes_;
      return true;  // of a number, too
    }
    if (code_.is(i + 1, "[")) {
      const std::size_t close = code_.closing(i + 1);
      pointer_.elements.push_back({i, {i, close + 1}, {i + 2, close}});
      return true;
    }
    if (!is_dereferenced(code_, i) || code_.is_pair(i + 1, "+-") || code_.is(i + 1, "->") || code_.is(i + 1, "("))
      return false;
    pointer_.elements.push_back({i, {i - 1, i + 1}, {i + 1, i + 1}});
    return true;
  }

  /// `s`, `s + x` or `&s[x]`, to the end of the statement.
  bool read_value(std::size_t begin) {
    ++changes_;
    std::size_t end = begin;
    while (end < code_.tokens.size() && !ends_statement(code_, end)) ++end;
    const bool is_address = code_.is(begin, "&");
    const std::size_t array = begin + (is_address ? 1 : 0);
    if (!code_.is(end, ";") || !code_.is(array, array_)) return false;
    if (!is_address && end == array + 1) {
      pointer_.replacements.push_back({{begin, end}, "0"});
      return true;
    }
    const Part number{array + 2, is_address ? end - 1 : end};  // behind the bracket or the +
    if (number.begin >= number.end || !is_number(number, !is_address)) return false;
    if (is_address ? !code_.is(array + 1, "[") || code_.closing(array + 1) != number.end : !code_.is(array + 1, "+")) {
      return false;
    }
    pointer_.replacements.push_back({{begin, number.begin}, ""});
    if (is_address) pointer_.replacements.push_back({{number.end, end}, ""});
    return true;
  }

  /// Whether an index without the array, or a term after a + without operators that bind less, is a number as it is.
  bool is_number(Part part, bool is_term) const {
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (code_.is(i, array_) || code_.is(i, pointer_.name)) return false;
      if (code_.is(i, "(") || code_.is(i, "[")) {
        const std::size_t end = code_.past_bracket(i);
        if (has_token(code_, {i, end}, array_)) return false;
        i = end - 1;
        continue;
      }
      if (is_term && code_.is_any(i, "<>&|^?=,:")) return false;
    }
    return true;
  }

  /// The declaration declares a number instead.
  bool declare() {
    const std::size_t begin = statement_begin(code_, declared_);
    std::size_t end = declared_;
    while (end < code_.tokens.size() && !ends_statement(code_, end)) ++end;
    std::string comments;
    const bool is_plain = code_.plain_text({begin, end}, comments) && comments.empty();
    if (!is_plain || !names_pointer({begin, declared_})) return false;
    const bool has_value = code_.is(declared_ + 1, "=");
    if (has_value || declared_ + 1 == end) {
      const std::string gap = code_.touches_next(declared_ - 1) ? " " : "";
      pointer_.replacements.push_back({{begin, declared_}, (has_value && changes_ == 1 ? "const int" : "int") + gap});
      return true;
    }
    std::size_t star = declared_;
    while (star > begin && !code_.is(star, "*")) --star;
    if (!code_.is(declared_ + 1, ",") || star == begin) return false;
    const std::string number = "int " + std::string(pointer_.name) + ";";
    pointer_.replacements.push_back(
        {{begin, begin}, line_before(code_.source, code_.tokens[begin].begin, number).text});
    pointer_.replacements.push_back({{star, declared_ + 2}, ""});
    return true;
  }

  /// Whether the tokens before a name declare a pointer that is local, in the first declarator of its statement.
  bool names_pointer(Part part) const {
    const std::size_t stars = count_tokens(code_, part, "*");
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (code_.is_any(i, ",&<()=") || code_.is(i, "static")) return false;
    }
    return stars == 1 || (stars == 0 && code_.is(part.end - 1, "auto"));
  }

  const Expressions& code_;
  std::string_view array_;
  std::size_t body_, declared_ = 0;
  unsigned changes_ = 0;  // of its value
  LocalPointer pointer_;
};

}  // namespace

Reach reach_of_address(const Expressions& code, std::size_t ampersand, std::string_view type) {
  const std::size_t before = ampersand - 1;
  if (variable_gives_address(code, ampersand)) return {};
  if (code.is(before, ")")) {  // *(float4*)&
    const std::size_t open = code.opening(before);
    if (!is_dereferenced(code, open) || !code.is(before - 1, "*")) return {};
    return reach_of_cast(code, {open + 1, before - 1}, type);
  }
  const Part argument{ampersand, code.past_element(ampersand + 1)};
  if (!is_argument(code, argument)) return {};
  const ArgumentPlace place = argument_at(code, ampersand);
  // *reinterpret_cast<float4*>(&t[i]), reinterpret_cast<float4*>(&t[i])[0]
  if (code.is(place.function, "reinterpret_cast")) {
    const std::size_t behind = argument.end + 1;
    const bool is_first = code.is(behind, "[") && code.is(behind + 1, "0") && code.is(behind + 2, "]") &&
                          !code.takes_address(place.function - 1);
    if ((!is_dereferenced(code, place.function) && !is_first) || !code.is(before - 2, "*")) return {};
    return reach_of_cast(code, {place.function + 2, before - 2}, type);
  }
  if (code.is(place.function, "__cvta_generic_to_shared")) {
    return {is_operand_of_ptx(code, {place.function, argument.end + 1}, 0), 0};
  }
  return {function_stays_at_element(code, place, 0), 0};
}

Reach reach_of_element(const Expressions& code, Part element, std::string_view type) {
  const std::size_t before = element.begin - 1;
  Reach reach{true, 0};
  if (code.is(before, ")") && code.is(before - 1, "&")) {  // (float4&)s[i]
    const std::size_t open = code.opening(before);
    reach = reach_of_cast(code, {open + 1, before - 1}, type);
  } else if (code.is(before, "(") && code.is(before - 1, ">") && code.is(before - 2, "&")) {
    const ArgumentPlace place = argument_at(code, element.begin);
    if (code.is(place.function, "reinterpret_cast")) {
      reach = reach_of_cast(code, {place.function + 2, before - 2}, type);
    }
  }
  if (variable_gives_address(code, element.begin)) return {};
  if (is_argument(code, element) && function_gives_address(code, argument_at(code, element.begin), 0)) return {};
  return reach;
}

std::optional<LocalPointer> local_pointer_at(const Expressions& code, std::size_t array) {
  const std::size_t equals = code.is(array - 1, "&") ? array - 2 : array - 1;
  if (!code.is(equals, "=") || !code.is_name(equals - 1)) return std::nullopt;
  return PointerReader(code, array, equals - 1).run();
}

}  // namespace bankwise::fit
