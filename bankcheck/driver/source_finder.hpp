// SPDX-License-Identifier: MIT
//
// An OpenCL program is passed to the driver as text, without its file name. This finds the file that the user can open.
#pragma once

#include <compare>
#include <filesystem>
#include <map>
#include <optional>
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

/// A line of a file without surrounding blanks and without the quotes of a string literal.
struct FileLine {
  std::string text;
  unsigned begin = 0;    ///< number of characters before `text`
  unsigned plain = ~0U;  ///< number of characters before the first escape; columns after it are unknown
};

/// How much of a large directory is searched, so that a report in a home directory ends soon.
struct SearchLimits {
  std::size_t entries = 200'000;       ///< files and directories looked at
  std::uintmax_t bytes = 64ULL << 20;  ///< the sum over all files that are read
};

/// Finds lines of kernels in the source files below a directory by comparing text: in OpenCL files, and in the string
/// literals of host programs. Skips hidden directories, CMake build directories, and files larger than 4 MiB. Within
/// the limits, OpenCL files are read first, and files near the directory before those far below it. Reads no file
/// before the first search.
class SourceFinder {
 public:
  explicit SourceFinder(const std::filesystem::path& root, SearchLimits limits = {}) : root_(root), limits_(limits) {}

  struct Found {
    std::optional<SourcePlace> place;  ///< in a file; column 0 if the column is unknown
    std::vector<std::string> files;    ///< without a place: the files that contain the line equally well, if several do
  };
  /// Looks for the file that contains the line together with most of the lines around it.
  Found find(const SourceText& source, const SourcePlace& place);

  /// The text of a line of the file that the compiler read, for programs whose debug information names it: "" if there
  /// is no such file or line. A relative path is looked for below the folder.
  std::string text_at(const SourcePlace& place);

  /// The lines of a file as they are: empty if there is no such file, if it is larger than 4 MiB, or if its name is not
  /// that of a source file. A relative path is looked for below the folder, that of a Found place as it is.
  std::vector<std::string> lines_of_file(const std::string& file, bool is_found) const;

 private:
  struct File {
    std::string path;  ///< as shown to the user
    std::vector<FileLine> lines;
  };
  const std::vector<File>& files();

  std::filesystem::path root_;
  SearchLimits limits_;
  std::optional<std::vector<File>> files_;
  std::map<std::string, std::vector<std::string>> read_;  // lines of files, by their paths
};

}  // namespace bankwise::driver
