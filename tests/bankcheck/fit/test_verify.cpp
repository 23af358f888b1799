// What the fit proposes, applied to sources and run.
#include <fstream>

#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/catch_any.hpp"

namespace {

std::string emulate(const std::string& options) { return "emulate --cache '" CACHE "' " + options; }

/// The lines that a program wrote itself: a name and a checksum each.
std::vector<std::string> checksums(const std::string& text) {
  std::vector<std::string> checksum_lines;
  for (const std::string& line : lines_in(text)) {
    const auto blank = line.find(' ');
    const bool hexadecimal = blank != std::string::npos && blank > 0 && line.size() > blank + 12 &&
                             line.find_first_not_of("0123456789abcdef", blank + 1) == std::string::npos;
    if (hexadecimal) checksum_lines.push_back(line);
  }
  return checksum_lines;
}

TEST_CASE("fit/verify/same_results", "[fit]") {
  const ScratchDirectory scratch;
  const Outcome outcome =
      ended(0, bankcheck(emulate("--fixed " + scratch.path().string() + " '" PROGRAMS "/run_kernels.cu'")));
  CHECK(std::ranges::count_if(lines_in(outcome.out), [](auto& line) { return line.ends_with("  equal"); }) == 8);
  CHECK_THAT(outcome.out, has("fit of histogram: bins has 1,016 passes where 384 would do; no layout helps"));
  CHECK_THAT(outcome.out, has("verified by a run: all 8 predictions of passes hold, same results"));
  CHECK_THAT(outcome.err, has("bankcheck: output of the changed program:\n"));
  const auto before = checksums(outcome.out), after = checksums(outcome.err);
  CHECK(before.size() == 9);
  CHECK(before == after);
  const auto fixed = scratch.path() / "kernels.cuh", difference = scratch.path() / "difference";
  const std::string diff = "diff '" PROGRAMS "/kernels.cuh' '" + fixed.string() + "' >'" + difference.string() + "'";
  CHECK(std::system(diff.c_str()) != 0);
  CHECK(text_of(difference) == text_of(PROGRAMS "/kernels_fixed.diff"));
}

/// A program that adds 256 elements of this type in a tree, in two blocks of 128 threads.
std::string tree_of(const std::string& type, const std::string& step) {
  return "template <class T>\n__global__ void sum(T* out) {\n  __shared__ T sums[256];\n"
         "  for (unsigned i = threadIdx.x; i < 256; i += 128) sums[i] = T(i) * T(i) / T(3);\n  __syncthreads();\n"
         "  for (unsigned s = 1; s < 256; s *= 2) {\n    const unsigned i = 2 * s * threadIdx.x;\n"
         "    if (i < 256) sums[i] " +
         step +
         " sums[i + s];\n    __syncthreads();\n  }\n"
         "  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];\n}\n"
         "int main() {\n  " +
         type +
         "* out;\n  cudaMalloc(&out, 1024);\n  sum<<<2, 128>>>(out);\n"
         "  return cudaDeviceSynchronize();\n}\n";
}

TEST_CASE("fit/verify/sequential_addressing", "[fit]") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "tree.cu", patch = scratch.path() / "fix.diff";
  const auto outcome_of = [&](const std::string& type, const std::string& step) {
    std::ofstream(path, std::ios::trunc) << tree_of(type, step);
    const std::string options =
        "--verify --sources '" + scratch.path().string() + "' --patch '" + patch.string() + "' '" + path.string() + "'";
    return ended(0, bankcheck(emulate(options))).out;
  };
  const auto predicted = has("verified by a run: sum<int> 300 -> 90 passes on sm_90, same results");
  CHECK_THAT(outcome_of("int", "+="), predicted &&
                                          has("\nfit of sum<int>: sums takes 90 passes instead "
                                              "of 300 on sm_90: no conflict left, 0 bytes more") &&
                                          has("\n  tree.cu:8   load 4   sums             188     48     48\n"));
  CHECK_THAT(text_of(patch), has("+  for (unsigned s = 128; s > 0; s /= 2) {\n"
                                 "+    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];\n"));
  CHECK_THAT(outcome_of("float", "+="),
             has("results not compared from launch 1 on, where sum<float> adds floats in another order"));
  CHECK_THAT(outcome_of("int", "-="), has("same results") && !has("passes than"));
  CHECK_THAT(text_of(patch), has("+  __shared__ T sums[256 + 256 / 32];"));
}

