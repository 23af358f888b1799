#include <bankwise/emulator/core/control_flow.hpp>

#if BANKWISE_HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <span>

#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {

// --- The order of blocks ---

namespace {

using Node = unsigned;
using Nodes = std::vector<Node>;
using SmallestFirst = std::priority_queue<unsigned, Nodes, std::greater<>>;

/// Part of a function: a block, or the blocks of a loop.
struct Part {
  Nodes members;           ///< in the order of addresses
  Nodes entries;           ///< members that the rest of the function jumps to
  unsigned waits_for = 0;  ///< number of jumps from parts that are not yet in the order
  bool placed = false;
};

/// The inside of a loop during ordering, or the whole function. Parts are numbered by lowest address.
struct LoopScope {
  unsigned number = 0;
  std::vector<Part> parts;
  SmallestFirst ready;
  unsigned lowest = 0;  ///< all parts below are in the order
};

class Ordering {
 public:
  explicit Ordering(const BlockGraph& next) : next_(next) {
    for (auto* of_each_block : {&scope_, &part_, &index_, &low_, &open_, &jumps_in_, &from_loop_, &counted_for_}) {
      of_each_block->resize(next.size());
    }
  }

  Nodes operator()() {
    if (next_.empty()) return {};
    Nodes nodes(next_.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    open(nodes, {0});
    // The stack is as deep as loops are nested. A scope passes its loops' blocks on: each block is held once.
    while (!scopes_.empty()) {
      if (auto part = next_part(scopes_.back())) {
        place(std::move(*part));
      } else {
        scopes_.pop_back();
      }
    }
    return result_;
  }

 private:
  /// Numbers the strongly connected components of some of the nodes in part_ (Tarjan); returns their number.
  // NOLINTNEXTLINE(readability-function-cognitive-complexity): a known algorithm
  unsigned find_components(const Nodes& nodes, unsigned scope) {
    struct NodeVisit {
      Node node;
      unsigned jump;
    };
    std::vector<NodeVisit> visits;
    Nodes stack;
    unsigned visited = 0, components = 0;
    const auto enter = [&](Node node) {
      index_[node] = low_[node] = ++visited;
      open_[node] = true;
      stack.push_back(node);
      visits.push_back({node, 0});
    };
    for (const Node node : nodes) index_[node] = 0;
    for (const Node root : nodes) {
      if (index_[root] == 0) enter(root);
      while (!visits.empty()) {
        const Node node = visits.back().node;
        if (const unsigned jump = visits.back().jump++; jump < next_[node].size()) {
          const Node to = next_[node][jump];
          if (scope_[to] != scope) continue;
          if (index_[to] == 0) {
            enter(to);
          } else if (open_[to]) {
            low_[node] = std::min(low_[node], index_[to]);
          }
          continue;
        }
        visits.pop_back();
        if (!visits.empty()) low_[visits.back().node] = std::min(low_[visits.back().node], low_[node]);
        if (low_[node] != index_[node]) continue;
        for (Node last = next_.size(); last != node;) {
          last = stack.back();
          stack.pop_back();
          open_[last] = false;
          part_[last] = components;
        }
        ++components;
      }
    }
    return components;
  }

  /// A block that leaves a loop, `if (found) return value(i);`, and lies within its addresses is executed when the warp
  /// comes to it, and not after the loop: it joins the loop's component.
  // NOLINTNEXTLINE(readability-function-cognitive-complexity): a loop over jumps of nodes of loops
  void take_in_exits(const Nodes& nodes, unsigned count, unsigned scope) {
    Nodes members = nodes;  // component by component, and by address there
    std::stable_sort(members.begin(), members.end(), [&](Node a, Node b) { return part_[a] < part_[b]; });
    std::vector<unsigned> size(count);
    for (const Node node : nodes) {
      ++size[part_[node]];
      jumps_in_[node] = 0;
    }
    for (const Node node : nodes) {
      for (const Node next : next_[node]) ++jumps_in_[next];
    }
    std::set<Node> nothing_leads_to;
    for (const Node node : nodes) {
      if (size[part_[node]] == 1 && jumps_in_[node] == 0) nothing_leads_to.insert(node);
    }

    std::size_t begin = 0;
    for (unsigned loop = 0; loop < count; ++loop) {
      const std::span these(&members[begin], size[loop]);
      begin += size[loop];
      if (these.size() < 2) continue;
      const Node last = these.back();
      ++loops_;
      SmallestFirst exits;  // blocks that only the loop jumps to
      const auto lead_on = [&](Node node, Node after) {
        for (const Node next : next_[node]) {
          if (scope_[next] != scope || size[part_[next]] != 1) continue;
          if (counted_for_[next] != loops_) from_loop_[next] = 0;
          counted_for_[next] = loops_;
          if (++from_loop_[next] == jumps_in_[next] && next > after && next < last) exits.push(next);
        }
      };
      for (const Node node : these) lead_on(node, these.front());
      const auto from = nothing_leads_to.upper_bound(these.front()), to = nothing_leads_to.lower_bound(last);
      if (these.front() < last) {
        for (auto node = from; node != to; ++node) exits.push(*node);
        nothing_leads_to.erase(from, to);
      }
      // In the order of addresses, so predecessors come first.
      while (!exits.empty()) {
        const Node node = exits.top();
        exits.pop();
        part_[node] = loop;
        lead_on(node, node);
      }
    }
  }

  /// Splits some of the nodes, given by address, into parts. The rest of the function jumps to `entries`.
  void open(const Nodes& nodes, const Nodes& entries) {
    LoopScope scope;
    scope.number = ++scopes_opened_;
    for (const Node node : nodes) scope_[node] = scope.number;
    const unsigned components = find_components(nodes, scope.number);
    take_in_exits(nodes, components, scope.number);

    constexpr unsigned none = ~0U;
    std::vector<unsigned> renumbered(components, none);
    for (const Node node : nodes) {
      unsigned& number = renumbered[part_[node]];
      if (number == none) {
        number = unsigned(scope.parts.size());
        scope.parts.emplace_back();
      }
      part_[node] = number;
      scope.parts[number].members.push_back(node);
    }
    for (const Node node : entries) {
      if (scope_[node] == scope.number) scope.parts[part_[node]].entries.push_back(node);
    }
    for (const Node node : nodes) {
      for (const Node next : next_[node]) {
        if (scope_[next] != scope.number || part_[next] == part_[node]) continue;
        scope.parts[part_[next]].entries.push_back(next);
        ++scope.parts[part_[next]].waits_for;
      }
    }
    for (unsigned i = 0; i < scope.parts.size(); ++i) {
      if (scope.parts[i].waits_for == 0) scope.ready.push(i);
    }
    scopes_.push_back(std::move(scope));
  }

  /// The part at the lowest address among those that wait for no other. If all parts wait for each other, which an exit
  /// without predecessors may cause, the lowest of them.
  std::optional<Part> next_part(LoopScope& scope) {
    unsigned number = 0;
    if (!scope.ready.empty()) {
      number = scope.ready.top();
      scope.ready.pop();
    } else {
      while (scope.lowest < scope.parts.size() && scope.parts[scope.lowest].placed) ++scope.lowest;
      if (scope.lowest == scope.parts.size()) return std::nullopt;
      number = scope.lowest;
    }
    Part part = std::move(scope.parts[number]);
    scope.parts[number].placed = true;
    for (const Node node : part.members) {
      for (const Node next : next_[node]) {
        if (scope_[next] != scope.number || part_[next] == number) continue;
        Part& other = scope.parts[part_[next]];
        if (--other.waits_for == 0 && !other.placed) scope.ready.push(part_[next]);
      }
    }
    return part;
  }

  /// Appends a block, or a loop: its entry, then the rest without the jump back to the entry.
  void place(Part part) {
    Nodes& entries = part.entries;
    const Node head = part.members.size() == 1 || entries.empty() ? part.members.front()
                                                                  : *std::min_element(entries.begin(), entries.end());
    result_.push_back(head);
    scope_[head] = 0;
    if (part.members.size() == 1) return;
    std::erase(part.members, head);
    entries.insert(entries.end(), next_[head].begin(), next_[head].end());
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    open(part.members, entries);
  }

  const BlockGraph& next_;
  std::vector<unsigned> scope_;  // scope of each block; 0: it is in the result
  std::vector<unsigned> part_;   // part of each block in that scope
  std::vector<unsigned> index_, low_, open_, jumps_in_, from_loop_, counted_for_;
  std::vector<LoopScope> scopes_;
  unsigned scopes_opened_ = 0, loops_ = 0;
  Nodes result_;
};

}  // namespace

std::vector<unsigned> order_of_blocks(const BlockGraph& next) { return Ordering(next)(); }

#if BANKWISE_HAVE_CAPSTONE

namespace {

// --- Functions ---

struct CodeRange {
  std::uintptr_t begin = 0, end = 0;
};

std::vector<CodeRange> functions_of_program() {
  const std::uintptr_t base = loaded_program().dlpi_addr;
  std::vector<CodeRange> functions;
  for_each_symbol([&](const Elf64_Sym& symbol, const char*) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0) return;
    functions.push_back({base + symbol.st_value, base + symbol.st_value + symbol.st_size});
  });
  std::sort(functions.begin(), functions.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  return functions;
}

CodeRange function_around(std::uintptr_t pc) {
  static const std::vector<CodeRange> functions = functions_of_program();
  const auto after = std::ranges::upper_bound(functions, pc, {}, &CodeRange::begin);
  if (after == functions.begin() || pc >= std::prev(after)->end) return {};
  return *std::prev(after);
}

// --- Basic blocks ---

/// Blocks by address, and their successors.
struct FunctionBlocks {
  std::vector<std::uintptr_t> begins;
  BlockGraph next;
};

struct Jump {
  std::uintptr_t at, behind, target;  ///< target 0: unknown, or none
  bool falls_through;
};

bool is_in(const cs_insn& instruction, cs_group_type group) {
  const cs_detail& detail = *instruction.detail;
  return std::find(detail.groups, detail.groups + detail.groups_count, group) != detail.groups + detail.groups_count;
}

/// Until `visit` returns false.
template <class Visit>
void for_each_instruction(CodeRange range, const Visit& visit) {
  csh disassembler = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler) != CS_ERR_OK) return;
  cs_option(disassembler, CS_OPT_DETAIL, CS_OPT_ON);
  cs_insn* instruction = cs_malloc(disassembler);
  const auto* code = reinterpret_cast<const std::uint8_t*>(range.begin);
  std::size_t left = range.end - range.begin;
  std::uint64_t address = range.begin;
  while (cs_disasm_iter(disassembler, &code, &left, &address, instruction) && visit(*instruction)) {
  }
  cs_free(instruction, 1);
  cs_close(&disassembler);
}

