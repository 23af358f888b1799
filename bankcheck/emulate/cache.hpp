// SPDX-License-Identifier: MIT
//
// Keeps what was compiled: a second run with unchanged files compiles nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::emulate {

/// A hash of texts, for names in a cache: equal texts in equal order have equal hashes.
class Hash {
 public:
  void add(std::string_view text);
  /// The content of a file; one that cannot be read counts as empty.
  void add_content(const std::filesystem::path& file);
  std::string text() const;  ///< 32 hexadecimal digits

 private:
  std::uint64_t low_ = 0xCBF29CE484222325, high_ = 0x84222325CBF29CE4;
};

/// The folder of --cache, or bankwise in $XDG_CACHE_HOME or ~/.cache. Error: std::runtime_error if it cannot be made.
std::filesystem::path cache_folder(const std::string& wanted);

/// A line for each file, with a hash of its content as it is now; sizes_of() has its size, for files that are too large
/// to be read in every run.
std::string hashes_of(const std::vector<std::string>& files);
std::string sizes_of(const std::vector<std::string>& files);

/// Whether all files of a manifest, inputs and results, are there and as its lines say.
bool is_current(const std::filesystem::path& manifest);
/// `lines`: of hashes_of() and sizes_of().
void write_manifest(const std::filesystem::path& manifest, std::string_view lines);

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
