// SPDX-License-Identifier: MIT
//
// The kernel of docs/checking_opencl.md is the one of docs/checking_your_kernel.md with another tile.
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/trace/architecture_named.hpp>
#include "matmul_of_16.cuh"
#include "port_numbers.hpp"
#include "port_runs.hpp"

using namespace bankwise;

TEST_CASE("the OpenCL example accesses local memory as the CUDA example does") {
  constexpr unsigned batch = 70, inputs = 50, outputs = 40;  // as in its program
  const Checked checked = check(program("example_matmul"), "--arch sm_90,gfx942", in_example_folder());
  INFO(checked.outcome.err);
  REQUIRE(checked.outcome.code == exit_ok);
  static_assert(TILE == 16);
  emulator::Launch launch{.grid = {(outputs + TILE - 1) / TILE, (batch + TILE - 1) / TILE}, .block = {TILE, TILE}};
  for (std::uint64_t block = 1; block < launch.grid.count(); ++block) launch.trace_blocks.push_back(block);
  const std::vector<float> in(batch * inputs), weights(outputs * inputs);
  std::vector<float> out(batch * outputs);
  for (const char* name : {"sm_90", "gfx942"}) {
    const auto& architecture = architecture_named(name);
    launch.warp = architecture.warp;
    const auto trace = emulate(linear_forward, launch, in.data(), weights.data(), out.data(), batch, inputs, outputs);
    PortNumbers cuda;
    add_report(cuda, trace::report(trace, architecture));
    const PortNumbers opencl = checked_numbers(checked.json, name).at("linear_forward");
    INFO(name);
    CHECK(opencl.levels == cuda.levels);
    CHECK(opencl.kinds == cuda.kinds);
  }
}
