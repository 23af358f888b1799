// What whole programs do, and what the reports say of them.
#include <fstream>
#include <regex>

#include <bankwise/trace/codec.hpp>
#include "tests/bankcheck/emulate/emulated_program.hpp"

namespace {

TEST_CASE("emulate/programs/every_launch", "[emulate]") {
  // The program as it is, and in a project's own build.
  for (const Outcome& outcome : {emulate(source("launches")), bankcheck("emulate -- '" WHOLE_PROGRAM "'")}) {
    CHECK_THAT(ended(0, outcome).out,
               has("right\n-- bankcheck emulate: ") && has("\nscale<int, 2, 1>: 1 launch, 1 block of 4 threads"));
  }
  CHECK(bankcheck("emulate -- /no/such/program").code == 3);
}

TEST_CASE("emulate/programs/runtime_api", "[emulate]") {
  const Outcome outcome = ended(0, emulate("--arch sm_80 " + source("api")));
  CHECK_THAT(outcome.out, has("NVIDIA A100-SXM4-40GB 8.0\nright\n"));
}

TEST_CASE("emulate/programs/graphs", "[emulate]") {
  const Outcome outcome = ended(0, emulate("--json - " + source("graphs")));
  CHECK_THAT(outcome.err, has("right\n"));
  const Checked report{outcome, nlohmann::json::parse(outcome.out)};
  CHECK(report.kernel("column").at("launches") == 3);  // captured once
  CHECK(numbers(report.on("column"), "a[threadIdx.x * 32]", "store") == Numbers{3, 96, 96, 3, 93});
  // Sampling is that of other launches.
  CHECK_THAT(ended(0, emulate("--max-launches 1 " + source("graphs"))).out,
             has("column: 1 of 3 launches watched, 1 block"));
  const Outcome faulty = ended(1, emulate(source("graphs") + " -- fault"));
  CHECK_THAT(faulty.out, has("right\n") && has("graphs.cu:27: invalid address"));

  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "program.cu").string();
  const auto run = [&](const std::string& text) {
    std::ofstream(file) << "__global__ void k() {}\nint main() {\n  void (*table[])() = {k};\n  cudaStream_t stream;\n"
                           "  cudaGraph_t graph;\n  cudaStreamCreate(&stream);\n"
                           "  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
                        << text << "  k<<<1, 1>>>();\n  return cudaStreamEndCapture(stream, &graph);\n}\n";
    return emulate(file);
  };
  CHECK_THAT(ended(1, run("  table[0]<<<1, 1, 0, stream>>>();\n")).err,
             has("program.cu:8: a graph cannot keep this launch, because an expression tells its kernel"));
  CHECK_THAT(ended(3, run("  cudaKernelNodeParams p{}; void* plain = nullptr; p.func = plain;\n")).err,
             has("program.cu:8: cudaKernelNodeParams with a kernel that is a void* is not emulated"));
}

TEST_CASE("emulate/programs/heap", "[emulate]") { CHECK_THAT(ended(0, emulate(source("heap"))).out, has("right\n")); }

TEST_CASE("emulate/programs/memory_spaces", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string path = (scratch.path() / "trace.jsonl").string();
  const auto traced = [&](const std::string& options) {
    ended(0, emulate(options + "--kernel polynomial --trace " + path + " " + source("api")));
    std::ifstream file(path);
    return bankwise::trace::read_json_lines(file, path).trace.kernels.at(0);
  };
  // Without the constants: in, out, and the two sums.
  const auto both = traced("");
  CHECK(both.watches_shared);
  CHECK(both.global_patterns.size() == 4);
  CHECK(both.sectors_written > 0);
  CHECK_FALSE(traced("--memory shared ").watches_global);
  const auto global = traced("--memory global ");
  CHECK_FALSE(global.watches_shared);
  CHECK(global.global_patterns.size() == 4);
  const Outcome unknown = emulate("--memory global --max-conflicts 0 " + source("endings"));
  CHECK(unknown.code == 1);
  CHECK_THAT(unknown.out, has("incomplete: shared memory was not watched\n"));
  CHECK_THAT(unknown.out, !has("no bank conflicts"));
}

