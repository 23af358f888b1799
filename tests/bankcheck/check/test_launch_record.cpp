// SPDX-License-Identifier: MIT
#include "bankcheck/check/launch_record.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::opencl;

namespace {

constexpr std::uint64_t huge = ~std::uint64_t{0};

LineTally line_at(unsigned line, std::uint64_t accesses, std::optional<WorstAccess> worst = std::nullopt) {
  return {.place = {"input.cl", line, 3},
          .array = "tile",
          .tally = {accesses, 32 * accesses, 2 * accesses, accesses, accesses, 0},
          .worst = std::move(worst)};
}

WorstAccess worst_of(std::uint64_t conflicts, std::uint64_t group, std::uint32_t level, std::uint32_t warp) {
  return {conflicts, group, level, warp, 1, {4}};
}

Launch small_launch(std::vector<LineTally> lines) {
  return {.kernel = "k", .work_groups = 2, .tallies = {{"sm_90", 32, std::move(lines), {}, {}}}};
}

/// No field has its usual value, and no two have the same.
Launch full_launch() {
  const LineTally line{{"/a b/k.cl", 12, 34},
                       "tile",
                       banks::Operation::atomic_cas,
                       8,
                       {1, 2, 3, 4, 5, 6},
                       7,
                       WorstAccess{8, 9, 10, 11, huge, {0, 4, 0xFFFFFFFC}}};
  return {.kernel = "transpose",
          .process = 21,
          .program = 22,
          .global = {23, 24, 25},
          .local = {26, 27, 28},
          .work_groups = 29,
          .copied_bytes = 30,
          .left_out = 31,
          .knows_code = false,
          .tallies = {{"sm_90", 32, {line}, {{41, 42, {43, 44, 45, 46, 47, 48}}, {}}, {"why", "\"quoted\"\n"}},
                      {"gfx942", 64, {}, {}, {}}}};
}

}  // namespace

TEST_CASE("a launch comes back from the record as it was") {
  const Launch written = full_launch();
  const std::string text = line_of(written);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(text.back() == '\n');
  const Record record = parse_record(text);
  REQUIRE(record.launches.size() == 1);
  const Launch& read = record.launches[0];
  CHECK(read.kernel == "transpose");
  CHECK(read.process == 21);
  CHECK(read.program == 22);
  CHECK(read.global == std::array<std::uint64_t, 3>{23, 24, 25});
  CHECK(read.local == std::array<std::uint64_t, 3>{26, 27, 28});
  CHECK(read.launches == 1);
  CHECK(read.work_groups == 29);
  CHECK(read.copied_bytes == 30);
  CHECK(read.left_out == 31);
  CHECK_FALSE(read.knows_code);
  REQUIRE(read.tallies.size() == 2);
  CHECK(read.tallies[1].architecture == "gfx942");
  CHECK(read.tallies[1].warp == 64);
  CHECK(read.tallies[1].lines.empty());
  const ArchitectureTally& tally = read.tallies[0];
  CHECK(tally.architecture == "sm_90");
  CHECK(tally.warp == 32);
  CHECK(tally.unknown == std::vector<std::string>{"why", "\"quoted\"\n"});
  REQUIRE(tally.levels.size() == 2);
  CHECK(tally.levels[0].active_lanes == 41);
  CHECK(tally.levels[0].issued_warps == 42);
  CHECK(tally.levels[0].tally == banks::Tally{43, 44, 45, 46, 47, 48});
  CHECK(tally.levels[1].tally == banks::Tally{});
  REQUIRE(tally.lines.size() == 1);
  const LineTally& line = tally.lines[0];
  CHECK(line.place == Place{"/a b/k.cl", 12, 34});
  CHECK(line.array == "tile");
  CHECK(line.operation == banks::Operation::atomic_cas);
  CHECK(line.width == 8);
  CHECK(line.tally == banks::Tally{1, 2, 3, 4, 5, 6});
  CHECK(line.mixed == 7);
  REQUIRE(line.worst);
  CHECK(line.worst->conflicts == 8);
  CHECK(line.worst->group == 9);
  CHECK(line.worst->level == 10);
  CHECK(line.worst->warp == 11);
  CHECK(line.worst->mask == huge);
  CHECK(line.worst->addresses == std::vector<std::uint32_t>{0, 4, 0xFFFFFFFC});
}

