// Lines that edits add to a source, indented as their neighbours.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bankcheck/fit/edits.hpp"
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {

/// The line of an offset: its first character, and the end before its line end.
std::size_t begin_of_line(std::string_view source, std::size_t at);
std::size_t end_of_line(std::string_view source, std::size_t at);

/// The line of an offset without what follows the blanks at its begin.
std::string_view indentation_at(std::string_view source, std::size_t at);

/// "\n", or "\r\n" if the source has some.
std::string_view line_end_of(std::string_view source);

/// A line after the statement that ends at an offset, indented as the line of another one.
Edit line_behind(std::string_view source, std::size_t at, std::size_t indented, const std::string& text);

/// A line before the statement that begins at an offset, or the text in its line if other code precedes it there.
Edit line_before(std::string_view source, std::size_t at, const std::string& text);

/// A line after the declaration; nothing if the text is empty.
std::optional<Edit> line_after(const source::SourceTokens& code, const Declaration& declaration,
                               const std::string& text);

}  // namespace bankwise::fit
