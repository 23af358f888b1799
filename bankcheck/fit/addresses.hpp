// What code reaches through the address of an element of an array, or through a reference to it.
#pragma once

#include <cstdint>
#include <string_view>

#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {

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

}  // namespace bankwise::fit
