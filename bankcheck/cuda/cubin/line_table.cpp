// DWARF 5, section 6.2.5. The two opcodes of NVIDIA are those of elfutils' dwarf.h, DW_LNE_NVIDIA_inlined_call and
// DW_LNE_NVIDIA_set_function_name; what their operands count was found by comparing with nvdisasm -gi.
#include "bankcheck/cuda/cubin/elf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace bankwise::cuda {
namespace {

constexpr unsigned max_inlined_calls = 200;  // around each other; a chain that is longer is cut

using File = LineTable::File;

/// What stands before a line program: the meaning of its opcodes, its files.
struct LineHeader {
  unsigned unit = 1;                     // bytes that addresses advance by
  std::int8_t line_base = 0;             // special opcodes: the least that lines advance by
  unsigned line_range = 1;               // and how many such steps there are
  unsigned first_special = 1;            // opcode
  std::vector<unsigned> operand_counts;  // standard opcodes, from opcode 1
  std::vector<File> files;
  unsigned first_file = 1;  // the number of files[0]
};

/// What the names of files may be stored in.
struct NameSections {
  std::string_view strings;       // .debug_str
  std::string_view line_strings;  // .debug_line_str
};

/// Where a relocated address is.
struct Place {
  std::uint32_t section = 0;  // 0: unknown
  std::uint64_t offset = 0;
};

/// What the addresses in .debug_line mean.
class Addresses {
 public:
  Addresses(const Elf& elf, const Section& lines) : elf_(elf), relocations_(relocations_of(elf, lines)) {
    for (const Section& section : elf.sections) {
      if (section.name.starts_with(".text") && section.size != 0) code_.push_back(&section);
    }
    std::ranges::sort(code_, {}, &Section::address);
    const auto overlap = [](auto* a, auto* b) { return b->address - a->address < a->size; };
    if (std::adjacent_find(code_.begin(), code_.end(), overlap) != code_.end()) code_.clear();
  }

  /// For an address at `position` of .debug_line.
  Place place(std::uint64_t position, std::uint64_t address) const {
    const auto relocation = std::ranges::lower_bound(relocations_, position, {}, &Relocation::offset);
    if (relocation == relocations_.end() || relocation->offset != position) return unrelocated(address);
    const Symbol& symbol = elf_.symbols[relocation->symbol];
    return {symbol.section, symbol.value + relocation->addend + address};
  }

 private:
  /// Without a relocation, the section of code that the address is in.
  Place unrelocated(std::uint64_t address) const {
    const auto next = std::ranges::upper_bound(code_, address, {}, &Section::address);
    if (next == code_.begin()) return {};
    const Section& section = **(next - 1);
    const std::uint64_t offset = address - section.address;
    return offset < section.size ? Place{index_of(section), offset} : Place{};
  }
  std::uint32_t index_of(const Section& section) const { return std::uint32_t(&section - elf_.sections.data()); }

  const Elf& elf_;
  std::vector<Relocation> relocations_;
  std::vector<const Section*> code_;  // by address; none where sections overlap, which they do if all begin at 0
};

/// One unit: a header and its program.
class LineProgram {
 public:
  LineProgram(const LineHeader& header, const Addresses& addresses, LineTable::Content& out)
      : header_(header), addresses_(addresses), out_(out), first_file_(out.files.size()) {
    out_.files.insert(out_.files.end(), header.files.begin(), header.files.end());
    begin_sequence();
  }

  /// `unit_at` is the position in .debug_line of the reader's first byte.
  void run(ByteReader& reader, std::uint64_t unit_at) {
    while (!reader.at_end()) {
      const unsigned opcode = reader.u8();
      if (opcode >= header_.first_special) {
        special(opcode);
      } else if (opcode == 0) {
        const std::uint64_t size = reader.uleb();
        const std::uint64_t at = unit_at + reader.position();
        extended(reader.take(size), at);
      } else {
        standard(opcode, reader);
      }
    }
    end_sequence();
  }

 private:
  void begin_sequence() {
    row_ = {.line = 1};
    file_ = 1;
    place_ = {};
    first_ = out_.rows.size();
  }

  void end_sequence() {
    const std::size_t end = out_.rows.size();
    if (place_.section != 0 && first_ != end) out_.sequences.push_back({place_.section, first_, end, row_.address});
    first_ = end;
  }

  void emit() {
    const std::uint64_t file = file_ - header_.first_file;  // for number 0 before DWARF 5: past the end of the files
    row_.file = file < header_.files.size() ? std::uint32_t(first_file_ + file) : ~std::uint32_t{0};
    out_.rows.push_back(row_);
  }

  void advance(std::uint64_t steps) { row_.address += steps * header_.unit; }

  void special(unsigned opcode) {
    const unsigned adjusted = opcode - header_.first_special;
    advance(adjusted / header_.line_range);
    row_.line += std::uint32_t(header_.line_base + int(adjusted % header_.line_range));
    emit();
  }

