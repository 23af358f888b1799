// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
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
  const Progress* progress_ = nullptr;
  std::string blocks_;
};

}  // namespace bankwise::driver
