// SPDX-License-Identifier: MIT
//
// Copies (cp.async) in each form of a report: their worst access has sources, and no picture.
#include <nlohmann/json.hpp>

#include <bankwise/trace/builder.hpp>
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/driver/sinks.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::driver;

namespace {

/// A copy of consecutive words from words that are `step` bytes apart.
trace::Pattern copy(trace::Builder& builder, std::uint32_t step) {
  trace::Pattern pattern{.site = builder.site({.file = "k.cu", .line = 3}),
                         .array = builder.array({"tile", 0, 128}),
                         .operation = banks::Operation::cp_async,
                         .mask = 0xffffffff,
                         .count = 2};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    pattern.addresses.push_back(4 * lane);
    pattern.sources.push_back(step * lane);
  }
  normalize(pattern);
  return pattern;
}

RunReport report_of(std::initializer_list<std::uint32_t> steps, const char* architecture) {
  trace::Builder builder({.kernel = "k"});
  builder.add(trace::LaunchShape{{32, 1, 1}, {32, 1, 1}, 1});
  for (const std::uint32_t step : steps) builder.add(copy(builder, step));
  trace::Trace trace{.maker = trace::Maker::cuda, .kernels = {builder.take()}};
  SourceFinder finder("/no/such/directory");
  return {kernel_reports(trace, {banks::find_architecture(architecture)}, finder), {"./program"}, trace.maker, {}};
}

}  // namespace

TEST_CASE("driver/copies_report/passes_and_addresses") {
  const RunReport report = report_of({4, 8}, "sm_90");
  const std::string text = to_text(report, 120);
  INFO(text);
  CHECK(text.find("cp.async 4") != std::string::npos);
  CHECK(text.find("worst on sm_90: k.cu:3, cp.async 4 of tile, first in block 0, level 0, warp 0: passes 2, ideal 1") !=
        std::string::npos);
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
  CHECK(to_sarif(kernels, {}).find("4-byte cp.async of tile in k: 6 passes instead of 4 on sm_90.") !=
        std::string::npos);
}

TEST_CASE("driver/copies_report/no_copies_on_gpu") {
  const RunReport report = report_of({4}, "sm_75");
  CHECK(to_text(report, 120).find("note: sm_75 has no 4-byte cp.async\n") != std::string::npos);
  CHECK(nlohmann::json::parse(to_json(report)).at("kernels").at(0).at("architectures").at(0).at("unknown") == 2);
}
