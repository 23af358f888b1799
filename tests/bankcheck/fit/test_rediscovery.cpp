// From the accesses of the naive kernels alone, the search finds the published fixes or something as good, and predicts
// exactly what the kernels that have these fixes do.
#include <bankwise/emulator/cuda.hpp>
#include "tests/catch_any.hpp"

#include "prefix_sum/naive.cuh"
#include "prefix_sum/padded.cuh"
#include "reduction/naive.cuh"
#include "tests/case_studies/more_kernels/histogram.cuh"
#include "tests/case_studies/more_kernels/matmul.cuh"
#include "transpose/naive.cuh"
#include "transpose/padded.cuh"
#include "transpose/swizzled.cuh"
#include "transpose/tile32.cuh"
#include "transpose/tile32_padded.cuh"

#include <random>
#include <vector>

#include "tests/bankcheck/fit/fit_traces.hpp"

namespace {

using namespace fit_traces;
using fit::Change;
using fit::ChangeKind;
using fit::FitVerdict;
using fit::Pad;

const std::vector<unsigned> words = [] {
  std::mt19937 random(1);
  std::vector<unsigned> random_values(1 << 16);
  for (unsigned& word : random_values) word = unsigned(random());
  return random_values;
}();

/// The trace of a kernel that reads `words` and writes as many.
template <class Kernel, class... More>
trace::KernelTrace traced(Kernel kernel, emulator::Launch launch, More... more) {
  std::vector<unsigned> out(words.size()), extra(words.size());
  if constexpr (sizeof...(More) == 1) {
    return emulate(kernel, launch, words.data(), out.data(), extra.data(), more...);
  } else {
    return emulate(kernel, launch, words.data(), out.data(), more...);
  }
}

std::uint64_t passes_of(const trace::KernelTrace& trace) { return trace::report(trace, *sm_90.front()).all.passes; }

/// The passes of all accesses after a change of the only array.
std::uint64_t with(const trace::KernelTrace& trace, const Change& change) {
  return *fit::Accesses(trace, {0}, sm_90).passes(change);
}

Change pad(std::uint32_t every, std::uint32_t bytes, std::uint32_t again = 0) {
  return {{}, {Pad{every, bytes}, Pad{again, again > 0 ? bytes : 0}}};
}

TEST_CASE("fit/rediscovery/tile32", "[fit]") {
  const std::size_t side = 64;
  const auto trace = traced(transpose_tile32, {.grid = 4, .block = {32, 8}}, side, side);
  const auto fit = fit::fit_kernel(trace, sm_90, {{0, {4, {32, 32}}}}, {});
  const fit::ArrayFit& tile = fit.arrays.front();
  CHECK(tile.verdict == FitVerdict::removed);
  CHECK(tile.doubts.empty());
  CHECK(tile.after().option.change == pad(128, 4));  // adds nothing to the index
  CHECK(reason_of(tile, tile.after()) == "the fewest passes, and no instruction more in the index");
  const auto padded = traced(transpose_tile32_padded, {.grid = 4, .block = {32, 8}}, side, side);
  CHECK(tile.after().option.passes == passes_of(padded));
  const fit::PricedOption& swizzle = tile.options[frontier_ends(tile).fewest_bytes];
  CHECK(swizzle.option.change == Change{{128, 5, 2}, {}});
  CHECK(swizzle.option.instructions == 1);
  CHECK(swizzle.option.passes == passes_of(traced(transpose_swizzled, {.grid = 4, .block = {32, 8}}, side, side)));
}

TEST_CASE("fit/rediscovery/tile16", "[fit]") {
  const std::size_t side = 64;
  const auto trace = traced(transpose_naive, {.grid = 16, .block = {16, 16}}, side, side);
  const auto padded = traced(transpose_padded, {.grid = 16, .block = {16, 16}}, side, side);
  CHECK(with(trace, pad(64, 4)) == passes_of(padded));  // the textbook's 17 columns
  const auto fit = fit::fit_kernel(trace, sm_90, {{0, {4, {16, 16}}}}, {});
  CHECK(fit.arrays.front().verdict == FitVerdict::removed);
  CHECK(fit.after.front().all.passes < passes_of(padded));
  CHECK(form_of(fit.arrays.front().after().option.change, {4, {16, 16}}) == fit::IndexForm::columns);
}

TEST_CASE("fit/rediscovery/tile16_padded", "[fit]") {
  const std::size_t side = 64;
  const auto trace = traced(transpose_padded, {.grid = 16, .block = {16, 16}}, side, side);
  const auto fit = fit::fit_kernel(trace, sm_90, {{0, {4, {16, 17}}}}, {});
  const fit::ArrayFit& tile = fit.arrays.front();
  CHECK(tile.verdict == FitVerdict::removed);
  const Change& change = tile.after().option.change;  // drops the pad
  CHECK(change.rows == fit::Repitch{68, 64});
  CHECK(index_text(change, tile.shape, *form_of(change, tile.shape), {"y", "x"}) == "[y][x ^ y]");
  CHECK(tile.after().option.bytes == 1024);
  CHECK(fit.shared_after + 64 == fit.shared_before);
  CHECK(fit.after.front().all.passes == tile.ideal);
  // Not if the trace may lack accesses to the last column.
  const auto partial = fit::fit_kernel(trace, sm_90, {{0, {4, {16, 17}}}}, {.complete = false});
  CHECK(partial.arrays.front().after().option.bytes >= 1088);
}

TEST_CASE("fit/rediscovery/more_rows_in_a_plane", "[fit]") {
  trace::KernelTrace trace = kernel(4 * 2 * 6 * 16);
  for (std::uint32_t y = 0; y < 6; ++y) {  // both planes of one row
    trace.patterns.push_back(
        access(banks::Operation::store, 4, [&](auto lane) { return 4 * (lane / 16 * 6 * 16 + y * 16 + lane % 16); }));
  }
  const auto fit = fit::fit_kernel(trace, sm_90, {{0, {4, {2, 6, 16}}}}, {});
  const fit::ArrayFit& array = fit.arrays.front();
  CHECK(array.verdict == FitVerdict::removed);
  CHECK(array.after().option.change == pad(384, 64));
  CHECK(dimension_texts(pad(384, 64), array.shape, fit::IndexForm::rows, {"2", "6", "16"}) ==
        std::vector<std::string>{"2", "6 + 1", "16"});
}

/// A Walsh-Hadamard transform of 2048 words in shared memory by 512 threads, four words at once.
trace::KernelTrace walsh_hadamard() {
  constexpr std::uint32_t n = 2048;
  trace::KernelTrace trace = kernel(4 * n);
  const auto add = [&](const auto& word) {
    for (std::uint32_t warp = 0; warp < n / 4 / 32; ++warp) {
      for (const auto operation : {banks::Operation::load, banks::Operation::store}) {
        trace.patterns.push_back(access(operation, 4, [&](std::uint32_t lane) { return 4 * word(32 * warp + lane); }));
      }
    }
  };
  for (std::uint32_t part = 0; part < 4; ++part) {
    add([&](std::uint32_t thread) { return thread + part * n / 4; });  // from global memory, and back
    for (std::uint32_t stride = n / 4; stride > 1; stride /= 4) {
      add([&](std::uint32_t thread) {
        const std::uint32_t low = thread & (stride - 1);
        return 4 * (thread - low) + low + part * stride;
      });
    }
  }
  for (std::uint32_t part = 0; part < 4; ++part)
    add([&](std::uint32_t thread) { return 4 * (thread & ~1U) + (thread & 1) + 2 * part; });
  return trace;
}

TEST_CASE("fit/rediscovery/walsh_hadamard", "[fit]") {
  const auto trace = walsh_hadamard();
  const auto fit = fit::fit_kernel(trace, sm_90, {{0, {4, {2048}}}}, {});
  const fit::ArrayFit& array = fit.arrays.front();
  CHECK(array.after().option.change == Change{{16, 5, 2}, {}});  // i ^ ((i >> 2) & 31), which no pad equals
  CHECK(array.after().option.passes < option(array, ChangeKind::pad)->option.passes);
  const Change costly{{32, 2, 3}, {Pad{128, 32}, Pad{}}};
  const std::uint64_t executions = array.facts.executions;
  CHECK(array.after().option.cycles <
        fit::estimated_cycles(with(trace, costly), index_instructions(costly, array.shape), executions));
}

TEST_CASE("fit/rediscovery/blelloch_512", "[fit]") {
  const auto trace = traced(scan_naive, {.grid = 2, .block = 256}, std::size_t{1024});
  const auto fit = fit::fit_kernel(trace, sm_90, {}, {});
  const fit::ArrayFit& tree = fit.arrays.front();
  CHECK(tree.verdict == FitVerdict::removed);
  CHECK(option(tree, ChangeKind::pad)->option.change == pad(128, 4));
  CHECK(option(tree, ChangeKind::pad)->option.passes ==
        passes_of(traced(scan_padded, {.grid = 2, .block = 256}, std::size_t{1024})));
}

/// The tree of prefix_sum/naive.cuh for any power of two, as its accesses: what padded_twice.cuh pads.
trace::KernelTrace tree_of(std::uint32_t n) {
  trace::KernelTrace trace = kernel(4 * n);
  for (std::uint32_t stride = 1, nodes = n / 2; stride < n; stride *= 2, nodes /= 2) {
    for (std::uint32_t first = 0; first < nodes; first += 32) {
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - std::min(nodes - first, 32U));
      for (const auto operation : {banks::Operation::load, banks::Operation::store}) {
        for (std::uint32_t child = 1; child <= 2; ++child) {
          const auto address = [&](std::uint32_t lane) { return 4 * (stride * (2 * (first + lane) + child) - 1); };
          trace.patterns.push_back(access(operation, 4, address, mask));
        }
      }
    }
  }
  return trace;
}

