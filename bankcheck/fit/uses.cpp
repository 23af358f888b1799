#include "bankcheck/fit/uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/source_constants.hpp"
#include "bankcheck/predict/predict.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

constexpr std::string_view blanks = " \t\r\n\f\v";

/// The text of some tokens without comments and ends of lines; the comments are added to `comments`. Nothing if a line
/// of the preprocessor is behind one of the tokens.
std::optional<std::string> plain_text(const SourceTokens& code, std::size_t begin, std::size_t end,
                                      std::string& comments) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    text += code.text(i);
    const std::size_t gap = code.tokens[i].end;
    const std::size_t next = i + 1 < code.tokens.size() ? code.tokens[i + 1].begin : code.source.size();
    std::string_view between = code.source.substr(gap, next - gap);
    if (i + 1 < end && !between.empty()) text += ' ';
    const auto skip = [&](std::size_t count) {
      between.remove_prefix(std::min(between.find_first_not_of(blanks, count), between.size()));
    };
    for (skip(0); between.starts_with("//") || between.starts_with("/*");) {
      const bool is_line = between.starts_with("//");
      const std::size_t past = std::min(is_line ? between.find('\n') : between.find("*/", 2), between.size());
      std::string comment(source::trimmed(between.substr(2, past - 2)));
      for (auto at = comment.find("*/"); at != comment.npos; at = comment.find("*/")) comment.insert(at + 1, " ");
      comments += fmt::format(" /* {} */", comment);
      skip(past + (is_line ? 1 : 2));
    }
    if (!between.empty()) return std::nullopt;
  }
  return text;
}

/// Functions, methods and operators that look like them, which only compute a value. Names of types are no part of it,
/// nor are those that begin with two underscores, which the compilers define.
bool only_computes(std::string_view name) {
  constexpr std::string_view names =
      "static_cast reinterpret_cast const_cast sizeof alignof decltype min max umin umax abs clamp mad24 mul24 mad "
      "fma floor floorf ceil ceilf round roundf rint rintf trunc truncf sqrt sqrtf fmin fminf fmax fmaxf fabs fabsf "
      "log2 log2f popcount clz make_int2 make_uint2 get_local_id get_global_id get_group_id get_local_size "
      "get_num_groups get_global_size get_local_linear_id get_sub_group_id thread_rank num_threads size "
      "meta_group_rank meta_group_size group_index thread_index dim_threads convert_int convert_uint as_int as_uint "
      "get_sub_group_local_id";
  return support::has_word(names, name);
}

/// Whether a function of CUDA or OpenCL accesses one element, as one access.
bool is_atomic(std::string_view name) {
  constexpr std::string_view of_cuda = "Add Sub Exch Min Max Inc Dec CAS And Or Xor";
  constexpr std::string_view of_opencl =
      "add sub xchg inc dec cmpxchg min max and or xor load store exchange init fetch_add fetch_sub fetch_or "
      "fetch_xor fetch_and fetch_min fetch_max compare_exchange_strong compare_exchange_weak";
  for (const std::string_view scope : {"_system", "_block", "_explicit"}) {
    if (name.ends_with(scope)) name.remove_suffix(scope.size());
  }
  for (const std::string_view head : {"atomic_", "atom_"}) {
    if (name.starts_with(head)) return support::has_word(of_opencl, name.substr(head.size()));
  }
  constexpr std::string_view head = "atomic";
  return name.starts_with(head) && support::has_word(of_cuda, name.substr(head.size()));
}

bool ends_statement(const SourceTokens& code, std::size_t i) {
  return code.is(i, ";") || code.is(i, "{") || code.is(i, "}");
}

/// Tokens from `begin` to before `end`.
struct Part {
  std::size_t begin = 0, end = 0;
};

/// What commas separate between a parenthesis and the one that closes it.
std::vector<Part> arguments_at(const SourceTokens& code, std::size_t open) {
  std::vector<Part> parts;
  const std::size_t close = code.past_bracket(open) - 1;
  for (std::size_t i = open + 1, begin = i; i <= close && i < code.tokens.size(); ++i) {
    if (i < close && (code.is(i, "(") || code.is(i, "[") || code.is(i, "{"))) i = code.past_bracket(i) - 1;
    if (i < close && !code.is(i, ",")) continue;
    if (i > begin) parts.push_back({begin, i});
    begin = i + 1;
  }
  return parts;
}

