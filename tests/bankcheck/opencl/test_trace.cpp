// Traces of whole programs: a report from the trace, on any architecture, equals the report of the run.
#include <algorithm>

#include "checked_program.hpp"
#include "tests/catch_any.hpp"

namespace {

/// Warps of 32, 64, 64, 32 and 16 lanes.
constexpr const char* architectures[]{"sm_90", "gfx942", "hd5870", "sm_13", "intel_xe"};

/// Recorded by a run on sm_90.
struct Traced {
  ScratchDirectory scratch;
  std::string path = (scratch.path() / "t.jsonl").string();
  Outcome outcome;

  explicit Traced(const std::string& command)
      : outcome(bankcheck("opencl --json - --trace " + path + " -- " + command)) {}
};

/// Both outputs, without the program's own.
struct Reports {
  std::string text, json;
};

/// Without what differs between a run and its trace: the program's output, and the command that finds the fix.
std::string text_of_report(const std::string& text) {
  const auto rule = text.find("-- bankcheck opencl: ");
  std::string report = rule == std::string::npos ? text : text.substr(text.find('\n', rule) + 1);
  if (const auto fix = report.find("--fit looks for one: "); fix != std::string::npos)
    report.erase(fix, report.find('\n', fix) - fix);
  return report;
}

Reports reports_of(const std::string& before, const std::string& after) {
  const ScratchDirectory scratch;
  const std::string json = (scratch.path() / "r.json").string();
  const Outcome outcome = ended(0, bankcheck(before + " --sources '" PROGRAM_SOURCES "' --json " + json + " " + after));
  return {text_of_report(outcome.out), text_of(json)};
}

std::string first_lines(const std::string& text, std::size_t lines) {
  std::size_t end = 0;
  while (lines-- > 0) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

}  // namespace

TEST_CASE("opencl/trace/equals_run") {
  for (const std::string& command : {program("shapes"), program("types"), program("transpose"), program("divergence"),
                                     program("histogram"), program("apart") + " names"}) {
    INFO(command);
    const Traced traced(command);
    REQUIRE(traced.outcome.code == 0);
    std::string list;
    for (const char* architecture : architectures) list += (list.empty() ? "" : ",") + std::string(architecture);
    const Reports direct = reports_of("opencl --arch " + list, "-- " + command);
    const Reports later = reports_of("report --arch " + list, traced.path);
    CHECK(later.json == direct.json);
    CHECK(direct.text == later.text);
    CHECK_THAT(later.text, has("launch"));
  }
}

TEST_CASE("opencl/trace/limits_equal_run") {
  const std::string two_kernels = program("cmd_two_kernels");
  const Traced traced(two_kernels);
  const std::string says = "program says:\n", rule = "-- bankcheck opencl: ";
  for (const std::string options :
       {"--max-conflicts 0", "--max-conflicts 62", "--kernel row", "--kernel colum", "--update-baseline -",
        ("--sarif - --sources '" PROGRAM_SOURCES "'"), "--arch sm_90,gfx942 --max-conflicts 0 --kernel column"}) {
    INFO(options);
    const Outcome direct = bankcheck("opencl " + options + " -- " + two_kernels);
    const Outcome later = bankcheck("report " + options + " " + traced.path);
    CHECK(later.code == direct.code);
    const bool has_text = direct.out.starts_with(says + rule);
    CHECK((has_text ? text_of_report(direct.out) == text_of_report(later.out)
                    : direct.out == later.out || direct.out == says + later.out));
    CHECK((direct.err == later.err || direct.err == says + later.err));
  }
}

TEST_CASE("opencl/trace/stdin_and_truncated") {
  const Traced traced(program("cmd_two_kernels"));
  const Outcome whole = ended(0, bankcheck("report -", "cat " + traced.path + " |"));
  CHECK(whole.out.starts_with("column   1 line with 32-way conflicts: "));
  const std::string text = text_of(traced.path);
  const auto lines = std::size_t(std::count(text.begin(), text.end(), '\n'));
  const ScratchDirectory scratch;
  const std::string cut = (scratch.path() / "cut.jsonl").string(), baseline = (scratch.path() / "b.csv").string();
  std::ofstream(cut) << first_lines(text, lines - 1);
  const Outcome outcome = ended(0, bankcheck("report --kernel row " + cut));
  CHECK(outcome.out.starts_with("incomplete: " + cut +
                                " has no last line: the file was truncated, and the rest is missing\n"
                                "no conflict and no extra sector in what was watched on sm_90: 1 kernel\n"));
  CHECK_THAT(bankcheck("report --verbose " + cut).out, has(">=0"));
  const Outcome limited = ended(1, bankcheck("report --kernel row --max-conflicts 0 " + cut));
  CHECK_THAT(limited.err, has("bankcheck: incomplete: " + cut + " has no last line"));
  const Outcome update = ended(1, bankcheck("report --update-baseline " + baseline + " " + cut));
  CHECK_THAT(update.err, has("--update-baseline is not written: the trace is incomplete"));
  CHECK_FALSE(std::filesystem::exists(baseline));
  CHECK(nlohmann::json::parse(bankcheck("report --json - " + cut).out).at("incomplete").size() == 1);
}

TEST_CASE("opencl/trace/failing_program") {
  const Traced traced(program("fail_modes") + " exit5");
  CHECK(traced.outcome.code == 3);
  const Outcome outcome = ended(0, bankcheck("report " + traced.path));
  CHECK_THAT(outcome.out, Catch::Matchers::StartsWith("incomplete: the program "));
  CHECK_THAT(outcome.out, has("failed with exit code 5"));
  CHECK_THAT(outcome.out, has("good: 1 launch, 1 work-group"));
  CHECK(bankcheck("report --max-conflicts 1000000 " + traced.path).code == 1);
}

TEST_CASE("opencl/trace/excess_patterns") {
  // Memory for two patterns.
  const ScratchDirectory scratch;
  const std::string trace = (scratch.path() / "t").string();
  const Checked checked = check(program("histogram"), "--trace " + trace, "BANKWISE_PATTERN_BYTES=1500");
  REQUIRE(checked.outcome.code == 0);
  const Checked whole = check(program("histogram"));
  for (const auto& kernel : whole.json.at("kernels")) {
    const auto& a = kernel.at("architectures").at(0);
    const auto& b = checked.on(kernel.at("kernel"));
    for (const char* number : {"accesses", "passes", "ideal_passes", "conflicts", "lanes", "levels"}) {
      INFO(number);
      CHECK(a.at(number) == b.at(number));
    }
  }
  const Outcome same = ended(0, bankcheck("report --max-conflicts 100000000 " + trace));
  CHECK(text_of_report(checked.outcome.out) == text_of_report(same.out));
  const Outcome other = ended(1, bankcheck("report --arch gfx942 --max-conflicts 100000000 " + trace));
  CHECK_THAT(other.out, Catch::Matchers::StartsWith("incomplete: "));
  CHECK_THAT(other.out, has("did not fit into the trace, and have no cost on gfx942"));
}

TEST_CASE("opencl/trace/bad_files") {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "t").string();
  check_fails("report", 2, "TRACE is required");
  check_fails("report /nowhere/t", 2, "cannot read /nowhere/t");
  check_fails("report " + scratch.path().string(), 2, "cannot read " + scratch.path().string());
  std::ofstream(file) << "my notes\n";
  check_fails("report " + file, 2, file + ":1: it is not a trace of bankwise");
  const std::string header = "{\"bankwise_trace\":1,\"maker\":\"\",\"revision\":\"\",\"command\":[]}\n";
  std::ofstream(file) << header << "{}\n";
  check_fails("report " + file, 2, file + ":2: it has no record");
  std::ofstream(file) << header << "{\"record\":\"end\",\"lines\":1}\n";
  check_fails("report " + file, 2, "has no kernel");
  check_fails("report --arch sm_9O " + file, 2, "there is no architecture 'sm_9O'; did you mean 'sm_90'?");
  check_fails("opencl --trace - -- true", 2, "--trace needs a file");
  check_fails("opencl --trace /nowhere/t -- true", 2, "cannot write --trace");
}
