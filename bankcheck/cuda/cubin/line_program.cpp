// SPDX-License-Identifier: MIT
//
// DWARF 5, section 6.2.5. The two opcodes of NVIDIA are those of elfutils' dwarf.h, DW_LNE_NVIDIA_inlined_call and
// DW_LNE_NVIDIA_set_function_name; what their operands count was found by comparing with nvdisasm -gi.
#include "bankcheck/cuda/cubin/line_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bankcheck/cuda/cubin/byte_reader.hpp"

namespace bankwise::cuda {
namespace {

constexpr unsigned opcode_extended = 0;
enum StandardOpcode : unsigned {
  lns_copy = 1,
  lns_advance_pc = 2,
  lns_advance_line = 3,
  lns_set_file = 4,
  lns_const_add_pc = 8,
  lns_fixed_advance_pc = 9,
};
enum ExtendedOpcode : unsigned {
  lne_end_sequence = 1,
  lne_set_address = 2,
  lne_nvidia_inlined_call = 0x90,
  lne_nvidia_set_function_name = 0x91,
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
    std::sort(code_.begin(), code_.end(), [](auto* a, auto* b) { return a->address < b->address; });
    const auto overlap = [](auto* a, auto* b) { return b->address - a->address < a->size; };
    if (std::adjacent_find(code_.begin(), code_.end(), overlap) != code_.end()) code_.clear();
  }

  /// For an address at `position` of .debug_line.
  Place place(std::uint64_t position, std::uint64_t address) const {
    const auto relocation = std::lower_bound(relocations_.begin(), relocations_.end(), position,
                                             [](const Relocation& r, std::uint64_t at) { return r.offset < at; });
    if (relocation == relocations_.end() || relocation->offset != position) return unrelocated(address);
    const Symbol& symbol = elf_.symbols[relocation->symbol];
    return {symbol.section, symbol.value + relocation->addend + address};
  }

 private:
  /// Without a relocation, the section of code that the address is in.
  Place unrelocated(std::uint64_t address) const {
    const auto next = std::upper_bound(code_.begin(), code_.end(), address,
                                       [](std::uint64_t at, auto* section) { return at < section->address; });
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
class Program {
 public:
  Program(const LineHeader& header, const Addresses& addresses, LineRows& out)
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
      } else if (opcode == opcode_extended) {
        const std::uint64_t size = reader.uleb();
        const std::uint64_t at = unit_at + reader.position();
        extended(reader.take(size), at);
      } else {
        standard(opcode, reader);
      }
    }
    end_sequence(row_.address);
  }

 private:
  void begin_sequence() {
    row_ = {};
    row_.line = 1;
    file_ = 1;
    place_ = {};
    first_ = out_.rows.size();
  }

  void end_sequence(std::uint64_t end_address) {
    const std::size_t end = out_.rows.size();
    if (place_.section != 0 && first_ != end) {
      out_.sequences.push_back({place_.section, first_, end, end_address});
    }
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
      case lns_copy: return emit();
      case lns_advance_pc: return advance(reader.uleb());
      case lns_advance_line: row_.line += std::uint32_t(reader.sleb()); return;
      case lns_set_file: file_ = reader.uleb(); return;
      case lns_const_add_pc: return advance((255 - header_.first_special) / header_.line_range);
      case lns_fixed_advance_pc: row_.address += reader.u16(); return;
      default:
        for (unsigned i = 0; i < header_.operand_counts[opcode - 1]; ++i) reader.uleb();
    }
  }

  /// `at` is the position of the bytes in .debug_line.
  void extended(std::string_view bytes, std::uint64_t at) {
    if (bytes.empty()) return;
    ByteReader reader(bytes, "an opcode of a line program");
    switch (reader.u8()) {
      case lne_end_sequence:
        end_sequence(row_.address);
        begin_sequence();
        return;
      case lne_set_address: {
        const std::uint64_t position = at + reader.position();
        set_place(addresses_.place(position, reader.number(unsigned(std::min<std::size_t>(reader.left(), 8)))));
        return;
      }
      case lne_nvidia_inlined_call:
        row_.caller = reader.uleb();
        row_.function = reader.uleb();
        return;
      case lne_nvidia_set_function_name: row_.function = reader.uleb(); return;
      default: return;  // describes no line
    }
  }

  void set_place(const Place& place) {
    if (place.section != place_.section) end_sequence(row_.address);
    place_ = place;
    row_.address = place.offset;
  }

  const LineHeader& header_;
  const Addresses& addresses_;
  LineRows& out_;
  std::size_t first_file_, first_ = 0;
  LineTable::Row row_;  // the registers of the machine
  std::uint64_t file_ = 1;
  Place place_;
};

using File = LineTable::File;

/// How an attribute of a file is stored: DW_FORM_*, DWARF 5, section 7.5.6.
enum Form : std::uint64_t {
  form_block2 = 0x03,
  form_block4 = 0x04,
  form_data2 = 0x05,
  form_data4 = 0x06,
  form_data8 = 0x07,
  form_string = 0x08,
  form_block = 0x09,
  form_block1 = 0x0A,
  form_data1 = 0x0B,
  form_strp = 0x0E,
  form_udata = 0x0F,
  form_sec_offset = 0x17,
  form_data16 = 0x1E,
  form_line_strp = 0x1F,
};
constexpr std::uint64_t content_path = 1, content_directory = 2;  // DW_LNCT_*

