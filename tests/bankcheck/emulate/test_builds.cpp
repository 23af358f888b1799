// How programs are built: errors, the cache, and what ends a build early.
#include <algorithm>
#include <csignal>

#include <bankwise/support/numbers.hpp>
#include "tests/bankcheck/emulate/emulated_program.hpp"

namespace {

TEST_CASE("emulate/programs/signal_while_building", "[emulate]") {
  const ScratchDirectory scratch;
  for (const int signal : {SIGTERM, SIGHUP}) {
    const std::filesystem::path cache = scratch.path() / std::to_string(signal);
    StartedProgram program("exec '" SAMPLES_DIRECTORY "/bankcheck' emulate --cache '" + cache.string() + "' " +
                           source("endings"));
    program.wait_until([&] { return std::filesystem::exists(cache / "headers"); });
    CHECK(kill(program.process(), signal) == 0);
    CHECK(program.exit_code() == 3);
    CHECK_THAT(program.err(), has("bankcheck: signal " + std::to_string(signal) + " ("));
    CHECK_THAT(program.err(), has(") ended it while it was building the program\n"));
    program.wait_until([&] { return kill(-program.process(), 0) != 0; });  // g++ has ended, too
  }
}

TEST_CASE("emulate/programs/build_error", "[emulate]") {
  const auto last = [](const Outcome& outcome) { return sentences_in(outcome.err).back(); };
  const Outcome missing = ended(3, emulate(source("missing")));
  CHECK_THAT(last(missing), has("missing.cu:3: cudaIpcMemHandle_t is not emulated (and 1 more above)"));
  CHECK_THAT(missing.err, has("missing.cu:4:3: error: ") && !has("did you mean"));

  const ScratchDirectory scratch;
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"int main() { return x; }\n", "program.cu:1: "},
           {"#include <curand.h>\nint main() { curandGenerator_t g; return curandCreateGenerator(&g, "
            "CURAND_RNG_PSEUDO_XORWOW); }\n",
            "program.cu:2: curandCreateGenerator is not emulated"},
           {"#include <cub/cub.cuh>\nint main() { return cub::DeviceSegmentedSort::SortKeys(); }\n",
            "program.cu:2: cub::DeviceSegmentedSort::SortKeys is not emulated"},
           {"#include <hip/hip_runtime.h>\n#include <hipcub/hipcub.hpp>\n"
            "__global__ void k() { typename hipcub::BlockScan<int, 32>::TempStorage s; }\nint main() {}\n",
            "program.cu:3: cub::BlockScan is not emulated"},
           {"__global__ void k();\n\nint main() { k<<<1, 2>>>; }\n",
            "program.cu:3: the launch has no >>> that arguments in parentheses follow"},
           {"int missing();\nint main() { return missing(); }\n", "no source and no library defines `missing()'"},
           {"int main() {}\n", "the program 'program' ran no kernel"}}) {
    const auto file = scratch.path() / "program.cu";
    std::ofstream(file) << text;
    CHECK_THAT(last(ended(3, emulate(file.string()))), has(words));
  }
  const auto loop = scratch.path() / "loop.cu";
  std::filesystem::create_symlink("loop.cu", loop);
  CHECK_THAT(ended(2, emulate(loop.string())).err, has("its symbolic links form a loop"));
  CHECK(emulate("/no/such.cu").code == 2);
  CHECK(emulate("").code == 2);
  CHECK(emulate("--std c++03 " + source("endings")).code == 2);
  // Before anything is built: one run has warps of one width.
  const Outcome mixed = ended(2, emulate("--arch sm_90,gfx942 " + source("missing")));
  CHECK(mixed.err ==
        "bankcheck: one run has warps of one width: sm_90 has 32 lanes, gfx942 64; run it with --arch sm_90, "
        "and again with --arch gfx942\n");
  CHECK(emulate("--arch gfx942,gfx1100 " + source("missing")).code == 3);
  CHECK(emulate("--arch sm_90,gfx1100,h200 " + source("missing")).code == 3);
}

TEST_CASE("emulate/programs/restrict_argument", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "program.cu").string();
  std::ofstream(file) << "__global__ void k(int* out) { *out = 5; }\n"
                         "void run(int* __restrict__ out) { k<<<1, 1>>>(out); }\n"
                         "int main() {\n  int* out;\n  cudaMallocManaged(&out, 4);\n  run(out);\n"
                         "  cudaDeviceSynchronize();\n  printf(\"%d\\n\", *out);\n}\n";
  CHECK_THAT(ended(0, emulate(file)).out, has("5\n"));
}

