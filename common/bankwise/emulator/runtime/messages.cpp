#include <bankwise/emulator/runtime/messages.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/core/program_symbols.hpp>
#include <bankwise/emulator/runtime/launching.hpp>
#include <bankwise/support/append.hpp>
#include <bankwise/support/watched_exec.hpp>
#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/trace.hpp>

// hip/program.hpp has it.
extern "C" __attribute__((weak)) const char bankwise_gpu[];

namespace bankwise::emulator::runtime {
namespace {

/// Appends to the file that bankcheck reads after the run. What it has stays if the program dies.
class LaunchRecord {
 public:
  explicit LaunchRecord(const std::string& path)
      : path_(path), file_(path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) {}

  void add(const trace::KernelTrace& launch) {
    const std::lock_guard lock(mutex_);
    if (begin()) append(writer_->lines_of(launch, ""));
  }
  void add_error(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    if (begin() && errors_++ < trace::max_errors) append(trace::error_line(sentence));
  }

 private:
  /// A forked process has its own definitions.
  bool begin() {
    if (file_ < 0) return false;
    if (const pid_t process = getpid(); process != process_) {
      process_ = process;
      writer_.emplace(std::uint64_t(process));
      append(trace::process_line(std::uint64_t(process)));
    }
    return true;
  }
  void append(std::string_view lines) { support::write_or_note(file_, path_.c_str(), lines); }

  std::string path_;
  int file_;
  pid_t process_ = 0;
  std::optional<trace::TraceWriter> writer_;
  unsigned errors_ = 0;
  std::mutex mutex_;
};

LaunchRecord& the_record() {
  // Never destroyed: programs launch kernels from destructors of their static objects.
  static auto* const record = new LaunchRecord(settings().record);
  return *record;
}

std::atomic<cudaError_t> last_error{cudaSuccess}, sticky_error{cudaSuccess};

struct ErrorRow {
  cudaError_t error;
  const char *name, *text;
};
constexpr ErrorRow error_rows[]{{cudaSuccess, "cudaSuccess", "no error"},
#define BANKWISE_ROW(name, number, text) {cudaError##name, "cudaError" #name, text},
                                BANKWISE_CUDA_ERRORS(BANKWISE_ROW)
#undef BANKWISE_ROW
};

ErrorRow row_of(cudaError_t error) {
  for (const ErrorRow& row : error_rows) {
    if (row.error == error) return row;
  }
  return {error, "unrecognized error code", "unrecognized error code"};
}

/// A kernel that prints must run each time that it is launched (repeats.hpp).
void note_printing() {
  stay_in_order();
  if (on_lane()) global_memory.leave();
}

}  // namespace

const EmulateSettings& settings() {
  static const auto* const requested = [] {
    auto* const read = new EmulateSettings{support::read_request<support::EmulateRequest>(), {}};
    for (const std::string& id : read->EmulateRequest::allow) {
      if (const auto fault = trace::fault_named(id)) read->allow.push_back(*fault);
    }
    return read;
  }();
  return *requested;
}

namespace {

/// What a program of HIP may ask for; the sizes that no source gives remain those of the GPU of NVIDIA.
void be_of_amd(banks::GpuModel& model, const banks::Architecture& architecture) {
  model.name = architecture.name;
  // gfx942: 9.4; gfx90a: 9.0; gfx1100: 11.0
  const std::string number(architecture.name.substr(std::min<std::size_t>(3, architecture.name.size())));
  if (number.size() >= 3) {
    model.major = std::atoi(number.substr(0, number.size() - 2).c_str());
    model.minor = number[number.size() - 2] - '0';
  }
  model.multiprocessor.reserved = 0;
  model.multiprocessor.per_block = model.multiprocessor.shared = 64 << 10;
  if (const auto& unit = architecture.multiprocessor.fact) {
    model.multiprocessor.per_block = unit->per_block;
    model.multiprocessor.shared = unit->shared;
  }
}

}  // namespace

unsigned wave_of_program() {
  static const banks::Architecture* const built_for =
      bankwise_gpu != nullptr ? banks::find_architecture(bankwise_gpu) : nullptr;
  return built_for != nullptr ? built_for->warp : 0;
}

std::string in_words_of_program(std::string sentence) {
  if (wave_of_program() == 0) return sentence;
  constexpr std::string_view cuda = "cuda";
  for (auto at = sentence.find(cuda); at != std::string::npos; at = sentence.find(cuda, at + 1)) {
    const bool is_name = at + cuda.size() < sentence.size() && std::isupper(sentence[at + cuda.size()]) != 0;
    if (is_name) sentence.replace(at, cuda.size(), "hip");
  }
  return sentence;
}

const banks::GpuModel& this_gpu() {
  static const banks::GpuModel gpu = [] {
    std::string name = settings().architecture;
    if (name.empty()) name = bankwise_gpu != nullptr ? bankwise_gpu : "sm_90";
    const banks::Architecture* row = banks::find_architecture(name);
    const banks::Architecture* const chosen = row;
    if (row == nullptr || !row->models.fact) row = banks::find_architecture("sm_90");
    banks::GpuModel model = row->models.fact->front();
    if (wave_of_program() != 0 && chosen != nullptr) be_of_amd(model, *chosen);
    // As many threads as the emulator holds of a cooperative launch (Launch::cooperative): 16384.
    if (few_multiprocessors) model.multiprocessors = 8;
    return model;
  }();
  return gpu;
}

void record(const trace::KernelTrace& launch) {
  if (!settings().record.empty()) {
    the_record().add(launch);
    return;
  }
  for (const trace::DiagnosisRecord& diagnosis : launch.diagnoses) {
    std::fputs(fmt::format("{}\n", trace::placed_sentence_of(diagnosis, launch)).c_str(), stderr);
  }
}

std::string place_of(const void* caller) {
  if (caller == nullptr) return "?";
  const trace::Site site = site_of(std::uintptr_t(caller) - 1);
  if (site.line == 0) return "?";
  // As the report has it: relative to the folder that the program was started in.
  static const std::filesystem::path folder = std::filesystem::current_path();
  const std::filesystem::path file = std::filesystem::path(site.file).lexically_proximate(folder);
  return fmt::format("{}:{}", *file.begin() == ".." ? site.file : file.string(), site.line);
}

void report(const std::string& sentence, const void* caller) {
  const std::string words = in_words_of_program(sentence);
  const std::string whole = caller == nullptr ? words : fmt::format("{}: {}", place_of(caller), words);
  std::fflush(stdout);
  std::fputs(fmt::format("bankcheck: {}\n", whole).c_str(), stderr);
  the_record().add_error(whole);
}

cudaError_t failed(cudaError_t error, bool sticky) {
  if (error != cudaSuccess) last_error = error;
  if (sticky) sticky_error = error;
  return error;
}

cudaError_t lasting_error() { return sticky_error; }

}  // namespace bankwise::emulator::runtime

