// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise {

/// A file that is written whole or not at all: write() fills a temporary file beside it and moves that into place. A
/// symbolic link stays one, and a device or a pipe is written to as it is.
class OutputFile {
 public:
  /// `path` "-" is stdout; an empty one writes nowhere. Looks ahead whether write() can succeed, and changes nothing.
  /// Error: UsageError.
  OutputFile(std::string_view option, std::string path);

  explicit operator bool() const { return !path_.empty(); }
  /// Error: std::runtime_error, and the old content is still there.
  void write(std::string_view text) const;

 private:
  std::string option_, path_;
};

}  // namespace bankwise