  void standard(unsigned opcode, ByteReader& reader) {
    switch (opcode) {
      case 1: return emit();                                                       // DW_LNS_copy
      case 2: return advance(reader.uleb());                                       // DW_LNS_advance_pc
      case 3: row_.line += std::uint32_t(reader.sleb()); return;                   // DW_LNS_advance_line
      case 4: file_ = reader.uleb(); return;                                       // DW_LNS_set_file
      case 8: return advance((255 - header_.first_special) / header_.line_range);  // DW_LNS_const_add_pc
      case 9: row_.address += reader.u16(); return;                                // DW_LNS_fixed_advance_pc
      default:
        for (unsigned i = 0; i < header_.operand_counts[opcode - 1]; ++i) reader.uleb();
    }
  }

  /// `at` is the position of the bytes in .debug_line.
  void extended(std::string_view bytes, std::uint64_t at) {
    if (bytes.empty()) return;
    ByteReader reader(bytes, "an opcode of a line program");
    switch (reader.u8()) {
      case 1:  // DW_LNE_end_sequence
        end_sequence();
        begin_sequence();
        return;
      case 2:  // DW_LNE_set_address
        at += reader.position();
        return set_place(addresses_.place(at, reader.number(unsigned(std::min<std::size_t>(reader.left(), 8)))));
      case 0x90:  // DW_LNE_NVIDIA_inlined_call
        row_.caller = reader.uleb();
        row_.function = reader.uleb();
        return;
      case 0x91: row_.function = reader.uleb(); return;  // DW_LNE_NVIDIA_set_function_name
      default: return;                                   // describes no line
    }
  }

  void set_place(const Place& place) {
    if (place.section != place_.section) end_sequence();
    place_ = place;
    row_.address = place.offset;
  }

  const LineHeader& header_;
  const Addresses& addresses_;
  LineTable::Content& out_;
  std::size_t first_file_, first_ = 0;
  LineTable::Row row_;  // the registers of the machine
  std::uint64_t file_ = 1;
  Place place_;
};

struct Value {
  std::string_view text;
  std::uint64_t number = 0;
};

/// Reads an attribute of a file, stored in a form: DW_FORM_*, DWARF 5, section 7.5.6.
Value read_value(ByteReader& reader, std::uint64_t form, bool is_64_bit, const NameSections& names) {
  const auto offset = [&] { return reader.number(is_64_bit ? 8 : 4); };
  switch (form) {
    case 0x03: return {reader.take(reader.u16())};                                // block2
    case 0x04: return {reader.take(reader.u32())};                                // block4
    case 0x05: return {{}, reader.u16()};                                         // data2
    case 0x06: return {{}, reader.u32()};                                         // data4
    case 0x07: return {{}, reader.u64()};                                         // data8
    case 0x08: return {reader.string()};                                          // string
    case 0x09: return {reader.take(reader.uleb())};                               // block
    case 0x0A: return {reader.take(reader.u8())};                                 // block1
    case 0x0B: return {{}, reader.u8()};                                          // data1
    case 0x0E: return {string_at(names.strings, offset(), max_path_bytes)};       // strp
    case 0x0F: return {{}, reader.uleb()};                                        // udata
    case 0x17: return {{}, offset()};                                             // sec_offset
    case 0x1E: return {reader.take(16)};                                          // data16
    case 0x1F: return {string_at(names.line_strings, offset(), max_path_bytes)};  // line_strp
    default: throw std::runtime_error(fmt::format("a line program names its files in the unknown form {}", form));
  }
}

/// A list of directories or of files of DWARF 5; `directories` are known for files.
std::vector<File> read_files(ByteReader& reader, bool is_64_bit, const NameSections& names,
                             const std::vector<File>& directories) {
  constexpr std::uint64_t content_path = 1, content_directory = 2;  // DW_LNCT_*
  std::vector<std::pair<std::uint64_t, std::uint64_t>> format(reader.u8());
  for (auto& [content, form] : format) {
    content = reader.uleb();
    form = reader.uleb();
  }
  const std::uint64_t count = reader.uleb();
  // An entry has at least one byte, so that a count cannot ask for more memory than the cubin has bytes.
  if (count > reader.left() || (format.empty() && count != 0)) {
    throw std::runtime_error(fmt::format("a line program says that it has {} files", count));
  }
  std::vector<File> files;
  for (std::uint64_t i = 0; i < count; ++i) {
    File& file = files.emplace_back();
    for (const auto& [content, form] : format) {
      const Value value = read_value(reader, form, is_64_bit, names);
      if (content == content_path) file.name = value.text;
      if (content == content_directory && value.number < directories.size()) {
        file.directory = directories[std::size_t(value.number)].name;
      }
    }
  }
  return files;
}

/// Up to DWARF 4: directories from number 1, then files, each list ended by an empty name.
std::vector<File> read_old_files(ByteReader& reader) {
  std::vector<std::string_view> directories{{}};  // 0: where the compiler ran, which is not said here
  for (std::string_view name = reader.string(); !name.empty(); name = reader.string()) directories.push_back(name);
  std::vector<File> files;
  for (std::string_view name = reader.string(); !name.empty(); name = reader.string()) {
    const std::uint64_t directory = reader.uleb();
    reader.uleb();  // time of change
    reader.uleb();  // bytes
    files.push_back({directory < directories.size() ? directories[std::size_t(directory)] : "", name});
  }
  return files;
}

/// `unit` is at the start of a unit, less its length; afterwards it is at the first opcode.
LineHeader read_line_header(ByteReader& unit, bool is_64_bit, const NameSections& names) {
  LineHeader header;
  const unsigned version = unit.u16();
  if (version < 2 || version > 5) {
    throw std::runtime_error(fmt::format("a line program is of DWARF version {}; versions 2 to 5 are known", version));
  }
  if (version >= 5) unit.take(1 + 1);  // bytes of an address and of a segment
  ByteReader rest(unit.take(unit.number(is_64_bit ? 8 : 4)), "the header of a line program");
  header.unit = rest.u8();
  if (version >= 4) rest.u8();  // operations per instruction, for VLIW machines
  rest.u8();                    // whether lines begin statements
  header.line_base = std::int8_t(rest.u8());
  header.line_range = rest.u8();
  if (header.line_range == 0) throw std::runtime_error("a line program has special opcodes for no lines");
  header.first_special = rest.u8();
  for (unsigned opcode = 1; opcode < header.first_special; ++opcode) header.operand_counts.push_back(rest.u8());
  if (version < 5) {
    header.files = read_old_files(rest);
    return header;
  }
  header.first_file = 0;
  const std::vector<File> directories = read_files(rest, is_64_bit, names, {});
  header.files = read_files(rest, is_64_bit, names, directories);
  return header;
}

LineTable::Content run_line_programs(const Elf& elf, const NameSections& names) {
  LineTable::Content content;
  const Section* lines = section_named(elf, ".debug_line");
  if (lines == nullptr) return content;
  const Addresses addresses(elf, *lines);
  constexpr const char* section_name = "the section .debug_line";
  ByteReader reader(lines->bytes, section_name);
  while (!reader.at_end()) {
    std::uint64_t size = reader.u32();
    const bool is_64_bit = size == 0xFFFFFFFF;
    if (is_64_bit) size = reader.u64();
    const std::uint64_t at = reader.position();
    ByteReader unit(reader.take(size), section_name);
    const LineHeader header = read_line_header(unit, is_64_bit, names);
    LineProgram(header, addresses, content).run(unit, at);
  }
  return content;
}

}  // namespace

