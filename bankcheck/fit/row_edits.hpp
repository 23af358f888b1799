// The edits of an array whose last dimension has rows, `tile[ROWS * PITCH]`: its indices are row * PITCH + column.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bankcheck/fit/edits.hpp"

namespace bankwise::fit {

/// Whether the last lengths of the shape are rows and a pitch, which the declaration has as one dimension.
bool has_rows(const Declaration& declaration, const ArrayShape& shape);

/// The rows of one plane of such an array, if the change moves no plane as a whole; otherwise nothing.
std::optional<ArrayShape> shape_of_plane(const Change& change, const ArrayShape& shape);

/// How the indices of Declaration::row_indices name the pitch: "TILE".
std::string text_of_pitch(const Declaration& declaration);

/// Other rows, or an XOR of the row into the column; otherwise why not.
EditsOrWhy row_edits(std::string_view source, const Declaration& declaration, const Change& change,
                     const ArrayShape& shape);

}  // namespace bankwise::fit
