#include "bankcheck/cuda/recorder.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <system_error>
#include <utility>

#include <bankwise/support/append.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/library.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/support/watch_request.hpp>

namespace bankwise::cuda {
namespace {

namespace fs = std::filesystem;
using namespace driver;

// --- What is needed, asked for before a program is started that would only fail ---

constexpr std::string_view library = "libsanitizer-public.so";

/// Roots of CUDA Toolkits.
std::vector<fs::path> toolkits() {
  std::vector<fs::path> toolkits;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* path = std::getenv(variable); path != nullptr && *path != '\0') toolkits.emplace_back(path);
  }
  for (const char* program : {"compute-sanitizer", "nvcc"}) {
    if (const fs::path path = find_program(program); !path.empty()) {
      toolkits.push_back(fs::canonical(path).parent_path().parent_path());
      toolkits.push_back(fs::canonical(path).parent_path().parent_path().parent_path());
    }
  }
  toolkits.emplace_back("/usr/local/cuda");
  return toolkits;
}

/// Where NVIDIA's Python packages and the CUDA Toolkit put a library: these folders of each folder `nvidia` of pip,
/// first of the one next to the package that has this program as bankwise/bin/bankcheck, and these of each toolkit.
std::vector<fs::path> usual_places(std::initializer_list<const char*> in_toolkit,
                                   std::initializer_list<const char*> in_package) {
  std::vector<fs::path> places;
  const fs::path own_packages = folder_of_bankcheck().parent_path().parent_path();
  for (const char* folder : in_package) places.push_back(own_packages / "nvidia" / folder);
  for (const fs::path& toolkit : toolkits()) {
    for (const char* folder : in_toolkit) places.push_back(toolkit / folder);
  }
  std::error_code ignored;
  for (const char* root : {"/usr/local/lib", "/usr/lib", "/usr/lib/python3/dist-packages"}) {
    for (fs::directory_iterator entry(root, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
      for (const char* packages : {"dist-packages", "site-packages"}) {
        for (const char* folder : in_package) places.push_back(entry->path() / packages / "nvidia" / folder);
      }
    }
  }
  return places;
}

// What the child writes first; a sentence follows, except after `present`.
constexpr char present = 'p', absent = 'a', failed = 'f';

// CUresult in NVIDIA's cuda.h, which bankcheck is also built without.
constexpr int success = 0, stub_library = 34, no_device = 100;

std::string answer_for(const support::LoadedLibrary& driver, const char* call, int result) {
  int (*describe)(int, const char**) = nullptr;
  const char* text = nullptr;
  if (!driver.find(describe, {"cuGetErrorString"}) || describe(result, &text) != success || text == nullptr)
    text = "an unknown error";
  if (result == no_device || result == stub_library) return absent + std::string("no NVIDIA GPU was found: ") + text;
  return failed + std::string("the CUDA driver cannot be used: ") + call + " failed: " + text;
}

std::string ask_driver() {
  const support::LoadedLibrary driver{"libcuda.so.1"};
  if (!driver) return absent + fmt::format("no NVIDIA driver: nothing to run here ({})", driver.why_missing());
  int (*initialize)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  if (!driver.find(initialize, {"cuInit"}) || !driver.find(count, {"cuDeviceGetCount"})) {
    return failed + std::string("the CUDA driver cannot be used: libcuda.so.1 has no cuInit or no cuDeviceGetCount");
  }
  if (const int result = initialize(0); result != success) return answer_for(driver, "cuInit", result);
  int devices = 0;
  if (const int result = count(&devices); result != success) return answer_for(driver, "cuDeviceGetCount", result);
  if (devices == 0) return absent + std::string("no NVIDIA GPU was found: the CUDA driver has no device");
  return {present};
}

/// The Sanitizer library in a directory, or where it usually is. Error: std::runtime_error if there is none.
fs::path find_sanitizer(const std::string& folder) {
  std::error_code ignored;
  if (!folder.empty()) {
    if (fs::exists(fs::path(folder) / library, ignored)) return fs::canonical(fs::path(folder) / library);
    throw std::runtime_error(fmt::format("--sanitizer: there is no {} in {}", library, support::in_quotes(folder)));
  }
  for (const fs::path& place :
       usual_places({"compute-sanitizer", "extras/compute-sanitizer"}, {"cu13/compute-sanitizer"})) {
    if (fs::exists(place / library, ignored)) return fs::canonical(place / library);
  }
  throw std::runtime_error(fmt::format(
      "NVIDIA's {} is not installed: it comes with the CUDA Toolkit in compute-sanitizer/, or by pip install "
      "nvidia-cuda-sanitizer-api; --sanitizer names its directory",
      library));
}

/// CUPTI, for --time. Error: std::runtime_error if there is none.
fs::path find_cupti() {
  std::vector<fs::path> places;
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (!folder.empty()) places.emplace_back(folder);
    }
  }
  for (const fs::path& place : usual_places({"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib"},
                                            {"cu13/lib", "cuda_cupti/lib"})) {
    places.push_back(place);
  }
  places.emplace_back("/usr/lib/x86_64-linux-gnu");
  std::error_code ignored;
  for (const fs::path& place : places) {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
      if (fs::exists(place / name, ignored)) return fs::canonical(place / name);
    }
  }
  throw std::runtime_error(
      "--time needs NVIDIA's CUPTI, libcupti.so.13 or libcupti.so.12, which is not installed: it comes with the CUDA "
      "Toolkit, or by pip install nvidia-cuda-cupti; LD_LIBRARY_PATH names its directory");
}

