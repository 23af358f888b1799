// SPDX-License-Identifier: MIT
#include "bankcheck/driver/baseline.hpp"

#include <fstream>

#include <bankwise/support/exit_code.hpp>
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using namespace bankwise;
using namespace bankwise::driver;
using Catch::Matchers::ContainsSubstring;

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

bool same(const Baseline& a, const Baseline& b) { return to_csv(a) == to_csv(b); }

const Baseline two{{{"k", "sm_90"}, {10, 3}}, {{"other", "sm_90"}, {20, 0}}};

}  // namespace

TEST_CASE("driver/baseline/written_sorted") {
  CHECK(to_csv({}) == head);
  CHECK(to_csv({{{"b", "sm_90"}, {1, 2}}, {{"a", "sm_90"}, {3, 4}}, {{"a", "gfx942"}, {5, 6}}}) ==
        head + "a,gfx942,5,6,0\na,sm_90,3,4,0\nb,sm_90,1,2,0\n");
}

TEST_CASE("driver/baseline/read_back") {
  const Baseline written{
      {{"k", "gfx942"}, {~std::uint64_t{0}, 0}}, {{"k#2", "sm_90"}, {1, 2}}, {{"a,\"b\"", "sm_90"}, {3, 4}}};
  const Baseline again = read(to_csv(written));
  REQUIRE(again.size() == 3);
  CHECK(again.at({"k", "gfx942"}).accesses == ~std::uint64_t{0});
  CHECK(again.at({"k#2", "sm_90"}).conflicts == 2);
  CHECK(again.at({"a,\"b\"", "sm_90"}).accesses == 3);
  CHECK(read(head).empty());
}

TEST_CASE("driver/baseline/line_endings") {
  CHECK(same(read("kernel,architecture,accesses,conflicts,unknown\r\nk,sm_90,10,3,0\r\n\r\nother,sm_90,20,0,0"), two));
}

TEST_CASE("driver/baseline/malformed_lines") {
  for (const char* line :
       {"k,sm_90,1,0", "k,sm_90,1,2,3,0", "k,sm_90,1,-2,0", "k,sm_90,one,2,0", "k,sm_90,1,2.5,0", "k,sm_90,,2,0",
        "k,sm_90,1, 2,0", "k,sm_90,1,99999999999999999999,0", "\"k,sm_90,1,2,0", "k,sm_90,1,2,x", "k", " "}) {
    INFO(line);
    CHECK_THROWS_AS(read(head + "a,sm_90,1,2,0\n" + line + "\n"), UsageError);
    CHECK_THROWS_WITH(
        read(head + "a,sm_90,1,2,0\n" + line + "\n"),
        ContainsSubstring("b.csv:3: not a line of a baseline, kernel,architecture,accesses,conflicts,unknown"));
  }
}

TEST_CASE("driver/baseline/second_row") {
  for (const char* row : {"a,sm_90,1,2,0", "a,sm_90,1,3,0", "\"a\",sm_90,1,2,0"}) {
    INFO(row);
    const std::string text = head + "a,sm_90,1,2,0\na,gfx942,1,2,0\n\n" + row + "\n";
    CHECK_THROWS_AS(read(text), UsageError);
    CHECK_THROWS_WITH(read(text), ContainsSubstring("b.csv:5: a second row of a on sm_90; the first is in line 2"));
  }
}

TEST_CASE("driver/baseline/byte_order_mark") {
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(same(read(mark + to_csv(two)), two));
  CHECK_THROWS_WITH(read(mark + mark + head), ContainsSubstring("b.csv:1: not a line of a baseline"));
  CHECK(read(head + mark + "k,sm_90,1,2,0\n").contains({mark + "k", "sm_90"}));
}

TEST_CASE("driver/baseline/other_header") {
  for (const char* text : {"", "\n", "kernel,conflicts\nk,1\n", "k,sm_90,1,2,0\n", "{}\n"}) {
    INFO(text);
    CHECK_THROWS_AS(read(text), UsageError);
    CHECK_THROWS_WITH(read(text), ContainsSubstring("b.csv:1: not a line of a baseline"));
  }
}

