// The whole search on one core, for many different accesses: those of a histogram, which no change makes cheaper, so
// that no change can be given up early; and columns of tiles at many places, which a pad fixes.
#include <benchmark/benchmark.h>

#include <random>

#include "bankcheck/fit/fit.hpp"

using namespace bankwise;

namespace {

enum Kind { histogram, columns };

trace::KernelTrace accesses(std::size_t count, Kind kind) {
  constexpr std::uint32_t bytes = 32768;
  trace::KernelTrace trace{.kernel = "k", .blocks = 1, .levels = 1};
  trace.shapes.push_back({{256, 1, 1}, {256, 1, 1}, 1});
  trace.sites.push_back({.file = "k.cu", .line = 1, .function = "k"});
  trace.arrays.push_back({"array", 0, bytes});
  std::mt19937 random(1);
  trace::Pattern pattern{.mask = 0xFFFFFFFF, .count = 1};
  pattern.addresses.resize(32);
  for (std::size_t i = 0; i < count; ++i) {
    // Columns: rows of 128 bytes, anywhere, in any order, from any column on.
    const std::uint32_t first = random() % (bytes / 128) * 128, column = random() % 32 * 4, mask = random() % 32;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t row = (first + (lane ^ mask) * 128) % bytes;
      pattern.addresses[lane] =
          kind == histogram ? random() % (bytes / 4) * 4 : row + (column + random() % 2 * 4) % 128;
    }
    pattern.operation = i == 0 ? banks::Operation::store : banks::Operation::load;
    trace.patterns.push_back(pattern);
  }
  return trace;
}

void whole_search(benchmark::State& state) {
  const trace::KernelTrace trace = accesses(std::size_t(state.range(1)), Kind(state.range(0)));
  const fit::Architectures architectures{banks::find_architecture("sm_90")};
  std::size_t tried = 0, family = 0;
  while (state.KeepRunning()) {
    const fit::KernelFit fit = fit::fit_kernel(trace, architectures, {}, {});
    tried = fit.arrays.front().tried;
    family = fit.arrays.front().family;
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
  state.SetLabel((state.range(0) == histogram ? "histogram, " : "columns, ") + std::to_string(tried) + " of " +
                 std::to_string(family) + " changes tried");
}
BENCHMARK(whole_search)  // NOLINT: the library keeps what it allocates
    ->ArgsProduct({{histogram, columns}, {1000, 100000, 1000000}})
    ->Unit(benchmark::kSecond);

}  // namespace
