// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::driver {

/// Oclgrind's file name for the source of a program, which OpenCL does not name.
inline constexpr std::string_view nameless_source = "input.cl";
/// Its name for the user.
inline constexpr std::string_view nameless_place = "kernel source";

/// A place in the source of an OpenCL program. `file` is the compiler's name for it; line and column 0: unknown.
struct SourcePlace {
  std::string file;
  unsigned line = 0, column = 0;
  auto operator<=>(const SourcePlace&) const = default;
};

/// The text of an OpenCL program, with its lines numbered as the compiler numbers them: `#line` sets number and file
/// name.
class SourceText {
 public:
  explicit SourceText(std::string_view text);

  struct Line {
    std::string file;  ///< as in a #line directive; nameless_source by default
    unsigned number = 0;
    std::string text;
  };
  const std::vector<Line>& lines() const { return lines_; }

  /// The line at a place that the compiler reported; `file` may be preceded by a directory. Null if there is no such
  /// line, for instance because it is in an included file.
  const Line* find(std::string_view file, unsigned number) const;

 private:
  std::vector<Line> lines_;
};

/// The text without surrounding blanks.
std::string_view trimmed(std::string_view text);

/// Whether `path` is `tail`, or ends with a slash and `tail`.
bool ends_with_path(std::string_view path, std::string_view tail);

std::vector<std::string> lines_of(std::string_view text);

}  // namespace bankwise::driver