TEST_CASE("emulate/programs/repeated_launch", "[emulate]") {
  for (const std::string how : {"", "--run-repeated "}) {
    const Outcome outcome = ended(0, emulate("--max-groups 1 " + how + source("repeats")));
    std::string said;
    for (int i = 0; i < 8; ++i) said += "launch 1\n";
    CHECK_THAT(outcome.out, has(said + "right\n"));
    // Launches that did not run count.
    CHECK_THAT(outcome.out, has("sum: 9 launches, 9 of 2,304 blocks of 256 threads watched"));
    CHECK_THAT(outcome.out, has("incomplete: 60,690 of 60,928 blocks of 11 kernels were not watched (--max-"
                                "groups 1); --verbose lists all of them\n"));
  }
}

TEST_CASE("emulate/programs/launch_limit", "[emulate]") {
  const Outcome outcome = emulate("--max-launches 1 " + source("repeats") + " -- 16");
  // In one place they cannot be told apart: the kernel is a member of an object.
  CHECK_THAT(outcome.out, has("increment: 40 launches, 64 of 640 blocks of 256 threads watched"));
  CHECK_THAT(outcome.out, has("decrement: 16 launches, 32 of 256 blocks of 256 threads watched"));
}

TEST_CASE("emulate/programs/kernel_filter", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string trace = (scratch.path() / "trace.jsonl").string();
  const Outcome outcome =
      ended(0, emulate("--max-groups 1 --kernel 'su*' --trace " + trace + " " + source("repeats") + " -- 16"));
  CHECK_THAT(outcome.out, has("sum: 9 launches, 9 of 144 blocks"));
  CHECK_THAT(outcome.out, !has("say: "));
  const Outcome reported = bankcheck("report " + trace);
  CHECK_THAT(reported.out, has("say: 8 launches, 1 of 128 blocks of 256 threads watched"));
  CHECK_THAT(reported.out, has("sum: 9 launches, 9 of 144 blocks of 256 threads watched"));
  // In one place, several kernels.
  const Outcome decrement = emulate("--max-groups 1 --kernel decrement " + source("repeats") + " -- 16");
  CHECK_THAT(decrement.out, has("decrement: 16 launches, 16 of 256 blocks"));
  CHECK(emulate("--kernel none " + source("endings")).code == 2);
}

TEST_CASE("emulate/programs/legacy_intrinsics_and_c", "[emulate]") {
  const std::string sources = source("libraries") + " '" PROGRAMS "/of_c.c'";
  CHECK_THAT(ended(0, emulate("--arch sm_80 " + sources)).out, has("architecture 800\nright\n"));
  CHECK_THAT(emulate("--arch gfx942 --max-groups 1 " + sources).out, has("architecture 900\n"));
}

