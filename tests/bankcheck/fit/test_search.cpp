#include <random>

#include "tests/bankcheck/fit/brute_force.hpp"
#include "tests/bankcheck/fit/fit_traces.hpp"
#include "tests/banks/random_accesses.hpp"
#include "tests/banks/slow_banks.hpp"
#include "tests/catch_any.hpp"
#include "tests/random_cases.hpp"

namespace {

using namespace fit_traces;
using fit::Change;
using fit::ChangeKind;
using fit::FitVerdict;

/// The cost of all accesses by the second model of the banks, as a change moves them.
std::uint64_t slow_passes(const trace::KernelTrace& trace, const banks::Architecture& architecture,
                          const Change& change) {
  std::uint64_t passes = 0;
  for (const trace::Pattern& pattern : trace.patterns) {
    std::vector<std::uint32_t> addresses(banks::max_lanes), sources = pattern.sources;
    for (std::size_t lane = 0; lane < pattern.addresses.size(); ++lane) {
      addresses[lane] = std::uint32_t(change(pattern.addresses[lane]));
    }
    const auto cost = slow::cost(architecture.name, pattern.operation, pattern.width, pattern.mask, addresses, sources);
    if (!cost.refused) passes += pattern.count * cost.passes;
  }
  return passes;
}

TEST_CASE("fit/search/equals_slow_model", "[fit]") {
  banks::RandomAccesses random(7);
  std::size_t compared = 0;
  for (const banks::Architecture& architecture : banks::architectures()) {
    for (unsigned i = 0; i < random_cases(250); ++i) {
      trace::KernelTrace trace = kernel(1U << 21);
      trace.warp = architecture.warp;
      unsigned widest = 4;
      for (int k = 0; k < 3; ++k) {
        const banks::RandomAccess access = random.next(architecture.warp);
        if (access.mask == 0) continue;
        trace::Pattern pattern{
            .operation = access.operation, .width = access.width, .mask = access.mask, .count = 1U + i % 5U};
        pattern.addresses = access.addresses;
        pattern.sources = access.sources;
        pattern.addresses.resize(banks::max_lanes - unsigned(std::countl_zero(access.mask)));
        for (std::uint32_t& address : pattern.addresses) address %= 16128;  // a multiple of all widths
        if (!pattern.sources.empty()) pattern.sources.resize(pattern.addresses.size());
        widest = std::max(widest, access.width == 12 ? 16 : access.width);
        trace.patterns.push_back(pattern);
      }
      if (trace.patterns.empty()) continue;
      const std::uint32_t row = 24 * widest, used = random.below(2) == 0 ? row : 18 * widest;
      for (trace::Pattern& pattern : trace.patterns) {  // without the columns that shorter rows drop
        for (std::uint32_t& address : pattern.addresses) {
          const std::uint32_t column = address % row % used;
          address = address / row * row + (column + pattern.width > used ? column - 16 : column);
        }
      }
      const fit::Accesses accesses(trace, {0}, {&architecture});
      fit::FamilyBounds bounds = accesses.facts().bounds;
      bounds.granule = bounds.alignment = widest;
      bounds.extent = 4096;
      bounds.strides = {96 * widest / 4, 40 * widest, 272 * widest};
      bounds.pitches = {row, std::uint64_t{6} * row, std::uint64_t{18} * row};
      bounds.used_row = used;
      const fit::Family family = fit::family(bounds);
      for (int k = 0; k < 8; ++k) {
        const auto& list = k < 4 ? family.singles : family.combinations;
        const Change change = list[random.below(unsigned(list.size()))];
        if (!accesses.keeps_together(change)) continue;
        INFO(architecture.name << ": " << to_text(change));
        REQUIRE(accesses.passes(change) == slow_passes(trace, architecture, change));
        REQUIRE(accesses.passes_by_architecture(change).front() == accesses.passes(change));
        REQUIRE(accesses.passes(change) >= accesses.bound());
        ++compared;
      }
    }
  }
  CHECK(compared > 120 * random_cases(250));
}

TEST_CASE("fit/search/several_architectures", "[fit]") {
  const fit::Architectures both{banks::find_architecture("sm_90"), banks::find_architecture("sm_30")};
  trace::KernelTrace trace = kernel(4096);
  trace.patterns = {access(
                        banks::Operation::load, 4, [](auto lane) { return 128 * lane; }, 0xFFFFFFFF, 3),
                    access(banks::Operation::store, 4, [](auto lane) { return 4 * lane; })};
  const fit::Accesses accesses(trace, {0}, both);
  const Change pad{{}, {fit::Pad{128, 4}, fit::Pad{}}};
  const auto each = accesses.passes_by_architecture(pad);
  REQUIRE(each.size() == 2);
  for (std::size_t a = 0; a < 2; ++a) CHECK(each[a] == slow_passes(trace, *both[a], pad));
  CHECK(accesses.passes(pad) == each[0] + each[1]);
}

TEST_CASE("fit/search/equals_brute_force", "[fit]") {
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t limit) { return std::uint32_t(random() % limit); };
  const unsigned cases = random_cases(5000);
  std::size_t improved = 0;
  for (unsigned i = 0; i < cases; ++i) {
    const std::uint32_t width = 4U << below(3), bytes = width * (8U << below(3)) / (below(4) == 0 ? 2 : 1);
    trace::KernelTrace trace = kernel(bytes);
    std::vector<brute_force::Store> stores;
    const std::uint32_t elements = bytes / width, count = 1 + below(2);
    for (std::uint32_t k = 0; k < count; ++k) {
      brute_force::Store store{width, {}, 1 + below(9)};
      const std::uint32_t step = 1 + below(elements), first = below(elements), kind = below(3), run = 1U << below(5);
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const std::uint32_t element =
            kind == 0 ? below(elements) : first + (kind == 1 ? lane * step : lane % run * step + lane / run);
        store.addresses.push_back(element % elements * width);
      }
      trace.patterns.push_back(access(
          banks::Operation::store, width, [&](auto lane) { return store.addresses[lane]; }, 0xFFFFFFFF, store.count));
      stores.push_back(store);
    }
    const fit::Accesses accesses(trace, {0}, sm_90);
    const auto& strides = accesses.facts().bounds.strides;
    const fit::ArrayShape shape{width, {elements}};
    const fit::SearchResult result = fit::search(accesses, fit::family(accesses.facts().bounds), shape, {});
    const auto expected = brute_force::best(stores, bytes, width, {strides.begin(), strides.end()});
    const auto best = *std::min_element(result.best_of_kind.begin(), result.best_of_kind.end(), [](auto& a, auto& b) {
      return std::tuple(a.passes, a.bytes) < std::tuple(b.passes, b.bytes);
    });
    INFO("case " << i << ", " << bytes << " bytes, width " << width << ": " << to_text(best.change));
    REQUIRE(result.tried == result.family);
    REQUIRE(result.family == expected.tried);
    REQUIRE(best.passes == expected.passes);
    REQUIRE(best.bytes == expected.bytes);
    improved += best.change.kind() == ChangeKind::identity ? 0 : 1;
  }
  CHECK(improved > cases * 15 / 100);
}

