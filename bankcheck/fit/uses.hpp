// The places of a source that use an array: in its block, in the functions that get it, and in macros that name it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/edits.hpp"

namespace bankwise::fit {

/// A use of an array with all of its indices.
struct Use {
  std::size_t begin = 0, end = 0;  ///< from the first bracket to behind the last one
  std::vector<std::string> subscripts;
  std::string comments;  ///< those inside, each with a blank before it
  std::string array;     ///< the name of the array, if the use begins with another name: of a pointer
};

struct Uses {
  std::vector<Use> uses;
  std::vector<Edit> pointers;  ///< of declarations and assignments of pointers into the array
  /// For each parameter of a function that gets the array, what its declaration has in brackets.
  std::vector<std::vector<Extract>> parameters;
  unsigned measured_line =
      0;                     ///< where sizeof counts the bytes of the array, or of a part of several elements; 0: none
  std::uint64_t widest = 0;  ///< bytes of the longest type that a cast reads at an element
  unsigned widest_line = 0;
  std::string why;  ///< why the uses cannot be changed: a sentence without a dot; "" if they can

  /// What another text uses.
  void add(const Uses& more);
};

/// All uses. `index_changes`: the index text of each will be repeated, and the array may not be reached in another way.
Uses uses_of(std::string_view source, const Declaration& declaration, bool index_changes);

/// Other arrays that the same macros name, or that are passed to the same functions: their names, with a line of each.
/// They need the same change.
struct TiedName {
  std::string name;
  unsigned line = 0;  ///< 0: in any line
};
std::vector<TiedName> tied_names(std::string_view source, const Declaration& declaration);

}  // namespace bankwise::fit
