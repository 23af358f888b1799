// SPDX-License-Identifier: MIT
//
// Programs that end before, during or after a launch.
#include "failing_program.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

std::string exits(const std::string& name) { return program("exits") + " " + name; }

}  // namespace

TEST_CASE("opencl/exits/release_at_exit") {
  const Outcome outcome = ended(0, run_cleanly(exits("release_at_exit")));
  CHECK(outcome.err.empty());
  CHECK(outcome.out.starts_with(report));
}

TEST_CASE("opencl/exits/kernels_at_exit") {
  const Outcome outcome = ended(0, run_cleanly(exits("launch_at_exit")));
  CHECK(outcome.out.starts_with("good: 2 launches, 2 work-groups of 64 work-items\n"));
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

TEST_CASE("opencl/exits/crash_keeps_exit_code") {
  check_blames(exits("exit5_abort_at_exit"), "failed with exit code 5");
}

TEST_CASE("opencl/exits/crash_in_launch") {
  for (const char* when : {"abort_in_kernel", "abort_in_kernel_at_exit"}) {
    CHECK_THAT(check_blames(exits(when), "crashed: signal 6 (Aborted)").out, ContainsSubstring('\n' + report));
  }
}

TEST_CASE("opencl/exits/unfinished_launch") {
  check_blames(exits("_exit_in_kernel"), "a launch of endless had not ended when its process ended");
  check_blames(exits("child_aborts_in_kernel"), "a launch of endless had not ended when its process ended");
}
