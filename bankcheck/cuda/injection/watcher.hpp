// What the injection library knows of the process: its modules, kernels, launches, and a pair of pattern tables for
// each context.
//
// All functions may be called from any thread. No function of the Sanitizer library is called while `mutex_` is held:
// the library may call back with a lock of its context held, and then wait for this mutex, while such a call waits for
// that lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/support/watch_request.hpp>
#include "bankcheck/cuda/injection/idle_watch.hpp"
#include "bankcheck/cuda/injection/libraries.hpp"
#include "bankcheck/cuda/injection/pattern_table.hpp"
#include "bankcheck/cuda/injection/record_writer.hpp"
#include "bankcheck/cuda/injection/selection.hpp"

/// The compiled patch.cu for all architectures, as sanitizerAddPatches() takes it: patch_image.cpp.in.
extern "C" const char bankwise_patch_image[];

namespace bankwise::cuda {

static_assert(SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS == 3 && SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS == 4 &&
              SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS == 5 && SANITIZER_INSTRUCTION_MEMCPY_ASYNC == 14 &&
              SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS == 17 &&
              SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS == 19);  // as patch_points() has them

/// Whether a call of the library succeeded; otherwise the record has an error.
inline bool is_success(const SanitizerApi& api, RecordWriter& record, std::string_view call, SanitizerResult result) {
  if (result != SANITIZER_SUCCESS) record.error(failure(api, std::string(call), result));
  return result == SANITIZER_SUCCESS;
}

/// Inserts the device patch into the program's modules. It stays there: to take it out, the library waits for the GPU,
/// and a program whose stream waits for the launching thread would hang. All functions may be called from any thread.
/// Failures of the library go to the record.
class ModulePatcher {
 public:
  ModulePatcher(const SanitizerApi& api, RecordWriter& record, support::MemorySpaces memory)
      : api_(api), record_(record), points_(patch_points(memory)) {}

  /// Patches a module that has just been loaded.
  void insert(CUcontext context, CUmodule module) {
    const std::lock_guard library(library_mutex_);
    if (!contexts_.contains(context)) {
      const auto result = api_.add_patches(bankwise_patch_image, context);
      if (!is_success(api_, record_, "sanitizerAddPatches", result)) return;
      contexts_.insert(context);
    }
    for (const PatchPoint& point : points_) {
      const auto result = api_.patch_instructions(Sanitizer_InstructionId(point.instruction), module, point.function);
      if (point.required)
        is_success(api_, record_, "sanitizerPatchInstructions for " + std::string(point.what), result);
    }
    is_success(api_, record_, "sanitizerPatchModule", api_.patch_module(module));
  }

  void context_ends(CUcontext context) {
    const std::lock_guard library(library_mutex_);
    contexts_.erase(context);
  }

 private:
  const SanitizerApi& api_;
  RecordWriter& record_;
  const std::vector<PatchPoint> points_;
  std::mutex library_mutex_;      // the library wants calls that patch one at a time
  std::set<CUcontext> contexts_;  // that have the patches
};

struct ObservedLaunch {
  const Sanitizer_LaunchData& data;
  Sanitizer_StreamHandle stream;    ///< that orders the launch: of a graph, the stream of the graph's launch
  std::uint32_t dynamic_bytes = 0;  ///< dynamic shared memory; 0 for nodes of graphs, which do not tell
  bool counts = true;               ///< false: prepares a launch that will be reported again
  bool in_graph = false;            ///< the nodes of a graph may get each other's launch slots
};

class Watcher {
 public:
  Watcher(support::CudaRequest request, SanitizerApi api);

  RecordWriter& record() { return record_; }

  void module_loaded(const Sanitizer_ResourceModuleData& data);
  void module_unloads(CUmodule handle);
  void context_ends(CUcontext handle);
  void launch_begins(const ObservedLaunch& launch);
  /// Whatever the calling thread was launching has been handed over to the driver.
  void launch_ends();
  /// The calling thread has synchronized with a stream, or with the whole context.
  void synchronized(CUcontext handle, std::optional<Sanitizer_StreamHandle> stream);
  /// The process ends: records everything. Not in a callback.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  struct Module {
    std::uint32_t id = 0;
    std::uint64_t cubin_bytes = 0;
    bool patched = false, recorded = false;
  };
  struct Kernel {
    std::uint32_t id = 0;
    CUcontext context = nullptr;
    std::uint64_t pc = 0, bytes = 0;  // where its code is
    bool watched = false;
  };
  struct Shape {
    std::uint32_t number = 0, kernel = 0;
    LaunchDimensions shape;
    BlockSample sample;
    std::uint64_t watched_launches = 0, launches_to_record = 0, blocks_to_record = 0;
    bool recorded = false;
  };
  /// One of the two tables of a context. When the current one fills, new launches use the other, and this one is
  /// recorded and cleared as soon as the launches that use it have ended.
  struct Half {
    std::unique_ptr<PatternTable> table;
    IdleWatch<Sanitizer_StreamHandle> watch;
    Clock::time_point used_since;
    bool retired = false, draining = false, failed = false;
  };
  struct Context {
    CUcontext handle = nullptr;
    Sanitizer_StreamHandle default_stream = nullptr;
    enum class Tables { none, preparing, ready, failed } state = Tables::none;
    Half halves[2];
    unsigned current = 0;
  };
  using ContextPointer = std::shared_ptr<Context>;

  ContextPointer context_of(CUcontext handle);
  Kernel kernel_of(const Sanitizer_LaunchData& data);
  Kernel add_kernel(const Sanitizer_LaunchData& data, std::uint64_t pc, std::uint64_t bytes);
  bool prepare_tables(Context& context, Sanitizer_StreamHandle stream);
  Shape& shape_of(const Kernel& kernel, const LaunchDimensions& launch);
  void count_launch(Shape& shape, std::uint64_t blocks);
  void retire_if_due(Context& context, Clock::duration after);
  Half& half_for_launch(Context& context);
  const Kernel* kernel_of(const PatternEntry& entry, CUcontext context) const;
  void record_contents(const TableContents& contents, CUcontext context);
  void record_launches();
  void drain(const Context& context, Half& half, Sanitizer_StreamHandle stream);
  void drain_at_end(Context& context);

  const support::CudaRequest request_;
  const SanitizerApi api_;
  const KernelFilter filter_;
  RecordWriter record_;
  ModulePatcher patcher_;

  std::mutex mutex_;                 // guards all that follows
  std::condition_variable changed_;  // a context or a half
  std::map<CUcontext, ContextPointer> contexts_;
  std::map<CUmodule, Module> modules_;
  std::map<std::pair<CUmodule, CUfunction>, Kernel> kernels_;
  std::map<std::uint32_t, Kernel> watched_kernels_;  // by id; those of modules that are gone, too
  std::map<std::pair<std::uint32_t, LaunchDimensions>, Shape> shapes_;
  std::set<int> devices_;
  std::uint32_t next_module_ = 0, next_kernel_ = 0;
  Clock::time_point launches_recorded_;
  Clock::duration drain_time_{};  // that the last one took
  bool finished_ = false;
};

}  // namespace bankwise::cuda
