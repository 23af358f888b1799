// The bases of indices: `2 * i` of `t[2 * i]` and `t[2 * i + 1]`. A base that is a variable of its own can be changed
// once, `i += i >> 5`, instead of in each index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/declaration.hpp"

namespace bankwise::fit {

/// A variable that only serves indices from a place on.
struct BaseVariable {
  std::string name;
  std::vector<std::size_t> uses;  ///< offsets of its names in the indices
  std::size_t place = 0;          ///< behind a statement, where another one can change it for all of these uses
};

/// Those of the variables at these offsets, the names of bases, that are declared in a block of a function, can be
/// changed, and hold an int at least. By the place.
std::vector<BaseVariable> base_variables(std::string_view source, const std::vector<std::size_t>& names);

/// The index with a pad of `more` elements after every `every`, if its variable has that pad already; nothing if the
/// rest would need a longer text.
std::optional<std::string> index_from_padded_base(const BasedIndex& index, std::uint64_t every, std::uint64_t more);

}  // namespace bankwise::fit
