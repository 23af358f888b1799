// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>
#include <set>

#include "bankcheck/opencl/plugin/control_flow.hpp"
#include "tests/catch_any.hpp"

using bankwise::opencl::loops_in_layout;
using bankwise::opencl::natural_loops;

namespace {

using Graph = std::vector<std::vector<unsigned>>;
using Loops = std::vector<std::vector<unsigned>>;

/// The blocks on paths from `from` that never enter `without`.
std::set<unsigned> reachable(const Graph& edges, unsigned from, unsigned without) {
  std::set<unsigned> seen;
  std::vector<unsigned> left;
  if (from != without) left.push_back(from);
  while (!left.empty()) {
    const unsigned block = left.back();
    left.pop_back();
    if (!seen.insert(block).second) continue;
    for (const unsigned to : edges[block]) {
      if (to != without) left.push_back(to);
    }
  }
  return seen;
}

/// By the definitions alone: a block dominates the blocks that become unreachable without it; a loop is its header and
/// all blocks that reach a back edge to it without passing it; headers are sorted by the number of blocks that dominate
/// them.
Loops slow_loops(const Graph& successors) {
  const unsigned blocks = unsigned(successors.size()), no_block = blocks;
  const auto alive = reachable(successors, 0, no_block);
  std::vector<std::set<unsigned>> dominated(blocks);
  std::vector<unsigned> depth(blocks);
  for (const unsigned block : alive) {
    const auto left = reachable(successors, 0, block);
    for (const unsigned other : alive) {
      if (left.contains(other)) continue;
      dominated[block].insert(other);
      ++depth[other];
    }
  }
  Loops loops(blocks);
  for (const unsigned header : alive) {
    std::set<unsigned> latches;
    for (const unsigned from : dominated[header]) {
      const auto& to = successors[from];
      if (std::find(to.begin(), to.end(), header) != to.end()) latches.insert(from);
    }
    if (latches.empty()) continue;
    loops[header].push_back(header);
    for (const unsigned block : alive) {
      const auto passed = reachable(successors, block, header);
      const bool inside =
          std::any_of(latches.begin(), latches.end(), [&](unsigned latch) { return passed.contains(latch); });
      if (block != header && inside) loops[block].push_back(header);
    }
  }
  for (auto& headers : loops) {
    std::sort(headers.begin(), headers.end(), [&](unsigned a, unsigned b) { return depth[a] < depth[b]; });
  }
  return loops;
}

Graph random_graph(std::mt19937& random) {
  Graph graph(1 + random() % 12);
  const unsigned max_successors = 1 + random() % 3;
  for (auto& successors : graph) {
    for (unsigned left = random() % (max_successors + 1); left > 0; --left) {
      successors.push_back(unsigned(random() % graph.size()));
    }
  }
  return graph;
}

}  // namespace

TEST_CASE("opencl/plugin/loops/no_loops") {
  CHECK(natural_loops({}).empty());
  CHECK(natural_loops({{}}) == Loops{{}});
  CHECK(natural_loops({{1, 2}, {3}, {3}, {}}) == Loops{{}, {}, {}, {}});
}

TEST_CASE("opencl/plugin/loops/self_loop") {
  CHECK(natural_loops({{1}, {1, 2}, {}}) == Loops{{}, {1}, {}});
  CHECK(natural_loops({{0}}) == Loops{{0}});
}

TEST_CASE("opencl/plugin/loops/while_loop") { CHECK(natural_loops({{1}, {2, 3}, {1}, {}}) == Loops{{}, {1}, {1}, {}}); }

TEST_CASE("opencl/plugin/loops/both_arms") {
  CHECK(natural_loops({{1}, {2, 3}, {4}, {4}, {1, 5}, {}}) == Loops{{}, {1}, {1}, {1}, {1}, {}});
}

TEST_CASE("opencl/plugin/loops/nested") {
  //                   0    1       2       3       4    5    6
  CHECK(natural_loops({{1}, {2, 6}, {3, 5}, {4, 3}, {2}, {1}, {}}) ==
        Loops{{}, {1}, {1, 2}, {1, 2, 3}, {1, 2}, {1}, {}});
  // The number of a block does not matter: here the inner header is block 1 and the outer one is block 3.
  CHECK(natural_loops({{3}, {1, 2}, {3}, {1, 4}, {}}) == Loops{{}, {3, 1}, {3}, {3}, {}});
}

