// SPDX-License-Identifier: MIT
//
// The second count: accesses as a device compiler may merge them.
#include <bankwise/report/kernel_text.hpp>
#include <bankwise/trace/report.hpp>

#include "small_trace.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace small;
using trace::Pattern;

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
  INFO(text);
  CHECK(text.find("passes  ideal  conflicts  merged  conflicts") != std::string::npos);
  CHECK(text.find("\nmerged by a device compiler: 6 accesses: 24 passes, ideal 10, conflicts 14\n") !=
        std::string::npos);
}

TEST_CASE("trace/merged/no_second_column") {
  auto all = builder();
  all.add(loads(16));
  const auto report = trace::report(all.take(), on("sm_90"));
  CHECK(merged(report).all == report.all);
  CHECK_FALSE(merging_matters(report));
  CHECK(report::to_text(report).find("merged") == std::string::npos);
}

TEST_CASE("trace/merged/survives_file_and_sum") {
  trace::TraceWriter writer;
  std::string text = trace::header_line({});
  for (int launch = 0; launch < 3; ++launch) text += writer.lines_of(with_merged(), "");
  CHECK(text.find("\"again\"") != std::string::npos);
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
