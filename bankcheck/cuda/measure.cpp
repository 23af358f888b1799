#include "bankcheck/cuda/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

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

}  // namespace bankwise::cuda
