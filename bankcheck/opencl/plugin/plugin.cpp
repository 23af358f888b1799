// The Oclgrind plugin of `bankcheck opencl`: follows the work-items of every kernel, and appends their accesses to
// local and global memory to the trace that bankcheck reads (docs/trace_format.md).
//
// Oclgrind loads the plugin into each context and may call it from several threads; each work-group runs on one thread.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bankwise/support/progress.hpp>
#include <bankwise/support/watch_request.hpp>
#include <bankwise/trace/codec.hpp>
#include "bankcheck/opencl/plugin/group_recorder.hpp"
#include "bankcheck/opencl/plugin/launch_log.hpp"
#include "bankcheck/opencl/plugin/llvm_code.hpp"
#include "oclgrind/Context.h"
#include "oclgrind/Kernel.h"
#include "oclgrind/KernelInvocation.h"
#include "oclgrind/Memory.h"
#include "oclgrind/Plugin.h"
#include "oclgrind/Program.h"
#include "oclgrind/WorkGroup.h"
#include "oclgrind/WorkItem.h"

namespace bankwise::opencl {
namespace {

// --- What bankcheck asks of the plugin, and the files that it reads during the run and after it ---

const support::OpenclRequest& request() {
  static const auto& read = *new auto(support::read_request<support::OpenclRequest>());  // never destroyed, as writer()
  return read;
}

void append_to_record(const std::string& lines) { append_to(request().record.c_str(), lines); }

/// Adds an event (launch_log.hpp) to the launch log.
void note(const std::string& event, const std::string& text = "") {
  append_to(request().launches.c_str(), event + ' ' + std::to_string(getpid()) + ' ' + text + '\n');
}

/// The writer of this process. A forked process gets its own writer.
trace::TraceWriter& writer() {
  static std::mutex mutex;
  static pid_t process = 0;
  static trace::TraceWriter* writer = nullptr;  // never destroyed: a program may run kernels after our destructors
  const std::lock_guard lock(mutex);
  if (writer == nullptr || process != getpid()) {
    process = getpid();
    writer = new trace::TraceWriter(std::uint64_t(process));
    append_to_record(trace::process_line(std::uint64_t(process)));
  }
  return *writer;
}

std::string unfinished_path() {
  const std::string& path = request().unfinished;
  return path.empty() ? "" : path + '.' + std::to_string(getpid());
}

/// Replaces what is saved of the launch that has not ended.
void save_unfinished(const trace::KernelTrace& launch, const std::string& source) {
  const std::string path = unfinished_path(), incomplete = path + ".new";
  if (path.empty()) return;
  const auto process = std::uint64_t(getpid());
  const std::string lines = trace::process_line(process) + trace::TraceWriter(process).lines_of(launch, source);
  std::remove(incomplete.c_str());
  append_to(incomplete.c_str(), lines);
  std::rename(incomplete.c_str(), path.c_str());
}

// --- What is recorded ---

trace::Bound bound() {
  trace::Bound bound;
  for (const std::string& name : request().architectures) {
    if (const auto* architecture = banks::find_architecture(name)) bound.architectures.push_back(architecture);
  }
  bound.global_bytes = std::size_t{1} << 19;  // a gather has as many patterns as accesses: 1,000 show what it is
  if (const char* bytes = std::getenv(support::pattern_bytes_variable)) {
    bound.bytes = std::strtoull(bytes, nullptr, 10);
    bound.global_bytes = bound.bytes;
  }
  return bound;
}

std::array<std::uint64_t, 3> array_of(::oclgrind::Size3 size) { return {size.x, size.y, size.z}; }

/// The position of a lane in the kernel.
struct WorkItemLane {
  LanePath path;
  std::size_t calls = 0;  ///< depth of the lane's call stack
  bool jumped = false;    ///< since its path was last updated
};

using Clock = std::chrono::steady_clock;

/// How long a launch takes before its state is saved for the first time.
constexpr Clock::duration first_save = std::chrono::milliseconds(200);

/// A thread's state for the launch, and for the work-group that it runs.
struct Worker {
  GroupRecorder recorder;
  bool watches = false;         ///< records the work-group
  Clock::time_point next_save;  ///< when to save what is recorded of an unfinished launch
  trace::KernelTrace saved;     ///< what this thread recorded until it was last saved
  LlvmCode code;
  std::vector<WorkItemLane> lanes;
  std::vector<std::pair<std::size_t, std::uint32_t>> buffers;  ///< for each array: Oclgrind's, and its index
  ::oclgrind::Size3 size;
  const ::oclgrind::WorkItem* last_item = nullptr;
  unsigned last_lane = 0;

