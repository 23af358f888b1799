#include "bankcheck/cuda/cubin/cubin.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace bankwise::cuda {
namespace {

constexpr unsigned instruction_bytes = 16;

}  // namespace

Cubin::Cubin(std::string bytes) : bytes_(std::move(bytes)), elf_(parse_elf(bytes_)) {
  std::size_t names = 0;
  for (const Symbol& symbol : elf_.symbols) {
    if (symbol.kind != SymbolKind::function || !elf_.sections[symbol.section].name.starts_with(".text.")) continue;
    if (!by_name_.emplace(symbol.name, &symbol).second) continue;
    functions_.push_back(&symbol);
    names += symbol.name.size();
  }
  // In a hostile file, names can share their bytes; as separate strings, they would need the square of them.
  if (names > bytes_.size()) throw std::runtime_error("the names of the cubin's functions overlap");
  try {
    lines_ = LineTable(elf_);
  } catch (const std::runtime_error& error) {
    line_error_ = error.what();
  }
}

const Symbol* Cubin::symbol_of(const std::string& function) const {
  const auto symbol = by_name_.find(function);
  return symbol == by_name_.end() ? nullptr : symbol->second;
}

std::vector<Cubin::Function> Cubin::functions() const {
  std::vector<Function> functions;
  for (const Symbol* symbol : functions_) {
    const std::uint64_t section = elf_.sections[symbol->section].bytes.size();
    const std::uint64_t room = section - std::min(section, symbol->value);
    functions.push_back({std::string(symbol->name), std::min(symbol->size, room)});  // a hostile size has no end
  }
  return functions;
}

std::vector<SourceFrame> Cubin::source_of(const std::string& function, std::uint64_t pc_offset) const {
  const Symbol* symbol = symbol_of(function);
  if (symbol == nullptr) return {};
  auto frames = lines_.frames(symbol->section, symbol->value + pc_offset);
  if (!frames.empty() && frames.back().function.empty()) frames.back().function = function;
  return frames;
}

InstructionBits Cubin::bits_at(const std::string& function, std::uint64_t pc_offset) const {
  const Symbol* symbol = symbol_of(function);
  if (symbol == nullptr || pc_offset % instruction_bytes != 0) return {};
  const std::string_view code = elf_.sections[symbol->section].bytes;
  // Past the function's own bytes may follow the functions that only it calls, in the same section.
  const std::uint64_t at = symbol->value + pc_offset;
  if (at < pc_offset || at > code.size() || code.size() - at < instruction_bytes) return {};
  InstructionBits bits;
  std::memcpy(&bits, code.data() + at, sizeof bits);
  return bits;
}

std::optional<std::string> Cubin::opcode_at(const std::string& function, std::uint64_t pc_offset) const {
  return shared_opcode(elf_.sm, bits_at(function, pc_offset));
}

std::uint64_t Cubin::wgmma_bytes_at(const std::string& function, std::uint64_t pc_offset) const {
  return wgmma_bytes(elf_.sm, bits_at(function, pc_offset));
}

std::vector<EmittedLine> emitted_in(const Cubin& cubin) {
  constexpr std::array<std::string_view, 3> shared{"LDS", "STS", "ATOMS"};  // LDSM and STSM are no lines of C++
  std::map<std::pair<std::string, unsigned>, std::map<std::string, std::uint64_t>> opcodes;
  for (const Cubin::Function& function : cubin.functions()) {
    for (std::uint64_t pc = 0; pc < function.bytes; pc += instruction_bytes) {
      const auto opcode = cubin.opcode_at(function.name, pc);
      if (!opcode) continue;
      const std::string name = opcode->substr(0, opcode->find('.'));
      if (std::find(shared.begin(), shared.end(), name) == shared.end()) continue;
      const auto frames = cubin.source_of(function.name, pc);
      if (frames.empty() || frames.front().line == 0) continue;
      ++opcodes[{frames.front().file, frames.front().line}][*opcode];
    }
  }
  std::vector<EmittedLine> lines;
  for (auto& [at, counts] : opcodes) lines.push_back({at.first, at.second, std::move(counts)});
  return lines;
}

}  // namespace bankwise::cuda
