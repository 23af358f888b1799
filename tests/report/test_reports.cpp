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
