// The edits of the source that declares and uses an array, for a change of its layout.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/fit/index.hpp"

namespace bankwise::fit {

/// Replaces what lies between two offsets of a source.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
  bool operator==(const Edit&) const = default;
};

/// Edits of one source, in order, or why there are none: a sentence without a dot.
using EditsOrWhy = std::variant<std::vector<Edit>, std::string>;

/// Every use of the array must have all of its indices, and none that has a side effect where the index would be
/// repeated; its address must not be taken except for an atomic function. `alike`: the arrays of the same block, shape
/// and change, in the order of their declarations, with this one. A variable or a function that serves several of them
/// is in the edits of each.
EditsOrWhy edits_of(std::string_view source, const Declaration& declaration, const Change& change,
                    const ArrayShape& shape, std::vector<const Declaration*> alike = {});

/// The edits of the loop `for (s = 1; s < n; s *= 2)` that adds `a[2 * s * i + s]` to `a[2 * s * i]`, or of the one
/// from 2 on that adds `a[s * i + s / 2]`: it becomes `for (s = n / 2; s > 0; s /= 2)` with `a[i]` and `a[i + s]`. The
/// sums, products, minima, ... of two elements must not depend on their order, and only element 0 may be used behind
/// the loop.
EditsOrWhy sequential_edits(std::string_view source, const Declaration& declaration);

std::string edited(std::string_view source, std::vector<Edit> edits);

/// Neighbouring lines that edits change.
struct Hunk {
  unsigned line = 0;          ///< of the first; the first one behind it if there is none
  std::size_t removed = 0;    ///< how many; 0: lines are only added
  std::string before, after;  ///< whole lines, without the last end of a line
};
/// In the order of the lines.
std::vector<Hunk> hunks_of(std::string_view source, std::vector<Edit> edits);

/// A source and all edits of it.
struct EditedFile {
  std::string text;
  std::vector<Edit> edits;  ///< each once
  void add(const std::vector<Edit>& more);
};

/// The edits as a unified diff with three lines of context, for `git apply` and `patch -p1`. `path` is relative to the
/// directory where the diff will be applied.
std::string unified_diff(std::string_view path, const EditedFile& file);

// --- An array whose last dimension has rows, `tile[ROWS * PITCH]`: its indices are row * PITCH + column ---

/// Whether the last lengths of the shape are rows and a pitch, which the declaration has as one dimension.
bool has_rows(const Declaration& declaration, const ArrayShape& shape);

/// The rows of one plane of such an array, if the change moves no plane as a whole; otherwise nothing.
std::optional<ArrayShape> shape_of_plane(const Change& change, const ArrayShape& shape);

/// How the indices of Declaration::row_indices name the pitch: "TILE".
std::string text_of_pitch(const Declaration& declaration);

// --- The comment at a declaration that says why its layout is as it is ---

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
