#include "bankcheck/fit/uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "bankcheck/fit/addresses.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/side_effects.hpp"
#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::fit {
namespace {

/// A source that declares an array, and what its functions and macros do besides computing.
struct Code {
  Expressions source;
  SideEffects effects;
  Code(std::string_view text, const Declaration& declaration)
      : source(text), effects(source, declaration.pure_macros) {}
};

/// Finds uses in one text: the source, or the text of a macro in it.
class UseFinder : Expressions {
 public:
  UseFinder(const Code& code, std::string_view text, const Declaration& declaration, bool index_changes)
      : Expressions(code.source, text),
        effects_(code.effects),
        declaration_(declaration),
        index_changes_(index_changes),
        is_macro_(text.size() != whole().source.size()),
        offset_(std::size_t(text.data() - whole().source.data())),
        first_line_(1 + std::size_t(std::ranges::count(whole().source.substr(0, offset_), '\n'))) {}

  void search_block() {
    const Part block = block_of(*this, declaration_);
    const unsigned torn = line_of_torn_branch(*this, block.begin - 1, std::min(block.end + 1, tokens.size()));
    if (torn > 0) {
      found_.why = fmt::format(
          "line {}: a branch of the preprocessor opens or closes a block, and not both; change the "
          "array by hand",
          torn);
    }
    search(block, declaration_.name);
  }
  /// The text of a macro, with the names of its parameters.
  void search_macro(std::vector<std::string_view> parameters) {
    parameters_ = std::move(parameters);
    search(all(), declaration_.name);
  }

