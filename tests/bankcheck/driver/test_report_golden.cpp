// Whole texts of `bankcheck report`, which are those of the checkers, as files of the folder golden. The variable
// BANKWISE_REWRITE_GOLDEN, if it is set, makes the test write the files instead; then look at the difference in git.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <tuple>

#include <bankwise/report/kernel_text.hpp>
#include <bankwise/trace/builder.hpp>
#include <bankwise/trace/codec.hpp>
#include "bankcheck/driver/child_process.hpp"
#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using trace::Maker;

namespace {

constexpr const char* cuda_source = R"(__global__ void transpose(float* out, const float* in, int pitch) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * pitch + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * pitch + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
)";
constexpr const char* opencl_source = R"(kernel void transpose(global float* out, global const float* in, int pitch) {
  local float tile[32][32];
  tile[get_local_id(1)][get_local_id(0)] = in[get_global_id(1) * pitch + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(1) * pitch + get_global_id(0)] = tile[get_local_id(0)][get_local_id(1)];
}
)";

/// Four warps store rows and load columns, or rows again if the kernel is `clean`, in each of two rounds.
trace::KernelTrace kernel_of(Maker maker, const std::string& name, bool clean) {
  trace::Builder builder({.kernel = name, .blocks = 2, .levels = 4});
  builder.add(trace::LaunchShape{{64, 4, 1}, {32, 4, 1}, 1});
  const std::string file = maker == Maker::opencl ? "input.cl" : "k.cu";
  const bool has_columns = maker == Maker::opencl;
  if (maker == Maker::opencl) builder.trace().source = 0, builder.trace().splits = true;
  for (std::uint32_t level = 0; level < 4; ++level) {
    const bool stores = level % 2 == 0;
    trace::Pattern pattern{.site = builder.site({.file = file,
                                                 .line = stores ? 3U : 5U,
                                                 .column = !has_columns ? 0U
                                                           : stores     ? 42U
                                                                        : 54U}),
                           .array = builder.array({"tile", 0, 4096}),
                           .operation = stores ? banks::Operation::store : banks::Operation::load,
                           .level = level,
                           .mask = 0xffffffff,
                           .count = 8};
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      pattern.addresses.push_back(stores || clean ? 4 * lane : 128 * lane);
    normalize(pattern);
    builder.add(pattern);
  }
  return builder.take();
}

trace::Trace trace_of(Maker maker, bool clean) {
  trace::Trace trace{.maker = maker};
  if (maker == Maker::opencl) trace.sources = {opencl_source};
  trace.kernels = {kernel_of(maker, "scale", true), kernel_of(maker, "transpose", clean)};
  return trace;
}

trace::Trace clean(Maker maker) { return trace_of(maker, true); }
trace::Trace conflicts(Maker maker) { return trace_of(maker, false); }

trace::Trace incomplete(Maker maker, bool is_clean) {
  trace::Trace trace = trace_of(maker, is_clean);
  trace.kernels[1].shapes[0].threads = {512, 4, 1};
  trace.kernels[0].copied_bytes = 4096;
  trace.kernels[1].left_out = {{"cp.async", 2'000'000}, {"TMA", 1'000'000}};
  trace.errors = {"the program 'k' failed with exit code 5"};
  return trace;
}
trace::Trace some_missing(Maker maker) { return incomplete(maker, false); }
trace::Trace clean_so_far(Maker maker) { return incomplete(maker, true); }

/// One kernel is complete, and of the other two launches one was watched.
trace::Trace part(Maker maker) {
  trace::Trace trace = trace_of(maker, true);
  trace.kernels[1].shapes[0].launches = 2;
  return trace;
}

trace::Trace faults(Maker maker) {
  trace::Trace trace = trace_of(maker, true);
  trace.kernels[1].shapes[0].threads = {128, 4, 1};  // two blocks more
  trace.kernels[1].diagnoses = {
      {trace::Fault::race,
       1,
       0,
       false,
       "thread 32 of block (0, 0, 0) of transpose reads 4 bytes at byte 124 of tile, which has 4096 bytes; thread 31 "
       "writes there at line 3, and nothing orders the two [--allow race]",
       128,
       {}},
      {trace::Fault::out_of_bounds, 0, {}, true, "thread 0 of block (2, 0, 0) of transpose writes", 1, {}},
      {trace::Fault::lanes_collide, 0, {}, false, "lane 2 of block (0, 0, 0) of transpose writes", 1, {}}};
  return trace;
}

