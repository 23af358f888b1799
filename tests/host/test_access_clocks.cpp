// SPDX-License-Identifier: MIT
//
// Single accesses: what the model is asked, and how times and counts become clocks.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bankwise/runner/access_clocks.hpp"
#include "bankwise/runner/report.hpp"
#include "case_studies.hpp"
#include "catch_any.hpp"

using namespace bankwise;

namespace {

const CaseStudy& study = access_patterns::case_study();
constexpr Extent turns{1, 100};

gpu::DeviceInfo device_of(const std::string& architecture) {
  gpu::DeviceInfo device;
  device.architecture = architecture;
  return device;
}

AccessResult asked(std::string_view variant, const std::string& device = "sm_90", const char* wanted = nullptr) {
  return access_of(study, variant_of(study, variant), turns, device_of(device),
                   wanted == nullptr ? nullptr : banks::find_architecture(wanted));
}

/// A row that took `seconds` for each access.
Result timed(std::string_view variant, double seconds) {
  Result result;
  result.variant = variant;
  result.access = asked(variant);
  result.time_median = seconds * double(result.access->count);
  return result;
}

}  // namespace

TEST_CASE("the model is asked for the device's architecture, for another, or for sm_90") {
  CHECK(asked("stride16", "sm_86").architecture == "sm_80");
  CHECK(asked("stride16", "sm_86", "gfx942").architecture == "gfx942");
  CHECK(asked("stride16", "").architecture == "sm_90");
  CHECK(asked("stride16", "a CPU").architecture == "sm_90");
}

TEST_CASE("patterns of the articles cost what the articles are about") {
  CHECK(asked("stride16").cost->passes == 16);
  CHECK(asked("stride17").cost->passes == 1);
  CHECK(asked("stride16", "", "sm_13").cost->passes == 32);  // 16 for each half-warp
  CHECK(asked("char", "", "sm_13").cost->conflicts == 6);
  CHECK(asked("char_widened", "", "sm_13").cost->conflicts == 0);
  CHECK(asked("rows_of_17", "", "sm_13").cost->conflicts == 0);
  CHECK(asked("rows_of_17").cost->conflicts == 1);  // the cure of 16 banks, on 32
  CHECK(asked("lds128_case5").cost->conflicts == 2);
  CHECK(asked("float4", "", "sm_20").cost->passes == 2);
  CHECK(asked("stride2", "", "gfx942").cost->passes == 4);  // two phases, each twice
}

TEST_CASE("what the model has no rule for is a sentence") {
  const AccessResult wide = asked("float4", "", "intel_xe");
  CHECK_FALSE(wide.cost);
  CHECK(wide.refusal.find("no cost for 16-byte load on intel_xe") == 0);
  CHECK_FALSE(expected_clocks(wide));
}

TEST_CASE("an access takes its passes, but at least the floor") {
  CHECK(expected_clocks(asked("stride16")) == 16.0);
  CHECK(expected_clocks(asked("float4")) == 4.0);
  CHECK(expected_clocks(asked("lds128_case2")) == 2.0);  // one pass
}

TEST_CASE("counted clocks are divided by the accesses") {
  std::vector<Result> results{timed("stride2", 1e-9)};
  const auto count = double(results[0].access->count);
  derive_clocks(results, {{2 * count, 2 * count, 900 * count}});
  CHECK(results[0].access->clocks == 2.0);
  CHECK(results[0].access->clocks_from == "clock64");
}

TEST_CASE("times are compared with a row without conflict") {
  std::vector<Result> results{timed("stride2", 4e-9), timed("stride3", 2e-9), timed("float4", 8e-9)};
  derive_clocks(results, {});
  CHECK(std::abs(*results[0].access->clocks - 2) < 1e-9);
  CHECK(std::abs(*results[1].access->clocks - 1) < 1e-9);
  CHECK(std::abs(*results[2].access->clocks - 4) < 1e-9);
  CHECK(results[2].access->clocks_from == "time, against stride3");
}

