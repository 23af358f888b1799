// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace bankwise {

/// A plain-text table. The first row is the head; the first `left` columns are set left, the others right; the last
/// column may be long and is set left if `last_left`. Every line begins with two blanks and ends without any.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left, bool last_left = false);

/// A table of more columns than fit: in as many pieces below each other as it needs, no wider than `max_width` columns of a
/// terminal and about
/// equally wide. Each repeats the first `titles` columns, which are set left.
std::string format_wide_table(const std::vector<std::vector<std::string>>& rows, std::size_t titles,
                              std::size_t max_width = 100);

}  // namespace bankwise
