// bankcheck fit as a user runs it.
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include <bankwise/trace/codec.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/bankcheck/fit/fit_traces.hpp"
#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"

namespace {

using namespace fit_traces;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
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
  const std::string out = ended(0, Fitted(transpose()).run()).out;
  CHECK_THAT(out,
             StartsWith(R"(fit of k: tile takes 64 passes instead of 1,056 on sm_90: no conflict left, 128 bytes more
  tile[TILE][TILE] -> tile[TILE][TILE + 1]
  k.cu:3
  -   __shared__ float tile[TILE][TILE];
  +   __shared__ float tile[TILE][TILE + 1];  // odd pitch: lanes of a column fall into different banks

  where   access   array  sm_90: before  after  ideal
  k.cu:4  store 4  tile              32     32     32
  k.cu:6  load 4   tile           1,024     32     32

  tile: 6,127 layouts were tried, and none has fewer passes
  proposed: the fewest passes, and no instruction more in the index
            passes on             sm_90  instructions  bytes
  as it is                        1,056                4,096
  pad       tile[TILE][TILE + 1]     64            +0  4,224  <- proposed, fewest passes, cheapest index
  XOR       tile[y][x ^ y]           64            +1  4,096  fewest bytes

  the worst access to tile before: passes 32, ideal 1
)"));
  CHECK_THAT(out, has("the worst access to tile after: passes 1, ideal 1\n"));
  CHECK_THAT(out, !has("resident blocks"));
}

TEST_CASE("fit/command/summary_and_quiet", "[fit]") {
  const Fitted fitted(transpose());
  CHECK(ended(0, fitted.run("--summary")).out ==
        "k: tile[TILE][TILE] -> tile[TILE][TILE + 1]: no conflict left, 128 bytes more\n");
  CHECK(ended(0, fitted.run("--quiet")).out.empty());
  trace::KernelTrace clean = transpose();
  std::erase_if(clean.patterns, [](const trace::Pattern& pattern) { return pattern.site == 1; });
  CHECK(ended(0, Fitted(clean).run("--summary")).out == "k: no conflicts\n");
}

TEST_CASE("fit/command/unknown_occupancy", "[fit]") {
  trace::KernelTrace trace = transpose();  // rows of 40 words need a pad
  trace.arrays[0].bytes = 5120;
  for (trace::Pattern& pattern : trace.patterns)
    for (std::uint32_t& address : pattern.addresses) address += address / 128 * 32;
  const std::string out = ended(0, Fitted(trace).run("--arch sm_90,gfx1100,intel_xe")).out;
  CHECK_THAT(out, has("threads: sm_90 8 -> 8, gfx1100 not known, intel_xe not known\n"));
}

TEST_CASE("fit/command/dynamic_stays_dynamic", "[fit]") {
  trace::KernelTrace trace = transpose();
  trace.arrays[0].name = "dynamic shared memory";
  const Fitted fitted(trace);
  std::string source = transpose_source;
  source.replace(source.find("__shared__ float tile[TILE][TILE]"), 33, "extern __shared__ float tile[]");
  std::ofstream(fitted.scratch.path() / "k.cu") << source;
  const std::string out = ended(0, fitted.run()).out;
  CHECK_THAT(out, has("  tile[i] -> tile[i + (i >> 5)]\n  4,224 bytes at the launch instead of 4,096\n"));
  CHECK_THAT(out, has("  proposed: the fewest passes, and 1 instruction more in the index\n"));
  CHECK_THAT(out, !has("__shared__"));
  CHECK_THAT(ended(0, fitted.run("--max-shared 4096")).out,
             has("  tile[i] -> tile[i ^ ((i >> 5) & 31)], in CuTe Swizzle<5, 0, 5>\n"));
}

TEST_CASE("fit/command/argument_of_opencl", "[fit]") {
  const Fitted fitted(transpose());
  trace::Trace program{.maker = trace::Maker::opencl, .revision = "1", .command = {"program"}};
  program.sources = {
      "kernel void other() { local float tile[32][32]; tile[0][0] = 1; }\n"
      "kernel void k(local float* tile) {\n  tile[0] = 1;\n}\n"};
  program.kernels = {transpose()};
  program.kernels[0].source = 0;
  for (trace::Site& site : program.kernels[0].sites) site.file = "input.cl", site.line = 3;
  std::ofstream(fitted.trace, std::ios::trunc) << to_json_lines(program);
  const std::string out = ended(0, fitted.run()).out;
  CHECK_THAT(out, has("  tile[i] -> tile[i + (i >> 5)]\n"));
  CHECK_THAT(out, has("  proposed: the fewest passes, and 1 instruction more in the index\n"));
  CHECK_THAT(out, !has("kernel source:1\n"));
}

TEST_CASE("fit/command/rows_of_unknown_length", "[fit]") {
  const Fitted fitted(transpose());
  const auto with_declaration = [&](const std::string& declaration) {
    std::string source = transpose_source;
    source.replace(source.find("tile[TILE][TILE]"), 16, declaration);
    std::ofstream(fitted.scratch.path() / "k.cu", std::ios::trunc) << source;
    return ended(0, fitted.run()).out;
  };
  CHECK_THAT(with_declaration("tile[H][W]"),
             has("  tile[H][W] -> tile[H][W + 1]\n"
                 "  if its elements have 4 bytes, and its rows 32 elements, as the accesses suggest\n"
                 "  not rewritten: line 3: H is not known; change the indices by hand\n"));
  CHECK_THAT(with_declaration("tile[A][B][C]"),
             has("  i -> i + (i >> 5) with i = the number of the element from the start of tile"));
}

TEST_CASE("fit/command/macro_as_length", "[fit]") {
  const Fitted fitted(transpose());
  std::string source = "#define WORDS 512 << 1\n" + transpose_source;
  source.replace(source.find("tile[TILE][TILE]"), 16, "tile[WORDS]");
  std::ofstream(fitted.scratch.path() / "k.cu", std::ios::trunc) << source;
  CHECK_THAT(ended(0, fitted.run()).out, has("tile[(WORDS) + (WORDS) / 32], tile[i + (i >> 5)]"));
}

TEST_CASE("fit/command/constants_above_an_include", "[fit]") {
  trace::KernelTrace trace = transpose();
  for (trace::Site& site : trace.sites) site.file = "tile.cuh";
  const Fitted fitted(trace);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(fitted.scratch.path() / name) << text;
  };
  const auto says = [&](const std::string& text) {
    const std::string out = ended(0, fitted.run()).out;
    return out.find(text) != std::string::npos;
  };
  write("tile.cuh", std::string(transpose_source).replace(0, transpose_source.find('\n'), ""));
  CHECK(says("tile[TILE][TILE + 1]"));  // a square of these bytes
  write("tile.cuh", std::string(transpose_source).replace(transpose_source.find("[TILE]["), 7, "[ROWS]["));
  write("main.cu", "#define ROWS 31\n#include \"rows.h\"\n#include \"tile.cuh\"\n#define ROWS 30\n");
  write("rows.h", "");
  CHECK(says("line 3 declares an array of another size"));
  write("rows.h", "#define ROWS 32\n");
  CHECK(says("tile[ROWS][TILE + 1]"));
  write("main.cu", "#include \"rows.h\"\n");
  CHECK(says("ROWS is not known"));
}

