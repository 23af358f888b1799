// The sections, symbols and relocations of a cubin, which is a 64-bit ELF file for the machine EM_CUDA.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::cuda {

/// The string at `offset` without its closing zero; empty past the end. It is cut after `max_bytes`: many names that
/// share one endless string must not cost the square of a hostile file's size.
std::string_view string_at(std::string_view bytes, std::uint64_t offset, std::size_t max_bytes);

constexpr std::size_t max_symbol_bytes = 65536;  // mangled names of CUTLASS kernels take some thousand
constexpr std::size_t max_path_bytes = 4096;

/// A position in little-endian bytes that may be hostile; it only moves forward. Every read throws std::runtime_error
/// with one sentence if the bytes end before what is read.
class ByteReader {
 public:
  /// `name` stands for the bytes in the sentences of errors and outlives the reader.
  ByteReader(std::string_view bytes, const char* name) : bytes_(bytes), name_(name) {}

  /// A number of `bytes` bytes, at most 8.
  std::uint64_t number(unsigned bytes) {
    std::uint64_t number = 0;
    unsigned shift = 0;
    for (const char byte : take(bytes)) number |= std::uint64_t{static_cast<unsigned char>(byte)} << 8 * shift++;
    return number;
  }
  std::uint8_t u8() { return std::uint8_t(number(1)); }
  std::uint16_t u16() { return std::uint16_t(number(2)); }
  std::uint32_t u32() { return std::uint32_t(number(4)); }
  std::uint64_t u64() { return number(8); }

  /// A number in LEB128, unsigned or signed (DWARF 5, section 7.6). Bits past the 64th are dropped.
  std::uint64_t uleb() { return leb(false); }
  std::int64_t sleb() { return std::int64_t(leb(true)); }

  /// Up to the next zero byte, which is skipped.
  std::string_view string() {
    const std::size_t zero = bytes_.find('\0', position_);
    if (zero == std::string_view::npos) throw std::runtime_error(fmt::format("{} ends in the middle of a name", name_));
    const std::size_t size = zero - position_;
    return take(size + 1).substr(0, size);
  }
  std::string_view take(std::uint64_t size) {
    if (size > left()) throw std::runtime_error(fmt::format("{} ends too early", name_));
    const std::string_view taken = bytes_.substr(position_, std::size_t(size));
    position_ += taken.size();
    return taken;
  }

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  bool at_end() const { return left() == 0; }

 private:
  std::uint64_t leb(bool is_signed) {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) number |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) != 0) continue;
      if (is_signed && (byte & 0x40U) != 0 && shift + 7 < 64) number |= ~std::uint64_t{0} << (shift + 7);
      return number;
    }
  }

  std::string_view bytes_;
  const char* name_;
  std::size_t position_ = 0;
};

struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // bytes in the GPU's memory; of a section without contents, such as shared memory, too
  std::uint32_t link = 0, info = 0;
  std::string_view bytes;  // empty if the file has none
};

enum class SymbolKind { object = 1, function = 2 };  // or another value

struct Symbol {
  std::string_view name;
  SymbolKind kind{};
  std::uint32_t section = 0;  // 0: of no section of this file
  std::uint64_t value = 0;    // offset in the section
  std::uint64_t size = 0;     // bytes
};

/// At `offset` of its section stands the address of a symbol, plus `addend`.
struct Relocation {
  std::uint64_t offset = 0;
  std::uint32_t symbol = 0;  // index in Elf::symbols
  std::uint64_t addend = 0;  // 0 where it stands in the section itself
};

/// All views are into the bytes that were parsed.
struct Elf {
  unsigned sm = 0;  // compute capability without its dot: 90 for 9.0
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
};

/// Throws std::runtime_error with one sentence if the bytes are no cubin, or if a part is not where the header says.
Elf parse_elf(std::string_view bytes);

/// The first section of that name, or nullptr.
const Section* section_named(const Elf& elf, std::string_view name);

/// The relocations of a section, by offset, from the first table of them. Throws std::runtime_error with one sentence
/// if one names no symbol.
std::vector<Relocation> relocations_of(const Elf& elf, const Section& section);

// Which source line an instruction is from: the line programs of .debug_line, DWARF 2 to 5, with NVIDIA's extension for
// calls that were inlined.

/// A line that an instruction is from, or a line with a call that was inlined around it.
struct SourceFrame {
  std::string file;      // with its directory, as the compiler was given it
  unsigned line = 0;     // from 1; 0 for code that is from no line
  std::string function;  // mangled, of the inlined function with the line; empty for the outermost line
};

/// All views are into the cubin's bytes.
class LineTable {
 public:
  LineTable() = default;  // knows no lines

  /// Reads all line programs of the cubin, in time and memory proportional to the bytes of .debug_line. Throws
  /// std::runtime_error with one sentence if a program is cut short, or of another version.
  explicit LineTable(const Elf& elf);

  /// The lines of the instruction at `offset` bytes of a section, innermost first; empty if unknown.
  std::vector<SourceFrame> frames(std::uint32_t section, std::uint64_t offset) const;

  struct File {
    std::string_view directory, name;  // as the compiler was given them; without a directory if it is unknown
    std::string path() const;
  };
  struct Row {
    std::uint64_t address = 0;  // in the section
    std::uint32_t file = 0;     // in the files; past their end if unknown
    std::uint32_t line = 0;
    std::uint64_t caller = 0;    // the row of this sequence, from 1, that this one is inlined into; 0: none
    std::uint64_t function = 0;  // offset in .debug_str
  };
  /// Rows that follow each other in one section.
  struct Sequence {
    std::uint32_t section = 0;
    std::size_t first = 0, end = 0;  // in the rows
    std::uint64_t end_address = 0;
  };

  struct Content {
    std::vector<File> files;
    std::vector<Row> rows;
    std::vector<Sequence> sequences;
  };

 private:
  std::optional<std::size_t> row_at(const Sequence& sequence, std::uint64_t offset) const;

  Content content_;
  std::vector<std::size_t> by_address_;  // the rows, those of each sequence in the order of their addresses
  std::string_view names_;               // .debug_str
};

}  // namespace bankwise::cuda