/// Accesses that walk through the rows, the columns or the planes of an array, or through any elements.
brute_force::Store random_store(std::mt19937& random, const std::vector<std::uint64_t>& lengths, std::uint32_t width,
                                std::uint64_t columns) {
  const auto below = [&](std::uint64_t limit) { return std::uint64_t(random() % limit); };
  brute_force::Store store{width, {}, 1 + below(9)};
  std::vector<std::uint64_t> limits = lengths, at(lengths.size()), step(lengths.size());
  limits.back() = columns;
  for (std::size_t d = 0; d < at.size(); ++d) at[d] = below(limits[d]), step[d] = below(3) == 0 ? below(limits[d]) : 0;
  step[below(step.size())] += 1;
  const bool is_random = below(8) == 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint64_t element = 0, carry = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::uint64_t index = is_random ? below(limits[d]) : at[d] + lane * step[d] + carry;
      carry = index / limits[d];
      element = element * lengths[d] + index % limits[d];
    }
    store.addresses.push_back(std::uint32_t(element * width));
  }
  return store;
}

TEST_CASE("fit/search/proposal_equals_brute_force", "[fit]") {
  std::mt19937 random(13);
  const auto below = [&](std::uint64_t limit) { return std::uint64_t(random() % limit); };
  const unsigned cases = random_cases(5000);
  std::size_t improved = 0, shorter = 0, planes = 0;
  for (unsigned i = 0; i < cases; ++i) {
    const std::uint32_t width =
        std::max<std::uint32_t>(4U << below(3), 4U << below(3));  // wide ones have fewer layouts
    std::vector<std::uint64_t> lengths(1 + below(3));
    for (std::uint64_t& length : lengths) length = 1 + below(lengths.size() == 3 ? 6 : 20);
    lengths.back() = (4U << below(3)) + below(3);
    const std::uint64_t unused = lengths.size() > 1 ? below(3) : 0, columns = lengths.back() - unused;
    std::uint64_t bytes = width;
    for (const std::uint64_t length : lengths) bytes *= length;
    trace::KernelTrace trace = kernel(std::uint32_t(bytes));
    std::vector<brute_force::Store> stores;
    for (std::uint64_t k = 0, count = 1 + below(2); k < count; ++k) {
      stores.push_back(random_store(random, lengths, width, columns));
      const auto& store = stores.back();
      trace.patterns.push_back(access(
          banks::Operation::store, width, [&](auto lane) { return store.addresses[lane]; }, 0xFFFFFFFF, store.count));
    }
    const fit::Accesses accesses(trace, {0}, sm_90);
    fit::FamilyBounds bounds = accesses.facts().bounds;
    std::uint64_t pitch = width, used = lengths.back() * width;
    for (std::size_t d = lengths.size(); d-- > 1;) bounds.pitches.push_back(pitch *= lengths[d]);
    if (lengths.size() > 1) used = fit::used_row_bytes(trace, {0}, bounds.pitches.front());
    bounds.used_row = std::uint32_t(used);
    if (lengths.size() > 1) bounds.strides.push_back(std::uint32_t(bounds.pitches.front()));
    const fit::SearchResult result = fit::search(accesses, fit::family(bounds), {width, lengths}, {});
    const auto layouts =
        brute_force::layouts(stores, lengths, width, used, {bounds.strides.begin(), bounds.strides.end()});
    const auto expected = brute_force::proposal(stores, layouts);
    std::vector<fit::Option> options{result.best_of_kind.front()};
    options.insert(options.end(), result.front.begin(), result.front.end());
    const fit::Option& chosen = options[fit::proposal(options)];
    INFO("case " << i << ", " << lengths.size() << " dimensions, rows of " << lengths.back() << " elements of " << width
                 << " bytes: " << to_text(chosen.change));
    REQUIRE(result.tried == result.family);
    REQUIRE(result.family == layouts.size());
    REQUIRE(chosen.passes == expected.passes);
    REQUIRE(chosen.bytes == expected.bytes);
    REQUIRE(chosen.cycles == expected.cycles);
    improved += chosen.change.kind() == ChangeKind::identity ? 0 : 1;
    shorter += chosen.change.rows.to < chosen.change.rows.from ? 1 : 0;
    planes += chosen.change.swizzle.plane > 0 ? 1 : 0;
  }
  CHECK(improved > cases / 20);
  CHECK(shorter > cases * 3 / 1000);
  CHECK(planes > 0);
}

