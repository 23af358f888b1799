// SPDX-License-Identifier: MIT
//
// Only NCCL's header is needed to build: the library is loaded when ranks need it.
#include <fmt/format.h>
#include <nccl.h>

#include <deque>

#include <bankwise/cluster/deadline.hpp>
#include <bankwise/cluster/engine.hpp>
#include <bankwise/gpu/cuda_api.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/support/library.hpp>

namespace bankwise::cluster {
namespace {

/// NCCL's functions, by their names without "nccl".
// NOLINTBEGIN(readability-identifier-naming): NCCL's names
struct Nccl {
  decltype(&ncclGetVersion) GetVersion;
  decltype(&ncclGetErrorString) GetErrorString;
  decltype(&ncclGetUniqueId) GetUniqueId;
  decltype(&ncclCommInitRank) CommInitRank;
  decltype(&ncclCommAbort) CommAbort;
  decltype(&ncclCommGetAsyncError) CommGetAsyncError;
  decltype(&ncclGroupStart) GroupStart;
  decltype(&ncclGroupEnd) GroupEnd;
  decltype(&ncclAllReduce) AllReduce;
  decltype(&ncclAllGather) AllGather;
  decltype(&ncclSend) Send;
  decltype(&ncclRecv) Recv;
};
// NOLINTEND(readability-identifier-naming)

Nccl load() {
  const LoadedLibrary library{"libnccl.so.2"};
  if (!library) throw gpu::Unsupported("NCCL is missing: libnccl.so.2 (NVIDIA: libnccl2)");
  const auto find = [&](auto& function, const char* name) {
    if (!library.find(function, {name})) throw gpu::Unsupported(fmt::format("NCCL here has no {}", name));
  };
  Nccl nccl{};
  find(nccl.GetVersion, "ncclGetVersion");
  find(nccl.GetErrorString, "ncclGetErrorString");
  find(nccl.GetUniqueId, "ncclGetUniqueId");
  find(nccl.CommInitRank, "ncclCommInitRank");
  find(nccl.CommAbort, "ncclCommAbort");
  find(nccl.CommGetAsyncError, "ncclCommGetAsyncError");
  find(nccl.GroupStart, "ncclGroupStart");
  find(nccl.GroupEnd, "ncclGroupEnd");
  find(nccl.AllReduce, "ncclAllReduce");
  find(nccl.AllGather, "ncclAllGather");
  find(nccl.Send, "ncclSend");
  find(nccl.Recv, "ncclRecv");
  return nccl;
}

const Nccl& nccl() {
  static const Nccl shared = load();
  return shared;
}

void check_nccl(ncclResult_t code, std::string_view call, gpu::CallSite where = gpu::CallSite::here()) {
  if (code != ncclSuccess) throw gpu::Error(call, nccl().GetErrorString(code), where);
}

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
    if (ranks.rank() == 0) check_nccl(nccl().GetUniqueId(&id), "ncclGetUniqueId");
    ranks.broadcast(std::as_writable_bytes(std::span(&id, 1)));
    const Deadline limit(ranks.name(), "ncclCommInitRank");
    gpu::cuda_enqueue(session, 0, [&](void*) {
      check_nccl(nccl().CommInitRank(&communicator_, ranks_, id, int(ranks.rank())), "ncclCommInitRank");
    });
  }
  /// Aborts, because after an error the other ranks would not take part in a regular end.
  ~NcclEngine() override { nccl().CommAbort(communicator_); }

  std::string name() const override {
    int version = 0;
    check_nccl(nccl().GetVersion(&version), "ncclGetVersion");
    return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }
  bool on_device() const override { return true; }

  void all_reduce(gpu::Buffer& words, std::uint64_t count) override {
    void* const at = gpu::cuda_address(words);
    enqueue([&](cudaStream_t stream) {
      check_nccl(nccl().AllReduce(at, at, count, ncclUint32, ncclSum, communicator_, stream), "ncclAllReduce");
    });
  }

  void all_gather(const gpu::Buffer& from, gpu::Buffer& to, std::uint64_t count) override {
    enqueue([&](cudaStream_t stream) {
      check_nccl(
          nccl().AllGather(gpu::cuda_address(from), gpu::cuda_address(to), count, ncclUint32, communicator_, stream),
          "ncclAllGather");
    });
  }

  void all_to_all(const gpu::Buffer& from, std::span<const Piece> send, gpu::Buffer& to, std::span<const Piece> receive,
                  bool overlapped) override {
    const auto* const source = static_cast<const std::uint32_t*>(gpu::cuda_address(from));
    auto* const target = static_cast<std::uint32_t*>(gpu::cuda_address(to));
    const auto exchange = [&](cudaStream_t stream) {
      check_nccl(nccl().GroupStart(), "ncclGroupStart");
      for (int rank = 0; rank < ranks_; ++rank) {
        const Piece out = send[std::size_t(rank)], in = receive[std::size_t(rank)];
        if (out.words > 0) {
          check_nccl(nccl().Send(source + out.first, out.words, ncclUint32, rank, communicator_, stream), "ncclSend");
        }
        if (in.words > 0) {
          check_nccl(nccl().Recv(target + in.first, in.words, ncclUint32, rank, communicator_, stream), "ncclRecv");
        }
      }
      check_nccl(nccl().GroupEnd(), "ncclGroupEnd");
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
    check_nccl(nccl().CommGetAsyncError(communicator_, &earlier), "ncclCommGetAsyncError");
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