TEST_CASE("fit/command/json_and_sarif", "[fit]") {
  const Fitted fitted(transpose());
  const json report = json::parse(fitted.run("--arch sm_90,sm_75 --max-shared 4096 --json -").out);
  const json& fit = report.at("kernels").at(0).at("fit");
  CHECK(fit.at("architectures").at(1).at("passes_after") == 64);
  CHECK(fit.at("architectures").at(0).at("resident_blocks_before") == 8);
  const json& array = fit.at("arrays").at(0);
  check_members(array, R"({"verdict": "removed", "passes_before": 2112})");  // 1056 on each
  // 128 passes, and 64 accesses on each architecture.
  check_members(array.at("chosen"), R"({"index": "[y][x ^ y]", "instructions": 1, "estimated_cycles": 136.0})");
  CHECK(array.at("reason") == "the fewest passes, and 1 instruction more in the index");
  CHECK(array.at("chosen").at("passes_on").at("sm_75") == 64);
  CHECK(array.at("tried") == array.at("family"));
  CHECK(array.at("source").at("edits").size() == 4);

  const auto sarif = fitted.scratch.path() / "out.sarif";
  CHECK(fitted.run("--max-shared 4096 --sarif " + sarif.string()).code == 0);
  const json results = json::parse(text_of(sarif)).at("runs").at(0).at("results");
  REQUIRE(results.size() == 1);
  const json& replacements = results.at(0).at("fixes").at(0).at("artifactChanges").at(0).at("replacements");
  REQUIRE(replacements.size() == 4);
  check_members(replacements.at(2).at("deletedRegion"), R"({"startLine": 4, "startColumn": 7})");
  CHECK(replacements.at(0).at("insertedContent").at("text") ==
        "  // swizzled: lanes of a column fall into different banks");
  CHECK(replacements.at(2).at("insertedContent").at("text") == "[threadIdx.y][threadIdx.x ^ threadIdx.y]");
}

