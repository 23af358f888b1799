// SPDX-License-Identifier: MIT
//
// Pitfalls of simulating OpenCL: the report must be right, or the program must be rejected.
#include "failing_program.hpp"
#include "tests/json_members.hpp"

TEST_CASE("opencl/traps/options_with_o3") {
  const Checked c = check(program("settings"));  // the program verifies its results, which optimized code makes wrong
  INFO(c.outcome.err);
  REQUIRE(c.outcome.code == 0);
  // Four stores of 8 lanes in each of 2 warps; optimized, there is one store without a line.
  for (const char* part : {"case 0: a[t]", "case 1: a[t]", "case 2: a[t]", "default: a[t]"}) {
    const auto stores = rows(c.on("tens"), part, "store");
    REQUIRE(stores.size() == 1);
    check_members(stores[0], R"({"accesses": 2, "lanes": 16})");
  }
  const auto loads = rows(c.on("parts"), "float4 v = q[t]", "load");
  REQUIRE(loads.size() == 1);
  // 2 warps x 4 rows of banks; four loads would have 4-way conflicts.
  check_members(loads[0], R"({"width": 16, "passes": 8, "conflicts": 0})");
  CHECK(rows(c.on("parts"), "v.x + v.y", "load").empty());
}

TEST_CASE("opencl/traps/unreleased_contexts") {
  const Checked c = check(program("two_contexts") + " kept");
  INFO(c.outcome.err);
  REQUIRE(c.outcome.code == 0);
  CHECK(c.kernel("copy").at("launches") == 2);
  CHECK(c.kernel("copy#2").at("launches") == 1);
}

TEST_CASE("opencl/traps/bad_plugin") {
  const ScratchDirectory scratch;
  std::filesystem::copy_file(SAMPLES_DIRECTORY "/bankcheck", scratch.path() / "bankcheck");
  std::ofstream(scratch.path() / "bankcheck_oclgrind.so") << "no library\n";
  const auto json = scratch.path() / "json", err = scratch.path() / "err";
  const std::string command = "'" + (scratch.path() / "bankcheck").string() + "' opencl --max-conflicts 0 --json " +
                              json.string() + " -- " + program("transpose") + " >/dev/null 2>" + err.string();
  const int status = std::system(command.c_str());
  check_blamed({WIFEXITED(status) ? WEXITSTATUS(status) : -1, "", text_of(err)}, "could not load bankcheck's plugin");
  CHECK(text_of(json).empty());
}

TEST_CASE("opencl/traps/arrays_at_bank_0") {
  const Checked c = check(program("shapes"), "--arch sm_90,gfx942");
  REQUIRE(c.outcome.code == 0);
  // Lane 0 reads word 0 of an array of 3 words, and the others read words 1 to 31 of the next array. If that array
  // followed directly, its word 29 would also be in bank 0.
  for (const auto& [architecture, passes] : {std::pair(0U, 1), std::pair(1U, 2)}) {
    unsigned mixed = 0;
    for (const auto& row : rows(c.on("phases", architecture), "mine[t]", "load")) {
      if (row.at("array") != "few") continue;
      ++mixed;
      check_members(row, R"({"mixed_arrays": 1, "conflicts": 0})");
      CHECK(row.at("passes") == passes);
    }
    CHECK(mixed == 1);
  }
  CHECK(c.outcome.out.find("each array begins at bank 0") != std::string::npos);
}

TEST_CASE("opencl/traps/oclgrind_limit") {
  for (const auto& [name, reason] :
       {std::pair("sub_groups", "neither Oclgrind nor the program's source defines the function sub_group_reduce_add"),
        {"halves", "this is a limit of Oclgrind, not a fault of the program: Unsupported float size: 2 bytes"}}) {
    const Checked c = check(program("limits") + " " + name);
    check_blamed(c.outcome, "Oclgrind cannot run a kernel of");
    check_blamed(c.outcome, reason);
    CHECK(c.json.is_null());
  }
}

TEST_CASE("opencl/traps/local_memory_size") {
  const Checked c = check(program("limits") + " large");  // 48 KiB; Oclgrind's default device has 32 KiB
  INFO(c.outcome.err);
  CHECK(c.outcome.code == 0);
  CHECK(rows(c.on("large"), "= a[12224 + t]", "load").at(0).at("passes") == 2);
  check_blamed(check(program("limits") + " large", "--local-memory 32768").outcome, "failed with exit code 1");
  CHECK(check(program("limits") + " large", "--local-memory 49152").outcome.code == 0);
}

TEST_CASE("opencl/traps/lock_step_code") {
  const Checked c = check(program("limits") + " unsynchronized");
  REQUIRE(c.outcome.code == 0);
  for (const unsigned lanes : {32U, 16U, 8U}) {
    const std::string part = "a[t] += a[t + " + std::to_string(lanes) + "]";
    const auto stores = rows(c.on("unsynchronized"), part, "store");
    REQUIRE(stores.size() == 1);
    CHECK(stores[0].at("accesses") == 1);
    CHECK(stores[0].at("lanes") == lanes);
    CHECK(rows(c.on("unsynchronized"), part, "load").size() == 2);
  }
  CHECK(c.on("unsynchronized").at("levels").at(1).at("active_lanes") == 32);
}

TEST_CASE("opencl/traps/several_threads") {
  for (const char* name : {"reduction", "divergence", "shapes"}) {
    const std::string arguments = "opencl --arch sm_90,gfx942 --json - -- " + program(name);
    const Outcome alone = ended(0, bankcheck(arguments, "OCLGRIND_NUM_THREADS=1"));
    REQUIRE(nlohmann::json::parse(alone.out).at("kernels").size() >= 2);
    for (int turn = 0; turn < 4; ++turn) {
      const Outcome together = ended(0, bankcheck(arguments, "OCLGRIND_NUM_THREADS=4"));
      CHECK(together.out == alone.out);
    }
  }
}

TEST_CASE("opencl/traps/waves_and_warps") {
  const Checked c = check(program("divergence"), "--arch sm_90,gfx942");
  REQUIRE(c.outcome.code == 0);
  CHECK(c.on("choice", 0).at("warp_width") == 32);
  CHECK(c.on("choice", 1).at("warp_width") == 64);
  const auto warps = rows(c.on("choice", 0), "case 0: s = a[t]", "load");
  const auto waves = rows(c.on("choice", 1), "case 0: s = a[t]", "load");
  check_members(warps.at(0), R"({"accesses": 2, "lanes": 16})");
  // Half a wave per pass, and 16 of 64 lanes.
  check_members(waves.at(0), R"({"accesses": 1, "lanes": 16, "passes": 2, "alu_utilization": 0.25})");
}
