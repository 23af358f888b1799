// The patch that --patch writes, applied by git to a copy of the sources, and run.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/catch_any.hpp"

namespace {

using nlohmann::json;

using Files = std::map<std::string, std::string>;  // texts, by name; the program is a.cu

/// A program in a directory of its own.
class Patched {
 public:
  /// `fit_options`: only if it fits.
  explicit Patched(const Files& files, std::string options = "", std::string fit_options = "")
      : options_(std::move(options)), fit_options_(std::move(fit_options)) {
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories((folder() / name).parent_path());
      std::ofstream(folder() / name, std::ios::binary) << text;
    }
  }
  std::filesystem::path folder() const { return scratch_.path() / "src"; }
  std::string patch() const { return text_of(scratch_.path() / "fix.diff"); }

  Outcome run(const std::string& more) {
    return bankcheck("emulate --cache '" CACHE "' --sources '" + folder().string() + "' " + options_ + " " + more +
                     " '" + (folder() / "a.cu").string() + "'");
  }
  Outcome write_patch() { return run("--patch '" + (scratch_.path() / "fix.diff").string() + "' " + fit_options_); }
  json report() { return json::parse(ended(0, run("--fit --json - " + fit_options_)).out); }
  int apply() const {
    const std::string command = "cd '" + folder().string() + "' && git apply ../fix.diff";
    return std::system(command.c_str());
  }

  /// Applies the patch, and requires that each kernel then has the predicted passes, and that the output is the same.
  void check_prediction() {
    const Outcome before = ended(0, write_patch());
    const json predicted = report();
    INFO(before.err << patch());
    REQUIRE(apply() == 0);
    const json observed = report();
    REQUIRE(predicted.at("kernels").size() == observed.at("kernels").size());
    for (std::size_t k = 0; k < predicted.at("kernels").size(); ++k) {
      const json& row = predicted.at("kernels").at(k).at("fit").at("architectures").at(0);
      CHECK(row.at("passes_after") < row.at("passes_before"));
      CHECK(observed.at("kernels").at(k).at("architectures").at(0).at("passes") == row.at("passes_after"));
    }
    CHECK(results_of(ended(0, run("")).out) == results_of(before.out));
  }

 private:
  /// The line that the program prints.
  static std::string results_of(const std::string& out) {
    const auto begin = out.find("results ");
    REQUIRE(begin != std::string::npos);
    return out.substr(begin, out.find('\n', begin) - begin);
  }

  ScratchDirectory scratch_;
  std::string options_, fit_options_;
};

/// Leaves only swizzles for an array of 32 x 32 words.
const std::string no_longer_rows = "--max-shared 4096";

/// A main program for kernels of 1,024 words.
const std::string host = R"(
#include <cstdio>
template <class Launch>
int run(Launch launch) {
  static float results[1024];
  float* out;
  cudaMalloc(&out, sizeof results);
  launch(out);
  cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < 1024; ++i) sum += i * results[i];
  return printf("results %.0f\n", sum) < 0;
}
)";

const std::string columns = R"(
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = x + 10 * y;
  __syncthreads();
  out[y * 32 + x] = s[x][y];
}
)";

std::string square_of(const std::string& type, const std::string& side, const std::string& head = "") {
  return head + "__global__ void k(float* out) {\n  __shared__ " + type + " s[" + side + "][" + side + "];" + columns +
         "int main() { return run([](float* out) { k<<<1, dim3(32, 32)>>>(out); }); }\n";
}

const std::string boxes = R"(
__global__ void k(float* out) {
  __shared__ double s[BL + 2][BL + 2][BL + 2];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  s[x + 1][y + 1][z + 1] = x + 10 * y + 100 * z;
  __syncthreads();
  out[(z * 4 + y) * 4 + x] = s[x + 1][y + 1][z + 1] * 2;
}
int main() { return run([](float* out) { k<<<1, dim3(4, 4, 4)>>>(out); }); }
)";