TEST_CASE("a line without conflicts has no worst access in the record either") {
  const Record record = parse_record(line_of(small_launch({line_at(1, 5)})));
  CHECK_FALSE(record.launches.at(0).tallies.at(0).lines.at(0).worst);
}

TEST_CASE("a record holds contexts, sources, launches and errors in their order") {
  CHECK(parse_record("").contexts == 0);
  Launch second = full_launch();
  second.kernel = "k";
  const Record record = parse_record(context_line() + line_of(ProgramSource{1, 2, "one\n\"two\"\\\t"}) +
                                     line_of(full_launch()) + error_line("first\nsecond") + context_line() +
                                     line_of(ProgramSource{3, 4, ""}) + line_of(second) + error_line("more"));
  CHECK(record.contexts == 2);
  REQUIRE(record.sources.size() == 2);
  CHECK(record.sources[0].process == 1);
  CHECK(record.sources[0].program == 2);
  CHECK(record.sources[0].text == "one\n\"two\"\\\t");
  CHECK(record.sources[1].text.empty());
  REQUIRE(record.launches.size() == 2);
  CHECK(record.launches[0].kernel == "transpose");
  CHECK(record.launches[1].kernel == "k");
  CHECK(record.errors == std::vector<std::string>{"first\nsecond", "more"});
}

TEST_CASE("sources of any bytes come back line for line") {
  const std::string text =
      "/* caf\xE9 */\nkernel void k() {\xFF\xC0}\n// \xE2\x82\xAC and " + std::string(1, '\0') + "\n";
  const Record record = parse_record(line_of(ProgramSource{1, 2, text}));
  const std::string& read = record.sources.at(0).text;
  CHECK(std::count(read.begin(), read.end(), '\n') == 3);
  CHECK(read.starts_with("/* caf\xEF\xBF\xBD"));  // U+FFFD in the place of what is no Unicode
  CHECK(read.find("// \xE2\x82\xAC and ") != std::string::npos);
  CHECK(read.ends_with(std::string("\0\n", 2)));
  CHECK(parse_record(error_line("bad \xFF byte")).errors.at(0) == "bad \xEF\xBF\xBD byte");
}

TEST_CASE("a damaged line is an error that names it") {
  const std::string good = context_line();
  const auto damaged = [&](const std::string& line) {
    INFO(line);
    CHECK_THROWS_WITH(parse_record(good + line), "line 2 of the plugin's record is damaged");
    CHECK_THROWS_AS(parse_record(good + line), std::runtime_error);
  };
  for (const char* line : {"garbage", "{}", "[]", "3", "null", "\n", R"({"record":"launch"})", R"({"record":"source"})",
                           R"({"record":"error"})", R"({"record":5})", R"({"record":"nothing"})",
                           R"({"record":"source","process":1,"program":"two","text":""})",
                           R"({"record":"source","process":1,"program":2,"text":3})", "\xFF\xFE"}) {
    damaged(line);
  }
  damaged(std::string(100, '\0'));
  CHECK_THROWS_WITH(parse_record(good + good + "x\n" + good), "line 3 of the plugin's record is damaged");
}

TEST_CASE("a launch that lost its end or a part is damaged") {
  const std::string line = line_of(full_launch());
  for (std::size_t length = 1; length + 1 < line.size(); ++length) {
    INFO(length);
    REQUIRE_THROWS_AS(parse_record(line.substr(0, length)), std::runtime_error);
  }
  CHECK(parse_record(line.substr(0, line.size() - 1)).launches.size() == 1);  // the newline alone holds nothing
  const auto whole = nlohmann::json::parse(line);
  for (const auto& [key, value] : whole.items()) {
    INFO(key);
    auto part = whole;
    part.erase(key);
    CHECK_THROWS_AS(parse_record(part.dump()), std::runtime_error);
    part[key] = value.is_string() ? nlohmann::json(1) : nlohmann::json("text");
    CHECK_THROWS_AS(parse_record(part.dump()), std::runtime_error);
  }
  for (const char* key : {"file", "line", "column", "array", "operation", "width", "tally", "mixed"}) {
    INFO(key);
    auto part = whole;
    part["tallies"][0]["lines"][0].erase(key);
    CHECK_THROWS_AS(parse_record(part.dump()), std::runtime_error);
  }
  auto part = whole;
  part["tallies"][0]["lines"][0]["operation"] = "dance";
  CHECK_THROWS_AS(parse_record(part.dump()), std::runtime_error);
  part = whole;
  part["tallies"][0]["lines"][0]["tally"].erase(5);
  CHECK_THROWS_AS(parse_record(part.dump()), std::runtime_error);
}

