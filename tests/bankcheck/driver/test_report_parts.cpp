// Copies, diagnoses and the evidence of machine code, in each form of a report.
#include <nlohmann/json.hpp>

#include <bankwise/trace/codec.hpp>
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/driver/reporting.hpp"
#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/bankcheck/driver/made_report.hpp"
#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"

using namespace bankwise;
using namespace bankwise::driver;
using nlohmann::json;
using trace::Fault;

// Copies (cp.async): their worst access has sources, and no picture.

namespace {

/// Each 2 copies of consecutive words from words that are `step` bytes apart.
RunReport report_of_copies(std::initializer_list<std::uint32_t> steps, const char* architecture) {
  trace::Builder builder = builder_of();
  for (const std::uint32_t step : steps) {
    trace::Pattern pattern = access_of(builder, {.file = "k.cu", .line = 3}, 4, 2);
    pattern.operation = banks::Operation::cp_async;
    for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.sources.push_back(step * lane);
    normalize(pattern);
    builder.add(pattern);
  }
  return report_of({builder.take()}, {architecture});
}

}  // namespace

TEST_CASE("driver/copies_report/passes_and_addresses") {
  const RunReport report = report_of_copies({4, 8}, "sm_90");
  const std::string text = to_text(report);
  INFO(text);
  CHECK_THAT(
      text,
      has("worst on sm_90: k.cu:3, cp.async 4 of tile, first in block 0, level 0, warp 0: 2 passes where 1 would do"));
  CHECK_THAT(text, has("1 line with 2-way conflicts: 6 passes where 4 would do; 33.3 % are conflicts"));
  CHECK_THAT(text, !has("idle"));  // no picture of banks
  const auto parsed = json::parse(to_json(report));
  const auto& on = parsed.at("kernels").at(0).at("architectures").at(0);
  CHECK(on.at("passes") == 2 * (1 + 2));
  CHECK(on.at("levels").at(0).at("conflicts") == 2);
  const auto& line = on.at("lines").at(0);
  CHECK(line.at("operation") == "cp.async");
  CHECK(line.at("worst").at("sources").at(3) == 24);
  CHECK(line.at("worst").at("addresses").at(3) == 12);
  auto kernels = report.kernels;
  kernels[0].places.begin()->second.is_file = true;
  CHECK_THAT(to_sarif({.kernels = kernels}, {}), has("4-byte cp.async of tile in k: 6 passes instead of 4 on sm_90."));
}

TEST_CASE("driver/copies_report/no_copies_on_gpu") {
  const RunReport report = report_of_copies({4}, "sm_75");
  CHECK_THAT(to_text(report), has("note: sm_75 has no 4-byte cp.async\n"));
  CHECK_THAT(to_text(report), has("k        no conflict in the accesses with a known cost; 2 of 2 "
                                  "accesses have no known cost (sm_75)\n"));
  CHECK_THAT(to_text(report), !has("no conflicts") && !has("no bank conflicts"));
  CHECK(json::parse(to_json(report)).at("kernels").at(0).at("architectures").at(0).at("unknown") == 2);
}

TEST_CASE("driver/copies_report/range_of_loops") {
  trace::Builder builder = builder_of();
  builder.add(trace::LaunchShape{.threads = {64, 1, 1}, .block = {64, 1, 1}, .launches = 1});
  trace::Pattern loop = access_of(builder, {.file = "k.cu", .line = 3}, 4, 10);
  loop.operation = banks::Operation::atomic;
  loop.is_loop = true;
  builder.add(loop);
  builder.add(access_of(builder, {.file = "k.cu", .line = 4}, 8, 1));
  const auto parsed = json::parse(to_json(report_of({builder.take()})));
  for (const auto& line : parsed.at("kernels").at(0).at("architectures").at(0).at("lines")) {
    const bool is_loop = line.at("operation") == "atomic";
    CHECK(line.at("passes") == (is_loop ? 30 : 2));
    CHECK(line.value("passes_most", 0) == (is_loop ? 60 : 0));
    CHECK(line.value("conflicts_most", 0) == (is_loop ? 30 : 0));
  }
}

