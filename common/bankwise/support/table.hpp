// Tables of plain text, and the terminal that shows them.
#pragma once

#include <string>
#include <vector>

namespace bankwise::support {

/// A plain-text table. The first row is the head. The first `left` columns are left-aligned, the others right-aligned;
/// the last column may be long and is left-aligned if `last_left`. Lines begin with two blanks, and end without.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left, bool last_left = false);

/// A table with more columns than fit: split into as many parts as needed, one below the other, about equally wide and
/// no wider than `max_width` terminal columns. Each repeats the first `titles` columns, which are left-aligned.
std::string format_wide_table(const std::vector<std::vector<std::string>>& rows, std::size_t titles,
                              std::size_t max_width = 100);

/// The width of the terminal on stdout in columns; 80 if stdout is not a terminal.
unsigned terminal_columns();

/// Whether to use colours on stdout: it is a terminal, and NO_COLOR is not set.
bool terminal_has_colour();

}  // namespace bankwise::support
