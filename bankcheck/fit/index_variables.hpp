// Variables for a changed index that several uses share, as one would declare them: "const int at = i + (i >> 5);".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/uses.hpp"

namespace bankwise::fit {

struct IndexVariable {
  std::size_t at = 0;             ///< where the declaration goes: the begin of a statement, or of a pragma before it
  std::vector<std::size_t> uses;  ///< their numbers
};

/// For neighbouring uses with one index text, `texts`, that stand in one block, where no variable of the index changes
/// from the first to the last of them, and the index only computes. Two uses at least have one variable. Requires uses
/// in the source, in no macro.
std::vector<IndexVariable> index_variables(const Expressions& code, const std::vector<Use>& uses,
                                           const std::vector<std::string>& texts);

}  // namespace bankwise::fit