TEST_CASE("fit/command/lines_of_a_stranger", "[fit]") {
  const Fitted fitted(transpose());
  std::string source;
  for (const char c : transpose_source) source += c == '\n' ? "\r\n" : std::string(1, c);
  source.insert(source.find("  out[0]"), "/*" + std::string(2000, 'x') + "*/");
  for (int i = 0; i < 20; ++i) source.insert(source.rfind('}'), "\r\n  tile[1][2] = 0;\r\n");
  std::ofstream(fitted.scratch.path() / "k.cu") << source;
  const std::string out = ended(0, fitted.run("--max-shared 4096")).out;
  CHECK_THAT(out, has("  +   tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[0];\n"));
  CHECK_THAT(out, has("\n  - /*" + std::string(998, 'x') + "...\n"));
  CHECK_THAT(out, has("\n  and 10 more like these\n"));
}

TEST_CASE("fit/command/summary", "[fit]") {
  const Fitted fitted(transpose());
  const auto summary = [&](const trace::KernelTrace& kernel_trace, bool incomplete = false) {
    const fit::Architectures architectures{banks::find_architecture("sm_90")};
    const trace::Trace program{.kernels = {kernel_trace}};
    driver::SourceFinder finder(fitted.scratch.path());
    const auto kernels = driver::kernel_reports(program, architectures, finder);
    return driver::fit_summary(driver::fit_reports(program, kernels, architectures, {}, finder, incomplete).front());
  };
  const std::string change = "tile[TILE][TILE] -> tile[TILE][TILE + 1]: ";
  CHECK(summary(transpose()) == change + "no conflict left, 128 bytes more");
  CHECK(summary(transpose(), true) == change + "no recorded conflict left, 128 bytes more");
  trace::KernelTrace trace = kernel(8192);
  trace.patterns = {access(banks::Operation::store, 4, [](auto lane) { return 4 * lane; })};
  CHECK(summary(trace).empty());
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    trace.patterns.push_back(access(banks::Operation::store, 4, [&](auto) { return random() % 2048 * 4; }));
  }
  CHECK(summary(trace) == "no layout helps: the index seems to depend on data");
  trace.patterns = {access(banks::Operation::atomic, 4, [](auto) { return 0U; })};
  CHECK(summary(trace) == "no layout helps: lanes wait for one word or one bank");
}