/// Adds to a kernel the accesses to global memory of its lines 3 and 5: `step` bytes from lane to lane.
void add_global(trace::KernelTrace& kernel, std::uint32_t load_step, std::uint32_t store_step, std::uint64_t count) {
  trace::Builder builder(std::move(kernel));
  builder.trace().watches_global = true;
  for (const auto& [site, operation, step] :
       {std::tuple(0U, banks::Operation::load, load_step), {1U, banks::Operation::store, store_step}}) {
    trace::Pattern pattern{.site = site, .operation = operation, .mask = 0xffffffff, .count = count};
    for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.addresses.push_back(step * lane);
    normalize(pattern);
    builder.add_global(pattern);
  }
  kernel = builder.take();
  kernel.sectors_read = kernel.sectors_written = 4 * count;
}

/// `scale` is coalesced, and `transpose` stores columns.
trace::Trace columns(Maker maker) {
  trace::Trace trace = trace_of(maker, true);
  add_global(trace.kernels[0], 4, 4, 16);
  add_global(trace.kernels[1], 4, 4096, 16);
  return trace;
}

trace::Trace coalesced(Maker maker) {
  trace::Trace trace = trace_of(maker, true);
  for (trace::KernelTrace& kernel : trace.kernels) add_global(kernel, 4, 4, 16);
  return trace;
}

/// Conflicts in shared memory, and an array of structures of three words in global memory.
trace::Trace both_problems(Maker maker) {
  trace::Trace trace = trace_of(maker, false);
  add_global(trace.kernels[1], 12, 4, 16);
  return trace;
}