TEST_CASE("emulate/programs/cached_build", "[emulate]") {
  CHECK(emulate(source("endings")).code == 0);
  // Without a PATH the compiler finds no assembler: only the cache can provide the program.
  const std::string nothing = "PATH=/no/such/folder";
  const auto newest = [] {
    std::filesystem::file_time_type time{};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(CACHE "/objects")) {
      if (entry.path().extension() == ".o") time = std::max(time, entry.last_write_time());
    }
    return time;
  };
  const auto before = newest();
  CHECK(emulate(source("endings"), nothing).code == 0);
  CHECK(newest() == before);
  CHECK(emulate("-D UNUSED " + source("endings"), nothing).code == 3);
  CHECK(emulate("-D UNUSED " + source("missing")).code == 3);
}

const std::string conflicts =
    "__global__ void k(int* out) {\n"
    "  __shared__ int a[2048];\n"
    "  a[threadIdx.x * 32] = 1;\n"
    "  __syncthreads();\n"
    "  out[threadIdx.x] = a[threadIdx.x * 32];\n"
    "}\n";
const std::string launch =
    "int main() { int* out; cudaMalloc(&out, 256); k<<<1, 64>>>(out); return cudaDeviceSynchronize(); }\n";

TEST_CASE("emulate/programs/instrumentation_stays", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "program.cu").string();
  const std::string hidden = "__attribute__((no_sanitize(\"thread\"), no_sanitize_coverage)) ";
  const auto conflicts_with = [&](const std::string& text, const std::string& options = "") {
    std::ofstream(file) << text;
    return emulate("--max-conflicts 0 -I '" + scratch.path().string() + "' " + options + " " + file);
  };
  const std::string found = "k has 124 conflicts";
  for (const std::string options : {"-flto", "-fno-sanitize=all,-fno-sanitize-coverage=trace-pc", "-Dthread_local="}) {
    CHECK_THAT(ended(1, conflicts_with(conflicts + launch, "--compiler-options " + options)).err, has(found));
  }
  const std::string pragma = "#pragma GCC optimize(\"no-sanitize=thread\")\n";
  CHECK_THAT(ended(1, conflicts_with(pragma + hidden + conflicts + launch)).err, has(found));

  // Whatever the reason: attributes of the emulator's own headers stay.
  const auto headers = scratch.path() / "bankwise" / "emulator";
  std::filesystem::create_directories(headers);
  for (const std::string attribute : {"__attribute__((no_sanitize(\"thread\"))) ", hidden.c_str()}) {
    std::ofstream(headers / "k.hpp") << attribute << conflicts;
    CHECK_THAT(ended(1, conflicts_with("#include <bankwise/emulator/k.hpp>\n" + launch)).err,
               has("compiled without the emulator's instrumentation"));
  }
  // The control: kernels that access nothing.
  std::ofstream(headers / "k.hpp") << conflicts;
  const std::string idle =
      "__global__ void idle(bool go) {\n  __shared__ int a[2];\n  if (go) a[threadIdx.x & 1] = 1;\n}\n";
  CHECK(conflicts_with(idle + "__global__ void none() {}\nint main() { none<<<1, 32>>>(); idle<<<1, 32>>>(false); }\n")
            .code == 0);
}

TEST_CASE("emulate/programs/lines_in_any_order", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  std::ofstream(folder + "/both.h") << "__attribute__((noinline)) inline int twice(int x) { return 2 * x; }\n"
                                       "__attribute__((noinline)) inline int thrice(int x) { return 3 * x; }\n";
  std::ofstream(folder + "/other.cpp") << "#include \"both.h\"\nint other(int x) { return thrice(twice(x)); }\n";
  std::ofstream(folder + "/first.cu") << "#include \"both.h\"\n"
                                         "int other(int);\n"
                                         "template <int N> __global__ void k(int* out) {\n"
                                         "  __shared__ int a[N];\n"
                                         "  a[threadIdx.x] = 1;\n"
                                         "  __syncthreads();\n"
                                         "  out[threadIdx.x] = a[N - 1 - threadIdx.x];\n"
                                         "}\n"
                                         "int main(int count, char**) {\n"
                                         "  int* out; cudaMalloc(&out, 128); k<32><<<1, 32>>>(out);\n"
                                         "  return twice(count) + thrice(count) + other(count) - 11;\n"
                                         "}\n";
  const std::string first = folder + "/first.cu", other = folder + "/other.cpp";
  for (const std::string& order : {first + " " + other, other + " " + first}) {
    CHECK_THAT(ended(0, emulate("--verbose " + order)).out, has("first.cu:5") && has("first.cu:7"));
  }
}

