// The CUDA kernel of docs/checking_your_kernel.md with tiles of 16, in the emulator. Alone in its source: code for the
// emulator takes long to compile.

#include <bankwise/emulator/cuda.hpp>
#include "matmul_of_16.cuh"

using namespace bankwise;

/// All accesses of its launch, with the sizes of the OpenCL example's program.
trace::KernelTrace example_trace(unsigned warp) {
  constexpr unsigned batch = 70, inputs = 50, outputs = 40;  // as in the OpenCL example's program
  static_assert(TILE == 16);
  emulator::Launch launch{.grid = {(outputs + TILE - 1) / TILE, (batch + TILE - 1) / TILE}, .block = {TILE, TILE}};
  for (std::uint64_t block = 1; block < launch.grid.count(); ++block) launch.trace_blocks.push_back(block);
  launch.warp = warp;
  launch.global_patterns = 1 << 16;
  alignas(128) static float in[batch * inputs], weights[outputs * inputs], out[batch * outputs];  // as on a device
  return emulate(linear_forward, launch, in, weights, out, batch, inputs, outputs);
}