// Diagnoses in each form of a report.

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
  const std::string text = to_text(report_of(trace_with({race, trap})));
  INFO(text);
  CHECK(
      text.starts_with("fault: k.cu:3: race: lane 1 of block (0, 0, 0) of k reads; 12 times\n"
                       "fault: k.cu:8: trap: lane 0 of block (0, 0, 0) of k stops; this ended the launch\n"));
  trace::Trace many = trace_with({});
  for (unsigned i = 0; i < 25; ++i) {
    many.kernels[0].sites.push_back({.file = "m.cu", .line = 100 + i});
    many.kernels[0].diagnoses.push_back({Fault::race, 2 + i, {}, false, "x", 1, {}});
  }
  const std::string cut = to_text(report_of(many));
  CHECK_THAT(cut, has("m.cu:119: race"));
  CHECK_THAT(cut, !has("m.cu:120: race"));
  CHECK_THAT(cut, has("\nfault: and 5 more: --verbose lists all of them\n"));
  CHECK_THAT(to_text(report_of(many), {.detail = Detail::verbose}), has("m.cu:124: race"));
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
  const std::string text = to_text(report);
  INFO(text);
  CHECK(text.starts_with(
      "fault: k.cu:3: race: threads of two warps [--allow race]\n"
      "fault: s.cu:100: race: in a warp [--warp-synchronous]; and 20 more races in scan, most likely for the same "
      "reason, "
      "a missing __syncwarp(): lines 101 and 8, 102 and 8, 103 and 8, 104 and 8, 105 and 8, 106 and 8, 107 and 8, 108 "
      "and 8, ...\n"
      "fault: s.cu:121: race: in a warp [--warp-synchronous]\n"));
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
  trace::DiagnosisRecord in_same_line = collision;
  in_same_line.site = race.site;
  auto kernels = report_of(trace_with({race, in_same_line, trap})).kernels;
  CHECK(json::parse(to_sarif({.kernels = kernels}, {})).at("runs")[0].at("results").empty());
  CHECK(lines_without_file(kernels) == 3);
  kernels[0].places.at({.file = "k.cu", .line = 3}).is_file = true;
  const json run = json::parse(to_sarif({.kernels = kernels}, {})).at("runs")[0];
  REQUIRE(run.at("results").size() == 2);
  const json& first = run["results"][0];
  check_members(first, R"({"ruleId": "race", "level": "error"})");
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
    check_fails("report " + path, 1, one ? "k has 1 fault\n" : "k has 2 faults, and a launch of it ended early");
  }
}

// Which column the machine code agrees with.

namespace {

/// Evidence for words of one line, of which every four become an access of `width` bytes; 4: nothing changes; 0: they
/// are dropped.
std::optional<EmittedEvidence> evidence_of(unsigned width, const std::vector<EmittedLine>& emitted,
                                           banks::Operation operation = banks::Operation::load) {
  trace::LineReport line{.site = {.file = "/a/k.cu", .line = 12}, .array = "tile", .operation = operation};
  line.costs = {8, 256, 8, 8, 0, 0};
  line.merged = width == 4 ? line.costs : width == 0 ? banks::Tally{} : banks::Tally{2, 64, 8, 8, 0, 0};
  line.widest = width;
  return evidence_for(line, emitted);
}

std::string column(unsigned width, std::map<std::string, std::uint64_t> opcodes,
                   banks::Operation operation = banks::Operation::load) {
  const auto evidence = evidence_of(width, {{"b/k.cu", 12, std::move(opcodes)}}, operation);
  REQUIRE(evidence);
  return std::string(evidence->agrees);
}

}  // namespace

TEST_CASE("driver/emitted_code/width") {
  for (const auto& [opcode, width] : std::vector<std::pair<const char*, unsigned>>{
           {"LDS", 4}, {"LDS.U", 4}, {"LDS.64", 8}, {"LDS.128", 16}, {"STS.U16", 2}, {"LDS.S8", 1}, {"STS.U8", 1}}) {
    INFO(opcode);
    CHECK(width_of_opcode(opcode) == width);
  }
}

