// SPDX-License-Identifier: MIT
//
// Keeps what was compiled: a second run with unchanged files compiles nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::emulate {

/// The folder of --cache, or bankwise in $XDG_CACHE_HOME or ~/.cache. Error: std::runtime_error if it cannot be made.
std::filesystem::path cache_folder(const std::string& wanted);

/// Whether the files that an earlier compilation read are unchanged. `manifest` is written by write_manifest().
bool is_current(const std::filesystem::path& manifest);
/// `files`: what the compilation read.
void write_manifest(const std::filesystem::path& manifest, const std::vector<std::string>& files);

/// The files that a rule of g++ -MD names after its target.
std::vector<std::string> files_in_rule(std::string_view rule);

/// One process at a time uses a folder: the lock ends with the object.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int file_;
};

/// Removes entries that no run has used for a month.
void clean(const std::filesystem::path& cache);
/// Notes that a run uses an entry.
void touch(const std::filesystem::path& entry);

}  // namespace bankwise::emulate