/// The calls of a function, and its only definition.
struct FunctionPlaces {
  std::vector<std::size_t> calls;  // the names' tokens
  std::size_t open = 0;            // the parenthesis of the definition's parameters; 0: none, or several
  std::size_t definitions = 0;
  bool is_template = false;
};

/// The parenthesis of a call, after the template arguments if there are some; 0 if it is no call.
std::size_t parenthesis_of(const SourceTokens& code, std::size_t name) {
  std::size_t i = name + 1;
  int depth = 0;
  for (; code.is(i, "<") || depth > 0; ++i) {
    depth += int(code.is(i, "<")) - int(code.is(i, ">"));
    if (i >= code.tokens.size() || ends_statement(code, i)) return 0;
  }
  return code.is(i, "(") ? i : 0;
}

/// Whether a name stands where a declaration has the type before it: behind the end of a type, and in no function.
bool can_follow_type(const SourceTokens& code, std::size_t name, bool is_in_function) {
  constexpr std::string_view statements[]{"return", "else", "do", "goto", "throw", "co_return", "co_yield", "co_await"};
  if (is_in_function || name == 0) return false;
  if (code.is(name - 1, "*") || code.is(name - 1, "&")) return true;
  return code.is_name(name - 1) && std::ranges::find(statements, code.text(name - 1)) == std::end(statements);
}

FunctionPlaces places_of(const SourceTokens& code, std::string_view name) {
  FunctionPlaces places;
  int depth = 0;  // of brackets in a function's body; 0: not in one
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (depth > 0 || (code.is(i, "{") && code.is(i - 1, ")"))) depth += int(code.is(i, "{")) - int(code.is(i, "}"));
    if (!code.is_name(i) || !code.is(i, name)) continue;
    const std::size_t open = parenthesis_of(code, i), after = open == 0 ? 0 : code.past_bracket(open);
    std::size_t begin = i;
    bool is_type = can_follow_type(code, i, depth > 0);  // what stands before the name
    while (begin > 0 && !ends_statement(code, begin - 1)) {
      --begin;
      is_type = is_type && !code.is(begin, "=");
    }
    if (open > 0 && code.is(after, "{")) {
      ++places.definitions;
      places.open = open;
      places.is_template = code.is(begin, "template");
    } else if (open == 0 || !is_type || !code.is(after, ";")) {
      places.calls.push_back(i);
    }
  }
  if (places.definitions != 1) places.open = 0;
  return places;
}

/// The names of a macro's parameters, and its text after them.
std::pair<std::vector<std::string_view>, std::string_view> parts_of(const Macro& macro) {
  if (!macro.has_parameters) return {{}, macro.text};
  const SourceTokens code(macro.text);
  const std::size_t close = code.past_bracket(0) - 1;
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < close; ++i) {
    if (code.is_name(i)) names.push_back(code.text(i));
  }
  return {names, close < code.tokens.size() ? macro.text.substr(code.tokens[close].end) : ""};
}

/// Finds uses in one text: the source, or the text of a macro at an offset of it.
class UseFinder : SourceTokens {
 public:
  UseFinder(const SourceTokens& whole, std::string_view text, const Declaration& declaration, bool index_changes)
      : SourceTokens(text),
        whole_(whole),
        declaration_(declaration),
        index_changes_(index_changes),
        is_macro_(text.size() != whole.source.size()),
        offset_(std::size_t(text.data() - whole.source.data())),
        first_line_(1 + std::size_t(std::ranges::count(whole.source.substr(0, offset_), '\n'))) {}

  /// From the declaration to the end of the block that the array is declared in; that of a parameter follows it.
  void search_block() {
    std::size_t i = 0;
    while (i < tokens.size() && tokens[i].begin < declaration_.at) ++i;
    const int outside = declaration_.is_parameter ? 0 : -1;
    int depth = 0;
    std::size_t end = i + 1;
    for (; end < tokens.size(); ++end) {
      if (is(end, "{")) ++depth;
      if (is(end, "}") && --depth <= outside) break;
    }
    const unsigned torn = torn_branch({i, std::min(end + 1, tokens.size())});
    if (torn > 0) {
      found_.why = fmt::format(
          "line {}: a branch of the preprocessor opens or closes a block, and not both; change the "
          "array by hand",
          torn);
    }
    search({i + 1, end}, declaration_.name);
  }
  /// The text of a macro, with the names of its parameters.
  void search_macro(std::vector<std::string_view> parameters) {
    parameters_ = std::move(parameters);
    search({0, tokens.size()}, declaration_.name);
  }

