#include <bankwise/trace/builder.hpp>

#include <bankwise/trace/report.hpp>
#include "small_trace.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace small;
using trace::Builder;
using trace::Pattern;

TEST_CASE("trace/builder/first_occurrence") {
  Builder all = builder();
  Pattern one = loads(4);
  one.first = {3, 1, 0, 9};
  CHECK(all.add(one) == 0U);
  one.first = {2, 7, 0, 1};
  CHECK(all.add(one) == 0U);
  one.first = {2, 7, 0, 5};
  one.count = 10;
  CHECK(all.add(one) == 0U);
  const auto trace = all.take();
  REQUIRE(trace.patterns.size() == 1);
  CHECK(trace.patterns[0].count == 12);
  CHECK(trace.patterns[0].first == trace::Occurrence{2, 7, 0, 1});
  CHECK(accesses_of(trace) == 12);
}

TEST_CASE("trace/builder/different_patterns") {
  Builder all = builder();
  all.site({.file = "k.cl", .line = 4});
  all.array({"other", 4096, 4096});
  Pattern two_arrays = loads(4);
  two_arrays.lane_arrays.assign(32, 0);
  two_arrays.lane_arrays[31] = 1;
  Pattern copy = loads(4), other_copy = copy;
  copy.sources.assign(32, 0);
  other_copy.sources.assign(32, 4);
  std::vector<Pattern> different{loads(4), loads(8), loads(4, 0x7FFFFFFF), two_arrays};
  for (int i = 0; i < 6; ++i) different.push_back(loads(4));
  different[4].site = 1;
  different[5].array = 1;
  different[6].operation = banks::Operation::store;
  different[7].width = 2;
  different[8].level = 1;
  different[9].is_loop = true;
  different.insert(different.end(), {copy, other_copy});
  for (int time = 0; time < 2; ++time) {
    for (std::uint32_t i = 0; i < different.size(); ++i) CHECK(all.add(different[i]) == i);
  }
  CHECK(all.take().patterns.size() == different.size());
}

TEST_CASE("trace/builder/normalize") {
  Pattern one = loads(4, 0b101), other = one;
  other.addresses = {0, 77, 8, 99};
  normalize(other);
  CHECK(other.addresses == one.addresses);
  CHECK(other.addresses == std::vector<std::uint32_t>{0, 0, 8});
  Pattern copy = loads(4, 0b101);
  copy.operation = banks::Operation::cp_async;
  copy.sources = {128, 77, 1148, 99};
  normalize(copy);
  CHECK(copy.sources == std::vector<std::uint32_t>{0, 0, 124});
  // Past the L1 cache, with cache lines in the order of the lanes, but for those that write zeros.
  Pattern past = loads(16, 0b1111101);
  past.sources = {0x12345690, 77, banks::no_source, 0x100, 0x123456A0, 0x170, 0x80};
  Pattern through = past;
  past.operation = banks::Operation::cp_async_cg;
  through.operation = banks::Operation::cp_async;
  for (int time = 0; time < 2; ++time) {
    normalize(past);
    normalize(through);
    CHECK(past.sources == std::vector<std::uint32_t>{16, 0, banks::no_source, 128, 32, 128 + 112, 256});
    CHECK(through.sources == std::vector<std::uint32_t>{16, 0, banks::no_source, 0, 32, 112, 0});
  }
}