TEST_CASE("fit/patch/bounds_from_elsewhere", "[fit]") {
  const std::string include = host + "#include \"def.h\"\n";
  SECTION("a macro of a header") {
    Patched({{"def.h", "#define BL 4\n"}, {"a.cu", include + boxes}}).check_prediction();
  }
  SECTION("a constant of a header") {
    Patched({{"def.h", "static const int BL = 4;\n"}, {"a.cu", include + boxes}}).check_prediction();
  }
  SECTION("the command line") { Patched({{"a.cu", host + boxes}}, "-D BL=4").check_prediction(); }
  SECTION("template parameters") {
    const std::string text = host +
                             "template <typename T, int W, int H>\n__global__ void k(T* out) {\n"
                             "  __shared__ T s[H][W];" +
                             columns +
                             "int main() { return run([](float* out) { k<float, 32, 32>"
                             "<<<1, dim3(32, 32)>>>(out); }); }\n";
    Patched({{"a.cu", text}}).check_prediction();
  }
  SECTION("a class template") {
    const std::string text = host +
                             "template <int W>\nstruct Tile {\n  static constexpr int side = W;\n"
                             "  static __device__ void turn(float* out) {\n  __shared__ float s[side][side];" +
                             columns +
                             "};\n__global__ void k(float* out) { Tile<32>::turn(out); }\n"
                             "int main() { return run([](float* out) { k<<<1, dim3(32, 32)>>>(out); }); }\n";
    Patched({{"a.cu", text}}).check_prediction();
  }
  SECTION("a type") {
    Patched({{"a.cu", square_of("Word", "Side<int>::value",
                                host + "using Word = float;\n"
                                       "template <class> struct Side { enum { value = 32 }; };\n")}})
        .check_prediction();
  }
}

TEST_CASE("fit/patch/files", "[fit]") {
  const std::string main_program =
      "#include \"sub/my k.cuh\"\nint main() { return run([](float* out) { k<<<1, dim3(32, 32)>>>(out); }); }\n";
  std::string kernel = "__global__ void k(float* out) {\n  __shared__ float s[32][32];  // a tile" + columns;
  SECTION("a header in a folder") {
    Patched({{"a.cu", host + main_program}, {"sub/my k.cuh", kernel}}).check_prediction();
  }
  SECTION("no end of the last line") {
    kernel.resize(kernel.size() - 3);  // the bracket is on the last changed line
    Patched program({{"a.cu", host + main_program}, {"sub/my k.cuh", kernel + " }"}}, "", no_longer_rows);
    program.check_prediction();
    CHECK_THAT(program.patch(), has("\\ No newline at end of file\n"));
  }
  SECTION("lines that end with CR and LF") {
    std::string text;
    for (const char c : kernel) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
    Patched program({{"a.cu", host + main_program}, {"sub/my k.cuh", text}}, "", no_longer_rows);
    program.check_prediction();
    const std::string after = text_of(program.folder() / "sub/my k.cuh");
    CHECK(std::count(after.begin(), after.end(), '\n') == std::count(after.begin(), after.end(), '\r'));
  }
}

TEST_CASE("fit/patch/signed_and_unsigned_indices", "[fit]") {
  for (const std::string type : {"int", "unsigned", "unsigned char", "long long", "size_t"}) {
    INFO(type);
    const std::string text = host + "__global__ void k(float* out) {\n  __shared__ float s[1024];\n  " + type +
                             " x = threadIdx.x, y = threadIdx.y, one = 1;\n"
                             "  s[(y + one - 1) * 32 + x] = x - 10 * float(y);\n  __syncthreads();\n"
                             "  if (x + one > 0) out[y * 32 + x] = s[x * 32 - one + y + 1];\n}\n"
                             "int main() { return run([](float* out) { k<<<1, dim3(32, 32)>>>(out); }); }\n";
    Patched({{"a.cu", text}}).check_prediction();
  }
}