  const Uses& found() const { return found_; }
  /// Arrays that are passed to the functions that get this one, by name and line.
  const std::set<std::pair<unsigned, std::string>>& passed() const { return passed_; }

 private:
  /// The line of a preprocessor's branch that opens more or fewer blocks than it closes; 0: none. The end of the
  /// array's block is not known then.
  unsigned torn_branch(Part part) const {
    struct Branch {
      unsigned line = 0;
      int depth = 0;
    };
    std::vector<Branch> branches;
    const std::vector<Directive> directives = directives_of(source);
    auto next = directives.begin();
    unsigned line_of_token = unsigned(line(part.begin));
    while (next != directives.end() && next->line <= line_of_token) ++next;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      const std::size_t before = i == part.begin ? tokens[i].begin : tokens[i - 1].begin;
      line_of_token += unsigned(std::ranges::count(source.substr(before, tokens[i].begin - before), '\n'));
      for (; next != directives.end() && next->line < line_of_token; ++next) {
        const bool ends = next->word == "endif", begins = next->word.starts_with("if");
        const bool continues = next->word.starts_with("el");
        if ((ends || continues) && !branches.empty()) {
          if (branches.back().depth != 0) return branches.back().line;
          branches.pop_back();
        }
        if (begins || continues) branches.push_back({next->line, 0});
      }
      if (!branches.empty()) branches.back().depth += int(is(i, "{")) - int(is(i, "}"));
    }
    const auto torn = std::ranges::find_if(branches, [](const Branch& branch) { return branch.depth != 0; });
    return torn == branches.end() ? 0 : torn->line;
  }

  void search(Part part, const std::string& name) {
    const std::string around = std::exchange(name_, name);
    for (std::size_t i = part.begin; i < part.end && found_.why.empty(); ++i) {
      if (is_name(i) && is(i, name)) use(i);
    }
    name_ = around;
  }

  void fail(std::size_t i, std::string_view problem) {
    if (found_.why.empty()) found_.why = fmt::format("line {}: {}", line(i) + first_line_ - 1, problem);
  }
  bool is_parameter(std::size_t i) const { return std::ranges::find(parameters_, text(i)) != parameters_.end(); }

  /// `initializes`: "int a = 1" is none.
  bool has_side_effect(std::size_t begin, std::size_t end, bool initializes = false) const {
    for (std::size_t k = begin; k < end; ++k) {
      const bool next_to = k + 1 < end && tokens[k].end == tokens[k + 1].begin;
      if (next_to && is(k, "+") && is(k + 1, "+")) return true;
      if (next_to && is(k, "-") && is(k + 1, "-")) return true;
      const bool shifts = (is(k - 1, "<") && is(k - 2, "<")) || (is(k - 1, ">") && is(k - 2, ">"));  // <<= and >>=
      const bool compares = (next_to && is(k + 1, "=")) || is(k - 1, "=") || is(k - 1, "!") ||
                            (!shifts && (is(k - 1, "<") || is(k - 1, ">")));
      const bool is_initial = initializes && is_name(k - 1) && is_name(k - 2);
      if (is(k, "=") && !compares && !is_initial) return true;
      if (takes_address(k)) return true;  // a function may write there
      if (is(k, "asm") || is(k, "__asm__")) return true;
    }
    return false;
  }

  /// The name of the first function or method called that may do more than compute a value; "" if none may. Of a call
  /// without a name, its parenthesis.
  std::string_view unknown_call(std::size_t begin, std::size_t end, int depth = 0) const {
    for (std::size_t k = begin + 1; k < end; ++k) {
      if (!is(k, "(")) continue;
      std::size_t callee = k - 1;  // before the template arguments
      for (int angles = 0; callee > begin && (is(callee, ">") || angles > 0); --callee) {
        angles += int(is(callee, ">")) - int(is(callee, "<"));
      }
      if (is_operand(callee) && !(is_name(callee) && (names_type(callee) || is_pure(text(callee), depth)))) {
        return is_name(callee) ? text(callee) : text(k);
      }
    }
    return "";
  }

  /// Whether a function, a lambda or a macro of the source only computes a value, wherever it is defined.
  bool is_pure(std::string_view name, int depth) const {
    constexpr int max_depth = 4;
    if (depth > max_depth) return false;
    if (is_macro_) return UseFinder(whole_, whole_.source, declaration_, index_changes_).is_pure(name, depth);
    const auto [known, is_new] = pure_.try_emplace(name, false);
    if (is_new) known->second = computes_only(name, depth + 1);
    return known->second;
  }
  bool computes_only(std::string_view name, int depth) const {
    bool is_defined = false;
    for (const Macro& macro : macros_of(source)) {
      if (macro.name != name) continue;
      const UseFinder inside(whole_, parts_of(macro).second, declaration_, index_changes_);
      if (inside.has_effect({0, inside.tokens.size()}, depth)) return false;
      is_defined = true;
    }
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      if (!is_name(k) || !is(k, name)) continue;
      const bool is_lambda = is(k + 1, "=") && is(k + 2, "[");
      const std::size_t open = is_lambda ? past_bracket(k + 2) : k + 1;
      std::size_t body = is(open, "(") ? past_bracket(open) : open;
      while (is_name(body) || is(body, "->")) ++body;  // "const", "noexcept", "-> int"
      if (!is(body, "{") || (!is_lambda && (!is(open, "(") || is(body - 1, "else") || is(body - 1, "do")))) continue;
      if (has_effect({body + 1, past_bracket(body) - 1}, depth)) return false;
      is_defined = true;
    }
    if (is_defined) return true;
    const bool is_of_compiler = name.starts_with("__") && name.find("atomic") == name.npos;
    return only_computes(name) || is_of_compiler;
  }
  /// Of the body of a function, which may initialize variables of its own.
  bool has_effect(Part body, int depth) const {
    return has_side_effect(body.begin, body.end, true) || !unknown_call(body.begin, body.end, depth).empty();
  }

  /// Whether the name is declared here once more, and means another variable from here on.
  bool is_declared(std::size_t i) const {
    static const std::set<std::string_view> of_statements{"return", "else", "do",  "case", "goto",  "throw",
                                                          "and",    "or",   "not", "new",  "delete"};
    std::size_t before = i - 1;
    while (is(before, "*") || is(before, "&")) --before;
    if (is_name(before) && before == i - 1 && !is(before, "sizeof")) return !of_statements.contains(text(before));
    if (is_name(before) && before < i - 1) return is(before, "auto") || names_type(before);
    if (!is(before, ",") || before < i - 1) return false;
    int depth = 0;  // back to the type in "float a, t[4]"
    for (; before > 0 && !(depth == 0 && (ends_statement(*this, before) || is(before, "("))); --before) {
      depth += int(is(before, ")") || is(before, "]") || is(before, "}")) -
               int(is(before, "(") || is(before, "[") || is(before, "{"));
    }
    const std::size_t type = before + 1;
    return is_name(type) && (is(type, "auto") || names_type(type)) && !is(type + 1, "(") && !is(type + 1, "{");
  }

  /// Whether an expression has a product with the length of a row: "y * 32 + x", in an array of rows of 32 elements.
  bool counts_rows(Part index) const {
    const std::size_t last = declaration_.dimensions.size() - 1;
    const std::string& length = declaration_.dimensions[last];
    const std::uint64_t row = last < declaration_.lengths.size() ? declaration_.lengths[last] : 0;
    const auto is_row = [&](Part factor) {
      std::string comments;
      const std::string factor_text = plain_text(*this, factor.begin, factor.end, comments).value_or("");
      const auto value = SourceConstants().value_of(factor_text);
      return factor_text == length || factor_text == "(" + length + ")" || (row > 0 && value && *value >= row);
    };
    for (std::size_t k = index.begin + 1; k + 1 < index.end; ++k) {
      const bool is_product = is(k, "*"), is_shift = is(k, "<") && is(k + 1, "<");
      if (is_shift) {
        const auto bits = SourceConstants().value_of(std::string(text(k + 2)));
        if (row > 0 && bits && *bits < 32 && std::uint64_t{1} << *bits >= row) return true;
      }
      if (!is_product) continue;
      std::size_t open = k - 1;  // of the factor on the left
      if (is(open, ")")) {
        for (int depth = 0; open > index.begin; --open) {
          depth += int(is(open, ")")) - int(is(open, "("));
          if (depth == 0) break;
        }
      }
      const std::size_t right_end = is(k + 1, "(") ? past_bracket(k + 1) : k + 2;
      if (is_row({open, k}) || is_row({k + 1, right_end})) return true;
    }
    return false;
  }

  void use(std::size_t i) {
    if (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::")) return;  // a member of something else
    if (is_declared(i)) {
      return fail(i, fmt::format("{} is declared here again; give one of the two another name", name_));
    }
    if (is(i - 1, "sizeof") || (is(i - 1, "(") && is(i - 2, "sizeof"))) {
      std::size_t behind = i + 1, indices = 0;
      for (; is(behind, "["); behind = closing(behind) + 1) ++indices;
      const bool is_element = indices >= declaration_.dimensions.size();
      if (!is_element && found_.measured_line == 0) found_.measured_line = unsigned(line(i) + first_line_ - 1);
      if (!is_element) return;
    }
    if (takes_address(i - 1) && !is_accessed(i - 1)) {
      return fail(i, "the address of an element is taken; index the array where the element is used");
    }
    if (!is(i + 1, "[") && (is(i + 1, ",") || is(i + 1, ")")) && (is(i - 1, ",") || is(i - 1, "("))) return pass(i);
    Use found{tokens[i].end, tokens[i].end, {}, ""};
    bool is_first_row = true, is_constant_row = false;  // the indices so far, and all but the last, are numbers
    std::size_t next = i + 1;
    for (std::size_t d = 0; d < declaration_.dimensions.size(); ++d) {
      if (!is(next, "[")) return fail(i, without_indices());
      const std::size_t end = std::min(closing(next) + 1, tokens.size());
      if (index_changes_ && has_side_effect(next + 1, end - 1)) {
        return fail(i, "the index has a side effect; write it to a variable first");
      }
      const std::string_view callee = index_changes_ ? unknown_call(next, end - 1) : "";
      if (!callee.empty()) {
        return fail(i, fmt::format("the index calls {}, which may have a side effect; write the index to a variable "
                                   "first",
                                   callee == "(" ? "a function" : callee));
      }
      for (std::size_t k = next + 1; k < end && index_changes_; ++k) {
        if (is(k, name_)) {
          return fail(i, "the index reads the array itself; read that element into a variable first");
        }
      }
      const auto index = subscript(next, end - 1, found.comments);
      const bool is_plain = index && (!is(end, "[") || plain_text(*this, end - 1, end, found.comments));
      if (index_changes_ && !is_plain) {
        return fail(i, "a preprocessor directive is inside the index; write the index to a variable first");
      }
      found.subscripts.push_back(index.value_or(""));
      if (is_parameter(next + 1) && end == next + 3) found.subscripts.back() = "(" + found.subscripts.back() + ")";
      found.end = tokens[end - 1].end;
      is_first_row = is_first_row && end == next + 3 && tokens[next + 1].kind == source::TokenKind::number;
      if (d + 2 == declaration_.dimensions.size()) is_constant_row = is_first_row;
      if (d + 1 == declaration_.dimensions.size() && is_constant_row && counts_rows({next + 1, end - 1})) {
        return fail(i, "the last index counts whole rows; write one index for the row and one for the column");
      }
      next = end;
    }
    found.begin += offset_;
    found.end += offset_;
    if (index_changes_) found_.uses.push_back(std::move(found));
  }

  /// What stands between two brackets. The comments behind the opening one belong to it.
  std::optional<std::string> subscript(std::size_t open, std::size_t close, std::string& comments) const {
    const bool is_plain = plain_text(*this, open, open + 1, comments).has_value();
    const auto index = plain_text(*this, open + 1, close, comments);
    return is_plain && index ? std::optional(with_parentheses(declaration_, *index)) : std::nullopt;
  }

  std::string without_indices() const {
    const std::size_t count = declaration_.dimensions.size();
    return fmt::format("the array is used without {}; index its elements there",
                       count == 1 ? "its index" : fmt::format("all of its {} indices", count));
  }

  /// The array is an argument of a function: what that does with it are uses, too.
  void pass(std::size_t i) {
    std::size_t open = i, position = 0;
    for (int depth = 0; open > 0 && !ends_statement(*this, open); --open) {
      depth += int(is(open, ")")) - int(is(open, "("));
      if (depth < 0) break;
      if (depth == 0 && is(open, ",")) ++position;
    }
    std::size_t callee = open - 1;
    for (int depth = 0; callee > 0 && (is(callee, ">") || depth > 0); --callee) {
      depth += int(is(callee, ">")) - int(is(callee, "<"));
    }
    const FunctionPlaces places = places_of(*this, text(callee));
    if (is_macro_ || !is_name(callee) || places.open == 0) return fail(i, without_indices());
    const std::vector<Part> parameters = arguments_at(*this, places.open);
    const std::string function(text(callee));
    if (!functions_.insert(function + "/" + std::to_string(position)).second) return;
    for (const std::size_t call : places.calls) {
      const std::size_t parenthesis = parenthesis_of(*this, call);
      const std::vector<Part> arguments = parenthesis == 0 ? std::vector<Part>() : arguments_at(*this, parenthesis);
      const bool is_array = arguments.size() == parameters.size() &&
                            arguments[position].end == arguments[position].begin + 1 &&
                            is_name(arguments[position].begin);
      if (!is_array) {
        return fail(call, fmt::format("{} gets a part of an array, or another number of arguments; change the index "
                                      "by hand there",
                                      function));
      }
      if (places.is_template && declaration_.dimensions.size() > 1 && !is(call + 1, "<")) {
        return fail(call, fmt::format("the lengths are template arguments of {}; change the array by hand", function));
      }
      note_passed(arguments[position].begin);
    }
    if (position >= parameters.size()) return fail(i, without_indices());
    const std::string name = parameter_name(parameters[position]);
    if (name.empty()) return fail(i, without_indices());
    for (const Macro& macro : macros_of(source)) {
      const SourceTokens inside(macro.text);
      for (std::size_t k = 0; index_changes_ && k < inside.tokens.size(); ++k) {
        if (inside.is(k, name)) {
          return fail(places.open, fmt::format("the macro {} may name {}; change the index by hand", macro.name, name));
        }
      }
    }
    const std::size_t body = past_bracket(places.open);
    search({body, past_bracket(body) - 1}, name);
  }

  /// Notes the array that an argument names. If it names a parameter, those that the calls of its function pass.
  void note_passed(std::size_t argument) {
    const auto parameter = parameter_at(argument);
    if (!parameter) {
      passed_.emplace(unsigned(line(argument)), std::string(text(argument)));
      return;
    }
    const auto& [function, number] = *parameter;
    if (!resolved_.insert(*parameter).second) return;
    const FunctionPlaces places = places_of(*this, function);
    if (places.calls.empty()) passed_.emplace(unsigned(line(argument)), std::string(text(argument)));
    for (const std::size_t call : places.calls) {
      const std::size_t parenthesis = parenthesis_of(*this, call);
      const std::vector<Part> arguments = parenthesis == 0 ? std::vector<Part>() : arguments_at(*this, parenthesis);
      if (number < arguments.size() && arguments[number].end == arguments[number].begin + 1) {
        note_passed(arguments[number].begin);
      } else {
        fail(argument, fmt::format("it is not known that {} is an array in shared memory; change the index by hand",
                                   text(argument)));
      }
    }
  }

  /// The function, no kernel, whose parameter a name is, and the parameter's number.
  std::optional<std::pair<std::string_view, std::size_t>> parameter_at(std::size_t name) const {
    const std::size_t body = function_body(name);
    if (body == 0) return std::nullopt;
    const std::size_t open = opening(body - 1);
    if (open == 0 || !is_name(open - 1)) return std::nullopt;
    for (std::size_t k = open; k > 0 && !ends_statement(*this, k - 1); --k) {
      if (is(k - 1, "__global__") || is(k - 1, "kernel") || is(k - 1, "__kernel")) return std::nullopt;
    }
    const std::vector<Part> parameters = arguments_at(*this, open);
    for (std::size_t number = 0; number < parameters.size(); ++number) {
      for (std::size_t k = parameters[number].begin; k < parameters[number].end; ++k) {
        const bool ends = k + 1 == parameters[number].end || is(k + 1, "[") || is(k + 1, "=");
        if (ends && is(k, text(name))) return std::pair(text(open - 1), number);
      }
    }
    return std::nullopt;
  }

  /// The name of a parameter that an array of this kind can be passed to; "" if it is none. Notes what a declaration of
  /// several dimensions has in its brackets.
  std::string parameter_name(Part part) {
    std::size_t name = part.end, stars = 0;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      stars += is(i, "*") ? 1 : 0;
      if (is(i, "=") || is(i, "&")) return "";
      if (is_name(i) && (i + 1 == part.end || is(i + 1, "["))) {
        name = i;
        break;
      }
    }
    std::vector<Extract> brackets;
    std::size_t i = name + 1;
    for (; name < part.end && i < part.end && is(i, "["); i = closing(i) + 1) {
      brackets.push_back({tokens[i].end, tokens[closing(i)].begin});
    }
    const bool is_pointer = brackets.empty() ? stars == 1 : stars == 0;
    if (name == part.end || i != part.end || !is_pointer) return "";
    if (declaration_.dimensions.size() == 1) return brackets.size() <= 1 ? std::string(text(name)) : "";
    if (brackets.size() != declaration_.dimensions.size()) return "";
    found_.parameters.push_back(std::move(brackets));
    return std::string(text(name));
  }

  /// Whether a token is the operator & of one operand: no half of &&, and not after an operand.
  bool takes_address(std::size_t k) const {
    if (!is(k, "&")) return false;
    const auto touches_next = [&](std::size_t i) { return is(i + 1, "&") && tokens[i].end == tokens[i + 1].begin; };
    std::size_t before = 0;  // of the same run: "&&&" is "&& &"
    while (before < k && is(k - before - 1, "&") && touches_next(k - before - 1)) ++before;
    const bool is_half = before % 2 == 1 || touches_next(k);
    return !is_half && !is_operand(k - 1);
  }

  /// Whether a token ends an operand, so that & after it is the binary operator. A cast ends none.
  bool is_operand(std::size_t i) const {
    if (i >= tokens.size()) return false;
    const bool word = is_name(i) && !is(i, "return");
    const bool closes = is(i, ")") && !closes_cast(i);
    return word || tokens[i].kind == source::TokenKind::number || closes || is(i, "]");
  }

  /// Whether a parenthesis closes a cast, "(float*)", "(unsigned long)", and not an operand in parentheses.
  bool closes_cast(std::size_t close) const {
    if (is(close - 1, "*")) return true;
    std::size_t open = close;
    while (open > 0 && (is_name(open - 1) || is(open - 1, "::"))) --open;
    return open > 0 && open < close && is(open - 1, "(") && names_type(close - 1) && !is_operand(open - 2);
  }

  /// Whether a name is a type: as the standard libraries call theirs, or as this source declares it.
  bool names_type(std::size_t i) const {
    const std::string_view word = text(i);
    if (predict::bytes_of_type(std::string(word)) > 0 || predict::is_decoration(word) || word.ends_with("_t"))
      return true;
    for (std::size_t k = 0; k < whole_.tokens.size(); ++k) {
      if (!whole_.is(k, word)) continue;
      for (const std::string_view head : {"using", "struct", "class", "union", "enum", "typename"}) {
        if (whole_.is(k - 1, head)) return true;
      }
      std::size_t begin = k;
      while (begin > 0 && !ends_statement(whole_, begin - 1)) --begin;
      if (whole_.is(begin, "typedef") && whole_.is(k + 1, ";")) return true;
    }
    return false;
  }

  /// Whether a type before the * of a cast has a size that is known, as a scalar or a vector has. Notes the size.
  bool is_known_type(Part type) {
    std::string words;
    for (std::size_t i = type.begin; i < type.end; ++i) {
      const bool is_repeated = is(i, "long") && is(i - 1, "long");
      if (predict::is_decoration(text(i)) || is(i, "std") || is(i, "::") || is_repeated) continue;
      words += (words.empty() ? "" : " ") + std::string(text(i));
    }
    const std::uint64_t bytes = words.empty() ? 0 : predict::bytes_of_type(words);
    if (bytes > found_.widest) {
      found_.widest = bytes;
      found_.widest_line = unsigned(line(type.begin) + first_line_ - 1);
    }
    return bytes > 0 || words == declaration_.type;
  }

  /// Past an element, or a part of it, whose array's name is at a token.
  std::size_t past_element(std::size_t i) const {
    for (++i; is(i, "[") || is(i, ".");) i = is(i, "[") ? closing(i) + 1 : i + 2;
    return i;
  }

  /// Whether the address at & is used for one access, whose bytes stay together: by an atomic function, as a number for
  /// inline PTX, or under a cast that is dereferenced immediately.
  bool is_accessed(std::size_t ampersand) {
    const std::size_t before = ampersand - 1;
    if (is(before, ")")) {  // *(float4*)&
      std::size_t open = before;
      while (open > 0 && !is(open, "(")) --open;
      return is(open - 1, "*") && !is_operand(open - 2) && is_known_type({open + 1, before - 1});
    }
    const std::size_t behind = past_element(ampersand + 1);
    const bool is_last = is(behind, ")");  // and no sum
    if (!is(before, "(") || (!is_last && !is(behind, ","))) return false;
    if (is_atomic(text(before - 1))) return true;
    if (!is_last) return false;
    if (is(before - 1, "__cvta_generic_to_shared")) return true;
    std::size_t cast = before - 1;  // *reinterpret_cast<float4*>(&
    while (is(before - 1, ">") && cast > 0 && !is(cast, "reinterpret_cast") && !is(cast, ";")) --cast;
    return is(cast, "reinterpret_cast") && is(cast - 1, "*") && !is_operand(cast - 2) &&
           is_known_type({cast + 2, before - 2});
  }

  const SourceTokens& whole_;
  const Declaration& declaration_;
  bool index_changes_, is_macro_;
  std::size_t offset_, first_line_;
  std::string name_;                          // of the array, or of the parameter that it is
  std::vector<std::string_view> parameters_;  // of the macro
  std::set<std::string> functions_;           // that get the array, with the position
  std::set<std::pair<unsigned, std::string>> passed_;
  mutable std::map<std::string_view, bool> pure_;                // functions, by name
  std::set<std::pair<std::string_view, std::size_t>> resolved_;  // parameters whose arguments are in passed_
  Uses found_;

 public:
  /// Whether the arguments of a macro can be evaluated more than once, wherever the source uses it; notes why not.
  std::string why_no_macro(const Macro& macro) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is(i, macro.name)) continue;
      const std::size_t close = macro.has_parameters && is(i + 1, "(") ? past_bracket(i + 1) - 1 : i;
      if (!has_side_effect(i + 1, close) && unknown_call(i + 1, close).empty()) continue;
      return fmt::format("line {}: an argument of the macro {} has a side effect; write it to a variable first",
                         line(i), macro.name);
    }
    return "";
  }
};