/// The same on a GPU that is full of blocks, with many more accesses to global memory.
trace::Trace timed(Maker maker) {
  trace::Trace trace = both_problems(maker);
  trace::KernelTrace& kernel = trace.kernels[1];
  kernel.shapes[0].threads = {32 * 13200, 4, 1};
  kernel.blocks = 13200;
  for (trace::Pattern& pattern : kernel.patterns) pattern.count = 26'400;
  for (trace::Pattern& pattern : kernel.global_patterns) pattern.count = 1'056'000;
  kernel.sectors_read = 12 * 1'056'000;
  kernel.sectors_written = 4 * 1'056'000;
  return trace;
}
trace::Trace time_known(Maker maker) {
  trace::Trace trace = timed(maker);
  trace.kernels[1].time = trace::KernelTime{1, 200'000, 1'755'000, "NVIDIA H200", false};
  trace.kernels[0].time = trace::KernelTime{1, 5'000, 1'755'000, "NVIDIA H200", true};
  return trace;
}

trace::Trace global_incomplete(Maker maker) {
  trace::Trace trace = columns(maker);
  trace.kernels[1].global_left_out = 7;
  return trace;
}

/// A run with --memory global.
trace::Trace only_global(Maker maker) {
  trace::Trace trace = columns(maker);
  for (trace::KernelTrace& kernel : trace.kernels) {
    kernel.watches_shared = false;
    kernel.patterns.clear();
  }
  return trace;
}

/// A product whose operand is stored with conflicts, with narrow boxes and accesses to another block; and a copy.
trace::Trace engines(Maker maker) {
  using banks::Engine;
  trace::Trace trace = trace_of(maker, true);
  trace::Builder product(std::move(trace.kernels[1]));
  trace::Pattern column = product.trace().patterns[0];
  for (std::uint32_t lane = 0; lane < 32; ++lane) column.addresses[lane] = 128 * lane;
  product.add(column);
  product.add(trace::EngineAccesses{1, {Engine::wgmma, 24'576, 0}, 16});
  product.add(trace::EngineAccesses{0, {Engine::tensor_load, 4096, 16}, 6});
  product.add(trace::EngineAccesses{0, {Engine::tensor_load, 8192, 128}, 2});
  product.add_global({.site = 1, .mask = 0b1111, .addresses = {0, 128, 256, 384}, .count = 8},
                     trace::SectorMemory::remote);
  trace.kernels[1] = product.take();
  trace::Builder copy(std::move(trace.kernels[0]));
  copy.add(trace::EngineAccesses{1, {Engine::bulk_load, 2048, 0}, 5});
  trace.kernels[0] = copy.take();
  return trace;
}

/// What a PyTorch program runs: kernels of libraries without sources, some with accesses that have no cost.
trace::Trace library(Maker maker) {
  trace::Trace trace{.maker = maker};
  for (const char* name :
       {"nvjet_tst_128x64_64x8_2x1_v_bz_TNT", "nvjet_tst_64x64_64x8_2x1_v_bz_TNT", "nvjet_tst_64x8_64x16_4x1_v_bz_TNN",
        "triton_poi_fused_add_0", "triton_poi_fused_add_1", "triton_red_fused_mean_2"}) {
    trace::KernelTrace& kernel = trace.kernels.emplace_back(kernel_of(maker, name, false));
    kernel.sites = {{.file = "?", .pc = 0x120}, {.file = "?", .pc = 0x340}};
    if (kernel.kernel.ends_with("TNT"))
      kernel.engines = {{0, {banks::Engine::wgmma, 16'384, 0}, kernel.kernel.size()}};
    else if (kernel.kernel.ends_with("add_1"))
      kernel.left_out = {{"cp.async", 20}, {"tcgen05.ld", 3}};
  }
  return trace;
}

/// A text to be shown by --verbose alone: many kernels, and many levels that are all different.
trace::Trace many_kernels(Maker maker) {
  trace::Trace trace = trace_of(maker, false);
  for (std::uint32_t level = 0; level < 20; ++level) {
    trace::Pattern pattern = trace.kernels[1].patterns.back();
    pattern.level = 4 + level;
    pattern.count = 100 + level;
    trace.kernels[1].patterns.push_back(pattern);
  }
  trace.kernels[1].levels = 24;
  for (int i = 0; i < 30; ++i) trace.kernels.push_back(kernel_of(maker, "more_" + std::to_string(i), i % 2 == 0));
  return trace;
}

struct Golden {
  const char* name;
  trace::Trace (*trace)(Maker);
  Maker maker;
  const char* options = "";
  int code = 0;
  unsigned columns = 100;
};

constexpr Golden table[]{
    {"opencl_clean", clean, Maker::opencl},
    {"opencl_conflicts", conflicts, Maker::opencl},
    {"opencl_incomplete", some_missing, Maker::opencl},
    {"opencl_part", part, Maker::opencl, "--max-conflicts 5", 1},
    {"opencl_architectures", conflicts, Maker::opencl, "--arch sm_80,sm_90,intel_xe"},
    {"opencl_fit", conflicts, Maker::opencl, "--fit"},
    {"emulate_clean", clean, Maker::emulate},
    {"emulate_conflicts", conflicts, Maker::emulate},
    {"narrow", conflicts, Maker::emulate, "", 0, 60},
    {"emulate_incomplete", clean_so_far, Maker::emulate},
    {"emulate_faults", faults, Maker::emulate, "", 1},
    {"emulate_fit", conflicts, Maker::emulate, "--fit"},
    {"emulate_architectures", conflicts, Maker::emulate, "--arch sm_90,sm_75"},
    {"cuda_clean", clean, Maker::cuda},
    {"cuda_conflicts", conflicts, Maker::cuda, "--max-conflicts 100", 1},
    {"cuda_incomplete", some_missing, Maker::cuda, "--verbose"},
    {"cuda_architectures", conflicts, Maker::cuda, "--arch sm_90,sm_13"},
    {"cuda_fit", conflicts, Maker::cuda, "--fit --arch sm_90,sm_80"},
    {"many_kernels", many_kernels, Maker::cuda},
    {"engines", engines, Maker::cuda, "--verbose"},
    {"engines_unknown", engines, Maker::cuda, "--arch sm_100 --max-conflicts 1000000", 1},
    {"library", library, Maker::cuda, "--max-conflicts 1000000", 1},
    {"global_columns", columns, Maker::cuda, "--max-sectors 500", 0},
    {"global_verbose", columns, Maker::cuda, "--verbose --max-conflicts 0 --max-sectors 447", 1},
    {"global_narrow", columns, Maker::cuda, "", 0, 60},
    {"global_coalesced", coalesced, Maker::emulate},
    {"global_both", both_problems, Maker::emulate, "--arch sm_90,sm_13"},
    {"global_time", time_known, Maker::cuda, "", 0, 120},
    {"global_gpu", timed, Maker::emulate, "--arch a100 --summary"},
    {"global_incomplete", global_incomplete, Maker::cuda, "--max-conflicts 0 --max-sectors 1000", 1},
    {"global_only", only_global, Maker::cuda, "--max-sectors 448"},
    {"global_unwatched", clean, Maker::cuda, "--max-sectors 0", 1},
    {"quiet", faults, Maker::emulate, "--quiet", 1},
    {"quiet_incomplete", some_missing, Maker::emulate, "--quiet"},
    {"quiet_conflicts", conflicts, Maker::emulate, "--quiet"},
    {"summary", conflicts, Maker::emulate, "--summary"},
    {"summary_typed", conflicts, Maker::cuda, "--kernel '*s*' --json j.json --sarif=s.json --summary"},
    {"summary_fit", conflicts, Maker::emulate, "--summary --fit"},
    {"verbose", conflicts, Maker::emulate, "--verbose"},
    {"colour", conflicts, Maker::emulate, "--color always --max-conflicts 100", 1},
    {"colour_faults", faults, Maker::emulate, "--color always --quiet", 1},
    {"colour_incomplete", some_missing, Maker::emulate, "--color always --summary"},
};

}  // namespace

TEST_CASE("driver/report/golden") {
  for (const Golden& golden : table) {
    INFO(golden.name);
    const ScratchDirectory scratch;
    std::ofstream(scratch.path() / "k.cu") << cuda_source;
    std::ofstream(scratch.path() / "k.cl") << opencl_source;
    std::ofstream(scratch.path() / "t.jsonl") << to_json_lines(golden.trace(golden.maker));
    const auto outcome = bankcheck(
        "report " + std::string(golden.options) + " t.jsonl",
        "cd '" + scratch.path().string() + "'; XDG_CACHE_HOME=/none COLUMNS=" + std::to_string(golden.columns));
    CHECK(outcome.code == golden.code);
    const std::string text = outcome.out + (outcome.err.empty() ? "" : "--- stderr ---\n" + outcome.err);
    const std::string file = SOURCE_DIRECTORY "/tests/bankcheck/driver/golden/" + std::string(golden.name) + ".txt";
    if (std::getenv("BANKWISE_REWRITE_GOLDEN") != nullptr) {
      std::ofstream(file) << text;
    } else {
      CHECK(text == text_of(file));
    }
  }
}

TEST_CASE("driver/report/partly_watched") {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "t.jsonl") << to_json_lines(part(Maker::cuda));
  std::ofstream(scratch.path() / "b.csv") << "kernel,architecture,accesses,conflicts,unknown\n"
                                          << "scale,sm_90,64,9,0\ntranspose,sm_90,64,9,0\n";
  const std::string in = "cd '" + scratch.path().string() + "';";
  const auto outcome = bankcheck("report --baseline b.csv --html h --json j t.jsonl", in);
  CHECK(outcome.code == 1);
  CHECK(sentences_in(outcome.err) ==
        std::vector<std::string>{"incomplete: 2 of 4 blocks of transpose were not watched",
                                 "--baseline cannot be confirmed: the trace is incomplete"});  // and nothing is better
  const std::string html = text_of(scratch.path() / "h"), json = text_of(scratch.path() / "j");
  CHECK_THAT(html, has("<p>32 passes, no conflict <span"));
  CHECK_THAT(html, has("<p>\u226532 passes, no conflict in what was watched <span"));
  CHECK_THAT(html, has("<b>1 kernel has no conflicts</b> in what was watched"));
  CHECK_THAT(html, has("<b>1 kernel has no conflicts</b><"));
  CHECK_THAT(json, has("\"blocks\": 2,\n      \"launched_blocks\": 4"));

  std::ofstream(scratch.path() / "t.jsonl")
      << trace::to_json_lines({.errors = {"'long' had not ended after 2 seconds"}});
  CHECK(bankcheck("report t.jsonl", in).out ==
        "incomplete: no kernel was watched: 'long' had not ended after 2 seconds\n");
}

TEST_CASE("driver/report/one_amount_of_detail") {
  check_fails("report --quiet --summary /dev/null", 2, "--quiet excludes --summary");
  check_fails("report --color sometimes /dev/null", 2, "--color");
}

TEST_CASE("driver/report/access_in_line") {
  struct Case {
    const char *source, *array, *access;
    banks::Operation operation = banks::Operation::load;
    std::size_t at = std::string::npos;
  };
  for (const Case& line : {Case{"sum += as[ty][i] * bs[tx][i];", "bs", "bs[tx][i]"},
                           {"s[i] = s[i + 1];", "s", "s[i]", banks::Operation::store},
                           {"s[i] = s[i + 1];", "s", "s[i + 1]"},
                           {"s[i] += 1;", "s", "s[i]"},
                           {"xs[i] = s[a[i]];", "s", "s[a[i]]"},
                           {"x = xs[i] + s[j];", "s", "s[j]"},
                           {"out = s[j] + s[k];", "s", ""},
                           {"out = s[j] + s[k];", "s", "s[k]", banks::Operation::load, 14},
                           {"if (s[j] == s[j]) x = 1;", "s", "s[j]"},
                           {"__shared__ int s[64]; s[2 * i] = 1;", "s", "s[2 * i]", banks::Operation::store},
                           {"{ local int a[8], s[64]; x = s[i]; }", "s", "s[i]"},
                           {"__shared__ int s[64]; f(s);", "s", ""},
                           {"f(s);", "s", ""},
                           {"out = s[i", "s", ""},
                           {"", "", ""}}) {
    INFO(line.source);
    CHECK(report::access_in({"k.cu:1", line.source, line.at}, {.array = line.array, .operation = line.operation}) ==
          line.access);
  }
}

TEST_CASE("driver/report/hint_to_watch_less") {
  const ScratchDirectory scratch;
  const auto told = [&](const char* seconds, const std::string& hint) {
    const std::string path = (scratch.path() / "err").string();
    const int before = dup(STDERR_FILENO), file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, STDERR_FILENO);
    driver::start_and_wait(driver::find_program("sleep"), {"sleep", seconds}, {.hint = hint, .hint_after = 0.3});
    dup2(before, STDERR_FILENO);
    close(before);
    close(file);
    return text_of(path);
  };
  const std::string hint = driver::hint_to_watch_less(0, "blocks");
  CHECK_THAT(hint, has("--max-groups 2 watches 2 blocks"));
  CHECK(told("1", hint) == "bankcheck: " + hint + "\n");  // once
  CHECK(told("0", hint) == "");
  CHECK(told("1", driver::hint_to_watch_less(3, "blocks")) == "");
}

TEST_CASE("driver/report/no_color") {
  // A terminal of 50 columns; https://no-color.org asks for a variable that is set and not empty.
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "t.jsonl") << to_json_lines(conflicts(Maker::cuda));
  const auto on_terminal = [&](const std::string& variable) {
    return in_shell("cd '" + scratch.path().string() + "'; " + variable +
                        " script -qec \"stty cols 50; '" SAMPLES_DIRECTORY
                        "/bankcheck' report --summary t.jsonl\" /dev/null",
                    "")
        .out;
  };
  const std::string coloured = on_terminal("NO_COLOR="), plain = on_terminal("NO_COLOR=1");
  if (coloured.empty()) return;  // no `script`
  CHECK_THAT(coloured, has("\033[1;31m32-way\033[0m"));
  CHECK_THAT(plain, !has("\033"));
  for (std::size_t at = 0; at < plain.size(); at = plain.find('\n', at) + 1) CHECK(plain.find('\n', at) - at <= 51);
}
