// The cures that are no layout: each is named for a kernel that asks for it, and for none that only looks like it. The
// cured kernel has exactly the passes or sectors that were estimated.
#include <bankwise/emulator/cuda.hpp>
#include "tests/catch_any.hpp"

#include "tests/bankcheck/fit/programs/cures.cuh"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/bankcheck/fit/fit_traces.hpp"

namespace {

using namespace fit_traces;
using fit::Cure;
using fit::CureKind;

struct alignas(128) CacheLine {
  unsigned words[32];
};
const std::vector<CacheLine> input = [] {
  std::mt19937 random(1);
  std::vector<CacheLine> lines(2048);
  for (CacheLine& line : lines) std::ranges::generate(line.words, [&] { return unsigned(random()) % 4096; });
  return lines;
}();

constexpr emulator::Dim3 four_blocks{4};

template <class... Parameters, class... More>
trace::KernelTrace traced(void (*kernel)(Parameters...), emulator::Dim3 grid, emulator::Dim3 block, More... more) {
  static std::vector<CacheLine> out(2048);
  emulator::Launch launch{.grid = grid, .block = block, .trace_blocks = {}, .global_patterns = 4096};
  for (unsigned number = 0; number < grid.x * grid.y; ++number) launch.trace_blocks.push_back(number);
  const auto run = [&]<class In, class Out, class... Rest>(void (*typed)(const In*, Out*, Rest...)) {
    return emulate(typed, launch, reinterpret_cast<const In*>(input.data()), reinterpret_cast<Out*>(out.data()),
                   more...);
  };
  return run(kernel);
}

std::vector<Cure> cures_of(const trace::KernelTrace& trace) { return fit::fit_kernel(trace, sm_90, {}, {}).cures; }

/// The cure of a kind; empty sites if there is none.
Cure cure_of(const trace::KernelTrace& trace, CureKind kind) {
  const std::vector<Cure> cures = cures_of(trace);
  const auto cure = std::ranges::find(cures, kind, &Cure::kind);
  return cure == cures.end() ? Cure{.kind = kind, .costs = {{}}} : *cure;
}
bool is_cured(const trace::KernelTrace& trace, CureKind kind) { return !cure_of(trace, kind).sites.empty(); }

std::uint64_t passes_of(const trace::KernelTrace& trace) { return trace::report(trace, *sm_90.front()).all.passes; }
std::uint64_t sectors_of(const trace::KernelTrace& trace) {
  return trace::report(trace, *sm_90.front()).global.sectors;
}
/// The lanes that make atomics in global memory.
std::uint64_t updates_of(const trace::KernelTrace& trace) {
  std::uint64_t lanes = 0;
  for (const trace::GlobalLineReport& line : trace::report(trace, *sm_90.front()).global_lines) {
    if (line.operation == banks::Operation::atomic) lanes += line.costs.lanes;
  }
  return lanes;
}

/// What the cure says that the kernel saves, and what the cured kernel saves.
template <class CostOf>
void check_saving(const Cure& cure, const trace::KernelTrace& before, const trace::KernelTrace& after, CostOf cost_of) {
  REQUIRE(cure.sites.size() > 0);
  CHECK(cure.costs[0].before > cure.costs[0].after);
  CHECK(cost_of(before) - cost_of(after) == cure.costs[0].before - cure.costs[0].after);
}

TEST_CASE("fit/cures/wide_accesses", "[fit]") {
  constexpr auto kind = CureKind::wide_accesses;
  const auto four = traced(sum_of_four, four_blocks, {256});
  check_saving(cure_of(four, kind), four, traced(sum_of_four_cured, four_blocks, {256}), sectors_of);
  CHECK(cure_of(four, kind).costs[0].before == 4 * cure_of(four, kind).costs[0].after);
  const auto two = traced(complex_product, four_blocks, {256});
  check_saving(cure_of(two, kind), two, traced(complex_product_cured, four_blocks, {256}), sectors_of);
  CHECK(cure_of(two, kind).sites.size() == 2);
  CHECK(cure_of(two, kind).sentence.starts_with("load 8 bytes of each lane at once (float2)"));
  CHECK_FALSE(is_cured(traced(sum_not_of_four, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(sum_not_of_neighbours, four_blocks, {256}), kind));
}

TEST_CASE("fit/cures/wide_accesses_to_shared_memory", "[fit]") {
  constexpr auto kind = CureKind::wide_accesses;
  const auto before = traced(shared_fours, four_blocks, {256}), after = traced(shared_fours_cured, four_blocks, {256});
  std::uint64_t saved = 0;
  for (const Cure& cure : cures_of(before)) {
    if (cure.kind == kind && cure.array == "words") saved += cure.costs[0].before - cure.costs[0].after;
  }
  CHECK(saved == passes_of(before) - passes_of(after));
  CHECK(saved > 0);
  // If another lane stores one of the words in between, the order of the accesses matters.
  trace::KernelTrace raced = before;
  for (trace::Pattern& pattern : raced.patterns) {
    if (pattern.level == 1 && pattern.operation == banks::Operation::store) std::ranges::reverse(pattern.addresses);
  }
  CHECK_FALSE(is_cured(raced, kind));
  // If the compiler merges them, nothing is left to do.
  trace::KernelTrace merged = before;
  merged.merged = before.patterns;
  std::erase_if(*merged.merged, [](const trace::Pattern& pattern) { return pattern.level == 1; });
  CHECK_FALSE(is_cured(merged, kind));
}

TEST_CASE("fit/cures/sequential_addressing", "[fit]") {
  constexpr auto kind = CureKind::sequential_addressing;
  const auto before = traced(tree_sum<256>, four_blocks, {256}), after = traced(block_sum, four_blocks, {256});
  const Cure cure = cure_of(before, kind);
  check_saving(cure, before, after, passes_of);
  CHECK(cure.sites.size() == 1);
  CHECK_FALSE(is_cured(after, kind));
  CHECK_FALSE(is_cured(traced(tree_sum_not_alone, four_blocks, {256}), kind));
  // nvcc loads both elements of the first step at once.
  trace::KernelTrace merged = before;
  std::erase_if(merged.patterns, [](const trace::Pattern& pattern) {
    return pattern.level == 1 && pattern.operation == banks::Operation::load && pattern.addresses[0] % 8 != 0;
  });
  for (trace::Pattern& pattern : merged.patterns) {
    if (pattern.level == 1 && pattern.operation == banks::Operation::load) pattern.width = 8;
  }
  REQUIRE(passes_of(merged) < passes_of(before));
  const Cure of_merged = cure_of(merged, kind);
  CHECK(of_merged.costs[0].after == cure.costs[0].after);
  CHECK(cure.costs[0].before - of_merged.costs[0].before == passes_of(before) - passes_of(merged));
  // Against a pad, which parts what is merged.
  fit::ArrayShape shape{4, {256}};
  shape.merges = true;
  const fit::KernelFit known = fit::fit_kernel(merged, sm_90, {{0, shape}}, {.machine_code = true});
  CHECK(std::ranges::count(known.cures, kind, &Cure::kind) == 1);
  CHECK(known.arrays.front().after().option.change.kind() == fit::ChangeKind::pad);
  // The trace of machine code has no levels.
  trace::KernelTrace not_alone = traced(tree_sum_not_alone, four_blocks, {256});
  for (trace::KernelTrace* trace : {&merged, &not_alone}) {
    trace->levels = 1;
    for (trace::Pattern& pattern : trace->patterns) pattern.level = 0;
  }
  CHECK(cure_of(merged, kind).costs[0].after == cure.costs[0].after);
  CHECK_FALSE(is_cured(not_alone, kind));
  CHECK_FALSE(is_cured(traced(tree_sum<192>, four_blocks, {256}), kind));  // no power of two
}

TEST_CASE("fit/cures/shuffles", "[fit]") {
  constexpr auto kind = CureKind::shuffles;
  const auto before = traced(block_sum, four_blocks, {256}), after = traced(block_sum_cured, four_blocks, {256});
  const Cure cure = cure_of(before, kind);
  check_saving(cure, before, after, passes_of);
  CHECK(cure.costs[0].after == passes_of(after));
  CHECK(cure.shuffles == 4 * 5);
  CHECK(cure.sentence.starts_with("__shfl_sync() in 6 of 9 steps between barriers"));
  CHECK_FALSE(is_cured(traced(block_sum_not_in_warps, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(own_words_not_exchanged, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(block_search_not_by_owners, four_blocks, {32}), kind));
  // A pattern that occurs more often than there are blocks may be several warps'.
  trace::KernelTrace repeated = before;
  for (trace::Pattern& pattern : repeated.patterns) pattern.count *= 2;
  CHECK_FALSE(is_cured(repeated, kind));
}

TEST_CASE("fit/cures/registers", "[fit]") {
  constexpr auto kind = CureKind::registers;
  const auto before = traced(scaled, four_blocks, {256});
  const Cure cure = cure_of(before, kind);
  check_saving(cure, before, traced(scaled_cured, four_blocks, {256}), passes_of);
  CHECK(cure.array == "scale");
  CHECK(cure.costs[0].before == 16 * cure.costs[0].after);
  CHECK_FALSE(is_cured(traced(scaled_not_by_one_word, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(scaled_not_again, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(scaled_not_by_few_words, four_blocks, {256}), kind));
}

TEST_CASE("fit/cures/sums_in_warps", "[fit]") {
  constexpr auto kind = CureKind::sums_in_warps;
  const auto global = traced(total, four_blocks, {256});
  const Cure cure = cure_of(global, kind);
  check_saving(cure, global, traced(total_cured, four_blocks, {256}), updates_of);
  CHECK(cure.costs[0].before == 1024);
  CHECK(cure.costs[0].after == 32);
  const auto shared = traced(shared_total, four_blocks, {256});
  check_saving(cure_of(shared, kind), shared, traced(shared_total_cured, four_blocks, {256}), passes_of);
  CHECK_FALSE(is_cured(traced(total_not_of_lanes, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(histogram_of_32, four_blocks, {256}), kind));
}

TEST_CASE("fit/cures/copies", "[fit]") {
  constexpr auto kind = CureKind::copies;
  const auto before = traced(histogram_of_32, four_blocks, {256});
  const Cure cure = cure_of(before, kind);
  check_saving(cure, before, traced(histogram_of_32_cured, four_blocks, {256}), passes_of);
  CHECK(cure.sentence.starts_with("32 copies in 4096 bytes"));
  CHECK_FALSE(is_cured(traced(histogram_not_of_few, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(shared_total, four_blocks, {256}), kind));
}

TEST_CASE("fit/cures/exchanged_roles", "[fit]") {
  constexpr auto kind = CureKind::exchanged_roles;
  for (const auto& [columns, rows] : {std::pair(32U, 32U), {16U, 16U}, {32U, 8U}}) {
    INFO(columns << " x " << rows);
    const auto before = traced(add_one, {2, 2}, {columns, rows}, 128U);
    const Cure cure = cure_of(before, kind);
    check_saving(cure, before, traced(add_one_cured, {2, 2}, {rows, columns}, 128U), sectors_of);
    CHECK_FALSE(cure.at_most);
    CHECK(cure.sites.size() == 1);
  }
  CHECK_FALSE(is_cured(traced(add_one_cured, {2, 2}, {32, 32}, 128U), kind));
  CHECK_FALSE(is_cured(traced(add_one_not_exchanged, {2, 2}, {32, 32}, 128U), kind));
  CHECK_FALSE(is_cured(traced(add_one_not_in_rows, {1}, {32, 4}, 64U), kind));
}

TEST_CASE("fit/cures/structure_of_arrays", "[fit]") {
  constexpr auto kind = CureKind::structure_of_arrays;
  const auto before = traced(masses, four_blocks, {256});
  check_saving(cure_of(before, kind), before, traced(masses_cured, four_blocks, {256}, 1024U), sectors_of);
  CHECK_FALSE(is_cured(traced(masses_not_of_structures, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(masses_not_within_structures, four_blocks, {256}), kind));
  CHECK_FALSE(is_cured(traced(sum_of_four, four_blocks, {256}), kind));  // one wide access is better
  const auto shared_cures = [](const trace::KernelTrace& trace) {
    return fit::fit_kernel(trace, sm_90, {{0, {16, {256}}}}, {}).cures;
  };
  const auto shared = traced(shared_samples, four_blocks, {256});
  const auto cures = shared_cures(shared);
  const auto cure = std::ranges::find(cures, kind, &Cure::kind);
  REQUIRE(cure != cures.end());
  check_saving(*cure, shared, traced(shared_samples_cured, four_blocks, {256}), passes_of);
  for (const auto kernel : {shared_vectors_not_by_member, shared_vectors_not_of_members}) {
    CHECK(std::ranges::count(shared_cures(traced(kernel, four_blocks, {256})), kind, &Cure::kind) == 0);
  }
}

/// Warps that were recorded together are looked at one by one.
TEST_CASE("fit/cures/parts_of_recorded_warps", "[fit]") {
  for (const unsigned warp : {32U, 64U}) {
    INFO(warp);
    std::vector<float> out(1024);
    auto sums =
        emulate(block_sum, {.block = {256}, .warp = warp}, reinterpret_cast<const float*>(input.data()), out.data());
    sums.splits = true;
    CHECK(cure_of(sums, CureKind::shuffles).shuffles == 5);
    std::vector<unsigned> counts(1024);
    auto totals = emulate(shared_total, {.block = {256}, .warp = warp}, input.front().words, counts.data());
    totals.splits = true;
    const Cure cure = cure_of(totals, CureKind::sums_in_warps);
    CHECK(cure.costs[0].before == 256);
    CHECK(cure.costs[0].after == 8);
  }
}

/// Nothing is concluded from a trace that lacks accesses.
TEST_CASE("fit/cures/incomplete", "[fit]") {
  auto before = traced(sum_of_four, four_blocks, {256});
  before.global_excess_accesses = 1;
  CHECK(cures_of(before).empty());
  auto shared = traced(block_sum, four_blocks, {256});
  shared.excess_accesses = 1;
  CHECK(cures_of(shared).empty());
  auto sampled = traced(sum_of_four, four_blocks, {256});
  CHECK_FALSE(cures_of(sampled).empty());
  --sampled.blocks;  // of the four
  CHECK(cures_of(sampled).empty());
  auto sampled_total = traced(shared_total, four_blocks, {256});
  --sampled_total.blocks;
  CHECK(is_cured(sampled_total, CureKind::sums_in_warps));  // what the other blocks do does not matter
}

/// A cure that saves next to nothing of what the kernel costs is none.
TEST_CASE("fit/cures/small", "[fit]") {
  auto mostly_other = traced(sum_of_four, four_blocks, {256});
  const Cure cure = cure_of(mostly_other, CureKind::wide_accesses);
  auto far = access(banks::Operation::load, 4, [](auto lane) { return 128 * lane; });
  far.count = 99 * (cure.costs[0].before - cure.costs[0].after) / 32;
  mostly_other.global_patterns.push_back(far);
  mostly_other.sites.push_back({.file = "other.cu", .line = 1});
  mostly_other.global_patterns.back().site = std::uint32_t(mostly_other.sites.size() - 1);
  CHECK_FALSE(is_cured(mostly_other, CureKind::wide_accesses));
  mostly_other.global_patterns.back().count /= 2;
  CHECK(is_cured(mostly_other, CureKind::wide_accesses));
}

}  // namespace