TEST_CASE("fit/patch/refusals", "[fit]") {
  const std::string body = "  int x = threadIdx.x, y = threadIdx.y;\n  s[y][x] = x;\n  __syncthreads();\n";
  const std::string main_program = "int main() { return run([](float* out) { k<<<1, dim3(32, 32)>>>(out); }); }\n";
  const auto remark = [&](const std::string& use, const std::string& head = "") {
    Patched program({{"a.cu", head + "__global__ void k(float* out) {\n  __shared__ float s[32][32];\n" + body + use +
                                  "\n}\n" + host + main_program}},
                    "", no_longer_rows);
    const Outcome outcome = ended(0, program.write_patch());
    CHECK(program.patch().empty());
    return outcome.err;
  };
  const std::string begin = "bankcheck: --patch lacks changes: k: s: ";
  CHECK(remark("  out[y * 32 + threadIdx.x] = s[x++][y];") ==
        begin + "line 6: the index has a side effect; write it to a variable first\n");
  CHECK(remark("  float* all = s[x];\n  out[y * 32 + x] = all[y];") ==
        begin + "line 6: the array is used without all of its 2 indices; index its elements there\n");
  CHECK(remark("  out[y * 32 + x] = AT(x, y);", "#define AT(y, x) s[y][x]\n#define FIRST AT(0, 0)\n") ==
        begin + "line 1: the macro AT is used by another macro; change its text by hand\n");
  Patched clean(Files{{"a.cu",
                       "__global__ void k() { __shared__ int t[32]; t[threadIdx.x] = 1; }\n"
                       "int main() { k<<<1, 32>>>(); cudaDeviceSynchronize(); }\n"}});
  CHECK(ended(0, clean.write_patch()).err == "bankcheck: --patch is empty: no change is proposed\n");
}

TEST_CASE("fit/patch/what_can_be_written", "[fit]") {
  // An XOR of z needs other indices, which stand in a macro of a header; longer rows and planes need none.
  const std::string header = "#define S(z, y, x) s[z][y][x]\n";
  std::string text = boxes;
  for (auto at = text.find("s[x + 1][y + 1][z + 1]"); at != text.npos; at = text.find("s[x + 1][y + 1][z + 1]")) {
    text.replace(at, 22, "S(x + 1, y + 1, z + 1)");
  }
  const std::string main_text = host + "#include \"s.h\"\n#define BL 4\n" + text;
  Patched program({{"s.h", header}, {"a.cu", main_text}});
  program.check_prediction();
  CHECK_THAT(program.patch(), has("-  __shared__ double s[BL + 2][BL + 2][BL + 2];"));
  Patched none({{"s.h", header}, {"a.cu", main_text}}, "", "--max-shared 1728");
  CHECK_THAT(ended(0, none.write_patch()).err, has("in a header: the macro S names the array"));
}

TEST_CASE("fit/patch/instances_of_a_template", "[fit]") {
  const std::string kernel =
      "template <int W>\n__global__ void k(float* out) {\n  __shared__ float s[32][W];" + columns;
  const auto program_with = [&](const std::string& launches) {
    return Files{{"a.cu", host + kernel + "int main() { return run([](float* out) { " + launches + " }); }\n"}};
  };
  Patched both(program_with("k<32><<<1, dim3(32, 32)>>>(out); k<33><<<1, dim3(32, 32)>>>(out);"), "", no_longer_rows);
  CHECK_THAT(ended(0, both.write_patch()).err,
             has(": instances of this template have other lengths; specialize it first\n"));
  CHECK(both.patch().empty());
  Patched one(program_with("if (out) k<32><<<1, dim3(32, 32)>>>(out); else k<16><<<1, dim3(16, 16)>>>(out);"), "",
              no_longer_rows);
  (void)one.write_patch();
  CHECK_THAT(one.patch(), has("+  static_assert(W == 32, "));
  REQUIRE(one.apply() == 0);
  CHECK_THAT(ended(3, one.run("")).err, has("static assertion failed"));
}

/// Kernels of one line that read every second element, with a way to the array's elements.
std::string stride_of(const std::string& name, const std::string& head, const std::string& array,
                      const std::string& load) {
  return head + "__global__ void " + name + "(float* out) {\n  " + array +
         "\n  int i = threadIdx.x;\n  t[i] = i;\n  t[i + N] = 3 * i;\n  __syncthreads();\n  out[i] = out[i] + " + load +
         ";\n}\n";
}

