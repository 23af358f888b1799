// SPDX-License-Identifier: MIT
#include "slow_block_order.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

namespace bankwise {
namespace {

using Node = unsigned;
using Nodes = std::vector<Node>;

class Ordering {
 public:
  explicit Ordering(const emulator::BlockGraph& next) : next_(next), part_(next.size()) {
    Nodes all(next.size());
    for (Node node = 0; node < all.size(); ++node) all[node] = node;
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

}  // namespace

std::vector<unsigned> slow_order_of_blocks(const emulator::BlockGraph& next) {
  if (next.empty()) return {};
  return Ordering(next).result();
}

}  // namespace bankwise