TEST_CASE("fit/rediscovery/blelloch_2048", "[fit]") {
  const auto trace = tree_of(2048);
  const auto fit = fit::fit_kernel(trace, sm_90, {}, {});
  const fit::ArrayFit& tree = fit.arrays.front();
  const std::uint64_t once = with(trace, pad(128, 4)), twice = with(trace, pad(128, 4, 4096));
  CHECK(once > tree.bound);
  CHECK(twice == tree.bound);
  CHECK(tree.verdict == FitVerdict::reduced);
  CHECK(tree.options[frontier_ends(tree).fewest_passes].option.passes == twice);
  CHECK(tree.after().option.change == pad(128, 4));  // the second pad needs instructions in the index
  CHECK(reason_of(tree, tree.after()).starts_with("7 % more passes than the best, and "));
}

TEST_CASE("fit/rediscovery/records_of_four", "[fit]") {
  std::vector<uint4> out(64);
  const auto trace = emulate(reduce_naive, {.grid = 2, .block = 256}, reinterpret_cast<const uint4*>(words.data()),
                             out.data(), std::size_t{512});
  const auto fit = fit::fit_kernel(trace, sm_90, {{0, {16, {256}}}}, {});
  const fit::ArrayFit& records = fit.arrays.front();
  CHECK(records.verdict == FitVerdict::removed);
  CHECK(records.after().option.change == pad(16, 4));
  CHECK(form_of(pad(16, 4), {16, {256}}) == fit::IndexForm::elements);
}

