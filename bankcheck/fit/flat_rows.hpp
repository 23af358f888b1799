// Rows in arrays that are declared with one dimension: tile[y * 16 + x].
#pragma once

#include <string_view>

#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/source_constants.hpp"

namespace bankwise::fit {

/// Sets Declaration::pitch and row_indices, if every index of the array is row * pitch + column, and the column is
/// certainly at least 0 and less than the pitch. That is computed from the loops and conditions around the index, and
/// from the sizes of blocks.
void find_flat_rows(Declaration& declaration, std::string_view source, const SourceConstants& constants,
                    const SoughtArray& array);

}  // namespace bankwise::fit