TEST_CASE("fit/search/plain_pads_first", "[fit]") {
  const auto option = [](std::uint64_t bytes, double cycles) {
    fit::Option each;
    each.passes = std::uint64_t(cycles);
    each.bytes = bytes;
    each.cycles = cycles;
    return each;
  };
  std::vector<fit::Option> options{option(1000, 2000), option(1000, 1000), option(1100, 1000)};
  CHECK(fit::proposal(options) == 1);
  options[2].is_plain = true;
  CHECK(fit::proposal(options) == 2);
  SECTION("room for fewer blocks") {
    options[2].is_crowded = true;
    CHECK(fit::proposal(options) == 1);
  }
  SECTION("conflicts that another layout does not have") {
    options[2].passes = 1010;
    CHECK(fit::proposal(options) == 2);
    options.push_back(option(1150, 1000));
    options[3].is_plain = true;
    CHECK(fit::proposal(options) == 3);
  }
  SECTION("more cycles") {
    options[2].passes = 1050;
    options[2].cycles = 1050;
    CHECK(fit::proposal(options) == 2);
    options[2].cycles = 1051;
    CHECK(fit::proposal(options) == 1);
  }
  SECTION("more than a quarter longer") {
    options[2].bytes = 1300;
    CHECK(fit::proposal(options) == 1);
  }
}