TEST_CASE("driver/emitted_code/widest_instruction") {
  CHECK(column(16, {{"LDS.128", 2}}) == "merged");
  CHECK(column(16, {{"LDS", 1}, {"LDS.128", 2}}) == "merged");
  CHECK(column(16, {{"LDS", 8}}) == "source");
  CHECK(column(16, {{"LDS.64", 4}}) == "neither");
  CHECK(column(0, {}) == "merged");  // another line has them
  CHECK(column(0, {{"LDS", 2}}) == "source");
  CHECK(column(16, {}) == "neither");
  CHECK(column(4, {{"LDS", 8}}) == "both");
  CHECK(column(16, {{"STS.128", 2}, {"LDS", 4}}, banks::Operation::store) == "merged");
  // No evidence.
  CHECK_FALSE(evidence_of(16, {}));
  CHECK_FALSE(evidence_of(16, {{"other.cu", 12, {{"LDS", 1}}}}));
  CHECK_FALSE(evidence_of(16, {{"k.cu", 12, {{"ATOMS", 1}}}}, banks::Operation::atomic));
}

TEST_CASE("driver/emitted_code/in_report") {
  trace::Builder builder = builder_of();
  const trace::Pattern narrow = access_of(builder, {.file = "k.cu", .line = 12}, 16, 4);
  trace::Pattern wide = narrow;
  wide.width = 16;
  wide.count = 1;
  builder.add(narrow);
  builder.set_merged({wide});
  RunReport report = report_of({builder.take()});
  CHECK_THAT(to_text(report), !has("machine code"));
  report.emitted = {{"/x/k.cu", 12, {{"LDS.128", 1}}}};
  const std::string text = to_text(report);
  INFO(text);
  CHECK_THAT(text, has("\n  k.cu:12 load tile: 1 LDS.128: merged\n"));
  const auto lines = json::parse(to_json(report)).at("kernels")[0].at("architectures")[0].at("lines");
  REQUIRE(lines.size() == 1);
  check_members(lines[0], R"({"emitted": {"LDS.128": 1}, "emitted_agrees": "merged", "passes": 16})");
  CHECK(lines[0].at("merged").at("passes") == 4);
}

// Global memory, and what the memories are busy with.

namespace {

/// 32 launches' worth of blocks for each multiprocessor of an H200, so that its tail plays no part.
trace::KernelTrace wide(trace::KernelTrace kernel) {
  kernel.shapes[0].threads = {32 * 132 * 32, 1, 1};
  kernel.blocks = 132 * 32;
  return kernel;
}

}  // namespace

