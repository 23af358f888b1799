// SPDX-License-Identifier: MIT
#include <bankwise/emulator/control_flow.hpp>

#if BANKWISE_HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <link.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <set>
#include <vector>

#include <bankwise/emulator/program_symbols.hpp>

namespace bankwise::emulator {
namespace {

// --- Functions ---

struct Function {
  std::uintptr_t begin = 0, end = 0;
};

std::vector<Function> functions_of_program() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<std::uintptr_t*>(data) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &base);
  std::vector<Function> functions;
  for_each_symbol([&](const Elf64_Sym& symbol, const char*) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0) return;
    functions.push_back({base + symbol.st_value, base + symbol.st_value + symbol.st_size});
  });
  std::sort(functions.begin(), functions.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  return functions;
}

Function function_around(std::uintptr_t pc) {
  static const std::vector<Function> functions = functions_of_program();
  const auto after =
      std::upper_bound(functions.begin(), functions.end(), pc, [](auto at, auto& f) { return at < f.begin; });
  if (after == functions.begin() || pc >= std::prev(after)->end) return {};
  return *std::prev(after);
}

// --- Basic blocks ---

using Node = unsigned;
using Nodes = std::vector<Node>;

/// Blocks by address, and where each leads to.
struct Graph {
  std::vector<std::uintptr_t> begins;
  std::vector<Nodes> next;
};

struct Jump {
  std::uintptr_t at, behind, target;  ///< target 0: unknown, or none
  bool falls_through;
};

std::vector<Jump> jumps_in(Function function) {
  std::vector<Jump> jumps;
  csh disassembler = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler) != CS_ERR_OK) return jumps;
  cs_option(disassembler, CS_OPT_DETAIL, CS_OPT_ON);
  cs_insn* instruction = cs_malloc(disassembler);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto* code = reinterpret_cast<const std::uint8_t*>(function.begin);
  std::size_t left = function.end - function.begin;
  std::uint64_t address = function.begin;
  while (cs_disasm_iter(disassembler, &code, &left, &address, instruction)) {
    const bool jumps_away = cs_insn_group(disassembler, instruction, CS_GRP_JUMP);
    const bool returns = cs_insn_group(disassembler, instruction, CS_GRP_RET) || instruction->id == X86_INS_UD2;
    if (!jumps_away && !returns) continue;
    const cs_x86_op& operand = instruction->detail->x86.operands[0];
    const bool inside = jumps_away && operand.type == X86_OP_IMM && std::uintptr_t(operand.imm) >= function.begin &&
                        std::uintptr_t(operand.imm) < function.end;
    jumps.push_back({instruction->address, instruction->address + instruction->size,
                     inside ? std::uintptr_t(operand.imm) : 0, jumps_away && instruction->id != X86_INS_JMP});
  }
  cs_free(instruction, 1);
  cs_close(&disassembler);
  return jumps;
}

Graph graph_of(Function function) {
  const std::vector<Jump> jumps = jumps_in(function);
  std::set<std::uintptr_t> begins{function.begin};
  for (const Jump& jump : jumps) {
    if (jump.target != 0) begins.insert(jump.target);
    if (jump.behind < function.end) begins.insert(jump.behind);
  }
  Graph graph{{begins.begin(), begins.end()}, std::vector<Nodes>(begins.size())};
  const auto node_at = [&](std::uintptr_t address) {
    const auto after = std::upper_bound(graph.begins.begin(), graph.begins.end(), address);
    return Node(after - graph.begins.begin()) - 1;
  };
  std::vector<bool> ends_in_jump(begins.size());
  for (const Jump& jump : jumps) {
    const Node node = node_at(jump.at);
    ends_in_jump[node] = true;
    if (jump.target != 0) graph.next[node].push_back(node_at(jump.target));
    if (jump.falls_through && node + 1 < graph.next.size()) graph.next[node].push_back(node + 1);
  }
  for (Node node = 0; node + 1 < graph.next.size(); ++node) {
    if (!ends_in_jump[node]) graph.next[node].push_back(node + 1);
  }
  return graph;
}