std::vector<Jump> jumps_in(CodeRange function) {
  std::vector<Jump> jumps;
  for_each_instruction(function, [&](const cs_insn& instruction) {
    const bool jumps_away = is_in(instruction, CS_GRP_JUMP);
    const bool returns = is_in(instruction, CS_GRP_RET) || instruction.id == X86_INS_UD2;
    if (!jumps_away && !returns) return true;
    const cs_x86_op& operand = instruction.detail->x86.operands[0];
    const bool inside = jumps_away && operand.type == X86_OP_IMM && std::uintptr_t(operand.imm) >= function.begin &&
                        std::uintptr_t(operand.imm) < function.end;
    jumps.push_back({instruction.address, instruction.address + instruction.size,
                     inside ? std::uintptr_t(operand.imm) : 0, jumps_away && instruction.id != X86_INS_JMP});
    return true;
  });
  return jumps;
}

FunctionBlocks graph_of(CodeRange function) {
  const std::vector<Jump> jumps = jumps_in(function);
  std::set<std::uintptr_t> begins{function.begin};
  for (const Jump& jump : jumps) {
    if (jump.target != 0) begins.insert(jump.target);
    if (jump.behind < function.end) begins.insert(jump.behind);
  }
  FunctionBlocks graph{{begins.begin(), begins.end()}, BlockGraph(begins.size())};
  const auto node_at = [&](std::uintptr_t address) {
    const auto after = std::upper_bound(graph.begins.begin(), graph.begins.end(), address);
    return unsigned(after - graph.begins.begin()) - 1;
  };
  std::vector<bool> ends_in_jump(begins.size());
  for (const Jump& jump : jumps) {
    const unsigned node = node_at(jump.at);
    ends_in_jump[node] = true;
    if (jump.target != 0) graph.next[node].push_back(node_at(jump.target));
    if (jump.falls_through && node + 1 < graph.next.size()) graph.next[node].push_back(node + 1);
  }
  for (unsigned node = 0; node + 1 < graph.next.size(); ++node) {
    if (!ends_in_jump[node]) graph.next[node].push_back(node + 1);
  }
  return graph;
}

