#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <bankwise/report/report.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/table.hpp>
#include "tests/case_studies.hpp"
#include "tests/json_members.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::report;

namespace {

/// A report of two rows: one measured, one that could not run and has a reason with quotes and a second line.
RunResults make_report(double median = 2e-6) {
  RunResults report{&reduction::case_study(), {"reduction", "--n", "1"}, {}, {}};
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

/// An earlier run, in a file of its own.
struct Earlier {
  ScratchDirectory scratch;
  std::filesystem::path path = scratch.path() / "old.json";
  explicit Earlier(const std::string& text = json_report(make_report())) { std::ofstream(path) << text; }
  EarlierRun run() const { return {reduction::case_study(), path}; }
};

}  // namespace

TEST_CASE("report/reports/json") {
  const auto json = nlohmann::json::parse(json_report(make_report()));
  check_members(json, R"({"schema_version": 1, "case": "reduction", "command": ["reduction", "--n", "1"]})");
  check_members(json.at("devices").at(0), R"({"index": 3, "warp_width": null})");
  check_members(json.at("results").at(0), R"({"variant": "naive", "device": 3, "n": 7, "time_median_s": 2e-6,
                                              "samples_s": [2e-6, 2e-6, 2e-6], "counters": null})");
  check_members(json.at("results").at(1), R"({"status": "error", "time_median_s": null,
                                              "reason": "packed.cl does not compile:\n\"quoted\""})");
}

TEST_CASE("report/reports/csv") {
  const std::vector<std::string> lines = lines_in(csv_report(make_report()));
  CHECK(lines.size() == 3);
  for (const std::string& line : lines) {
    bool quoted = false;
    std::size_t commas = 0;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++commas;
    }
    CHECK(commas == 25);
  }
  // An extent of three sides.
  static constexpr Side sides[]{{"m", &Extent::height, ""}, {"n", &Extent::width, ""}, {"k", &Extent::depth, ""}};
  CaseStudy study = reduction::case_study();
  study.sides = sides;
  RunResults report = make_report();
  CHECK_THAT(csv_report(report), !has("depth"));
  report.study = &study;
  report.results.front().extent = {2, 7, 5};
  const std::string with_depth = csv_report(report);
  CHECK_THAT(with_depth, has(",height,width,depth,bytes,"));
  CHECK_THAT(with_depth, has(",2,7,5,128,"));
}

TEST_CASE("report/reports/text") {
  const std::string text = text_report(make_report());
  CHECK_THAT(text, has("naive"));
  CHECK_THAT(text, has("\"quoted\""));
  CHECK(support::format_table({{"a", "bb", "c"}, {"aaa", "b", "see"}}, 1, true) == "  a    bb  c\n  aaa   b  see\n");
  CHECK(support::format_table({{"é", "b"}, {"xx", "y"}}, 1, true) == "  é   b\n  xx  y\n");
}

TEST_CASE("report/reports/gpu_and_cpu") {
  RunResults report = make_report();
  const banks::Architecture *const ampere = banks::find_architecture("sm_80"), *const hopper =
                                                                                   banks::find_architecture("sm_90");
  const auto levels = [](std::string_view variant, const banks::Architecture* architecture, std::uint64_t passes) {
    VariantLevels made{.variant = variant, .architecture = architecture};
    made.alu_utilization = double(passes) / 100;
    made.costs = banks::Tally{.passes = passes, .ideal = 10};
    return made;
  };
  report.levels = {levels("packed", ampere, 20), levels("naive", ampere, 30), levels("packed", hopper, 40),
                   levels("naive", hopper, 50)};
  report.results.front().of_copy = 0.5;
  for (const char* variant : {"naive", "sequential"}) {
    report.results.push_back(report.results.front());
    report.results.back().variant = variant;
  }
  report.results[2].library = "CUB 3.1";
  for (Result& result : report.results) result.architecture = hopper;
  report.results[2].architecture = ampere;
  report.devices.front().is_gpu = true;
  const std::string row_end = "packed.cl does not compile:\n";
  const std::string notes = "\npacked: packed.cl does not compile:\n\"quoted\"\n\n";
  CHECK(
      text_report(report) ==
      "reduction: 7 uint4 records (128 B), opencl:3 A \"fine\" device\n"
      "scope memory, cache cold; passes (NVIDIA: wavefronts), ALU utilization: one block on sm_90\n"
      "  variant     verified  median  noise  GB/s  of copy  over naive  passes / ideal     ALU  samples  stop\n"
      "  naive       yes         2 us  1.0 %   0.1   50.0 %      1.00 x          5.00 x  50.0 %        3  quiet\n"
      "  packed      error          -      -     -        -           -          4.00 x  40.0 %        0  " +
          row_end +
          "  CUB 3.1     yes         2 us  1.0 %   0.1   50.0 %      1.00 x          3.00 x  30.0 %        3  quiet\n"
          "  sequential  yes         2 us  1.0 %   0.1   50.0 %      1.00 x               -       -        3  quiet\n" +
          notes);

  report.devices.front().is_gpu = false;
  report.devices.front().name = "pthread-skylake-avx512-AMD EPYC 7R13";
  report.devices.front().platform = "Portable Computing Language";
  report.results.erase(report.results.begin() + 2);
  const std::string cpu =
      "reduction: 7 uint4 records (128 B), opencl:3 AMD EPYC 7R13 (PoCL, CPU)\n"
      "a CPU has no banks: this run shows whether results are right and what work costs on this CPU,\n"
      "not what conflicts cost";
  CHECK(text_report(report) ==
        cpu +
            ": see the passes (NVIDIA: wavefronts) of a block on sm_90, a GPU (--arch)\n"
            "scope memory, cache cold\n"
            "  variant     verified  median  noise  GB/s  of copy  passes / ideal on sm_90 (model)     ALU  samples  "
            "stop\n"
            "  naive       yes         2 us  1.0 %   0.1   50.0 %                           5.00 x  50.0 %        3  "
            "quiet\n"
            "  packed      error          -      -     -        -                           4.00 x  40.0 %        0  " +
            row_end +
            "  sequential  yes         2 us  1.0 %   0.1   50.0 %                                -       -        3  "
            "quiet\n" +
            notes);
  report.levels.clear();
  CHECK(text_report(report).starts_with(cpu + "\nscope memory, cache cold\n"));
  CHECK_THAT(json_report(report), has("speedup_over_naive"));
}

