// bankcheck fit as a user runs it.
#include <fstream>
#include <nlohmann/json.hpp>

#include <bankwise/trace/codec.hpp>
#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/bankcheck/fit/fit_traces.hpp"
#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"

namespace {

using namespace fit_traces;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

const std::string transpose_source = R"(constexpr unsigned TILE = 32;
__global__ void k(const float* in, float* out) {
  __shared__ float tile[TILE][TILE];
  tile[threadIdx.y][threadIdx.x] = in[0];
  __syncthreads();
  out[0] = tile[threadIdx.x][threadIdx.y];
}
)";

/// Rows are stored and columns are loaded, as the source above does.
trace::KernelTrace transpose() {
  trace::KernelTrace trace = kernel(4096);
  trace.arrays = {{"tile", 0, 4096}};
  trace.sites = {{.file = "k.cu", .line = 4, .function = "k"}, {.file = "k.cu", .line = 6, .function = "k"}};
  for (std::uint32_t y = 0; y < 32; ++y) {
    trace.patterns.push_back(access(banks::Operation::store, 4, [&](auto lane) { return 128 * y + 4 * lane; }));
    trace.patterns.push_back(access(banks::Operation::load, 4, [&](auto lane) { return 128 * lane + 4 * y; }));
    trace.patterns.back().site = 1;
  }
  return trace;
}

struct Fitted {
  ScratchDirectory scratch;
  std::string trace;

  explicit Fitted(const trace::KernelTrace& kernel) : trace((scratch.path() / "trace.jsonl").string()) {
    trace::Trace program_trace{.maker = trace::Maker::emulate, .revision = "1", .command = {"program"}};
    program_trace.kernels.push_back(kernel);
    std::ofstream(trace) << to_json_lines(program_trace);
    std::ofstream(scratch.path() / "k.cu") << transpose_source;
  }
  Outcome run(const std::string& options = "") const {
    return bankcheck("fit --sources " + scratch.path().string() + " " + options + " " + trace);
  }
};

TEST_CASE("fit/command/pasted_proof", "[fit]") {
  const Fitted fitted(transpose());
  const Outcome outcome = ended(0, fitted.run());
  for (const char* text :
       {"fit of k\n", "1056 -> 64 passes, ideal 64: no conflict remains", "tried) has fewer passes",
        "__shared__ float tile[TILE][TILE];\n      tile[y][x ^ y]    instead of tile[y][x]",
        "CuTe: Swizzle<5, 0, 5> on elements", "__shared__ float tile[TILE][TILE + 1];",
        "k.cu:6  load 4            1024     32     32", "the worst access before: passes 32, ideal 1",
        "and after: passes 1, ideal 1", "sm_90 8 -> 8"}) {
    CHECK_THAT(outcome.out, ContainsSubstring(text));
  }
}

TEST_CASE("fit/command/json_and_sarif", "[fit]") {
  const Fitted fitted(transpose());
  const json report = json::parse(fitted.run("--arch sm_90,sm_75 --json -").out);
  const json& fit = report.at("kernels").at(0).at("fit");
  CHECK(fit.at("architectures").at(1).at("passes_after") == 64);
  CHECK(fit.at("architectures").at(0).at("resident_blocks_before") == 8);
  const json& array = fit.at("arrays").at(0);
  check_members(array, R"({"verdict": "removed", "passes_before": 2112})");  // 1056 on each
  CHECK(array.at("chosen").at("index") == "[y][x ^ y]");
  CHECK(array.at("chosen").at("passes_on").at("sm_75") == 64);
  CHECK(array.at("tried") == array.at("family"));
  CHECK(array.at("source").at("edits").size() == 2);

  const auto sarif = fitted.scratch.path() / "out.sarif";
  CHECK(fitted.run("--sarif " + sarif.string()).code == 0);
  const json results = json::parse(text_of(sarif)).at("runs").at(0).at("results");
  REQUIRE(results.size() == 1);
  const json& replacements = results.at(0).at("fixes").at(0).at("artifactChanges").at(0).at("replacements");
  REQUIRE(replacements.size() == 2);
  check_members(replacements.at(0).at("deletedRegion"), R"({"startLine": 4, "startColumn": 7})");
  CHECK(replacements.at(0).at("insertedContent").at("text") == "[threadIdx.y][threadIdx.x ^ threadIdx.y]");
}