/// Blocks by address, and how many bytes of code precede each in the order of execution.
struct Ordered {
  std::vector<std::uintptr_t> begins;
  std::vector<std::uintptr_t> places;
};

Ordered ordered(CodeRange function) {
  FunctionBlocks graph = graph_of(function);
  Ordered blocks{std::move(graph.begins), std::vector<std::uintptr_t>(graph.next.size())};
  std::uintptr_t place = 0;
  for (const unsigned block : order_of_blocks(graph.next)) {
    blocks.places[block] = place;
    place += (block + 1 < blocks.begins.size() ? blocks.begins[block + 1] : function.end) - blocks.begins[block];
  }
  return blocks;
}

}  // namespace

std::uint64_t place_in_order(std::uintptr_t pc) {
  static std::mutex mutex;
  static std::map<std::uintptr_t, Ordered> known;  // keyed by function
  const CodeRange function = function_around(pc);
  if (function.end == 0) return pc;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace(function.begin);
  Ordered& blocks = entry->second;
  if (is_new) blocks = ordered(function);
  const auto after = std::upper_bound(blocks.begins.begin(), blocks.begins.end(), pc);
  const auto block = std::size_t(after - blocks.begins.begin()) - 1;
  // Functions at the same call depth, in the order of their addresses; then blocks; then instructions.
  return (function.begin & 0xFFFFFFFF) << 32 | (blocks.places[block] + (pc - blocks.begins[block]));
}

