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
  CHECK(own({"-Rpass-analysis=kernel-resource-usage", "-Rpass=inline", "main.hip"}) == Words{"main.hip"});
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
  CHECK_THAT(ended(2, emulate(source("endings") + " -arch")).err, has("'-arch' needs a value"));
  CHECK_THAT(ended(2, emulate("-arch=sm_999 " + source("endings"))).err, has("no architecture 'sm_999'"));
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
  CHECK_THAT(outcome.out, has("62 3\n") && has("each<main::{lambda(int)"));
  CHECK_THAT(outcome.out, has("on sm_80"));
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
  CHECK_THAT(ended(0, emulate("--extended-lambda " + program + " " + folder + "/host.o")).out, has("62 3\n"));
  CHECK_THAT(ended(3, emulate(program + " " + host)).err, has("--extended-lambda is missing"));

  const std::string kernel = "__global__ void k() {}\nfloat of_host(float x) { k<<<1, 1>>>(); return x; }\n";
  for (const std::string header : {"", "#include <cuda_runtime.h>\n"}) {
    CHECK_THAT(ended(3, with_host(header + kernel)).err, has("host.cpp:") && has("; -x cu makes it a CUDA source\n"));
    CHECK_THAT(ended(0, with_host(header + kernel, "-x cu ")).out, has("62 3\n"));
  }
}

/// Runs a shell command in a folder. Returns its exit code and what it printed.
Outcome in_folder(const std::string& folder, const std::string& command) {
  INFO(command);
  return in_shell("cd '" + folder + "' && ", command);
}

const std::string compiler = "'" SAMPLES_DIRECTORY "/bankcheck' nvcc --cache '" CACHE "' ";

TEST_CASE("emulate/compilers/makefile", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
  };
  write("k.h", "void run(int*);\nint of_host(int);\n");
  write("main.cu",
        "#include \"k.h\"\nint main() {\n  int* p;\n  cudaMallocManaged(&p, 256);\n  run(p);\n"
        "  cudaDeviceSynchronize();\n  printf(\"%d %d\\n\", p[3], of_host(4));\n}\n");
  write("kernel.cu",
        "#include \"k.h\"\nextern __shared__ int s[];\n__device__ int twice(int);\n"
        "__global__ void k(int* p) {\n  s[threadIdx.x * 2] = twice(threadIdx.x);\n  __syncthreads();\n"
        "  p[threadIdx.x] = s[(63 - threadIdx.x) * 2];\n}\n"
        "void run(int* p) { k<<<1, 64, 512>>>(p); }\n");
  write("device.cu", "__device__ int twice(int x) { return 2 * x; }\n");
  write("host.cpp", "int of_host(int x) { return x + 1; }\n");
  const std::string flags = "-O3 -arch=sm_80 -std=c++14 -lineinfo -MD -MP ";
  for (const std::string& step : {compiler + flags + "-dc main.cu -o main.o", compiler + flags + "-dc kernel.cu",
                                  compiler + "-c device.cu host.cpp", compiler + "-lib -o libdevice.a device.o",
                                  compiler + "-dlink main.o kernel.o -o link.o",
                                  compiler + "-o program main.o kernel.o host.o link.o -L. -ldevice -lm -lcudart"}) {
    ended(0, in_folder(folder, step));
  }
  CHECK_THAT(text_of(folder + "/kernel.d"), has("kernel.o: kernel.cu") && has(" k.h"));
  CHECK(in_folder(folder, "./program").out == "120 5\n");
  const Outcome report = bankcheck("emulate --max-conflicts 0 -- '" + folder + "/program'");
  CHECK(report.code == 1);
  CHECK_THAT(report.err, has("k has 4 conflicts"));

  // A library that has changed is linked again.
  write("device.cu", "__device__ int twice(int x) { return 3 * x; }\n");
  for (const std::string& step : {compiler + "-c device.cu", compiler + "-lib -o libdevice.a device.o",
                                  compiler + "-o program main.o kernel.o host.o -L. -ldevice"}) {
    ended(0, in_folder(folder, step));
  }
  CHECK(in_folder(folder, "./program").out == "180 5\n");

  CHECK_THAT(in_folder(folder, compiler + "-M kernel.cu").out, has("kernel.o: kernel.cu"));
  CHECK_THAT(in_folder(folder, compiler + "--version").out, has("release 12.8, V12.8.93"));
  write("device.cu", "__device__ int twice(int x) { return y; }\n");
  CHECK_THAT(ended(3, in_folder(folder, compiler + "-c device.cu")).err, has("device.cu:1: "));
  CHECK(ended(2, in_folder(folder, compiler + "-ptx device.cu")).err ==
        "bankcheck: -ptx makes no program to run: bankcheck compiles for the CPU\n");
  CHECK(in_folder(folder, compiler + "-c main.cu kernel.cu -o both.o").code == 2);
  CHECK(in_folder(folder, compiler + "-c missing.cu").code == 2);
  CHECK(in_folder(folder, compiler).code == 2);
}

TEST_CASE("emulate/compilers/hipcc", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const std::string hipcc = "'" SAMPLES_DIRECTORY "/bankcheck' hipcc --cache '" CACHE "' ";
  std::ofstream(folder + "/main.cpp") << "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
                                         "__global__ void k() {}\n"
                                         "int main() { k<<<1, 64>>>(); printf(\"%d\\n\", warpSize); }\n";
  for (const auto& [option, lanes] :
       {std::pair<std::string, std::string>{"", "64\n"}, {"--offload-arch=gfx1100 ", "32\n"}}) {
    ended(0, in_folder(folder, hipcc + option + "-c main.cpp -o main.o"));
    ended(0, in_folder(folder, hipcc + option + "main.o -o program -lamdhip64"));
    CHECK(in_folder(folder, "./program").out == lanes);
  }
  CHECK_THAT(in_folder(folder, hipcc + "-V").out, has("HIP version"));
  // A library before the source whose kernel calls its function.
  std::ofstream(folder + "/device.hip") << "__device__ int twice(int x) { return 2 * x; }\n";
  std::ofstream(folder + "/caller.hip") << "#include <hip/hip_runtime.h>\n__device__ int twice(int x);\n"
                                           "__global__ void k(int* x) { *x = twice(*x); }\n"
                                           "int main() { int* x; hipMalloc(&x, 4); k<<<1, 1>>>(x); }\n";
  ended(0, in_folder(folder, hipcc + "-fgpu-rdc -c device.hip && ar rcs libdevice.a device.o"));
  ended(0, in_folder(folder, hipcc + "-fgpu-rdc libdevice.a caller.hip -o caller && ./caller"));
}

TEST_CASE("emulate/compilers/names_of_members", "[emulate]") {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "main.cu").string();
  const auto built = [&](const std::string& statement) {
    std::ofstream(file) << "template <class T> struct Pair { T a, b; };\n"
                           "template <class T> struct Solver {\n  using Pair = Pair<T>;\n  Pair pair{};\n};\n"
                           "__global__ void k(Solver<int> solver) {}\n"
                           "int main() {\n  k<<<1, 1>>>({});\n" +
                               statement + "}\n";
    return emulate(file);
  };
  ended(0, built(""));
  // What nvcc refuses, too, is still an error.
  CHECK_THAT(ended(3, built("  void* any = nullptr;\n  int* numbers = any;\n")).err, has("invalid conversion from"));
}

}  // namespace