TEST_CASE("fit/search/fewest_operators", "[fit]") {
  const auto option = [](std::uint64_t passes, std::uint64_t bytes, unsigned instructions, unsigned operators) {
    fit::Option each;
    each.passes = passes;
    each.bytes = bytes;
    each.instructions = instructions;
    each.operators = operators;
    each.cycles = double(passes) + 50 * instructions;
    return each;
  };
  std::vector<fit::Option> options{option(2000, 1000, 0, 0), option(1000, 1000, 2, 4), option(1000, 1060, 3, 3)};
  CHECK(fit::proposal(options) == 2);
  SECTION("as many operators, and more bytes") {
    options[2].operators = 4;
    CHECK(fit::proposal(options) == 1);
  }
  SECTION("more passes") {
    options[2].passes = 1001;
    CHECK(fit::proposal(options) == 1);
  }
  SECTION("a division for less than a quarter of the passes") {
    options[2].divides = true;
    CHECK(fit::proposal(options) == 2);
    options[1].passes = options[2].passes = 1600;
    CHECK(fit::proposal(options) == 1);
  }
  SECTION("two instructions more") {
    options[2] = option(1000, 1060, 4, 3);
    CHECK(fit::proposal(options) == 1);
  }
  SECTION("room for fewer blocks") {
    options[2].is_crowded = true;
    CHECK(fit::proposal(options) == 1);
  }
}

TEST_CASE("fit/search/easiest_to_read_of_equal_swizzles", "[fit]") {
  trace::KernelTrace trace = kernel(8192);
  trace.patterns = {access(banks::Operation::store, 8, [](auto lane) { return 256 * lane; })};  // a column of doubles
  const fit::KernelFit fit = fit::fit_kernel(trace, sm_90, {{0, {8, {32, 32}}}}, {8192, false, false});
  const fit::ArrayFit& array = fit.arrays.front();
  const Change& change = array.after().option.change;
  CHECK(change.kind() == ChangeKind::row_xor);
  CHECK(index_text(change, array.shape, *form_of(change, array.shape), {"y", "x"}) == "[y][x ^ y]");  // and no mask
}

TEST_CASE("fit/search/shapes_of_any_size", "[fit]") {
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  const std::vector<std::vector<std::uint64_t>> others{{}, {0}, {0, 4}, {4, 0}, {huge, huge}, {huge, 4}, {1, huge, 4}};
  trace::KernelTrace trace = kernel(4096);
  trace.patterns = {access(banks::Operation::store, 4, [](auto lane) { return 128 * lane; })};
  const std::size_t flat = fit::fit_kernel(trace, sm_90, {{0, {4, {1024}}}}, {}).arrays.front().family;
  for (const auto& lengths : others) {  // shapes of another array
    const auto fit = fit::fit_kernel(trace, sm_90, {{0, {4, lengths}}}, {});
    CHECK(fit.arrays.front().facts.bounds.pitches.empty());
    CHECK(fit.after.front().all.passes == 1);
  }
  CHECK(fit::fit_kernel(trace, sm_90, {{0, {4, {1, 1024}}}}, {}).arrays.front().family == flat);
  CHECK(fit::fit_kernel(trace, sm_90, {{0, {4, {1, 1, 1024}}}}, {}).arrays.front().family == flat);
  CHECK(fit::fit_kernel(trace, sm_90, {{0, {4, {1024, 1}}}}, {}).after.front().all.passes == 1);
  trace = kernel(31 * 37 * 4);  // primes
  trace.patterns = {access(banks::Operation::store, 4, [](auto lane) { return lane % 31 * 148; })};
  const auto primes = fit::fit_kernel(trace, sm_90, {{0, {4, {31, 37}}}}, {});
  CHECK(primes.after.front().all.passes <= primes.before.front().all.passes);
  trace = kernel(1U << 22);  // too long for the search
  trace.patterns = {access(banks::Operation::store, 4, [](auto lane) { return 128 * lane; })};
  CHECK(fit::fit_kernel(trace, sm_90, {{0, {4, {1U << 15, 32}}}}, {}).arrays.front().verdict == FitVerdict::fixed);
}