TEST_CASE("emulate/programs/nvcc_evidence", "[emulate]") {
  const ScratchDirectory scratch;
  const std::filesystem::path& folder = scratch.path();
  // The cubin has four STS for this line; stores of neighbours could be one STS.128.
  std::ofstream(folder / "program.cu") << "__global__ void kernel(int* out) {\n"
                                          "  __shared__ int words[512];\n"
                                          "#line 25 \"histogram.cuh\"\n"
                                          "  for (int i = 0; i < 4; ++i) words[4 * threadIdx.x + i] = i;\n"
                                          "  __syncthreads();\n"
                                          "  out[threadIdx.x] = words[threadIdx.x];\n"
                                          "}\n"
                                          "int main() { int* out; cudaMalloc(&out, 512); kernel<<<1, 128>>>(out); }\n";
  const auto nvcc = [&](const std::string& script) {
    std::ofstream(folder / "nvcc") << "#!/bin/sh\n" << script;
    std::filesystem::permissions(folder / "nvcc", std::filesystem::perms::owner_all);
  };
  const std::string program = "'" + (folder / "program.cu").string() + "'",
                    path = "PATH='" + folder.string() + "':\"$PATH\"";
  const std::string evidence = "  histogram.cuh:25 store words: 4 STS: source\n";
  CHECK_THAT(emulate("--cubin '" CUBIN_DATA "/hopper.cubin' " + program).out, has(evidence));

  nvcc("echo \"$@\" >>'" + (folder / "calls").string() +
       "'\n"
       "while [ $# -gt 0 ]; do\n"
       "  case $1 in -o) out=$2;; -MF) rule=$2;; esac\n"
       "  last=$1; shift\n"
       "done\n"
       "[ \"$rule\" ] && echo \"program: $last\" >\"$rule\" || cp '" CUBIN_DATA "/hopper.cubin' \"$out\"\n");
  for (int i = 0; i < 2; ++i) {
    CHECK_THAT(ended(0, emulate("--arch sm_80 -D SIZE=4 --cubin nvcc " + program, path)).out, has(evidence));
  }
  const std::string calls = text_of(folder / "calls");
  CHECK(std::count(calls.begin(), calls.end(), '\n') ==
        3);  // its inputs before and after; the second time it was in the cache
  CHECK_THAT(calls, has("-cubin -lineinfo -arch=sm_80 -std=c++17 -w -DSIZE=4 "));

  nvcc("echo 'program.cu(3): error: no' >&2\nexit 2\n");
  CHECK_THAT(ended(3, emulate("--arch sm_75 --cubin nvcc " + program, path)).err, has("program.cu for sm_75"));
  CHECK(emulate("--arch gfx942 --cubin nvcc " + program, path).code == 2);
  CHECK(emulate("--cubin /no/such/file " + program).code == 2);
  CHECK(bankcheck("emulate --cubin nvcc -- '" WHOLE_PROGRAM "'").code == 2);
}

TEST_CASE("emulate/programs/limits_as_elsewhere", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string trace = (scratch.path() / "trace.jsonl").string();
  const Outcome outcome =
      ended(0, emulate("--json - --trace " + trace + " " + source("endings") + " -- ignored words"));
  CHECK_THAT(outcome.err, has("last error: cudaSuccess\n"));  // stdout has nothing but JSON
  const Checked checked{outcome, nlohmann::json::parse(outcome.out)};
  const Numbers stores{128, 4096, 128, 128, 0}, loads{128, 4096, 4096, 128, 3968};
  CHECK(numbers(checked.on("transpose"), "tile[threadIdx.y]", "store") == stores);
  CHECK(numbers(checked.on("transpose"), "tile[threadIdx.x]", "load") == loads);
  CHECK(bankcheck("report --max-conflicts 3968 " + trace).code == 0);
  CHECK(emulate("--max-conflicts 3967 " + source("endings")).code == 1);

  const Outcome part = ended(0, emulate("--max-groups 2 " + source("endings")));
  CHECK_THAT(part.out, has("incomplete: 2 of 4 blocks of transpose were not watched (--max-groups 2)\n"));
  CHECK(emulate("--max-groups 2 --max-conflicts 100000 " + source("endings")).code == 1);
}

TEST_CASE("emulate/programs/ends_early", "[emulate]") {
  const std::string failed = "bankcheck: the program 'endings' ";
  for (const auto& [how, words] : {std::pair("exit", std::string()),
                                   {"_Exit", ""},
                                   {"code", failed + "failed with exit code 5\n"},
                                   {"abort", failed + "crashed: signal 6"}}) {
    const Outcome outcome = ended(words.empty() ? 0 : 3, emulate(source("endings") + " -- " + how));
    CHECK_THAT(outcome.out, has("transpose: 1 launch, 4 blocks of 32 x 32 threads\n"));
    CHECK_THAT(outcome.err, has(words));
  }
}