/// A library for the CUDA driver to load into the program. Error: std::runtime_error if bankcheck has none.
fs::path find_injection(std::string_view name, std::string_view headers) {
  fs::path library_path = find_next_to_bankcheck(name);
  if (library_path.empty()) {
    throw std::runtime_error(
        fmt::format("there is no {} next to bankcheck: bankcheck was built without nvcc or without the headers of "
                    "NVIDIA's {}, please rebuild it with the CUDA Toolkit",
                    name, headers));
  }
  return library_path;
}

/// Returns if the CUDA driver (libcuda.so.1) has a device; CUDA_VISIBLE_DEVICES may hide all of them. A child process
/// asks, so this one keeps no CUDA state. Errors: CommandFailed with exit_nothing if the machine has no NVIDIA GPU or
/// driver; std::runtime_error if the driver fails in another way.
void check_gpu_present() {
  Pipe pipe;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("cannot ask for a GPU: fork: ") + std::strerror(errno));
  if (child == 0) {
    unsetenv("CUDA_INJECTION64_PATH");  // another tool around bankcheck may have set it: there is nothing to watch here
    _exit(support::write_all(pipe.in, ask_driver()) ? 0 : 1);
  }
  pipe.close_in();
  const std::string answer = pipe.read_to_end();
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty()) throw std::runtime_error("the CUDA driver cannot be used: it crashed when it was initialized");
  if (answer.front() == absent) throw CommandFailed(support::exit_nothing, answer.substr(1));
  if (answer.front() == failed) throw std::runtime_error(answer.substr(1));
}

// --- The run ---

/// The GPUs' own. Error: std::runtime_error for one that the bank model lacks.
std::vector<const banks::Architecture*> architectures_of(const std::vector<ProcessRecord>& records) {
  std::vector<const banks::Architecture*> architectures;
  for (const ProcessRecord& record : records) {
    for (const auto& [id, device] : record.devices) {
      const banks::Architecture* architecture = architecture_of(device);
      if (architecture == nullptr) {
        throw std::runtime_error(
            fmt::format("the bank model does not know the {} (compute capability {}.{}): please name the architecture "
                        "that comes nearest with --arch",
                        device.name, device.major, device.minor));
      }
      if (std::find(architectures.begin(), architectures.end(), architecture) == architectures.end())
        architectures.push_back(architecture);
    }
  }
  return architectures;
}

