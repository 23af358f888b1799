#include "bankcheck/cuda/recorder.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <bankwise/support/append.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/library.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::cuda {
namespace {

namespace fs = std::filesystem;
using namespace driver;

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

std::string answer_for(const LoadedLibrary& driver, const char* call, int result) {
  int (*describe)(int, const char**) = nullptr;
  const char* text = nullptr;
  if (!driver.find(describe, {"cuGetErrorString"}) || describe(result, &text) != success || text == nullptr)
    text = "an unknown error";
  if (result == no_device || result == stub_library) return absent + std::string("no NVIDIA GPU was found: ") + text;
  return failed + std::string("the CUDA driver cannot be used: ") + call + " failed: " + text;
}

std::string ask_driver() {
  const LoadedLibrary driver{"libcuda.so.1"};
  if (!driver) return absent + std::string("no NVIDIA GPU was found: there is no driver: ") + driver.why_missing();
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

}  // namespace

fs::path find_sanitizer(const std::string& folder) {
  std::error_code ignored;
  if (!folder.empty()) {
    if (fs::exists(fs::path(folder) / library, ignored)) return fs::canonical(fs::path(folder) / library);
    throw std::runtime_error(fmt::format("--sanitizer: there is no {} in {}", library, in_quotes(folder)));
  }
  for (const fs::path& place : usual_places()) {
    if (fs::exists(place / library, ignored)) return fs::canonical(place / library);
  }
  throw std::runtime_error(fmt::format(
      "NVIDIA's {} is not installed: it comes with the CUDA Toolkit in compute-sanitizer/, or by pip install "
      "nvidia-cuda-sanitizer-api; --sanitizer names its directory",
      library));
}

fs::path find_injection() {
  fs::path library_path = find_next_to_bankcheck("bankcheck_cuda.so");
  if (library_path.empty()) {
    throw std::runtime_error(
        "there is no bankcheck_cuda.so next to bankcheck: bankcheck was built without nvcc or without the headers of "
        "NVIDIA's Compute Sanitizer, please rebuild it with the CUDA Toolkit");
  }
  return library_path;
}

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
  if (answer.front() == absent) throw CommandFailed(exit_nothing, answer.substr(1));
  if (answer.front() == failed) throw std::runtime_error(answer.substr(1));
}

}  // namespace bankwise::cuda
