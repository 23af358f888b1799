#include <algorithm>
#include <random>
#include <set>

#include "bankcheck/opencl/plugin/control_flow.hpp"
#include "bankcheck/opencl/plugin/group_recorder.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise::opencl;
using bankwise::opencl::loops_in_layout;
using bankwise::opencl::natural_loops;

namespace {

// Headers and calls are identified by their addresses alone.
const char places[5]{};
const void* const outer = &places[0];
const void* const inner = &places[1];
const void* const other = &places[2];
const void* const here = &places[3];
const void* const there = &places[4];

/// What a lane does: O enters the header of the outer loop, o another block of it, I the header of the inner loop in
/// it, N that of the inner loop in a function, X that of another loop, and . a block in no loop. ( and [ are calls at
/// two places, ) is a return.
void play(LanePath& lane, char event) {
  switch (event) {
    case 'O': return lane.enter_block({{outer}, true});
    case 'o': return lane.enter_block({{outer}, false});
    case 'I': return lane.enter_block({{outer, inner}, true});
    case 'N': return lane.enter_block({{inner}, true});
    case 'X': return lane.enter_block({{other}, true});
    case '.': return lane.enter_block({{}, false});
    case '(': return lane.enter_call(here);
    case '[': return lane.enter_call(there);
    default: return lane.leave_call();
  }
}

/// The number of a lane's path at its end; `asks`: and before, after each event.
std::uint32_t number_of(Paths& paths, const std::string& events, bool asks) {
  LanePath lane;
  for (const char event : events) {
    play(lane, event);
    if (asks) (void)lane.number(paths);
  }
  return lane.number(paths);
}

}  // namespace

TEST_CASE("opencl/plugin/lane_path/equal_numbers") {
  struct Case {
    const char* name;
    std::vector<std::string> equal, different;  // from the first of `equal`
  };
  const Case cases[]{
      {"the root", {"", ".", "..", "O.", "OOOOOOO.", "OI.", "()", "[]"}, {"O", "(", "["}},
      {"both arms in a loop", {"Oo", "Ooo"}, {""}},
      {"both arms, in its second iteration", {"OoOo", "OooOoo"}, {"", "Oo"}},
      {"both arms, in its third iteration", {"OoOoOo", "OooOooOoo"}, {"", "Oo", "OoOo"}},
      {"iterations", {"O"}, {"OO", "OOO", "OOOO", "OOOOO", "OOOOOOO", "X"}},
      {"later iterations", {"OOOO"}, {"OO", "OOO", "OOOOO"}},
      {"an inner loop", {"OI"}, {"OIII", "OIoO", "OIoOI"}},
      {"`continue` of the outer loop, from within the inner one", {"OIoO", "OIIIO"}, {"OI"}},
      {"the same iteration of the inner loop, another one of the outer", {"OIoOI", "OIIIOI"}, {"OI"}},
      {"from one loop directly into the next", {"X", "OX"}, {"O"}},
      {"a call site", {"(", "[](", "(()"}, {"", "[", "()[", "((", "O("}},
      {"a call in a loop", {"O(", "O(NN."}, {"O", "O(N", "O(NN.N)O(", "("}},
      {"iterations in a function", {"O(N"}, {"O(", "O(NN"}},
      {"a return from within a loop", {"O", "O(NN.N)"}, {"O("}},
      {"a path that has returned", {"[N", "(N)[N"}, {"(N"}},
  };
  for (const Case& paths_of_case : cases) {
    Paths paths;
    const std::uint32_t number = number_of(paths, paths_of_case.equal[0], true);
    for (const bool asks : {false, true}) {
      INFO(paths_of_case.name << (asks ? ", asked after each event" : ""));
      for (const auto& events : paths_of_case.equal) CHECK(number_of(paths, events, asks) == number);
      for (const auto& events : paths_of_case.different) CHECK(number_of(paths, events, asks) != number);
      CHECK(number_of(paths, "", asks) == Paths::root);
    }
  }
}

