#include <bit>
#include <random>

#include <bankwise/banks/cost.hpp>
#include <bankwise/report/kernel_text.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/trace/report.hpp>
#include "small_trace.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace small;
using trace::Pattern;

TEST_CASE("trace/report/pattern_counts") {
  auto all = builder();
  all.add(loads(128, 0xFFFFFFFF, 3));
  Pattern store = loads(4, 0xFFFF, 2);
  store.operation = banks::Operation::store;
  store.level = 2;
  all.add(store);
  const auto report = trace::report(all.take(), on("sm_90"));
  CHECK(report.loads == banks::Tally{3, 96, 96, 3, 93, 0});
  CHECK(report.stores == banks::Tally{2, 32, 2, 2, 0, 0});
  CHECK(report.all == banks::Tally{5, 128, 98, 5, 93, 0});
  CHECK(report::alu_utilization(report.all, report.warp) == 128.0 / (5 * 32));
  CHECK_FALSE(report::alu_utilization(report.level(1).costs, report.warp));
  REQUIRE(report.level_count == 3);
  CHECK(report.level(1).costs == banks::Tally{});
  CHECK(report.level(2).costs.accesses == 2);
  CHECK(report.lines.size() == 2);
}

TEST_CASE("trace/report/split_warps") {
  // A hundred random accesses of 64 lanes, against the definition: each part of a warp's width is a separate access.
  std::mt19937_64 random(1);
  std::vector<Pattern> patterns;
  for (int i = 0; i < 100; ++i) {
    // NOLINTNEXTLINE(misc-redundant-expression): two numbers
    Pattern one{.level = unsigned(i % 2), .mask = random() & random(), .count = 1 + random() % 5};
    if (one.mask == 0) continue;
    for (int lane = 0; lane < 64; ++lane) one.addresses.push_back(4 * unsigned(random() % 64));
    normalize(one);
    patterns.push_back(one);
  }
  for (const char* name : {"sm_90", "gfx942", "hd5870", "sm_13", "intel_xe"}) {
    INFO(name);
    const banks::Architecture& architecture = on(name);
    const unsigned warp = architecture.warp;
    auto all = builder(64, true);
    banks::Tally expected;
    std::uint64_t lanes = 0, warps = 0;
    for (const Pattern& pattern : patterns) {
      all.add(pattern);
      all.add(trace::Participants{pattern.level, pattern.mask, 2});
      for (unsigned first = 0; first < 64; first += warp) {
        std::uint64_t mask = 0;
        std::vector<std::uint32_t> addresses(warp);
        for (unsigned lane = 0; lane < warp; ++lane) {
          if ((pattern.mask >> (first + lane) & 1) == 0) continue;
          mask |= std::uint64_t{1} << lane;
          addresses[lane] = pattern.addresses[first + lane];
        }
        if (mask == 0) continue;
        const auto cost = banks::cost(architecture, {pattern.operation, pattern.width, mask, addresses});
        for (std::uint64_t i = 0; i < pattern.count; ++i) expected.add(mask, std::get_if<banks::Cost>(&cost));
        lanes += 2 * unsigned(std::popcount(mask));
        warps += 2;
      }
    }
    const auto report = trace::report(all.take(), architecture);
    CHECK(report.warp == warp);
    CHECK(report.all == expected);
    CHECK(report.level(0).active_lanes + report.level(1).active_lanes == lanes);
    CHECK(report.level(0).issued_warps + report.level(1).issued_warps == warps);
  }
}

TEST_CASE("trace/report/joined_warps") {
  auto all = builder(32, false);
  all.add(loads(4));
  const auto trace = all.take();
  CHECK_NOTHROW(trace::report(trace, on("sm_90")));
  CHECK_THROWS_AS(trace::report(trace, on("gfx942")), std::invalid_argument);
  CHECK_THROWS_AS(conflicts(trace, "gfx942"), std::invalid_argument);
  CHECK_THROWS_AS(conflicts(trace, "sm_9O"), std::invalid_argument);
  auto narrow = builder(16, true);
  narrow.add(loads(4, 0xFFFF));
  CHECK_THROWS_AS(trace::report(narrow.take(), on("sm_90")), std::invalid_argument);
}