TEST_CASE("report/reports/busy_and_bound") {
  RunResults report = make_report();
  report.devices.front().is_gpu = true;
  report.devices.front().clock_hz = 1.98e9;
  report.results.front().limits = Limits{.shared_busy = 0.25, .speedup = 1.5, .least_s = 1e-6};
  CHECK(text_report(report).starts_with(
      "reduction: 7 uint4 records (128 B), opencl:3 A \"fine\" device\n"
      "scope memory, cache cold\n"
      "busy: shared memory; at most: the speedup without conflicts\n"
      "  variant  verified  median  noise  GB/s  of copy  over naive    busy  at most  stop\n"
      "  naive    yes         2 us  1.0 %   0.1        -      1.00 x  25.0 %   1.50 x  quiet\n"
      "  packed   error          -      -     -        -           -       -        -  packed.cl"));
  const auto json = nlohmann::json::parse(json_report(report));
  check_members(json.at("devices").at(0), R"({"clock_hz": 1.98e9})");
  check_members(json.at("results").at(0), R"({"shared_busy": 0.25, "bound": 1.5, "least_time_s": 1e-6})");
  check_members(json.at("results").at(1), R"({"shared_busy": null, "bound": null, "least_time_s": null})");
  const std::string csv = csv_report(report);
  CHECK_THAT(csv, has(",shared_busy,bound,least_time_s,speedup_over_naive\n"));
  CHECK_THAT(csv, has(",0.25,1.5,1e-06,1\n"));
  CHECK_THAT(csv, has(",,,,\n"));

  for (Result& result : report.results) result.scope = Scope::block;
  CHECK_THAT(text_report(report), has("noise  over naive    busy  at most  stop\n"));
  report.devices.front().clock_hz = 0;
  check_members(nlohmann::json::parse(json_report(report)).at("devices").at(0), R"({"clock_hz": null})");
}

TEST_CASE("report/reports/too_noisy") {
  std::vector<Result> results;
  const auto add = [&](std::string_view variant, double median, std::optional<double> noise, std::string stop) {
    Result& row = results.emplace_back();
    row.variant = variant;
    row.status = Status::ok;
    row.timing.median = median;
    row.timing.noise = noise;
    row.timing.stop = std::move(stop);
  };
  add("copy", 1, 0.5, "timeout");
  add("first", 4, 0.04, "quiet");
  add("naive", 2, 0.03, "quiet");
  add("calm", 2, 0.04, "quiet");
  add("near", 2.09, 0.04, "timeout");  // 4.5 %, and hypot(3 %, 4 %) is 5 %
  add("far", 2.12, 0.04, "timeout");
  add("short", 1, std::nullopt, "timeout");
  add("failed", 2, 0.04, "timeout");
  results.back().status = Status::wrong;
  CHECK(too_noisy("naive", results) ==
        "note: too noisy to compare with naive; --timeout measures longer\n"
        "  near: the difference is within the noise\n"
        "  short: too few samples to know the noise\n");
  results[2].timing.stop = "timeout";
  CHECK_THAT(too_noisy("naive", results), has("  calm, near: "));
  CHECK_THAT(too_noisy("", results), has("compare with first;"));
  RunResults report = make_report();
  report.results.back() = report.results.front();
  report.results.back().variant = "packed";
  report.results.back().timing.stop = "timeout";
  CHECK_THAT(text_report(report), has("note: too noisy to compare with naive"));
  CHECK(too_noisy("naive", {}).empty());
}

