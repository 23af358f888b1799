// SPDX-License-Identifier: MIT
//
// What needs no MPI.
#include <bankwise/cluster/communicator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace bankwise::cluster {

bool started_by_launcher() {
  // Set by Open MPI; by MPICH, Intel MPI and srun --mpi=pmi2; by PRRTE and srun --mpi=pmix.
  constexpr const char* variables[]{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  return std::any_of(std::begin(variables), std::end(variables),
                     [](const char* name) { return std::getenv(name) != nullptr; });
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

}  // namespace bankwise::cluster