TEST_CASE("opencl/plugin/loops/consecutive") {
  CHECK(natural_loops({{1}, {1, 2}, {3}, {3, 4}, {}}) == Loops{{}, {1}, {}, {3}, {}});
}

TEST_CASE("opencl/plugin/loops/two_back_edges") {
  CHECK(natural_loops({{1}, {2, 3}, {1, 4}, {1}, {}}) == Loops{{}, {1}, {1}, {1}, {}});
}

TEST_CASE("opencl/plugin/loops/exit_targets") {
  // 2 breaks to 5, 3 returns through 6, and 1 ends the loop as usual.
  CHECK(natural_loops({{1}, {2, 4}, {3, 5}, {1, 6}, {7}, {7}, {}, {}}) == Loops{{}, {1}, {1}, {1}, {}, {}, {}, {}});
}

TEST_CASE("opencl/plugin/loops/break_out_of_two") {
  CHECK(natural_loops({{1}, {2, 5}, {3, 4}, {2, 5}, {1}, {}}) == Loops{{}, {1}, {1, 2}, {1, 2}, {1}, {}});
}

TEST_CASE("opencl/plugin/loops/two_entries") {
  CHECK(natural_loops({{1, 2}, {2, 3}, {1}, {}}) == Loops{{}, {}, {}, {}});
  // Inside a natural loop, the cycle belongs to that loop.
  CHECK(natural_loops({{1}, {2, 3}, {3}, {2, 4}, {1, 5}, {}}) == Loops{{}, {1}, {1}, {1}, {1}, {}});
}

TEST_CASE("opencl/plugin/loops/unreachable") {
  // 3 and 4 are an unreachable cycle, and 4 leads into the loop and to the entry.
  CHECK(natural_loops({{1}, {1, 2}, {}, {4}, {3, 1, 0}}) == Loops{{}, {1}, {}, {}, {}});
}

TEST_CASE("opencl/plugin/loops/random_graphs") {
  std::mt19937 random(1);
  std::size_t in_loops = 0, nested = 0, cycles_without_loop = 0;
  for (int i = 0; i < 5000; ++i) {
    const Graph graph = random_graph(random);
    const Loops loops = natural_loops(graph), expected = slow_loops(graph);
    INFO(Catch::Detail::stringify(graph));
    REQUIRE(loops == expected);
    for (unsigned block = 0; block < graph.size(); ++block) {
      in_loops += loops[block].empty() ? 0 : 1;
      nested += loops[block].size() > 1 ? 1 : 0;
      bool on_cycle = false;
      for (const unsigned to : graph[block]) {
        on_cycle |= reachable(graph, to, unsigned(graph.size())).contains(block);
      }
      cycles_without_loop += on_cycle && loops[block].empty() ? 1 : 0;
    }
  }
  // The graphs are of all kinds.
  CHECK(in_loops > 1000);
  CHECK(nested > 1000);
  CHECK(cycles_without_loop > 1000);
}

TEST_CASE("opencl/plugin/loops/exit_between_blocks") {
  // for (...) { if (a) { x; break; } } y: 0 -> 1 header -> 2 body -> 3 x, 4 next -> 1; 3 -> 5 and 1 -> 5.
  const Graph with_break{{1}, {2, 5}, {3, 4}, {5}, {1}, {}};
  CHECK(natural_loops(with_break)[3].empty());
  CHECK(loops_in_layout(with_break) == Loops{{}, {1}, {1}, {1}, {1}, {}});
  // Two loops, and an exit from both: 3 exits the inner loop, 2 and 4, and the outer one, which also contains 1 and 5.
  const Graph with_return{{1}, {2, 6}, {3, 4}, {6}, {2, 5}, {1}, {}};
  CHECK(loops_in_layout(with_return) == Loops{{}, {1}, {1, 2}, {1, 2}, {1, 2}, {1}, {}});
  // A block with other predecessors, or after the loop, does not belong to it.
  CHECK(loops_in_layout({{1, 3}, {2, 5}, {3, 4}, {5}, {1}, {}}) == Loops{{}, {1}, {1}, {}, {1}, {}});
}
