// Single-pass scans: how blocks communicate, over many launches with one state, on one and on many host threads; and
// the blocks that poll for a word that is never published.
#include <numeric>

#include <bankwise/emulator/cuda.hpp>
#include <bankwise/study/case_study.hpp>
#include "tests/catch_any.hpp"

namespace sound {
#include "prefix_sum/look_back.cuh"
}
namespace gives_up_at_once {
#include "mutants/never_waits.cuh"
}
namespace silent {
#include "mutants/tile_3_is_silent.cuh"
}
namespace engineless {
#include "mutants/ring_without_engine.cuh"
}

using namespace bankwise;
using namespace bankwise::study;

namespace {

using Kernel = void (*)(const unsigned*, unsigned*, unsigned long long*, std::size_t);
using State = std::vector<unsigned long long>;

Words input_of(std::size_t n, unsigned seed) {
  Words words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = hashed_word(i + 1000003 * seed);
  return words;
}

/// A kernel, and how to launch it. Its arguments have the same kind in each of the namespaces.
struct Scan {
  const char* name;
  Kernel kernel;
  std::size_t tile;
  unsigned block, dynamic_shared, max_blocks;
};
constexpr unsigned as_many_as_tiles = ~0U;
/// look_back.cuh, intact or mutated: launched in the same way.
Scan looks_back(const char* name, Kernel kernel) {
  using namespace sound::scan_look_back_detail;
  return {name, kernel, TILE, BLOCK, 0, as_many_as_tiles};
}
const Scan look_back = looks_back("look_back", sound::scan_look_back);
const Scan never_waits = looks_back("never_waits", gives_up_at_once::scan_look_back);
const Scan tile_3_is_silent = looks_back("tile_3_is_silent", silent::scan_look_back);

void ring_of_rank_0(const unsigned* in, unsigned* out, unsigned long long* state, std::size_t n) {
  engineless::scan_ring(in, out, state, nullptr, n, 0);
}
Scan ring(unsigned blocks) {
  using namespace engineless::scan_ring_detail;
  return {"ring", ring_of_rank_0, TILE, BLOCK, STAGES * TILE * 4, blocks};
}

State state_for(const Scan& scan, std::size_t n) { return State(32 + tiles(n, scan.tile, 1), 0); }

/// One launch, right or not. `more_blocks`: more than there are tiles.
void check_launch(const Scan& scan, State& state, std::size_t n, unsigned threads, unsigned seed, unsigned warp = 32,
                  unsigned more_blocks = 0) {
  const Words input = input_of(n, seed);
  Words expected(n), output(n, 0xCDCDCDCD);
  std::exclusive_scan(input.begin(), input.end(), expected.begin(), 0U);
  const auto blocks = more_blocks + unsigned(std::min<std::uint64_t>(tiles(n, scan.tile, 1), scan.max_blocks));
  emulator::Launch launch{.grid = blocks, .block = scan.block};
  launch.dynamic_shared = scan.dynamic_shared;
  launch.threads = threads;
  launch.warp = warp;
  launch.source_lines = false;
  emulate(scan.kernel, launch, input.data(), output.data(), state.data(), n);
  INFO(scan.name << ", n " << n << ", " << blocks << " blocks on " << threads << " threads, launch " << seed);
  CHECK(output == expected);
}

/// Launches of all sizes, of up to `most` tiles, with one state, in ascending and descending order.
void check_sizes(const Scan& scan, unsigned threads, std::size_t most) {
  const std::size_t t = scan.tile, many = most * t - 1234;
  State state = state_for(scan, many);
  unsigned launch = 0;
  for (const std::size_t n : {many, std::size_t{0}, 3 * t, std::size_t{1}, 3 * t + 1, std::size_t{3}, std::size_t{5},
                              t - 1, t, t + 1, 7 * t - 1, 7 * t, many, 5 * t + 3, 9 * t + 2}) {
    check_launch(scan, state, n, threads, launch);
    // All tickets have been returned, and the launches are counted.
    CHECK(state[0] == (1ULL + launch) << 32);
    ++launch;
  }
}

}  // namespace

TEST_CASE("emulator/look_back/no_clearing") {
  for (const unsigned threads : {1, 2, 3, 16}) check_sizes(look_back, threads, 41);
}

TEST_CASE("emulator/look_back/missing_tiles") {
  for (const unsigned threads : {1, 2, 16}) check_sizes(never_waits, threads, 41);
}

TEST_CASE("emulator/look_back/silent_tile") {
  for (const unsigned threads : {1, 2, 16}) check_sizes(tile_3_is_silent, threads, 41);
}

TEST_CASE("emulator/look_back/launch_numbers") {
  for (const Scan& scan : {look_back, never_waits, ring(2)}) {
    const std::size_t n = 9 * scan.tile + 77;
    State state = state_for(scan, n);
    state[0] = ((1ULL << 30) - 2) << 32;  // the number has 30 bits in a tile's word, 32 in the counter
    for (unsigned launch = 0; launch < 4; ++launch) check_launch(scan, state, n, 4, launch);
    state[0] = ((1ULL << 32) - 2) << 32;
    for (unsigned launch = 0; launch < 4; ++launch) check_launch(scan, state, n, 4, launch);
  }
}

TEST_CASE("emulator/look_back/wave64") {
  State state = state_for(look_back, 20 * look_back.tile);
  check_launch(look_back, state, 20 * look_back.tile - 5, 4, 0, 64);
}

TEST_CASE("emulator/look_back/ring_any_order") {
  // Alone, on one thread; more blocks than threads; more threads than blocks; equally many.
  for (const auto& [blocks, threads] : {std::pair(1U, 1U), {7U, 2U}, {2U, 7U}, {3U, 3U}}) {
    check_sizes(ring(blocks), threads, 12);
  }
}

TEST_CASE("emulator/look_back/ring_more_blocks") {
  const Scan scan = ring(1);
  State state = state_for(scan, 3 * scan.tile);
  for (unsigned launch = 0; launch < 3; ++launch) {
    check_launch(scan, state, 2 * scan.tile + 9, 0, 1, 32, 10);
    CHECK(state[0] == (1ULL + launch) << 32);
  }
}