/// Lanes 128 bytes apart of an array of one dimension, whose second load nvcc saves.
TEST_CASE("fit/command/passes_as_a_range", "[fit]") {
  trace::KernelTrace kernel_trace = kernel(4096);
  kernel_trace.arrays = {{"t", 0, 4096}};
  kernel_trace.sites = {{"k.cu", 4, 0, "k", 0x10}, {"k.cu", 4, 0, "k", 0x20}, {"k.cu", 5, 0, "k", 0x30}};
  for (std::uint32_t site = 0; site < 3; ++site) {
    const auto operation = site == 0 ? banks::Operation::load : banks::Operation::store;
    for (std::uint32_t i = 0; i < 2; ++i) {
      kernel_trace.patterns.push_back(access(operation, 4, [&](auto lane) { return 128 * lane + 4 * site + 4 * i; }));
      kernel_trace.patterns.back().site = site;
    }
  }
  const auto fitted = [&](trace::Maker maker, const std::string& index) {
    const Fitted files(kernel_trace);
    trace::Trace program{.maker = maker, .revision = "1", .command = {"program"}, .kernels = {kernel_trace}};
    std::ofstream(files.trace) << to_json_lines(program);
    std::ofstream(files.scratch.path() / "k.cu") << "__global__ void k(int a, int b) {\n  __shared__ float t[1024];\n\n"
                                                    "  t[a] = t[b];\n  t["
                                                 << index << "] += 1;\n}\n";
    const std::string report = (files.scratch.path() / "report.json").string();
    const std::string out = ended(0, files.run("--json " + report)).out;
    return out + text_of(report);
  };
  // The load of the second line comes back if the compiler does not know that a and b differ.
  CHECK_THAT(fitted(trace::Maker::cuda, "b"), has("t takes 6 to 8 passes instead of 192 on sm_90"));
  CHECK_THAT(fitted(trace::Maker::cuda, "b"), has(R"("least": 6,)"));
  CHECK_THAT(fitted(trace::Maker::cuda, "a"), has("t takes 6 passes instead of 192 on sm_90"));
  CHECK_THAT(fitted(trace::Maker::emulate, "b"), has("t takes 6 passes instead of 192 on sm_90"));
  kernel_trace.excess_accesses = 7;
  CHECK_THAT(fitted(trace::Maker::cuda, "a"), has("passes instead of 192 on sm_90, of the recorded accesses:"));
}

TEST_CASE("fit/command/changed_with_another_kernel", "[fit]") {
  const Fitted fitted(transpose());
  trace::Trace program{.kernels = {transpose(), transpose(), transpose()}};
  program.kernels[1].kernel = "other";
  for (trace::Site& site : program.kernels[2].sites) site.file = "l.cu";
  program.kernels[2].kernel = "apart";
  std::ofstream(fitted.scratch.path() / "l.cu") << transpose_source;
  const fit::Architectures architectures{banks::find_architecture("sm_90")};
  driver::SourceFinder finder(fitted.scratch.path());
  const auto kernels = driver::kernel_reports(program, architectures, finder);
  auto fits = driver::fit_reports(program, kernels, architectures, {}, finder, false);
  for (const driver::KernelFitReport& report : fits) {
    REQUIRE(report.patched);
    CHECK(report.patched->with.empty());
    CHECK(report.patched->passes.least[0] == 64);
  }
  for (const std::size_t unchanged : {1, 2}) {
    fits[unchanged].fit.arrays[0].chosen = 0;
    fits[unchanged].patched.reset();
  }
  note_patched(fits, program, kernels, architectures);
  REQUIRE(fits[1].patched);
  CHECK(fits[1].patched->with == "k");
  CHECK(fits[1].patched->passes.is_exact());
  CHECK(fits[1].patched->passes.least[0] == 64);
  CHECK_THAT(fit_text(kernels[1], fits[1], {}),
             has("fit of other: changed with k: 64 passes instead of 1,056 on sm_90\n"));
  CHECK_FALSE(fits[2].patched);
}

TEST_CASE("fit/command/no_source_or_no_access", "[fit]") {
  trace::KernelTrace trace = transpose();
  trace.arrays = {{"elsewhere", 0, 4096}};
  const Outcome outcome = Fitted(trace).run();
  CHECK_THAT(outcome.out, has("  elsewhere: rows of 33 elements\n"
                              "  if its elements have 4 bytes, and its rows 32 elements, as the accesses suggest\n"));
  CHECK_THAT(outcome.out, has("  XOR       elsewhere[y][x ^ y] "));
  trace = kernel(0);
  trace.arrays.clear();
  CHECK_THAT(ended(0, Fitted(trace).run()).out, has("no access to shared memory was recorded"));
}

