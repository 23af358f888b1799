// The values of the named constants that a source, its headers and the command line define.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {

/// Macros, constants and template arguments as texts; the last definition counts. Expressions may call macros with
/// parameters, and sizeof a type whose size is known.
class SourceConstants {
 public:
  /// The macros of -DNAME=value and -D NAME=value.
  void add_options(std::string_view options);
  /// #define NAME value, and const int NAME = value, OTHER = value.
  void add_source(std::string_view source);
  void add(std::string_view name, std::string_view value);

  /// The same with one name's other definition, which the branch of an #if may have: for each name that has several.
  std::vector<SourceConstants> other_branches() const;

  /// The first name in an expression that has no value; the expression itself if all have one, or one is a function.
  std::string unknown_in(const std::string& expression) const;

  /// The value of an expression, if it is known and positive.
  std::optional<std::uint64_t> value_of(const std::string& expression) const;

  /// Bytes of a type that may be a macro or a template argument; 0: not known.
  std::uint64_t size_of(std::string type) const;

  /// The expression with values in place of names, each in parentheses.
  std::string with_values(const std::string& expression) const { return with_values(expression, 0); }

 private:
  std::string with_values(const std::string& expression, int depth) const;
  void add_constants(std::string_view source);

  struct Function {
    std::vector<std::string> parameters;
    std::string text;
  };
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, Function, std::less<>> functions_;         // macros with parameters
  std::map<std::string, std::set<std::string>, std::less<>> all_;  // definitions of macros in sources
};

/// A macro, from `#define AT(y, x) tile[y][x]`.
struct Macro {
  std::string_view name;
  bool has_parameters = false;
  std::string_view text;  ///< with the ends of lines that a backslash joins
  unsigned line = 0;
};
std::vector<Macro> macros_of(std::string_view source);

/// The first macro of a source whose text has a name; "" if there is none.
std::string_view macro_that_names(std::string_view source, std::string_view name);

/// The names of a macro's parameters, and its text after them.
std::pair<std::vector<std::string_view>, std::string_view> parts_of(const Macro& macro);

/// A line of the preprocessor, with those that a backslash joins to it: "ifdef", " DEBUG".
struct Directive {
  std::string_view word, rest;
  unsigned line = 0;
};
std::vector<Directive> directives_of(std::string_view source);

/// The line of a branch of the preprocessor, between two tokens, that opens more or fewer blocks than it closes; 0:
/// none.
unsigned line_of_torn_branch(const source::SourceTokens& code, std::size_t begin, std::size_t end);

/// The files that `#include "name"` names, in their order.
std::vector<std::string_view> included_by(std::string_view source);

/// The template arguments in a demangled name: for "Sorter<128>::sort<float, 4>" those of Sorter and of sort.
std::map<std::string, std::vector<std::string>, std::less<>> template_arguments(std::string_view name);

}  // namespace bankwise::fit