/// What the processes of a run have left in a folder, read by `read`.
template <class Read>
auto records_in(const fs::path& folder, const char* extension, Read read, std::vector<std::string>& errors) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<decltype(read(folder))> records;
  for (const fs::path& path : paths) {
    try {
      records.push_back(read(path));
    } catch (const std::runtime_error& error) {
      errors.emplace_back(error.what());
    }
  }
  return records;
}

/// The first failure that applies, in the order of causes.
std::optional<std::string> failure_of(const Ended& ended, const std::vector<ProcessRecord>& records,
                                      const trace::Trace& trace) {
  if (auto failure = driver::failure_of(ended)) {
    if (WIFEXITED(ended.status) && !ended.out_of_time && !trace.errors.empty()) {
      *failure += "; " + trace.errors.front();  // which may be why
    }
    return failure;
  }
  if (!trace.errors.empty()) return trace.errors.front();
  const std::string program = support::in_quotes(ended.program);
  if (records.empty()) return fmt::format("the program {} did not use CUDA, or cleared its environment", program);
  if (trace.kernels.empty()) return fmt::format("the program {} ran no kernel that was watched", program);
  return std::nullopt;
}

}  // namespace

void Recorder::declare(CLI::App& command) {
  command.footer(
      "The program and its arguments follow the options; -- may stand before them.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, or no layout that --measure could measure, 2 usage, 3 the "
      "program failed, or could not be watched, 77 there is no NVIDIA GPU, and the program was not run. With "
      "--max-conflicts or --baseline the exit code is otherwise 1 for every incomplete trace.\n"
      "Example: bankcheck cuda --arch sm_90 --max-conflicts 0 python3 train.py");
  command.get_option("--arch")->description("Architectures or GPUs, separated by commas (default: the GPU's)");
  command
      .add_option("--table", table_mebibytes_,
                  "MiB of device memory per CUDA context for the table of distinct accesses")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 16))
      ->type_name("MIB")
      ->capture_default_str();
  command.add_flag("--time", time_,
                   "Also run the program a second time, without watching it, for the times of its kernels; this run "
                   "reads nothing, and its output is not shown");
  command.add_option("--sanitizer", sanitizer_, "Directory of libsanitizer-public.so (default: the CUDA Toolkit's)")
      ->type_name("DIR");
  declare_measure(command, measure_);
  command
      .add_option(
          "--build", build_,
          "For --measure: the shell command that builds the program. It runs in copies of the work tree of git, "
          "or of the current directory")
      ->check(CLI::Validator(not_a_text, ""))
      ->type_name("COMMAND");
  command
      .add_option("--copy", copied_,
                  "For --measure: also copy this file or directory, which git ignores; may be repeated")
      ->check(CLI::Validator(not_a_text, ""))
      ->allow_extra_args(false)
      ->type_name("PATH");
}

std::optional<Outcome> Recorder::run(Reporting& reporting) {
  if (options.program.empty())
    throw support::UsageError("no program to check: give it after the options; see bankcheck cuda --help");
  check_program(options.program.front());
  if (measure_.measure && build_.empty()) {
    throw support::UsageError("--measure needs --build, the command that builds the program, for example --build make");
  }
  const bool names_library = !sanitizer_.empty();
  if (!names_library) check_gpu_present();  // without one, it does not matter what else is missing
  const fs::path injection = find_injection("bankcheck_cuda.so", "Compute Sanitizer");
  const fs::path sanitizer = find_sanitizer(sanitizer_);
  const Watching watching{.injection = injection,
                          .request = {.sanitizer = sanitizer,
                                      .kernels = std::exchange(options.report.kernels, {}),  // all of it is reported
                                      .max_launches = options.max_launches,
                                      .max_blocks = options.max_groups,
                                      .table_bytes = table_mebibytes_ << 20,
                                      .memory = options.memory},
                          .time_limit = options.time_limit};
  std::optional<Timer> timer;
  if (time_ || measure_.measure) timer = Timer{find_injection("bankcheck_cuda_time.so", "CUPTI"), find_cupti()};
  if (names_library) check_gpu_present();
  std::optional<SourceTree> tree;
  if (measure_.measure) tree = find_tree(".", copied_);
  options.report.fit.fit |= measure_.measure;

  const Place place{find_program(options.program.front()), options.program, ""};
  const TemporaryFolder folder;
  WatchedRun run = watch(watching, place, !reporting.quiet(), folder);
  if (reporting.architectures().empty()) reporting.report_on(architectures_of(run.records));
  MatchedTimes matched;
  if (time_ && !driver::failure_of(run.ended) && !run.records.empty()) {
    matched = time_kernels(*timer, place, options.time_limit, folder, run.records);
  }
  Outcome outcome = outcome_of(std::move(run), watching, reporting.architectures(), matched, folder);
  if (measure_.measure) {
    outcome.verify = [this, watching, timer, tree](Reporting& reported, const trace::Trace& trace) {
      return measure_copies(reported, trace, measure_, {*tree, build_, options.program, watching, *timer});
    };
  }
  return outcome;
}