TEST_CASE("trace/builder/excess") {
  // Both ways on the same accesses: 60 patterns, each of which occurs as often as its number says.
  const std::vector<const banks::Architecture*> architectures{&on("sm_90"), &on("gfx942")};
  Builder whole = builder(64, true), bounded = builder(64, true, {5000, architectures});
  for (std::uint32_t i = 1; i <= 60; ++i) {
    Pattern one = loads(4 * i, i % 2 == 0 ? ~std::uint64_t{0} : 0xFFFFFFFF00, i);
    one.level = i % 3;
    one.first.number = i;
    whole.add(one);
    bounded.add(one);
  }
  const auto expected = whole.take(), found = bounded.take();
  CHECK(found.patterns.size() < 20);
  CHECK(found.patterns.size() > 4);
  CHECK(accesses_of(found) == accesses_of(expected));
  CHECK(accesses_of(found) == 60 * 61 / 2);
  for (const auto* architecture : architectures) {
    INFO(architecture->name);
    const auto a = trace::report(expected, *architecture), b = trace::report(found, *architecture);
    CHECK(a.all == b.all);
    CHECK(b.all.conflicts > 0);
    REQUIRE(a.lines.size() == b.lines.size());
    CHECK(a.lines[0].costs == b.lines[0].costs);
    for (std::uint32_t i = 0; i < 3; ++i) CHECK(a.level(i).costs == b.level(i).costs);
    CHECK(b.incomplete.empty());
  }
  // This architecture was not requested.
  const auto other = trace::report(found, on("intel_xe"));
  REQUIRE(other.incomplete.size() == 1);
  CHECK_THAT(other.incomplete[0], has("have no cost on intel_xe"));
  CHECK_THROWS_AS(conflicts(found, "intel_xe"), std::invalid_argument);
  CHECK_NOTHROW(conflicts(found, "sm_90"));
  // One whose cost is unknown.
  Builder all = builder(32, false, {0, {&on("sm_20")}});
  Pattern atomic = loads(4);
  atomic.operation = banks::Operation::atomic;
  CHECK_FALSE(all.add(atomic).has_value());
  const auto report = trace::report(all.take(), on("sm_20"));
  CHECK(report.all.unknown == 1);
  CHECK(report.unknown.size() == 1);
  CHECK(report.atomics.accesses == 1);
}

TEST_CASE("trace/builder/added_up") {
  Builder one = builder(), other = builder();
  const auto site = other.site({.file = "k.cl", .line = 1});
  const auto array = other.array({"a", 8192, 4});
  one.add(loads(4));
  Pattern moved = loads(4);
  moved.site = site;
  moved.array = array;
  moved.first = {1, 0, 0, 3};
  other.add(moved);
  other.add(loads(4, 0xFFFFFFFF, 5));
  other.add(trace::Participants{0, 3, 2});
  other.add(trace::BasicBlock{site, 0, 10, 20});
  one.trace().left_out = {{"TMA", 5}};
  other.trace().left_out = {{"TMA", 2}, {"cp.async", 1}};
  one.add(trace::EngineAccesses{0, {banks::Engine::wgmma, 4096, 0}, 3});
  other.add(trace::EngineAccesses{0, {banks::Engine::wgmma, 4096, 0}, 4});
  other.add(trace::EngineAccesses{site, {banks::Engine::wgmma, 4096, 0}, 5});
  other.trace().copied_bytes = 100;
  other.trace().knows_code = false;

  // The first trace has them in the other order.
  Builder sum({.kernel = "k"});
  sum.array({"a", 8192, 4});
  sum.site({.file = "k.cl", .line = 1});
  sum.add(one.take());
  sum.add(other.take());
  const auto trace = sum.take();
  CHECK(launches_of(trace) == 2);
  REQUIRE(trace.shapes.size() == 1);
  CHECK(trace.blocks == 2);
  CHECK(trace.left_out == trace::LeftOut{{"TMA", 7}, {"cp.async", 1}});
  REQUIRE(trace.engines.size() == 2);
  CHECK(trace.sites[trace.engines[0].site].line == 3);
  CHECK(trace.engines[0].count == 7);
  CHECK(trace.sites[trace.engines[1].site].line == 1);
  CHECK(trace.copied_bytes == 100);
  CHECK_FALSE(trace.knows_code);
  REQUIRE(trace.patterns.size() == 2);
  CHECK(trace.patterns[0].count == 6);
  CHECK(trace.patterns[0].first.launch == 0);
  CHECK(trace.arrays[trace.patterns[0].array].name == "tile");
  CHECK(trace.sites[trace.patterns[1].site].line == 1);
  CHECK(trace.arrays[trace.patterns[1].array].name == "a");
  CHECK(trace.patterns[1].first == trace::Occurrence{1, 0, 1, 3});  // of the second launch
  REQUIRE(trace.basic_blocks.size() == 1);
  CHECK(trace.sites[trace.basic_blocks[0].site].line == 1);
  REQUIRE(trace.participants.size() == 1);
}

