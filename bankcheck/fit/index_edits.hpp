// The edits of all indices of arrays that have one layout, with the variables and the function that they share.
#pragma once

#include <vector>

#include "bankcheck/fit/edits.hpp"
#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/uses.hpp"

namespace bankwise::fit {

struct IndexedArray {
  const Declaration* declaration = nullptr;
  Uses uses;
};

/// Of the array with this number; what all of them share is in the edits of each.
std::vector<Edit> index_edits(const Expressions& code, const std::vector<IndexedArray>& arrays, std::size_t number,
                              const Change& change, const ArrayShape& shape, IndexForm form);

}  // namespace bankwise::fit
