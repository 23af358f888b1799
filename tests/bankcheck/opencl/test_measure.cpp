// Layouts that are measured under the program's own driver. On a CPU the times say nothing, so the tests look at what
// ran and what was compared.
#include <fstream>

#include <nlohmann/json.hpp>

#include <bankwise/trace/codec.hpp>
#include "bankcheck/driver/measure.hpp"
#include "checked_program.hpp"

using namespace bankwise;

namespace {

/// Runs with --measure in a cache and a folder for temporary files of its own, which must be empty at the end.
Outcome measure(const std::string& command, const std::string& options = "--measure-time 0 --candidates 1") {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch.path() / "tmp");
  Outcome outcome = bankcheck("opencl --measure " + options + " --sources '" PROGRAM_SOURCES "' -- " + command,
                              "TMPDIR='" + (scratch.path() / "tmp").string() + "'");
  INFO(outcome.out);
  INFO(outcome.err);
  CHECK(std::filesystem::is_empty(scratch.path() / "tmp"));
  return outcome;
}

}  // namespace

TEST_CASE("opencl/measure/versions_in_turn") {
  const Outcome outcome = ended(0, measure(program("measured"), "--measure-time 20 --candidates 2"));
  INFO(outcome.out);
  const std::string& out = outcome.out;
  CHECK(count(out, "\nmeasured: columns: ") == 1);
  CHECK(count(out, "too few runs") == 0);
  CHECK_THAT(out, has("\nresults: the exit code and 1 line of stdout are equal; 1 with times, or different "
                      "from run to run, was not compared\n"));
  CHECK_THAT(out, has("\nwatched again: columns: 256 passes on sm_90 instead of 4,224, as predicted\n"));
  CHECK(count(out, "  as it is") == 1 + 1);  // of the fit, and of this
  for (const char* version : {"\n           A ", "\n           B "}) CHECK(count(out, version) == 1);
  CHECK(count(out, " x  ") == 2);  // speedups
  CHECK(count(out, "not measured") == 0);
  CHECK(count(out, "sum ") == 1);  // of the watched program; the others are not shown
}

// One macro, so both kernels change together.
TEST_CASE("opencl/measure/tied_kernels") {
  const Outcome outcome = ended(0, measure(program("measured") + " tied", "--measure-time 20 --candidates 1"));
  INFO(outcome.out);
  CHECK(count(outcome.out, "not measured") == 0);
  for (const char* kernel : {"columns", "columns_again"}) {
    CHECK_THAT(outcome.out, has(std::string("\nmeasured: ") + kernel + ": "));
  }
}

TEST_CASE("opencl/measure/too_few_runs") {
  CHECK_THAT(ended(1, measure(program("measured"))).err, has("--measure: too few runs to know the noise"));
}

TEST_CASE("opencl/measure/other_results") {
  const Outcome outcome = ended(1, measure(program("measured") + " source"));
  CHECK_THAT(outcome.out, has("\nmeasured: columns: no candidate could be measured\n"));
  CHECK_THAT(outcome.out, has("; not measured: other results: line 3 of stdout is 'text of "));
  CHECK_THAT(outcome.err, has("--measure: "));
}

TEST_CASE("opencl/measure/other_launches") {
  const Outcome outcome = ended(1, measure(program("measured") + " twice"));
  CHECK_THAT(outcome.out, has("; not measured: 2 launches instead of 1\n"));
}

TEST_CASE("opencl/measure/not_exchanged") {
  const Outcome outcome = ended(1, measure(program("measured") + " own"));
  CHECK_THAT(outcome.out, has(" did not give the watched text to its own driver"));
}

TEST_CASE("opencl/measure/excludes_patch") {
  CHECK_THAT(ended(2, measure(program("measured"), "--patch fix.diff")).err, has("--patch excludes --measure"));
}

TEST_CASE("opencl/measure/nothing_proposed") {
  const Outcome outcome = ended(0, measure(program("transpose"), "--kernel padded"));
  CHECK_THAT(outcome.out, has("\nnothing to measure: no change is proposed\n"));
}

TEST_CASE("opencl/measure/fails_under_own_driver") {
  const Outcome outcome = ended(3, measure("sh -c 'test -n \"$BANKWISE_RECORD\" || exit 4; " PROGRAMS "/measured'"));
  CHECK_THAT(outcome.err, has("bankcheck: --measure: the program as it is: the program 'sh' failed with "
                              "exit code 4\n"));
}

TEST_CASE("opencl/measure/loaded_at_run_time") {
  const Outcome outcome = measure(program("dlopened"));
  INFO(outcome.out + outcome.err);
  CHECK_THAT(outcome.out, has("measure"));
  CHECK(count(outcome.out + outcome.err, "used no OpenCL") == 0);
}

