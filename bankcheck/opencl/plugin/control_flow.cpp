#include "bankcheck/opencl/plugin/control_flow.hpp"

#include <algorithm>

namespace bankwise::opencl {
namespace {

using Graph = std::vector<std::vector<unsigned>>;

Graph reversed(const Graph& successors) {
  Graph predecessors(successors.size());
  for (unsigned from = 0; from < successors.size(); ++from) {
    for (const unsigned to : successors[from]) predecessors[to].push_back(from);
  }
  return predecessors;
}

/// The blocks reachable from block 0, each after all its predecessors except those at back edges.
std::vector<unsigned> reverse_postorder(const Graph& successors) {
  struct Visit {
    unsigned block;
    std::size_t next = 0;  // index of the next successor
  };
  std::vector<unsigned> order;
  std::vector<bool> seen(successors.size());
  std::vector<Visit> stack{{0}};
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == successors[block].size()) {
      order.push_back(block);
      stack.pop_back();
    } else if (const unsigned to = successors[block][next++]; !seen[to]) {
      seen[to] = true;
      stack.push_back({to});
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// The immediate dominators, computed as in Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), as
/// positions in the reverse postorder. A dominator precedes the blocks that it dominates.
std::vector<unsigned> dominators(const Graph& predecessors, const std::vector<unsigned>& order,
                                 const std::vector<unsigned>& position) {
  const auto unknown = unsigned(order.size());  // also the position of blocks that cannot be reached
  std::vector<unsigned> parent(order.size(), unknown);
  parent[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 1; i < order.size(); ++i) {
      unsigned dominator = unknown;
      for (const unsigned predecessor : predecessors[order[i]]) {
        unsigned left = position[predecessor], right = dominator == unknown ? left : dominator;
        if (left == unknown || parent[left] == unknown) continue;
        while (left != right) (left > right ? left : right) = parent[std::max(left, right)];
        dominator = left;
      }
      changed |= parent[i] != dominator;
      parent[i] = dominator;
    }
  }
  return parent;
}

}  // namespace

std::vector<std::vector<unsigned>> natural_loops(const Graph& successors) {
  std::vector<std::vector<unsigned>> loops(successors.size());
  if (successors.empty()) return loops;
  const Graph predecessors = reversed(successors);
  const auto order = reverse_postorder(successors);
  std::vector<unsigned> position(successors.size(), unsigned(order.size()));
  for (unsigned i = 0; i < order.size(); ++i) position[order[i]] = i;
  const auto parent = dominators(predecessors, order, position);
  const auto dominates = [&](unsigned above, unsigned block) {
    while (block > above) block = parent[block];
    return block == above;
  };
  // A header precedes all headers inside its loop, so the outermost loop comes first.
  for (unsigned header = 0; header < order.size(); ++header) {
    std::vector<unsigned> inside;
    std::vector<bool> seen(successors.size());
    for (const unsigned from : predecessors[order[header]]) {
      if (position[from] < order.size() && dominates(header, position[from])) inside.push_back(from);
    }
    if (inside.empty()) continue;
    seen[order[header]] = true;
    loops[order[header]].push_back(order[header]);
    while (!inside.empty()) {
      const unsigned block = inside.back();
      inside.pop_back();
      if (seen[block]) continue;
      seen[block] = true;
      loops[block].push_back(order[header]);
      for (const unsigned from : predecessors[block]) {
        if (position[from] < order.size()) inside.push_back(from);
      }
    }
  }
  return loops;
}

std::vector<std::vector<unsigned>> loops_in_layout(const Graph& successors) {
  auto loops = natural_loops(successors);
  const Graph predecessors = reversed(successors);
  const auto in = [&](unsigned block, unsigned header) {
    return std::find(loops[block].begin(), loops[block].end(), header) != loops[block].end();
  };
  for (unsigned header = 0; header < loops.size(); ++header) {
    if (!in(header, header)) continue;
    unsigned last = header;
    for (unsigned block = header; block < loops.size(); ++block) last = in(block, header) ? block : last;
    for (unsigned block = header; block < last; ++block) {  // a block that follows an exit comes after it
      const auto& from = predecessors[block];
      if (in(block, header) || from.empty()) continue;
      if (std::any_of(from.begin(), from.end(), [&](unsigned b) { return !in(b, header); })) continue;
      loops[block] = loops[header];  // the enclosing loops, and the loop itself
    }
  }
  return loops;
}

}  // namespace bankwise::opencl
