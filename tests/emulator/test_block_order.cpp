// SPDX-License-Identifier: MIT
//
// The order of basic blocks: compared with a slow implementation, and for functions that are too large for that one.
#include <algorithm>
#include <numeric>
#include <random>

#include <bankwise/emulator/core/block_order.hpp>
#include <bankwise/emulator/core/control_flow.hpp>
#include "slow_block_order.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::emulator::BlockGraph;
using bankwise::emulator::order_of_blocks;

namespace {

constexpr unsigned LARGE = 1 << 16;

bool holds_each_once(std::vector<unsigned> order, std::size_t blocks) {
  std::sort(order.begin(), order.end());
  std::vector<unsigned> all(blocks);
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

/// Functions like those of compilers: blocks that fall through, jump ahead or, one in `loops`, back, and some that
/// return.
BlockGraph random_function(std::mt19937& random, unsigned blocks, unsigned loops) {
  BlockGraph next(blocks);
  for (unsigned i = 0; i < blocks; ++i) {
    const unsigned kind = random() % 8;
    if (kind > 0 && i + 1 < blocks) next[i].push_back(i + 1);
    if (kind < 6) {
      const bool back = random() % loops == 0;
      const unsigned reach = 1 + random() % 12;
      next[i].push_back(back ? i - std::min(i, reach) : std::min(i + reach, blocks - 1));
    }
  }
  return next;
}

/// Any block may jump anywhere: loops with several entries, unreachable blocks.
BlockGraph random_graph(std::mt19937& random, unsigned blocks) {
  BlockGraph next(blocks);
  const unsigned jumps = random() % (2 * blocks);
  for (unsigned i = 0; i < jumps; ++i) next[random() % blocks].push_back(random() % blocks);
  return next;
}

void check_same(const BlockGraph& next) {
  const std::vector<unsigned> order = order_of_blocks(next);
  INFO("a function of " << next.size() << " blocks");
  REQUIRE(holds_each_once(order, next.size()));
  REQUIRE(order == slow_order_of_blocks(next));
}

}  // namespace

TEST_CASE("emulator/block_order/random_functions") {
  std::mt19937 random(14);
  for (unsigned i = 0; i < 1000; ++i) {
    check_same(random_function(random, 1 + random() % 40, 2 + random() % 6));
    check_same(random_graph(random, 1 + random() % 12));
  }
}

TEST_CASE("emulator/block_order/this_program") {
  const std::vector<BlockGraph> graphs = emulator::block_graphs_of_program();
  unsigned with_loops = 0;
  for (const BlockGraph& next : graphs) {
    if (next.size() > 500) continue;  // too slow
    check_same(next);
    with_loops += order_of_blocks(next).size() > 10 ? 1 : 0;
  }
#if BANKWISE_HAVE_CAPSTONE
  CHECK(with_loops > 100);
#endif
}

TEST_CASE("emulator/block_order/unrolled") {
  BlockGraph next(LARGE);  // if after if, in one loop
  for (unsigned i = 0; i + 1 < LARGE; ++i) next[i] = {i + 1, std::min(i + 2, LARGE - 1)};
  const bool in_a_loop = GENERATE(false, true);
  if (in_a_loop) next[LARGE - 2].push_back(1);
  std::vector<unsigned> by_address(LARGE);
  std::iota(by_address.begin(), by_address.end(), 0);
  CHECK(order_of_blocks(next) == by_address);
}

TEST_CASE("emulator/block_order/many_exits") {
  // An even block continues at the next even one or leaves by the odd one between; the last jumps back to the first.
  BlockGraph next(LARGE);
  for (unsigned i = 0; i < LARGE; i += 2) {
    next[i] = {i + 1, (i + 2) % LARGE};
    if (i % 64 == 0) next[i + 1] = {LARGE - 1};  // through the last exit
  }
  const std::vector<unsigned> order = order_of_blocks(next);
  REQUIRE(holds_each_once(order, LARGE));
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("emulator/block_order/many_loops") {
  constexpr unsigned loops = LARGE / 4;
  // 0: entry to 2; 1: body; 2: condition; 3: to the next loop
  BlockGraph next(LARGE);
  std::vector<unsigned> expected;
  for (unsigned i = 0; i < LARGE; i += 4) {
    next[i] = {i + 2};
    next[i + 1] = {i + 2};
    next[i + 2] = {i + 1, i + 3};
    if (i + 4 < LARGE) next[i + 3] = {i + 4};
    expected.insert(expected.end(), {i, i + 2, i + 1, i + 3});
  }
  CHECK(order_of_blocks(next) == expected);
  // The same around 16 others each.
  for (unsigned i = 0; i < loops; i += 16) next[4 * (i + 15) + 3].push_back(4 * i + 1);
  const std::vector<unsigned> nested = order_of_blocks(next);
  CHECK(holds_each_once(nested, LARGE));
}

TEST_CASE("emulator/block_order/deep_nesting") {
  constexpr unsigned depth = 1000;
  BlockGraph next(2 * depth);
  for (unsigned i = 0; i + 1 < 2 * depth; ++i) next[i].push_back(i + 1);
  for (unsigned i = 0; i < depth; ++i) next[2 * depth - 1 - i].push_back(i);
  std::vector<unsigned> by_address(2 * depth);
  std::iota(by_address.begin(), by_address.end(), 0);
  CHECK(order_of_blocks(next) == by_address);
}