  unsigned lane_of(const ::oclgrind::WorkItem* item) {
    if (item != last_item) {
      const auto id = item->getLocalID();
      last_item = item;
      last_lane = unsigned(id.x + size.x * (id.y + size.y * id.z));
    }
    return last_lane;
  }
};

/// Counts launches: a thread's worker is valid for the launch of the same number.
std::atomic<std::uint64_t> launch_number = 0;
thread_local std::uint64_t launch_of_worker = 0;
thread_local Worker* worker_of_thread = nullptr;

Worker* current_worker() { return launch_of_worker == launch_number ? worker_of_thread : nullptr; }

/// Held while a kernel runs. Oclgrind counts work-groups in a variable that all contexts share, so kernels that run
/// simultaneously in two threads would take work-groups from each other.
std::mutex kernel_mutex;

class BankPlugin : public ::oclgrind::Plugin {
 public:
  explicit BankPlugin(const ::oclgrind::Context* context) : Plugin(context), bound_(bound()) {
    writer();  // records that there is a context
  }

  void kernelBegin(const ::oclgrind::KernelInvocation* invocation) override {
    {
      const CompilerGuard guard;
      kernel_mutex.lock();
      put_variables_into_registers(*invocation->getKernel());
    }
    kernel_ = invocation->getKernel();
    note(event::begin, kernel_->getName());
    const trace::LaunchShape shape{array_of(invocation->getGlobalSize()), array_of(invocation->getLocalSize()), 1};
    static auto& launches = *new WatchedLaunches(request());  // guarded by kernel_mutex
    watches_ = launches.next(kernel_->getName(), shape.threads, shape.block);
    groups_ = trace::blocks_of(shape);
    done_ = 0;
    locals_ = local_values(*kernel_);
    head_ = {.kernel = kernel_->getName(),
             .options = kernel_->getProgram()->getBuildOptions(),
             .warp = banks::max_lanes,
             .splits = true,
             .knows_code = llvm_c::available(),
             .shapes = {shape},
             .watches_shared = request().memory.shared,
             .watches_global = request().memory.global};
    touched_.emplace();
    ++launch_number;
    if (support::RunProgress* const now = support::progress_of_environment())
      support::begin_launch(*now, head_.kernel, groups_);
  }

  void kernelEnd(const ::oclgrind::KernelInvocation*) override {
    const trace::KernelTrace launch = launch_of([](Worker& worker) { return worker.recorder.take(); });
    workers_.clear();
    ++launch_number;
    append_to_record(writer().lines_of(launch, kernel_->getProgram()->getSource()));
    if (done_ < groups_) {
      note(event::cut,
           std::to_string(done_) + " of the " + std::to_string(groups_) + " work-groups of " + kernel_->getName());
    }
    note(event::end);
    std::remove(unfinished_path().c_str());  // the record has the launch
    kernel_mutex.unlock();
  }

  void workGroupBegin(const ::oclgrind::WorkGroup* group) override {
    if (current_worker() == nullptr) {
      const std::lock_guard lock(mutex_);
      workers_.push_back(std::make_unique<Worker>(Worker{.recorder = GroupRecorder(bound_, &*touched_)}));
      worker_of_thread = workers_.back().get();
      worker_of_thread->next_save = Clock::now() + first_save;
      launch_of_worker = launch_number;
    }
    Worker& worker = *worker_of_thread;
    worker.watches = watches_ && trace::is_sampled(group->getGroupIndex(), groups_, request().max_groups);
    if (!worker.watches) return;
    worker.size = group->getGroupSize();
    worker.last_item = nullptr;
    worker.lanes.assign(worker.size.x * worker.size.y * worker.size.z, {});
    worker.buffers.clear();
    std::vector<LocalArray> arrays;
    std::uint32_t begin = 0;
    for (const LocalValue& local : locals_) {
      std::size_t address = 0;
      try {
        address = group->getLocalMemoryAddress(local.value);
      } catch (const std::out_of_range&) {
        continue;  // not in local memory
      }
      worker.buffers.emplace_back(group->getLocalMemory()->extractBuffer(address), std::uint32_t(arrays.size()));
      arrays.push_back({local.name, begin, std::uint32_t(local.bytes), local.lengths});
      begin += std::uint32_t((local.bytes + array_stride - 1) / array_stride) * array_stride;
    }
    worker.recorder.begin(group->getGroupIndex(), arrays);
  }