TEST_CASE("fit/rediscovery/matrix_product", "[fit]") {
  const auto trace = traced(more_matmul, {.grid = 2, .block = {32, 8}});
  const auto fit = fit::fit_kernel(trace, sm_90, {{0, {4, {32, 32}}}, {1, {4, {32, 32}}}}, {});
  REQUIRE(fit.arrays.size() == 2);
  std::uint64_t padded = 0;
  for (const fit::ArrayFit& array : fit.arrays) {
    CHECK(array.verdict == FitVerdict::removed);
    padded += option(array, ChangeKind::pad)->option.passes;
  }
  CHECK(padded == passes_of(traced(more_matmul_padded, {.grid = 2, .block = {32, 8}})));
}

TEST_CASE("fit/rediscovery/histogram", "[fit]") {
  for (const unsigned blocks : {1U, 4U}) {
    emulator::Launch launch{.grid = blocks, .block = 256};
    for (unsigned block = 1; block < blocks; ++block) launch.trace_blocks.push_back(block);
    const auto trace = traced(more_histogram, launch);
    const auto fit = fit::fit_kernel(trace, sm_90, {}, {});
    CHECK(fit.arrays.front().verdict == FitVerdict::chance);
    CHECK(fit.arrays.front().chosen == 0);
    CHECK(fit.after.front().all.passes == fit.before.front().all.passes);
  }
}

}  // namespace