TEST_CASE("emulate/programs/full_disk", "[emulate]") {
  ended(0, emulate(source("endings")));  // the program is built
  const Outcome outcome = ended(3, emulate(source("endings"), "ulimit -f 2; env --ignore-signal=XFSZ"));
  CHECK_THAT(outcome.err, has(" what the program does: File too large; TMPDIR names another directory"));
}

TEST_CASE("emulate/programs/fresh_environment", "[emulate]") {
  const std::string limited = "--max-conflicts 3968 " + source("endings") + " -- ";
  CHECK(ended(0, emulate(limited + "execute")).err.empty());
  const Outcome outcome = ended(0, emulate(source("endings") + " -- execute_fresh"));
  const std::string said = "the program 'endings' started '/bin/true' with an environment of its own, ";
  CHECK(outcome.out.find("incomplete: " + said) < outcome.out.find("transpose: 1 launch, 4 blocks"));
  CHECK_THAT(ended(1, emulate(limited + "execute_fresh")).err, has("incomplete: " + said));
  for (const std::string how : {"execute_cleared", "execute_through_env"}) {
    CHECK_THAT(ended(1, emulate(limited + how)).err, has("' started 'true' with an "));
  }
}

TEST_CASE("emulate/programs/unfinished_launch", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string program = (scratch.path() / "long.cu").string(), json = (scratch.path() / "j").string();
  std::ofstream(program) << "__global__ void column(int* out) {\n"
                            "  __shared__ int words[32][32];\n"
                            "  for (int i = 0; i < 1000; ++i) {\n"
                            "    words[threadIdx.x][0] = i;\n"
                            "    __syncthreads();\n"
                            "  }\n"
                            "  out[threadIdx.x] = words[threadIdx.x][0];\n"
                            "}\n"
                            "int main() { int* out; cudaMalloc(&out, 512); column<<<1 << 16, 32>>>(out); }\n";
  const Outcome outcome = ended(3, emulate("--time-limit 2 --fit --json " + json + " '" + program + "'"));
  CHECK_THAT(outcome.err, has("had not ended after 2 seconds"));
  CHECK_THAT(outcome.out, has(" of 65,536 blocks of column were not watched\n"));
  CHECK_THAT(outcome.out, has("store 4"));
  CHECK_THAT(outcome.out, has("words[y][x ^ y]") && has("the trace is incomplete"));
  CHECK_THAT(text_of(json), has("\"fit\""));
}

TEST_CASE("emulate/programs/cooperative", "[emulate]") {
  const Outcome outcome = ended(0, emulate("--max-groups 1 " + source("cooperative")));
  CHECK_THAT(outcome.out, has("right\n"));
  CHECK_THAT(outcome.out, has(" of 128 blocks of turn were not watched (--max-groups 1)\n"));
}

TEST_CASE("emulate/programs/host_memory_faults", "[emulate]") {
  const std::pair<std::string, std::string> cases[]{
      {"twice", "endings.cu:41: cudaFree frees the 16384 bytes that "},
      {"inside", "cudaFree gets a pointer to byte 4 of the 16384 bytes that "},
      {"host", "endings.cu:43: cudaFree frees memory that CUDA has not allocated"},
      {"copy", "endings.cu:44: cudaMemcpy writes 16388 bytes at byte 0 of the 16384 bytes that "},
      {"read", "cudaMemcpy reads 512 bytes at byte 16000 of the 16384 bytes that "},
      {"freed", "endings.cu:46: cudaMemset writes the 16384 bytes that "},
      {"direction", "cudaMemcpy gets a device pointer where it needs a host pointer"},
      {"host_read", "endings.cu:52: the host reads 4 bytes of device memory, at byte 8 of the 16384 bytes that "},
      {"host_write", "endings.cu:53: the host writes 4 bytes of device memory, at byte 0 of the 16384 bytes that "},
      {"launch", "endings.cu:49: a launch fails: a block of 2048 threads is too large"},
  };
  for (const auto& [ending, sentence] : cases) {
    const Outcome outcome = emulate(source("endings") + " -- " + ending);
    INFO(ending << '\n' << outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, has(sentence));
    CHECK_THAT(outcome.err, has("endings.cu:"));
    if (ending.substr(0, 5) != "host_") CHECK_THAT(outcome.out, has("last error: cudaError"));
  }
}