// --- Their order ---

class Ordering {
 public:
  explicit Ordering(const Graph& graph) : graph_(graph), part_(graph.next.size()) {
    Nodes all(graph.next.size());
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
      for (const Node next : graph_.next[node]) {
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

  /// What leaves a loop, `if (found) return value(i);`, and stands in the midst of it is done when it is come to, and not
  /// behind the loop: it joins the loop's component.
  void take_in_exits(std::vector<Nodes>& parts) const {
    std::map<Node, unsigned> part;
    for (unsigned i = 0; i < parts.size(); ++i) {
      for (const Node node : parts[i]) part[node] = i;
    }
    for (unsigned loop = 0; loop < parts.size(); ++loop) {
      if (parts[loop].size() < 2) continue;
      const auto [first, last] = std::minmax_element(parts[loop].begin(), parts[loop].end());
      // In the order of addresses, so that those come first which lead to others.
      for (Node node = *first + 1, end = *last; node < end; ++node) {
        const auto found = part.find(node);
        if (found == part.end() || found->second == loop || parts[found->second].size() != 1) continue;
        const bool from_here = std::all_of(part.begin(), part.end(), [&](const auto& other) {
          const Nodes& next = graph_.next[other.first];
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

  // NOLINTBEGIN(misc-no-recursion): as deep as loops are nested
  /// Appends the nodes, each component behind those that lead to it, and of those that may come next the one at the
  /// lowest address. `entries` are those that the rest of the function leads to.
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
      for (const Node next : graph_.next[node]) {
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
    while (!ready.empty()) {
      const unsigned part = ready.top();
      ready.pop();
      for (const unsigned next : leads_to[part]) {
        if (--waits_for[next] == 0) ready.push(next);
      }
      append(parts[part], entered[part]);
    }
  }

  /// A block, or a loop that is entered at `entries`: its entry, then the rest without the way back to there.
  void append(Nodes members, const std::set<Node>& entries) {
    if (members.size() == 1) {
      result_.push_back(members[0]);
      return;
    }
    const Node head = entries.empty() ? *std::min_element(members.begin(), members.end()) : *entries.begin();
    result_.push_back(head);
    std::erase(members, head);
    std::set<Node> inner(entries);
    inner.insert(graph_.next[head].begin(), graph_.next[head].end());
    order(members, inner);
  }
  // NOLINTEND(misc-no-recursion)

  const Graph& graph_;
  std::vector<unsigned> part_;
  Nodes result_;
};

/// Blocks by address, and the place of each.
struct Ordered {
  std::vector<std::uintptr_t> begins;
  std::vector<std::uint64_t> places;
};

Ordered ordered(Function function) {
  const Graph graph = graph_of(function);
  const Ordering ordering(graph);
  Ordered all{graph.begins, std::vector<std::uint64_t>(graph.begins.size())};
  for (std::size_t i = 0; i < ordering.result().size(); ++i) all.places[ordering.result()[i]] = i;
  return all;
}

}  // namespace

std::uint64_t place_in_order(std::uintptr_t pc) {
  static std::mutex mutex;
  static std::map<std::uintptr_t, Ordered> known;  // by function
  const Function function = function_around(pc);
  if (function.end == 0) return pc;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(function.begin);
  Ordered& blocks = found->second;
  if (is_new) blocks = ordered(function);
  const auto after = std::upper_bound(blocks.begins.begin(), blocks.begins.end(), pc);
  const auto block = std::size_t(after - blocks.begins.begin()) - 1;
  // Functions at the same depth of calls, in the order of their addresses; then blocks; then instructions.
  return (function.begin & 0xFFFFFFFF) << 32 | blocks.places[block] << 16 |
         std::min<std::uint64_t>(pc - blocks.begins[block], 0xFFFF);
}

}  // namespace bankwise::emulator

#else

namespace bankwise::emulator {

std::uint64_t place_in_order(std::uintptr_t pc) {
  return pc;
}

}  // namespace bankwise::emulator

#endif
