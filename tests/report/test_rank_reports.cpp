// The reports of a run on several ranks, of results that are made up.
#include <nlohmann/json.hpp>

#include <bankwise/report/report.hpp>
#include "tests/case_studies.hpp"
#include "tests/json_members.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::report;

namespace {

using Cells = std::vector<std::string>;

/// The cells of the row that begins with `name`; runs of two spaces or more separate them.
Cells cells_of(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_in(text)) {
    Cells cells;
    for (std::size_t at = line.find_first_not_of(' '); at != std::string::npos;) {
      const std::size_t end = line.find("  ", at);
      cells.push_back(line.substr(at, end - at));
      at = end == std::string::npos ? end : line.find_first_not_of(' ', end);
    }
    if (!cells.empty() && cells.front() == name) return cells;
  }
  return {};
}

Result result_of(std::string_view variant, Status status, std::string reason = "") {
  Result result;
  result.variant = variant;
  result.extent = {3, 70};
  result.status = status;
  result.bytes = 3000000;
  result.reason = std::move(reason);
  return result;
}

Result measured(std::string_view variant, double median) {
  Result result = result_of(variant, Status::ok);
  result.timing.samples = {median, 2 * median};
  result.timing.stop = "quiet";
  result.timing.median = result.timing.min = median;
  return result;
}

/// Two ranks on one node: copy, alone, one variant with an exchange, and three that failed in different ways.
RunResults two_ranks() {
  RunResults report{.study = &transpose::case_study(), .command = {"transpose", "--json", "-"}};
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
                    result_of(peer_copy_row, Status::skipped, "there is one rank"),
                    alone,
                    good,
                    result_of("direct", Status::unsupported, "rank 1: no \"peer\" access\nsecond line"),
                    result_of("broken", Status::wrong, "rank 0: output word 3 is 0x00000001, not 0x00000000")};
  return report;
}

}  // namespace

TEST_CASE("report/rank_reports/table") {
  const std::string text = text_report(two_ranks());
  INFO(text);
  CHECK(text.find("transpose: 3 x 70 words on 2 ranks, opencl:3 A \"fine\" device (CPU)\n"
                  "NCCL 2.28.3, Open MPI v4.1.4; one node; cache cold\n"
                  "a CPU has no banks: ") == 0);
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
  CHECK_THAT(text, has("rank 0: output word 3 is 0x00000001, not 0x00000000\n"));
  CHECK_THAT(text, !has("second line"));
  CHECK_THAT(text, has("note: packed: 4 samples dropped, because a GPU throttled\n"));
  CHECK_THAT(text, has("note: these times may include launch overhead\n"));
  CHECK(count(text, "another rank began early") == 1);

  RunResults one = two_ranks();
  one.ranks->ranks.resize(1);
  one.results.front().cache = Cache::hot;
  CHECK_THAT(text_report(one), has(" on 1 rank, "));
  CHECK_THAT(text_report(one), has("cache hot\n"));
}

TEST_CASE("report/rank_reports/json") {
  const auto json = nlohmann::json::parse(json_report(two_ranks()));
  check_members(json,
                R"({"schema_version": 1, "case": "transpose", "command": ["transpose", "--json", "-"], "height": 3,
                          "width": 70, "api": "opencl", "cache": "cold", "engine": "NCCL 2.28.3",
                          "mpi": "Open MPI v4.1.4", "topology": "one node"})");
  REQUIRE(json.at("ranks").size() == 2);
  CHECK(json.at("ranks").at(0) ==
        nlohmann::json{{"host", "node-1"}, {"device", "A \"fine\" device"}, {"input_words", 140}});
  const auto& results = json.at("results");
  REQUIRE(results.size() == 6);
  check_members(results.at(3), R"({"variant": "packed", "alone": null, "status": "ok", "memory_bytes": 3000000,
                                   "link_bytes": 1000000, "samples_s": [2e-3, 4e-3], "samples_dropped": 4,
                                   "time_median_s": 2e-3, "noise": 0.01, "floor_s": 1.5e-3, "of_floor": 0.75,
                                   "weak_scaling": 0.5, "exchanges_s": 4e-4, "launches_s": 1.6e-3,
                                   "exchange_share": 0.2, "launch_overhead": "another rank began early"})");
  CHECK(results.at(2).at("alone") == "vectorized");
  check_members(results.at(4), R"({"status": "unsupported", "reason": "rank 1: no \"peer\" access\nsecond line",
                                   "samples_s": [], "time_median_s": null, "time_min_s": null, "noise": null,
                                   "floor_s": null, "of_floor": null, "weak_scaling": null, "exchanges_s": null,
                                   "launches_s": null, "exchange_share": null})");
  CHECK(results.at(5).at("status") == "wrong");
}