bool names(std::string_view text, std::string_view name) {
  const SourceTokens code(text);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.is(i, name)) return true;
  }
  return false;
}

/// The macros that name the array are changed as well.
void search_macros(const SourceTokens& whole, const UseFinder& block, const Declaration& declaration, Uses& found) {
  const std::vector<Macro> macros = macros_of(whole.source);
  for (const Macro& macro : macros) {
    const auto& [parameters, text] = parts_of(macro);
    if (!found.why.empty() || !names(text, declaration.name)) continue;
    const auto refuse = [&](std::string_view problem) {
      found.why = fmt::format("line {}: the macro {} {}", macro.line, macro.name, problem);
    };
    if (std::ranges::any_of(macros, [&](const Macro& other) { return names(parts_of(other).second, macro.name); })) {
      return refuse("is used by another macro; change its text by hand");
    }
    if (text.find('\\') != text.npos || text.find("##") != text.npos) {
      return refuse("names the array; change its text by hand");
    }
    UseFinder inside(whole, text, declaration, true);
    inside.search_macro(parameters);
    found.uses.insert(found.uses.end(), inside.found().uses.begin(), inside.found().uses.end());
    found.why = inside.found().why.empty() ? block.why_no_macro(macro) : inside.found().why;
  }
}

}  // namespace