TEST_CASE("fit/patch/one_change_for_all_instances", "[fit]") {
  const std::string load = "t[2 * i] + t[2 * i + 1]";
  SECTION("lengths and types of a template") {
    const std::string kernel = stride_of("k", "template <class T, int N>\n", "__shared__ T t[2 * N];", load);
    Patched program({{"a.cu", host + kernel +
                                  "int main() { return run([](float* out) { k<float, 64><<<1, 64>>>(out); k<int, "
                                  "256><<<1, 256>>>(out); k<float, 96><<<1, 96>>>(out); }); }\n"}});
    program.check_prediction();
    CHECK_THAT(program.patch(), has("+  __shared__ T t[2 * N + 2 * N / 32];"));
    CHECK_THAT(program.patch(), !has("static_assert"));
  }
  const auto strided = [](const std::string& head, const std::string& array, const std::string& stride) {
    return "template <" + head + ">\n__global__ void k(float* out) {\n  __shared__ " + array +
           ";\n  int i = threadIdx.x;\n  int at = " + stride +
           " * i;\n  t[at] = i;\n  __syncthreads();\n  out[32 * blockIdx.x + i] += t[at];\n}\n";
  };
  SECTION("a type of one byte, whose words the change takes apart") {
    Patched program({{"a.cu", host + strided("class T", "T t[1024]", "32") +
                                  "int main() { return run([](float* out) { k<float><<<1, 32>>>(out); "
                                  "k<signed char><<<1, 32>>>(out); }); }\n"}});
    program.check_prediction();
    CHECK_THAT(program.patch(), has("at += at >> 5;"));
  }
  SECTION("no pass more for an instance with conflicts, whatever the sum") {
    Patched program({{"a.cu", host + strided("int S", "float t[2048]", "S") +
                                  "int main() { return run([](float* out) { k<32><<<30, 32>>>(out); "
                                  "k<62><<<1, 32>>>(out); }); }\n"}});
    const json kernels = program.report().at("kernels");
    REQUIRE(kernels.size() == 2);
    for (const json& kernel : kernels) {
      const json& row = kernel.at("fit").at("architectures").at(0);
      CHECK(row.at("passes_after") <= row.at("passes_before"));
    }
    CHECK_THAT(ended(0, program.run("--fit")).out, has("120 passes instead of 1,920"));
  }
  SECTION("an array of a device function that two kernels call") {
    const std::string function = stride_of("k", "constexpr int N = 64;\n", "__shared__ float t[2 * N];", load);
    std::string device = function;
    device.replace(device.find("__global__"), 10, "__device__");
    Patched program(
        {{"a.cu", host + device +
                      "__global__ void a(float* out) { k(out); }\n"
                      "__global__ void b(float* out) { k(out + 64); }\n"
                      "int main() { return run([](float* out) { a<<<1, 64>>>(out); b<<<1, 64>>>(out); }); }\n"}});
    program.check_prediction();
  }
  SECTION("a function that gets the arrays of two kernels") {
    const std::string head =
        "constexpr int N = 64;\n__device__ float pair(const float* p, int i) { return p[2 * i] + p[2 * i + 1]; }\n";
    const std::string first = stride_of("a", head, "__shared__ float t[2 * N];", "pair(t, i)");
    const std::string second = stride_of("b", "", "__shared__ float t[4 * N];", "pair(t, i)");
    const auto launches = [](const std::string& text) {
      return "int main() { return run([](float* out) { " + text + " }); }\n";
    };
    Patched both({{"a.cu", host + first + second + launches("a<<<1, 64>>>(out); b<<<1, 64>>>(out);")}});
    both.check_prediction();
    Patched only_first({{"a.cu", host + first + second + launches("a<<<1, 64>>>(out);")}});
    CHECK_THAT(ended(0, only_first.write_patch()).err,
               has("a: t: line 17: the same function serves the array of line 25, which does not get this "
                   "change; write a copy of it first\n"));
    CHECK(only_first.patch().empty());
  }
  SECTION("a macro") {
    const std::string head = "constexpr int N = 64;\n#define T(y, x) t[2 * y + x]\n";
    const std::string first = stride_of("a", head, "__shared__ float t[2 * N];", "T(i, 0) + T(i, 1)");
    const std::string second = stride_of("b", "", "__shared__ float t[4 * N];", "T(i, 1)");
    Patched program({{"a.cu", host + first + second +
                                  "int main() { return run([](float* out) { a<<<1, 64>>>(out); b<<<1, 64>>>(out); }); "
                                  "}\n"}});
    program.check_prediction();
  }
  SECTION("a macro that has the rows of two kernels") {
    const auto kernel = [](const std::string& name) {
      return "__global__ void " + name + "(float* out) {\n  __shared__ float t[32 * 32];\n" +
             "  const int x = threadIdx.x, y = threadIdx.y;\n  T(y, x) = x;\n  __syncthreads();\n"
             "  out[y * 32 + x] = T(x, y);\n}\n";
    };
    const Files files{
        {"a.cu", host + "#define T(y, x) t[x + y * 32]\n" + kernel("a") + kernel("b") +
                     "int main() {\n  dim3 block(32, 32);\n"
                     "  return run([=](float* out) { a<<<1, block>>>(out); b<<<1, block>>>(out); });\n}\n"}};
    Patched both(files);
    both.check_prediction();
    CHECK_THAT(both.patch(), has("#define T(y, x) t[x + y * 33]"));
    Patched only_first(files, "", "--kernel a");
    CHECK_THAT(ended(0, only_first.write_patch()).err, has("the same macro serves the array of line"));
    CHECK(only_first.patch().empty());
  }
  SECTION("a macro that stands for other code in another kernel") {
    const std::string first =
        "#define AT(y, x) s[y][x]\n__global__ void k(float* out) {\n  __shared__ float4 s[32][8];\n"
        "  int i = threadIdx.x;\n  AT(i / 8, i % 8) = {1, 2, 3, float(i)};\n  __syncthreads();\n"
        "  out[i] = AT(i % 32, i / 32).w;\n}\n";
    const std::string second =
        "__global__ void b(float* out) {\n  __shared__ float s[6][4];\n  int i = threadIdx.x;\n"
        "  AT(i / 4, i % 4) = i;\n  __syncthreads();\n  out[i] += AT(i / 4, i % 4);\n}\n";
    const auto program = [&](const std::string& kernels, const std::string& more) {
      return Files{{"a.cu", host + kernels + "int main() { return run([](float* out) { k<<<1, 256>>>(out); " + more +
                                " }); }\n"}};
    };
    Patched both(program(first + second, "b<<<1, 24>>>(out);"), "", "--max-shared 4096");
    CHECK_THAT(ended(0, both.write_patch()).err, has("k: s: line 16: the same macro serves the array of line"));
    CHECK(both.patch().empty());
    Patched(program(first, ""), "", "--max-shared 4096").check_prediction();
  }
  SECTION("launches in two files") {
    const std::string kernel =
        stride_of("k", "#pragma once\nconstexpr int N = 64;\n", "extern __shared__ float t[];", load) +
        "inline void start(float* out) { k<<<1, 64, 512>>>(out); }\n";
    const auto program = [&](const std::string& launches) {
      return Files{{"k.cuh", kernel},
                   {"a.cu", host + "#include \"k.cuh\"\nint main() { return run([](float* out) { start(out); " +
                                launches + "}); }\n"},
                   {"other.cu", "__global__ void k(int n) {}\nvoid f() { k<<<1, 32, 512>>>(1); }\n"}};
    };
    Patched both(program("k<<<1, 64, 512>>>(out + 64); "));
    CHECK_THAT(ended(0, both.write_patch()).err,
               has("line 4: k is also launched in ") &&
                   has("a.cu:15, and every launch must give this array more bytes; change all by hand\n"));
    CHECK(both.patch().empty());
    Patched(program("")).check_prediction();
  }
  SECTION("dynamic shared memory") {
    const std::string kernel = stride_of("k", "constexpr int N = 64;\n", "extern __shared__ float t[];", load);
    Patched program({{"a.cu", host + kernel +
                                  "int main() { return run([](float* out) { k<<<1, 64, 2 * N * sizeof(float)>>>(out); "
                                  "}); }\n"}});
    program.check_prediction();
    CHECK_THAT(program.patch(), has("k<<<1, 64, (2 * N + 2 * N / 32) * sizeof(float)>>>"));
  }
}

