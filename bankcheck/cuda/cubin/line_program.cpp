// SPDX-License-Identifier: MIT
//
// DWARF 5, section 6.2.5. The two opcodes of NVIDIA are those of elfutils' dwarf.h, DW_LNE_NVIDIA_inlined_call and
// DW_LNE_NVIDIA_set_function_name; what their operands count was found by comparing with nvdisasm -gi.
#include "bankcheck/cuda/cubin/line_program.hpp"

#include <algorithm>

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

  /// Of an address that stands at `position` of .debug_line.
  Place place(std::uint64_t position, std::uint64_t address) const {
    const auto found = std::lower_bound(relocations_.begin(), relocations_.end(), position,
                                        [](const Relocation& r, std::uint64_t at) { return r.offset < at; });
    if (found == relocations_.end() || found->offset != position) return unrelocated(address);
    const Symbol& symbol = elf_.symbols[found->symbol];
    return {symbol.section, symbol.value + found->addend + address};
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
    const std::uint64_t file = file_ - header_.first_file;  // of number 0 before DWARF 5: past the end of the files
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
      case lns_copy:
        return emit();
      case lns_advance_pc:
        return advance(reader.uleb());
      case lns_advance_line:
        row_.line += std::uint32_t(reader.sleb());
        return;
      case lns_set_file:
        file_ = reader.uleb();
        return;
      case lns_const_add_pc:
        return advance((255 - header_.first_special) / header_.line_range);
      case lns_fixed_advance_pc:
        row_.address += reader.u16();
        return;
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
      case lne_nvidia_set_function_name:
        row_.function = reader.uleb();
        return;
      default:
        return;  // describes no line
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
  constexpr const char* what = "the section .debug_line";
  ByteReader reader(lines->bytes, what);
  while (!reader.at_end()) {
    constexpr std::uint32_t escape_64_bit = 0xFFFFFFFF;
    std::uint64_t size = reader.u32();
    const bool is_64_bit = size == escape_64_bit;
    if (is_64_bit) size = reader.u64();
    const std::uint64_t at = reader.position();
    ByteReader unit(reader.take(size), what);
    const LineHeader header = read_line_header(unit, is_64_bit, names);
    Program(header, addresses, rows).run(unit, at);
  }
  return rows;
}

}  // namespace bankwise::cuda