// An operator whose result depends on the order, in a type that only the instance has.
TEST_CASE("fit/verify/order_counts", "[fit]") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "tree.cu";
  const std::string series =
      "struct Series {\n  int value;\n  __device__ Series(int v = 0) : value(v) {}\n"
      "  __device__ void operator+=(const Series& s) { value = value * 31 ^ s.value; }\n"
      "  __device__ Series operator*(const Series& s) const { return value * s.value; }\n"
      "  __device__ Series operator/(const Series& s) const { return value / s.value; }\n};\n";
  std::ofstream(path) << series + tree_of("Series", "+=");
  const Outcome outcome = ended(1, bankcheck(emulate("--verify '" + path.string() + "'")));
  CHECK_THAT(outcome.out, has("not verified: device memory differs after launch 1"));
}

TEST_CASE("fit/verify/rows_of_the_block", "[fit]") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "rows.cu";
  const auto outcome_of = [&](const std::string& launch) {
    std::ofstream(path, std::ios::trunc) << R"(
__global__ void k(int* out) {
  __shared__ int tile[32 * 32];
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  tile[at] = at;
  __syncthreads();
  out[at] = tile[threadIdx.x * blockDim.x + threadIdx.y];
}
int main() {
  int* out;
  cudaMalloc(&out, 4096);
  k<<<1, dim3(32, 32)>>>(out);
)" + launch + "  return cudaDeviceSynchronize();\n}\n";
    return ended(0, bankcheck(emulate("--verify '" + path.string() + "'"))).out;
  };
  const std::string one = outcome_of(""), two = outcome_of("  k<<<1, dim3(16, 16)>>>(out);\n");
  CHECK_THAT(one, has("tile[threadIdx.x * (blockDim.x + 1) + threadIdx.y]"));
  CHECK_THAT(two, !has("blockDim.x + 1"));  // rows of 16 and of 32 elements
  for (const std::string& out : {one, two}) CHECK_THAT(out, has("same results"));
}

TEST_CASE("fit/verify/not_applicable", "[fit]") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "decay.cu";
  std::ofstream(path) << R"(
__global__ void k(float* out) {
  __shared__ float tile[32][32];
  float* all = &tile[0][0];
  all[threadIdx.x * 32 + threadIdx.y] = float(threadIdx.x);
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = all[threadIdx.y * 32 + threadIdx.x];
}
int main() {
  float* out;
  cudaMalloc(&out, 4096);
  k<<<1, dim3(32, 32)>>>(out);
  cudaDeviceSynchronize();
}
)";
  const auto fixed = scratch.path() / "fixed";
  const Outcome outcome = ended(1, bankcheck(emulate("--fixed '" + fixed.string() + "' '" + path.string() + "'")));
  CHECK_THAT(outcome.out, has("not verified: k: tile: line 4: the address of an element is taken; "));
  CHECK_THAT(outcome.out, has("\nmake the proposed change by hand, and run bankcheck emulate again"));
  CHECK_THAT(outcome.err, has("--verify: nothing was verified, because no proposed change could be app"));
  CHECK_THAT(outcome.err, has("--fixed: nothing is written to " + fixed.string() + "\n"));
  CHECK_FALSE(std::filesystem::exists(fixed));
  CHECK_THAT(ended(0, bankcheck(emulate("--fit '" + path.string() + "'"))).out, has("\nnext: --html report.html "));
  std::ofstream(path, std::ios::trunc) << R"(
__global__ void k(int* out) {
  __shared__ int tile[32][32], column[32][32];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = int(x);
  column[y][x] = int(x);
  __syncthreads();
  out[y * 32 + x] = tile[x][column[x][y]];
}
int main() {
  int* out;
  cudaMalloc(&out, 4096);
  k<<<1, dim3(32, 32)>>>(out);
  cudaDeviceSynchronize();
}
)";
  // Without more bytes only swizzles are left, which change the indices.
  CHECK_THAT(ended(1, bankcheck(emulate("--verify --max-shared 8192 '" + path.string() + "'"))).out,
             has(": the index of a changed array reads another changed array; read that element into a"));
}

TEST_CASE("fit/verify/nothing_proposed", "[fit]") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "clean.cu";
  std::ofstream(path) << "__global__ void k() { __shared__ int t[32]; t[threadIdx.x] = 1; }\n"
                         "int main() { k<<<1, 32>>>(); cudaDeviceSynchronize(); }\n";
  const auto page = scratch.path() / "page.html";
  const Outcome outcome =
      ended(0, bankcheck(emulate("--verify --html '" + page.string() + "' '" + path.string() + "'")));
  CHECK_THAT(outcome.out, has("nothing to verify: no change is proposed\n"));
  CHECK_THAT(outcome.err, has("was written before, and lacks the result of --verify\n"));
}