TEST_CASE("fit/patch/rows_of_one_dimension", "[fit]") {
  const std::string kernel =
      "template <int W>\n__global__ void k(float* out) {\n  __shared__ float s[W * W];\n  int i, x = threadIdx.x;\n"
      "  for (i = 0; i < W; i++) s[i * W + x] = x + 10 * i;\n  __syncthreads();\n  float sum = 0;\n"
      "  for (i = W - 1; i >= x; --i) sum += s[x * W + i];\n  out[x] += sum;\n}\n";
  const std::string launches = "k<16><<<1, 16>>>(out); k<32><<<1, 32>>>(out + 32);";
  Patched program({{"a.cu", host + kernel + "int main() { return run([](float* out) { " + launches + " }); }\n"}});
  program.check_prediction();
  CHECK_THAT(program.patch(), has("+  __shared__ float s[W * (W + 1)];"));
  CHECK_THAT(program.patch(), has("sum += s[x * (W + 1) + i];"));
}

TEST_CASE("fit/patch/arrays_with_one_index", "[fit]") {
  const std::string kernel =
      "__global__ void k(float* out) {\n  __shared__ float a[512];\n  __shared__ float b[512];\n"
      "  int i = threadIdx.x;\n  a[i << 4 | 3] = b[i << 4 | 3] = i;\n  __syncthreads();\n"
      "  out[i] += a[i << 4 | 3] + b[i << 4 | 3];\n}\n";
  Patched program({{"a.cu", host + kernel + "int main() { return run([](float* out) { k<<<1, 32>>>(out); }); }\n"}});
  program.check_prediction();
  const std::string patch = program.patch(), variable = "+  const int ";
  CHECK_THAT(patch, has(variable));
  CHECK(patch.find(variable) == patch.rfind(variable));
  CHECK_THAT(patch, has("a[at] = b[at] = i;"));
}

