// SPDX-License-Identifier: MIT
//
// The kernel of docs/checking_opencl.md is the one of docs/checking_your_kernel.md with another tile.
#include <bankwise/support/exit_code.hpp>
#include <bankwise/trace/report.hpp>
#include "port_numbers.hpp"
#include "port_runs.hpp"

using namespace bankwise;

trace::KernelTrace example_trace(unsigned warp);  // example_trace.cpp

TEST_CASE("case_studies/example/equals_cuda") {
  const Checked checked = check(program("example_matmul"), "--arch sm_90,gfx942", in_example_folder());
  INFO(checked.outcome.err);
  REQUIRE(checked.outcome.code == exit_ok);
  for (const char* name : {"sm_90", "gfx942"}) {
    const auto& architecture = architecture_named(name);
    PortNumbers cuda;
    add_report(cuda, trace::report(example_trace(architecture.warp), architecture));
    const PortNumbers opencl = checked_numbers(checked.json, name).at("linear_forward");
    INFO(name);
    CHECK(opencl.levels == cuda.levels);
    CHECK(opencl.kinds == cuda.kinds);
  }
}
