// Options that decide what is watched, limits, tables that are too small, ways to launch, and the program's own work.
#include "bankcheck/cuda/injection/selection.hpp"
#include "watched_program.hpp"

TEST_CASE("cuda/gpu/options/kernel_filter", "[options]") {
  const Checked c = watched_whole(program("sizes", "both"), "--kernel 'ways_3*'");
  check_kernels(c, {"ways_32"});
  check_ways_32(c, 1, 3);
  check_kernels(watched_whole(program("sizes", "both")), {"ways_2", "ways_32"});
  check_fails_with(program("sizes", "both"), "ran no kernel that was watched", "--kernel 'wave_*'");
}

TEST_CASE("cuda/gpu/options/max_conflicts", "[options]") {
  // ways_32: 3 blocks x 2 accesses x 31; ways_2: 7 blocks x 3 accesses x 1.
  CHECK(watch(program("sizes", "both"), "--max-conflicts 186").code == 0);
  CHECK(sentences_in(ended(1, watch(program("sizes", "both"), "--max-conflicts 185")).err) ==
        std::vector<std::string>{"ways_32 has 186 conflicts on sm_90; --max-conflicts allows 185"});
}

TEST_CASE("cuda/gpu/options/max_groups", "[options]") {
  const std::string command = program("sizes", "large"), option = "--max-groups 8 ";
  const auto watched_blocks = unsigned(2 * bankwise::cuda::sample_blocks(1000, 8).blocks);
  REQUIRE(watched_blocks >= 2);
  REQUIRE(watched_blocks <= 2 * 8);
  const std::string sentence =
      "1," + std::to_string(1000 - watched_blocks) + " of 2,000 blocks of ways_32 were not watched (--max-groups 8)";
  const Checked c = watched(command, option);
  check_ways_32(c, 2, watched_blocks);
  CHECK(c.json.at("incomplete") == nlohmann::json::array({sentence}));

  const Outcome text = ended(0, watch(command, option));
  CHECK_THAT(text.out, has("--\nincomplete: " + sentence + "\nways_32  "));
  CHECK_THAT(text.out, has("\nways_32: 2 launches"));
  CHECK_THAT(text.out, has(">=" + std::to_string(2 * 31 * watched_blocks)));

  // A limit cannot be checked against some of the blocks.
  const Outcome limited = ended(1, watch(command, option + "--max-conflicts 1000000000"));
  CHECK(sentences_in(limited.err) ==
        std::vector<std::string>{"incomplete: " + sentence,
                                 "--max-conflicts cannot be confirmed: the trace is incomplete"});

  check_ways_32(watched_whole(command, "--max-groups 1000"), 2, 2000);
}

TEST_CASE("cuda/gpu/options/excess_costed_on_gpu", "[options]") {
  const std::string command = program("sizes", "flood");
  constexpr std::uint64_t total = std::uint64_t{2000} * 4 * 400;
  const Checked small = watched_whole(command, "--table 8"), large = watched_whole(command, "--table 4096");
  check_launches(small, "scattered", 1, 2000);
  const Numbers costed = numbers(small.on("scattered"), "", "load");
  CHECK(costed.at(0) == total);
  CHECK(costed.at(4) > 0);
  CHECK(costed == numbers(large.on("scattered"), "", "load"));
  CHECK(numbers(small.on("scattered")) == numbers(large.on("scattered")));
}

TEST_CASE("cuda/gpu/options/tables_emptied", "[options]") {
  const Checked c = watched_whole(program("sizes", "trickle"), "--table 8");
  check_launches(c, "scattered", 40, 40 * 25);
  CHECK(numbers(c.on("scattered"), "scattered load", "load").at(0) == 40 * 25 * 4 * 20);
}

TEST_CASE("cuda/gpu/options/dynamic_shared_memory", "[launches]") {
  const Checked c = watched_whole(program("launches", "much"));
  check_launches(c, "much_memory", 2, 2 * 3);
  CHECK(numbers(c.on("much_memory"), "far store", "store") == times(6, 32));
  CHECK(numbers(c.on("much_memory"), "far load", "load") == times(6, 32));
}

TEST_CASE("cuda/gpu/options/cooperative_launch", "[launches]") {
  const Checked c = watched_whole(program("launches", "cooperative"));
  check_launches(c, "together", 1, 4);
  CHECK(numbers(c.on("together"), "store together", "store") == times(4, 8));
  CHECK(numbers(c.on("together"), "load together", "load") == times(4, 8));
}

TEST_CASE("cuda/gpu/options/launch_kernel_ex", "[launches]") {
  const Checked c = watched_whole(program("launches", "extended"));
  check_ways_32(c, 1, 6);
}

TEST_CASE("cuda/gpu/options/same_results", "[memory]") {
  for (const char* mode : {"pool", "managed"}) {
    INFO(mode);
    const ScratchDirectory scratch;
    const auto alone = scratch.path() / "alone";
    REQUIRE(std::system((program("memory", mode) + " >'" + alone.string() + "'").c_str()) == 0);
    const Outcome watched = ended(0, watch(program("memory", mode)));
    const std::string expected = text_of(alone);
    CHECK(count(expected, "\n") > 1000);
    CHECK((watched.out.compare(0, expected.size(), expected) == 0));  // in parentheses, so that it is not printed
    CHECK_THAT(watched.out.substr(std::min(expected.size(), watched.out.size())), has("sums: "));
  }
}