TEST_CASE("trace/report/worst_access") {
  struct Case {
    trace::Occurrence first;
    std::uint32_t level;
    std::uint64_t mask;  // the upper half is the second warp
  };
  constexpr std::uint64_t low = 0xFFFFFFFF, high = low << 32;
  // In the order of their rank; all have the same conflicts.
  const std::vector<Case> ranked{{{0, 1, 9, 9}, 5, low},  {{0, 1, 0, 1}, 5, high}, {{0, 2, 0, 0}, 5, low},
                                 {{0, 0, 0, 0}, 6, high}, {{1, 0, 0, 0}, 0, low},  {{2, 0, 0, 0}, 0, low}};
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
  do {
    auto all = builder(64, true);
    for (std::size_t i = 0; i < 3; ++i) {
      Pattern one = loads(128, ranked[order[i]].mask);
      one.addresses.front() = 0;
      one.level = ranked[order[i]].level;
      one.first = ranked[order[i]].first;
      all.add(one);
    }
    Pattern harmless = loads(4, ~std::uint64_t{0}, 1000);
    all.add(harmless);
    const Case& expected = ranked[*std::min_element(order.begin(), order.begin() + 3)];
    const auto report = trace::report(all.take(), on("sm_90"));
    REQUIRE(report.lines.size() == 1);
    REQUIRE(report.lines[0].worst);
    const auto& worst = *report.lines[0].worst;
    REQUIRE(worst.conflicts == 31);
    REQUIRE(worst.block == expected.first.block);
    REQUIRE(worst.level == expected.level);
    REQUIRE(worst.warp == 2 * expected.first.warp + (expected.mask == high ? 1 : 0));
    REQUIRE(worst.mask == low);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("trace/report/array_of_warp") {
  auto all = builder(64, true);
  all.array({"other", 65536, 0});
  Pattern one = loads(4, ~std::uint64_t{0}, 3);
  one.lane_arrays.assign(64, 0);
  for (unsigned lane = 32; lane < 36; ++lane) one.lane_arrays[lane] = 1;
  all.add(one);
  Pattern two = loads(4, 0xFFFFFFFF00000000);
  two.array = 1;
  all.add(two);
  const auto trace = all.take();
  const auto narrow = trace::report(trace, on("sm_90")), wide = trace::report(trace, on("gfx942"));
  REQUIRE(narrow.lines.size() == 2);
  CHECK(narrow.lines[0].array == "tile");
  CHECK(narrow.lines[0].costs.accesses == 3);
  CHECK(narrow.lines[0].mixed == 0);
  CHECK(narrow.lines[1].array == "other");
  CHECK(narrow.lines[1].costs.accesses == 3 + 1);  // lanes 32 to 35 are the second warp's first
  CHECK(narrow.lines[1].mixed == 3);
  CHECK(wide.lines[0].mixed == 3);
}

TEST_CASE("trace/report/incomplete") {
  auto all = builder();
  all.add(loads(4));
  all.trace().left_out = {{"TMA", 4}, {"cp.async", 1200}};
  const auto trace = all.take();
  const auto report = trace::report(trace, on("sm_90"));
  REQUIRE(report.incomplete.size() == 1);
  const std::string text = report::to_text(report);
  CHECK(
      text.starts_with("incomplete: 1,204 accesses of k have no cost: cp.async 1,200, TMA 4; the numbers are lower "));
  CHECK_THAT(text, has("\nat least 1 accesses"));
  CHECK_THROWS_WITH(conflicts(trace, "sm_90"), report.incomplete[0]);
  auto unwatched = builder();
  unwatched.trace().watches_shared = false;
  CHECK_THROWS_WITH(conflicts(unwatched.take(), "sm_90"), "shared memory of k was not watched");
}

namespace {

/// Atomics that are loops; a block has `warps` warps of 32.
trace::Report report_of_loop(Pattern loop, unsigned width, unsigned warps, const char* architecture = "sm_90") {
  trace::Builder all({.kernel = "k"});
  all.site({.file = "k.cu", .line = 3});
  all.array({"tile", 0, 4096});
  all.add(trace::LaunchShape{{32 * warps, 1, 1}, {32 * warps, 1, 1}, 1});
  if (loop.operation == banks::Operation::load) loop.operation = banks::Operation::atomic;
  loop.is_loop = true;
  loop.width = width;
  all.add(loop);
  return trace::report(all.take(), on(architecture));
}

}  // namespace

TEST_CASE("trace/report/load_and_swap_loop") {
  // Each lane its own bank: one turn of a pass of the load and two of the swap, with 4 warps up to 4 turns.
  const auto apart = report_of_loop(loads(4, 0xFFFFFFFF, 10), 4, 4);
  CHECK(apart.all == banks::Tally{10, 320, 30, 30, 0, 0, 10 * (4 * 3 - 3), 10 * (4 * 3 - 3)});
  CHECK(apart.ranges.size() == 1);
  CHECK(apart.unknown.empty());
  CHECK_THAT(report::to_text(apart), has(" 30-120 "));
  // Three lanes of one word: three turns, as each serves one lane of a bank; with two warps at most 6.
  const auto together = report_of_loop(loads(0, 7), 4, 2);
  CHECK(together.all == banks::Tally{1, 3, 9, 3, 6, 0, 6 * 3 - 9, 6 * 3 - 9});
  // The same with three words of one bank, but the load has three conflicts more: 3 + 2 + 1 passes.
  CHECK(report_of_loop(loads(128, 7), 4, 1).all == banks::Tally{1, 3, 12, 3, 9, 0, 0, 0});
  // 8 bytes: two half-warps of the load and of the swap.
  const auto wide = report_of_loop(loads(8), 8, 2);
  CHECK(wide.all.passes == 2 + 4);
  CHECK(wide.all.more_passes > 0);
  REQUIRE(wide.lines.size() == 1);
  CHECK(wide.lines[0].costs == wide.all);
  CHECK_FALSE(together.lines[0].worst);  // the model has no single access to show
}

TEST_CASE("trace/report/turn_of_a_loop") {
  // As a GPU is seen to execute it: two passes in any bank; a conflict if a lane has to try again.
  Pattern turn = loads(4);
  turn.operation = banks::Operation::atomic_cas;
  const auto last = report_of_loop(turn, 4, 4);
  CHECK(last.all == banks::Tally{1, 32, 2, 2, 0});
  REQUIRE(last.ranges.size() == 1);
  CHECK_THAT(last.ranges[0], has("as it happened in this run: 1 turn of loops"));
  Pattern column = loads(128, 7, 5);
  column.operation = banks::Operation::atomic_cas;
  CHECK(report_of_loop(column, 4, 4).all == banks::Tally{5, 15, 10, 0, 10});
  CHECK(report_of_loop(turn, 4, 1, "gfx1100").all.unknown == 1);
}

TEST_CASE("trace/report/unknown_range") {
  for (const auto& report : {report_of_loop(loads(4), 4, 0), report_of_loop(loads(4, 0xFFFFFFFF), 4, 1, "gfx1100")}) {
    CHECK(report.atomics.unknown == 1);
    CHECK(report.unknown ==
          std::vector<std::string>{"a 4-byte atomic of this kind is a loop whose length depends on the data"});
    CHECK(report.ranges.empty());
  }
}

TEST_CASE("trace/report/copies") {
  trace::Builder all = builder();
  trace::Pattern copy = loads(4), unknown = loads(4, 0xFFFFFFFF, 5);
  copy.operation = unknown.operation = banks::Operation::cp_async;
  for (std::uint32_t lane = 0; lane < 32; ++lane) copy.sources.push_back(8 * lane % 128);
  all.add(copy);
  const trace::Report report = trace::report(all.take(), on("sm_90"));
  CHECK(report.all.passes == 2);
  CHECK(report.all.conflicts == 1);
  CHECK(report.level(0).costs == report.all);
  for (const auto& tally : {report.loads, report.stores, report.atomics}) CHECK(tally.accesses == 0);
  REQUIRE(report.lines.size() == 1);
  REQUIRE(report.lines[0].worst);
  CHECK(report.lines[0].worst->sources == copy.sources);

  trace::Builder without = builder();
  without.add(unknown);
  const trace::KernelTrace trace = without.take();
  const trace::Report missing = trace::report(trace, on("sm_90"));
  CHECK(missing.all.unknown == 5);
  REQUIRE(missing.unknown.size() == 1);
  CHECK_THAT(missing.unknown[0], has("that lane 0 reads is not known"));
  CHECK_THROWS_AS(conflicts(trace, "sm_90"), std::invalid_argument);
  CHECK(trace::report(trace, on("sm_75")).unknown.at(0) == "sm_75 has no 4-byte cp.async");
}

TEST_CASE("trace/report/split_copies") {
  trace::Builder all = builder(64, true);
  trace::Pattern copy = loads(4, ~std::uint64_t{0});
  copy.operation = banks::Operation::cp_async;
  for (std::uint32_t lane = 0; lane < 64; ++lane) copy.sources.push_back(lane < 32 ? 4 * lane : 0);
  all.add(copy);
  const trace::Report report = trace::report(all.take(), on("sm_90"));
  CHECK(report.all.passes == 1 + 32);
  CHECK(report.lines.at(0).worst->warp == 1);
}

// The second count: accesses as a device compiler may merge them.

namespace {

/// Loads of words 16 bytes apart, ten times, of which four times two become one load of 8 bytes.
trace::KernelTrace with_merged() {
  auto all = builder();
  all.add(loads(16, 0xFFFFFFFF, 10));
  Pattern wide = loads(16, 0xFFFFFFFF, 4);
  wide.width = 8;
  all.set_merged({loads(16, 0xFFFFFFFF, 2), wide});
  return all.take();
}

}  // namespace

TEST_CASE("trace/merged/second_column") {
  const auto trace = with_merged();
  CHECK(accesses_of(trace) == 10);
  CHECK(conflicts(trace, "sm_90") == 10 * 3);
  const auto report = trace::report(trace, on("sm_90"));
  CHECK(report.all == banks::Tally{10, 320, 40, 10, 30, 0});
  CHECK(report.loads == report.all);
  const auto second = trace::report(merged(trace), on("sm_90"));
  CHECK(second.all == banks::Tally{6, 192, 2 * 4 + 4 * 4, 2 + 4 * 2, 2 * 3 + 4 * 2, 0});
  CHECK(second.loads == second.all);
  CHECK(merged(report).all == second.all);
  CHECK(merging_matters(report));
  REQUIRE(report.lines.size() == 1);
  CHECK(report.lines[0].width == 4);
  CHECK(report.lines[0].costs == report.all);
  CHECK(report.lines[0].merged == second.all);
  CHECK(report.lines[0].widest == 8);
  const std::string text = report::to_text(report);
  CHECK_THAT(text, has("passes  ideal  conflicts  merged  merged conflicts"));
  CHECK_THAT(text, has("\nmerged by a device compiler: 6 accesses: 24 passes, ideal 10, conflicts 14\n"));
}

TEST_CASE("trace/merged/no_second_column") {
  auto all = builder();
  all.add(loads(16));
  const auto report = trace::report(all.take(), on("sm_90"));
  CHECK(merged(report).all == report.all);
  CHECK_FALSE(merging_matters(report));
  CHECK_THAT(report::to_text(report), !has("merged"));
}

TEST_CASE("trace/merged/survives_file_and_sum") {
  trace::TraceWriter writer;
  std::string text = trace::header_line({});
  for (int launch = 0; launch < 3; ++launch) text += writer.lines_of(with_merged(), "");
  CHECK_THAT(text, has("\"again\""));
  const auto kernel = read(text).trace.kernels.at(0);
  REQUIRE(kernel.patterns.size() == 1);
  CHECK(kernel.patterns[0].count == 3 * 10);
  REQUIRE((kernel.merged && kernel.merged->size() == 2));
  CHECK(kernel.merged->at(0).count == 3 * 2);
  CHECK(kernel.merged->at(1).count == 3 * 4);
  CHECK(trace::report(merged(kernel), on("sm_90")).all.passes == 3 * 24);
}

TEST_CASE("trace/merged/sum_with_unmerged") {
  for (const bool first : {false, true}) {
    auto sum = builder();
    auto plain = builder();
    plain.add(loads(4));
    std::vector parts{with_merged(), plain.take()};
    if (first) std::swap(parts[0], parts[1]);
    for (const auto& part : parts) sum.add(part);
    const auto kernel = sum.take();
    CHECK(accesses_of(kernel) == 10 + 1);
    CHECK(accesses_of(merged(kernel)) == 6 + 1);
    const auto wide = std::ranges::find(*kernel.merged, 8u, &Pattern::width);
    REQUIRE(wide != kernel.merged->end());
    CHECK(wide->first.launch == (first ? 2 : 1));  // behind those that the sum has seen
  }
}

TEST_CASE("trace/merged/excess_counts_once") {
  auto full = builder(32, false, {300, {&on("sm_90")}});  // too small for one pattern; twice this is not
  full.add(with_merged());
  const auto kernel = full.take();
  CHECK(kernel.excess_accesses == 10);
  CHECK(accesses_of(merged(kernel)) == 10);
  CHECK(trace::report(merged(kernel), on("sm_90")).all == trace::report(kernel, on("sm_90")).all);
}

TEST_CASE("trace/report/global") {
  auto all = builder(64, true);
  trace::Pattern column = loads(256, ~std::uint64_t{0}, 10), row = loads(4, ~std::uint64_t{0}, 3);
  all.add_global(column);
  all.add_global(row);
  trace::Pattern store = row;
  store.operation = banks::Operation::store;
  all.add_global(store);
  const auto trace = all.take();
  const auto report = trace::report(trace, on("sm_90"));
  REQUIRE(report.global_lines.size() == 2);
  const trace::GlobalLineReport& line = report.global_lines[0];
  // Two warps each: a column touches 32 sectors and lines for 128 bytes, a row four sectors of one line.
  CHECK(line.costs == banks::SectorTally{26, 26 * 32, 20 * 32 + 6 * 4, 26 * 4, 20 * 32 + 6, 26 * 128, 0});
  REQUIRE(line.typical);
  CHECK(line.typical->cost == banks::SectorCost{32, 4, 32, 128});
  CHECK(line.typical->count == 10);
  CHECK(report.global_lines[1].costs.sectors == 6 * 4);
  CHECK(report.global.accesses == 32);
  CHECK(report.all.accesses == 0);
  CHECK(trace::report(trace, on("sm_20")).global.unknown == 32);
}

TEST_CASE("trace/report/global_excess") {
  auto all = builder(32, false, {.bytes = 0, .architectures = {&on("sm_90")}});
  CHECK_FALSE(all.add_global(loads(64, 0xFFFFFFFF, 5)));
  const auto trace = all.take();
  const auto report = trace::report(trace, on("sm_90"));
  CHECK(report.global == banks::SectorTally{5, 160, 160, 20, 80, 640, 0});
  CHECK(report.global_incomplete.empty());
  CHECK(trace::report(trace, on("sm_80")).global_incomplete.size() == 1);
}

TEST_CASE("trace/global/relative_to_line") {
  const std::uint64_t base = 0x7f0000001000;
  const std::uint64_t near[4]{base + 140, base + 132, 0, base + 2000};
  CHECK(trace::relative_to_line(0b1011, near) == std::vector<std::uint32_t>{12, 4, 0, 1872});
  // A far gap shrinks by whole lines: sectors and their places within lines stay.
  const std::uint64_t far[3]{base + 36, base + (std::uint64_t{40} << 30) + 8, base + (std::uint64_t{40} << 30) + 16};
  const auto offsets = trace::relative_to_line(0b111, far);
  CHECK(offsets[0] == 36);
  CHECK(offsets[1] % 128 == 8);
  CHECK(offsets[1] >= 16 << 20);
  CHECK(offsets[2] == offsets[1] + 8);
}
