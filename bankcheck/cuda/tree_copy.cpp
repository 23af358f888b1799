#include "bankcheck/cuda/tree_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/child_process.hpp"

namespace bankwise::cuda {
namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

std::optional<std::string> git(const fs::path& directory, std::vector<std::string> arguments) {
  if (driver::find_program("git").empty()) return std::nullopt;
  arguments.insert(arguments.begin(), {"git", "-C", directory.string()});
  driver::Ran ran = driver::run_quietly(arguments);
  if (ran.status != 0) return std::nullopt;
  return std::move(ran.output);
}

/// The files of a work tree of git that it does not ignore; nothing if the directory is in none, or ignored itself.
std::optional<SourceTree> work_tree(const fs::path& directory) {
  auto root = git(directory, {"rev-parse", "--show-toplevel"});
  if (!root) return std::nullopt;
  root->erase(std::min(root->find('\n'), root->size()));
  SourceTree tree{fs::weakly_canonical(*root), {}};
  const auto list = git(tree.root, {"ls-files", "-z", "--cached", "--others", "--exclude-standard"});
  if (!list || !lies_in(directory, tree.root) || git(directory, {"check-ignore", "-q", "."})) return std::nullopt;
  for (std::string_view rest = *list; !rest.empty();) {
    const auto end = std::min(rest.find('\0'), rest.size());
    const fs::path file(rest.substr(0, end));
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(tree.root / file, ignored))) tree.files.push_back(file);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return tree;
}

/// Everything below the directory except what git and bankcheck keep for themselves.
SourceTree whole_tree(const fs::path& directory) {
  SourceTree tree{directory, {}};
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().filename() != ".git") tree.files.push_back(entry.path().filename());
  }
  return tree;
}

struct TreeSize {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;

  bool is_too_large() const { return files > most_files || bytes > most_bytes; }
  void add(const fs::directory_entry& entry) {
    std::error_code ignored;
    ++files;
    if (!entry.is_symlink(ignored) && entry.is_regular_file(ignored)) bytes += entry.file_size(ignored);
  }
};

TreeSize size_of(const SourceTree& tree) {
  TreeSize size;
  std::error_code ignored;
  for (const fs::path& file : tree.files) {
    const fs::directory_entry entry(tree.root / file, ignored);
    size.add(entry);
    if (entry.is_symlink(ignored) || !entry.is_directory(ignored)) continue;
    for (fs::recursive_directory_iterator below(entry.path(), fs::directory_options::skip_permission_denied, ignored),
         end;
         !ignored && below != end && !size.is_too_large(); below.increment(ignored)) {
      size.add(*below);
    }
    if (size.is_too_large()) break;
  }
  return size;
}

void copy_link(const SourceTree& tree, const fs::path& from, const fs::path& to, const fs::path& copy) {
  const fs::path target = fs::weakly_canonical(from.parent_path() / fs::read_symlink(from));
  fs::create_symlink(lies_in(target, tree.root) ? copy / target.lexically_relative(tree.root) : target, to);
}

/// A file or a link, with its time; sockets and pipes are left out.
void copy_entry(const SourceTree& tree, const fs::path& from, const fs::path& to, const fs::path& copy) {
  const fs::file_status status = fs::symlink_status(from);
  fs::create_directories(to.parent_path());
  if (fs::exists(fs::symlink_status(to))) return;  // named twice
  if (fs::is_symlink(status)) return copy_link(tree, from, to, copy);
  if (!fs::is_regular_file(status)) return;
  fs::copy_file(from, to);
  fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);  // for the changes
  fs::last_write_time(to, fs::last_write_time(from));
}

}  // namespace

SourceTree find_tree(const fs::path& directory, const std::vector<std::string>& also) {
  const fs::path folder = fs::canonical(directory);
  auto in_git = work_tree(folder);
  SourceTree tree = in_git ? std::move(*in_git) : whole_tree(folder);
  for (const std::string& name : also) {
    const fs::path path = fs::weakly_canonical(folder / name);
    if (!fs::exists(path))
      throw support::UsageError(fmt::format("--copy {}: it does not exist", support::in_quotes(name)));
    if (!lies_in(path, tree.root)) {
      throw support::UsageError(fmt::format("--copy {}: it does not lie in {}, which is copied",
                                            support::in_quotes(name), support::in_quotes(tree.root.string())));
    }
    tree.files.push_back(path.lexically_relative(tree.root));
  }
  if (size_of(tree).is_too_large()) {
    throw support::UsageError(fmt::format(
        "--measure copies {}, which has more than {} files or {} MiB: run bankcheck in the directory of the program's "
        "sources, or in a git work tree, of which it copies what git does not ignore",
        support::in_quotes(tree.root.string()), most_files, most_bytes >> 20));
  }
  return tree;
}

void copy_tree(const SourceTree& tree, const fs::path& to) {
  const fs::path copies = fs::weakly_canonical(to).parent_path();  // may lie in the tree
  for (const fs::path& file : tree.files) {
    const fs::path from = tree.root / file;
    const fs::file_status status = fs::symlink_status(from);
    if (from == copies) continue;
    if (!fs::is_directory(status)) {
      copy_entry(tree, from, to / file, to);
      continue;
    }
    fs::create_directories(to / file);  // a submodule, or a directory of a tree without git
    for (auto entry = fs::recursive_directory_iterator(from); entry != fs::recursive_directory_iterator(); ++entry) {
      const fs::path name = entry->path().lexically_relative(tree.root);
      if (entry->path().filename() == ".git" || entry->path() == copies) {
        entry.disable_recursion_pending();
      } else if (!entry->is_symlink() && entry->is_directory()) {
        fs::create_directories(to / name);
      } else {
        copy_entry(tree, entry->path(), to / name, to);
      }
    }
  }
}

}  // namespace bankwise::cuda