Uses uses_of(std::string_view source, const Declaration& declaration, bool index_changes) {
  const SourceTokens whole(source);
  UseFinder block(whole, source, declaration, index_changes);
  block.search_block();
  Uses found = block.found();
  for (const Macro& macro : macros_of(source)) {
    const SourceTokens code(macro.text);
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (code.is(i, declaration.name) && (code.is(i - 1, "sizeof") || code.is(i - 2, "sizeof"))) {
        found.measured_line = macro.line;
      }
    }
  }
  if (!index_changes || !found.why.empty()) return found;
  if (!declaration.macro.empty() && declaration.macro_line == 0) {
    found.why = fmt::format("in a header: the macro {} names the array; change its text by hand", declaration.macro);
  } else if (declaration.hidden_line > 0) {
    found.why = fmt::format("line {}: the array is used, but not by its name; change the index by hand there",
                            declaration.hidden_line);
  } else {
    search_macros(whole, block, declaration, found);
  }
  return found;
}

std::size_t line_of_launch(std::string_view source, std::string_view kernel) {
  const SourceTokens code(source);
  const FunctionPlaces places = places_of(code, kernel);
  if (places.definitions > 0) return 0;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (!code.is_name(i) || !code.is(i, kernel)) continue;
    if (code.launch_behind(i) > 0) return code.line(i);
    for (std::size_t k = i; k > 0 && !ends_statement(code, k - 1); --k) {  // cudaLaunchKernel(k, ...)
      if (code.text(k - 1).find("Launch") != std::string_view::npos) return code.line(i);
    }
  }
  return 0;
}

std::vector<TiedName> tied_names(std::string_view source, const Declaration& declaration) {
  const SourceTokens whole(source);
  UseFinder block(whole, source, declaration, false);
  block.search_block();
  std::vector<TiedName> tied;
  for (const auto& [line, name] : block.passed()) tied.push_back({name, line});
  if (!declaration.macro.empty()) tied.push_back({declaration.name, 0});
  return tied;
}

}  // namespace bankwise::fit
