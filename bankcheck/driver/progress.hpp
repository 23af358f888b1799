// SPDX-License-Identifier: MIT
//
// How far a watched program is, for the last line of a terminal.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include <bankwise/support/progress.hpp>

namespace bankwise::driver {

/// bankcheck's side of the file that a watched program writes.
class ProgressFile {
 public:
  /// Creates the file, and names it to programs that start, if stderr is a terminal. Without it nothing is shown.
  /// `blocks`: the word for them.
  ProgressFile(const std::filesystem::path& path, std::string blocks);
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ~ProgressFile();

  /// One line; empty between launches.
  std::string text() const;

 private:
  const RunProgress* progress_ = nullptr;
  std::string blocks_;
};

/// Shows on the last line of a terminal how far a program is. Nothing is shown if stderr is no terminal.
class ProgressLine {
 public:
  /// `text` is the line without a newline; empty if there is nothing to show.
  explicit ProgressLine(std::function<std::string()> text);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { hide(); }

  /// Updates the line, if it is half a second old. The cursor is at its beginning, so that output replaces it.
  void show();
  /// Removes the line.
  void hide();

 private:
  std::function<std::string()> text_;
  std::string shown_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace bankwise::driver
