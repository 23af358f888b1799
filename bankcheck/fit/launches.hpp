// The launches of a kernel that give an array in dynamic shared memory its bytes, and must give it more.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "bankcheck/fit/edits.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {

/// The edits of all launches, or why there are none: a sentence without a dot.
std::variant<std::vector<Edit>, std::string> launch_edits(const source::SourceTokens& code,
                                                          const Declaration& declaration, const Change& change,
                                                          const ArrayShape& shape);

}  // namespace bankwise::fit
