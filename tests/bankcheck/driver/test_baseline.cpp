#include "bankcheck/driver/baseline.hpp"

#include <fstream>

#include <bankwise/support/exit_code.hpp>
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using namespace bankwise;
using namespace bankwise::driver;

namespace {

using Sentences = std::vector<std::string>;
const std::string head = "kernel,architecture,accesses,conflicts,unknown\n";

/// read_baseline() of a file with this text.
Baseline read(const std::string& text) {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "b.csv";
  std::ofstream(path, std::ios::binary) << text;
  return read_baseline(path.string());
}

/// Refused with these words.
void check_baseline_refused(const std::string& text, const std::string& words) {
  INFO(text);
  CHECK_THROWS_AS(read(text), support::UsageError);
  CHECK_THROWS_WITH(read(text), has(words));
}

bool same(const Baseline& a, const Baseline& b) { return to_csv(a) == to_csv(b); }

const Baseline two{{{"k", "sm_90"}, {{10, 3}}}, {{"other", "sm_90"}, {{20, 0}}}};

}  // namespace

TEST_CASE("driver/baseline/written_sorted") {
  CHECK(to_csv({}) == head);
  CHECK(to_csv({{{"b", "sm_90"}, {{1, 2}}}, {{"a", "sm_90"}, {{3, 4}}}, {{"a", "gfx942"}, {{5, 6}}}}) ==
        head + "a,gfx942,5,6,0\na,sm_90,3,4,0\nb,sm_90,1,2,0\n");
}

TEST_CASE("driver/baseline/read_back") {
  const Baseline written{
      {{"k", "gfx942"}, {{~std::uint64_t{0}, 0}}}, {{"k#2", "sm_90"}, {{1, 2}}}, {{"a,\"b\"", "sm_90"}, {{3, 4}}}};
  const Baseline again = read(to_csv(written));
  REQUIRE(again.size() == 3);
  CHECK(again.at({"k", "gfx942"}).accesses == ~std::uint64_t{0});
  CHECK(again.at({"k#2", "sm_90"}).cost == 2);
  CHECK(again.at({"a,\"b\"", "sm_90"}).accesses == 3);
  CHECK(read(head).empty());
  CHECK(same(read("kernel,architecture,accesses,conflicts,unknown\r\nk,sm_90,10,3,0\r\n\r\nother,sm_90,20,0,0"), two));
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(same(read(mark + to_csv(two)), two));
  check_baseline_refused(mark + mark + head, "b.csv:1: not a line of a baseline");
  CHECK(read(head + mark + "k,sm_90,1,2,0\n").contains({mark + "k", "sm_90"}));
}

TEST_CASE("driver/baseline/refused") {
  for (const char* line :
       {"k,sm_90,1,0", "k,sm_90,1,2,3,0", "k,sm_90,1,-2,0", "k,sm_90,one,2,0", "k,sm_90,1,2.5,0", "k,sm_90,,2,0",
        "k,sm_90,1, 2,0", "k,sm_90,1,99999999999999999999,0", "\"k,sm_90,1,2,0", "k,sm_90,1,2,x", "k", " "}) {
    check_baseline_refused(head + "a,sm_90,1,2,0\n" + line + "\n",
                           "b.csv:3: not a line of a baseline, kernel,architecture,accesses,conflicts,unknown");
  }
  // A second row.
  for (const char* row : {"a,sm_90,1,2,0", "a,sm_90,1,3,0", "\"a\",sm_90,1,2,0"}) {
    check_baseline_refused(head + "a,sm_90,1,2,0\na,gfx942,1,2,0\n\n" + row + "\n",
                           "b.csv:5: a second row of a on sm_90; the first is in line 2");
  }
  // Another header.
  for (const char* text : {"", "\n", "kernel,conflicts\nk,1\n", "k,sm_90,1,2,0\n", "{}\n"}) {
    check_baseline_refused(text, "b.csv:1: not a line of a baseline");
  }
  // A file that cannot be read.
  const ScratchDirectory scratch;
  const std::string path = (scratch.path() / "none.csv").string();
  CHECK_THROWS_AS(read_baseline(path), support::UsageError);
  CHECK_THROWS_WITH(read_baseline(path), "cannot read " + path + "; --update-baseline " + path + " creates it");
  CHECK_THROWS_AS(read_baseline(scratch.path().string()), support::UsageError);
}

