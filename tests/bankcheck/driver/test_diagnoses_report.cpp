// SPDX-License-Identifier: MIT
//
// Diagnoses in each form of a report.
#include <nlohmann/json.hpp>

#include <bankwise/trace/codec.hpp>
#include "bankcheck/driver/reporting.hpp"
#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/bankcheck/driver/made_report.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::driver;
using nlohmann::json;
using trace::Fault;

namespace {

trace::Trace trace_with(const std::vector<trace::DiagnosisRecord>& diagnoses) {
  trace::Builder builder = builder_of();
  builder.site({.file = "k.cu", .line = 3});
  builder.site({.file = "k.cu", .line = 8});
  for (const trace::DiagnosisRecord& diagnosis : diagnoses) builder.add(diagnosis);
  return {.maker = trace::Maker::emulate, .kernels = {builder.take()}};
}

const trace::DiagnosisRecord race{Fault::race, 0, 1, false, "lane 1 of block (0, 0, 0) of k reads", 12, {}};
const trace::DiagnosisRecord trap{Fault::trap, 1, {}, true, "lane 0 of block (0, 0, 0) of k stops", 1, {}};
const trace::DiagnosisRecord collision{
    Fault::lanes_collide, 1, {}, false, "lane 2 of block (0, 0, 0) of k writes", 1, {}};

int exit_of(const std::vector<trace::DiagnosisRecord>& diagnoses) {
  ReportOptions options;
  options.outputs.at(1).path = "/dev/null";  // --json
  Reporting reporting(options);
  return reporting.finish(trace_with(diagnoses), {});
}

}  // namespace

TEST_CASE("driver/diagnoses_report/text") {
  const std::string text = to_text(report_of(trace_with({race, trap})), 120);
  INFO(text);
  CHECK(text.find("\n  k.cu:3: race: lane 1 of block (0, 0, 0) of k reads; 12 times\n") != std::string::npos);
  CHECK(text.find("\n  k.cu:8: trap: lane 0 of block (0, 0, 0) of k stops; this ended the launch\n") !=
        std::string::npos);
  trace::Trace many = trace_with({});
  for (unsigned i = 0; i < 25; ++i) {
    many.kernels[0].sites.push_back({.file = "m.cu", .line = 100 + i});
    many.kernels[0].diagnoses.push_back({Fault::race, 2 + i, {}, false, "x", 1, {}});
  }
  const std::string cut = to_text(report_of(many), 120);
  CHECK(cut.find("m.cu:119: race") != std::string::npos);
  CHECK(cut.find("m.cu:120: race") == std::string::npos);
  CHECK(cut.find("  and 5 more: --json lists all of them\n") != std::string::npos);
}

TEST_CASE("driver/diagnoses_report/causes") {
  trace::Trace scan = trace_with({});
  trace::KernelTrace& kernel = scan.kernels[0];
  kernel.diagnoses.push_back({Fault::race, 0, 1, false, "threads of two warps [--allow race]", 1, {}});
  for (unsigned i = 0; i < 22; ++i) {
    kernel.sites.push_back({.file = "s.cu", .line = 100 + i, .function = i == 21 ? "other" : "scan"});
    kernel.diagnoses.push_back({Fault::race, 2 + i, 1, false, "in a warp [--warp-synchronous]", 1, {}});
  }
  const RunReport report = report_of(scan);
  const std::string text = to_text(report, 120);
  INFO(text);
  CHECK(
      text.find("  k.cu:3: race: threads of two warps [--allow race]\n"
                "  s.cu:100: race: in a warp [--warp-synchronous]\n"
                "    and 20 more races in scan, most likely for the same reason, a missing __syncwarp(): lines 101 and "
                "8, 102 and 8, 103 and 8, 104 and 8, 105 and 8, 106 and 8, 107 and 8, 108 and 8, ...\n"
                "  s.cu:121: race: in a warp [--warp-synchronous]\n") != std::string::npos);
  CHECK(json::parse(to_json(report)).at("kernels").at(0).at("diagnoses").size() == 23);
}

TEST_CASE("driver/diagnoses_report/json") {
  const json kernel = json::parse(to_json(report_of(trace_with({race, collision})))).at("kernels").at(0);
  REQUIRE(kernel.at("diagnoses").size() == 2);
  CHECK(kernel["diagnoses"][0] ==
        json::parse(R"({"fault": "race", "file": "k.cu", "line": 3, "is_file": false, "source": "", "other_line": 8,
                        "count": 12, "remark": false, "ended_launch": false,
                        "text": "race: lane 1 of block (0, 0, 0) of k reads; 12 times"})"));
  CHECK(kernel["diagnoses"][1].at("remark") == true);
  CHECK(json::parse(to_json(report_of(trace_with({})))).at("kernels").at(0).at("diagnoses").empty());
}

TEST_CASE("driver/diagnoses_report/sarif") {
  auto kernels = report_of(trace_with({race, collision, trap})).kernels;
  CHECK(json::parse(to_sarif(kernels, {})).at("runs")[0].at("results").empty());
  CHECK(lines_without_file(kernels) == 3);
  for (std::size_t i = 0; i < 2; ++i) kernels[0].diagnoses[i].is_file = true;
  const json run = json::parse(to_sarif(kernels, {})).at("runs")[0];
  REQUIRE(run.at("results").size() == 2);
  const json& first = run["results"][0];
  CHECK(first.at("ruleId") == "race");
  CHECK(first.at("level") == "error");
  CHECK(first.at("message").at("text") == "race: lane 1 of block (0, 0, 0) of k reads; 12 times.");
  CHECK(first.at("locations")[0].at("physicalLocation").at("region").at("startLine") == 3);
  CHECK(run["results"][1].at("level") == "note");
  std::set<std::string> rules;
  for (const json& rule : run.at("tool").at("driver").at("rules")) rules.insert(rule.at("id"));
  CHECK(rules == std::set<std::string>{"bank-conflict", "race", "lanes-collide"});
  CHECK(lines_without_file(kernels) == 1);
}

TEST_CASE("driver/diagnoses_report/fails_the_check") {
  CHECK(exit_of({}) == 0);
  CHECK(exit_of({collision}) == 0);
  CHECK(exit_of({race}) == 1);
  CHECK(exit_of({collision, trap}) == 1);
  const ScratchDirectory scratch;
  const auto path = (scratch.path() / "trace.jsonl").string();
  for (const auto& diagnoses : {std::vector{race, collision}, std::vector{race, trap}}) {
    std::ofstream(path) << trace::to_json_lines(trace_with(diagnoses));
    const bool one = diagnoses[1].fault == Fault::lanes_collide;
    check_fails("report " + path, 1, one ? "k has 1 diagnosis\n" : "k has 2 diagnoses, and a launch of it ended early");
  }
}