TEST_CASE("fit/patch/rows_that_others_use", "[fit]") {
  const std::string tile = "__shared__ float s[32][34];\n";
  const std::string kernels = "__global__ void k(float* out) {" + columns + R"(
__global__ void other(float* out) {
  if (threadIdx.y == 0) s[threadIdx.y][33] = 7;
  __syncthreads();
  if (threadIdx.y == 0) out[threadIdx.y] += s[threadIdx.y][33];
}
)";
  const auto program_with = [&](const std::string& head, const std::string& launches) {
    return Files{{"a.cu", host + head + kernels + "int main() { return run([](float* out) { " + launches + " }); }\n"}};
  };
  Patched alone(program_with(tile, "k<<<1, dim3(32, 32)>>>(out);"));
  (void)ended(0, alone.write_patch());
  CHECK_THAT(alone.patch(), has("+__shared__ float s[32][33];"));
  Patched both(program_with(tile, "k<<<1, dim3(32, 32)>>>(out); other<<<1, dim3(1, 32)>>>(out);"));
  (void)ended(0, both.write_patch());
  CHECK_THAT(both.patch(), has("+__shared__ float s[32][34 + 1];"));
}

TEST_CASE("fit/patch/kernels_of_the_test_programs", "[fit]") {
  const ScratchDirectory scratch;
  const std::string patch = (scratch.path() / "fix.diff").string();
  for (const char* name : {"kernels.cuh", "run_kernels.cu"})
    std::filesystem::copy(std::filesystem::path(PROGRAMS) / name, scratch.path() / name);
  const std::string command = "emulate --cache '" CACHE "' --sources '" + scratch.path().string() + "' ";
  const std::string source = " '" + (scratch.path() / "run_kernels.cu").string() + "'";
  (void)ended(0, bankcheck(command + "--patch '" + patch + "'" + source));
  REQUIRE(std::system(("cd '" + scratch.path().string() + "' && git apply fix.diff").c_str()) == 0);
  const auto difference = scratch.path() / "difference";
  (void)std::system(("diff '" PROGRAMS "/kernels.cuh' '" + (scratch.path() / "kernels.cuh").string() + "' >'" +
                     difference.string() + "'")
                        .c_str());
  CHECK(text_of(difference) == text_of(PROGRAMS "/kernels_fixed.diff"));
}

}  // namespace
