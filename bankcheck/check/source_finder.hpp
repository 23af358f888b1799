// SPDX-License-Identifier: MIT
//
// OpenCL is given the text of a program and not the file that it comes from, which is what a person wants to open.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bankcheck/check/place.hpp"
#include "bankcheck/check/source_text.hpp"

namespace bankwise::opencl {

/// A line without the blanks around it, and out of its string literal.
struct FileLine {
  std::string text;
  unsigned begin = 0;    ///< characters in front of it
  unsigned plain = ~0U;  ///< characters up to the first escape, behind which columns are not counted
};

/// Looks for lines of kernels among the source files below a folder, by what stands in them: in files of OpenCL, and in
/// the string literals of the languages that programs are written in. Hidden folders and CMake's build folders are left
/// out, and files of more than 4 MiB; nothing is read before it is needed.
class SourceFinder {
 public:
  explicit SourceFinder(const std::filesystem::path& root) : root_(root) {}

  /// Where the line stands, column 0 if that is not known. None if no file has it, with the lines around it.
  std::optional<Place> find(const SourceText& source, const Place& place);

 private:
  struct File {
    std::string path;  ///< as a person writes it
    std::vector<FileLine> lines;
  };
  const std::vector<File>& files();

  std::filesystem::path root_;
  std::optional<std::vector<File>> files_;
};

}  // namespace bankwise::opencl