TEST_CASE("driver/baseline/sums_of_lines") {
  const auto on = [](const char* architecture, banks::Tally tally) {
    return trace::Report{.architecture = banks::find_architecture(architecture), .all = tally};
  };
  const KernelReport kernel{
      "k#2", {.kernel = "k"}, {on("sm_90", {11, 352, 55, 22, 33, 0}), on("gfx942", {1, 32, 5, 2, 3, 0})}, {}};
  const KernelReport idle{"idle", {.kernel = "idle"}, {on("sm_90", {})}, {}};
  CHECK(to_csv(baseline_of({kernel, idle})) == head + "idle,sm_90,0,0,0\nk#2,gfx942,1,3,0\nk#2,sm_90,11,33,0\n");
}

TEST_CASE("driver/baseline/compared") {
  CHECK(compare(two, {3}).exceeded.empty());
  CHECK(compare(two, {2}).exceeded == Sentences{"k has 3 conflicts on sm_90; --max-conflicts allows 2"});
  CHECK(compare({{{"k", "sm_90"}, {{1, 1}}}}, {0}).exceeded ==
        Sentences{"k has 1 conflict on sm_90; --max-conflicts allows 0"});
  CHECK(compare(two, {2}).remarks.empty());
  const Baseline both{{{"k", "sm_90"}, {{1, 5}}}, {{"k", "gfx942"}, {{1, 6}}}};
  CHECK(compare(both, {0}).exceeded.size() == 2);
  // With a baseline.
  const auto check = [](const Baseline& now, const Sentences& exceeded, const Sentences& remarks = {}) {
    INFO(to_csv(now));
    const Verdict verdict = compare(now, two, "b.csv", true);
    CHECK(verdict.exceeded == exceeded);
    CHECK(verdict.remarks == remarks);
  };
  const auto with = [](const char* kernel, Allowed counts) {
    Baseline now = two;
    now[{kernel, "sm_90"}] = counts;
    return now;
  };
  check(two, {});
  check(with("k", {{10, 4}}), {"k has 4 conflicts on sm_90, and 3 in b.csv"});
  check(with("k", {{11, 4}}), {"k has 4 conflicts on sm_90, and 3 in b.csv (11 accesses, 10 there)"});
  check(with("k", {{10, 1}}), {}, {"k has 1 conflict on sm_90, and 3 in b.csv: better"});
  check(with("new", {{5, 0}}), {});
  check(with("new", {{5, 1}}), {"new has 1 conflict on sm_90, and b.csv does not list it"});
  // A row for another architecture does not count.
  CHECK(compare({{{"k", "gfx942"}, {{1, 1}}}}, two, "b.csv", true).exceeded.size() == 1);
  // A kernel that did not run.
  const Baseline now{{{"k", "sm_90"}, {{10, 3}}}};
  check(now, {}, {"other on sm_90 is in b.csv but did not run"});
  CHECK(compare(now, two, "b.csv", false).remarks.empty());
  Baseline more = two;
  more[{"other", "gfx942"}] = {{1, 1}};  // an architecture that was not requested
  CHECK(compare(two, more, "b.csv", true).remarks.empty());
}

TEST_CASE("driver/baseline/update") {
  const Baseline old{{{"gone", "sm_90"}, {{1, 1}}}, {{"k", "gfx942"}, {{2, 2}}}, {{"k", "sm_90"}, {{3, 3}}}};
  const Baseline now{{{"k", "sm_90"}, {{4, 4}}}, {{"new", "sm_90"}, {{5, 5}}}};
  CHECK(to_csv(updated(old, now, true)) == head + "k,gfx942,2,2,0\nk,sm_90,4,4,0\nnew,sm_90,5,5,0\n");
  CHECK(to_csv(updated(old, now, false)) ==
        head + "gone,sm_90,1,1,0\nk,gfx942,2,2,0\nk,sm_90,4,4,0\nnew,sm_90,5,5,0\n");
  CHECK(same(updated({}, now, true), now));
}

