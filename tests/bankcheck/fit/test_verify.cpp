// What the fit proposes, applied to sources and run.
#include <fstream>

#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/catch_any.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;

std::string emulate(const std::string& options) { return "emulate --cache '" CACHE "' " + options; }

/// The lines that a program wrote itself: a name and a checksum each.
std::vector<std::string> checksums(const std::string& text) {
  std::vector<std::string> checksum_lines;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
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
  std::size_t equal = 0;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) equal += line.ends_with("  equal") ? 1 : 0;
  CHECK(equal == 8);
  CHECK_THAT(outcome.out, ContainsSubstring("no change of the family removes these conflicts"));  // the histogram
  const auto before = checksums(outcome.out), after = checksums(outcome.err);
  CHECK(before.size() == 9);
  CHECK(before == after);
  const auto fixed = scratch.path() / "kernels.cuh", difference = scratch.path() / "difference";
  const std::string diff = "diff '" PROGRAMS "/kernels.cuh' '" + fixed.string() + "' >'" + difference.string() + "'";
  CHECK(std::system(diff.c_str()) != 0);
  CHECK(text_of(difference) == text_of(PROGRAMS "/kernels_fixed.diff"));
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
  const Outcome outcome = ended(0, bankcheck(emulate("--verify '" + path.string() + "'")));
  CHECK_THAT(outcome.out, ContainsSubstring("not verified: k: tile: line 4 takes an address in the array\n"));
  CHECK_THAT(outcome.out, ContainsSubstring("verified: nothing"));
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
