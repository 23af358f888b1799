// Texts for people, and texts as other languages quote them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bankwise::support {

/// User input as an error message quotes it: in quotes, truncated if it is long, and without control characters.
std::string in_quotes(std::string_view text, std::size_t longest = 40);

/// "1 launch", "3 launches", "1,024 launches".
std::string plural(std::uint64_t count, std::string_view one, std::string_view more);

/// "  naive, padded: reason" for each reason, in order of first appearance. The input: names and reasons.
std::string by_reason(const std::vector<std::pair<std::string, std::string>>& names);

/// Whether a word is in a list whose words are separated by blanks.
bool has_word(std::string_view list, std::string_view word);

/// Letters to insert, delete or change to turn one word into the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The text in lines of at most `columns` columns, broken at blanks; each ends with a line feed. Lines after the first
/// are indented.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

/// The known name that is meant if this one is mistyped, in any case; "" if none is near.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known);

/// One sentence for a name that is none of the `known` ones: suggests the nearest, and `where` to look.
std::string no_such(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known,
                    std::string_view where);

/// The same with a hint that says itself which names there are.
std::string no_such_but(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known,
                        std::string_view hint);

/// Whether a text that is cut at this offset is cut within a character of UTF-8.
bool is_inside_character(std::string_view text, std::size_t offset);

/// A text that may come from a program, for a terminal: what could change the terminal or hide a part of the text
/// becomes visible. Control characters except tabs and line feeds, and those that change the direction of the text
/// around them, become [U+202E]; what is not UTF-8 becomes U+FFFD.
std::string visible(std::string_view text);

/// The same, escaped for XML, SVG and HTML, as content between tags or in a quoted attribute.
std::string xml_text(std::string_view text);

/// Version and commit of the sources, "1.0.0-3f2a1b0", with "+" if they were changed since.
std::string_view revision();

}  // namespace bankwise::support
