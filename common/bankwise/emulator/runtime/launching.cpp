#include <bankwise/emulator/runtime/launching.hpp>

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include <bankwise/emulator/core/emulate.hpp>
#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/core/program_symbols.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/captures.hpp>
#include <bankwise/emulator/runtime/messages.hpp>
#include <bankwise/emulator/runtime/repeats.hpp>
#include <bankwise/emulator/runtime/skipped.hpp>
#include <bankwise/support/progress.hpp>

namespace bankwise::emulator::runtime {
namespace {

/// At most `limit` blocks of a grid, spread over it; all if it is 0.
std::vector<std::uint64_t> sample(std::uint64_t blocks, std::uint64_t limit) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    if (trace::is_sampled(block, blocks, limit)) chosen.push_back(block);
  }
  return chosen;
}

/// Recorded patterns of global memory, of each launch: enough for regular accesses. Launches that gather at random have
/// new ones each time, and a trace should stay small.
constexpr std::size_t max_global_patterns = 1024;

/// With --fatal the first fault ends the program.
constexpr int exit_of_fatal = 1;

/// What a launch returns on a GPU. An access to device memory that does not exist is an error, but does not end the
/// launch here.
cudaError_t error_in(const trace::KernelTrace& trace) {
  const auto bad = std::find_if(trace.diagnoses.begin(), trace.diagnoses.end(), [](const auto& diagnosis) {
    return diagnosis.ended || diagnosis.fault == Fault::invalid_address;
  });
  if (bad == trace.diagnoses.end()) return cudaSuccess;
  switch (bad->fault) {
    case Fault::out_of_bounds:
    case Fault::invalid_address: return cudaErrorIllegalAddress;
    case Fault::misaligned: return cudaErrorMisalignedAddress;
    case Fault::trap: return cudaErrorAssert;
    case Fault::step_limit: return cudaErrorLaunchTimeout;
    default: return cudaErrorLaunchFailure;
  }
}

/// Names of kernels. They are known when a kernel has run once; empty before.
std::string name_of(const void* kernel, const std::string& learned = {}) {
  static std::mutex mutex;
  static auto* const names = new std::map<const void*, std::string>;
  const std::lock_guard lock(mutex);
  std::string& name = (*names)[kernel];
  if (name.empty()) name = learned;
  return name;
}

/// Whether the launches of a kernel are to be recorded. The first is, because its name is not yet known.
bool is_selected(const std::string& name) {
  const auto matches = [&](const std::string& glob) { return fnmatch(glob.c_str(), name.c_str(), 0) == 0; };
  const std::vector<std::string>& globs = settings().kernels;
  return name.empty() || globs.empty() || std::any_of(globs.begin(), globs.end(), matches);
}

/// Whether a launch of this kernel and shape is still to be recorded.
bool within_limit(const void* kernel, const Configuration& configuration) {
  if (settings().max_launches == 0) return true;
  static std::mutex mutex;
  static std::map<std::vector<std::uint64_t>, std::uint64_t> launches;
  const std::lock_guard lock(mutex);
  const Dim3 &g = configuration.grid, &b = configuration.block;
  const std::vector<std::uint64_t> key{
      std::uint64_t(reinterpret_cast<std::uintptr_t>(kernel)), g.x, g.y, g.z, b.x, b.y, b.z};
  return launches[key]++ < settings().max_launches;
}

// A signal that would end the program ends its launch first, so that what was recorded of it is reported.
std::atomic<bool> stopping{false};
std::atomic<int> signal_that_stops{0}, launches_running{0};

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct RunningLaunch {
  RunningLaunch() { ++launches_running; }
  RunningLaunch(const RunningLaunch&) = delete;
  ~RunningLaunch() {
    --launches_running;
    if (stopping) end_by(signal_that_stops);
  }
};

