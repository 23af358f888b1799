// Hardware counters in the reports, with made-up numbers; reading real ones takes a GPU.
#include <nlohmann/json.hpp>

#include <bankwise/bench/program.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/text.hpp>
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;
using namespace bankwise::report;
using nlohmann::json;

namespace {

const banks::Architecture& sm_90() { return *banks::find_architecture("sm_90"); }

gpu::Counters counted() {
  gpu::Counters counters;
  counters.shared_load_passes = 1'000'300;
  counters.shared_load_conflicts = 500'000;
  counters.shared_store_passes = 2000;
  counters.shared_store_conflicts = counters.shared_atomic_passes = counters.shared_atomic_conflicts = 0;
  counters.arbitration_conflicts = 1234;
  counters.warp_instructions = 1000;
  counters.lane_instructions = 16'000;
  counters.dram_read_bytes = 1'500'000'000;
  counters.replays = 2;  // and no dram_write_bytes: some GPUs lack some counters
  return counters;
}

JobModel model() {
  JobModel model{.architecture = &sm_90(), .simt_efficiency = 0.75};
  model.loads = banks::Tally{.passes = 1'000'000, .ideal = 500'000, .conflicts = 500'000};
  model.stores = banks::Tally{.passes = 2100, .ideal = 2100};
  return model;  // and no atomics: their cost is unknown to the model
}

/// sequential has counters and a model, naive only counters, packed no permission.
RunResults counters_report() {
  RunResults report{&reduction::case_study(), {"reduction", "--counters"}, {}, {}, {}};
  gpu::DeviceInfo device;
  device.api = gpu::Api::cuda;
  device.name = "A GPU";
  report.devices.reserve(1);
  report.devices.push_back(device);
  Result row;
  row.device = &report.devices.front();
  row.extent = {1, 100};
  row.bytes = 2'000'000'000;
  row.status = Status::ok;
  row.architecture = &sm_90();
  row.timing.stop = "quiet";
  for (const char* name : {"sequential", "naive", "packed"}) {
    row.variant = name;
    report.results.push_back(row);
  }
  report.results[0].counters = CounterResult{counted(), {}, model()};
  report.results[1].counters = CounterResult{counted(), {}, {}};
  report.results[2].counters = CounterResult{{}, gpu::why_no_counters(35, "cuptiRangeProfilerEnable", "?"), {}};
  return report;
}

std::size_t commas(const std::string& line) {
  bool quoted = false;
  std::size_t count = 0;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++count;
  }
  return count;
}

std::optional<Options> options_of(std::vector<const char*> words) {
  words.insert(words.begin(), "reduction");
  return parse_options(reduction::case_study(), int(words.size()), words.data());
}

}  // namespace

TEST_CASE("report/counters/json") {
  const auto results = json::parse(json_report(counters_report())).at("results");
  const json& full = results.at(0).at("counters");
  check_members(full, R"({"shared_load_passes": 1000300, "shared_load_conflicts": 500000, "shared_atomic_passes": 0,
                          "arbitration_conflicts": 1234, "simt_efficiency": 0.5, "dram_read_bytes": 1500000000, "dram_write_bytes": null, "replays": 2,
                          "reason": ""})");
  check_members(full.at("model"), R"({"shared_load_passes": 1000000, "shared_atomic_passes": null,
                                      "simt_efficiency": 0.75, "architecture": "sm_90"})");
  check_members(full.at("difference"), R"({"shared_load_passes": 300, "shared_load_conflicts": 0,
                                           "shared_store_passes": -100, "shared_atomic_passes": null,
                                           "simt_efficiency": -0.25})");
  check_members(results.at(1).at("counters"), R"({"shared_store_passes": 2000, "model": null, "difference": null})");
  const json& refused = results.at(2).at("counters");
  check_members(refused, R"({"shared_load_passes": null, "simt_efficiency": null})");
  CHECK_THAT(refused.at("reason").get<std::string>(), has("NVreg_RestrictProfilingToAdminUsers=0"));
  CHECK(results.at(2).at("status") == "ok");
}

