#include "bankcheck/cuda/recorder.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <bankwise/support/append.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/library.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/support/watch_request.hpp>
#include "bankcheck/cuda/record.hpp"

namespace bankwise::cuda {
namespace {

namespace fs = std::filesystem;
using namespace driver;

// --- What is needed, asked for before a program is started that would only fail ---

constexpr std::string_view library = "libsanitizer-public.so";

/// Directories where the CUDA Toolkit and NVIDIA's Python package put the Sanitizer library.
std::vector<fs::path> usual_places() {
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
  std::vector<fs::path> places;
  for (const fs::path& toolkit : toolkits) {
    places.push_back(toolkit / "compute-sanitizer");
    places.push_back(toolkit / "extras/compute-sanitizer");
  }
  std::error_code ignored;
  for (const char* root : {"/usr/local/lib", "/usr/lib", "/usr/lib/python3/dist-packages"}) {  // pip's nvidia/cu13
    for (fs::directory_iterator entry(root, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
      for (const char* packages : {"dist-packages", "site-packages"}) {
        places.push_back(entry->path() / packages / "nvidia/cu13/compute-sanitizer");
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
  for (const fs::path& place : usual_places()) {
    if (fs::exists(place / library, ignored)) return fs::canonical(place / library);
  }
  throw std::runtime_error(fmt::format(
      "NVIDIA's {} is not installed: it comes with the CUDA Toolkit in compute-sanitizer/, or by pip install "
      "nvidia-cuda-sanitizer-api; --sanitizer names its directory",
      library));
}

/// The library for the CUDA driver to load into the program. Error: std::runtime_error if bankcheck has none.
fs::path find_injection() {
  fs::path library_path = find_next_to_bankcheck("bankcheck_cuda.so");
  if (library_path.empty()) {
    throw std::runtime_error(
        "there is no bankcheck_cuda.so next to bankcheck: bankcheck was built without nvcc or without the headers of "
        "NVIDIA's Compute Sanitizer, please rebuild it with the CUDA Toolkit");
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

std::vector<ProcessRecord> records_in(const fs::path& folder, std::vector<std::string>& errors) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".record") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ProcessRecord> records;
  for (const fs::path& path : paths) {
    try {
      records.push_back(read_record(path));
    } catch (const std::runtime_error& error) {
      errors.emplace_back(error.what());
    }
  }
  return records;
}

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
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage, 3 the program failed, or could not be "
      "watched, 77 there is no NVIDIA GPU, and the program was not run. With --max-conflicts or --baseline the exit "
      "code is 1 for every "
      "incomplete trace.\n"
      "Example: bankcheck cuda --arch sm_90 --max-conflicts 0 python3 train.py");
  command.get_option("--arch")->description("Architectures or GPUs, separated by commas (default: the GPU's)");
  command
      .add_option("--table", table_mebibytes_,
                  "MiB of device memory per CUDA context for the table of distinct accesses")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 16))
      ->type_name("MIB")
      ->capture_default_str();
  command.add_option("--sanitizer", sanitizer_, "Directory of libsanitizer-public.so (default: the CUDA Toolkit's)")
      ->type_name("DIR");
}

std::optional<Outcome> Recorder::run(Reporting& reporting) {
  if (options.program.empty())
    throw support::UsageError("no program to check: give it after the options; see bankcheck cuda --help");
  check_program(options.program.front());
  const bool names_library = !sanitizer_.empty();
  if (!names_library) check_gpu_present();  // without one, it does not matter what else is missing
  const fs::path injection = find_injection(), sanitizer = find_sanitizer(sanitizer_);
  if (names_library) check_gpu_present();
  const TemporaryFolder folder;
  setenv("CUDA_INJECTION64_PATH", injection.c_str(), 1);
  write_request(support::CudaRequest{
      .folder = folder.path(),
      .sanitizer = sanitizer,
      .kernels = std::exchange(options.report.kernels, {}),  // globs of what is watched; all of it is reported
      .max_launches = options.max_launches,
      .max_blocks = options.max_groups,
      .table_bytes = table_mebibytes_ << 20,
      .memory = options.memory});
  const Ended ended = start_and_wait(find_program(options.program.front()), options.program,
                                     {.own_stdout = !reporting.quiet(), .time_limit = options.time_limit});

  std::vector<std::string> errors;
  const std::vector<ProcessRecord> records = records_in(folder.path(), errors);
  if (reporting.architectures().empty()) reporting.report_on(architectures_of(records));
  Resolved resolved = resolve(records, reporting.architectures());
  Outcome outcome{.trace = std::move(resolved.trace),
                  .left_out = {std::move(resolved.left_out), std::move(resolved.left_out_kinds)}};
  outcome.trace.command = options.program;
  outcome.trace.errors.insert(outcome.trace.errors.end(), errors.begin(), errors.end());
  outcome.failure = failure_of(ended, records, outcome.trace);
  add_end(outcome, ended, folder, injection.filename().string());
  outcome.remarks.clear();  // many programs leave some process without CUDA in the background
  return outcome;
}

}  // namespace bankwise::cuda
