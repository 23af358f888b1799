#include <bankwise/emulator/core/emulate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/core/faults.hpp>
#include <bankwise/emulator/core/program_symbols.hpp>
#include <bankwise/emulator/core/recorder.hpp>
#include <bankwise/emulator/core/stacks.hpp>

namespace bankwise::emulator {
namespace {

constexpr std::uint64_t max_threads = 1024;            // the limit of a block, as CUDA has it
constexpr std::size_t max_dynamic_shared = 227 << 10;  // the limit of compute capability 9.0
constexpr unsigned max_workers = 16;                   // each has a stack for every lane
constexpr std::uint64_t max_resident = 16 << 10;       // lanes of a cooperative launch: stacks in memory

/// Error: std::invalid_argument unless it is valid.
template <class... Arguments>
void require(bool is_valid, fmt::string_view text, const Arguments&... arguments) {
  if (!is_valid) throw std::invalid_argument(fmt::vformat(text, fmt::make_format_args(arguments...)));
}

void check(const Launch& launch) {
  const Dim3 &grid = launch.grid, &block = launch.block;
  for (const auto& [size, name] : {std::pair(grid, "grid"), {block, "block"}}) {
    require(size.x != 0 && size.y != 0 && size.z != 0, "a {} of {} x {} x {} has nothing to run", name, size.x, size.y,
            size.z);
  }
  require(grid.x <= 0x7FFFFFFF && grid.y <= 0xFFFF && grid.z <= 0xFFFF,
          "a grid of {} x {} x {} is too large; CUDA has at most 2147483647 x 65535 x 65535 blocks", grid.x, grid.y,
          grid.z);
  require(block.z <= 64, "a block is {} threads deep; CUDA has at most 64 in z", block.z);
  const std::uint64_t blocks = grid.count(), threads = block.count();
  require(threads <= max_threads, "a block of {} threads is too large; CUDA has at most {}", threads, max_threads);
  require(launch.warp > 0 && launch.warp <= banks::max_lanes, "a warp has 1 to {} lanes, not {}", banks::max_lanes,
          launch.warp);
  require(launch.dynamic_shared <= max_dynamic_shared,
          "{} bytes of dynamic shared memory are too many; no block has more than {}", launch.dynamic_shared,
          max_dynamic_shared);
  require(!launch.cooperative || blocks * threads <= max_resident,
          "a cooperative launch of {} blocks of {} threads is too large: at most {} threads run at a time", blocks,
          threads, max_resident);
  for (const std::uint64_t number : launch.trace_blocks) {
    require(number < blocks, "block {} cannot be traced: the grid has {}", number, blocks);
  }
}

/// A launch, and the host threads that run it.
class LaunchRun {
 public:
  LaunchRun(const Launch& launch, const BoundKernel& kernel)
      : launch_(launch), kernel_(kernel), traced_(launch.trace_blocks) {
    std::sort(traced_.begin(), traced_.end());
    traced_.erase(std::unique(traced_.begin(), traced_.end()), traced_.end());
    if (launch.run_traced_only && !launch.cooperative) blocks_ = traced_.size();
  }

  /// An address in the kernel; 0 if nothing ran.
  std::uintptr_t in_kernel() const { return in_kernel_; }

  trace::KernelTrace operator()() {
    const unsigned wanted = launch_.threads != 0 ? launch_.threads : std::max(1U, std::thread::hardware_concurrency());
    const auto workers =
        unsigned(launch_.cooperative ? blocks_ : std::min<std::uint64_t>({wanted, blocks_, max_workers}));
    if (workers > 0) {
      const auto stacks = pool_.borrow(lanes_);
      const FaultGuard guard;
      std::vector<std::jthread> others;
      std::jthread first;
      if (launch_.cooperative) {
        for (unsigned i = 1; i < workers; ++i) others.emplace_back([this] { help(); });
      } else if (workers > 1) {
        first = std::jthread([&](const std::stop_token& done) { help_later(workers - 2, others, done); });
      }
      work(*stacks);
    }
    if (failure_) std::rethrow_exception(failure_);
    return recording_.finish();
  }

