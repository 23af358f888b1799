// Pitfalls of simulating OpenCL: the report must be right, or the program must be rejected.
#include "failing_program.hpp"

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

TEST_CASE("opencl/traps/bad_plugin") {
  const ScratchDirectory scratch;
  std::filesystem::copy_file(SAMPLES_DIRECTORY "/bankcheck", scratch.path() / "bankcheck");
  std::ofstream(scratch.path() / "bankcheck_oclgrind.so") << "no library\n";
  const auto json = scratch.path() / "json";
  const Outcome outcome = in_shell("'" + (scratch.path() / "bankcheck").string() + "'",
                                   "opencl --max-conflicts 0 --json " + json.string() + " -- " + program("transpose"));
  check_blamed(outcome, "could not load bankcheck's plugin");
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
  CHECK_THAT(c.outcome.out, has("each array begins at bank 0"));
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
      CHECK(ended(0, bankcheck(arguments, "OCLGRIND_NUM_THREADS=4")).out == alone.out);
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

// Contexts, builds and processes that look alike and must be kept apart.

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
  CHECK_THAT(c.outcome.out, has("row -DPITCH=33: 2 launches, 3 work-groups of several sizes"));
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
        "kernel,architecture,accesses,conflicts,unknown,global_accesses,extra_sectors,global_unknown\n"
        "row -DPITCH=32,sm_90,2,62,0,1,0,0\nrow -DPITCH=33,sm_90,2,0,0,1,0,0\n");
  CHECK(ended(0, check(folders + "/opt/venv/lib", "--baseline " + baseline).outcome).err.empty());
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
  CHECK_THAT(limited.outcome.err, has("without a known cost on intel_xe"));
  const ScratchDirectory scratch;
  const std::string baseline = (scratch.path() / "b.csv").string();
  CHECK(check(program("histogram"), "--arch intel_xe --update-baseline " + baseline).outcome.code == 0);
  CHECK(check(program("histogram"), "--arch intel_xe --baseline " + baseline).outcome.code == 0);
}
