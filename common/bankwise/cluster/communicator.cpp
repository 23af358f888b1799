// What needs no MPI; and stand-ins for what this build lacks, MPI, NCCL or CUDA: the first function to need it throws.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <bankwise/cluster/engine.hpp>
#include <bankwise/support/exit_code.hpp>

namespace bankwise::cluster {

bool started_by_launcher() {
  // Set by Open MPI; by MPICH, Intel MPI and srun --mpi=pmi2; by PRRTE and srun --mpi=pmix.
  constexpr const char* variables[]{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  return std::ranges::any_of(variables, [](const char* name) { return std::getenv(name) != nullptr; });
}

void agree(Communicator& communicator, const std::function<void()>& step) {
  std::string reason;
  try {
    step();
  } catch (const gpu::Unsupported& why) {
    reason = why.what();
  }
  const std::vector<std::string> reasons = communicator.gather(reason);
  for (std::size_t rank = 0; rank < reasons.size(); ++rank) {
    if (!reasons[rank].empty()) throw Refused(fmt::format("rank {}: {}", rank, reasons[rank]));
  }
}

struct TimedWait {
  std::string sentence;
  std::optional<std::chrono::steady_clock::time_point> end;  // empty: the process waits for nothing
};

namespace {

using Clock = std::chrono::steady_clock;

/// One thread for all deadlines: most waits last microseconds, and starting a thread takes longer.
class Watchdog {
 public:
  Watchdog() : limit_s_(deadline_s()), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  /// Returns the wait that the new one interrupts.
  TimedWait begin(std::string sentence) {
    const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s_));
    return replace({std::move(sentence), Clock::now() + limit});
  }
  TimedWait replace(TimedWait wait) {
    const std::lock_guard lock(mutex_);
    changed_.notify_one();
    return std::exchange(wait_, std::move(wait));
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (!wait_.end) {
        changed_.wait(lock, stop, [&] { return wait_.end.has_value(); });
        continue;
      }
      const Clock::time_point until = *wait_.end;
      changed_.wait_until(lock, stop, until, [&] { return wait_.end != until; });
      if (wait_.end != until || Clock::now() < until) continue;
      std::fputs(fmt::format("{} after {} s; another rank has failed or is too slow (BANKWISE_DEADLINE_S)\n",
                             wait_.sentence, limit_s_)
                     .c_str(),
                 stderr);
      _exit(support::exit_device);
    }
  }

  const double limit_s_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  TimedWait wait_;
  std::jthread thread_;  // last: it uses the members above
};

Watchdog& watchdog() {
  static Watchdog shared;
  return shared;
}

}  // namespace

double deadline_s() {
  const char* const text = std::getenv("BANKWISE_DEADLINE_S");
  if (text == nullptr) return 120;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != 0 || !std::isfinite(seconds) || seconds <= 0 || seconds > 1e6) {
    throw support::UsageError(fmt::format("BANKWISE_DEADLINE_S is '{}', not a number of seconds", text));
  }
  return seconds;
}

Deadline::Deadline(const std::string& who, const std::string& operation)
    : interrupted_(
          std::make_unique<TimedWait>(watchdog().begin(fmt::format("{}: gave up waiting in {}", who, operation)))) {}

Deadline::~Deadline() { watchdog().replace(std::move(*interrupted_)); }

#if !BANKWISE_HAVE_MPI
Communicator::Communicator(const std::string& program) : name_(program) {
  throw gpu::Unsupported(
      "a launcher such as mpirun started this program, but this build has no MPI; install MPI (Debian: openmpi-bin "
      "libopenmpi-dev) and configure again");
}
Communicator::~Communicator() = default;

std::string Communicator::version() { return "no MPI"; }
void Communicator::barrier() {}
double Communicator::max(double value) { return value; }
std::vector<std::uint32_t> Communicator::sum(std::span<const std::uint32_t>) { return {}; }
std::vector<std::uint32_t> Communicator::sum_of_lower(std::span<const std::uint32_t>) { return {}; }
std::vector<std::string> Communicator::gather(const std::string&) { return {}; }
void Communicator::broadcast(std::span<std::byte>) {}
std::vector<std::byte> Communicator::gather(std::span<const std::byte>) { return {}; }
void Communicator::all_to_all(std::span<const std::uint32_t>, std::span<const Piece>, std::span<std::uint32_t>,
                              std::span<const Piece>) {}
void Communicator::end(int code) { std::_Exit(code); }
#endif

#if !BANKWISE_HAVE_NCCL
void require_nccl() { throw gpu::Unsupported("this build has no NCCL (NVIDIA: libnccl-dev)"); }

std::unique_ptr<Engine> open_nccl(gpu::Session&, Communicator&) {
  require_nccl();
  return nullptr;
}
#endif

#if !BANKWISE_HAVE_CUDA
std::unique_ptr<Peers> share_with_peers(gpu::Session&, Communicator&, gpu::Buffer&) {
  throw Refused("only CUDA devices access each other's memory, and this build has no CUDA");
}
#endif

}  // namespace bankwise::cluster
