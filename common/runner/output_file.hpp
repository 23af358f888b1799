// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise {

/// A file that is written whole or not at all. The constructor finds out early whether it can be written, by creating
/// a temporary file beside it, which write() moves into place; without write() nothing remains.
class OutputFile {
 public:
  /// `path` "-" is stdout; an empty one writes nowhere. Error: UsageError.
  OutputFile(std::string_view option, std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  explicit operator bool() const { return !path_.empty(); }
  /// Error: std::runtime_error, and the old content is still there.
  void write(std::string_view text);

 private:
  std::string option_, path_, temporary_;
};

}  // namespace bankwise