struct Value {
  std::string_view text;
  std::uint64_t number = 0;
};

class EntryReader {
 public:
  EntryReader(ByteReader& reader, bool is_64_bit, const NameSections& names)
      : reader_(reader), offset_bytes_(is_64_bit ? 8 : 4), names_(names) {}

  /// A list of directories or of files of DWARF 5; `directories` are known for files.
  std::vector<File> entries(const std::vector<File>& directories) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> format(reader_.u8());
    for (auto& [content, form] : format) {
      content = reader_.uleb();
      form = reader_.uleb();
    }
    const std::uint64_t count = reader_.uleb();
    // An entry has at least one byte, so that a count cannot ask for more memory than the cubin has bytes.
    if (count > reader_.left() || (format.empty() && count != 0)) {
      throw std::runtime_error(fmt::format("a line program says that it has {} files", count));
    }
    std::vector<File> entries;
    for (std::uint64_t i = 0; i < count; ++i) {
      File entry;
      for (const auto& [content, form] : format) {
        const Value value = read(form);
        if (content == content_path) entry.name = value.text;
        if (content == content_directory && value.number < directories.size()) {
          entry.directory = directories[std::size_t(value.number)].name;
        }
      }
      entries.push_back(entry);
    }
    return entries;
  }

 private:
  Value read(std::uint64_t form) {
    switch (form) {
      case form_string: return {reader_.string(), 0};
      case form_strp: return {string_at(names_.strings, reader_.number(offset_bytes_), max_path_bytes), 0};
      case form_line_strp: return {string_at(names_.line_strings, reader_.number(offset_bytes_), max_path_bytes), 0};
      case form_udata: return {{}, reader_.uleb()};
      case form_data1: return {{}, reader_.u8()};
      case form_data2: return {{}, reader_.u16()};
      case form_data4: return {{}, reader_.u32()};
      case form_data8: return {{}, reader_.u64()};
      case form_sec_offset: return {{}, reader_.number(offset_bytes_)};
      case form_data16: return {reader_.take(16), 0};
      case form_block: return {reader_.take(reader_.uleb()), 0};
      case form_block1: return {reader_.take(reader_.u8()), 0};
      case form_block2: return {reader_.take(reader_.u16()), 0};
      case form_block4: return {reader_.take(reader_.u32()), 0};
      default: throw std::runtime_error(fmt::format("a line program names its files in the unknown form {}", form));
    }
  }

  ByteReader& reader_;
  unsigned offset_bytes_;
  const NameSections& names_;
};

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

}  // namespace

LineRows run_line_programs(const Elf& elf) {
  LineRows rows;
  const Section* lines = section_named(elf, ".debug_line");
  if (lines == nullptr) return rows;
  const auto bytes_of = [&](const char* name) {
    const Section* section = section_named(elf, name);
    return section == nullptr ? std::string_view{} : section->bytes;
  };
  const NameSections names{bytes_of(".debug_str"), bytes_of(".debug_line_str")};
  const Addresses addresses(elf, *lines);
  constexpr const char* section_name = "the section .debug_line";
  ByteReader reader(lines->bytes, section_name);
  while (!reader.at_end()) {
    constexpr std::uint32_t escape_64_bit = 0xFFFFFFFF;
    std::uint64_t size = reader.u32();
    const bool is_64_bit = size == escape_64_bit;
    if (is_64_bit) size = reader.u64();
    const std::uint64_t at = reader.position();
    ByteReader unit(reader.take(size), section_name);
    const LineHeader header = read_line_header(unit, is_64_bit, names);
    Program(header, addresses, rows).run(unit, at);
  }
  return rows;
}

LineHeader read_line_header(ByteReader& unit, bool is_64_bit, const NameSections& names) {
  LineHeader header;
  header.is_64_bit = is_64_bit;
  header.version = unit.u16();
  if (header.version < 2 || header.version > 5) {
    throw std::runtime_error(
        fmt::format("a line program is of DWARF version {}; versions 2 to 5 are known", header.version));
  }
  if (header.version >= 5) unit.take(1 + 1);  // bytes of an address and of a segment
  const std::uint64_t header_bytes = unit.number(is_64_bit ? 8 : 4);
  ByteReader rest(unit.take(header_bytes), "the header of a line program");
  header.unit = rest.u8();
  if (header.version >= 4) rest.u8();  // operations per instruction, for VLIW machines
  rest.u8();                           // whether lines begin statements
  const int base = rest.u8();          // two's complement
  header.line_base = base < 128 ? base : base - 256;
  header.line_range = rest.u8();
  if (header.line_range == 0) throw std::runtime_error("a line program has special opcodes for no lines");
  header.first_special = rest.u8();
  for (unsigned opcode = 1; opcode < header.first_special; ++opcode) header.operand_counts.push_back(rest.u8());
  if (header.version < 5) {
    header.files = read_old_files(rest);
    return header;
  }
  header.first_file = 0;
  EntryReader entries(rest, is_64_bit, names);
  const std::vector<File> directories = entries.entries({});
  header.files = entries.entries(directories);
  return header;
}

}  // namespace bankwise::cuda
