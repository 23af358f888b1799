// What bankcheck emulate takes of nvcc: options, macros, sources for the host, object files.
#include "bankcheck/emulate/build.hpp"
#include "tests/bankcheck/emulate/emulated_program.hpp"

namespace {

using bankwise::emulate::OwnOption;
using Words = std::vector<std::string>;

Words own(const Words& words) {
  return bankwise::emulate::without_compiler_spelling(words, [](const std::string& name) {
    if (name == "--verbose") return OwnOption::flag;
    const bool has_value = name == "--arch" || name == "--std" || name == "--cubin" || name == "--kernel";
    return has_value ? OwnOption::with_value : OwnOption::none;
  });
}

TEST_CASE("emulate/compilers/options_of_nvcc", "[emulate]") {
  CHECK(own({"-O3", "-lineinfo", "-g", "-use_fast_math", "--ptxas-options=-v", "-Xptxas", "-v", "-Wno-all", "-rdc=true",
             "-maxrregcount", "32", "-lcudart", "main.cu"}) == Words{"main.cu"});
  CHECK(own({"-G", "-dc", "--extended-lambda", "--expt-relaxed-constexpr"}) ==
        Words{"-D", "__CUDACC_DEBUG__", "-D", "__CUDACC_RDC__", "-D", "__CUDACC_EXTENDED_LAMBDA__", "-D",
              "__CUDACC_RELAXED_CONSTEXPR__"});
  CHECK(own({"-Iinclude", "-I", "-G", "-D", "G", "-DX=1", "-lm", "-x", "cu", "-o", "main"}) ==
        Words{"-Iinclude", "-I", "-G", "-D", "G", "-DX=1", "-lm", "-x", "cu", "-o", "main"});
  CHECK(own({"-Xcompiler", "-Wall,-fopenmp -O2", "-Llib", "-L", "lib", "-fopenmp", "-isystem", "a"}) ==
        Words{"--compiler-options=-Wall,-fopenmp,-O2", "--compiler-options=-Llib", "--compiler-options=-Llib",
              "--compiler-options=-fopenmp", "-I", "a"});
  for (const std::string older : {"c++11", "c++14", "gnu++14", "c++17"}) {
    CHECK(own({"-std=" + older}) == Words{"--std", "c++17"});
    CHECK(own({"--std", older}) == Words{"--std", "c++17"});
    CHECK(own({"--std=" + older}) == Words{"--std=c++17"});
  }
  CHECK(own({"-std", "c++20"}) == Words{"--std", "c++20"});
  CHECK(own({"--std", "c++03"}) == Words{"--std", "c++03"});  // which CLI11 refuses
  // bankcheck's own options keep their meaning, and their values are no options.
  CHECK(own({"--verbose", "--cubin", "nvcc", "--kernel", "-G"}) ==
        Words{"--verbose", "--cubin", "nvcc", "--kernel", "-G"});
  CHECK(own({"--nonsense", "-q"}) == Words{"--nonsense", "-q"});
}

TEST_CASE("emulate/compilers/architecture", "[emulate]") {
  CHECK(own({"-arch=sm_80"}) == Words{"--arch", "sm_80"});
  CHECK(own({"-arch", "compute_90a"}) == Words{"--arch", "sm_90"});
  CHECK(own({"--gpu-architecture=native", "-arch=all"}).empty());
  CHECK(own({"-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_100,code=[sm_100,compute_100]",
             "--generate-code", "arch=compute_90,code=sm_90"}) == Words{"--arch", "sm_100"});
  CHECK(own({"--offload-arch=gfx942:xnack-", "--offload-arch=gfx1100"}) == Words{"--arch", "gfx942,gfx1100"});
  CHECK(own({"-arch=sm_80", "--arch", "sm_90"}) == Words{"--arch", "sm_90"});
}

TEST_CASE("emulate/compilers/refused_options", "[emulate]") {
  for (const std::string option : {"-c", "-ptx", "-cubin", "--fatbin", "-E", "-M", "-shared"}) {
    const Outcome outcome = ended(2, emulate(option + " " + source("endings")));
    CHECK(outcome.err ==
          "bankcheck: " + option + " makes no program to run: bankcheck emulate builds a program and runs it\n");
  }
  CHECK_THAT(ended(2, emulate(source("endings") + " -arch")).err, ContainsSubstring("'-arch' needs a value"));
  CHECK_THAT(ended(2, emulate("-arch=sm_999 " + source("endings"))).err, ContainsSubstring("no architecture 'sm_999'"));
}

const std::string program_of_nvcc =
    "#if !defined(__CUDACC__) || !defined(__NVCC__) || __CUDACC_VER_MAJOR__ < 12 || __CUDACC_VER_MINOR__ < 0\n"
    "#error these are macros of nvcc\n"
    "#endif\n"
    "#ifndef __CUDACC_EXTENDED_LAMBDA__\n"
    "#error --extended-lambda is missing\n"
    "#endif\n"
    "float of_host(float);\n"
    "template <class F> __global__ void each(float* out, F f) {\n"
    "  __shared__ float s[32];\n"
    "  s[threadIdx.x] = f(threadIdx.x);\n"
    "  __syncthreads();\n"
    "  out[threadIdx.x] = s[31 - threadIdx.x];\n"
    "}\n"
    "int main() {\n"
    "  float* out; cudaMallocManaged(&out, 128);\n"
    "  each<<<1, 32>>>(out, [=] __device__(int i) { return 2.f * i; });\n"
    "  cudaDeviceSynchronize();\n"
    "  printf(\"%g %g\\n\", out[0], of_host(3));\n"
    "}\n";

TEST_CASE("emulate/compilers/host_source", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string(), program = folder + "/program.cu", host = folder + "/host.cpp";
  std::ofstream(program) << program_of_nvcc;
  const auto with_host = [&](const std::string& text, const std::string& options = "") {
    std::ofstream(host) << text;
    return emulate("-std=c++14 -O3 -arch=sm_80 --extended-lambda " + options + program + " " + host);
  };
  // Nothing of CUDA: its names are free.
  const std::string plain =
      "#if defined(__CUDACC__) || defined(__CUDA_ARCH__)\n#error this is for kernels\n#endif\n"
      "typedef struct { float x, y, z, w; } float4;\nfloat4 g;\nint threadIdx;\n"
      "inline float max(float a, float b) { return a > b ? a : b; }\n"
      "float of_host(float x) { g.x = x; return max(g.x, 1.f) + threadIdx; }\n";
  const std::string kept = folder + "/bin/kept";
  const Outcome outcome = ended(0, with_host(plain, "-o " + kept + " "));
  CHECK_THAT(outcome.out, ContainsSubstring("62 3\n") && ContainsSubstring("each<main::{lambda(int)"));
  CHECK_THAT(outcome.out, ContainsSubstring("on sm_80"));
  CHECK(std::filesystem::is_regular_file(kept));
  // The runtime API without the functions of kernels, which helper_math.h then defines itself.
  ended(0, with_host("#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n"
                     "inline int max(int a, int b) { return a > b ? a : b; }\n"
                     "inline float rsqrtf(float x) { return 1 / x; }\n"
                     "float of_host(float x) {\n  float4 v = make_float4(x, 2, 3, 4);\n  void* p;\n"
                     "  return cudaMalloc(&p, 16) + cudaFree(p) + v.x * rsqrtf(2.f) * max(1, 2);\n}\n"));
  // Its object file.
  std::ofstream(host) << plain;
  REQUIRE(std::system(("g++ -c " + host + " -o " + folder + "/host.o").c_str()) == 0);
  CHECK_THAT(ended(0, emulate("--extended-lambda " + program + " " + folder + "/host.o")).out,
             ContainsSubstring("62 3\n"));
  CHECK_THAT(ended(3, emulate(program + " " + host)).err, ContainsSubstring("--extended-lambda is missing"));

  const std::string kernel = "__global__ void k() {}\nfloat of_host(float x) { k<<<1, 1>>>(); return x; }\n";
  for (const std::string header : {"", "#include <cuda_runtime.h>\n"}) {
    const Outcome refused = ended(3, with_host(header + kernel));
    CHECK_THAT(refused.err, ContainsSubstring("host.cpp:") && ContainsSubstring("; -x cu makes it a CUDA source\n"));
    CHECK_THAT(ended(0, with_host(header + kernel, "-x cu ")).out, ContainsSubstring("62 3\n"));
  }
}

}  // namespace
