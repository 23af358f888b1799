// The comment at a declaration that says why its layout is as it is.
#pragma once

#include <optional>
#include <string_view>

#include "bankcheck/fit/edits.hpp"

namespace bankwise::fit {

/// What accesses say about the conflicts of an array: the bytes after which the banks repeat, the distance of lanes
/// with most conflicts (0: not known), and whether the change removes all of them.
struct ConflictFacts {
  std::uint64_t period = 128, stride = 0;
  bool removed = false;
};

/// Adds the comment after the declaration, or in a line before it if that is full; nothing if there is no place, or if
/// one statement declares several arrays. Requires a change that form_of() knows.
std::optional<Edit> reason_comment(std::string_view source, const Declaration& declaration, const Change& change,
                                   const ArrayShape& shape, const ConflictFacts& facts);

/// Adds a comment in a line before the statement that begins at an offset; nothing if other code precedes it there.
std::optional<Edit> comment_before(std::string_view source, std::size_t at, std::string_view text);

}  // namespace bankwise::fit