TEST_CASE("report/counters/csv") {
  RunResults report = counters_report();
  report.results.push_back(report.results.front());
  report.results.back().counters.reset();  // a row that failed has none
  const std::vector<std::string> lines = lines_in(csv_report(report));
  REQUIRE(lines.size() == 5);
  CHECK_THAT(lines[0], has(",shared_load_passes,shared_load_passes_model,"));
  CHECK_THAT(lines[0], has(",dram_read_bytes,dram_write_bytes,no_counters_because"));
  CHECK_THAT(lines[1], has(",1000300,1000000,500000,500000,2000,2100,0,0,0,,0,,1234,0.5,0.75,"));
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(commas(line) == commas(lines[0]));
  }
}

TEST_CASE("report/counters/text") {
  const RunResults report = counters_report();
  const std::string table = text_report(report);
  CHECK_THAT(table, has("counted"));
  CHECK_THAT(table, has("2.00 x"));  // 1002300 passes, 500000 of them conflicts

  const std::string text = counters_text(report);
  INFO(text);
  for (const char* part : {"cuda:0 A GPU", "1,000,300", "1,234", "+300", "-100"}) CHECK_THAT(text, has(part));
  CHECK_THAT(text, has("-25.0"));  // percent of lanes
  CHECK_THAT(text, has("1.50 GB"));
  CHECK_THAT(text, has("\n  packed: the driver lets only administrators read hardware counters; run as root"));
  for (const std::string& line : lines_in(text)) {
    if (line.find(": ") == std::string::npos) CHECK(line.size() <= 100);
  }

  RunResults without = report;
  for (auto& result : without.results) result.counters.reset();
  CHECK(counters_text(without).empty());
  CHECK_THAT(text_report(without), !has("counted"));
  CHECK_THAT(csv_report(without), !has("shared_load_passes"));
}

TEST_CASE("report/counters/missing") {
  const auto why = [](int error) { return gpu::why_no_counters(error, "cuptiSomething", "CUPTI_ERROR_SOMETHING"); };
  CHECK_THAT(why(35), has("run as root"));
  CHECK_THAT(why(40), has("hypervisor"));
  CHECK_THAT(why(26), has("end other profilers"));
  CHECK_THAT(why(999), has("cuptiSomething: CUPTI_ERROR_SOMETHING"));
  CHECK(support::by_reason({{"a", "this"}, {"b", "that"}, {"c", "this"}}) == "  a, c: this\n  b: that\n");
  // Ratios of counters, some of which are missing or 0.
  CHECK(counted_over_ideal(counted()) == 1'002'300.0 / 502'300.0);
  gpu::Counters some = counted();
  some.shared_store_conflicts.reset();
  CHECK_FALSE(counted_over_ideal(some));
  CHECK_FALSE(counted_over_ideal({}));
  CHECK_FALSE(simt_efficiency(gpu::Counters{}));
  CHECK_FALSE(simt_efficiency(gpu::Counters{.warp_instructions = 0, .lane_instructions = 0}));
  gpu::Counters zero = counted();
  for (const auto count : {&gpu::Counters::shared_load_passes, &gpu::Counters::shared_store_passes,
                           &gpu::Counters::shared_atomic_passes, &gpu::Counters::shared_load_conflicts,
                           &gpu::Counters::shared_store_conflicts, &gpu::Counters::shared_atomic_conflicts}) {
    zero.*count = 0;
  }
  CHECK_FALSE(counted_over_ideal(zero));
}

TEST_CASE("report/counters/not_with_profile") {
  CHECK_FALSE(options_of({})->counters);
  CHECK(options_of({"--counters"})->counters);
  CHECK_THROWS_AS(options_of({"--counters", "--profile"}), support::UsageError);
}
