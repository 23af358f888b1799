// Accesses per second on one core, for patterns of different complexity.
#include <benchmark/benchmark.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <bankwise/banks/cost.hpp>
#include <bankwise/banks/sectors.hpp>

using namespace bankwise::banks;

namespace {

struct Pattern {
  const char* name;
  std::uint32_t (*element)(unsigned lane);
};
constexpr Pattern patterns[]{
    {"consecutive", [](unsigned lane) { return std::uint32_t(lane); }},
    {"broadcast", [](unsigned) { return std::uint32_t{3}; }},
    {"stride 2", [](unsigned lane) { return std::uint32_t(2 * lane); }},
    {"stride 32", [](unsigned lane) { return std::uint32_t(32 * lane); }},
    {"scattered", [](unsigned lane) { return (lane * 2654435761U) >> 20; }},
    {"permuted", [](unsigned lane) { return std::uint32_t(lane * 13 % 32); }},
};

/// A thousand different accesses, so the branch predictor cannot learn one.
std::vector<std::vector<std::uint32_t>> accesses(const Pattern& pattern, unsigned width) {
  std::mt19937 random(1);
  std::vector<std::vector<std::uint32_t>> all(1000, std::vector<std::uint32_t>(max_lanes));
  for (auto& addresses : all) {
    const std::uint32_t base = random() % 1024 * 16;
    for (unsigned lane = 0; lane < max_lanes; ++lane) addresses[lane] = base + pattern.element(lane) * width;
  }
  return all;
}

struct Subject {
  const char* architecture;
  Operation operation;
  unsigned width;
};
constexpr Subject subjects[]{
    {"sm_90", Operation::load, 4},   {"sm_90", Operation::load, 8},   {"sm_90", Operation::load, 16},
    {"sm_90", Operation::atomic, 4}, {"sm_13", Operation::load, 4},   {"gfx942", Operation::load, 4},
    {"gfx942", Operation::load, 16}, {"gfx950", Operation::load, 16},
};

/// One access kind and one pattern, by their indices in the tables.
void accesses_a_second(benchmark::State& state) {
  const Subject& subject = subjects[state.range(0)];
  const Pattern& pattern = patterns[state.range(1)];
  const Architecture& architecture = *find_architecture(subject.architecture);
  const auto all = accesses(pattern, subject.width);
  Access access{subject.operation, subject.width, ~std::uint64_t{0} >> (max_lanes - architecture.warp), {}};
  while (state.KeepRunning()) {
    for (const auto& addresses : all) {
      access.addresses = addresses;
      benchmark::DoNotOptimize(cost(architecture, access));
    }
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(all.size()));
  state.SetLabel(std::string(subject.architecture) + " " + std::string(to_string(subject.operation)) + " " +
                 std::to_string(subject.width) + ", " + pattern.name);
}
BENCHMARK(accesses_a_second)  // NOLINT: the library keeps what it allocates
    ->ArgsProduct({benchmark::CreateDenseRange(0, std::size(subjects) - 1, 1),
                   benchmark::CreateDenseRange(0, std::size(patterns) - 1, 1)});

/// Sectors of loads from global memory, by the index of the pattern.
void sectors_a_second(benchmark::State& state) {
  const Pattern& pattern = patterns[state.range(0)];
  const Architecture& architecture = *find_architecture("sm_90");
  const auto all = accesses(pattern, 4);
  Access access{Operation::load, 4, 0xffffffff, {}};
  while (state.KeepRunning()) {
    for (const auto& addresses : all) {
      access.addresses = addresses;
      benchmark::DoNotOptimize(sectors(architecture, access));
    }
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(all.size()));
  state.SetLabel(std::string("sm_90 sectors of load 4, ") + pattern.name);
}
BENCHMARK(sectors_a_second)->DenseRange(0, std::size(patterns) - 1, 1);  // NOLINT: the library keeps what it allocates

}  // namespace