TEST_CASE("driver/global_report/costlier_first") {
  const auto first_line = [](std::uint64_t columns, std::uint64_t conflicts) {
    const std::string text = to_text(report_of({wide(kernel_with_columns("k", columns, conflicts))}));
    return text.substr(0, text.find('\n'));
  };
  const auto is_global = has(
      "global memory: 12.5 % of the bytes moved are used: k.cu:7 load 4, lanes 4,096 bytes apart (a column) (sm_90)");
  CHECK_THAT(first_line(10, 0), is_global);
  CHECK_THAT(first_line(10'000, 1), is_global);
  CHECK_THAT(first_line(1, 10'000), has("1 line with 32-way conflicts"));
  // Kernels: by time, and by conflicts where global memory was not watched.
  const auto order = [](const std::vector<trace::KernelTrace>& kernels) {
    return worst_first(report_of(kernels).kernels);
  };
  const auto few = wide(kernel_with_columns("few", 1, 10)), many = wide(kernel_with_columns("many", 100'000, 9));
  CHECK(order({few, many}) == std::vector<std::size_t>{1, 0});
  CHECK(order({many, few}) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("driver/global_report/few_extra_sectors") {
  trace::Builder builder = builder_of();
  builder.add_global(global_access_of(builder, {.file = "k.cu", .line = 7}, 4, 99));
  builder.add_global(global_access_of(builder, {.file = "k.cu", .line = 8}, 8, 9));  // 36 extra of 468 sectors
  const RunReport few = report_of({builder.take()});
  CHECK_FALSE(few.kernels[0].is_uncoalesced());
  CHECK(to_text(few) ==
        "no bank conflicts and at most 7.7 % extra sectors on sm_90: 1 kernel\n\n"
        "k: 1 launch, 1 block of 32 threads; no access to shared memory; 108 accesses to global memory, 92.3 % of the "
        "bytes moved are used\n");
  CHECK_THAT(to_text(few, {.detail = Detail::verbose}), has("k.cu:8  load 4  stride of 2 words"));
  trace::Builder fewer = builder_of();
  fewer.add_global(global_access_of(fewer, {.file = "k.cu", .line = 7}, 4, 99'999));
  fewer.add_global(global_access_of(fewer, {.file = "k.cu", .line = 8}, 8, 1));
  CHECK_THAT(to_text(report_of({fewer.take()})), has("at most 0.1 % extra sectors"));
}

TEST_CASE("driver/global_report/unwatched_memories") {
  trace::KernelTrace kernel = kernel_with_columns("k", 1, 0);
  kernel.watches_shared = false;
  const std::string text = to_text(report_of({kernel}));
  INFO(text);
  CHECK_THAT(text, !has("conflict"));
  CHECK_THAT(text, has("shared memory was not watched"));
  const auto on = [](const trace::KernelTrace& watched) {
    return json::parse(to_json(report_of({watched}))).at("kernels").at(0).at("architectures").at(0);
  };
  CHECK(on(kernel).at("global").at("extra_sectors") == 28);
  CHECK(on(kernel).at("global_lines").at(0).at("pattern") == "lanes 4,096 bytes apart (a column)");
  trace::Builder shared = builder_of();
  shared.add(access_of(shared, {.file = "k.cu", .line = 3}, 4, 1));
  const auto without = on(shared.take());
  check_members(without, R"({"global": null, "global_lines": null})");  // and not 0
}

TEST_CASE("driver/global_report/unknown_sectors") {
  const std::string text = to_text(report_of({kernel_with_columns("k", 1, 0)}, {"sm_20"}));
  CHECK_THAT(text, has("note: the cost of 2 accesses to global memory is not known on sm_20: "));
  CHECK_THAT(text, !has("extra sectors"));
}

TEST_CASE("driver/time_report/busy_and_bound") {
  trace::KernelTrace kernel = wide(kernel_with_columns("k", 0, 132'000));  // 32,000 cycles of each multiprocessor
  kernel.time = trace::KernelTime{1, 40'000, 1'600'000, "NVIDIA H200", false};
  const RunReport report = report_of({kernel});
  CHECK_THAT(to_text(report), has("  time   shared memory busy 50 % of the time: without any conflict at most "));
  CHECK_THAT(to_text(report), has("time at most"));
  const auto parsed = json::parse(to_json(report)).at("kernels").at(0);
  CHECK(parsed.at("time").at("nanoseconds") == 40'000);
  const auto& on = parsed.at("architectures").at(0);
  CHECK(on.at("busy").at("pipes").at(0).at("busy").get<double>() == Approx(0.5));
  CHECK(on.at("bound").at("without_conflicts").get<double>() >= 1 / (1 - 0.484375));  // 31 of 32 passes go
  CHECK(on.at("lines").at(0).at("most_of_time").get<double>() >= 0.484375);
  // Of this GPU neither bandwidth has been measured.
  trace::KernelTrace both = wide(kernel_with_columns("k", 10, 132'000));
  both.time = trace::KernelTime{1, 40'000, 1'600'000, "NVIDIA H100 80GB HBM3", false};
  const RunReport on_h100 = report_of({both});
  CHECK_THAT(time_sentences(on_h100, on_h100.kernels[0]).at(0),
             has("x faster; DRAM counts with its peak bandwidth") &&
                 has("; the bandwidth of the L2 cache is not known: it has not been measured on this GPU"));
  // On another architecture the time says nothing, and a kernel that was watched in part has no bound.
  CHECK(report_of({kernel}, {"sm_80"}).kernels[0].times[0]->measured_ns == std::nullopt);
  kernel.left_out = {{"TMA", 1}};
  CHECK_THAT(to_text(report_of({kernel})), has("shared memory busy at least 50 % of the time\n") && !has("faster"));
  kernel.time->overlapped = true;
  CHECK_THAT(to_text(report_of({kernel})), has("note: other kernels ran at the same time"));
  kernel.time = trace::KernelTime{1, 40'000, 1'600'000, "Another GPU", false};
  CHECK_THAT(to_text(report_of({kernel})),
             has("note: it took 40 us on Another GPU") || has("note: it took 40.0 us on Another GPU"));
}