TEST_CASE("fit/command/harmed_architecture", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  // Columns of rows of 128 bytes; and lanes 33 words apart, which rows of 33 words bring back into one bank.
  trace.patterns = {access(
                        banks::Operation::store, 4, [](auto lane) { return 128 * lane; }, 0xFFFFFFFF, 3),
                    access(banks::Operation::store, 4, [](auto lane) { return 124 * lane; })};
  CHECK_THAT(ended(0, Fitted(trace).run("--arch sm_90,sm_13")).out, has("sm_90  sm_13  instructions  bytes"));
}

TEST_CASE("fit/command/shorter_rows", "[fit]") {
  trace::KernelTrace trace = kernel(16 * 17 * 4);
  trace.arrays[0].name = "tile";
  trace.sites[0].line = 4;
  for (std::uint32_t y = 0; y < 16; y += 2) {  // two rows, and two columns
    trace.patterns.push_back(
        access(banks::Operation::store, 4, [&](auto lane) { return 68 * (y + lane / 16) + 4 * (lane % 16); }));
    trace.patterns.push_back(
        access(banks::Operation::load, 4, [&](auto lane) { return 68 * (lane % 16) + 4 * (y + lane / 16); }));
  }
  const Fitted fitted(trace);
  std::string source = transpose_source;
  source.replace(source.find("tile[TILE][TILE]"), 16, "tile[TILE / 2][TILE / 2 + 1]");
  std::ofstream(fitted.scratch.path() / "k.cu") << source;
  const std::string out = ended(0, fitted.run()).out;
  CHECK_THAT(out, StartsWith("fit of k: tile takes 16 passes instead of 32 on sm_90: no conflict left, 64 bytes fewer\n"
                             "  tile[TILE / 2][TILE / 2], tile[y][x] -> tile[y][x ^ y]\n"
                             "  no recorded access uses column 16 of tile\n"));
  CHECK_THAT(out, has("  proposed: the fewest passes, and 1 instruction more in the index\n"));
  const json report = json::parse(fitted.run("--json -").out);
  const json& array = report.at("kernels").at(0).at("fit").at("arrays").at(0);
  check_members(array.at("chosen"), R"({"rows": {"from_bytes": 68, "to_bytes": 64}, "dimensions": ["16", "16"]})");
}

TEST_CASE("fit/command/index_costs_more", "[fit]") {
  trace::KernelTrace trace = kernel(8192);
  trace.arrays[0].name = "dynamic shared memory";
  // Of 100 accesses one has a conflict of two lanes.
  trace.patterns = {access(
                        banks::Operation::store, 4, [](auto lane) { return 4 * lane; }, 0xFFFFFFFF, 99),
                    access(banks::Operation::store, 4, [](auto lane) { return lane % 2 * 4096 + lane / 2 * 4; })};
  const Fitted fitted(trace);
  std::filesystem::remove(fitted.scratch.path() / "k.cu");
  const std::string out = ended(0, fitted.run()).out;
  CHECK_THAT(
      out, StartsWith("fit of k: dynamic shared memory has 101 passes where 100 would do; no layout pays: the "
                      "best saves 1 of 101 passes and adds 1 instruction to the index of each of 100 accesses, for 128 "
                      "bytes more\n"));
}

TEST_CASE("fit/command/other_cures", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  trace.watches_global = true;
  for (std::uint32_t k = 0; k < 4; ++k) {
    trace.global_patterns.push_back(access(banks::Operation::load, 4, [&](auto lane) { return 16 * lane + 4 * k; }));
    trace.global_patterns.back().first.number = k;
  }
  const Fitted fitted(trace);
  const auto with_line = [&](const std::string& line) {
    std::ofstream(fitted.scratch.path() / "k.cu") << line << '\n';
    return ended(0, fitted.run("--arch sm_90,gfx1100")).out;
  };
  const std::string out = with_line("for (int k = 0; k < 4; ++k) sum += in[4 * threadIdx.x + k];");
  CHECK_THAT(out, has("other cures for k:\n"
                      "  k.cu:1  wider accesses: 16 instead of 64 sectors on sm_90; "));
  CHECK_THAT(out, has("\n    load 16 bytes of each lane at once (float4) instead of 4 times 4, if "));
  const json cures = json::parse(fitted.run("--json -").out).at("kernels").at(0).at("fit").at("cures");
  REQUIRE(cures.size() == 1);
  check_members(cures[0], R"({"cure": "wider accesses", "array": null, "unit": "sectors"})");
  CHECK(cures[0].at("lines").at(0).at("line") == 1);
  CHECK(cures[0].at("architectures").at(0) == json{{"architecture", "sm_90"}, {"before", 64}, {"after", 16}});
  const std::string page = (fitted.scratch.path() / "page.html").string();
  ended(0,
        bankcheck("report --fit --html " + page + " --sources " + fitted.scratch.path().string() + ' ' + fitted.trace));
  CHECK_THAT(text_of(page), has("<h3>Other cures</h3><pre class=diff><code>  k.cu:1  wider accesses: "
                                "16 instead of 64 sectors\n"));
  // nvcc itself loads vectors at once.
  CHECK_THAT(with_line("sum += in[i].x + in[i].y + in[i].z + in[i].w;"), !has("other cures"));
}