TEST_CASE("emulate/programs/device_memory_faults", "[emulate]") {
  const Outcome outcome = ended(1, emulate(source("endings") + " -- kernel"));
  CHECK_THAT(outcome.out, has("endings.cu:12: invalid address: thread 6 of block (0, 0, 0) of past_the_end "
                              "writes 4 bytes of device memory at byte 16384 of the 16384 bytes that "));
  CHECK_THAT(outcome.out, has("endings.cu:35 allocates with cudaMalloc; 26 times\n"));  // it goes on
  CHECK_THAT(outcome.out, has("last error: cudaErrorIllegalAddress"));
  const Outcome atomic = ended(1, emulate(source("endings") + " -- atomic"));
  CHECK_THAT(atomic.out, has("endings.cu:17: invalid address: thread 1 of block (0, 0, 0) of adds writes 4 "
                             "bytes of device memory at byte 16384 of the 16384 bytes that "));
  const Outcome freed = ended(1, emulate(source("endings") + " -- use_after_free"));
  CHECK_THAT(freed.out, has("endings.cu:51 has freed them"));
}

TEST_CASE("emulate/programs/argument_with_destructor", "[emulate]") {
  // As on a GPU, the launch destroys the temporary or one copy, or nothing of a list, and no lane destroys its own.
  for (const auto& [how, faults] : {std::pair("argument", 1), {"temporary", 0}, {"list", 0}, {"values", 1}}) {
    const Outcome outcome = emulate(source("endings") + " -- " + how);
    INFO(how << '\n' << outcome.err);
    CHECK(outcome.code == faults);
    CHECK_THAT(outcome.out, has("last error: cudaSuccess"));
    if (faults == 0) continue;
    CHECK_THAT(outcome.err,
               has("1 fault in the program, first: ") && has("endings.cu:15: cudaFree frees the 16384 bytes that "));
  }
}

TEST_CASE("emulate/programs/freed_by_kernel", "[emulate]") { ended(0, emulate(source("endings") + " -- own")); }

TEST_CASE("emulate/programs/shared_memory_faults", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string program = (scratch.path() / "program.cu").string();
  std::ofstream(program) << "#include <cstdio>\n"
                            "#include <cstdlib>\n"
                            "__global__ void shift(float* out, int by) {\n"
                            "  __shared__ float words[32];\n"
                            "  words[threadIdx.x] = 1;\n"
                            "  __syncthreads();\n"
                            "  out[threadIdx.x] = words[int(threadIdx.x) + by];\n"
                            "}\n"
                            "__global__ void needs(float* out) {\n"
                            "  extern __shared__ float room[];\n"
                            "  *out = room[threadIdx.x] = 1;\n"
                            "}\n"
                            "int main(int count, char** arguments) {\n"
                            "  float* out;\n"
                            "  cudaMalloc(&out, 128);\n"
                            "  if (count > 3) cudaFree(out);\n"
                            "  shift<<<1, 32>>>(out, std::atoi(arguments[1]));\n"
                            "  const int bytes = std::atoi(arguments[2]);\n"
                            "  const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;\n"
                            "  if (bytes < 0) cudaFuncSetAttribute(needs, most, -bytes);\n"
                            "  needs<<<1, 1, std::abs(bytes)>>>(out);\n"
                            "  needs<<<1, 1, 4>>>(out);\n"
                            "  printf(\"%s\\n\", cudaGetErrorName(cudaGetLastError()));\n"
                            "}\n";
  ended(0, emulate(program + " -- 0 49152"));
  ended(0, emulate(program + " -- 0 -49156"));
  const Outcome needs = ended(1, emulate(program + " -- 0 49156"));
  CHECK_THAT(needs.err, has("program.cu:21: a launch fails: 49156 bytes of dynamic shared memory are more than 49152"));
  CHECK_THAT(needs.out, has("cudaErrorInvalidValue"));
  // The only static array: what is before it and behind it is no other memory.
  for (const int by : {-1, -12000, 1, 6000}) {
    const Outcome outside = ended(1, emulate(program + " -- " + std::to_string(by) + " 4"));
    CAPTURE(by);
    CHECK_THAT(outside.out, has("program.cu:7: out of bounds: thread ") && has(" of words, which has 128 bytes"));
    CHECK_THAT(outside.out, has("cudaSuccess"));
  }
  const Outcome refused = ended(1, emulate(program + " -- 0 4 frees"));
  CHECK_THAT(refused.err, has("program.cu:21: this launch and those after it did not run, as on a GPU"));
}