  void workGroupBarrier(const ::oclgrind::WorkGroup*, std::uint32_t) override {
    Worker& worker = *current_worker();
    if (!worker.watches) return;
    worker.recorder.barrier();
    save_if_due(worker);
  }

  void workGroupComplete(const ::oclgrind::WorkGroup*) override {
    Worker& worker = *current_worker();
    const std::uint64_t done = ++done_;
    if (support::RunProgress* const now = support::progress_of_environment()) now->done = done;
    if (!worker.watches) return;
    worker.recorder.end();
    save_if_due(worker);
  }

  void instructionExecuted(const ::oclgrind::WorkItem* item, const llvm::Instruction* instruction,
                           const ::oclgrind::TypedValue&) override {
    Worker& worker = *worker_of_thread;
    if (!worker.watches) return;
    const auto step = LlvmCode::step(instruction);
    if (step == LlvmCode::Step::straight) return;
    WorkItemLane& lane = worker.lanes[worker.lane_of(item)];
    if (lane.jumped) lane.path.enter_block(worker.code.block(LLVMGetInstructionParent(instruction)));
    lane.jumped = step == LlvmCode::Step::jump;
    if (lane.jumped) return;
    const std::size_t calls = item->getCallStack().size();
    if (calls > lane.calls) lane.path.enter_call(instruction);
    if (calls < lane.calls) lane.path.leave_call();
    lane.calls = calls;
  }

  void memoryLoad(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem* item, std::size_t address,
                  std::size_t size) override {
    access(memory, item, banks::Operation::load, address, size);
  }

  void memoryStore(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem* item, std::size_t address,
                   std::size_t size, const std::uint8_t*) override {
    access(memory, item, banks::Operation::store, address, size);
  }

  /// Counts each atomic once, by its load: the store of a compare-and-swap may not happen.
  void memoryAtomicLoad(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem* item, ::oclgrind::AtomicOp op,
                        std::size_t address, std::size_t size) override {
    const bool swaps = op == ::oclgrind::AtomicCmpXchg,
               adds = op == ::oclgrind::AtomicInc || op == ::oclgrind::AtomicAdd,  // access() checks whether 1
        is_loop = size == 8 && op != ::oclgrind::AtomicXchg;
    const auto other = adds || is_loop ? banks::Operation::atomic_inc : banks::Operation::atomic;
    access(memory, item, swaps ? banks::Operation::atomic_cas : other, address, size);
  }

  void memoryAtomicStore(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem*, ::oclgrind::AtomicOp,
                         std::size_t address, std::size_t size) override {
    if (watches(memory) == Space::global) worker_of_thread->recorder.touch(address, size, true);
  }

  void memoryLoad(const ::oclgrind::Memory* memory, const ::oclgrind::WorkGroup*, std::size_t address,
                  std::size_t size) override {
    copied(memory, address, size, false);
  }

  void memoryStore(const ::oclgrind::Memory* memory, const ::oclgrind::WorkGroup*, std::size_t address,
                   std::size_t size, const std::uint8_t*) override {
    copied(memory, address, size, true);
  }

  void log(::oclgrind::MessageType type, const char* message) override {
    static std::atomic<unsigned> told = 0;
    if (type == ::oclgrind::ERROR && told++ < trace::max_errors) append_to_record(trace::error_line(message));
  }

 private:
  /// A launch may be ended by a signal or a time limit. Saving takes at most a twentieth of the time.
  void save_if_due(Worker& worker) {
    const auto begin = Clock::now();
    if (begin < worker.next_save) return;
    const std::lock_guard lock(mutex_);
    worker.saved = worker.recorder.so_far();
    save_unfinished(launch_of([](Worker& of_launch) { return of_launch.saved; }), kernel_->getProgram()->getSource());
    const auto end = Clock::now();
    worker.next_save = end + std::max<Clock::duration>(first_save, 20 * (end - begin));
  }

  enum class Space { none, local, global };
  /// Where an access of this thread is recorded, if at all.
  Space watches(const ::oclgrind::Memory* memory) const {
    const unsigned space = memory->getAddressSpace();
    if (space == ::oclgrind::AddrSpacePrivate) return Space::none;
    const bool is_local = space == ::oclgrind::AddrSpaceLocal;
    if (!(is_local ? head_.watches_shared : head_.watches_global) || !worker_of_thread->watches) return Space::none;
    return is_local ? Space::local : Space::global;
  }