TEST_CASE("fit/search/random_addresses", "[fit]") {
  std::mt19937 random(3);
  std::size_t proposed = 0;
  for (int i = 0; i < 100; ++i) {
    trace::KernelTrace trace = kernel(4096);
    const std::uint32_t patterns = 30U << (i % 5);
    const bool atomics = i % 2 == 0;
    for (std::uint32_t k = 0; k < patterns; ++k) {
      trace.patterns.push_back(access(atomics ? banks::Operation::atomic : banks::Operation::store, 4,
                                      [&](auto) { return std::uint32_t(random() % 1024 * 4); }));
      trace.patterns.back().first.block = i % 3 == 0 ? 0 : k % 8;
    }
    const fit::KernelFit fit = fit::fit_kernel(trace, sm_90, {}, {});
    REQUIRE(fit.arrays.size() == 1);
    proposed += fit.arrays.front().chosen > 0 ? 1 : 0;
    CHECK(fit.after.front().all.passes <= fit.before.front().all.passes);
  }
  CHECK(proposed == 0);
}

TEST_CASE("fit/search/queue_for_one_word", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  trace.patterns = {access(banks::Operation::atomic, 4, [](auto lane) { return lane % 4 * 128; })};
  const fit::KernelFit fit = fit::fit_kernel(trace, sm_90, {}, {});
  const fit::ArrayFit& array = fit.arrays.front();
  CHECK(array.before().option.passes == 32);
  CHECK(array.bound == 8);
  CHECK(array.verdict == FitVerdict::removed);
  CHECK(array.after().option.passes == 8);
}

TEST_CASE("fit/search/limit_on_bytes", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  // Rows 33 apart conflict on no bank; only columns 32 apart do, and an XOR cannot tell these rows from each other.
  trace.patterns = {access(banks::Operation::store, 4, [](auto lane) { return 128 * lane; })};
  const fit::KernelFit free = fit::fit_kernel(trace, sm_90, {}, {});
  REQUIRE(option(free.arrays.front(), ChangeKind::pad) != nullptr);
  CHECK(option(free.arrays.front(), ChangeKind::pad)->option.bytes == 4096 + 32 * 4);
  const fit::KernelFit limited = fit::fit_kernel(trace, sm_90, {}, {4096, false});
  CHECK(option(limited.arrays.front(), ChangeKind::pad) == nullptr);
  CHECK(limited.arrays.front().after().option.change.kind() == ChangeKind::row_xor);
}

TEST_CASE("fit/search/limit_on_work", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    trace.patterns.push_back(
        access(banks::Operation::store, 4, [&](auto) { return std::uint32_t(random() % 1024 * 4); }));
  }
  const fit::Accesses accesses(trace, {0}, sm_90);
  fit::FamilyBounds bounds = accesses.facts().bounds;
  bounds.extent = 4096;
  const fit::Family family = fit::family(bounds);
  const auto whole = fit::search(accesses, family, {4, {1024}}, {});
  const auto cut = fit::search(accesses, family, {4, {1024}}, {.work = whole.work / 2});
  const auto least = fit::search(accesses, family, {4, {1024}}, {.work = 1});
  CHECK(whole.tried == whole.family);
  CHECK(cut.tried < cut.family);
  CHECK(least.work < cut.work);
  CHECK(cut.work < whole.work);
}

