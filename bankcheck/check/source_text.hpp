// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bankwise::opencl {

/// What Oclgrind calls the source of a program, which has no name of its own.
inline constexpr std::string_view nameless_source = "input.cl";

/// The text of an OpenCL program, with its lines counted as its compiler does: `#line` gives another number and name.
class SourceText {
 public:
  explicit SourceText(std::string_view text);

  struct Line {
    std::string file;  ///< as a #line directive writes it, else nameless_source
    unsigned number = 0;
    std::string text;
  };
  const std::vector<Line>& lines() const { return lines_; }

  /// The line that the compiler gives this place, of which `file` may have a directory in front; null if there is none,
  /// because it is from an included file for instance.
  const Line* find(std::string_view file, unsigned number) const;

 private:
  std::vector<Line> lines_;
};

/// Without blanks around.
std::string_view trimmed(std::string_view text);

/// Whether `path` is `tail`, or ends with it behind a slash.
bool ends_with_path(std::string_view path, std::string_view tail);

std::vector<std::string> lines_of(std::string_view text);

}  // namespace bankwise::opencl
