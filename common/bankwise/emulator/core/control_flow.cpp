// SPDX-License-Identifier: MIT
#include <bankwise/emulator/core/control_flow.hpp>

#if BANKWISE_HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {

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
  const auto after =
      std::upper_bound(functions.begin(), functions.end(), pc, [](auto at, auto& f) { return at < f.begin; });
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

std::vector<Jump> jumps_in(CodeRange function) {
  std::vector<Jump> jumps;
  csh disassembler = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler) != CS_ERR_OK) return jumps;
  cs_option(disassembler, CS_OPT_DETAIL, CS_OPT_ON);
  cs_insn* instruction = cs_malloc(disassembler);
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

#else

std::uint64_t place_in_order(std::uintptr_t pc) { return pc; }

std::vector<BlockGraph> block_graphs_of_program() { return {}; }

#endif

}  // namespace bankwise::emulator
