// SPDX-License-Identifier: MIT
//
// The device that a program meets under bankcheck opencl: one GPU.
#include "checked_program.hpp"
#include "tests/catch_any.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

/// What the program prints, and below it the report.
std::string told(const std::string& arguments, const std::string& options = "") {
  const Outcome outcome = ended(0, bankcheck("opencl " + options + " -- " + program("device") + " " + arguments));
  return outcome.out;
}

}  // namespace

TEST_CASE("opencl/device/one_gpu") {
  for (const char* how : {"linked", "at_run_time"}) {
    INFO(how);
    const std::string text = told(how);
    for (const char* line :
         {"CPUs: -1, 0\n", "accelerators: -1\n", "default: 0\n", "type: 4\n", "compute units: 16\n",
          "local memory: 65536\n", "name: Oclgrind Simulator, 1\n", "too little room: -30\n", "no such query: -30\n",
          "context of CPUs: -1\n", "preferred multiple: 32\n", "for_gpus: 1 launch, 1 work-group of 32 work-items\n"}) {
      CHECK_THAT(text, ContainsSubstring(line));
    }
    CHECK_THAT(text, !ContainsSubstring("for_cpus"));
  }
}

TEST_CASE("opencl/device/preferred_multiple") {
  CHECK_THAT(told("linked", "--arch gfx942,sm_90"), ContainsSubstring("preferred multiple: 64\n"));
  CHECK_THAT(told("at_run_time", "--arch gfx942"), ContainsSubstring("preferred multiple: 64\n"));
}

TEST_CASE("opencl/device/override") {
  for (const char* how : {"linked", "at_run_time"}) {
    const std::string text = told(how,
                                  "--device-info compute-units=7 --device-info 'name=A GPU = B' "
                                  "--device-info preferred-multiple=16 --local-memory 32768");
    CHECK_THAT(text, ContainsSubstring("compute units: 7\n"));
    CHECK_THAT(text, ContainsSubstring("name: A GPU = B, 1\n"));
    CHECK_THAT(text, ContainsSubstring("preferred multiple: 16\n"));
    CHECK_THAT(text, ContainsSubstring("local memory: 32768\n"));
  }
}

TEST_CASE("opencl/device/narrow_groups") {
  CHECK_THAT(
      told("linked", "--device-info preferred-multiple=1"),
      ContainsSubstring("note: work-groups of 1 work-item fill 3.1 % of a warp of 32; the other lanes are idle"));
  CHECK_THAT(told("linked", "--device-info preferred-multiple=31"),
             ContainsSubstring("note: work-groups of 31 work-items"));
  CHECK_THAT(told("linked"), !ContainsSubstring("note: work-groups"));
}

TEST_CASE("opencl/device/bad_info") {
  for (const char* bad : {"compute-units", "compute-units=", "compute-units=0", "compute-units=many", "units=3",
                          "name=", "=3", "compute-units=4294967296"}) {
    check_fails(std::string("opencl --device-info '") + bad + "' -- " + program("device"), 2, "--device-info");
  }
}
