// The order of basic blocks: compared with a slow implementation, and for functions that are too large for that one.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <random>
#include <set>

#include <bankwise/emulator/core/control_flow.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::emulator::BlockGraph;
using bankwise::emulator::order_of_blocks;

namespace {

// --- The slow implementation ---

using Node = unsigned;
using Nodes = std::vector<Node>;

class Ordering {
 public:
  explicit Ordering(const emulator::BlockGraph& next) : next_(next), part_(next.size()) {
    Nodes all(next.size());
    std::iota(all.begin(), all.end(), 0);
    order(all, {0});
  }
  const Nodes& result() const { return result_; }

 private:
  /// Strongly connected components of some of the nodes (Tarjan).
  std::vector<Nodes> components(const std::set<Node>& nodes) const {
    std::vector<Nodes> found;
    std::map<Node, unsigned> index, low;
    Nodes stack;
    std::set<Node> on_stack;
    const std::function<void(Node)> visit = [&](Node node) {
      index[node] = low[node] = unsigned(index.size());
      stack.push_back(node);
      on_stack.insert(node);
      for (const Node next : next_[node]) {
        if (!nodes.contains(next)) continue;
        if (!index.contains(next)) {
          visit(next);
          low[node] = std::min(low[node], low[next]);
        } else if (on_stack.contains(next)) {
          low[node] = std::min(low[node], index[next]);
        }
      }
      if (low[node] != index[node]) return;
      Nodes component;
      Node last = 0;
      do {
        last = stack.back();
        stack.pop_back();
        on_stack.erase(last);
        component.push_back(last);
      } while (last != node);
      found.push_back(component);
    };
    for (const Node node : nodes) {
      if (!index.contains(node)) visit(node);
    }
    return found;
  }

  /// A block that leaves a loop, `if (found) return value(i);`, and lies within its addresses is executed when the warp
  /// comes to it, and not after the loop: it joins the loop's component.
  void take_in_exits(std::vector<Nodes>& parts) const {
    std::map<Node, unsigned> part;
    for (unsigned i = 0; i < parts.size(); ++i) {
      for (const Node node : parts[i]) part[node] = i;
    }
    for (unsigned loop = 0; loop < parts.size(); ++loop) {
      if (parts[loop].size() < 2) continue;
      const auto [first, last] = std::minmax_element(parts[loop].begin(), parts[loop].end());
      // In the order of addresses, so predecessors come first.
      for (Node node = *first + 1, end = *last; node < end; ++node) {
        const auto found = part.find(node);
        if (found == part.end() || found->second == loop || parts[found->second].size() != 1) continue;
        const bool from_here = std::all_of(part.begin(), part.end(), [&](const auto& other) {
          const Nodes& next = next_[other.first];
          return std::find(next.begin(), next.end(), node) == next.end() || other.second == loop;
        });
        if (!from_here) continue;
        parts[found->second].clear();
        parts[loop].push_back(node);
        found->second = loop;
      }
    }
    std::erase_if(parts, [](const Nodes& members) { return members.empty(); });
  }

  // Recursion: as deep as loops are nested.
  /// Appends the nodes, each component after its predecessors; of several possible ones the one at the lowest address
  /// comes next. `entries` are those that the rest of the function jumps to.
  void order(const Nodes& nodes, const std::set<Node>& entries) {
    const std::set<Node> these(nodes.begin(), nodes.end());
    std::vector<Nodes> parts = components(these);
    take_in_exits(parts);
    for (unsigned i = 0; i < parts.size(); ++i) {
      for (const Node node : parts[i]) part_[node] = i;
    }
    std::vector<std::set<unsigned>> leads_to(parts.size());
    std::vector<unsigned> waits_for(parts.size());
    std::vector<std::set<Node>> entered(parts.size());  // where each part is entered
    for (const Node node : entries) {
      if (these.contains(node)) entered[part_[node]].insert(node);
    }
    for (const Node node : nodes) {
      for (const Node next : next_[node]) {
        if (!these.contains(next) || part_[next] == part_[node]) continue;
        entered[part_[next]].insert(next);
        if (leads_to[part_[node]].insert(part_[next]).second) ++waits_for[part_[next]];
      }
    }
    const auto first_of = [&](unsigned part) { return *std::min_element(parts[part].begin(), parts[part].end()); };
    const auto later = [&](unsigned a, unsigned b) { return first_of(a) > first_of(b); };
    std::priority_queue<unsigned, std::vector<unsigned>, decltype(later)> ready(later);
    for (unsigned i = 0; i < parts.size(); ++i) {
      if (waits_for[i] == 0) ready.push(i);
    }
    std::set<std::pair<Node, unsigned>> left;  // parts, with their lowest addresses
    for (unsigned i = 0; i < parts.size(); ++i) left.emplace(first_of(i), i);
    while (!left.empty()) {
      const unsigned part = ready.empty() ? left.begin()->second : ready.top();  // they wait for each other
      if (!ready.empty()) ready.pop();
      if (left.erase({first_of(part), part}) == 0) continue;
      for (const unsigned next : leads_to[part]) {
        if (--waits_for[next] == 0) ready.push(next);
      }
      append(parts[part], entered[part]);
    }
  }

  /// A block, or a loop that is entered at `entries`: its entry, then the rest without the jump back to the entry.
  void append(Nodes members, const std::set<Node>& entries) {
    if (members.size() == 1) {
      result_.push_back(members[0]);
      return;
    }
    const Node head = entries.empty() ? *std::min_element(members.begin(), members.end()) : *entries.begin();
    result_.push_back(head);
    std::erase(members, head);
    std::set<Node> inner(entries);
    inner.insert(next_[head].begin(), next_[head].end());
    order(members, inner);
  }

  const emulator::BlockGraph& next_;
  std::vector<unsigned> part_;
  Nodes result_;
};

/// The result of order_of_blocks() directly from its definition: with sets, in quadratic time, and by recursion.
std::vector<unsigned> slow_order_of_blocks(const emulator::BlockGraph& next) {
  if (next.empty()) return {};
  return Ordering(next).result();
}

// --- Functions ---

constexpr unsigned LARGE = 1 << 16;

std::vector<unsigned> by_address(std::size_t blocks) {
  std::vector<unsigned> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool holds_each_once(std::vector<unsigned> order, std::size_t blocks) {
  std::sort(order.begin(), order.end());
  return order == by_address(blocks);
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
  CHECK(order_of_blocks(next) == by_address(LARGE));
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
  CHECK(order_of_blocks(next) == by_address(2 * depth));
}
