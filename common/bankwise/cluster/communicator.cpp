// What needs no MPI; and stand-ins for what this build lacks, MPI, NCCL or CUDA: the first function to need it throws.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include <bankwise/cluster/engine.hpp>

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
