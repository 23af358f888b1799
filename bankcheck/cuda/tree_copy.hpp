// Copies of the directory tree that a program is built in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bankwise::cuda {

/// The files to copy.
struct SourceTree {
  std::filesystem::path root;                ///< canonical
  std::vector<std::filesystem::path> files;  ///< relative to the root: files, symbolic links, whole directories
};

/// Limits of a copy.
inline constexpr std::size_t most_files = 100'000;
inline constexpr std::uintmax_t most_bytes = std::uintmax_t{512} << 20;

/// In a work tree of git: all files that git does not ignore, and `also`. Elsewhere: all files below the directory.
/// Error: UsageError if these are more than the limits, or if one of `also` does not lie in the tree.
SourceTree find_tree(const std::filesystem::path& directory, const std::vector<std::string>& also);

/// Copies the files, with their times, so that `make` builds no more than it would in the tree. Symbolic links lead to
/// the copy if they lead into the tree, otherwise to where they did. The parent of `to` is not copied. Error:
/// std::filesystem::filesystem_error.
void copy_tree(const SourceTree& tree, const std::filesystem::path& to);

}  // namespace bankwise::cuda