TEST_CASE("opencl/plugin/lane_path/cleared_numbers") {
  Paths paths;
  LanePath old, silent;
  for (LanePath* lane : {&old, &silent}) {
    lane->enter_block({{outer}, true});
    lane->enter_block({{outer}, true});
    lane->enter_call(here);
    lane->enter_block({{inner}, true});
  }
  for (int i = 0; i < 5; ++i) {  // numbers that no other lane has
    LanePath elsewhere;
    for (int turn = 0; turn <= i; ++turn) elsewhere.enter_block({{other}, true});
    (void)elsewhere.number(paths);
  }
  const auto before = old.number(paths);
  const auto epoch = paths.epoch();
  paths.clear();
  CHECK(paths.epoch() != epoch);
  LanePath first;
  first.enter_block({{other}, true});
  const auto taken = first.number(paths);
  CHECK(old.number(paths) == silent.number(paths));
  CHECK(old.number(paths) != before);  // there are fewer now
  CHECK(old.number(paths) != taken);
  old.leave_call();
  CHECK(old.number(paths) != silent.number(paths));
  silent.leave_call();
  CHECK(old.number(paths) == silent.number(paths));
}

TEST_CASE("opencl/plugin/watched_launches/by_kernel_and_size") {
  WatchedLaunches launches(bankwise::support::OpenclRequest{.max_launches = 2});
  const WatchedLaunches::Size small{64, 1, 1}, large{128, 1, 1};
  CHECK(launches.next("a", small, small));
  CHECK(launches.next("a", small, small));
  CHECK_FALSE(launches.next("a", small, small));
  CHECK(launches.next("a", large, small));
  CHECK(launches.next("b", small, small));
  WatchedLaunches of_globs(bankwise::support::OpenclRequest{.kernels = {"scan_*", "sort"}});
  for (const char* name : {"scan_", "scan_local", "sort"}) CHECK(of_globs.next(name, small, small));
  for (const char* name : {"scan", "my_scan_", "sort2", ""}) CHECK_FALSE(of_globs.next(name, small, small));
}

// The loops of a graph of blocks.

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
    for (const unsigned below : alive) {
      if (left.contains(below)) continue;
      dominated[block].insert(below);
      ++depth[below];
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

TEST_CASE("opencl/plugin/loops/shapes") {
  const auto check = [](const char* name, const Graph& successors, const Loops& loops) {
    INFO(name);
    CHECK(natural_loops(successors) == loops);
  };
  check("no blocks", {}, {});
  check("one block", {{}}, {{}});
  check("no loops", {{1, 2}, {3}, {3}, {}}, {{}, {}, {}, {}});
  check("of one block", {{1}, {1, 2}, {}}, {{}, {1}, {}});
  check("of the entry", {{0}}, {{0}});
  check("while", {{1}, {2, 3}, {1}, {}}, {{}, {1}, {1}, {}});
  check("both arms", {{1}, {2, 3}, {4}, {4}, {1, 5}, {}}, {{}, {1}, {1}, {1}, {1}, {}});
  //               0    1       2       3       4    5    6
  check("nested", {{1}, {2, 6}, {3, 5}, {4, 3}, {2}, {1}, {}}, {{}, {1}, {1, 2}, {1, 2, 3}, {1, 2}, {1}, {}});
  // The number of a block does not matter: here the inner header is block 1 and the outer one is block 3.
  check("other numbers", {{3}, {1, 2}, {3}, {1, 4}, {}}, {{}, {3, 1}, {3}, {3}, {}});
  check("consecutive", {{1}, {1, 2}, {3}, {3, 4}, {}}, {{}, {1}, {}, {3}, {}});
  check("two back edges", {{1}, {2, 3}, {1, 4}, {1}, {}}, {{}, {1}, {1}, {1}, {}});
  // 2 breaks to 5, 3 returns through 6, and 1 ends the loop as usual.
  check("exits", {{1}, {2, 4}, {3, 5}, {1, 6}, {7}, {7}, {}, {}}, {{}, {1}, {1}, {1}, {}, {}, {}, {}});
  check("break out of two", {{1}, {2, 5}, {3, 4}, {2, 5}, {1}, {}}, {{}, {1}, {1, 2}, {1, 2}, {1}, {}});
  check("two entries", {{1, 2}, {2, 3}, {1}, {}}, {{}, {}, {}, {}});
  // Inside a natural loop, the cycle belongs to that loop.
  check("two entries in a loop", {{1}, {2, 3}, {3}, {2, 4}, {1, 5}, {}}, {{}, {1}, {1}, {1}, {1}, {}});
  // 3 and 4 are an unreachable cycle, and 4 leads into the loop and to the entry.
  check("unreachable", {{1}, {1, 2}, {}, {4}, {3, 1, 0}}, {{}, {1}, {}, {}, {}});
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