TEST_CASE("launches add up line by line, and lines stay sorted") {
  Launch sum = small_launch({line_at(2, 10), line_at(4, 1)});
  Launch other = small_launch({line_at(1, 3), line_at(2, 5), line_at(9, 7)});
  sum.copied_bytes = 100;
  other.copied_bytes = 11;
  other.left_out = 2;
  other.knows_code = false;
  add(sum, other);
  CHECK(sum.launches == 2);
  CHECK(sum.work_groups == 4);
  CHECK(sum.copied_bytes == 111);
  CHECK(sum.left_out == 2);
  CHECK_FALSE(sum.knows_code);
  const auto& lines = sum.tallies[0].lines;
  std::vector<std::pair<unsigned, std::uint64_t>> found;
  for (const LineTally& line : lines) found.emplace_back(line.place.line, line.tally.accesses);
  CHECK(found == std::vector<std::pair<unsigned, std::uint64_t>>{{1, 3}, {2, 15}, {4, 1}, {9, 7}});
  CHECK(lines[1].tally == banks::Tally{15, 480, 30, 15, 15, 0});
}

TEST_CASE("what differs in array, operation, width or column does not add up") {
  const LineTally line = line_at(2, 10);
  std::vector<LineTally> others(4, line);
  others[0].array = "other";
  others[1].operation = banks::Operation::store;
  others[2].width = 8;
  others[3].place.column = 4;
  for (const LineTally& other : others) {
    Launch sum = small_launch({line});
    add(sum, small_launch({other}));
    CHECK(sum.tallies[0].lines.size() == 2);
  }
  Launch sum = small_launch({line});
  add(sum, small_launch({line}));
  CHECK(sum.tallies[0].lines.size() == 1);
}

TEST_CASE("levels add up by their number, and reasons are each kept once, sorted") {
  Launch sum = small_launch({}), other = small_launch({});
  sum.tallies[0].levels = {{1, 2, {3, 0, 0, 0, 0, 0}}};
  sum.tallies[0].unknown = {"b"};
  other.tallies[0].levels = {{10, 20, {30, 0, 0, 0, 0, 0}}, {5, 6, {7, 0, 0, 0, 0, 0}}};
  other.tallies[0].unknown = {"c", "b", "a"};
  add(sum, other);
  const auto& levels = sum.tallies[0].levels;
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].active_lanes == 11);
  CHECK(levels[0].issued_warps == 22);
  CHECK(levels[0].tally.accesses == 33);
  CHECK(levels[1].active_lanes == 5);
  CHECK(levels[1].tally.accesses == 7);
  CHECK(sum.tallies[0].unknown == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("the worst access is the same in whatever order they come") {
  const std::vector<WorstAccess> ranked{worst_of(9, 5, 5, 5), worst_of(7, 0, 3, 9), worst_of(7, 1, 0, 2),
                                        worst_of(7, 1, 1, 0), worst_of(7, 1, 1, 1), worst_of(2, 0, 0, 0)};
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
  do {
    // Of any first three, the best ranked.
    std::optional<WorstAccess> worst;
    for (std::size_t i = 0; i < 3; ++i) keep_worse(worst, ranked[order[i]]);
    const WorstAccess& expected = ranked[*std::min_element(order.begin(), order.begin() + 3)];
    REQUIRE(worst);
    REQUIRE(std::tie(worst->conflicts, worst->group, worst->level, worst->warp) ==
            std::tie(expected.conflicts, expected.group, expected.level, expected.warp));
  } while (std::next_permutation(order.begin(), order.end()));

  for (const bool swap : {false, true}) {
    Launch sum = small_launch({line_at(1, 1, worst_of(3, 4, 0, 0))});
    Launch other = small_launch({line_at(1, 1, worst_of(3, 2, 0, 0))});
    if (swap) std::swap(sum, other);
    add(sum, other);
    CHECK(sum.tallies[0].lines[0].worst->group == 2);
    add(sum, small_launch({line_at(1, 1)}));
    CHECK(sum.tallies[0].lines[0].worst->group == 2);
  }
}
