// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace bankwise::driver {

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