/// Transposes, and adds what `extra` says.
std::string transpose_and(const std::string& extra) {
  return R"(
#include <unistd.h>
__global__ void k(const float* in, float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y])" +
         extra + R"(;
}
int main() {
  float *in, *out, numbers[1024];
  for (int i = 0; i < 1024; ++i) numbers[i] = START + i;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  cudaMemcpy(in, numbers, 4096, cudaMemcpyHostToDevice);
  k<<<1, dim3(32, 32)>>>(in, out);
  cudaDeviceSynchronize();
}
)";
}

TEST_CASE("fit/verify/results_in_device_memory", "[fit]") {
  const ScratchDirectory scratch;
  const auto run = [&](int code, const std::string& extra, const std::string& start) {
    const auto path = scratch.path() / "transpose.cu";
    std::ofstream(path, std::ios::trunc) << transpose_and(extra);
    return ended(code, bankcheck(emulate("--verify -D START=" + start + " '" + path.string() + "'"))).out;
  };
  CHECK_THAT(run(0, "", "0"), has("verified by a run: k 1,056 -> 64 passes on sm_90, same results: "
                                  "device memory is equal after the launch\n"));
  // An element by its number in shared memory: no rewriting finds it.
  const std::string beyond = " + *(float*)__cvta_shared_to_generic(128 * 5 + 8)";
  CHECK_THAT(run(1, beyond, "0"), has("not verified: device memory differs after launch 1\n"));
  CHECK_THAT(run(0, "", "'getpid()'"), has("results not compared: they differ from run to run\n"));
}

/// A kernel in dynamic shared memory, launched by this file, and with `elsewhere` also by another one.
std::string dynamic_columns(bool elsewhere) {
  const std::string launch = elsewhere ? "  launch(out + 1024);\n" : "";
  return R"(
void launch(float* out);
__global__ void k(float* out) {
  extern __shared__ float buf[];
  const int x = threadIdx.x, y = threadIdx.y;
  buf[x * 32 + y] = float(x);
  __syncthreads();
  out[y * 32 + x] = buf[x * 32 + y];
}
int main() {
  float* out;
  cudaMalloc(&out, 8192);
  k<<<1, dim3(32, 32), 4096>>>(out);
)" + launch +
         "  cudaDeviceSynchronize();\n}\n";
}

TEST_CASE("fit/verify/new_faults", "[fit]") {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch.path() / "src");
  const auto path = scratch.path() / "src/a.cu", other = scratch.path() / "b.cu", patch = scratch.path() / "fix.diff";
  std::ofstream(other) << "__global__ void k(float* out);\n"
                          "void launch(float* out) { k<<<1, dim3(32, 32), 4096>>>(out); }\n";
  const auto run = [&](int code, bool elsewhere) {
    std::ofstream(path, std::ios::trunc) << dynamic_columns(elsewhere);
    return ended(code, bankcheck(emulate("--verify --sources '" + (scratch.path() / "src").string() + "' --patch '" +
                                         patch.string() + "' '" + path.string() + "' '" + other.string() + "'")));
  };
  // The other launch is not in the directory of --sources, and gets no more bytes.
  const Outcome wrong = run(1, true);
  CHECK_THAT(wrong.out, has("not verified: the changed program: ") && has("out of bounds"));
  CHECK_THAT(wrong.out, !has("\nverified by a run"));
  CHECK_THAT(wrong.err, has("bankcheck: --patch is empty: --verify has disproved the changes\n"));
  CHECK(text_of(patch).empty());
  CHECK_THAT(run(0, false).out, has("verified by a run: "));
  CHECK_THAT(text_of(patch), has("4096 + 4096 / 128 * 4>>>"));
}

TEST_CASE("fit/verify/needs_sources", "[fit]") {
  check_fails("emulate --verify -- /bin/true", 2, "--verify needs the program's sources");
  const ScratchDirectory scratch;
  const std::string loop = (scratch.path() / "loop").string();
  std::filesystem::create_symlink("loop", loop);
  for (const auto& [folder, why] : {std::pair<std::string, const char*>{PROGRAMS, "it is not empty"},
                                    {loop, "its symbolic links form a loop"},
                                    {PROGRAMS "/run_kernels.cu", "it is not a directory"}}) {
    check_fails("emulate --fixed '" + folder + "' '" PROGRAMS "/run_kernels.cu'", 2, why);
  }
}

}  // namespace
