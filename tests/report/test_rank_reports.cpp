// SPDX-License-Identifier: MIT
//
// The reports of a run on several ranks, of results that are made up.
#include <nlohmann/json.hpp>
#include <sstream>

#include <bankwise/report/report.hpp>
#include "tests/case_studies.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::report;

namespace {

Result measured(std::string_view variant, double median) {
  Result result;
  result.variant = variant;
  result.extent = {3, 70};
  result.status = Status::ok;
  result.bytes = 3000000;
  result.timing.samples = {median, 2 * median};
  result.timing.stop = "quiet";
  result.timing.median = result.timing.min = median;
  return result;
}

Result failed(std::string_view variant, Status status, std::string reason) {
  Result result;
  result.variant = variant;
  result.extent = {3, 70};
  result.status = status;
  result.reason = std::move(reason);
  return result;
}

/// Two ranks on one node: copy, alone, one variant with an exchange, and three that failed in different ways.
Report two_ranks() {
  Report report{.study = &transpose::case_study(), .command = {"transpose", "--json", "-"}};
  gpu::DeviceInfo& device = report.devices.emplace_back();
  device.index = 3;
  device.name = "A \"fine\" device";
  report.ranks = RanksInfo{.engine = "NCCL 2.28.3",
                           .mpi = "Open MPI v4.1.4",
                           .topology = "one node",
                           .ranks = {{"node-1", "A \"fine\" device", 140}, {"node-1", "another", 70}}};
  Result alone = measured(alone_row, 1e-3);
  alone.scaling.alone = "vectorized";
  Result good = measured("packed", 2e-3);
  good.scaling.link_bytes = 1000000;
  good.timing.noise = 0.01;
  good.scaling.floor_s = 1.5e-3;
  good.scaling.of_floor = 0.75;
  good.scaling.weak = 0.5;
  good.scaling.exchanges_s = 4e-4;
  good.scaling.launches_s = 1.6e-3;
  good.scaling.exchanging = 0.2;
  good.timing.dropped = 4;
  good.timing.launch_overhead = "another rank began early";
  report.results = {measured(copy_row, 1e-3),
                    failed(peer_copy_row, Status::skipped, "there is one rank"),
                    alone,
                    good,
                    failed("direct", Status::unsupported, "rank 1: no \"peer\" access\nsecond line"),
                    failed("broken", Status::wrong, "rank 0: output word 3 is 0x00000001, not 0x00000000")};
  return report;
}

/// The cells of the row that begins with `name`; runs of two spaces or more separate them.
std::vector<std::string> cells_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    for (std::size_t at = line.find_first_not_of(' '); at != std::string::npos;) {
      const std::size_t end = line.find("  ", at);
      cells.push_back(line.substr(at, end - at));
      at = end == std::string::npos ? end : line.find_first_not_of(' ', end);
    }
    if (!cells.empty() && cells.front() == name) return cells;
  }
  return {};
}

}  // namespace

TEST_CASE("report/rank_reports/table") {
  const std::string text = text_report(two_ranks());
  INFO(text);
  using Cells = std::vector<std::string>;
  CHECK(text.find("transpose: 3 x 70 words on 2 ranks, opencl:3 A \"fine\" device\n"
                  "NCCL 2.28.3, Open MPI v4.1.4; one node; cache cold\n") == 0);
  CHECK(cells_of(text, "variant") == Cells{"variant", "verified", "median", "noise", "memory GB/s", "link GB/s",
                                           "of floor", "weak scaling", "exchange", "its share", "stop"});
  CHECK(cells_of(text, "copy") == Cells{"copy", "-", "1 ms", "-", "3.0", "-", "-", "-", "-", "-", "quiet"});
  CHECK(cells_of(text, "peer_copy") ==
        Cells{"peer_copy", "skipped", "-", "-", "-", "-", "-", "-", "-", "-", "there is one rank"});
  CHECK(cells_of(text, "alone: vectorized").at(1) == "-");
  CHECK(cells_of(text, "packed") ==
        Cells{"packed", "yes", "2 ms", "1.0 %", "1.5", "0.5", "75.0 %", "50.0 %", "400 us", "20.0 %", "quiet"});
  CHECK(cells_of(text, "direct") ==
        Cells{"direct", "unsupported", "-", "-", "-", "-", "-", "-", "-", "-", "rank 1: no \"peer\" access"});
  CHECK(cells_of(text, "broken").at(1) == "WRONG");
  CHECK(text.find("rank 0: output word 3 is 0x00000001, not 0x00000000\n") != std::string::npos);
  CHECK(text.find("second line") == std::string::npos);
  CHECK(text.find("note: packed: 4 samples dropped, because a GPU throttled\n") != std::string::npos);
  CHECK(text.find("note: these times may include launch overhead\n") != std::string::npos);
  CHECK(count(text, "another rank began early") == 1);

  Report one = two_ranks();
  one.ranks->ranks.resize(1);
  one.results.front().cache = Cache::hot;
  CHECK(text_report(one).find(" on 1 rank, ") != std::string::npos);
  CHECK(text_report(one).find("cache hot\n") != std::string::npos);
}

TEST_CASE("report/rank_reports/json") {
  const auto json = nlohmann::json::parse(json_report(two_ranks()));
  CHECK(json.at("schema_version") == 1);
  CHECK(json.at("case") == "transpose");
  CHECK(json.at("command") == std::vector<std::string>{"transpose", "--json", "-"});
  CHECK(json.at("height") == 3);
  CHECK(json.at("width") == 70);
  CHECK(json.at("api") == "opencl");
  CHECK(json.at("cache") == "cold");
  CHECK(json.at("engine") == "NCCL 2.28.3");
  CHECK(json.at("mpi") == "Open MPI v4.1.4");
  CHECK(json.at("topology") == "one node");
  REQUIRE(json.at("ranks").size() == 2);
  CHECK(json.at("ranks").at(0) ==
        nlohmann::json{{"host", "node-1"}, {"device", "A \"fine\" device"}, {"input_words", 140}});
  REQUIRE(json.at("results").size() == 6);
  const auto& good = json.at("results").at(3);
  CHECK(good.at("variant") == "packed");
  CHECK(good.at("alone").is_null());
  CHECK(good.at("status") == "ok");
  CHECK(good.at("memory_bytes") == 3000000);
  CHECK(good.at("link_bytes") == 1000000);
  CHECK(good.at("samples_s") == std::vector<double>{2e-3, 4e-3});
  CHECK(good.at("samples_dropped") == 4);
  CHECK(good.at("time_median_s") == 2e-3);
  CHECK(good.at("noise") == 0.01);
  CHECK(good.at("floor_s") == 1.5e-3);
  CHECK(good.at("of_floor") == 0.75);
  CHECK(good.at("weak_scaling") == 0.5);
  CHECK(good.at("exchanges_s") == 4e-4);
  CHECK(good.at("launches_s") == 1.6e-3);
  CHECK(good.at("exchange_share") == 0.2);
  CHECK(good.at("launch_overhead") == "another rank began early");
  CHECK(json.at("results").at(2).at("alone") == "vectorized");
  const auto& bad = json.at("results").at(4);
  CHECK(bad.at("status") == "unsupported");
  CHECK(bad.at("reason") == "rank 1: no \"peer\" access\nsecond line");
  CHECK(bad.at("samples_s").empty());
  for (const char* key : {"time_median_s", "time_min_s", "noise", "floor_s", "of_floor", "weak_scaling", "exchanges_s",
                          "launches_s", "exchange_share"}) {
    CHECK(bad.at(key).is_null());
  }
  CHECK(json.at("results").at(5).at("status") == "wrong");
}
