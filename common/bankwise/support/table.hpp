// Tables of plain text, and the terminal that shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bankwise::support {

/// A plain-text table. The first row is the head. The first `left` columns are left-aligned, the others right-aligned;
/// the last column may be long and is left-aligned if `last_left`. Lines begin with two blanks, and end without.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left, bool last_left = false);

/// A table with more columns than fit: split into as many parts as needed, one below the other, about equally wide and
/// no wider than `max_width` terminal columns. Each repeats the first `titles` columns, which are left-aligned.
std::string format_wide_table(const std::vector<std::vector<std::string>>& rows, std::size_t titles,
                              std::size_t max_width = 100);

/// The width of the terminal on stdout in columns. If stdout is not a terminal: what the variable COLUMNS says, if it
/// is exported, or `otherwise`.
unsigned terminal_columns(unsigned otherwise = 80);

/// Whether to use colours in a file, 1 for stdout: it is a terminal, and NO_COLOR is empty or not set
/// (https://no-color.org).
bool terminal_has_colour(int file = 1);

/// A text in red, in bold and so on: `sgr` is the parameter of the escape sequence, "1;31".
std::string painted(std::string_view text, std::string_view sgr);

}  // namespace bankwise::support
