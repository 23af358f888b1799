#include "bankcheck/cuda/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/cuda/cubin/cubin.hpp"

namespace bankwise::cuda {
namespace {

namespace fs = std::filesystem;
using namespace driver;

/// Of stdout, to compare.
constexpr std::size_t most_output = 16U << 20;

/// The path relative to the root of the tree; nothing if it lies outside.
std::optional<fs::path> in_tree(const SourceTree& tree, const fs::path& path) {
  const fs::path relative = fs::weakly_canonical(path).lexically_relative(tree.root);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative;
}

/// The line of a build's output that says what is wrong; otherwise the last.
std::string error_line(const std::string& output) {
  const std::vector<std::string> lines = lines_of(output);
  const auto error = std::ranges::find_if(lines, [](const std::string& line) {
    return line.find("error") != std::string::npos || line.find("Error") != std::string::npos;
  });
  return error != lines.end() ? *error : lines.empty() ? "it printed nothing" : lines.back();
}

class Copies {
 public:
  Copies(const BuiltProgram& program, std::vector<const banks::Architecture*> architectures)
      : program_(program), architectures_(std::move(architectures)) {}

  std::optional<std::string> make(std::size_t version, const FixedSources& sources) const {
    const fs::path copy = copy_of(version);
    copy_tree(program_.tree, copy);
    for (const auto& [path, text] : sources.files) {
      const auto file = in_tree(program_.tree, path);
      const std::string name = support::in_quotes(path, 100);
      if (version == 0 && (!file || !fs::exists(copy / *file))) continue;  // nothing to build again
      if (!file) return fmt::format("{} lies outside {}, which is copied", name, program_.tree.root.string());
      if (!fs::exists(copy / *file)) return fmt::format("git ignores {}; --copy copies it, too", name);
      if (!(std::ofstream(copy / *file, std::ios::binary) << text).flush())
        return fmt::format("cannot write a copy of {}", name);
    }
    return build(version);
  }

  TimedRun time(std::size_t version) const {
    const TemporaryFolder folder;
    const fs::path output = folder / "stdout";
    const UnwatchedRun run = run_unwatched(program_.timer, place_of(version),
                                           {.stdout_file = output, .time_limit = program_.watching.time_limit}, folder);
    TimedRun timed{.failure = driver::failure_of(run.ended), .interrupted = run.ended.interrupted};
    timed.output = support::read_file(output).value_or("").substr(0, most_output);
    std::set<std::string> devices;
    for (const ProcessTimes& process : run.processes) {
      for (const TimedLaunch& launch : process.launches) {
        LaunchTimes& times = timed.kernels[demangled(process.kernels.at(launch.kernel))];
        ++times.launches;
        times.nanoseconds += launch.end - launch.start;
        devices.insert(process.devices.at(launch.device).name);
      }
      if (!timed.failure && !process.errors.empty()) timed.failure = process.errors.front();
      if (!timed.failure && !process.ended) timed.failure = "it ended before the times of all launches could be read";
    }
    if (!timed.failure && !run.errors.empty()) timed.failure = run.errors.front();
    for (const std::string& device : devices) timed.device += (timed.device.empty() ? "" : ", ") + device;
    return timed;
  }

  Outcome watch(std::size_t version) const {
    tell("output of the changed program, which is watched:");
    const TemporaryFolder folder;
    WatchedRun run = cuda::watch(program_.watching, place_of(version), false, folder);
    return outcome_of(std::move(run), program_.watching, architectures_, {}, folder);
  }

 private:
  fs::path copy_of(std::size_t version) const { return folder_ / fmt::format("{}", version); }
  /// The directory of the copy that corresponds to the current one.
  fs::path directory_of(std::size_t version) const {
    return (copy_of(version) / *in_tree(program_.tree, ".")).lexically_normal();
  }

  std::optional<std::string> build(std::size_t version) const {
    const EndsWithSentence ends("building the program");
    const fs::path directory = directory_of(version);
    fs::create_directories(directory);
    const Ran ran = run_quietly({"/bin/sh", "-c", "cd \"$0\" || exit\n" + program_.build, directory.string()});
    if (ran.status == 0) {
      const Place place = place_of(version);
      if (!find_program(place.program.string()).empty()) return std::nullopt;
      return fmt::format("{} did not make {} in the copy", support::in_quotes(program_.build),
                         support::in_quotes(program_.command.front()));
    }
    if (version == 0) std::fputs(support::visible(ran.output).c_str(), stderr);
    return fmt::format("{} failed with exit code {}: {}", support::in_quotes(program_.build), ran.status,
                       error_line(ran.output));
  }

  /// Paths of the tree that the copy also has become those of the copy, and the program in any case, so that the
  /// user's own never runs in place of a version.
  Place place_of(std::size_t version) const {
    Place place{{}, program_.command, directory_of(version)};
    for (std::string& word : place.command) {
      const auto file = word.starts_with('/') ? in_tree(program_.tree, word) : std::nullopt;
      const bool is_program = &word == place.command.data();
      if (file && (is_program || fs::exists(copy_of(version) / *file))) word = (copy_of(version) / *file).string();
    }
    const std::string& name = place.command.front();
    const bool is_path = name.find('/') != std::string::npos;
    place.program = is_path ? place.directory / name : find_program(name);
    return place;
  }

  const BuiltProgram& program_;
  const std::vector<const banks::Architecture*> architectures_;
  const TemporaryFolder folder_;
};

std::optional<std::string> git(const fs::path& directory, std::vector<std::string> arguments) {
  if (find_program("git").empty()) return std::nullopt;
  arguments.insert(arguments.begin(), {"git", "-C", directory.string()});
  Ran ran = run_quietly(arguments);
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
  if (!list || !in_tree(tree, directory) || git(directory, {"check-ignore", "-q", "."})) return std::nullopt;
  std::istringstream files(*list);
  for (std::string file; std::getline(files, file, '\0');) {
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(tree.root / file, ignored))) tree.files.emplace_back(file);
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
  const auto inside = in_tree(tree, target);
  fs::create_symlink(inside ? copy / *inside : target, to);
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

int measure_copies(Reporting& reporting, const trace::Trace& trace, const MeasureOptions& options,
                   const BuiltProgram& program) {
  const Copies copies(program, reporting.architectures());
  return measure(
      reporting, trace, options,
      {.make = [&](std::size_t version, const FixedSources& sources) { return copies.make(version, sources); },
       .time = [&](std::size_t version) { return copies.time(version); },
       .watch = [&](std::size_t version) { return copies.watch(version); }});
}

SourceTree find_tree(const fs::path& directory, const std::vector<std::string>& also) {
  const fs::path folder = fs::canonical(directory);
  auto in_git = work_tree(folder);
  SourceTree tree = in_git ? std::move(*in_git) : whole_tree(folder);
  for (const std::string& name : also) {
    const fs::path path = fs::weakly_canonical(folder / name);
    if (!fs::exists(path))
      throw support::UsageError(fmt::format("--copy {}: it does not exist", support::in_quotes(name)));
    const auto inside = in_tree(tree, path);
    if (!inside) {
      throw support::UsageError(fmt::format("--copy {}: it does not lie in {}, which is copied",
                                            support::in_quotes(name), support::in_quotes(tree.root.string())));
    }
    tree.files.push_back(*inside);
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
