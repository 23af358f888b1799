// An OpenCL program is passed to the driver as text, without its file name. This finds the file that the user can open.
#pragma once

#include <compare>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/source/tokens.hpp"

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
  /// The text must outlive it.
  explicit SourceText(std::string_view text);

  struct Line {
    std::string_view file;  ///< as in a #line directive; nameless_source by default
    unsigned number = 0;
    std::string_view text;
  };
  const std::vector<Line>& lines() const { return lines_; }
  /// The number of lines that are not blank.
  std::size_t filled() const { return filled_; }

  /// The line at a place that the compiler reported; `file` may be preceded by a directory. Null if there is no such
  /// line, for instance because it is in an included file.
  const Line* find(std::string_view file, unsigned number) const;

 private:
  std::vector<Line> lines_;
  std::vector<std::uint32_t> by_number_;  // indices of lines
  std::size_t filled_ = 0;
};

using source::trimmed;

/// Whether `path` is `tail`, or ends with a slash and `tail`.
bool ends_with_path(std::string_view path, std::string_view tail);

std::vector<std::string> lines_of(std::string_view text);

/// The text of a regular file, "" if it cannot be read or is larger than 4 MiB.
std::string source_file_text(const std::filesystem::path& path);

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
  /// Whether sources that a trace names may lie outside the directory: the user has run the program, and knows them.
  bool elsewhere = false;
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

  /// Where a file is that a trace names; "" if it may not be read. A trace is untrusted, and can name any file of this
  /// machine: only regular files below the directory are read, and only if their names are those of sources. A relative
  /// path is looked for below the directory, that of a Found place as it is.
  std::string path_of(const std::string& file, bool is_found) const;

  /// The text of a line of the file that the compiler read, for programs whose debug information names it: "" if there
  /// is no such file or line.
  std::string text_at(const SourcePlace& place);

  /// The files below the directory that contain a text, in any language, within the limits of a search.
  std::vector<std::string> containing(std::string_view text) const;

  /// The lines of a file as they are: empty if it may not be read, or if it is larger than 4 MiB.
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
