// The sections, symbols and relocations of a cubin, which is a 64-bit ELF file for the machine EM_CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::cuda {

/// The string at `offset` without its closing zero; empty past the end. It is cut after `max_bytes`: many names that
/// share one endless string must not cost the square of a hostile file's size.
std::string_view string_at(std::string_view bytes, std::uint64_t offset, std::size_t max_bytes);

constexpr std::size_t max_symbol_bytes = 65536;  // mangled names of CUTLASS kernels take some thousand
constexpr std::size_t max_path_bytes = 4096;

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