TEST_CASE("driver/baseline/unreadable") {
  const ScratchDirectory scratch;
  const std::string path = (scratch.path() / "none.csv").string();
  CHECK_THROWS_AS(read_baseline(path), UsageError);
  CHECK_THROWS_WITH(read_baseline(path), "cannot read " + path + "; --update-baseline " + path + " creates it");
  CHECK_THROWS_AS(read_baseline(scratch.path().string()), UsageError);
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

TEST_CASE("driver/baseline/max_conflicts") {
  CHECK(compare(two, 3).exceeded.empty());
  CHECK(compare(two, 2).exceeded == Sentences{"k has 3 conflicts on sm_90; --max-conflicts allows 2"});
  CHECK(compare({{{"k", "sm_90"}, {1, 1}}}, 0).exceeded ==
        Sentences{"k has 1 conflict on sm_90; --max-conflicts allows 0"});
  CHECK(compare(two, 2).remarks.empty());
  const Baseline both{{{"k", "sm_90"}, {1, 5}}, {{"k", "gfx942"}, {1, 6}}};
  CHECK(compare(both, 0).exceeded.size() == 2);
}

TEST_CASE("driver/baseline/match") {
  const Verdict verdict = compare(two, two, "b.csv", true);
  CHECK(verdict.exceeded.empty());
  CHECK(verdict.remarks.empty());
}

TEST_CASE("driver/baseline/exceeded") {
  Baseline now = two;
  now[{"k", "sm_90"}] = {10, 4};
  CHECK(compare(now, two, "b.csv", true).exceeded == Sentences{"k has 4 conflicts on sm_90, and 3 in b.csv"});
  now[{"k", "sm_90"}] = {11, 4};
  CHECK(compare(now, two, "b.csv", true).exceeded ==
        Sentences{"k has 4 conflicts on sm_90, and 3 in b.csv (11 accesses, 10 there)"});
  CHECK(compare(now, two, "b.csv", true).remarks.empty());
}

TEST_CASE("driver/baseline/fewer_is_a_remark") {
  Baseline now = two;
  now[{"k", "sm_90"}] = {10, 1};
  const Verdict verdict = compare(now, two, "b.csv", true);
  CHECK(verdict.exceeded.empty());
  CHECK(verdict.remarks == Sentences{"k has 1 conflict on sm_90, and 3 in b.csv: better"});
}

TEST_CASE("driver/baseline/kernel_not_listed") {
  Baseline now = two;
  now[{"new", "sm_90"}] = {5, 0};
  CHECK(compare(now, two, "b.csv", true).exceeded.empty());
  now[{"new", "sm_90"}] = {5, 1};
  CHECK(compare(now, two, "b.csv", true).exceeded ==
        Sentences{"new has 1 conflict on sm_90, and b.csv does not list it"});
  // A row for another architecture does not count.
  CHECK(compare({{{"k", "gfx942"}, {1, 1}}}, two, "b.csv", true).exceeded.size() == 1);
}

TEST_CASE("driver/baseline/kernel_did_not_run") {
  const Baseline now{{{"k", "sm_90"}, {10, 3}}};
  CHECK(compare(now, two, "b.csv", true).remarks == Sentences{"other on sm_90 is in b.csv but did not run"});
  CHECK(compare(now, two, "b.csv", true).exceeded.empty());
  CHECK(compare(now, two, "b.csv", false).remarks.empty());
  Baseline more = two;
  more[{"other", "gfx942"}] = {1, 1};  // an architecture that was not requested
  CHECK(compare(two, more, "b.csv", true).remarks.empty());
}

TEST_CASE("driver/baseline/update") {
  const Baseline old{{{"gone", "sm_90"}, {1, 1}}, {{"k", "gfx942"}, {2, 2}}, {{"k", "sm_90"}, {3, 3}}};
  const Baseline now{{{"k", "sm_90"}, {4, 4}}, {{"new", "sm_90"}, {5, 5}}};
  CHECK(to_csv(updated(old, now, true)) == head + "k,gfx942,2,2,0\nk,sm_90,4,4,0\nnew,sm_90,5,5,0\n");
  CHECK(to_csv(updated(old, now, false)) ==
        head + "gone,sm_90,1,1,0\nk,gfx942,2,2,0\nk,sm_90,4,4,0\nnew,sm_90,5,5,0\n");
  CHECK(same(updated({}, now, true), now));
}
