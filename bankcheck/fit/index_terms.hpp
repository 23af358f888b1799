// The summands and factors of an index, as the source writes it.
#pragma once

#include <vector>

#include "bankcheck/fit/value_ranges.hpp"

namespace bankwise::fit {

/// A summand of an index, with its factors.
struct Term {
  bool is_negative = false;
  std::vector<Part> factors;
  bool is_of_shared_variable = false;  ///< it stands in the definition of one that serves others, too
};

/// The summands of an index; nothing if it is no sum at its outermost level.
std::vector<Term> terms_of(const Ranges& code, Part index);

/// The summands, with those of the definition of each that is a variable. `indices`: all of the array.
std::vector<Term> with_definitions(const Ranges& code, const std::vector<Term>& terms,
                                   const std::vector<Part>& indices);

/// Whether an expression is one token, or in parentheses.
bool is_operand(const Ranges& code, Part part);

/// The summands of `OFFSET(y, x, 16)`, of a macro whose text is a sum of products of its parameters: its arguments.
/// Nothing if the index is no such call.
std::vector<Term> terms_of_call(const Ranges& code, Part call, const std::vector<Macro>& macros);

}  // namespace bankwise::fit
