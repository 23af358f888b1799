// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace bankwise::opencl {

/// Recognises Oclgrind's messages in the stderr of a program that Oclgrind runs, while it is written, and keeps the
/// first of each kind. Text of the program is taken for a message only if it has all lines of that message.
class OclgrindMessages {
 public:
  /// The next bytes of stderr. Every message ends with a newline.
  void read(std::string_view bytes);

  const std::optional<std::string>& fatal_error() const { return fatal_error_; }     ///< the reason
  const std::optional<std::string>& lost_plugin() const { return lost_plugin_; }     ///< why it cannot be loaded
  const std::optional<std::string>& failed_assertion() const { return assertion_; }  ///< in Oclgrind's sources

 private:
  void take(std::string line);

  std::string line_;                   ///< the beginning of the next line
  std::array<std::string, 2> before_;  ///< the two lines before it
  std::optional<std::string> fatal_error_, lost_plugin_, assertion_;
};

/// The reason in an error that Oclgrind has logged, if it means that Oclgrind cannot run the kernel.
std::optional<std::string> logged_fatal_error(std::string_view error);

}  // namespace bankwise::opencl