  void access(const ::oclgrind::Memory* memory, const ::oclgrind::WorkItem* item, banks::Operation operation,
              std::size_t address, std::size_t size) {
    const Space space = watches(memory);
    if (space == Space::none) return;
    Worker& worker = *worker_of_thread;
    const Instruction& instruction = worker.code.instruction(item->getCurrentInstruction(), operation);
    if (space == Space::global && !instruction.is_global) return;
    const unsigned number = worker.lane_of(item);
    WorkItemLane& lane = worker.lanes[number];
    if (std::exchange(lane.jumped, false)) lane.path.enter_block(worker.code.block(item->getCurrentBlock()));
    if (space == Space::global) {
      if (!memory->isAddressValid(address, size)) return;  // Oclgrind's own check reports it
      const bool is_atomic = operation != banks::Operation::load && operation != banks::Operation::store;
      if (is_atomic) operation = banks::Operation::atomic;
      worker.recorder.access(number, lane.path, {&instruction, operation, unsigned(size), LaneAccess::global, address});
      return;
    }
    const std::size_t buffer = memory->extractBuffer(address);
    const auto array = std::find_if(worker.buffers.begin(), worker.buffers.end(),
                                    [&](const auto& known) { return known.first == buffer; });
    if (array == worker.buffers.end()) return;  // out of bounds: Oclgrind's own check reports it
    if (operation == banks::Operation::atomic_inc && size != 8 && !instruction.adds_one_only)
      operation = banks::Operation::atomic;
    worker.recorder.access(
        number, lane.path,
        {&instruction, operation, unsigned(size), array->second, std::uint32_t(memory->extractOffset(address))});
  }

  void copied(const ::oclgrind::Memory* memory, std::size_t address, std::size_t size, bool is_store) {
    Worker* worker = current_worker();
    const Space space = worker == nullptr ? Space::none : watches(memory);
    if (space == Space::local) worker->recorder.copied(size);
    if (space == Space::global) worker->recorder.touch(address, size, is_store);
  }

  /// The current launch; `part(worker)` is what a worker recorded of it.
  template <class Part>
  trace::KernelTrace launch_of(Part part) const {
    trace::KernelTrace head = head_;
    const auto shapes = std::exchange(head.shapes, {});  // added at the end, because the launch is not complete before
    trace::Builder launch(std::move(head), bound_);
    for (const auto& worker : workers_) launch.add(part(*worker));
    const auto [read, written] = touched_->counts();
    launch.trace().sectors_read = read, launch.trace().sectors_written = written;
    for (const trace::LaunchShape& shape : shapes) launch.add(shape);
    return launch.take();
  }

  trace::Bound bound_;
  bool watches_ = false;                              ///< records the current launch
  std::atomic<std::uint64_t> groups_ = 0, done_ = 0;  ///< in the current launch
  const ::oclgrind::Kernel* kernel_ = nullptr;
  std::vector<LocalValue> locals_;
  trace::KernelTrace head_;                ///< the current launch without the accesses of its work-groups
  std::optional<TouchedSectors> touched_;  ///< by the current launch
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;  ///< for the current launch
};

/// A context that is never released keeps its plugin to the end; all records are written by then. The map is never
/// destroyed, because a program may release a context after our destructors ran, in a destructor of a global variable.
std::mutex plugins_mutex;
auto& plugins = *new std::map<const ::oclgrind::Context*, std::unique_ptr<BankPlugin>>;

}  // namespace
}  // namespace bankwise::opencl

extern "C" {

__attribute__((visibility("default"))) void initializePlugins(::oclgrind::Context* context) {
  using namespace bankwise::opencl;
  set_llvm_options(__builtin_return_address(0));
  const std::lock_guard lock(plugins_mutex);
  auto& plugin = plugins[context] = std::make_unique<BankPlugin>(context);
  context->registerPlugin(plugin.get());
}

__attribute__((visibility("default"))) void releasePlugins(::oclgrind::Context* context) {
  using namespace bankwise::opencl;
  const std::lock_guard lock(plugins_mutex);
  context->unregisterPlugin(plugins.at(context).get());
  plugins.erase(context);
}
}
