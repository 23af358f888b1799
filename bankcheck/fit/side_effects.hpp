// Whether an expression can be evaluated more often than the source does: it writes nothing, and no function that it
// calls does.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

/// Whether a function of CUDA or OpenCL accesses one element, as one access.
bool is_atomic(std::string_view function);

/// Knows the functions and macros of one source.
class SideEffects {
 public:
  /// `pure`: functions and macros of other sources that only compute a value. Both must live longer.
  SideEffects(const Expressions& source, const std::vector<std::string>& pure) : source_(source) {
    for (const std::string& name : pure) pure_.emplace(name, true);
  }

  /// Whether code assigns to something, or gives an address away. `initializes`: "int a = 1" is no assignment.
  static bool writes(const Expressions& code, Part part, bool initializes = false);

  /// The name of the first function or method called that may do more than compute a value; "" if none may. Of a call
  /// without a name, its parenthesis.
  std::string_view unknown_call(const Expressions& code, Part part) const { return unknown_call(code, part, 0); }

 private:
  std::string_view unknown_call(const Expressions& code, Part part, int depth) const;
  bool is_pure(std::string_view name, int depth) const;
  bool computes_only(std::string_view name, int depth) const;
  bool has_effect(const Expressions& code, Part body, int depth) const;

  const Expressions& source_;
  mutable std::map<std::string_view, bool> pure_;  // functions, by name
};

}  // namespace bankwise::fit
