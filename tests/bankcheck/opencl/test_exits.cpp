// SPDX-License-Identifier: MIT
#include "failing_program.hpp"
#include "tests/catch_any.hpp"

using Catch::Matchers::ContainsSubstring;

// Programs that end before, during or after a launch.

namespace {

std::string exits(const std::string& name) { return program("exits") + " " + name; }

}  // namespace

TEST_CASE("opencl/exits/calls_at_exit") {
  const Outcome outcome = ended(0, run_cleanly(exits("release_at_exit")));
  CHECK(outcome.err.empty());
  CHECK(outcome.out.starts_with(report));
  const Outcome launch = ended(0, run_cleanly(exits("launch_at_exit")));
  CHECK(launch.out.starts_with("good: 2 launches, 2 work-groups of 64 work-items\n"));
}

TEST_CASE("opencl/exits/crash_at_exit") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const Outcome outcome = ended(
      0, run_cleanly(exits("abort_at_exit"), "--json " + folder + "/j --sarif " + folder + "/s --update-baseline " +
                                                 folder + "/b --trace " + folder + "/t"));
  CHECK(outcome.out.starts_with(report));
  CHECK_THAT(outcome.err, ContainsSubstring("bankcheck: the program '"));
  CHECK_THAT(outcome.err, ContainsSubstring("crashed: signal 6 (Aborted), at exit, after its last launch had ended\n"));
  CHECK(sentences_in(outcome.err).size() == 1);
  CHECK(nlohmann::json::parse(text_of(scratch.path() / "j")).at("kernels").size() == 1);
  CHECK(nlohmann::json::parse(text_of(scratch.path() / "s")).at("version") == "2.1.0");
  CHECK_THAT(text_of(scratch.path() / "b"), ContainsSubstring("\ngood,sm_90,4,0,0\n"));
  const Outcome again = ended(0, bankcheck("report " + folder + "/t"));
  CHECK(again.out == outcome.out);
}

TEST_CASE("opencl/exits/blamed") {
  check_blames(exits("exit5_abort_at_exit"), "failed with exit code 5");
  for (const char* when : {"abort_in_kernel", "abort_in_kernel_at_exit"}) {
    CHECK_THAT(check_blames(exits(when), "crashed: signal 6 (Aborted)").out, ContainsSubstring('\n' + report));
  }
  check_blames(exits("_exit_in_kernel"), "a launch of endless had not ended when its process ended");
  check_blames(exits("child_aborts_in_kernel"), "a launch of endless had not ended when its process ended");
}

// The device that a program meets under bankcheck opencl: one GPU.

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

TEST_CASE("opencl/device/device_info") {
  CHECK_THAT(told("linked", "--arch gfx942,sm_90"), ContainsSubstring("preferred multiple: 64\n"));
  CHECK_THAT(told("at_run_time", "--arch gfx942"), ContainsSubstring("preferred multiple: 64\n"));
  for (const char* how : {"linked", "at_run_time"}) {
    const std::string text = told(how,
                                  "--device-info compute-units=7 --device-info 'name=A GPU = B' "
                                  "--device-info preferred-multiple=16 --local-memory 32768");
    CHECK_THAT(text, ContainsSubstring("compute units: 7\n"));
    CHECK_THAT(text, ContainsSubstring("name: A GPU = B, 1\n"));
    CHECK_THAT(text, ContainsSubstring("preferred multiple: 16\n"));
    CHECK_THAT(text, ContainsSubstring("local memory: 32768\n"));
  }
  // A note about narrow groups.
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
