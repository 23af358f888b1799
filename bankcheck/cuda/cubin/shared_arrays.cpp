#include <algorithm>
#include <limits>

#include "bankcheck/cuda/cubin/cubin.hpp"

namespace bankwise::cuda {
namespace {

constexpr std::uint64_t max_bytes = std::numeric_limits<std::uint32_t>::max();

/// Takes what the text begins with.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    number = number * 10 + std::uint64_t(text[digits] - '0');
    if (number > max_bytes) return {};
  }
  text.remove_prefix(digits);
  return digits == 0 ? std::nullopt : std::optional(number);
}

struct PtxArray {
  std::string_view name;
  std::uint64_t alignment = 1, bytes = 0;
};

/// ".shared .align 4 .b8 tile[4096];", ".shared .align 4 .u32 count;"
std::optional<PtxArray> array_in(std::string_view line) {
  PtxArray array;
  if (!take(line, ".shared .align ")) return {};
  const auto alignment = take_number(line);
  if (!alignment || *alignment == 0 || !take(line, " .")) return {};
  line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
  const auto bits = take_number(line);
  if (!bits || *bits % 8 != 0 || !take(line, " ")) return {};
  array.alignment = *alignment;
  array.name = line.substr(0, line.find_first_of("[;"));
  line.remove_prefix(array.name.size());
  const auto elements = take(line, "[") ? take_number(line) : std::optional<std::uint64_t>(1);
  if (!elements || array.name.empty()) return {};
  array.bytes = *elements * (*bits / 8);
  return array.bytes == 0 || array.bytes > max_bytes ? std::nullopt : std::optional(array);
}

/// The lines of a kernel's body in PTX: each ends with a zero.
class PtxBody {
 public:
  PtxBody(std::string_view text, std::string_view kernel) : text_(text) {
    for (std::string_view line = next(); !at_end_; line = next()) {
      const auto entry = line.find(".entry ");
      if (entry == std::string_view::npos) continue;
      std::string_view name = line.substr(entry + 7);
      if (take(name, kernel) && (name.empty() || name.front() == '(')) return;
    }
  }
  /// The arrays that it declares.
  std::vector<PtxArray> arrays() {
    std::vector<PtxArray> arrays;
    for (std::string_view line = next(); !at_end_ && !line.starts_with("}") && line.find(".entry ") == line.npos;
         line = next()) {
      if (const auto array = array_in(line)) arrays.push_back(*array);
    }
    return arrays;
  }

 private:
  std::string_view next() {
    at_end_ = text_.empty();
    const std::string_view line = text_.substr(0, text_.find('\0'));
    text_.remove_prefix(std::min(line.size() + 1, text_.size()));
    return line;
  }
  std::string_view text_;
  bool at_end_ = false;
};

/// As nvcc -lineinfo keeps the PTX: ptxas places arrays in the order of their declarations, after the bytes that CUDA
/// keeps for itself. Empty unless they fill the section, so that all arrays are known.
std::vector<Cubin::SharedArray> arrays_in_ptx(const Elf& elf, const Section& shared, const std::string& function) {
  constexpr std::uint64_t kept_bytes = 1024, unit = 16;
  const Section* text = section_named(elf, ".nv_debug_ptx_txt");
  if (text == nullptr) return {};
  const std::uint64_t begin = elf.sm >= 80 ? kept_bytes : 0;
  std::uint64_t end = begin;
  std::vector<Cubin::SharedArray> arrays;
  for (const PtxArray& array : PtxBody(text->bytes, function).arrays()) {
    const std::uint64_t offset = (end + array.alignment - 1) / array.alignment * array.alignment;
    end = offset + array.bytes;
    if (end > max_bytes) return {};
    arrays.push_back({std::string(array.name), std::uint32_t(offset), std::uint32_t(array.bytes)});
  }
  // Some versions of ptxas count the bytes that CUDA keeps, others do not.
  const auto units = [](std::uint64_t bytes) { return (bytes + unit - 1) / unit; };
  const bool fills = units(end) == units(shared.size) || units(end - begin) == units(shared.size);
  return fills ? arrays : std::vector<Cubin::SharedArray>();
}

}  // namespace

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
  if (arrays.empty()) return arrays_in_ptx(elf_, *shared, function);
  std::stable_sort(arrays.begin(), arrays.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  return arrays;
}

}  // namespace bankwise::cuda