/// For the signals that end a program and that it does not handle itself.
void catch_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
      const auto stop = [](int number) {
        if (launches_running == 0 || stopping) return end_by(number);
        signal_that_stops = number;
        stopping = true;
      };
      if (const auto before = std::signal(signal, stop); before != SIG_DFL) std::signal(signal, before);
    }
  });
}

struct LaterLaunch {
  Configuration configuration;
  void (*call)(const void*);
  std::shared_ptr<const void> bound;
};
std::mutex later_mutex;
std::deque<LaterLaunch> later;

std::shared_ptr<const void> copy_of(const LaneCode& code, const void* bound) {
  return {code.copy(bound), code.destroy};
}

std::optional<std::string> bytes_of(const Arguments& arguments) {
  return arguments.bytes == nullptr ? std::nullopt : std::optional(std::string(arguments.bytes, arguments.count));
}

/// Reports, once for each kernel, that nothing of it was recorded because its code does not call the emulator.
void check_instrumentation(const trace::KernelTrace& trace, bool has_dynamic_array, const void* caller) {
  static std::mutex mutex;
  static std::set<std::string> checked;
  const std::lock_guard lock(mutex);
  if (!checked.insert(trace.kernel).second) return;
  if (!hides_accesses(trace.kernel, has_dynamic_array)) return;
  report(fmt::format("nothing of the kernel {} is recorded, because it was compiled without the emulator's "
                     "instrumentation",
                     trace.kernel),
         caller);
}

/// Shared memory is not to be watched. The emulator records it all the same, because its cost is small.
void drop_shared(trace::KernelTrace& trace) {
  trace.watches_shared = false;
  trace.arrays.clear();
  trace.patterns.clear();
  trace.merged.reset();
  trace.participants.clear();
  trace.excess.clear();
  trace.excess_accesses = 0;
}

/// Whether the program has the waves of the architecture that it runs on; if not, it has been reported.
bool has_its_waves(const void* caller) {
  const unsigned wave = wave_of_program();
  if (wave == 0 || settings().architecture.empty() || settings().warp == wave) return true;
  report(fmt::format("this program is built for waves of {} lanes, and {} has {}; name the --arch that it is built for",
                     wave, settings().architecture, settings().warp),
         caller);
  return false;
}

constexpr std::size_t shared_without_attribute = std::size_t{48} << 10;  // of NVIDIA's GPUs
std::atomic<std::size_t> shared_by_attribute{0};                         // of any kernel

/// Whether a kernel may have so much dynamic shared memory; if not, it has been reported.
bool has_asked_for(std::size_t shared, const void* caller) {
  if (wave_of_program() != 0 || shared <= shared_without_attribute || shared <= shared_by_attribute) return true;
  report(fmt::format("a launch fails: {} bytes of dynamic shared memory are more than {}, and cudaFuncSetAttribute() "
                     "was not called for so many with cudaFuncAttributeMaxDynamicSharedMemorySize",
                     shared, shared_without_attribute),
         caller);
  return false;
}

/// How the settings say to launch, without recording anything.
emulator::Launch launch_of(const Configuration& configuration) {
  const unsigned wave = wave_of_program();
  emulator::Launch how{.grid = configuration.grid,
                       .block = configuration.block,
                       .dynamic_shared = configuration.shared,
                       .warp = wave != 0 ? wave : settings().warp,
                       .trace_blocks = {},
                       .run_traced_only = settings().only_watched,
                       .returned_lanes_arrive = settings().returned_lanes_arrive,
                       // HIP had no __syncwarp() until ROCm 7.
                       .warp_synchronous = settings().warp_synchronous || wave != 0,
                       .cooperative = configuration.cooperative,
                       .fatal = settings().fatal,
                       .stop = &stopping,
                       .names_flags = true,
                       .allow = settings().allow};
  if (!settings().architecture.empty()) how.sectors_of = settings().architecture;
  if (settings().step_limit > 0) how.step_limit = settings().step_limit;
  // Watching takes four times the memory.
  if (const MemorySizes sizes = memory_sizes(); sizes.used > sizes.host / 8) how.allow.push_back(Fault::global_race);
  return how;
}

