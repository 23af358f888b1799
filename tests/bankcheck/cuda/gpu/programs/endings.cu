// Ends in the way that its argument selects, mostly after ways_32 with 3 blocks.
#include <unistd.h>

#include <csignal>

#include "common.cuh"

namespace {

__global__ void faulty(unsigned* nowhere) {
  __shared__ volatile unsigned words[32];
  words[threadIdx.x] = threadIdx.x;
  nowhere[threadIdx.x] = words[threadIdx.x];
}

void good() { run(ways_32, 3); }

/// The program does not look at CUDA's errors, and ends with 0.
void fault_ignored() {
  run(ways_32, 3);
  faulty<<<1, 32>>>(reinterpret_cast<unsigned*>(64));
  cudaDeviceSynchronize();
}

void fault() {
  run(ways_32, 3);
  faulty<<<1, 32>>>(reinterpret_cast<unsigned*>(64));
  expect(cudaDeviceSynchronize() != cudaSuccess, "the fault has no error");
  std::exit(5);
}

void unsynchronized() {
  const Output out(3);
  ways_32<<<3, 32>>>(out.data);
  CHECK(cudaGetLastError());
}

template <int signal>
void ended_by() {
  run(ways_32, 3);
  raise(signal);
}

template <void (*leave)(int), int code>
void left_by() {
  run(ways_32, 3);
  leave(code);
}

void no_kernel() { CHECK(cudaDeviceSynchronize()); }

__global__ void copies(unsigned* out) { out[32 * blockIdx.x + threadIdx.x] = value_of(blockIdx.x, threadIdx.x); }

/// A kernel without shared memory.
void no_shared_memory() { run(copies, 3); }

constexpr Mode modes[] = {{"good", good},
                          {"fault", fault},
                          {"fault_ignored", fault_ignored},
                          {"unsynchronized", unsynchronized},
                          {"_exit", left_by<_exit, 0>},
                          {"killed", ended_by<SIGKILL>},
                          {"terminated", ended_by<SIGTERM>},
                          {"exit5", left_by<std::exit, 5>},
                          {"no_kernel", no_kernel},
                          {"no_shared_memory", no_shared_memory}};

}  // namespace

int main(int count, char** arguments) { return play(modes, count, arguments); }
