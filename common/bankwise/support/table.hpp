// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace bankwise {

/// A plain-text table. The first row is the head. The first `left` columns are left-aligned, the others right-aligned;
/// the last column may be long and is left-aligned if `last_left`. Every line begins with two blanks and has none at
/// its end.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left, bool last_left = false);

/// A table with more columns than fit: split into as many parts as needed, one below the other, about equally wide and
/// no wider than `max_width` terminal columns. Each repeats the first `titles` columns, which are left-aligned.
std::string format_wide_table(const std::vector<std::vector<std::string>>& rows, std::size_t titles,
                              std::size_t max_width = 100);

}  // namespace bankwise