TEST_CASE("fit/search/tma_swizzles", "[fit]") {
  trace::KernelTrace trace = kernel(16384);
  trace.patterns = {access(banks::Operation::ldmatrix_x4, 16, [](auto lane) { return 128 * lane; })};
  const fit::KernelFit fit = fit::fit_kernel(trace, sm_90, {}, {});
  const fit::ArrayFit& array = fit.arrays.front();
  CHECK(array.family == 4);
  CHECK(array.verdict == FitVerdict::removed);
  CHECK(tma_name(array.after().option.change) == "CU_TENSOR_MAP_SWIZZLE_128B");
  CHECK(cute_name(array.after().option.change, 2) == "Swizzle<3, 3, 3>");
}

TEST_CASE("fit/search/unknown_makes_no_claim", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  trace.patterns = {access(banks::Operation::store, 4, [](auto lane) { return 128 * lane; })};
  CHECK(fit::fit_kernel(trace, sm_90, {}, {}).arrays.front().doubts.empty());
  SECTION("accesses that did not fit") {
    trace.excess.push_back({.accesses = 7});
    trace.excess_accesses = 7;
  }
  SECTION("engines that know few layouts") {
    trace.engines = {{0, {banks::Engine::wgmma, 4096, 0}, 3}};
    CHECK(fit::fit_kernel(trace, sm_90, {}, {}).arrays.front().family == 4);
  }
  SECTION("accesses that were left out") { trace.left_out = {{"TMA", 1}}; }
  SECTION("no known cost") {
    trace.patterns.push_back(access(banks::Operation::atomic, 16, [](auto lane) { return 16 * lane; }));
    CHECK(fit::fit_kernel(trace, sm_90, {}, {}).arrays.front().facts.unknown == 1);
  }
  SECTION("a loop counts at its least") {
    trace.patterns.push_back(access(banks::Operation::atomic, 4, [](auto lane) { return 4 * lane; }));
    trace.patterns.back().is_loop = true;
    CHECK(fit::fit_kernel(trace, sm_90, {}, {}).arrays.front().before().option.passes > 32);
  }
  SECTION("an access outside the array") {
    trace.patterns.push_back(access(banks::Operation::load, 4, [](auto lane) { return 4096 + 4 * lane; }));
    CHECK(fit::fit_kernel(trace, sm_90, {}, {}).arrays.front().verdict == FitVerdict::fixed);
    return;
  }
  CHECK(fit::fit_kernel(trace, sm_90, {}, {}).arrays.front().doubts.size() == 1);
}

TEST_CASE("fit/search/arrays_changed_alike", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  trace.arrays.push_back({"other", 4096, 4096});
  trace.patterns = {access(banks::Operation::store, 4, [](auto lane) { return 128 * lane; }),
                    access(banks::Operation::load, 4, [](auto lane) { return lane % 2 * 4096 + 128 * lane; })};
  trace.patterns[1].lane_arrays.resize(32);
  for (std::size_t lane = 1; lane < 32; lane += 2) trace.patterns[1].lane_arrays[lane] = 1;
  const fit::KernelFit fit = fit::fit_kernel(trace, sm_90, {}, {});
  REQUIRE(fit.arrays.size() == 1);
  CHECK(fit.arrays.front().name == "array, other");
  CHECK(fit.arrays.front().doubts.size() == 1);  // the distance is a guess
  CHECK(fit.arrays.front().after().option.passes == fit.after.front().all.passes);
  CHECK(fit.arrays.front().before().option.passes == 64);
  CHECK(fit.arrays.front().after().option.passes < 64);
}