TEST_CASE("emulate/programs/missing_return", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string program = (scratch.path() / "program.cu").string();
  std::ofstream(program) << "#include <cstdio>\n"
                            "__device__ int add(int* out) { *out += 1; }\n"
                            "__global__ void k(int* out) { add(out); *out += 2; }\n"
                            "__global__ void ends(int* out, int n) {\n"
                            "  if (n == 1) __builtin_unreachable();\n"
                            "  *out += n;\n"
                            "}\n"
                            "int run(int* out, int n) {\n"
                            "  k<<<1, 1>>>(out);\n"
                            "  ends<<<1, 1>>>(out, n);\n"
                            "}\n"
                            "int main(int count, char**) {\n"
                            "  int *out, result;\n"
                            "  cudaMalloc(&out, 4);\n"
                            "  cudaMemset(out, 0, 4);\n"
                            "  run(out, count - 1);\n"
                            "  cudaMemcpy(&result, out, 4, cudaMemcpyDeviceToHost);\n"
                            "  printf(\"result %d\\n\", result);\n"
                            "}\n";
  CHECK_THAT(ended(0, emulate(program)).out, has("result 3\n"));
  CHECK_THAT(ended(1, emulate(program + " -- 1")).out,
             has("program.cu:5: trap: thread 0 of block (0, 0, 0) of ends stops: reaches code that "));
}

TEST_CASE("emulate/programs/race_goes_on", "[emulate]") {
  const Outcome race = ended(1, emulate(source("endings") + " -- race"));
  CHECK_THAT(race.out, has("endings.cu:26: race: thread "));
  CHECK_THAT(race.out, has("last error: cudaSuccess"));
  CHECK(emulate("--allow race,unwritten-read " + source("endings") + " -- race").code == 0);
  const Outcome fatal = ended(1, emulate("--fatal " + source("endings") + " -- race"));
  CHECK_THAT(fatal.out, !has("last error"));
}

TEST_CASE("emulate/programs/global_races", "[emulate]") {
  const Outcome outcome = ended(1, emulate(source("global_races")));
  CHECK_THAT(outcome.out, has("36 no error\n"));
  INFO(outcome.out);
  CHECK_THAT(outcome.out, has("of rows reads 4 bytes of device memory at byte 0 of the 65536 bytes that ") &&
                              has("global_races.cu:66 allocates with cudaMalloc; warp 0 of the block writes "
                                  "there at line 4, and nothing orders the two [--allow global-race]; "));
  std::string kernels;  // of the program, those with a race: the others are right
  const std::regex race(
      "global_races.cu:([0-9]+): race in global memory: thread [0-9]+ of block \\S+ \\S+ \\S+ of (\\w+) ");
  for (std::sregex_iterator found(outcome.out.begin(), outcome.out.end(), race), end; found != end; ++found) {
    if (const std::string kernel = (*found)[2]; kernels.find(kernel) == std::string::npos) kernels += kernel + ' ';
  }
  CHECK(kernels == "rows in_place no_barrier blocks_differ read_by_many records_differ read_by_both ");
  CHECK(emulate("--allow global-race " + source("global_races")).code == 0);
}

}  // namespace
