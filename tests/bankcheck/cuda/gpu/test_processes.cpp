// Several processes, and the ways in which one ends.
#include "watched_program.hpp"

namespace {

/// The report of a run that lost the accesses of ways_32: its launch is named, and no number says that it has no
/// conflicts.
void check_admits_loss(const std::string& report) {
  INFO(report);
  const std::string head = "ways_32: 1 launch, 3 blocks of 32 threads\n";
  const auto at = report.find(head);
  REQUIRE(at != std::string::npos);
  const std::string rest = report.substr(at + head.size());
  const bool admitted = rest.starts_with("  no access to shared memory was recorded\n");
  const bool recorded = rest.starts_with("  where ") && rest.find(">=192") != std::string::npos;  // 2 x 3 x 32 passes
  CHECK(recorded != admitted);
}

}  // namespace

TEST_CASE("cuda/gpu/processes/children", "[processes]") {
  for (const char* mode : {"spawn", "fork_first"}) check_program(program("processes", mode), {1, 3}, {1, 5});
  for (const char* mode : {"fork_and_exit", "fork_and_underscore_exit"}) {
    check_program(program("processes", mode), {2, 3 + 7});
  }
}

TEST_CASE("cuda/gpu/processes/mpirun", "[.mpirun]") {
  const Checked c = watched_whole("mpirun -n 2 " + program("processes", "rank"), "",
                                  "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  check_kernels(c, {"ways_32"});
  check_ways_32(c, 2, 2 * 4);
}

TEST_CASE("cuda/gpu/processes/complete", "[endings]") {
  check_program(program("endings", "good"), {1, 3});
  // A program that never waits.
  const Checked c = watched_whole(program("endings", "unsynchronized"));
  check_ways_32(c, 1, 3);
}

TEST_CASE("cuda/gpu/processes/lost", "[endings]") {
  check_admits_loss(check_fails_with(program("endings", "_exit"), "did not end in order"));
  check_admits_loss(check_fails_with(program("endings", "killed"), "was ended by signal 9 (Killed)"));
  check_admits_loss(check_fails_with(program("endings", "terminated"), "was ended by signal 15 (Terminated)"));
  const std::string sentence = "the program's CUDA context ended with CUDA_ERROR_ILLEGAL_ADDRESS";
  check_admits_loss(check_fails_with(program("endings", "fault"), "failed with exit code 5; " + sentence));
  check_admits_loss(check_fails_with(program("endings", "fault_ignored"), sentence));
}

TEST_CASE("cuda/gpu/processes/exit_code", "[endings]") {
  const std::string report = check_fails_with(program("endings", "exit5"), "failed with exit code 5");
  CHECK_THAT(report, has("ways_32: 1 launch, 3 blocks of 32 threads"));
  CHECK(count(report, ">=192") == 1);  // passes of the store and the load: 2 x 3 x 32
}

TEST_CASE("cuda/gpu/processes/no_cuda_or_no_kernel", "[endings]") {
  check_fails_with("true", "the program 'true' did not use CUDA");
  check_fails_with(program("endings", "no_kernel"), "ran no kernel that was watched");
}

TEST_CASE("cuda/gpu/processes/no_shared_memory", "[endings]") {
  const Checked c = watched_whole(program("endings", "no_shared_memory"));
  check_launches(c, "copies", 1, 3);
  CHECK(numbers(c.on("copies")) == Numbers(5, 0));
  CHECK_THAT(watch(program("endings", "no_shared_memory")).out,
             has("no access to shared memory; 3 accesses to global memory"));
}

// Several contexts, streams, host threads, graphs and devices. The programs verify their own results.

TEST_CASE("cuda/gpu/contexts/contexts", "[contexts]") {
  check_program(program("contexts", "two"), {3, 3 + 5 + 5});
  check_program(program("contexts", "destroyed"), {2, 3 + 5}, {1, 7});
}

TEST_CASE("cuda/gpu/contexts/destroyed_while_running", "[contexts]") {
  const Checked c = watched_whole(program("contexts", "busy"));
  check_launches(c, "slow", 1, 11);
  CHECK(numbers(c.on("slow"), "late store", "store") == times(11, 32));
  CHECK(numbers(c.on("slow")) == times(11, 32));
}

TEST_CASE("cuda/gpu/contexts/streams_and_host_threads", "[streams]") {
  check_program(program("streams", "streams"), {32 * 5, 32 * 5 * 4}, {32 * 5, 32 * 5 * 2});
  check_program(program("streams", "threads"), {8 * 50, 8 * 50 * 3}, {8 * 25, 8 * 25 * 2});
}

TEST_CASE("cuda/gpu/contexts/graphs", "[graphs]") {
  check_program(program("streams", "graph"), {10, 10 * 3}, {10, 10 * 5});
  const Checked c = check_program(program("streams", "updated_graph"), {4 + 6, 4 * 3 + 6 * 5});
  CHECK(c.kernel("ways_32").at("several_sizes") == true);
}

TEST_CASE("cuda/gpu/contexts/two_devices", "[.two_devices]") {
  check_program(program("contexts", "devices"), {2, 3 + 5}, {1, 7});
}
