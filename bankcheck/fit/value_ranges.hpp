// What the expressions of a source can be: ranges, and bits that may be set, from constants, loops and conditions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::fit {

/// The values that an expression can have.
struct Range {
  std::int64_t low = 0, high = 0;
  std::uint64_t bits = ~std::uint64_t{0};  ///< that may be set, if it is not negative; more than the range allows

  /// Bits that may be set.
  std::uint64_t possible_bits() const;
};

/// Whether a type holds an int as far as its name says.
bool may_hold_int(const std::string& type);

constexpr std::int64_t max_value = std::int64_t{1} << 40;

/// Nothing if the range is empty, or has larger numbers.
std::optional<Range> checked(const Range& range);

/// The range of a + b, a & b, ...; nothing if it is not known.
std::optional<Range> combined(std::string_view mark, const Range& a, const Range& b);

/// A loop, or one branch of a condition.
struct Control {
  bool is_loop = false, is_else = false;
  Part head, body;  // the head without its parentheses
};

/// The ranges of expressions in the functions of a source.
class Ranges : public Expressions {
 public:
  using Block = std::array<std::uint64_t, 3>;
  /// `block`: the largest one; `only_block`: that of all launches. 0: not known.
  Ranges(std::string_view text_of_source, const SourceConstants& constants, const Block& block,
         const Block& only_block = {})
      : Expressions(text_of_source), constants_(constants), block_(block), only_block_(only_block) {}

  const SourceConstants& constants() const { return constants_; }

  /// How a name at a token is changed there.
  enum class Writing { none, assignment, step, unknown };
  Writing writing_at(std::size_t i, const Part& function) const;

  /// From the parenthesis of its parameters to the end of the outermost function around a place.
  Part function_at(std::size_t place) const;

  /// The expression that a variable has wherever its name is: the one at its declaration, of names that do not change,
  /// either. Nothing if it is no such variable, or no int at least.
  std::optional<Part> definition_of(std::size_t name) const;

  /// What the expression can be, as often as the source gets there; nothing if that is not known.
  std::optional<Range> of(Part part) const;

 private:
  static constexpr int max_depth = 12;

  /// The operator at a token, by how tightly it binds: 0 for |, 5 for *; its length in tokens is set.
  std::string_view operator_at(std::size_t i, int level, std::size_t& length) const;

  std::optional<Range> binary(int level, std::size_t& at, std::size_t end) const;

  bool is_type(std::size_t i) const;

  std::optional<Range> unary(std::size_t& at, std::size_t end) const;

  std::optional<Range> number(std::size_t i) const;

  std::optional<Range> named(std::size_t& at, std::size_t end) const;

  /// A conversion or a call, from its name to before `behind`.
  std::optional<Range> call(std::size_t name, std::size_t behind) const;

  std::optional<Range> thread(std::size_t place, Part key, std::string_view dimension) const;
  std::optional<Range> block_length(std::string_view dimension) const;

  /// Of a sum with x and -y, where a condition around it says that x is at most y.
  std::optional<Range> compared_sum(Part part) const;

  /// Whether a condition around two names compares them so, and neither changes behind it.
  bool is_at_most(std::size_t x, std::size_t y) const;

  // --- Variables ---

  std::vector<Control> controls_around(std::size_t place) const;

  /// Whether a pointer or a reference to a name is made at a token.
  bool is_referred_to(std::size_t i) const;

  /// Whether a name is declared without =, or is an argument of a function that may change it.
  bool is_declared_or_passed(std::size_t i, const Part& function) const;

  /// The innermost parenthesis that is open at a token; nothing if its statement begins behind it.
  std::optional<std::size_t> parenthesis_around(std::size_t i, const Part& function) const;

  /// Whether a function of this source has parameters that are references.
  bool takes_references(std::string_view name) const;

  std::vector<std::size_t> writings(std::string_view name, Part part, const Part& function) const;

  /// Any number if its values are not known, or depend on themselves: a mask may limit them.
  std::optional<Range> variable(std::size_t place) const;

  std::optional<Range> known_variable(std::size_t place) const;

  /// Of a macro without parameters, as in `#define tid threadIdx.x`.
  std::optional<Range> macro_range(std::string_view name) const;

  /// What follows the = at a token, to the end of the declarator or the statement.
  Part value_after(std::size_t equals) const { return {equals + 1, next_outside(equals + 1, tokens.size(), ",;)")}; }

  /// Of `for (name = A; name < B; ++name)` and its like.
  std::optional<Range> loop_range(std::string_view name, const Control& loop) const;

  /// What `name += 4` adds to the variable at a token, if that is a constant; otherwise 0.
  std::int64_t constant_step_at(std::size_t i) const;

  /// 1 if the step of a loop makes the variable at a token greater, -1 if less, 0 if that is not known.
  int direction_at(std::size_t i, std::size_t end, bool is_natural) const;

  using KeyLength = std::function<std::size_t(std::size_t)>;  ///< of the key at a token; 0: it is another one

  /// Applies the comparisons of a condition, which all hold, or of which the only one does not.
  void limit(Range& range, Part condition, const KeyLength& key, bool is_negated) const;
  void compare(Range& range, Part atom, const KeyLength& key, bool is_negated) const;

  /// With the conditions around a place, if what they compare does not change there.
  std::optional<Range> refined(Range range, Part key, std::size_t place) const;

  const SourceConstants& constants_;
  Block block_, only_block_;
  mutable int depth_ = 0;
  mutable std::vector<std::string_view> open_;  ///< variables whose values are being looked for
  mutable std::optional<std::vector<Macro>> macros_;
};

}  // namespace bankwise::fit