/// Sets what is recorded. Returns whether anything is.
bool watch(emulator::Launch& how, const void* kernel, const std::string& name, const Configuration& configuration) {
  bool watched = !settings().record.empty() && is_selected(name) && within_limit(kernel, configuration);
  watched |= how.run_traced_only && name.empty();  // a launch can be left out once its kernel's name is known
  if (watched) how.trace_blocks = sample(how.grid.count(), settings().max_blocks);
  if (watched && settings().memory.global) how.global_patterns = max_global_patterns;
  if (how.run_traced_only && !watched) how.cooperative = false;  // whose blocks all run
  return watched;
}

cudaError_t launch_one(const Configuration& configuration, void (*call)(const void*), const Arguments& arguments,
                       const void* caller) {
  if (lasting_error() != cudaSuccess) {
    static std::once_flag said;
    std::call_once(said, [&] {
      report("this launch and those after it did not run, as on a GPU: an earlier one left an error that lasts",
             caller);
    });
    return lasting_error();
  }
  if (!has_its_waves(caller)) return failed(cudaErrorNoKernelImageForDevice, true);
  if (!has_asked_for(configuration.shared, caller)) return failed(cudaErrorInvalidValue);
  // The kernel's address, or that of the code that calls it.
  const void* const kernel = arguments.kernel != nullptr ? arguments.kernel : reinterpret_cast<const void*>(call);
  const std::string name = arguments.varies ? "" : name_of(kernel);
  emulator::Launch how = launch_of(configuration);
  const bool watched = watch(how, kernel, name, configuration), skipped = how.run_traced_only && !watched;
  const bool only_traced = how.run_traced_only && !how.cooperative;
  const std::uint64_t blocks = only_traced ? how.trace_blocks.size() : how.grid.count();
  const std::optional<std::string> bytes = bytes_of(arguments);
  Repeat repeat(kernel, configuration, bytes ? &*bytes : nullptr);
  try {
    if (const trace::KernelTrace* known = repeat.known(watched)) {
      record(*known);
      note_results(known->kernel);
      return cudaSuccess;
    }
    if (support::RunProgress* const progress = support::progress_of_environment()) {
      support::begin_launch(*progress, name.empty() ? place_of(caller) : name, blocks);
      how.blocks_done = &progress->done;
    }
    if (!settings().record.empty()) catch_signals();
    std::optional<RunningLaunch> running(std::in_place);
    begin_skipping();
    trace::KernelTrace trace = run(how, {call, arguments.bound, nullptr});
    const bool is_instrumented = !trace.patterns.empty() || trace.excess_accesses > 0 || !trace.global_patterns.empty();
    if (!settings().memory.shared) drop_shared(trace);
    if (skipped) trace.kernel = name;
    record(trace);
    note_skipped(kernel, trace.kernel, blocks, how.grid.count(), bytes ? &*bytes : nullptr);
    running.reset();
    name_of(kernel, trace.kernel);
    if (const cudaError_t error = error_in(trace); error != cudaSuccess) return failed(error, true);
    if (watched && !is_instrumented) check_instrumentation(trace, how.dynamic_shared > 0, caller);
    repeat.ran(trace);
    note_results(trace.kernel);
    return cudaSuccess;
  } catch (const Diagnosis& diagnosis) {
    report(diagnosis.what());
    std::fflush(nullptr);
    std::_Exit(exit_of_fatal);
  } catch (const std::exception& error) {
    report(fmt::format("a launch fails: {}", error.what()), caller);
    const bool invalid = dynamic_cast<const std::invalid_argument*>(&error) != nullptr;
    return failed(invalid ? cudaErrorInvalidConfiguration : cudaErrorLaunchOutOfResources);
  }
}