WatchedRun watch(const Watching& watching, const Place& place, bool own_stdout, const TemporaryFolder& folder) {
  const KeptEnvironment kept;
  support::CudaRequest request = watching.request;
  request.folder = folder.path();
  setenv("CUDA_INJECTION64_PATH", watching.injection.c_str(), 1);
  write_request(request);
  WatchedRun run{.command = place.command};
  run.ended =
      start_and_wait(place.program, place.command,
                     {.own_stdout = own_stdout, .directory = place.directory, .time_limit = watching.time_limit});
  run.records = records_in(folder.path(), ".record", read_record, run.errors);
  return run;
}

Outcome outcome_of(WatchedRun run, const Watching& watching,
                   const std::vector<const banks::Architecture*>& architectures, const MatchedTimes& times,
                   const TemporaryFolder& folder) {
  Resolved resolved = resolve(run.records, architectures, times.times);
  Outcome outcome{.trace = std::move(resolved.trace)};
  outcome.trace.command = run.command;
  outcome.trace.errors.insert(outcome.trace.errors.end(), run.errors.begin(), run.errors.end());
  outcome.failure = failure_of(run.ended, run.records, outcome.trace);
  add_end(outcome, run.ended, folder, watching.injection.filename().string());
  outcome.remarks = std::move(resolved.remarks);
  outcome.remarks.insert(outcome.remarks.end(), times.remarks.begin(), times.remarks.end());
  // Not of processes without CUDA in the background, which many programs leave
  return outcome;
}

UnwatchedRun run_unwatched(const Timer& timer, const Place& place, Wait wait, const TemporaryFolder& folder) {
  const KeptEnvironment kept;
  setenv("CUDA_INJECTION64_PATH", timer.injection.c_str(), 1);
  write_request(support::CudaTimeRequest{.folder = folder.path(), .cupti = timer.cupti});
  wait.silent = true;
  wait.directory = place.directory;
  UnwatchedRun run;
  run.ended = start_and_wait(place.program, place.command, wait);
  run.processes = records_in(folder.path(), ".times", read_times, run.errors);
  return run;
}

MatchedTimes time_kernels(const Timer& timer, const Place& place, double time_limit, const TemporaryFolder& folder,
                          const std::vector<ProcessRecord>& records) {
  UnwatchedRun run =
      run_unwatched(timer, place,
                    {.time_limit = time_limit,
                     .hint = "the program is running for the second time, for --time; its output is not shown"},
                    folder);
  if (const auto failure = driver::failure_of(run.ended)) {
    return {{}, {fmt::format("no kernel has a time, since the second run failed: {}", *failure)}};
  }
  MatchedTimes matched = match(records, std::move(run.processes));
  matched.remarks.insert(matched.remarks.begin(), run.errors.begin(), run.errors.end());
  return matched;
}

}  // namespace bankwise::cuda