  /// Whether the arguments of a macro can be evaluated more than once, wherever the source uses it; notes why not.
  std::string why_no_macro(const Macro& macro) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is(i, macro.name)) continue;
      const Part arguments{i + 1, macro.has_parameters && is(i + 1, "(") ? past_bracket(i + 1) - 1 : i};
      if (!SideEffects::writes(*this, arguments) && effects_.unknown_call(*this, arguments).empty()) continue;
      return fmt::format("line {}: an argument of the macro {} has a side effect; write it to a variable first",
                         line(i), macro.name);
    }
    return "";
  }

  const Uses& found() const { return found_; }
  /// Arrays that are passed to the functions that get this one, by name and line.
  const std::set<std::pair<unsigned, std::string>>& passed() const { return passed_; }

 private:
  void search(Part part, const std::string& name) {
    const std::string around = std::exchange(name_, name);
    for (std::size_t i = part.begin; i < part.end && found_.why.empty(); ++i) {
      if (is_name(i) && is(i, name)) use(i);
    }
    name_ = around;
  }

  void fail(std::size_t i, std::string_view problem) {
    if (found_.why.empty()) found_.why = fmt::format("line {}: {}", line_of(i), problem);
  }
  /// In the source.
  unsigned line_of(std::size_t i) const { return unsigned(line(i) + first_line_ - 1); }
  bool is_parameter(std::size_t i) const { return std::ranges::find(parameters_, text(i)) != parameters_.end(); }

  /// Whether an expression has a product with the length of a row: "y * 32 + x", in an array of rows of 32 elements.
  bool counts_rows(Part index) const {
    const std::size_t last = declaration_.dimensions.size() - 1;
    const std::string& length = declaration_.dimensions[last];
    const std::uint64_t row = last < declaration_.lengths.size() ? declaration_.lengths[last] : 0;
    const auto is_row = [&](Part factor) {
      std::string comments;
      const std::string factor_text = plain_text(factor, comments).value_or("");
      const auto value = SourceConstants().value_of(factor_text);
      return factor_text == length || factor_text == "(" + length + ")" || (row > 0 && value && *value >= row);
    };
    const auto shifts_by_row = [&](std::size_t k) {
      const auto bits = SourceConstants().value_of(std::string(text(k + 2)));
      return row > 0 && bits && *bits < 32 && std::uint64_t{1} << *bits >= row;
    };
    for (std::size_t k = index.begin + 1; k + 1 < index.end; ++k) {
      if (is(k, "<") && is(k + 1, "<") && shifts_by_row(k)) return true;
      if (!is(k, "*")) continue;
      const std::size_t left = is(k - 1, ")") ? std::max(opening(k - 1), index.begin) : k - 1;
      const std::size_t right_end = is(k + 1, "(") ? past_bracket(k + 1) : k + 2;
      if (is_row({left, k}) || is_row({k + 1, right_end})) return true;
    }
    return false;
  }

  void use(std::size_t i) {
    if (is_member(i)) return;  // of something else
    if (declares(i)) {
      return fail(i, fmt::format("{} is declared here again; give one of the two another name", name_));
    }
    if (is_measured(i)) {
      if (found_.measured_line == 0) found_.measured_line = line_of(i);
    } else if (use_pointer(i)) {
      return;
    } else if (!is_only_element(i)) {
      fail(i, "the address of an element is taken; index the array where the element is used");
    } else if ((is(i + 1, ",") || is(i + 1, ")")) && (is(i - 1, ",") || is(i - 1, "("))) {
      pass(i);
    } else {
      use_element(i);
    }
  }

  /// Whether sizeof counts the bytes of the array, or of a part of several elements, whose name is at a token.
  bool is_measured(std::size_t i) const {
    if (!is(i - 1, "sizeof") && !(is(i - 1, "(") && is(i - 2, "sizeof"))) return false;
    std::size_t indices = 0;
    for (++i; is(i, "["); i = closing(i) + 1) ++indices;
    return indices < declaration_.dimensions.size();
  }

  /// Whether the array goes to a variable that points into it. Then the elements of that are uses.
  bool use_pointer(std::size_t i) {
    if (declaration_.dimensions.size() != 1 || is_macro_ || !index_changes_) return false;
    const auto pointer = local_pointer_at(*this, i);
    if (!pointer || !macro_that_names(source, pointer->name).empty()) return false;
    if (!pointers_.insert(pointer->elements.empty() ? i : pointer->elements.front().name).second) return true;
    for (const LocalPointer::Element& element : pointer->elements) use_pointed(std::string(pointer->name), element);
    for (const auto& [part, text] : pointer->replacements) {
      const std::size_t begin = tokens[part.begin].begin, last = tokens[part.end - 1].end;
      const std::size_t end = part.size() == 0 ? begin : text.empty() ? tokens[part.end].begin : last;
      found_.pointers.push_back({begin, end, text});
    }
    return true;
  }

  void use_pointed(const std::string& pointer, const LocalPointer::Element& element) {
    const auto& [token, place, index] = element;
    Use found{tokens[place.begin].begin, tokens[place.end - 1].end, {}, "", name_};
    const std::string problem = index.size() == 0 ? "" : why_not_repeated(index);
    const auto text = plain_text(index, found.comments);
    if (!problem.empty()) return fail(token, problem);
    if (!text || !is_only_element(token)) return fail(token, without_indices());
    const bool binds_less = text->find_first_of("<>&|^?:=,") != std::string::npos;
    const std::string number = with_parentheses(declaration_, binds_less ? "(" + *text + ")" : *text);
    found.subscripts.push_back(text->empty() || *text == "0" ? pointer : pointer + " + " + number);
    found_.uses.push_back(std::move(found));
  }

  /// An element with all of its indices.
  void use_element(std::size_t i) {
    Use found{offset_ + tokens[i].end, 0, {}, "", ""};
    std::vector<Part> indices;
    for (std::size_t next = i + 1; indices.size() < declaration_.dimensions.size();) {
      if (!is(next, "[")) return fail(i, without_indices());
      const Part index{next + 1, std::min(closing(next), tokens.size() - 1)};
      const std::string problem = index_changes_ ? why_not_repeated(index) : "";
      if (!problem.empty()) return fail(i, problem);
      next = index.end + 1;
      const auto subscript_text = subscript(index, found.comments);
      const bool is_plain = subscript_text && (!is(next, "[") || plain_text({index.end, next}, found.comments));
      if (index_changes_ && !is_plain) {
        return fail(i, "a preprocessor directive is inside the index; write the index to a variable first");
      }
      const bool needs_parentheses = index.size() == 1 && is_parameter(index.begin);
      const std::string plain = subscript_text.value_or("");
      found.subscripts.push_back(needs_parentheses ? "(" + plain + ")" : plain);
      indices.push_back(index);
    }
    const bool is_first_row = std::all_of(indices.begin(), indices.end() - 1, [&](Part index) {
      return index.size() == 1 && tokens[index.begin].kind == source::TokenKind::number;
    });
    if (indices.size() > 1 && is_first_row && counts_rows(indices.back())) {
      return fail(i, "the last index counts whole rows; write one index for the row and one for the column");
    }
    found.end = offset_ + tokens[indices.back().end].end;
    if (index_changes_) found_.uses.push_back(std::move(found));
  }

  /// Why the text of an index cannot be repeated: a sentence without a dot; "" if it can.
  std::string why_not_repeated(Part index) const {
    if (SideEffects::writes(*this, index)) return "the index has a side effect; write it to a variable first";
    const std::string_view callee = effects_.unknown_call(*this, index);
    if (!callee.empty()) {
      return fmt::format("the index calls {}, which may have a side effect; write the index to a variable first",
                         callee == "(" ? "a function" : callee);
    }
    const bool reads_array = has_token(*this, index, name_);
    return reads_array ? "the index reads the array itself; read that element into a variable first" : "";
  }

  /// What stands between two brackets. The comments behind the opening one belong to it.
  std::optional<std::string> subscript(Part index, std::string& comments) const {
    const bool is_plain = plain_text({index.begin - 1, index.begin}, comments).has_value();
    const auto plain = plain_text(index, comments);
    return is_plain && plain ? std::optional(with_parentheses(declaration_, *plain)) : std::nullopt;
  }

  std::string without_indices() const {
    const std::size_t count = declaration_.dimensions.size();
    return fmt::format("the array is used without {}; index its elements there",
                       count == 1 ? "its index" : fmt::format("all of its {} indices", count));
  }

  /// The array is an argument of a function: what that does with it are uses, too.
  void pass(std::size_t i) {
    const auto [callee, number] = argument_at(*this, i);
    const FunctionPlaces places = places_of(*this, text(callee));
    if (is_macro_ || !is_name(callee) || places.open() == 0) return fail(i, without_indices());
    if (!functions_.emplace(text(callee), number).second) return;
    const std::vector<Part> parameters = arguments_at(places.open());
    for (const std::size_t call : places.calls) check_call(call, number, parameters.size(), places.is_template);
    const std::string name = number < parameters.size() ? parameter_name(parameters[number]) : "";
    if (name.empty()) return fail(i, without_indices());
    const std::string_view macro = index_changes_ ? macro_that_names(source, name) : "";
    if (!macro.empty()) {
      return fail(places.open(), fmt::format("the macro {} may name {}; change the index by hand", macro, name));
    }
    const std::size_t body = past_bracket(places.open());
    search({body, past_bracket(body) - 1}, name);
  }

  /// Whether a call passes a whole array as the argument of this number.
  void check_call(std::size_t call, std::size_t number, std::size_t parameters, bool is_template) {
    const std::vector<Part> arguments = arguments_of_call(*this, call);
    const bool begins_with_name = arguments.size() == parameters && is_name(arguments[number].begin);
    if (!begins_with_name || arguments[number].size() > 1) {
      if (begins_with_name && is(arguments[number].begin + 1, "+")) note_passed(arguments[number].begin);  // a + 1
      fail(call, fmt::format("{} gets a part of an array, or another number of arguments; change the index by hand "
                             "there",
                             text(call)));
    } else if (is_template && declaration_.dimensions.size() > 1 && !is(call + 1, "<")) {
      fail(call, fmt::format("the lengths are template arguments of {}; change the array by hand", text(call)));
    } else {
      note_passed(arguments[number].begin);
    }
  }

  /// Notes the array that an argument names. If it names a parameter, those that the calls of its function pass.
  void note_passed(std::size_t argument) {
    const auto parameter = parameter_at(*this, argument);
    if (parameter && !resolved_.emplace(text(parameter->function), parameter->number).second) return;
    const FunctionPlaces places = parameter ? places_of(*this, text(parameter->function)) : FunctionPlaces();
    if (places.calls.empty()) passed_.emplace(unsigned(line(argument)), std::string(text(argument)));
    for (const std::size_t call : places.calls) {
      const std::vector<Part> arguments = arguments_of_call(*this, call);
      if (parameter->number < arguments.size() && arguments[parameter->number].size() == 1) {
        note_passed(arguments[parameter->number].begin);
      } else {
        fail(argument, fmt::format("it is not known that {} is an array in shared memory; change the index by hand",
                                   text(argument)));
      }
    }
  }

  /// Whether a name is that of a pointer or a reference to an array: (*t)[32], (&t)[32][32].
  bool is_wrapped(std::size_t name) const {
    return is(name - 2, "(") && is_any(name - 1, "*&") && is(name + 1, ")") && is(name + 2, "[");
  }

  /// The name of a parameter that an array of this kind can be passed to; "" if it is none. Notes what a declaration of
  /// several dimensions has in its brackets.
  std::string parameter_name(Part part) {
    const auto ends = [&](std::size_t i) { return i + 1 == part.end || is(i + 1, "[") || is_wrapped(i); };
    std::size_t name = part.begin;
    while (name < part.end && !(is_name(name) && ends(name))) ++name;
    const bool wrapped = name < part.end && is_wrapped(name);
    const Part type{part.begin, wrapped ? name - 2 : name};
    if (has_token(*this, type, "=") || has_token(*this, type, "&")) return "";
    std::vector<Extract> brackets;
    std::size_t i = wrapped ? name + 2 : name + 1;
    if (wrapped && is(name - 1, "*")) brackets.push_back({tokens[i - 1].end, tokens[i - 1].end});  // any length
    for (; name < part.end && i < part.end && is(i, "["); i = closing(i) + 1) {
      brackets.push_back({tokens[i].end, tokens[closing(i)].begin});
    }
    const bool is_pointer = count_tokens(*this, type, "*") == (brackets.empty() ? 1 : 0);
    if (name == part.end || i != part.end || !is_pointer) return "";
    if (declaration_.dimensions.size() == 1) return brackets.size() <= 1 && !wrapped ? std::string(text(name)) : "";
    if (brackets.size() != declaration_.dimensions.size()) return "";
    found_.parameters.push_back(std::move(brackets));
    return std::string(text(name));
  }

  /// Whether an element, or its address, reaches no other one. Notes the longest cast.
  bool is_only_element(std::size_t i) {
    const bool is_address = takes_address(i - 1);
    const auto [is_element, bytes] = is_address ? reach_of_address(*this, i - 1, declaration_.type)
                                                : reach_of_element(*this, {i, past_element(i)}, declaration_.type);
    if (bytes > found_.widest) {
      found_.widest = bytes;
      found_.widest_line = line_of(i);
    }
    return is_element;
  }

  const SideEffects& effects_;
  const Declaration& declaration_;
  bool index_changes_, is_macro_;
  std::size_t offset_, first_line_;
  std::string name_;                                              // of the array, or of the parameter that it is
  std::vector<std::string_view> parameters_;                      // of the macro
  std::set<std::pair<std::string_view, std::size_t>> functions_;  // that get the array, and which argument it is
  std::set<std::size_t> pointers_;                                // into the array, by the first of their elements
  std::set<std::pair<unsigned, std::string>> passed_;
  std::set<std::pair<std::string_view, std::size_t>> resolved_;  // parameters whose arguments are in passed_
  Uses found_;
};

