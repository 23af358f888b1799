// SPDX-License-Identifier: MIT
//
// Copies (cp.async) in each form of a report: their worst access has sources, and no picture.
#include <nlohmann/json.hpp>

#include "tests/bankcheck/driver/made_report.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::driver;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Each 2 copies of consecutive words from words that are `step` bytes apart.
RunReport report_of_copies(std::initializer_list<std::uint32_t> steps, const char* architecture) {
  trace::Builder builder = builder_of();
  for (const std::uint32_t step : steps) {
    trace::Pattern pattern = access_of(builder, {.file = "k.cu", .line = 3}, 4, 2);
    pattern.operation = banks::Operation::cp_async;
    for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.sources.push_back(step * lane);
    normalize(pattern);
    builder.add(pattern);
  }
  return report_of({builder.take()}, {architecture});
}

}  // namespace

TEST_CASE("driver/copies_report/passes_and_addresses") {
  const RunReport report = report_of_copies({4, 8}, "sm_90");
  const std::string text = to_text(report, 120);
  INFO(text);
  CHECK_THAT(text,
             ContainsSubstring(
                 "worst on sm_90: k.cu:3, cp.async 4 of tile, first in block 0, level 0, warp 0: passes 2, ideal 1"));
  CHECK_THAT(text, ContainsSubstring("\n  sm_90: conflicts are 33.3 % of the passes\n"));
  CHECK(text.find("idle") == std::string::npos);  // no picture of banks
  const auto json = nlohmann::json::parse(to_json(report));
  const auto& on = json.at("kernels").at(0).at("architectures").at(0);
  CHECK(on.at("passes") == 2 * (1 + 2));
  CHECK(on.at("levels").at(0).at("conflicts") == 2);
  const auto& line = on.at("lines").at(0);
  CHECK(line.at("operation") == "cp.async");
  CHECK(line.at("worst").at("sources").at(3) == 24);
  CHECK(line.at("worst").at("addresses").at(3) == 12);
  auto kernels = report.kernels;
  kernels[0].lines[0][0].is_file = true;
  CHECK_THAT(to_sarif(kernels, {}), ContainsSubstring("4-byte cp.async of tile in k: 6 passes instead of 4 on sm_90."));
}

TEST_CASE("driver/copies_report/no_copies_on_gpu") {
  const RunReport report = report_of_copies({4}, "sm_75");
  CHECK_THAT(to_text(report, 120), ContainsSubstring("note: sm_75 has no 4-byte cp.async\n"));
  CHECK(to_text(report, 120).find("conflicts are") == std::string::npos);
  CHECK(nlohmann::json::parse(to_json(report)).at("kernels").at(0).at("architectures").at(0).at("unknown") == 2);
}

TEST_CASE("driver/copies_report/range_of_loops") {
  trace::Builder builder = builder_of();
  trace::Pattern loop = access_of(builder, {.file = "k.cu", .line = 3}, 4, 10);
  loop.operation = banks::Operation::atomic;
  loop.is_loop = true;
  builder.add(loop);
  builder.add(access_of(builder, {.file = "k.cu", .line = 4}, 8, 1));
  const auto json = nlohmann::json::parse(to_json(report_of({builder.take()})));
  for (const auto& line : json.at("kernels").at(0).at("architectures").at(0).at("lines")) {
    const bool is_loop = line.at("operation") == "atomic";
    CHECK(line.at("passes") == (is_loop ? 20 : 2));
    CHECK(line.value("passes_most", 0) == (is_loop ? 30 : 0));
    CHECK(line.value("conflicts_most", 0) == (is_loop ? 10 : 0));
  }
}
