#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/cluster/engine.hpp>
#include <bankwise/gpu/cuda_api.hpp>
#include <bankwise/gpu/session.hpp>

namespace bankwise::cluster {
namespace {

class CudaPeers : public Peers {
 public:
  CudaPeers(gpu::Session& session, Communicator& communicator, gpu::Buffer& buffer)
      : session_(session), communicator_(communicator), addresses_(communicator.ranks()) {
    const unsigned mine = communicator.rank();
    cudaIpcMemHandle_t handle{};
    agree(communicator, [&] {
      gpu::cuda_enqueue(session, 0, [&](void*) {
        require(cudaIpcGetMemHandle(&handle, gpu::cuda_address(buffer)), "its GPU cannot share memory");
      });
    });
    const std::vector<std::byte> handles = communicator.gather(std::as_bytes(std::span(&handle, 1)));
    try {
      agree(communicator, [&] {
        for (unsigned rank = 0; rank < communicator.ranks(); ++rank) {
          if (rank == mine) continue;
          std::memcpy(&handle, handles.data() + rank * sizeof handle, sizeof handle);
          require(cudaIpcOpenMemHandle(&addresses_[rank], handle, cudaIpcMemLazyEnablePeerAccess),
                  fmt::format("its GPU cannot access the memory of rank {}'s", rank));
        }
      });
    } catch (const Refused&) {
      close();
      communicator.barrier();  // as in the destructor
      throw;
    }
    addresses_[mine] = gpu::cuda_address(buffer);
    table_ = session.allocate(addresses_.size() * sizeof(void*));
    session.write(*table_, 0, std::as_bytes(std::span(addresses_)));
  }

  ~CudaPeers() override {
    addresses_[communicator_.rank()] = nullptr;
    close();
    if (std::uncaught_exceptions() > 0) return;
    try {
      communicator_.barrier();  // no rank may free its buffer before all have closed it
    } catch (const std::exception& error) {
      gpu::log_failure("MPI_Barrier", error.what());
    }
  }

  gpu::Buffer& table() override { return *table_; }

  void copy(const gpu::Buffer& from, unsigned rank, std::uint64_t bytes) override {
    gpu::cuda_enqueue(session_, 1, [&](void* stream) {
      BANKWISE_CUDA(cudaMemcpyAsync(addresses_[rank], gpu::cuda_address(from), bytes, cudaMemcpyDeviceToDevice,
                                    static_cast<cudaStream_t>(stream)));
    });
  }

 private:
  static void require(cudaError_t code, const std::string& failure) {
    if (code == cudaSuccess) return;
    (void)cudaGetLastError();
    throw gpu::Unsupported(fmt::format("{}: {}", failure, cudaGetErrorString(code)));
  }
  void close() {
    for (void* const address : addresses_) {
      if (address != nullptr) gpu::log_cuda(cudaIpcCloseMemHandle(address), "cudaIpcCloseMemHandle");
    }
  }

  gpu::Session& session_;
  Communicator& communicator_;
  std::vector<void*> addresses_;
  std::unique_ptr<gpu::Buffer> table_;
};

}  // namespace

std::unique_ptr<Peers> share_with_peers(gpu::Session& session, Communicator& communicator, gpu::Buffer& buffer) {
  if (session.info().api != gpu::Api::cuda) throw Refused("only CUDA devices access each other's memory");
  if (!communicator.one_node()) throw Refused("the ranks are on several nodes, which share no memory");
  return std::make_unique<CudaPeers>(session, communicator, buffer);
}

}  // namespace bankwise::cluster