/// A new cache in a folder, with the compiled headers of the other tests.
std::string with_headers(const std::string& folder) {
  std::filesystem::create_directories(folder + "/cache");
  std::filesystem::create_directory_symlink(CACHE "/headers", folder + "/cache/headers");
  return folder + "/cache";
}

/// How many processes have all these words in their command lines.
std::size_t processes_named(const std::vector<std::string>& words) {
  std::size_t processes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string line = text_of(entry.path() / "cmdline");
    const auto has = [&](const std::string& word) { return line.find(word) != std::string::npos; };
    processes += std::all_of(words.begin(), words.end(), has) ? 1 : 0;
  }
  return processes;
}

TEST_CASE("emulate/programs/ended_while_compiling", "[emulate]") {
  CHECK(emulate(source("endings")).code == 0);  // its header is compiled
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string(), file = folder + "/program.cu";
  const std::string cache = "emulate --cache '" + with_headers(folder) + "' --max-conflicts 0 ";
  std::filesystem::create_directories(folder + "/tmp");
  {
    std::ofstream slow(file);
    slow << "template <int N> constexpr long slow() {\n  long sum = N;\n"
            "  for (int i = 0; i < 200; ++i) {\n    for (int k = 0; k < 20000; ++k) sum += k;\n  }\n"
            "  return sum;\n}\n";
    for (int i = 0; i < 20; ++i) slow << "static_assert(slow<" << i << ">() > 0);\n";
    slow << "__global__ void k(int*) {}\n" << launch;
  }
  StartedProgram started("TMPDIR='" + folder + "/tmp' exec '" SAMPLES_DIRECTORY "/bankcheck' " + cache + file);
  started.wait_until([&] { return processes_named({folder, "cc1plus", "-fpreprocessed"}) == 1; });
  CHECK(kill(started.process(), SIGTERM) == 0);
  started.exit_code();
  started.wait_until([&] { return processes_named({folder}) == 0 && std::filesystem::is_empty(folder + "/tmp"); });
  std::ofstream(file) << conflicts << launch;
  CHECK_THAT(ended(1, bankcheck(cache + file)).err, has("k has 124 conflicts"));
}

TEST_CASE("emulate/programs/killed", "[emulate]") {
  CHECK(emulate(source("endings")).code == 0);  // its header is compiled
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string(), file = folder + "/program.cu";
  const std::string arguments =
      "emulate --cache '" + with_headers(folder) + "' --max-conflicts 0 --json '" + folder + "/report.json' " + file;
  const auto write_source = [&](unsigned number) {  // each has its own number of conflicts
    std::ofstream(file) << "#include <unistd.h>\n"
                           "__global__ void k(int* out) {\n"
                           "  __shared__ int a[2048];\n"
                           "  for (int i = 0; i < "
                        << number + 1
                        << "; ++i) {\n"
                           "    a[threadIdx.x * 32] = i;\n"
                           "    __syncthreads();\n"
                           "  }\n"
                           "  if (threadIdx.x == 64) *out = a[0];\n"
                           "}\n"
                           "int main() {\n"
                           "  int* out;\n"
                           "  cudaMalloc(&out, 256);\n"
                           "  k<<<1, 64>>>(out);\n"
                           "  usleep(100000);\n"
                           "}\n";
  };
  kill_at_random_moments(
      folder,
      [&](unsigned number) {
        write_source(number);
        return "'" SAMPLES_DIRECTORY "/bankcheck' " + arguments + "";
      },
      [&](unsigned number) {
        write_source(number);
        CHECK_THAT(ended(1, bankcheck(arguments)).err,
                   has("k has " + bankwise::support::grouped(62 * (number + 1)) + " conflicts"));
      });
}

}  // namespace