TEST_CASE("clocks at the floor leave open how many passes there were") {
  AccessResult access = asked("lds128_case2");
  CHECK_FALSE(measured_passes(access));
  access.clocks = 2.04;
  CHECK(measured_passes(access)->passes == 2);
  CHECK(measured_passes(access)->at_most);
  access.clocks = 3.9;
  CHECK(measured_passes(access)->passes == 4);
  CHECK_FALSE(measured_passes(access)->at_most);
}

TEST_CASE("what the model is asked for does not change what was measured") {
  std::vector<Result> results{timed("stride1", 1e-9), timed("stride2", 2e-9), timed("lds128_case2", 2e-9)};
  for (Result& result : results) result.access = asked(result.variant, "sm_90", "sm_13");
  derive_clocks(results, {});
  CHECK(results[0].access->cost->passes == 2);
  CHECK(results[0].access->clocks == 1.0);
  CHECK(results[1].access->clocks == 2.0);
  CHECK(measured_passes(*results[2].access)->at_most);  // the floor of the device

  std::vector<Result> unknown{timed("stride1", 1e-9)};
  unknown[0].access = asked("stride1", "gfx1");
  derive_clocks(unknown, {});
  CHECK_FALSE(unknown[0].access->clocks);
  CHECK(unknown[0].access->clocks_from == "the bank model does not know this device");
}

TEST_CASE("a row with a wrong result is no measure of others") {
  std::vector<Result> results{timed("stride1", 1e-12), timed("stride3", 1e-9), timed("stride2", 2e-9)};
  results[0].status = Status::wrong;
  derive_clocks(results, {});
  CHECK(results[2].access->clocks_from == "time, against stride3");
}

TEST_CASE("without such a row, or without an access, there are no clocks") {
  std::vector<Result> results{timed("stride2", 4e-9)};
  derive_clocks(results, {});
  CHECK_FALSE(results[0].access->clocks);
  CHECK(results[0].access->clocks_from.find("--variant stride1") != std::string::npos);
  results[0].access->count = 0;
  derive_clocks(results, {{5}});
  CHECK_FALSE(results[0].access->clocks);
}

TEST_CASE("the reference of a pattern is what its lanes find, access by access") {
  // Three turns of 16 loads: the third meets the addresses of the first again.
  const Words sums = study.reference_of(variant_of(study, "stride17"), {1, 3});
  for (unsigned lane : {0U, 1U, 31U, 32U, 511U}) {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < 3 * 16; ++i) sum += ((17 * 4 * (lane % 32) + i % 32 * 256) / 4) * 0x9E3779B1U;
    CHECK(sums.at(lane) == sum);
  }
  CHECK(study.reference_of(variant_of(study, "lds128_case1"), {1, 3}).at(0) == 0);  // idle
  CHECK(study.reference_of(variant_of(study, "lds128_case1"), {1, 3}).at(15) != 0);
}

TEST_CASE("reports of single accesses hold model and clocks") {
  gpu::DeviceInfo device = device_of("sm_90");
  Report report{&study, {}, {device}, {timed("stride1", 1e-9), timed("stride16", 16e-9), timed("lds128_case2", 2e-9)}};
  for (Result& result : report.results) {
    result.device = &report.devices.front();
    result.status = Status::ok;
  }
  derive_clocks(report.results, {});

  const auto json = nlohmann::json::parse(json_report(report)).at("results").at(1).at("access");
  CHECK(json.at("pattern") == "int data[16 * t]");
  CHECK(json.at("passes") == 16);
  CHECK(json.at("ideal_passes") == 1);
  CHECK(json.at("conflicts") == 15);
  CHECK(json.at("expected_clocks") == 16);
  CHECK(std::abs(json.at("clocks").get<double>() - 16) < 1e-9);
  CHECK(json.at("measured_passes") == 16);
  CHECK(json.at("at_floor") == false);

  const std::string csv = csv_report(report), text = text_report(report);
  CHECK(csv.find("expected_clocks,clocks\n") != std::string::npos);
  CHECK(csv.find(",load,4,sm_90,16,1,15,16,16") != std::string::npos);
  CHECK(std::count(csv.begin(), csv.end(), ',') == 4 * 29);
  CHECK(text.find("load 4       16      1         15        16   16.00         16  time, against stride1") !=
        std::string::npos);
  CHECK(text.find("2.00       <= 2  time, against stride1") != std::string::npos);
}