/// The macros that name the array are changed as well.
void search_macros(const Code& code, const UseFinder& block, const Declaration& declaration, bool index_changes,
                   Uses& found) {
  const std::vector<Macro> macros = macros_of(code.source.source);
  for (const Macro& macro : macros) {
    const bool names_array = std::ranges::any_of(
        declaration.macros, [&](const ArrayMacro& naming) { return naming.line > 0 && naming.line == macro.line; });
    if (!found.why.empty() || !names_array) continue;
    const auto& [parameters, text] = parts_of(macro);
    const auto refuse = [&](std::string_view problem) {
      found.why = fmt::format("line {}: the macro {} {}", macro.line, macro.name, problem);
    };
    const bool is_nested =
        std::ranges::any_of(macros, [&](const Macro& other) { return has_token(parts_of(other).second, macro.name); });
    if (index_changes && is_nested) return refuse("is used by another macro; change its text by hand");
    if (index_changes && (text.find('\\') != text.npos || text.find("##") != text.npos)) {
      return refuse("names the array; change its text by hand");
    }
    UseFinder inside(code, text, declaration, index_changes);
    inside.search_macro(parameters);
    found.add(inside.found());
    if (found.why.empty() && index_changes) found.why = block.why_no_macro(macro);
  }
}

/// The macros of headers cannot be changed, but may do nothing that an array with other lengths does not allow.
void search_header_macros(const Declaration& declaration, bool index_changes, Uses& found) {
  for (const ArrayMacro& macro : declaration.macros) {
    if (!found.why.empty() || macro.line > 0) continue;
    const Code code(macro.text, declaration);
    UseFinder inside(code, macro.text, declaration, false);
    inside.search_macro({});
    found.add(inside.found());
    if (found.why.empty() && !index_changes) continue;
    found.why = fmt::format("in a header: the macro {} names the array; change its text by hand", macro.name);
  }
}

}  // namespace

