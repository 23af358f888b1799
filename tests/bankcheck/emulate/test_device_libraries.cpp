// Libraries that kernels call, from the headers of a CUDA Toolkit. Without one there is nothing to test.
#include "bankcheck/emulate/build.hpp"
#include "tests/bankcheck/emulate/emulated_program.hpp"

namespace {

using bankwise::emulate::find_in_toolkit;

TEST_CASE("emulate/device_libraries/curand", "[emulate]") {
  if (find_in_toolkit("include/curand_kernel.h").empty()) {
    CHECK_THAT(ended(3, emulate(source("random"))).err, has("device cuRAND is not emulated without"));
    return;
  }
  CHECK_THAT(ended(0, emulate(source("random"))).out, has("right\n"));
}

TEST_CASE("emulate/device_libraries/cub", "[emulate]") {
  if (find_in_toolkit("include/cccl/cub").empty()) return;
  // Its merge sort reads a key past the last one, and does not use it.
  const Outcome outcome = ended(0, emulate("--allow unwritten-read " + source("collectives")));
  CHECK_THAT(outcome.out, has("right\n") && has("block_merge_sort.cuh:"));
}

TEST_CASE("emulate/device_libraries/standard", "[emulate]") {
  if (find_in_toolkit("include/cccl/cuda/std").empty()) return;
  const Outcome outcome = ended(0, emulate("--json - " + source("standard")));
  CHECK_THAT(outcome.err, has("right\n"));
  const Checked report{outcome, nlohmann::json::parse(outcome.out)};
  CHECK(numbers(report.on("views"), "view(threadIdx.x, 0) = threadIdx.x", "store") == Numbers{1, 32, 32, 1, 31});
  // cuda::atomic and cuda::atomic_ref are watched, in the lines of the toolkit's header.
  CHECK(numbers(report.on("atomics"), "atom.add", "atomic") == Numbers{2, 64, 64, 2, 62});
}

TEST_CASE("emulate/device_libraries/sorts", "[emulate]") {
  if (find_in_toolkit("include/cccl/thrust").empty()) return;
  CHECK_THAT(ended(0, emulate(source("sorts"))).out, has("right\n"));
}

TEST_CASE("emulate/device_libraries/algorithms", "[emulate]") {
  for (const std::string options : {"", "--hip "}) {
    const Outcome outcome = ended(0, emulate(options + source("algorithms")));
    CHECK_THAT(outcome.out,
               has("right\n") && has("incomplete: no kernel was watched: only functions of libraries ran"));
  }
}

}  // namespace
