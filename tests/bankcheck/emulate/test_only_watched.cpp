// --only-watched: blocks that are not watched do not run, and the report says who depends on them.
#include "tests/bankcheck/emulate/emulated_program.hpp"

namespace {

const std::string wrong = "incomplete: only watched blocks ran (--only-watched), so the program's results are wrong",
                  none = "incomplete: as far as the blocks that ran show, no kernel reads what the others would have";

std::string reads(const std::string& kernel) {
  return "incomplete: " + kernel + " reads memory that blocks which did not run would have written: ";
}

Outcome only_watched(const std::string& limits, const std::string& how) {
  return emulate("--only-watched " + limits + " " + source("skipped") + " -- " + how);
}

TEST_CASE("emulate/only_watched/reader", "[emulate]") {
  const Outcome outcome = ended(0, only_watched("--max-groups 2", "a"));
  CHECK_THAT(outcome.out, has(wrong + "\n") && has(reads("gather")));
  CHECK_THAT(outcome.out, has("fill: 1 launch, 2 of 50 blocks of 64 threads watched"));
  CHECK_THAT(outcome.out, has("gather: 1 launch, 2 of 50 blocks of 64 threads watched"));
  // A copy has what it is made of.
  CHECK_THAT(only_watched("--max-groups 2", "copied,from_b").out, has(reads("gather")));
  // By the argument through which the first launch writes.
  CHECK_THAT(only_watched("--max-launches 1", "second,from_b").out, has(reads("gather")));
  CHECK_THAT(only_watched("--max-groups 2", "total").out, has("incomplete: count, read_total read memory"));
  // What ran has not written where the others would have: a block of the same launch, an earlier launch.
  CHECK_THAT(only_watched("--max-launches 1", "later,from_b").out, has(reads("gather")));
  CHECK_THAT(only_watched("--max-groups 1", "last,from_b").out, has(reads("gather")));
}

TEST_CASE("emulate/only_watched/no_reader", "[emulate]") {
  CHECK_THAT(only_watched("--max-groups 2", "from_b").out, has(wrong + "\n") && has(none));
  CHECK_THAT(only_watched("--max-groups 2", "cleared").out, has(none));
  CHECK_THAT(only_watched("--max-launches 1", "second,a").out, has(none));
  // All blocks ran.
  CHECK_THAT(ended(0, only_watched("--max-launches 1", "read")).out, !has("incomplete: "));
}

TEST_CASE("emulate/only_watched/host", "[emulate]") {
  // The program's own check fails, as it must.
  CHECK_THAT(ended(0, only_watched("--max-groups 2", "read")).out,
             has(wrong + ", and its exit code 4 says nothing\n") && has("incomplete: the host reads such memory at "));
  CHECK_THAT(only_watched("--max-groups 2", "a").out, !has("the host reads"));
  ended(0, emulate(source("skipped") + " -- read"));
  CHECK(only_watched("--max-groups 2 --max-conflicts 100000", "a").code == 1);
}

TEST_CASE("emulate/only_watched/refused", "[emulate]") {
  CHECK_THAT(ended(2, only_watched("", "")).err, has("--only-watched needs --max-groups, "));
  CHECK_THAT(ended(2, only_watched("--max-groups 1 --verify", "")).err, has("--verify compares results"));
}

}  // namespace
