// Internal to bankcheck/fit: what the addresses of an array's elements are used for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

// --- What code reaches through the address of an element, or through a reference to it ---

struct Reach {
  bool is_element = false;  ///< no other element, except for the bytes of a cast to a known type
  std::uint64_t bytes = 0;  ///< that a cast accesses; 0: there is none
};

/// Through the address that the operator & at a token takes of an element of this type. Other elements are out of reach
/// if only an atomic function gets the address, or one of this source that just dereferences it, or a cast that is
/// dereferenced immediately, or an instruction of PTX.
Reach reach_of_address(const Expressions& code, std::size_t ampersand, std::string_view type);

/// Through an element without an address operator: a cast to a reference, a variable that is a reference, or a function
/// of this source that gets one may take its address.
Reach reach_of_element(const Expressions& code, Part element, std::string_view type);

// --- Variables that point into an array of one dimension: numbers of elements can take their place ---

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
