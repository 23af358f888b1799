// Kernels of the repository, broken on purpose: each fault is diagnosed, at the right line.
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/trace/report.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"

namespace barrier {
#include "mutants/barrier_removed.cuh"
}
namespace bounds {
#include "mutants/stores_out_of_bounds.cuh"
}
namespace unpadded {
#include "mutants/index_unpadded.cuh"
}

using namespace bankwise;
using bankwise::emulator::Diagnosis;
using bankwise::emulator::Fault;

namespace {

std::string mutant(const std::string& name) { return std::string(MUTANTS) + "/" + name + ".cuh"; }

}  // namespace

TEST_CASE("emulator/mutants/removed_barrier") {
  const std::vector<uint4> in(256, make_uint4(1, 2, 3, 4));
  std::vector<uint4> out(1);
  const auto found = diagnosis_of(
      [&] { emulate(barrier::reduce_sequential, {.grid = 1, .block = 256}, in.data(), out.data(), in.size()); });
  REQUIRE(found);
  CHECK(found->fault == Fault::race);
  // Warp 0 continues with the next step and reads what warp 2 has not added up.
  CHECK(found->site.line == line_with(mutant("barrier_removed"), "const uint4 b = part[tid + stride]"));
  CHECK(found->site.file == mutant("barrier_removed"));
}

TEST_CASE("emulator/mutants/stray_store") {
  const std::vector<unsigned> in(32 * 32, 1);
  std::vector<unsigned> out(in.size());
  const auto found = diagnosis_of([&] {
    emulate(bounds::transpose_tile32_padded, {.grid = 1, .block = {32, 8}}, in.data(), out.data(), 32, 32);
  });
  REQUIRE(found);
  CHECK(found->fault == Fault::out_of_bounds);
  CHECK(found->site.line == line_with(mutant("stores_out_of_bounds"), "tile[r + 1][x]"));
  CHECK(found->lanes == std::vector{32U * 7});  // row 31 + 1, column 0
  CHECK_THAT(found->what(), has("writes 4 bytes at byte 4224 of tile, which has 4224 bytes"));
}

TEST_CASE("emulator/mutants/unused_padding") {
  const std::vector<unsigned> in(512, 1);
  std::vector<unsigned> out(in.size()), totals(1);
  const auto trace =
      emulate(unpadded::scan_padded, {.grid = 1, .block = 256}, in.data(), out.data(), totals.data(), 512);
  CHECK(out[511] == 511);  // the result is right nevertheless
  CHECK(conflicts(trace, "sm_90") > 0);
  const auto report = trace::report(trace, *banks::find_architecture("sm_90"));
  const auto worst = std::max_element(report.lines.begin(), report.lines.end(),
                                      [](auto& a, auto& b) { return a.costs.conflicts < b.costs.conflicts; });
  CHECK(worst->site.line == line_with(mutant("index_unpadded"), "tree[pad(right)] +="));
}
