#include "bankcheck/cuda/cubin/cubin.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

namespace bankwise::cuda {
namespace {

constexpr unsigned instruction_bytes = 16;

constexpr std::uint64_t max_bytes = std::numeric_limits<std::uint32_t>::max(), max_alignment = 4096;

/// Takes what the text begins with.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > max_bytes) return {};
  text.remove_prefix(std::size_t(end - text.data()));
  return number;
}

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

struct PtxArray {
  std::string_view name;
  std::uint64_t alignment = 1, bytes = 0;  // bytes of a dynamic one: 0
};

/// ".shared .align 4 .b8 tile[4096];", ".shared .align 4 .u32 count;", ".extern .shared .align 16 .b8 all[];"
std::optional<PtxArray> array_in(std::string_view line) {
  PtxArray array;
  const bool is_dynamic = take(line, ".extern ");
  if (!take(line, ".shared .align ")) return {};
  const auto alignment = take_number(line);
  if (!alignment || *alignment == 0 || *alignment > max_alignment || !take(line, " .")) return {};
  line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
  const auto bits = take_number(line);
  if (!bits || *bits % 8 != 0 || !take(line, " ")) return {};
  array.alignment = *alignment;
  array.name = line.substr(0, line.find_first_of("[;"));
  line.remove_prefix(array.name.size());
  if (is_dynamic) return array.name.empty() || !line.starts_with("[]") ? std::nullopt : std::optional(array);
  const auto elements = take(line, "[") ? take_number(line) : std::optional<std::uint64_t>(1);
  if (!elements || array.name.empty()) return {};
  array.bytes = *elements * (*bits / 8);
  return array.bytes == 0 || array.bytes > max_bytes ? std::nullopt : std::optional(array);
}

bool names(std::string_view line, std::string_view name) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; };
  for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t behind = at + name.size();
    if ((at == 0 || !is_part(line[at - 1])) && (behind == line.size() || !is_part(line[behind]))) return true;
  }
  return false;
}

/// The arrays of a kernel in PTX, in the order of their declarations.
struct PtxArrays {
  std::vector<PtxArray> own;
  std::vector<PtxArray> dynamic;    // of the module
  std::set<std::string_view> used;  // dynamic ones that the kernel's body names
};

/// From the lines of a module, each of which ends with a zero.
PtxArrays arrays_of_kernel(std::string_view text, std::string_view kernel) {
  PtxArrays arrays;
  bool is_inside = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto entry = line.find(".entry ");
    if (is_inside && (line.starts_with("}") || entry != std::string_view::npos)) break;
    if (entry != std::string_view::npos) {
      std::string_view name = line.substr(entry + 7);
      is_inside = take(name, kernel) && (name.empty() || name.front() == '(');
    }
    const auto array = array_in(line);
    if (array && array->bytes == 0) arrays.dynamic.push_back(*array);
    if (array && array->bytes > 0 && is_inside) arrays.own.push_back(*array);
    for (const PtxArray& dynamic : arrays.dynamic) {
      if (is_inside && names(line, dynamic.name)) arrays.used.insert(dynamic.name);
    }
  }
  return arrays;
}

/// As nvcc -lineinfo keeps the PTX: ptxas places arrays in the order of their declarations, after the bytes that CUDA
/// keeps for itself. Empty unless they fill the section, so that all arrays are known.
std::vector<Cubin::SharedArray> placed(const PtxArrays& declared, std::uint64_t section_bytes, std::uint64_t begin) {
  std::uint64_t end = begin, unit = 16;
  std::vector<Cubin::SharedArray> arrays;
  for (const PtxArray& array : declared.own) {
    const std::uint64_t offset = rounded_up(end, array.alignment);
    end = offset + array.bytes;
    if (end > max_bytes) return {};
    arrays.push_back({std::string(array.name), std::uint32_t(offset), std::uint32_t(array.bytes)});
  }
  for (const PtxArray& array : declared.dynamic) unit = std::max(unit, array.alignment);
  // Some versions of ptxas count the bytes that CUDA keeps, others do not.
  const std::uint64_t filled = rounded_up(section_bytes, unit);
  const bool fills = rounded_up(end, unit) == filled || rounded_up(end - begin, unit) == filled;
  return fills ? arrays : std::vector<Cubin::SharedArray>();
}

/// Behind the static arrays. Debug builds have symbols for the dynamic ones; elsewhere each has its alignment, and
/// nothing is added unless those of the kernel have the same one. What a function that is not inlined accesses is not
/// named in the kernel's body, and may be each of the module's.
void add_dynamic(const PtxArrays& declared, const Elf& elf, std::uint64_t begin,
                 std::vector<Cubin::SharedArray>& arrays) {
  std::set<std::uint64_t> offsets;
  const std::uint64_t end = arrays.empty() ? begin : std::uint64_t{arrays.back().offset} + arrays.back().bytes;
  std::string_view name;
  for (const PtxArray& array : declared.dynamic) {
    if (!declared.used.empty() && !declared.used.contains(array.name)) continue;
    const auto symbol = std::ranges::find_if(elf.symbols, [&](const Symbol& each) {
      return each.kind == SymbolKind::object && each.section > 0 && each.name == array.name;
    });
    offsets.insert(symbol == elf.symbols.end() ? rounded_up(end, array.alignment) : symbol->value);
    name = array.name;
  }
  if (offsets.size() != 1 || *offsets.begin() < end || *offsets.begin() > max_bytes) return;
  arrays.push_back({std::string(name), std::uint32_t(*offsets.begin()), 0});
}

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
  lines.reserve(opcodes.size());
  for (auto& [at, counts] : opcodes) lines.push_back({at.first, at.second, std::move(counts)});
  return lines;
}

std::vector<Cubin::SharedArray> Cubin::shared_arrays(const std::string& function) const {
  std::vector<SharedArray> arrays;
  if (symbol_of(function) == nullptr) return arrays;
  const Section* shared = section_named(elf_, ".nv.shared." + function);
  if (shared == nullptr) return arrays;
  const auto index = std::uint32_t(shared - elf_.sections.data());
  std::size_t names = 0;
  for (const Symbol& symbol : elf_.symbols) {
    if (symbol.kind != SymbolKind::object || symbol.section != index || symbol.size == 0) continue;
    if (symbol.value > max_bytes || symbol.size > max_bytes - symbol.value) continue;
    names += symbol.name.size();
    if (names > bytes_.size()) break;  // a hostile file, whose names share their bytes
    arrays.push_back({std::string(symbol.name), std::uint32_t(symbol.value), std::uint32_t(symbol.size)});
  }
  std::stable_sort(arrays.begin(), arrays.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  const Section* text = section_named(elf_, ".nv_debug_ptx_txt");
  if (text == nullptr) return arrays;
  const PtxArrays declared = arrays_of_kernel(text->bytes, function);
  constexpr std::uint64_t kept_bytes = 1024;
  const std::uint64_t begin = elf_.sm >= 80 ? kept_bytes : 0;
  if (arrays.empty()) arrays = placed(declared, shared->size, begin);
  if (arrays.size() == declared.own.size()) add_dynamic(declared, elf_, begin, arrays);
  return arrays;
}

}  // namespace bankwise::cuda