 private:
  /// Begins other threads and helps, unless the launch is done soon: a thread's preparations cost as much as a few
  /// blocks, and programs make thousands of short launches.
  void help_later(unsigned count, std::vector<std::jthread>& others, const std::stop_token& done) {
    constexpr std::chrono::microseconds soon{100};
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, done, soon, [] { return false; });
    if (done.stop_requested()) return;
    try {
      for (unsigned i = 0; i < count; ++i) others.emplace_back([this] { help(); });
    } catch (const std::system_error&) {  // no more threads: these run all blocks
    }
    help();
  }

  /// For threads other than the launching one; without stacks it leaves all blocks to the others.
  void help() noexcept {
    if (next_ >= blocks_) return;
    const auto stacks = launch_.cooperative ? pool_.borrow(lanes_) : pool_.borrow_if_available(lanes_);
    if (stacks) work(*stacks);
  }

  /// Runs blocks in their order until none is left, or one has failed.
  void work(const Stacks& stacks) noexcept {
    std::uint64_t i = 0;
    try {
      const SignalStack signal_stack;
      BlockRunner runner(launch_, kernel_, stacks, launch_.cooperative ? &grid_ : nullptr, epoch_);
      BlockSeries series(launch_, recording_);
      while ((i = next_++) < blocks_ && i < failed_) {
        const std::uint64_t block = launch_.run_traced_only && !launch_.cooperative ? traced_[i] : i;
        const bool traced = std::binary_search(traced_.begin(), traced_.end(), block);
        if (traced) series.begin(block);
        bool ended = false, abandoned = false;
        try {
          runner.run(block, traced ? &series : nullptr);
        } catch (const LaunchEnded&) {
          ended = true;  // a fault that is not fatal ends the launch
        } catch (const Abandoned&) {
          abandoned = true;  // it waits for a block that has ended
        }
        if (traced && (ended || abandoned)) series.abandon();
        in_kernel_ = runner.in_kernel();
        if (launch_.blocks_done != nullptr) ++*launch_.blocks_done;
        if (ended) fail(i, nullptr);
        if (launch_.cooperative) grid_.leave(ended || abandoned);
        if (ended || launch_.cooperative) break;  // a thread of a cooperative launch has one block
      }
      series.end();
      recording_.take(runner.faults());
      recording_.take(runner.global_patterns());
    } catch (...) {
      if (launch_.cooperative) grid_.leave(true);
      fail(i, std::current_exception());
    }
  }

  /// After several failures, the first block's counts, as with one thread.
  void fail(std::uint64_t i, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (i >= failed_) return;
    failed_ = i;
    failure_ = std::move(failure);
  }

  const Launch& launch_;
  const BoundKernel& kernel_;
  const unsigned lanes_ = unsigned(launch_.block.count());  // the lanes of a block
  const unsigned epoch_ = GlobalRaces::new_epoch();
  StackPool& pool_ = StackPool::of_process();
  std::vector<std::uint64_t> traced_;
  Recording recording_{launch_};
  std::uint64_t blocks_ = launch_.grid.count();  // that run
  GridBarrier grid_{launch_.grid.count()};
  std::atomic<std::uint64_t> next_{0}, failed_{~std::uint64_t{0}};
  std::atomic<std::uintptr_t> in_kernel_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

trace::KernelTrace run(const Launch& launch, const BoundKernel& kernel) {
  check(launch);
  if (BlockRunner::current != nullptr) throw std::invalid_argument("a kernel cannot be emulated from within a kernel");
  LaunchRun run(launch, kernel);
  trace::KernelTrace trace = run();
  trace.kernel = launch.source_lines ? function_at(run.in_kernel()) : "?";
  return trace;
}

std::optional<trace::DiagnosisRecord> ended_by(const trace::KernelTrace& trace) {
  const auto ended = std::ranges::find(trace.diagnoses, true, &trace::DiagnosisRecord::ended);
  return ended == trace.diagnoses.end() ? std::nullopt : std::optional(*ended);
}

}  // namespace bankwise::emulator