std::vector<BlockGraph> block_graphs_of_program() {
  std::vector<BlockGraph> graphs;
  for (const CodeRange& function : functions_of_program()) graphs.push_back(graph_of(function).next);
  return graphs;
}

unsigned copied_alignment(std::uintptr_t pc, bool writes) {
  constexpr std::array aligned{X86_INS_MOVDQA, X86_INS_MOVAPS, X86_INS_MOVAPD};
  constexpr std::array unaligned{X86_INS_MOVDQU, X86_INS_MOVUPS, X86_INS_MOVUPD};
  unsigned calls = writes ? 1 : 0;  // `to = from` announces its store first, then its load
  unsigned alignment = 0;
  for_each_instruction({pc, function_around(pc).end}, [&](const cs_insn& instruction) {
    if (is_in(instruction, CS_GRP_CALL)) return calls-- > 0;
    if (is_in(instruction, CS_GRP_JUMP)) return false;
    const cs_x86_op& operand = instruction.detail->x86.operands[writes ? 0 : 1];
    // Not a copy on the lane's stack.
    if (operand.type != X86_OP_MEM || operand.mem.base == X86_REG_RSP) return true;
    if (std::ranges::count(aligned, instruction.id) != 0) alignment = 16;
    if (std::ranges::count(unaligned, instruction.id) != 0) alignment = 8;
    return alignment == 0 && instruction.id != X86_INS_MOV;  // by two registers: what follows is another object's copy
  });
  return alignment;
}

#else

unsigned copied_alignment(std::uintptr_t, bool) { return 0; }

std::uint64_t place_in_order(std::uintptr_t pc) { return pc; }

std::vector<BlockGraph> block_graphs_of_program() { return {}; }

#endif

}  // namespace bankwise::emulator