TEST_CASE("fit/command/atomics_whose_results_matter", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  trace.watches_global = true;
  trace.global_patterns.push_back(access(banks::Operation::atomic, 4, [](auto) { return 0; }));
  const Fitted fitted(trace);
  for (const auto& [line, is_cured] : {std::pair("atomicAdd(out, in[i]);", true),
                                       {"if (i < n) atomicAdd(out, in[i]);", true},
                                       {"else std::atomic_fetch_add(out, 1);", true},
                                       {"const int at = atomicAdd(out, 1);", false},
                                       {"list[atomicAdd(out, 1)] = i;", false},
                                       {"return atomicAdd(out, 1);", false},
                                       {"atomicExch(out, in[i]);", false}}) {
    INFO(line);
    std::ofstream(fitted.scratch.path() / "k.cu") << line << '\n';
    const std::string out = ended(0, fitted.run()).out;
    CHECK((out.find("k.cu:1  sums in warps: 1 instead of 32 updates\n") != std::string::npos) == is_cured);
  }
}

TEST_CASE("fit/command/verbose_lists_all_layouts", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  trace.patterns = {access(
                        banks::Operation::store, 4, [](auto lane) { return 128 * lane; }, 0xFFFFFFFF, 3),
                    access(banks::Operation::store, 4, [](auto lane) { return 124 * lane; })};
  const Fitted fitted(trace);
  const auto layouts = [](const std::string& out) {
    const std::size_t table = out.find("\n  as it is");
    return count(out.substr(table, out.find("\n\n", table) - table), "\n");
  };
  const std::size_t some = layouts(fitted.run().out), all = layouts(fitted.run("--verbose").out);
  CHECK(some <= 5);
  CHECK(all > some);
}

TEST_CASE("fit/command/bad_input", "[fit]") {
  const Fitted fitted(transpose());
  check_fails("fit /no/such/trace", 2, "cannot read /no/such/trace");
  check_fails("fit --arch sm_91 " + fitted.trace, 2, "sm_91");
  check_fails("fit --arch gfx942 " + fitted.trace, 2, "64");
  check_fails("fit --max-shared -1 " + fitted.trace, 2, "--max-shared");
  check_fails("fit --kernel other " + fitted.trace, 2, "no kernel 'other' ran");
  check_fails("fit", 2, "TRACE is required");
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
  CHECK_THAT(outcome.out, has("incomplete: "));
  CHECK_THAT(outcome.out, has("it is not claimed that none is better:\n    the trace is incomplete"));
  CHECK_THAT(outcome.out, has(": no recorded conflict left, 128 bytes more\n"));
}

TEST_CASE("fit/command/after_report", "[fit]") {
  const Fitted fitted(transpose());
  const Outcome outcome = bankcheck("report --fit --sources " + fitted.scratch.path().string() + " " + fitted.trace);
  CHECK_THAT(outcome.out, has("k: 1 launch"));
  CHECK_THAT(outcome.out, !has("the worst access to tile before"));  // the report has shown it
  CHECK(outcome.out.find("fit of k") > outcome.out.find("k: 1 launch"));
  CHECK_THAT(bankcheck("report " + fitted.trace).out, !has("fit of k"));
}

}  // namespace
