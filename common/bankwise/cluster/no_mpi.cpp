// SPDX-License-Identifier: MIT
//
// Replaces communicator.cpp in a build without MPI: the constructor throws, so no other function is ever called.
#include <cstdlib>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::cluster {

Communicator::Communicator(const std::string& program) : name_(program) {
  throw gpu::Unsupported(
      "a launcher such as mpirun started this program, but this build has no MPI; install MPI (Debian: openmpi-bin "
      "libopenmpi-dev) and configure again");
}
Communicator::~Communicator() = default;

std::string Communicator::version() {
  return "no MPI";
}
void Communicator::barrier() {}
double Communicator::max(double value) {
  return value;
}
std::vector<std::uint32_t> Communicator::sum(std::span<const std::uint32_t>) {
  return {};
}
std::vector<std::uint32_t> Communicator::sum_of_lower(std::span<const std::uint32_t>) {
  return {};
}
std::vector<std::string> Communicator::gather(const std::string&) {
  return {};
}
void Communicator::broadcast(std::span<std::byte>) {}
std::vector<std::byte> Communicator::gather(std::span<const std::byte>) {
  return {};
}
void Communicator::all_to_all(std::span<const std::uint32_t>, std::span<const Piece>, std::span<std::uint32_t>,
                              std::span<const Piece>) {}
void Communicator::end(int code) {
  std::_Exit(code);
}

}  // namespace bankwise::cluster
