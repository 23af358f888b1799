// SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <bankwise/report/report.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/table.hpp>
#include "tests/case_studies.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::report;

namespace {

/// A report of two rows: one measured, one that could not run and has a reason with quotes and a second line.
Report make_report(double median = 2e-6) {
  Report report{&reduction::case_study(), {"reduction", "--n", "1"}, {}, {}};
  gpu::DeviceInfo device;
  device.index = 3;
  device.name = "A \"fine\" device";
  report.devices.reserve(1);
  report.devices.push_back(device);
  Result good;
  good.device = &report.devices.front();
  good.variant = "naive";
  good.extent = {1, 7};
  good.bytes = 128;
  good.status = Status::ok;
  good.launches = 1;
  good.timing.samples = {median, median, median};
  good.timing.stop = "quiet";
  good.timing.median = good.timing.min = median;
  good.timing.noise = 0.01;
  good.bytes_per_second = 128 / median;
  good.speedup = 1;
  Result bad = good;
  bad.variant = "packed";
  bad.status = Status::error;
  bad.reason = "packed.cl does not compile:\n\"quoted\"";
  bad.timing.samples.clear();
  bad.timing.median = bad.timing.min = bad.timing.noise = bad.bytes_per_second = bad.speedup = std::nullopt;
  report.results = {good, bad};
  return report;
}

}  // namespace

TEST_CASE("report/reports/json") {
  const auto json = nlohmann::json::parse(json_report(make_report()));
  CHECK(json.at("schema_version") == 1);
  CHECK(json.at("case") == "reduction");
  CHECK(json.at("command").size() == 3);
  CHECK(json.at("devices").at(0).at("index") == 3);
  CHECK(json.at("devices").at(0).at("warp_width").is_null());
  const auto& good = json.at("results").at(0);
  CHECK(good.at("variant") == "naive");
  CHECK(good.at("device") == 3);
  CHECK(good.at("n") == 7);
  CHECK(good.at("time_median_s") == 2e-6);
  CHECK(good.at("samples_s").size() == 3);
  CHECK(good.at("counters").is_null());
  const auto& bad = json.at("results").at(1);
  CHECK(bad.at("status") == "error");
  CHECK(bad.at("reason") == "packed.cl does not compile:\n\"quoted\"");
  CHECK(bad.at("time_median_s").is_null());
}

TEST_CASE("report/reports/csv") {
  std::istringstream csv(csv_report(make_report()));
  std::string line;
  std::size_t lines = 0;
  for (; std::getline(csv, line); ++lines) {
    bool quoted = false;
    std::size_t commas = 0;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++commas;
    }
    CHECK(commas == 22);
  }
  CHECK(lines == 3);
}

TEST_CASE("report/reports/csv_depth") {
  static constexpr Side sides[]{{"m", &Extent::height, ""}, {"n", &Extent::width, ""}, {"k", &Extent::depth, ""}};
  CaseStudy study = reduction::case_study();
  study.sides = sides;
  Report report = make_report();
  CHECK(csv_report(report).find("depth") == std::string::npos);
  report.study = &study;
  report.results.front().extent = {2, 7, 5};
  const std::string csv = csv_report(report);
  CHECK(csv.find(",height,width,depth,bytes,") != std::string::npos);
  CHECK(csv.find(",2,7,5,128,") != std::string::npos);
}

TEST_CASE("report/reports/full_reason") {
  const std::string text = text_report(make_report());
  CHECK(text.find("naive") != std::string::npos);
  CHECK(text.find("\"quoted\"") != std::string::npos);
}

TEST_CASE("report/reports/dropped_samples") {
  Report report = make_report();
  report.devices.front().throttling = "watched";
  CHECK(text_report(report).find("note") == std::string::npos);
  for (Result& result : report.results) result.timing.launch_overhead = "it waits";
  report.results.front().timing.dropped = 5;
  report.results.front().dropped_because = "SW power cap";
  const std::string text = text_report(report);
  CHECK(text.find("note: naive: 5 of 8 samples dropped, because the GPU throttled (SW power cap)\n") != text.npos);
  CHECK(text.find("note: these times may include launch overhead\n  naive, packed: it waits\n") != text.npos);
  const auto json = nlohmann::json::parse(json_report(report));
  CHECK(json.at("devices").at(0).at("throttling") == "watched");
  const auto& row = json.at("results").at(0);
  CHECK(row.at("samples_dropped") == 5);
  CHECK(row.at("dropped_because") == "SW power cap");
  CHECK(row.at("launch_overhead") == "it waits");
  CHECK(csv_report(report).find(",3,5,quiet,") != std::string::npos);
}

