// SPDX-License-Identifier: MIT
//
// The second count: accesses as a device compiler may merge them.
#include <bankwise/trace/report.hpp>

#include "small_trace.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace small;
using trace::Pattern;

namespace {

/// Four loads of words 16 bytes apart, ten times, of which four times two become one load of 8 bytes.
trace::KernelTrace merged() {
  auto all = builder();
  Pattern narrow = loads(16, 0xFFFFFFFF, 10);
  narrow.merged_change = -8;
  Pattern wide = loads(16, 0xFFFFFFFF, 0);
  wide.width = 8;
  wide.merged_change = 4;
  all.add(narrow);
  all.add(wide);
  return all.take();
}

}  // namespace

TEST_CASE("trace/merged/second_column") {
  const auto trace = merged();
  CHECK(accesses_of(trace) == 10);
  CHECK(conflicts(trace, "sm_90") == 10 * 3);
  const auto report = trace::report(trace, on("sm_90"));
  CHECK(report.all == banks::Tally{10, 320, 40, 10, 30, 0});
  CHECK(report.loads == report.all);
  CHECK(report.merged_all == banks::Tally{6, 192, 2 * 4 + 4 * 4, 2 + 4 * 2, 2 * 3 + 4 * 2, 0});
  CHECK(report.merged_loads == report.merged_all);
  CHECK(merging_matters(report));
  REQUIRE(report.lines.size() == 1);
  CHECK(report.lines[0].width == 4);
  CHECK(report.lines[0].costs == report.all);
  CHECK(report.lines[0].merged == report.merged_all);
  const std::string text = to_text(report);
  INFO(text);
  CHECK(text.find("passes  ideal  conflicts  merged  conflicts") != std::string::npos);
  CHECK(text.find("\nmerged by a device compiler: 6 accesses: 24 passes, ideal 10, conflicts 14\n") !=
        std::string::npos);
}

TEST_CASE("trace/merged/no_second_column") {
  auto all = builder();
  all.add(loads(16));
  const auto report = trace::report(all.take(), on("sm_90"));
  CHECK(report.merged_all == report.all);
  CHECK_FALSE(merging_matters(report));
  CHECK(to_text(report).find("merged") == std::string::npos);
}

TEST_CASE("trace/merged/survives_file_and_sum") {
  trace::Writer writer;
  std::string text = trace::header_line({});
  for (int launch = 0; launch < 3; ++launch) text += writer.lines_of(merged(), "");
  CHECK(text.find("\"again\"") != std::string::npos);
  const auto kernel = read(text).trace.kernels.at(0);
  REQUIRE(kernel.patterns.size() == 2);
  CHECK(kernel.patterns[0].merged_count() == 3 * 2);
  CHECK(kernel.patterns[1].merged_count() == 3 * 4);
  CHECK(kernel.patterns[1].count == 0);
  CHECK(trace::report(kernel, on("sm_90")).merged_all.passes == 3 * 24);
}
