// SPDX-License-Identifier: MIT
//
// Contexts, builds and processes that look alike and must be kept apart.
#include "checked_program.hpp"
#include "tests/json_members.hpp"

namespace {

/// `attempts`: for contexts of several threads. The command queues of Oclgrind share maps without a lock, so about one
/// run in 200 crashes inside Oclgrind; bankcheck then prints no report and exits with 3.
Checked apart(const std::string& mode, int attempts = 1) {
  const auto run = [&] { return check(program("apart") + " " + mode, "--sources '" PROGRAM_SOURCES "'"); };
  auto checked = run();
  for (; checked.outcome.code == 3 && attempts > 1; --attempts) checked = run();
  INFO(checked.outcome.err);
  REQUIRE(checked.outcome.code == 0);
  return checked;
}

/// Two accesses of a warp: all 32 lanes in one bank, or in 32 banks.
constexpr unsigned apart_conflicts = 2 * 31;

}  // namespace

TEST_CASE("opencl/apart/contexts_of_threads") {
  for (int round = 0; round < 3; ++round) {
    const Checked c = apart("threads", 3);
    CHECK(c.json.at("kernels").size() == 2);
    for (const auto& [name, conflicts] : {std::pair("row -DPITCH=32", 640 * apart_conflicts), {"row -DPITCH=33", 0U}}) {
      check_members(c.kernel(name), R"({"launches": 10, "work_groups": 640})");
      CHECK(c.on(name).at("conflicts") == conflicts);
    }
  }
}

TEST_CASE("opencl/apart/build_options") {
  const Checked c = apart("builds");
  CHECK(c.on("row -DPITCH=32").at("conflicts") == apart_conflicts);
  CHECK(c.on("row -DPITCH=33").at("conflicts") == 0);
  check_members(c.kernel("row -DPITCH=33"), R"({"launches": 2, "several_sizes": true})");
  CHECK(c.outcome.out.find("row -DPITCH=33: 2 launches, 3 work-groups of several sizes") != std::string::npos);
  // Both have the plain name, too.
  const Checked both = check(program("apart") + " builds", "--kernel row --max-conflicts 0");
  CHECK(both.outcome.code == 1);
  CHECK(both.json.at("kernels").size() == 2);
  CHECK(check(program("apart") + " builds", "--kernel 'row -DPITCH=33' --max-conflicts 0").outcome.code == 0);
}

TEST_CASE("opencl/apart/other_folder") {
  const ScratchDirectory scratch;
  const std::string baseline = (scratch.path() / "b.csv").string();
  const std::string folders = program("apart") + " folders ";
  CHECK(check(folders + "/home/me/checkout", "--update-baseline " + baseline).outcome.code == 0);
  CHECK(text_of(baseline) ==
        "kernel,architecture,accesses,conflicts,unknown\nrow -DPITCH=32,sm_90,2,62,0\nrow -DPITCH=33,sm_90,2,0,0\n");
  const Outcome elsewhere = ended(0, check(folders + "/opt/venv/lib", "--baseline " + baseline).outcome);
  CHECK(elsewhere.err.empty());
  CHECK(check(program("apart") + " builds", "--baseline " + baseline).outcome.code == 0);
}

TEST_CASE("opencl/apart/child_continues_and_late_release") {
  const Checked c = apart("fork");
  CHECK(c.json.at("kernels").size() == 1);
  CHECK(c.kernel("row").at("launches") == 3);
  CHECK(apart("late").kernel("row").at("launches") == 1);
}

TEST_CASE("opencl/apart/exit_between_blocks") {
  const nlohmann::json leaves = apart("leaves").on("leaves");
  for (const auto& [line, operation] :
       {std::pair("a[32 * t] = i;", "store"), {"a[32 * t + 1] = i;", "store"}, {"return a[32 * t + 1];", "load"}}) {
    INFO(line);
    const auto line_rows = rows(leaves, line, operation);
    REQUIRE(line_rows.size() == 1);
    check_members(line_rows[0], R"({"accesses": 32, "conflicts": 0})");
  }
  CHECK(rows(leaves, "+ a[32 * t];", "load").at(0).at("conflicts") == 31);  // reconverged
}

TEST_CASE("opencl/apart/unknown_cost_exceeds") {
  const Checked limited = check(program("histogram"), "--arch intel_xe --max-conflicts 1000000");
  CHECK(limited.outcome.code == 1);
  CHECK(limited.outcome.err.find("without a known cost on intel_xe") != std::string::npos);
  const ScratchDirectory scratch;
  const std::string baseline = (scratch.path() / "b.csv").string();
  CHECK(check(program("histogram"), "--arch intel_xe --update-baseline " + baseline).outcome.code == 0);
  CHECK(check(program("histogram"), "--arch intel_xe --baseline " + baseline).outcome.code == 0);
}