void Uses::add(const Uses& more) {
  uses.insert(uses.end(), more.uses.begin(), more.uses.end());
  pointers.insert(pointers.end(), more.pointers.begin(), more.pointers.end());
  if (measured_line == 0) measured_line = more.measured_line;
  if (more.widest > widest) {
    widest = more.widest;
    widest_line = more.widest_line;
  }
  if (why.empty()) why = more.why;
}

Uses uses_of(std::string_view source, const Declaration& declaration, bool index_changes) {
  const Code code(source, declaration);
  UseFinder block(code, source, declaration, index_changes);
  block.search_block();
  Uses found = block.found();
  search_header_macros(declaration, index_changes, found);
  const auto has_use = [&](unsigned line) {  // by the name of a pointer
    return std::ranges::any_of(
        found.uses, [&](const Use& use) { return line == 1 + std::ranges::count(source.substr(0, use.begin), '\n'); });
  };
  const auto hidden = std::ranges::find_if_not(declaration.hidden_lines, has_use);
  if (found.why.empty() && index_changes && hidden != declaration.hidden_lines.end()) {
    found.why = fmt::format("line {}: the array is used, but not by its name; change the index by hand there", *hidden);
  }
  search_macros(code, block, declaration, index_changes, found);
  return found;
}

std::vector<TiedName> tied_names(std::string_view source, const Declaration& declaration) {
  const Code code(source, declaration);
  UseFinder block(code, source, declaration, false);
  block.search_block();
  std::vector<TiedName> tied;
  for (const auto& [line, name] : block.passed()) tied.push_back({name, line});
  if (!declaration.macros.empty()) tied.push_back({declaration.name, 0});
  return tied;
}

}  // namespace bankwise::fit