TEST_CASE("fit/search/report_with_changes", "[fit]") {
  trace::KernelTrace trace = kernel(4096);
  trace.arrays.push_back({"rows", 4096, 8192});
  trace.patterns = {access(
                        banks::Operation::store, 4, [](auto lane) { return 128 * lane; }, 0xFFFFFFFF, 5),
                    access(
                        banks::Operation::store, 8, [](auto lane) { return 4096 + 256 * lane; }, 0xFFFFFFFF, 3)};
  trace.patterns[1].array = 1;
  const fit::KernelFit fit = fit::fit_kernel(trace, sm_90, {}, {});
  std::uint64_t before = 0, after = 0;
  for (const fit::ArrayFit& array : fit.arrays) {
    before += array.before().option.passes;
    after += array.after().option.passes;
    CHECK(array.verdict == FitVerdict::removed);
  }
  CHECK(fit.before.front().all.passes == before);
  CHECK(fit.after.front().all.passes == after);
  CHECK(after == 5 + 2 * 3);
}

/// Two arrays of 32 x 32 words with accesses to a column. To the second, `halves` other accesses go that a pad hurts.
fit::KernelFit fit_of_two(std::uint64_t halves, std::optional<std::uint64_t> max_shared = {}) {
  trace::KernelTrace trace = kernel(4096);
  trace.arrays.push_back({"other", 4096, 4096});
  const auto add = [&](std::uint32_t array, const std::function<std::uint32_t(std::uint32_t)>& word,
                       std::uint64_t count) {
    const auto address = [&](std::uint32_t lane) { return 4096 * array + 4 * word(lane); };
    trace.patterns.push_back(access(banks::Operation::load, 4, address, 0xFFFFFFFF, count));
    trace.patterns.back().array = array;
    trace.patterns.push_back(access(banks::Operation::store, 4, address, 0xFFFFFFFF, count));
    trace.patterns.back().array = array;
  };
  const auto column = [](std::uint32_t lane) { return 32 * lane + 31; };            // rows must stay as long
  const auto half_rows = [](std::uint32_t lane) { return lane + lane / 16 * 32; };  // the banks of both are different
  add(0, column, 1);
  add(1, column, 2);  // it chooses first
  add(1, half_rows, halves);
  return fit::fit_kernel(trace, sm_90, {{0, {4, {32, 32}}}, {1, {4, {32, 32}}}}, {.max_shared = max_shared});
}

TEST_CASE("fit/search/pad_of_another_array", "[fit]") {
  const auto kind_of = [](const fit::KernelFit& fit, const std::string& name) {
    const auto array = std::ranges::find(fit.arrays, name, &fit::ArrayFit::name);
    return array->after().option.change.kind();
  };
  const fit::KernelFit alike = fit_of_two(12), different = fit_of_two(18);
  CHECK(kind_of(alike, "array") == ChangeKind::pad);
  CHECK(kind_of(alike, "other") == ChangeKind::pad);  // 50 of 62 conflicts
  CHECK(alike.shared_after == 2 * 4224);
  CHECK(kind_of(different, "array") == ChangeKind::pad);
  CHECK(kind_of(different, "other") == ChangeKind::row_xor);  // the pad would save 44
  CHECK(kind_of(fit_of_two(12, 4096 + 4224), "other") == ChangeKind::row_xor);
}

TEST_CASE("fit/search/more_than_48_kib", "[fit]") {
  const auto fit_of = [](std::uint32_t bytes, std::optional<std::uint64_t> max_shared = {}) {
    trace::KernelTrace trace = kernel(bytes);
    const auto column = [](std::uint32_t lane) { return 4 * (32 * lane + 31); };
    trace.patterns = {access(banks::Operation::store, 4, column, 0xFFFFFFFF, 1)};
    const fit::KernelFit fit = fit::fit_kernel(trace, sm_90, {{0, {4, {bytes / 128, 32}}}}, {.max_shared = max_shared});
    return fit.arrays.front().after().option.change.kind();
  };
  constexpr std::uint32_t most = 48 << 10, pads = most / 128 * 4;
  CHECK(fit_of(most - pads) == ChangeKind::pad);
  CHECK(fit_of(most) == ChangeKind::row_xor);  // a static array cannot grow further
  CHECK(fit_of(most, most + pads) == ChangeKind::pad);
  CHECK(fit_of(most + 128) == ChangeKind::pad);  // dynamic, of a launch that has asked for more
}

}  // namespace
