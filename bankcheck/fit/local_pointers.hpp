// Variables that point into an array of one dimension: numbers of elements can take their place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

/// `float* p = s + x;` becomes `const int p = x;`, and `p[i]` the element `p + i` of the array.
struct LocalPointer {
  /// An element: `p[i]`, or `*p`, whose index has no tokens.
  struct Element {
    std::size_t name = 0;
    Part place, index;
  };
  struct Replacement {
    Part tokens;
    std::string text;
  };
  std::string_view name;
  std::vector<Element> elements;
  std::vector<Replacement> replacements;  ///< in its declaration and its assignments
};

/// The variable that gets the address of an array, or of one of its elements, at the token of the array's name. Nothing
/// unless all of its values are such addresses, or steps from them, and all other uses are elements.
std::optional<LocalPointer> local_pointer_at(const Expressions& code, std::size_t array);

}  // namespace bankwise::fit
