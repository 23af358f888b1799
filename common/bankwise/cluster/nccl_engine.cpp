// Only NCCL's header is needed to build: the library is loaded when ranks need it.
#include <fmt/format.h>
#include <nccl.h>

#include <deque>

#include <bankwise/cluster/engine.hpp>
#include <bankwise/gpu/cuda_api.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/support/library.hpp>

namespace bankwise::cluster {
namespace {

// clang-format off
#define BANKWISE_NCCL_FUNCTIONS(X) \
  X(ncclGetVersion) X(ncclGetErrorString) X(ncclGetUniqueId) X(ncclCommInitRank) X(ncclCommAbort) \
  X(ncclCommGetAsyncError) X(ncclGroupStart) X(ncclGroupEnd) X(ncclAllReduce) X(ncclAllGather) X(ncclSend) X(ncclRecv)
// clang-format on

/// NCCL's functions, by their names.
struct Nccl {
#define BANKWISE_NCCL_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): a name
  BANKWISE_NCCL_FUNCTIONS(BANKWISE_NCCL_MEMBER)
#undef BANKWISE_NCCL_MEMBER
};

Nccl load() {
  const support::LoadedLibrary library{"libnccl.so.2"};
  if (!library) throw gpu::Unsupported("NCCL is missing: libnccl.so.2 (NVIDIA: libnccl2)");
  Nccl nccl;
#define BANKWISE_NCCL_FIND(name) \
  if (!library.find(nccl.name, {#name})) throw gpu::Unsupported("NCCL here has no " #name);
  BANKWISE_NCCL_FUNCTIONS(BANKWISE_NCCL_FIND)
#undef BANKWISE_NCCL_FIND
  return nccl;
}

const Nccl& nccl() {
  static const Nccl shared = load();
  return shared;
}

void check_nccl(ncclResult_t code, std::string_view call, gpu::CallSite where = gpu::CallSite::here()) {
  if (code != ncclSuccess) throw gpu::Error(call.substr(0, call.find('(')), nccl().ncclGetErrorString(code), where);
}
/// Throws gpu::Error unless the call succeeds. A macro because only a macro can quote the call.
#define BANKWISE_NCCL(call) check_nccl(nccl().call, #call)

/// A second stream, for exchanges that run at the same time as the session's stream.
class OverlappingStream {
 public:
  /// Enqueues after what `main` has so far.
  template <class Enqueue>
  void run(cudaStream_t main, const Enqueue& enqueue) {
    if (stream_ == nullptr) {
      int lowest = 0, highest = 0;
      BANKWISE_CUDA(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
      // The exchange's few blocks take precedence over the many blocks of a kernel that runs at the same time.
      stream_ = gpu::make_stream(highest);
    }
    const gpu::Event begin = recorded(main);
    BANKWISE_CUDA(cudaStreamWaitEvent(stream_.get(), begin.get()));
    enqueue(stream_.get());
    ends_.push_back(recorded(stream_.get()));
  }
  /// `main` waits for the end of the earliest run that no join() has waited for.
  void join(cudaStream_t main) {
    BANKWISE_CUDA(cudaStreamWaitEvent(main, ends_.at(0).get()));
    ends_.pop_front();
  }

 private:
  static gpu::Event recorded(cudaStream_t stream) {
    gpu::Event event = gpu::make_event(cudaEventDisableTiming);
    BANKWISE_CUDA(cudaEventRecord(event.get(), stream));
    return event;
  }

  gpu::Stream stream_;
  std::deque<gpu::Event> ends_;
};

class NcclEngine : public Engine {
 public:
  NcclEngine(gpu::Session& session, Communicator& ranks) : session_(session), ranks_(int(ranks.ranks())) {
    ncclUniqueId id{};
    if (ranks.rank() == 0) BANKWISE_NCCL(ncclGetUniqueId(&id));
    ranks.broadcast(std::as_writable_bytes(std::span(&id, 1)));
    const Deadline limit(ranks.name(), "ncclCommInitRank");
    gpu::cuda_enqueue(session, 0,
                      [&](void*) { BANKWISE_NCCL(ncclCommInitRank(&communicator_, ranks_, id, int(ranks.rank()))); });
  }
  /// Aborts, because after an error the other ranks would not take part in a regular end.
  ~NcclEngine() override { nccl().ncclCommAbort(communicator_); }

  std::string name() const override {
    int version = 0;
    BANKWISE_NCCL(ncclGetVersion(&version));
    return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }
  bool on_device() const override { return true; }

  void all_reduce(gpu::Buffer& words, std::uint64_t count) override {
    void* const at = gpu::cuda_address(words);
    enqueue([&](cudaStream_t stream) {
      BANKWISE_NCCL(ncclAllReduce(at, at, count, ncclUint32, ncclSum, communicator_, stream));
    });
  }

  void all_gather(const gpu::Buffer& from, gpu::Buffer& to, std::uint64_t count) override {
    enqueue([&](cudaStream_t stream) {
      BANKWISE_NCCL(
          ncclAllGather(gpu::cuda_address(from), gpu::cuda_address(to), count, ncclUint32, communicator_, stream));
    });
  }

  void all_to_all(const gpu::Buffer& from, std::span<const Piece> send, gpu::Buffer& to, std::span<const Piece> receive,
                  bool overlapped) override {
    const auto* const source = static_cast<const std::uint32_t*>(gpu::cuda_address(from));
    auto* const target = static_cast<std::uint32_t*>(gpu::cuda_address(to));
    const auto exchange = [&](cudaStream_t stream) {
      BANKWISE_NCCL(ncclGroupStart());
      for (int rank = 0; rank < ranks_; ++rank) {
        const Piece out = send[std::size_t(rank)], in = receive[std::size_t(rank)];
        if (out.words > 0) {
          BANKWISE_NCCL(ncclSend(source + out.first, out.words, ncclUint32, rank, communicator_, stream));
        }
        if (in.words > 0) {
          BANKWISE_NCCL(ncclRecv(target + in.first, in.words, ncclUint32, rank, communicator_, stream));
        }
      }
      BANKWISE_NCCL(ncclGroupEnd());
    };
    enqueue([&](cudaStream_t stream) { overlapped ? overlapping_.run(stream, exchange) : exchange(stream); });
  }

  void join() override {
    enqueue([&](cudaStream_t stream) { overlapping_.join(stream); });
  }

 private:
  /// Reports an error of an earlier, asynchronous exchange, too.
  template <class Exchange>
  void enqueue(const Exchange& exchange) {
    ncclResult_t earlier = ncclSuccess;
    BANKWISE_NCCL(ncclCommGetAsyncError(communicator_, &earlier));
    check_nccl(earlier, "an earlier exchange by NCCL");
    constexpr unsigned commands = 4;  // one kernel, and what NCCL enqueues around it
    gpu::cuda_enqueue(session_, commands, [&](void* stream) { exchange(static_cast<cudaStream_t>(stream)); });
  }

  gpu::Session& session_;
  int ranks_;
  ncclComm_t communicator_ = nullptr;
  OverlappingStream overlapping_;
};

}  // namespace

void require_nccl() { nccl(); }

std::unique_ptr<Engine> open_nccl(gpu::Session& session, Communicator& communicator) {
  return std::make_unique<NcclEngine>(session, communicator);
}

}  // namespace bankwise::cluster
