// Programs of HIP: how they are recognized, their waves, and what the reports say of them.
#include <fstream>

#include "bankcheck/emulate/build.hpp"
#include "tests/bankcheck/emulate/emulated_program.hpp"

namespace {

const std::string hip_program = "'" PROGRAMS "/hip.hip'";

TEST_CASE("emulate/hip/waves", "[emulate]") {
  const Outcome both = ended(0, emulate("--arch gfx1100,gfx942 " + hip_program));
  CHECK_THAT(both.out, has("gfx942 9.4\nright\n") && has("gfx1100 11.0\nright\n"));
  CHECK(both.err == "bankcheck: now on gfx942\nbankcheck: now on gfx1100\n");
  CHECK(both.out.find("gfx942 9.4") < both.out.find("gfx1100 11.0"));
  CHECK_THAT(both.out, has("lanes: 1 launch, 1 block of 64 threads"));
  // Without --arch.
  CHECK_THAT(ended(0, emulate(hip_program)).out, has("gfx942 9.4\nright\n"));
  CHECK_THAT(ended(2, emulate("--json - --arch gfx1100,gfx942 " + hip_program)).err,
             has("need one run each, and the options name one file for both; name one --arch"));
}

TEST_CASE("emulate/hip/reductions_of_a_block", "[emulate]") {
  const auto counted = [](const std::string& options, const std::string& operation) {
    const Outcome outcome = ended(0, emulate(options + "--json - --kernel 'reduce<int, 256>' " + source("reductions")));
    CHECK_THAT(outcome.err, has("right\n"));
    return numbers(Checked{outcome, nlohmann::json::parse(outcome.out)}.on("reduce<int, 256>"), "Sum(value)",
                   operation);
  };
  if (bankwise::emulate::find_in_toolkit("include/cccl/cub").empty()) {
    // As CUB has it: the first lane of each warp stores, and the first thread loads the results of the other warps.
    CHECK(counted("", "store") == Numbers{8, 8, 8, 8, 0});
    CHECK(counted("", "load") == Numbers{7, 7, 7, 7, 0});
  }
  // As rocPRIM has it: lanes of the first wave load together.
  CHECK(counted("--hip ", "store") == Numbers{4, 4, 4, 4, 0});
  CHECK(counted("--hip ", "load") == Numbers{1, 4, 1, 1, 0});
  CHECK(counted("--hip --arch gfx1100 ", "load") == Numbers{1, 8, 1, 1, 0});
}

/// A kernel whose lanes read a column, with the names of CUDA or HIP.
std::string column(const std::string& api) {
  const std::string device_code =
      "__global__ void column(float* out) {\n"
      "  __shared__ float a[32 * 64];\n"
      "  for (int i = threadIdx.x; i < 32 * 64; i += 64) a[i] = i;\n"
      "  __syncthreads();\n"
      "  out[threadIdx.x] = a[threadIdx.x * 32 % 2048];\n"
      "}\n";
  return "#include <" + std::string(api == "hip" ? "hip/hip_runtime.h" : "cuda_runtime.h") + ">\n#include <cstdio>\n" +
         device_code + "int main() {\n  float* out;\n  if (" + api + "Malloc(&out, 256) != " + api +
         "Success) return 1;\n  column<<<1, 64>>>(out);\n  printf(\"%d\\n\", warpSize);\n  return " + api +
         "DeviceSynchronize();\n}\n";
}

TEST_CASE("emulate/hip/same_passes_as_cuda", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string cuda = (scratch.path() / "cuda.cu").string(), hip = (scratch.path() / "hip.cu").string();
  std::ofstream(cuda) << column("cuda");
  std::ofstream(hip) << column("hip");
  for (const std::string arch : {"gfx942", "gfx1100"}) {
    const auto report_of = [&](const std::string& file) {
      const Outcome outcome = ended(0, emulate("--json - --arch " + arch + " " + file));
      return Checked{outcome, nlohmann::json::parse(outcome.out)};
    };
    const Checked of_cuda = report_of(cuda), of_hip = report_of(hip);
    for (const std::string operation : {"store", "load"}) {
      const std::string line = operation == "store" ? "a[i] = i" : "out[threadIdx.x] = a";
      const Numbers expected = numbers(of_cuda.on("column"), line, operation);
      CHECK(numbers(of_hip.on("column"), line, operation) == expected);
      if (operation == "load") CHECK(expected[2] > 2 * expected[3]);  // the control: there are conflicts
    }
    CHECK_THAT(of_cuda.outcome.err, has("32\n"));
    CHECK_THAT(of_hip.outcome.err, has(arch == "gfx942" ? "64\n" : "32\n"));
  }
}

TEST_CASE("emulate/hip/recognized", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const auto written = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  };
  const std::string is_hip =
      "#ifdef __HIP_PLATFORM_AMD__\n#define API \"hip\"\n#else\n#define API \"cuda\"\n#endif\n"
      "__global__ void k() {}\nint main() { k<<<1, 1>>>(); puts(API); }\n";
  const std::string include = "#include <hip/hip_runtime.h>\n";
  const std::string chooses =
      "#if defined(__CUDACC__)\n#include <cuda_runtime.h>\n#else\n#include <hip/hip_runtime.h>\n#endif\n";
  written("inner.h", " #  include \"hip/hip_runtime.h\"\n");
  const std::string direct = written("direct.cu", include + is_hip), source = written("source.cpp", include + is_hip),
                    indirect = written("indirect.cu", "#include \"inner.h\"\n" + is_hip),
                    plain = written("plain.cu", is_hip), both = written("both.cu", chooses + is_hip),
                    chosen = written("chosen.cpp", chooses + is_hip), named = written("named.hip", is_hip);
  for (const std::string& words :
       {direct, source, indirect, named, "--hip " + plain, "-x hip " + plain, "--hip " + both, "--hip " + chosen}) {
    CHECK_THAT(ended(0, emulate(words)).out, has("hip\n"));
  }
  for (const std::string& words : {plain, both, "-x cu " + both}) {
    CHECK_THAT(ended(0, emulate(words)).out, has("cuda\n"));
  }
  std::filesystem::create_directories(folder + "/hip");  // no header of HIP, although it is in such a folder
  CHECK_THAT(ended(0, emulate(written("hip/both.cu", chooses + is_hip))).out, has("cuda\n"));
  // HIP for GPUs of NVIDIA: the macros of nvcc, and HIP's names.
  const std::string nvidia = written("nvidia.cu", include +
                                                      "#if !defined(__HIP_PLATFORM_NVIDIA__) || !defined(__CUDACC__)\n"
                                                      "#error these are no macros of hipcc for NVIDIA\n#endif\n"
                                                      "__global__ void k(unsigned* out) { *out = __ballot(1); }\n"
                                                      "int main() {\n  unsigned* out;\n  hipMallocManaged(&out, 4);\n"
                                                      "  k<<<1, 32>>>(out);\n  hipDeviceSynchronize();\n"
                                                      "  printf(\"%x\\n\", *out);\n}\n");
  CHECK_THAT(ended(0, emulate("--arch sm_80 " + nvidia)).out, has("ffffffff\n"));
}