TEST_CASE("fit/command/no_source_or_no_access", "[fit]") {
  trace::KernelTrace trace = transpose();
  trace.arrays = {{"elsewhere", 0, 4096}};
  const Outcome outcome = Fitted(trace).run();
  CHECK_THAT(outcome.out, ContainsSubstring("no declaration found; elements of 4 bytes in rows of 32 inferred"));
  CHECK_THAT(outcome.out, ContainsSubstring("__shared__ T elsewhere[32][32];"));
  trace = kernel(0);
  trace.arrays.clear();
  CHECK_THAT(ended(0, Fitted(trace).run()).out, ContainsSubstring("no access to shared memory was recorded"));
}

TEST_CASE("fit/command/harmed_architecture", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  // Columns of rows of 128 bytes; and lanes 33 words apart, which rows of 33 words bring back into one bank.
  trace.patterns = {access(
                        banks::Operation::store, 4, [](auto lane) { return 128 * lane; }, 0xFFFFFFFF, 3),
                    access(banks::Operation::store, 4, [](auto lane) { return 124 * lane; })};
  const Outcome outcome = ended(0, Fitted(trace).run("--arch sm_90,sm_13"));
  CHECK_THAT(outcome.out, ContainsSubstring("passes on sm_90  passes on sm_13"));
}

TEST_CASE("fit/command/bad_input", "[fit]") {
  const Fitted fitted(transpose());
  check_fails("fit /no/such/trace", 2, "cannot read /no/such/trace");
  check_fails("fit --arch sm_91 " + fitted.trace, 2, "sm_91");
  check_fails("fit --arch gfx942 " + fitted.trace, 2, "64");
  check_fails("fit --max-shared -1 " + fitted.trace, 2, "--max-shared");
  check_fails("fit --kernel other " + fitted.trace, 2, "no kernel 'other' ran");
  check_fails("fit", 2, "trace");
  const auto broken = fitted.scratch.path() / "broken.jsonl";
  std::ofstream(broken)
      << "{\"bankwise_trace\":1,\"maker\":\"m\",\"revision\":\"r\",\"command\":[]}\n{\"record\":\"nonsense\"}\n";
  check_fails("fit " + broken.string(), 2, "broken.jsonl:2:");
  std::ofstream(broken, std::ios::trunc) << "";
  check_fails("fit " + broken.string(), 2, "broken.jsonl");
  const auto empty = fitted.scratch.path() / "empty.jsonl";
  std::ofstream(empty) << to_json_lines(trace::Trace{.revision = "r", .command = {"p"}});
  check_fails("fit " + empty.string(), 2, "has no kernel");
}

TEST_CASE("fit/command/cut_trace", "[fit]") {
  const Fitted fitted(transpose());
  std::string text = text_of(fitted.trace);
  text.resize(text.rfind(R"({"record":"end")"));
  std::ofstream(fitted.trace, std::ios::trunc) << text;
  const Outcome outcome = fitted.run();
  CHECK_THAT(outcome.out, ContainsSubstring("incomplete: "));
  CHECK_THAT(outcome.out, ContainsSubstring("it is not claimed that none is better:\n    the trace is incomplete"));
}

TEST_CASE("fit/command/after_report", "[fit]") {
  const Fitted fitted(transpose());
  const Outcome outcome = bankcheck("report --fit --sources " + fitted.scratch.path().string() + " " + fitted.trace);
  CHECK_THAT(outcome.out, ContainsSubstring("k: 1 launch"));
  CHECK(outcome.out.find("fit of k") > outcome.out.find("k: 1 launch"));
  CHECK(bankcheck("report " + fitted.trace).out.find("fit of k") == std::string::npos);
}

}  // namespace
