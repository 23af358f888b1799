// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "bankcheck/opencl/plugin/progress.hpp"

namespace bankwise::opencl {

/// bankcheck's side of the file.
class ProgressFile {
 public:
  /// Creates the file. Without it nothing is shown.
  explicit ProgressFile(const std::filesystem::path& path);
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ~ProgressFile();

  /// One line; empty between launches.
  std::string text() const;

 private:
  const Progress* progress_ = nullptr;
};

}  // namespace bankwise::opencl