using namespace bankwise::emulator::runtime;

cudaError_t cudaGetLastError() {
  if (sticky_error != cudaSuccess) return sticky_error;
  return last_error.exchange(cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return sticky_error != cudaSuccess ? sticky_error.load() : last_error.load(); }

const char* cudaGetErrorName(cudaError_t error) {
  const char* const name = row_of(error).name;
  if (wave_of_program() == 0) return name;
  static std::map<std::string_view, std::string> names;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return names.try_emplace(name, in_words_of_program(name)).first->second.c_str();
}
const char* cudaGetErrorString(cudaError_t error) { return row_of(error).text; }

// --- Printing and memory ---

// The linker replaces these functions of C in programs (--wrap).
extern "C" {

int __real_puts(const char* text);
int __real_putchar(int c);
int __real_vprintf(const char* format, va_list arguments);

int __wrap_puts(const char* text) {
  note_printing();
  return __real_puts(text);
}
int __wrap_putchar(int c) {
  note_printing();
  return __real_putchar(c);
}
int __wrap_vprintf(const char* format, va_list arguments) {
  note_printing();
  return __real_vprintf(format, arguments);
}
int __wrap_printf(const char* format, ...) {
  note_printing();
  va_list arguments;
  va_start(arguments, format);
  const int printed = __real_vprintf(format, arguments);
  va_end(arguments);
  return printed;
}

// A lane that runs ahead of its warp may have to go back, and would free the memory again. `delete` has four functions.
[[maybe_unused]] const bool are_wrapped = bankwise::emulator::lanes_may_run_ahead = true;
#define BANKWISE_FREE(name, parameters, ...) \
  void __real_##name parameters;             \
  void __wrap_##name parameters {            \
    bankwise::emulator::stay_in_order();     \
    __real_##name(__VA_ARGS__);              \
  }
BANKWISE_FREE(free, (void* memory), memory)
BANKWISE_FREE(_ZdlPv, (void* memory), memory)
BANKWISE_FREE(_ZdaPv, (void* memory), memory)
BANKWISE_FREE(_ZdlPvm, (void* memory, std::size_t bytes), memory, bytes)
BANKWISE_FREE(_ZdaPvm, (void* memory, std::size_t bytes), memory, bytes)
#undef BANKWISE_FREE

// They store a result through a pointer, perhaps to device memory.
#define BANKWISE_STORE(to, value) \
  bankwise::emulator::before_store(to, sizeof value, __builtin_return_address(0)), *to = value
#define BANKWISE_PART(Type, name, Stored)          \
  Type __real_##name(Type x, Stored* part);        \
  Type __wrap_##name(Type x, Stored* part) {       \
    Stored stored;                                 \
    const Type result = __real_##name(x, &stored); \
    BANKWISE_STORE(part, stored);                  \
    return result;                                 \
  }
#define BANKWISE_STORING(Type, suffix)                           \
  BANKWISE_PART(Type, modf##suffix, Type)                        \
  BANKWISE_PART(Type, frexp##suffix, int)                        \
  Type __real_remquo##suffix(Type x, Type y, int* quotient);     \
  Type __wrap_remquo##suffix(Type x, Type y, int* quotient) {    \
    int stored;                                                  \
    const Type result = __real_remquo##suffix(x, y, &stored);    \
    BANKWISE_STORE(quotient, stored);                            \
    return result;                                               \
  }                                                              \
  void __real_sincos##suffix(Type x, Type* sine, Type* cosine);  \
  void __wrap_sincos##suffix(Type x, Type* sine, Type* cosine) { \
    Type s, c;                                                   \
    __real_sincos##suffix(x, &s, &c);                            \
    BANKWISE_STORE(sine, s);                                     \
    BANKWISE_STORE(cosine, c);                                   \
  }
BANKWISE_STORING(double, )
BANKWISE_STORING(float, f)
#undef BANKWISE_STORING
#undef BANKWISE_PART
#undef BANKWISE_STORE

}  // extern "C"
