// SPDX-License-Identifier: MIT
//
// The emulator, which first runs the lanes with the deepest call and the lowest program counter, against the
// interpreter, which knows the statements: both must find the same lanes together, at the same addresses.
#include <bankwise/emulator/cuda.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <bankwise/emulator/core/emulate.hpp>
#include "branches.cuh"
#include "helpers.cuh"
#include "interpreter.hpp"
#include "lockstep_programs.hpp"
#include "loops.cuh"
#include "tests/catch_any.hpp"
#include "warp_synchronous.cuh"

using lockstep::Order;

namespace {

/// The order in which a branch's arms run is not specified: a compiler may place `else` before `then`, and the emulator
/// follows the compiler. So if two arms have accesses, only the order within each statement is compared, and if two
/// arms call one function, not even that. Lanes, addresses and the number of accesses are always compared.
struct Divergence {
  const char* name;
  void (*kernel)(const unsigned*, unsigned*);
  lockstep::Program (*program)();
  Order order;
};

const std::vector<Divergence> divergences {
  {"nested loops", diverge_nested_loops, lockstep::nested_loops, Order::all},
      {"triple nesting", diverge_triple_nesting, lockstep::triple_nesting, Order::all},
      {"break and continue", diverge_break_and_continue, lockstep::break_and_continue, Order::of_statement},
      {"break in the middle", diverge_break_in_the_middle, lockstep::break_in_the_middle, Order::all},
      {"do while", diverge_do_while, lockstep::do_while_loop, Order::all},
      {"drop out then together", diverge_drop_out_then_together, lockstep::drop_out_then_together, Order::all},
      {"loops in arms", diverge_loops_in_arms, lockstep::loops_in_arms, Order::of_statement},
      {"early return", diverge_early_return, lockstep::early_return, Order::of_statement},
      {"return in a loop", diverge_return_in_a_loop, lockstep::return_in_a_loop, Order::all},
      {"switch", diverge_switch, lockstep::switch_statement, Order::of_statement},
      {"else if", diverge_else_if, lockstep::else_if, Order::of_statement},
      {"short circuit", diverge_short_circuit, lockstep::short_circuit, Order::all},
#if BANKWISE_HAVE_CAPSTONE  // without it the order is that of addresses, and this test would fail
      {"short circuit of a loop", diverge_short_circuit_of_a_loop, lockstep::short_circuit_of_a_loop, Order::all},
#endif
      {"state machine", diverge_state_machine, lockstep::state_machine, Order::of_statement},
      {"conditional operator", diverge_conditional_operator, lockstep::conditional_operator, Order::of_statement},
      {"helper", diverge_helper, lockstep::helper, Order::all},
      {"helper in both arms", diverge_helper_in_both_arms, lockstep::helper_in_both_arms, Order::none},
      {"helpers two deep", diverge_helpers_two_deep, lockstep::helpers_two_deep, Order::all},
      {"mutual recursion", diverge_mutual_recursion, lockstep::mutual_recursion, Order::all},
      {"recursion", diverge_recursion, lockstep::recursion, Order::of_statement},
      {"helper with returns", diverge_helper_with_returns, lockstep::helper_with_returns, Order::all},
      {"syncwarp", diverge_syncwarp, lockstep::syncwarp, Order::all},
      {"syncwarp of some", diverge_syncwarp_of_some, lockstep::syncwarp_of_some, Order::of_statement},
};

std::vector<unsigned> random_input(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned> input(256);
  for (unsigned& word : input) word = unsigned(random());
  return input;
}

/// The requests of each warp, in the interpreter's form.
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

struct Emulated {
  std::vector<lockstep::Requests> warps;
  std::vector<unsigned> output;
};

Emulated emulated(const Divergence& divergence, unsigned threads, unsigned warp, const std::vector<unsigned>& input) {
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

TEST_CASE("emulator/divergence/equals_interpreter") {
  for (const Divergence& divergence : divergences) {
    DYNAMIC_SECTION(divergence.name) {
      const unsigned threads = GENERATE(64U, 50U);
      const unsigned warp = GENERATE(32U, 64U, 16U);
      for (unsigned seed = 1; seed <= 4; ++seed) {
        CAPTURE(threads, warp, seed);
        const auto input = random_input(seed);
        const auto found = emulated(divergence, threads, warp, input);
        const auto expected = lockstep::interpret(divergence.program(), threads, warp, input);
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

TEST_CASE("emulator/divergence/counts_disagree") {
  const auto input = random_input(1);
  const auto found = emulated(divergences.front(), 64, 32, input);
  const auto expected = lockstep::interpret(lockstep::nested_loops(), 64, 32, input);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto right = of(expected.warps.at(i), "inner", false);
    const auto wrong = of(matched_by_count(found.warps.at(i)), "inner", false);
    CHECK(lines(right, Order::none) != lines(wrong, Order::none));
    CHECK(right.size() == 16);
    CHECK(wrong.size() == 10);
    CHECK(lanes(right) == lanes(wrong));
  }
}