namespace {

/// The trace of the program `measured`, and what fit found in it.
struct FittedTrace {
  FittedTrace() {
    const ScratchDirectory scratch;
    const auto file = scratch.path() / "trace.jsonl";
    (void)ended(0, bankcheck("opencl --trace '" + file.string() + "' -- " + program("measured")));
    std::ifstream lines(file);
    trace = trace::read_json_lines(lines, "trace").trace;
    options.detail = driver::Detail::quiet;
    options.fit.fit = true;
    for (report::Output& output : options.outputs) {
      if (output.option != nullptr && std::string_view(output.option) == "--json") output.path = json_file.string();
    }
    reporting.emplace(options);
    reporting->finish(trace, {});
  }
  /// What the file of --json has of its only kernel.
  nlohmann::json fit() const { return nlohmann::json::parse(text_of(json_file))["kernels"].at(0)["fit"]; }

  ScratchDirectory folder;
  std::filesystem::path json_file = folder.path() / "report.json";
  trace::Trace trace;
  driver::ReportOptions options;
  std::optional<driver::Reporting> reporting;
};

/// Versions that take the given nanoseconds; `watched` is the one that is watched at the end.
struct PlayedVersions {
  std::vector<std::uint64_t> nanoseconds;
  trace::Trace trace;  ///< of the watched version
  std::optional<std::size_t> watched{};
  std::vector<driver::FixedSources> sources{};

  int measure(FittedTrace& fitted) {
    const driver::MeasureOptions options{.measure = true, .candidates = 2, .seconds = 1};
    return driver::measure(
        *fitted.reporting, fitted.trace, options,
        {.make =
             [&](std::size_t version, const driver::FixedSources& changed) {
               CHECK(version == sources.size());
               sources.push_back(changed);
               return std::optional<std::string>();
             },
         .time =
             [&](std::size_t version) {
               return driver::TimedRun{.kernels = {{"columns", {2, 2 * nanoseconds.at(version)}}}, .device = "played"};
             },
         .watch =
             [&](std::size_t version) {
               watched = version;
               return driver::Outcome{.trace = trace};
             },
         .by_text = true});
  }
};

}  // namespace

TEST_CASE("opencl/measure/fastest_is_watched") {
  FittedTrace fitted;
  REQUIRE(fitted.reporting->fits().size() == 1);
  PlayedVersions second{.nanoseconds = {1000, 1100, 900}, .trace = fitted.trace};
  CHECK(second.measure(fitted) == 1);  // the trace has no change
  CHECK(second.watched == 2);
  REQUIRE(second.sources.size() == 3);
  CHECK(second.sources[0].files.empty());
  REQUIRE(second.sources[1].files.size() == 1);
  CHECK(second.sources[1].files.begin()->first == fitted.trace.sources.at(0));
  CHECK_THAT(second.sources[1].files.begin()->second, has("local float tile[32][32 + 1];"));
  CHECK_THAT(second.sources[2].files.begin()->second, has("= tile[x][y ^ x];"));

  PlayedVersions equal{.nanoseconds = {1000, 1000, 1000}, .trace = fitted.trace};
  (void)equal.measure(fitted);
  CHECK(equal.watched == 1);

  PlayedVersions changed{.nanoseconds = {1000, 900, 950}, .trace = fitted.trace};
  for (trace::KernelTrace& kernel : changed.trace.kernels) {
    for (trace::Pattern& pattern : kernel.patterns) {
      for (std::size_t lane = 0; lane < pattern.addresses.size(); ++lane) pattern.addresses[lane] = unsigned(4 * lane);
    }
  }
  CHECK(changed.measure(fitted) == 0);
}

TEST_CASE("opencl/measure/json") {
  FittedTrace fitted;
  CHECK_FALSE(fitted.fit().contains("measured"));
  PlayedVersions played{.nanoseconds = {1000, 1250, 800}, .trace = fitted.trace};
  (void)played.measure(fitted);
  const nlohmann::json measured = fitted.fit()["measured"];
  INFO(measured.dump(1));
  // The trace has no change.
  check_members(measured, R"({"verdict": "faster", "fastest": "B", "passes_again": 4224})");
  REQUIRE(measured["versions"].size() == 3);
  check_members(measured["versions"][0],
                R"({"version": "as it is", "passes": 4224, "nanoseconds": 1000, "speedup": null})");
  check_members(measured["versions"][1],
                R"({"passes": 256, "changes": "tile[32][32] -> tile[32][32 + 1]", "speedup": 0.8, "noise": 0})");
  check_members(measured["versions"][2], R"({"speedup": 1.25})");
  CHECK_FALSE(measured["versions"][2].contains("problem"));
}

TEST_CASE("opencl/measure/json_without_versions") {
  FittedTrace fitted;
  fitted.trace.sources.at(0) = "kernel void columns() {}";
  PlayedVersions played{.nanoseconds = {}, .trace = fitted.trace};
  CHECK(played.measure(fitted) == 1);
  const nlohmann::json measured = fitted.fit()["measured"];
  INFO(measured.dump(1));
  CHECK(measured.size() == 1);
  CHECK_THAT(measured["not_measured"].get<std::string>(), has("columns: "));
}