TEST_CASE("emulate/hip/messages", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string(), file = folder + "/program.hip";
  const auto run = [&](const std::string& text, const std::string& options = "") {
    std::ofstream(file) << "#include <hip/hip_runtime.h>\n" << text;
    return emulate(options + file);
  };
  const Outcome twice = ended(1, run("__global__ void k() {}\nint main() {\n  int* p;\n  hipMalloc(&p, 4);\n"
                                     "  k<<<1, 1>>>();\n  hipFree(p);\n  hipFree(p);\n}\n"));
  CHECK_THAT(twice.err, has("hipFree") && !has("cudaFree"));
  CHECK_THAT(ended(3, run("int main() { hipIpcMemHandle_t handle; }\n")).err,
             has("program.hip:2: hipIpcMemHandle_t is not emulated"));
  CHECK_THAT(
      ended(3, run("__global__ void k(float* x) { asm volatile(\"v_mov_b32_e32 %0, %1\" : \"=v\"(*x) : \"v\"(*x)); }\n"
                   "int main() {}\n"))
          .err,
      has("program.hip:2: the instruction v_mov_b32_e32 is not emulated"));

  // What lanes of a wave exchange needs no __syncwarp(), but other waves need a barrier.
  const auto exchange = [](int distance) {
    return "__global__ void k(int* out) {\n  __shared__ int a[256];\n  a[threadIdx.x] = threadIdx.x;\n"
           "  out[threadIdx.x] = a[threadIdx.x ^ " +
           std::to_string(distance) +
           "];\n}\nint main() { int* out; hipMalloc(&out, 1024); k<<<1, 256>>>(out); hipDeviceSynchronize(); }\n";
  };
  CHECK(run(exchange(32)).code == 0);
  CHECK_THAT(ended(1, run(exchange(32), "--arch gfx1100 ")).out, has("race"));
  CHECK_THAT(ended(1, run(exchange(64))).out, has("race"));

  // A program that was built for other waves.
  const std::string kept = folder + "/kept";
  ended(0, emulate("-o " + kept + " " + hip_program));
  ended(0, bankcheck("emulate --arch gfx942 -- " + kept));
  const Outcome narrow = bankcheck("emulate --arch gfx1100 -- " + kept);
  CHECK(narrow.code != 0);
  CHECK_THAT(narrow.err, has("built for waves of 64 lanes, and gfx1100 has 32; name the --arch"));
}

}  // namespace
