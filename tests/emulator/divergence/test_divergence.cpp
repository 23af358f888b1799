// The emulator, which first runs the lanes with the deepest call and the lowest program counter, against lanes that run
// alone and know the paths on which they come to their statements: both must find the same lanes together, at the same
// addresses.
#include <bankwise/emulator/cuda.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <bankwise/emulator/core/emulate.hpp>
#include "fill.cuh"
#include "kernels.cuh"
#include "requests.hpp"
#include "tests/catch_any.hpp"

using lockstep::lines;
using lockstep::Order;
using lockstep::Outcome;

namespace {

struct Divergence {
  const char* name;
  lockstep::Kernel kernel;
  Order order;
};

#define ROW(name, order) {#name, diverge_##name, Order::order},
const std::vector<Divergence> divergences{FOR_EACH_DIVERGENCE(ROW)};
#undef ROW

std::vector<unsigned> random_input(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned> input(256);
  for (unsigned& word : input) word = unsigned(random());
  return input;
}

/// The requests of each warp, in the form that does not depend on the recorder.
std::vector<lockstep::Requests> requests(const bankwise::trace::KernelTrace& trace, unsigned threads) {
  std::vector<lockstep::Requests> warps((threads + trace.warp - 1) / trace.warp);
  for (const auto& step : trace.order) {
    const auto& access = trace.patterns.at(step.pattern);
    const auto& array = trace.arrays.at(access.array);
    const bool store = access.operation == bankwise::banks::Operation::store;
    if (access.width != 4 || (!store && access.operation != bankwise::banks::Operation::load)) FAIL("not a word");
    lockstep::Request request{array.name, store, access.level, access.mask, {}};
    for (unsigned lane = 0; lane < trace.warp; ++lane) {
      if ((access.mask >> lane & 1) == 0) continue;
      request.addresses.push_back(access.addresses.at(lane) - array.offset);
    }
    warps.at(step.warp).push_back(request);
  }
  return warps;
}

Outcome emulated(const Divergence& divergence, unsigned threads, unsigned warp, const std::vector<unsigned>& input) {
  std::vector<unsigned> output(threads);
  const auto trace =
      bankwise::emulate(divergence.kernel, {.grid = 1, .block = threads, .warp = warp, .record_order = true},
                        input.data(), output.data());
  return {requests(trace, threads), output};
}

/// Reports the first difference, not all requests.
void check_same(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  std::size_t same = 0;
  while (same < found.size() && same < expected.size() && found[same] == expected[same]) ++same;
  const std::string end = "no more";
  INFO("request " << same << " of " << expected.size());
  CHECK((same < found.size() ? found[same] : end) == (same < expected.size() ? expected[same] : end));
}

}  // namespace

TEST_CASE("emulator/divergence/equals_lanes_alone") {
  for (const Divergence& divergence : divergences) {
#if !BANKWISE_HAVE_CAPSTONE  // without it the order is that of addresses, and this test would fail
    if (divergence.name == std::string("short_circuit_of_a_loop")) continue;
#endif
    DYNAMIC_SECTION(divergence.name) {
      const unsigned threads = GENERATE(64U, 50U);
      const unsigned warp = GENERATE(32U, 64U, 16U);
      for (unsigned seed = 1; seed <= 4; ++seed) {
        CAPTURE(threads, warp, seed);
        const auto input = random_input(seed);
        const auto found = emulated(divergence, threads, warp, input);
        const auto expected = lockstep::run_alone(lockstep::kernel_alone(divergence.name), threads, warp, input);
        CHECK(found.output == expected.output);
        REQUIRE(found.warps.size() == expected.warps.size());
        for (std::size_t i = 0; i < found.warps.size(); ++i) {
          CAPTURE(i);
          check_same(lines(found.warps[i], divergence.order), lines(expected.warps[i], divergence.order));
        }
      }
    }
  }
}

// To match lanes by how often each has executed a statement would be wrong, and these inputs show it: it would make as
// many requests as the busiest lane has accesses.
TEST_CASE("emulator/divergence/counts_disagree") {
  for (const auto& warp : emulated(divergences.front(), 64, 32, random_input(1)).warps) {
    std::size_t requests = 0;
    std::array<unsigned, 32> accesses{};
    for (const auto& request : warp) {
      if (request.array != "inner" || request.store) continue;
      ++requests;
      for (unsigned lane = 0; lane < 32; ++lane) accesses[lane] += request.mask >> lane & 1;
    }
    CHECK(requests == 16);
    CHECK(std::ranges::max(accesses) == 10);
  }
}