TEST_CASE("report/reports/faster_than_copy") {
  Report report = make_report();
  report.results.front().of_copy = 1.04;
  CHECK(text_report(report).find("warning") == std::string::npos);
  report.results.front().of_copy = 1.06;
  CHECK(text_report(report).find("warning") != std::string::npos);
}

TEST_CASE("report/reports/compared") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "old.json";
  std::ofstream(path) << json_report(make_report(2e-6));
  const EarlierRun baseline(reduction::case_study(), path);
  CHECK(baseline.compare(make_report(2e-6)).find("within the noise") != std::string::npos);
  CHECK(baseline.compare(make_report(3e-6)).find("slower") != std::string::npos);
  CHECK(baseline.compare(make_report(1e-6)).find("faster") != std::string::npos);
  Report other = make_report();
  other.results.front().extent = {1, 8};
  CHECK(baseline.compare(other).find("0 rows in both, 1 only before, 1 only now") != std::string::npos);
}

TEST_CASE("report/reports/wrong_or_failed") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "old.json";
  std::ofstream(path) << json_report(make_report());
  Report now = make_report();
  now.results.front().status = Status::wrong;  // detected after measuring, so it has a time
  const std::string compared = EarlierRun(reduction::case_study(), path).compare(now);
  INFO(compared);
  CHECK(compared.find("now wrong") != std::string::npos);
  CHECK(compared.find("0 rows in both, 1 now wrong or failed, 0 only before, 0 only now") != std::string::npos);
  now.results.front().status = Status::error;
  now.results.front().timing.median.reset();
  CHECK(EarlierRun(reduction::case_study(), path).compare(now).find("now error") != std::string::npos);
}

TEST_CASE("report/reports/speedups") {
  CaseStudy study = reduction::case_study();
  study.baseline = "packed";
  Report report = make_report();
  report.study = &study;
  report.results.front().speedup = 2;
  CHECK(nlohmann::json::parse(json_report(report)).at("results").at(0).at("speedup_over_packed") == 2);
  CHECK(csv_report(report).find(",speedup_over_packed\n") != std::string::npos);
  CHECK(text_report(report).find("over packed") != std::string::npos);
  study.baseline = {};
  for (const std::string& text : {json_report(report), csv_report(report), text_report(report)}) {
    CHECK(text.find("speedup_over") == std::string::npos);
    CHECK(text.find("over packed") == std::string::npos);
  }
}

TEST_CASE("report/reports/too_few_samples") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "old.json";
  std::ofstream(path) << json_report(make_report(2e-6));
  Report few = make_report(3e-6);
  few.results.front().timing.noise.reset();
  CHECK(EarlierRun(reduction::case_study(), path).compare(few).find("too few samples") != std::string::npos);
  Report quiet = make_report();
  quiet.results.front().timing.noise = 0;
  std::ofstream(path) << json_report(quiet);
  CHECK(EarlierRun(reduction::case_study(), path).compare(quiet).find("within the noise") != std::string::npos);
}

TEST_CASE("report/reports/invalid_utf8") {
  Report report = make_report();
  report.command.emplace_back("\xff");
  CHECK(nlohmann::json::parse(json_report(report)).at("command").size() == 4);
}

TEST_CASE("report/reports/not_a_report") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "old.json";
  CHECK_THROWS_AS(EarlierRun(reduction::case_study(), path), UsageError);
  const std::string good = json_report(make_report());
  std::string other_device = good;
  other_device.replace(other_device.rfind("\"device\":3"), 10, "\"device\":4");
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"),
                                  std::string("{\"schema_version\":1}"), good.substr(0, good.size() / 2)}) {
    std::ofstream(path) << text;
    CHECK_THROWS_AS(EarlierRun(reduction::case_study(), path), UsageError);
  }
  std::ofstream(path) << good;
  CHECK_NOTHROW(EarlierRun(reduction::case_study(), path));
  CHECK_THROWS_AS(EarlierRun(transpose::case_study(), path), UsageError);
}

TEST_CASE("report/reports/whole_file_or_none") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "out.json";
  std::ofstream(path) << "old";
  { const OutputFile unused("--json", path.string()); }
  CHECK(text_of(path) == "old");
  OutputFile("--json", path.string()).write("new");
  CHECK(text_of(path) == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 1);
  CHECK_THROWS_AS(OutputFile("--json", scratch.path().string()), UsageError);
  CHECK_THROWS_AS(OutputFile("--json", (scratch.path() / "no" / "such").string()), UsageError);
}

TEST_CASE("report/reports/columns") {
  CHECK(format_table({{"a", "bb", "c"}, {"aaa", "b", "see"}}, 1, true) == "  a    bb  c\n  aaa   b  see\n");
}

// The reports of a run on several ranks, of results that are made up.

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
  result.bytes = 3000000;
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