/// Runs a launch, and those that its kernel makes.
cudaError_t launch_all(const Configuration& configuration, void (*call)(const void*), const Arguments& arguments,
                       const void* caller) {
  cudaError_t error = launch_one(configuration, call, arguments, caller);
  for (;;) {
    std::unique_lock lock(later_mutex);
    if (later.empty()) return error;
    const LaterLaunch next = later.front();
    later.pop_front();
    lock.unlock();
    if (error == cudaSuccess) error = launch_one(next.configuration, next.call, {next.bound.get()}, nullptr);
  }
}

/// Keeps a launch for a graph, with copies of its arguments.
cudaError_t keep_launch(const Configuration& configuration, const LaneCode& code, const Arguments& arguments,
                        const void* caller) {
  if (configuration.refers) {
    report("a graph cannot keep this launch, because an expression tells its kernel; store the kernel in a variable",
           caller);
    return refuse_while_capturing(configuration.stream);
  }
  return keep(configuration.stream, cudaGraphNodeTypeKernel,
              [=, bound = copy_of(code, arguments.bound), bytes = bytes_of(arguments)] {
                Arguments kept = arguments;
                kept.bound = bound.get();
                kept.bytes = bytes ? bytes->data() : nullptr;
                return launch_all(configuration, code.call, kept, caller);
              });
}

}  // namespace

bool in_kernel() { return on_lane(); }

std::size_t identity_of(const void* object, std::size_t bytes) {
  std::size_t identity = 0;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(object) + at, std::min(sizeof word, bytes - at));
    // One number, or two of 32 bits; no data of a process lies at such addresses.
    const bool small = word >> 32 < 1 << 12 && std::uint32_t(word) < 1 << 16;
    if (!small && !is_code_of_program(reinterpret_cast<const void*>(word))) return 0;
    identity = (identity ^ word) * 0x9E3779B97F4A7C15;
  }
  return identity | 1;
}

void launch_later(const Configuration& configuration, const LaneCode& code, const void* arguments) {
  stay_in_order();
  global_memory.leave();
  LaterLaunch kept{configuration, code.call, copy_of(code, arguments)};
  const std::lock_guard lock(later_mutex);
  later.push_back(std::move(kept));
}

cudaError_t launch(const Configuration& configuration, const LaneCode& code, const Arguments& arguments) {
  const void* const caller = __builtin_return_address(0);
  if (is_capturing(configuration.stream)) return keep_launch(configuration, code, arguments, caller);
  return launch_all(configuration, code.call, arguments, caller);
}

cudaError_t set_attribute(cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return failed(cudaSuccess);
  if (value < 0 || value > int(this_gpu().multiprocessor.per_block)) return failed(cudaErrorInvalidValue);
  std::size_t known = shared_by_attribute;
  while (std::size_t(value) > known && !shared_by_attribute.compare_exchange_weak(known, std::size_t(value))) {
  }
  return failed(cudaSuccess);
}

cudaError_t get_attributes(cudaFuncAttributes* attributes) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = this_gpu().major * 10 + this_gpu().minor;
  attributes->maxDynamicSharedSizeBytes = int(this_gpu().multiprocessor.per_block);
  return cudaSuccess;
}

int resident_blocks(int block, size_t shared) {
  const banks::Multiprocessor& multiprocessor = this_gpu().multiprocessor;
  if (block <= 0) return 0;
  const int blocks = int(multiprocessor.blocks.value_or(0));
  const int by_threads = int(multiprocessor.threads.value_or(0)) / ((block + 31) / 32 * 32);
  const std::size_t bytes = shared + multiprocessor.reserved;
  const int by_shared = bytes == 0 ? blocks : int(multiprocessor.shared / bytes);
  return std::min({by_threads, by_shared, blocks});
}

int blocks_on_device(int block, size_t shared) { return this_gpu().multiprocessors * resident_blocks(block, shared); }

}  // namespace bankwise::emulator::runtime