TEST_CASE("report/reports/dropped_samples") {
  RunResults report = make_report();
  report.devices.front().throttling = "watched";
  CHECK_THAT(text_report(report), !has("note"));
  for (Result& result : report.results) result.timing.launch_overhead = "it waits";
  report.results.front().timing.dropped = 5;
  report.results.front().dropped_because = "SW power cap";
  const std::string text = text_report(report);
  CHECK_THAT(text, has("note: naive: 5 of 8 samples dropped, because the GPU throttled (SW power cap)\n"));
  CHECK_THAT(text, has("note: these times may include launch overhead\n  naive, packed: it waits\n"));
  const auto json = nlohmann::json::parse(json_report(report));
  CHECK(json.at("devices").at(0).at("throttling") == "watched");
  check_members(json.at("results").at(0), R"({"samples_dropped": 5, "dropped_because": "SW power cap",
                                              "launch_overhead": "it waits"})");
  CHECK_THAT(csv_report(report), has(",3,5,quiet,"));
}

TEST_CASE("report/reports/faster_than_copy") {
  RunResults report = make_report();
  report.results.front().of_copy = 1.04;
  CHECK_THAT(text_report(report), !has("note:"));
  report.results.front().of_copy = 1.06;
  CHECK_THAT(text_report(report), has("note: naive is above 105 % of copy"));
}

TEST_CASE("report/reports/compared") {
  const Earlier earlier;
  const EarlierRun baseline = earlier.run();
  CHECK_THAT(baseline.compare(make_report(2e-6)), has("within the noise"));
  CHECK_THAT(baseline.compare(make_report(3e-6)), has("slower"));
  CHECK_THAT(baseline.compare(make_report(1e-6)), has("faster"));
  RunResults other = make_report();
  other.results.front().extent = {1, 8};
  CHECK_THAT(baseline.compare(other), has("0 rows in both, 1 only before, 1 only now"));
}

TEST_CASE("report/reports/wrong_or_failed") {
  const Earlier earlier;
  RunResults now = make_report();
  now.results.front().status = Status::wrong;  // detected after measuring, so it has a time
  const std::string compared = earlier.run().compare(now);
  INFO(compared);
  CHECK_THAT(compared, has("now wrong"));
  CHECK_THAT(compared, has("0 rows in both, 1 now wrong or failed, 0 only before, 0 only now"));
  now.results.front().status = Status::error;
  now.results.front().timing.median.reset();
  CHECK_THAT(earlier.run().compare(now), has("now error"));
}

TEST_CASE("report/reports/speedups") {
  CaseStudy study = reduction::case_study();
  study.baseline = "packed";
  RunResults report = make_report();
  report.study = &study;
  report.devices.front().is_gpu = true;
  report.results.front().speedup = 2;
  CHECK(nlohmann::json::parse(json_report(report)).at("results").at(0).at("speedup_over_packed") == 2);
  CHECK_THAT(csv_report(report), has(",speedup_over_packed\n"));
  CHECK_THAT(text_report(report), has("over packed"));
  study.baseline = {};
  for (const std::string& text : {json_report(report), csv_report(report), text_report(report)}) {
    CHECK_THAT(text, !has("speedup_over"));
    CHECK_THAT(text, !has("over packed"));
  }
}

TEST_CASE("report/reports/too_few_samples") {
  RunResults few = make_report(3e-6);
  few.results.front().timing.noise.reset();
  CHECK_THAT(Earlier().run().compare(few), has("too few samples"));
  RunResults quiet = make_report();
  quiet.results.front().timing.noise = 0;
  CHECK_THAT(Earlier(json_report(quiet)).run().compare(quiet), has("within the noise"));
}

TEST_CASE("report/reports/invalid_utf8") {
  RunResults report = make_report();
  report.command.emplace_back("\xff");
  CHECK(nlohmann::json::parse(json_report(report)).at("command").size() == 4);
}

TEST_CASE("report/reports/not_a_report") {
  const std::string good = json_report(make_report());
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"),
                                  std::string("{\"schema_version\":1}"), good.substr(0, good.size() / 2)}) {
    INFO(text);
    CHECK_THROWS_AS(Earlier(text).run(), support::UsageError);
  }
  const Earlier earlier;
  CHECK_NOTHROW(earlier.run());
  CHECK_THROWS_AS(EarlierRun(transpose::case_study(), earlier.path), support::UsageError);
  std::filesystem::remove(earlier.path);
  CHECK_THROWS_AS(earlier.run(), support::UsageError);
}

TEST_CASE("report/reports/whole_file_or_none") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "out.json";
  std::ofstream(path) << "old";
  { const support::OutputFile unused("--json", path.string()); }
  CHECK(text_of(path) == "old");
  support::OutputFile("--json", path.string()).write("new");
  CHECK(text_of(path) == "new");
  const pid_t killed = fork();
  if (killed == 0) {
    constexpr rlimit one_page{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &one_page);
    support::OutputFile("--json", path.string()).write(std::string(1 << 20, 'x'));
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(killed, &status, 0) == killed);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ));
  CHECK(text_of(path) == "new");
  CHECK(files_in(scratch.path()) == 1);
  CHECK_THROWS_AS(support::OutputFile("--json", scratch.path().string()), support::UsageError);
  CHECK_THROWS_AS(support::OutputFile("--json", (scratch.path() / "no" / "such").string()), support::UsageError);
}