LineTable::LineTable(const Elf& elf) {
  const auto bytes_of = [&](const char* name) {
    const Section* section = section_named(elf, name);
    return section == nullptr ? std::string_view{} : section->bytes;
  };
  names_ = bytes_of(".debug_str");
  content_ = run_line_programs(elf, {names_, bytes_of(".debug_line_str")});
  by_address_.resize(content_.rows.size());
  std::iota(by_address_.begin(), by_address_.end(), std::size_t{0});
  for (const Sequence& sequence : content_.sequences) {
    std::stable_sort(by_address_.begin() + std::ptrdiff_t(sequence.first),
                     by_address_.begin() + std::ptrdiff_t(sequence.end),
                     [&](auto a, auto b) { return content_.rows[a].address < content_.rows[b].address; });
  }
}

// The last of several rows with one address counts: the others describe no instruction.
std::optional<std::size_t> LineTable::row_at(const Sequence& sequence, std::uint64_t offset) const {
  if (offset >= sequence.end_address) return {};
  const auto first = by_address_.begin() + std::ptrdiff_t(sequence.first);
  const auto next = std::upper_bound(first, by_address_.begin() + std::ptrdiff_t(sequence.end), offset,
                                     [&](auto address, auto row) { return address < content_.rows[row].address; });
  if (next == first) return {};
  return *(next - 1);
}

std::string LineTable::File::path() const {
  const bool is_whole = directory.empty() || name.starts_with('/');
  return is_whole ? std::string(name) : fmt::format("{}/{}", directory, name);
}

std::vector<SourceFrame> LineTable::frames(std::uint32_t section, std::uint64_t offset) const {
  std::vector<SourceFrame> frames;
  for (const Sequence& sequence : content_.sequences) {
    auto row = sequence.section == section ? row_at(sequence, offset) : std::nullopt;
    if (!row) continue;
    while (row && frames.size() < max_inlined_calls) {
      const Row& here = content_.rows[*row];
      const File file = here.file < content_.files.size() ? content_.files[here.file] : File{};
      const bool is_inlined = here.caller != 0;
      const std::string_view function = is_inlined ? string_at(names_, here.function, max_symbol_bytes) : "";
      frames.push_back({file.path(), here.line, std::string(function)});
      // A caller is a row that came before, so the chain has an end.
      const bool is_earlier = is_inlined && here.caller <= *row - sequence.first;
      row = is_earlier ? std::optional(std::size_t(sequence.first + here.caller - 1)) : std::nullopt;
    }
    break;
  }
  return frames;
}

}  // namespace bankwise::cuda