TEST_CASE("trace/builder/diagnoses") {
  using trace::DiagnosisRecord, trace::Fault;
  const auto together = [](const std::vector<DiagnosisRecord>& all) {
    auto builder = small::builder();
    builder.site({.file = "k.cl", .line = 9});
    for (const DiagnosisRecord& one : all) builder.add(one);
    auto trace = builder.take();
    put_in_order(trace);
    return trace.diagnoses;
  };
  const DiagnosisRecord late{Fault::race, 0, 1, false, "late", 2, {7, 1, 0, 0}};
  const DiagnosisRecord early{Fault::race, 1, 0, false, "early", 3, {5, 4, 0, 0}};
  for (const auto& all : {std::vector{late, early}, {early, late}}) {
    const auto one = together(all);
    REQUIRE(one.size() == 1);
    CHECK(one[0].text == "early");
    CHECK(one[0].site == 1);
    CHECK(one[0].other == 0);
    CHECK(one[0].count == 5);
    CHECK(one[0].first.block == 5);
  }
  DiagnosisRecord other = late;
  other.fault = Fault::unwritten;
  DiagnosisRecord alone = late;
  alone.other = {};
  DiagnosisRecord ended = late;
  ended.ended = true;
  CHECK(together({late, other, alone, ended}).size() == 4);
  // Those of two launches.
  auto builder = small::builder();
  auto part = small::builder();
  part.add(trace::DiagnosisRecord{trace::Fault::race, 0, {}, false, "x", 2, {0, 0, 0, 0}});
  const auto launch = part.take();
  builder.add(launch);
  builder.add(launch);
  const auto all = builder.take();
  REQUIRE(all.diagnoses.size() == 1);
  CHECK(all.diagnoses[0].count == 4);
  CHECK(all.diagnoses[0].first.launch == 1);  // the builder had one launch before
}

TEST_CASE("trace/builder/other_operation") {
  Builder all = builder();
  Pattern increment = loads(0, 0xFFFFFFFF, 2);
  increment.operation = banks::Operation::atomic_inc;
  const auto number = all.add(increment);
  REQUIRE(number);
  CHECK(all.change_operation(*number, banks::Operation::atomic, {0, 0, 0, 7}) == 1U);
  CHECK(all.trace().patterns[0].count == 1);
  all.change_operation(*number, banks::Operation::atomic, {0, 0, 0, 3});
  const auto trace = all.take();
  REQUIRE(trace.patterns.size() == 1);  // nothing remains of the other
  CHECK(trace.patterns[0].operation == banks::Operation::atomic);
  CHECK(trace.patterns[0].count == 2);
  CHECK(trace.patterns[0].first.number == 3);
}

TEST_CASE("trace/builder/limits") {
  Builder all = builder();
  Pattern late = loads(4);
  late.level = 3'000'000'000;
  all.add(late);
  all.add(trace::Participants{late.level, 1, 1});
  const auto trace = all.take();
  CHECK(trace.levels == trace::max_levels);
  CHECK(trace.patterns[0].level == trace::max_levels - 1);
  CHECK(trace.participants[0].level == trace::max_levels - 1);
  // Numbers of blocks saturate.
  CHECK(blocks_of(trace::LaunchShape{{65, 3, 1}, {32, 2, 1}, 1}) == 6);
  CHECK(blocks_of(trace::LaunchShape{{~std::uint64_t{0}, ~std::uint64_t{0}, 1}, {1, 1, 1}, 1}) == ~std::uint64_t{0});
  CHECK(blocks_of(trace::LaunchShape{{8, 1, 1}, {0, 1, 1}, 1}) == 8);
}

TEST_CASE("trace/builder/any_order") {
  const auto added = [](bool backwards) {
    Builder all({.kernel = "k"});
    std::vector<Pattern> patterns;
    for (std::uint32_t i = 0; i < 5; ++i) {
      const std::uint32_t line = backwards ? 4 - i : i;
      Pattern one = loads(4 * line);
      one.site = all.site({.file = "k.cl", .line = line});
      one.array = all.array({std::to_string(line), 0, 0});
      one.first.number = 10 - line;
      all.add(one);
      all.add(trace::Participants{0, line + 1, 1});
    }
    trace::KernelTrace kernel = all.take();
    put_in_order(kernel);
    return to_json_lines(trace::Trace{.kernels = {kernel}});
  };
  CHECK(added(true) == added(false));
}
