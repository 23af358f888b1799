// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <bankwise/cluster/communicator.hpp>

namespace bankwise::cluster {

bool started_by_launcher() {
  // Set by Open MPI; by MPICH, Intel MPI and srun --mpi=pmi2; by PRRTE and srun --mpi=pmix.
  constexpr const char* variables[]{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  return std::any_of(std::begin(variables), std::end(variables),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace bankwise::cluster