namespace {

const std::string long_head =
    "kernel,architecture,accesses,conflicts,unknown,global_accesses,extra_sectors,global_unknown\n";

/// A row with extra sectors.
Allowed with_sectors(std::uint64_t conflicts, std::uint64_t extra, std::uint64_t unknown = 0) {
  return {{10, conflicts, 0}, Counts{20, extra, unknown}};
}

}  // namespace

TEST_CASE("driver/baseline/sectors_in_file") {
  const Baseline baseline{{{"a", "sm_90"}, with_sectors(3, 7)}, {{"b", "sm_90"}, {{1, 2}}}};
  const std::string text = long_head + "a,sm_90,10,3,0,20,7,0\nb,sm_90,1,2,0,,,\n";
  CHECK(to_csv(baseline) == text);
  CHECK(same(read(text), baseline));
  CHECK_FALSE(read(text).at({"b", "sm_90"}).sectors);
  CHECK(has_sectors(baseline));
  CHECK_FALSE(has_sectors(read(head + "a,sm_90,1,2,0\n")));
  for (const char* line : {"a,sm_90,10,3,0", "a,sm_90,10,3,0,20,7", "a,sm_90,10,3,0,20,,0", "a,sm_90,10,3,0,1,-7,0"})
    check_baseline_refused(long_head + line + "\n", "b.csv:2: not a line of a baseline, " + long_head.substr(0, 80));
  check_baseline_refused(head + "a,sm_90,10,3,0,20,7,0\n", "b.csv:2: not a line of a baseline");
}

TEST_CASE("driver/baseline/sectors_compared") {
  const std::pair<std::string, std::string> key{"k", "sm_90"};
  const auto exceeded = [&](const Allowed& now, const Allowed& allowed) {
    return compare({{key, now}}, {{key, allowed}}, "b.csv", true).exceeded;
  };
  CHECK(exceeded(with_sectors(3, 7), with_sectors(3, 7)).empty());
  CHECK(exceeded(with_sectors(3, 8), with_sectors(3, 7)) ==
        Sentences{"k has 8 extra sectors on sm_90, and 7 in b.csv"});
  CHECK(exceeded(with_sectors(4, 1), with_sectors(3, 0)).size() == 2);
  CHECK(exceeded(with_sectors(3, 8), {{10, 3}}).empty());  // a row of an older version limits conflicts alone
  CHECK(exceeded(with_sectors(4, 8), {{10, 3}}).size() == 1);
  CHECK(exceeded(with_sectors(3, 7, 1), with_sectors(3, 7)) ==
        Sentences{"k has 1 access to global memory without a known cost on sm_90, so no limit can be checked"});
  CHECK(compare({{key, with_sectors(3, 1)}}, {{key, with_sectors(3, 2)}}, "b.csv", true).remarks ==
        Sentences{"k has 1 extra sector on sm_90, and 2 in b.csv: better"});
  // A kernel that is not listed may have extra sectors only where the baseline limits none.
  const Baseline other{{{"other", "sm_90"}, with_sectors(0, 0)}};
  CHECK(compare({{key, with_sectors(0, 1)}}, other, "b.csv", false).exceeded ==
        Sentences{"k has 1 extra sector on sm_90, and b.csv does not list it"});
  CHECK(compare({{key, with_sectors(0, 1)}}, {{{"other", "sm_90"}, {{1, 0}}}}, "b.csv", false).exceeded.empty());
  // Without a baseline.
  const Baseline now{{key, with_sectors(3, 7)}};
  CHECK(compare(now, {.max_sectors = 7}).exceeded.empty());
  CHECK(compare(now, {.max_sectors = 6}).exceeded ==
        Sentences{"k has 7 extra sectors on sm_90; --max-sectors allows 6"});
  CHECK(compare(now, {2, 6}).exceeded.size() == 2);
}
