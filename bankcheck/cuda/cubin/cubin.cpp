// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/cubin.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "bankcheck/cuda/cubin/elf.hpp"
#include "bankcheck/cuda/cubin/line_table.hpp"
#include "bankcheck/cuda/cubin/opcode.hpp"

namespace bankwise::cuda {

struct Cubin::Content {
  explicit Content(std::vector<char> content_bytes)
      : bytes(std::move(content_bytes)), elf(parse_elf({bytes.data(), bytes.size()})) {
    std::size_t names = 0;
    for (const Symbol& symbol : elf.symbols) {
      if (symbol.kind != SymbolKind::function || !elf.sections[symbol.section].name.starts_with(".text.")) continue;
      if (!by_name.emplace(symbol.name, &symbol).second) continue;
      functions.push_back(&symbol);
      names += symbol.name.size();
    }
    // In a hostile file, names can share their bytes; as separate strings, they would need the square of them.
    if (names > bytes.size()) throw std::runtime_error("the names of the cubin's functions overlap");
    try {
      lines = LineTable(elf);
    } catch (const std::runtime_error& error) {
      line_error = error.what();
    }
  }

  /// nullptr if the cubin has no such function.
  const Symbol* function(const std::string& name) const {
    const auto function_at = by_name.find(name);
    return function_at == by_name.end() ? nullptr : function_at->second;
  }

  std::vector<char> bytes;
  Elf elf;
  LineTable lines;
  std::string line_error;
  std::vector<const Symbol*> functions;
  std::unordered_map<std::string_view, const Symbol*> by_name;
};

namespace {

constexpr unsigned instruction_bytes = 16;

std::string path_of(const SourceLine& line) {
  const bool is_whole = line.directory.empty() || line.file.starts_with('/');
  return is_whole ? std::string(line.file) : std::string(line.directory) + '/' + std::string(line.file);
}

}  // namespace

Cubin::Cubin(std::vector<char> bytes) : content_(std::make_shared<Content>(std::move(bytes))) {}

unsigned Cubin::sm() const { return content_->elf.sm; }

const std::string& Cubin::line_error() const { return content_->line_error; }

std::vector<Cubin::Function> Cubin::functions() const {
  std::vector<Function> functions;
  for (const Symbol* symbol : content_->functions) {
    const std::uint64_t section = content_->elf.sections[symbol->section].bytes.size();
    const std::uint64_t room = section - std::min(section, symbol->value);
    functions.push_back({std::string(symbol->name), std::min(symbol->size, room)});  // a hostile size has no end
  }
  return functions;
}

std::vector<Cubin::Frame> Cubin::source_of(const std::string& function, std::uint64_t pc_offset) const {
  std::vector<Frame> frames;
  const Symbol* symbol = content_->function(function);
  if (symbol == nullptr) return frames;
  for (const SourceLine& line : content_->lines.lines(symbol->section, symbol->value + pc_offset)) {
    frames.push_back({path_of(line), line.line, std::string(line.function)});
  }
  if (!frames.empty() && frames.back().function.empty()) frames.back().function = function;
  return frames;
}

std::optional<Cubin::Instruction> Cubin::instruction_at(const std::string& function, std::uint64_t pc_offset) const {
  const Symbol* symbol = content_->function(function);
  if (symbol == nullptr || pc_offset % instruction_bytes != 0) return {};
  const std::string_view code = content_->elf.sections[symbol->section].bytes;
  // Past the function's own bytes may follow the functions that only it calls, in the same section.
  const std::uint64_t at = symbol->value + pc_offset;
  if (at < pc_offset || at > code.size() || code.size() - at < instruction_bytes) return {};
  InstructionBits bits;
  std::memcpy(&bits, code.data() + at, sizeof bits);
  auto opcode = shared_opcode(content_->elf.sm, bits);
  if (!opcode) return {};
  return Instruction{*std::move(opcode)};
}

std::vector<Cubin::SharedArray> Cubin::shared_arrays(const std::string& function) const {
  std::vector<SharedArray> arrays;
  const Elf& elf = content_->elf;
  if (content_->function(function) == nullptr) return arrays;
  const Section* shared = section_named(elf, ".nv.shared." + function);
  if (shared == nullptr) return arrays;
  const auto index = std::uint32_t(shared - elf.sections.data());
  std::size_t names = 0;
  constexpr std::uint64_t max_bytes = std::numeric_limits<std::uint32_t>::max();
  for (const Symbol& symbol : elf.symbols) {
    if (symbol.kind != SymbolKind::object || symbol.section != index || symbol.size == 0) continue;
    if (symbol.value > max_bytes || symbol.size > max_bytes - symbol.value) continue;
    names += symbol.name.size();
    if (names > content_->bytes.size()) break;  // a hostile file, whose names share their bytes
    arrays.push_back({std::string(symbol.name), std::uint32_t(symbol.value), std::uint32_t(symbol.size)});
  }
  std::stable_sort(arrays.begin(), arrays.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  return arrays;
}

std::vector<EmittedLine> emitted_in(const Cubin& cubin) {
  constexpr std::array<std::string_view, 3> shared{"LDS", "STS", "ATOMS"};  // LDSM and STSM are no lines of C++
  std::map<std::pair<std::string, unsigned>, std::map<std::string, std::uint64_t>> opcodes;
  for (const Cubin::Function& function : cubin.functions()) {
    for (std::uint64_t pc = 0; pc < function.bytes; pc += instruction_bytes) {
      const auto instruction = cubin.instruction_at(function.name, pc);
      if (!instruction) continue;
      const std::string name = instruction->opcode.substr(0, instruction->opcode.find('.'));
      if (std::find(shared.begin(), shared.end(), name) == shared.end()) continue;
      const auto frames = cubin.source_of(function.name, pc);
      if (frames.empty() || frames.front().line == 0) continue;
      ++opcodes[{frames.front().file, frames.front().line}][instruction->opcode];
    }
  }
  std::vector<EmittedLine> lines;
  for (auto& [at, counts] : opcodes) lines.push_back({at.first, at.second, std::move(counts)});
  return lines;
}

}  // namespace bankwise::cuda
