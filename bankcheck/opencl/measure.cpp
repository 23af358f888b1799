// The versions of an OpenCL program: its texts are exchanged as it gives them to its own driver.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <bankwise/support/files.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/opencl/exchange.hpp"
#include "bankcheck/opencl/recorder.hpp"

namespace bankwise::opencl {
namespace {

namespace fs = std::filesystem;
using namespace driver;

/// Of stdout, to compare.
constexpr std::size_t most_output = 16U << 20;

/// What the layer (layer/layer.cpp) has written of a run.
struct LayerRecord {
  bool is_exchanged = false, is_lost = false;
  std::size_t processes = 0;  ///< that used OpenCL
};

/// Adds what one process did.
void add_times(const fs::path& path, TimedRun& run, LayerRecord& record) {
  ++record.processes;
  std::istringstream lines(support::read_file(path).value_or(""));
  bool has_ended = false;
  for (std::string line; std::getline(lines, line);) {
    const auto end = std::min(line.find(' '), line.size());
    const std::string kind = line.substr(0, end), rest = end < line.size() ? line.substr(end + 1) : "";
    const auto blank = std::min(rest.find(' '), rest.size());
    std::uint64_t nanoseconds = 0;
    if (kind == "exchanged") record.is_exchanged = true;
    if (kind == "lost") record.is_lost = true;
    if (kind == "end") has_ended = true;
    if (kind == "device" && run.device.empty()) {
      run.device = rest.substr(std::min(blank + 1, rest.size()));
      if (rest.starts_with("cpu ")) run.device += ", a CPU, whose local memory has no banks";
    }
    if (kind != "launch" || !support::parse_number(rest.substr(0, blank), nanoseconds)) continue;
    LaunchTimes& times = run.kernels[rest.substr(std::min(blank + 1, rest.size()))];
    ++times.launches;
    times.nanoseconds += nanoseconds;
  }
  record.is_lost = record.is_lost || !has_ended;
}

/// A folder of texts for each version, and one for what its program caches: some programs cache what they have built
/// under the text that they know.
class ExchangedProgram {
 public:
  ExchangedProgram(const WatchedRun& run) : run_(run) {
    fs::create_symlink(find_library(layer_library), folder_ / "layer.so");
  }

  std::optional<std::string> make(std::size_t version, const FixedSources& sources) const {
    fs::create_directories(cache_of(version));
    fs::create_directories(texts_of(version));
    std::size_t number = 0;
    for (const auto& [before, after] : sources.files) {
      std::ofstream(exchanged_file(texts_of(version), number, "before"), std::ios::binary) << before;
      std::ofstream(exchanged_file(texts_of(version), number, "after"), std::ios::binary) << after;
      ++number;
    }
    return std::nullopt;
  }

  TimedRun time(std::size_t version) const {
    const KeptEnvironment kept;
    const TemporaryFolder folder;
    write_request(support::OpenclTimeRequest{.folder = folder.path(), .texts = texts_of(version)});
    setenv("XDG_CACHE_HOME", cache_of(version).c_str(), 1);
    const char* others = std::getenv("OPENCL_LAYERS");
    const std::string layer = folder_ / "layer.so";
    setenv("OPENCL_LAYERS", (others == nullptr || *others == '\0' ? layer : others + (':' + layer)).c_str(), 1);
    const fs::path output = folder / "stdout";
    const Ended ended = start_and_wait(find_program(run_.program.front()), run_.program,
                                       {.silent = true, .stdout_file = output, .time_limit = run_.time_limit});
    TimedRun run{.failure = driver::failure_of(ended), .interrupted = ended.interrupted};
    run.output = support::read_file(output).value_or("").substr(0, most_output);
    LayerRecord record;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (entry.path().extension() == ".times") add_times(entry.path(), run, record);
    }
    if (!run.failure) run.failure = problem_of(record, version);
    return run;
  }

  Outcome watch(std::size_t version) const {
    WatchedRun run = run_;
    run.request.texts = texts_of(version);
    run.own_stdout = false;
    tell("output of the changed program, which is watched:");
    const KeptEnvironment kept;
    setenv("XDG_CACHE_HOME", cache_of(version).c_str(), 1);
    return run_watched(run);
  }

 private:
  std::string texts_of(std::size_t version) const { return folder_ / fmt::format("texts.{}", version); }
  std::string cache_of(std::size_t version) const { return folder_ / fmt::format("cache.{}", version); }

  std::optional<std::string> problem_of(const LayerRecord& record, std::size_t version) const {
    const std::string program = support::in_quotes(run_.program.front());
    if (record.processes == 0) {
      return fmt::format(
          "{} used no OpenCL that bankcheck can time: it needs a loader that knows OPENCL_LAYERS, such as ocl-icd 2.3 "
          "or Khronos' of 2022",
          program);
    }
    if (record.is_lost) return fmt::format("{} ended before the times of all launches could be read", program);
    if (version > 0 && !record.is_exchanged) {
      return fmt::format("{} did not give the watched text to its own driver, but another one or a binary", program);
    }
    return std::nullopt;
  }

  const WatchedRun& run_;
  TemporaryFolder folder_;
};

}  // namespace

int measure_texts(Reporting& reporting, const trace::Trace& trace, const MeasureOptions& options,
                  const WatchedRun& run) {
  const ExchangedProgram program(run);
  return measure(
      reporting, trace, options,
      {.make = [&](std::size_t version, const FixedSources& sources) { return program.make(version, sources); },
       .time = [&](std::size_t version) { return program.time(version); },
       .watch = [&](std::size_t version) { return program.watch(version); },
       .by_text = true});
}

}  // namespace bankwise::opencl
