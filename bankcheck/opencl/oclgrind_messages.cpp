// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/oclgrind_messages.hpp"

#include <algorithm>
#include <utility>

namespace bankwise::opencl {
namespace {

constexpr std::size_t longest_message = 4096;

/// Whether the line is the first one of a fatal error: OCLGRIND FATAL ERROR (<file of Oclgrind's sources>:<line>)
bool begins_fatal_error(std::string_view line) {
  if (!line.starts_with("OCLGRIND FATAL ERROR (") || !line.ends_with(')')) return false;
  line.remove_suffix(1);
  const auto digits = line.substr(line.rfind(':') + 1);
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

void OclgrindMessages::read(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    line_.append(bytes.substr(0, std::min(end, longest_message - line_.size())));
    if (end == bytes.size()) return;
    take(std::exchange(line_, {}));
    bytes.remove_prefix(end + 1);
  }
}

/// A fatal error that stops the creation of a kernel, or of a program's variables, has three lines: file and line of
/// Oclgrind's sources, the reason, and "When ...". One that stops a launch is logged: the plugin records it.
void OclgrindMessages::take(std::string line) {
  const bool is_operation =
      line.starts_with("When creating kernel '") || line == "When initializing program scope global variables";
  if (!fatal_error_ && is_operation && begins_fatal_error(before_[0])) {
    fatal_error_ = before_[1] + ", w" + line.substr(1);
  }
  if (!lost_plugin_ && (line.starts_with("Loading Oclgrind plugin failed (dlopen): ") ||
                        line.starts_with("Loading Oclgrind plugin failed (dlsym): "))) {
    lost_plugin_ = line;
  }
  if (!assertion_ && line.find("oclgrind::") != std::string::npos && line.find(": Assertion `") != std::string::npos &&
      line.ends_with("' failed.")) {
    assertion_ = line;
  }
  before_ = {std::move(before_[1]), std::move(line)};
}

std::optional<std::string> logged_fatal_error(std::string_view error) {
  const auto end = error.find('\n');
  if (end == std::string_view::npos || !begins_fatal_error(error.substr(0, end))) return std::nullopt;
  const auto reason = error.substr(end + 1);
  return std::string(reason.substr(0, reason.find('\n')));
}

}  // namespace bankwise::opencl
