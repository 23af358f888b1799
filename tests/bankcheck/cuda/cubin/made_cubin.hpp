// Cubins made by hand: an ELF file with one function and the sections that a test wants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace made {

/// The lowest `bytes` bytes of a number, little-endian.
inline std::string number(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) text += char(value >> 8 * i & 0xFF);
  return text;
}
inline std::string u8(std::uint64_t value) { return number(value, 1); }
inline std::string u16(std::uint64_t value) { return number(value, 2); }
inline std::string u32(std::uint64_t value) { return number(value, 4); }
inline std::string u64(std::uint64_t value) { return number(value, 8); }
inline std::string text(const std::string& value) { return value + '\0'; }

struct Section {
  std::string name, bytes;
  std::uint32_t type = 1, link = 0, info = 0;
};

/// Sections 1 and 2 are the names of sections and of symbols, 3 the symbols, and from 4 on those given.
inline std::string elf(std::vector<Section> given, const std::string& symbols, const std::string& symbol_names,
                       std::uint32_t flags = 0x0A005A04) {
  std::vector<Section> sections{{}, {".shstrtab", "", 3}, {".strtab", symbol_names, 3}, {".symtab", symbols, 2, 2}};
  sections[0].type = 0;
  sections.insert(sections.end(), given.begin(), given.end());
  std::vector<std::uint64_t> names, offsets;
  for (Section& section : sections) {
    names.push_back(sections[1].bytes.size());
    sections[1].bytes += text(section.name);
  }
  std::string body;
  for (const Section& section : sections) {
    offsets.push_back(64 + body.size());
    body += section.bytes;
  }
  std::string header =
      "\x7F"
      "ELF\x02\x01\x01\x41\x08" +
      std::string(7, '\0');
  header += u16(2) + u16(190) + u32(1) + u64(0) + u64(0) + u64(64 + body.size()) + u32(flags);
  header += u16(64) + u16(0) + u16(0) + u16(64) + u16(sections.size()) + u16(1);
  std::string table;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    table += u32(names[i]) + u32(section.type) + u64(0) + u64(0) + u64(offsets[i]) + u64(section.bytes.size());
    table += u32(section.link) + u32(section.info) + u64(1) + u64(0);
  }
  return header + body + table;
}

inline std::string symbol(std::uint32_t name, unsigned type, std::uint16_t section, std::uint64_t value,
                          std::uint64_t size) {
  return u32(name) + u8(type) + u8(0) + u16(section) + u64(value) + u64(size);
}

/// A cubin with a function "k" of 64 bytes and a line section whose first address, at `address_at`, is k's.
inline std::string cubin(const std::string& lines, std::uint64_t address_at, const std::string& strings = "",
                         const std::string& line_strings = "") {
  const std::string code = u64(0x0000002804007984) + u64(0x001FE20008000C00) + std::string(48, '\0');
  return elf({{".text.k", code},
              {".debug_line", lines},
              {".rela.debug_line", u64(address_at) + u32(2) + u32(1) + u64(0), 4, 3, 5},
              {".debug_str", strings},
              {".debug_line_str", line_strings}},
             symbol(0, 0, 0, 0, 0) + symbol(1, 2, 4, 0, 64), '\0' + text("k"));
}

// Opcodes of line programs.
inline std::string extended(const std::string& bytes) { return u8(0) + u8(bytes.size()) + bytes; }
inline std::string set_address() { return extended(u8(2) + u64(0)); }
inline std::string end_sequence() { return extended(u8(1)); }
inline std::string inlined(unsigned row, unsigned name) { return extended(u8(0x90) + u8(row) + u8(name)); }
inline std::string advance_pc(unsigned bytes) { return u8(2) + u8(bytes); }
inline std::string set_line(int by) { return u8(3) + u8(unsigned(by) & 0x7F); }
inline std::string set_file(unsigned file) { return u8(4) + u8(file); }
inline std::string copy() { return u8(1); }

/// A unit: its header up to the version, the rest of the header, and the program.
inline std::string unit(unsigned version, const std::string& header, const std::string& program) {
  const std::string sizes = version >= 5 ? u8(8) + u8(0) : "";
  const std::string body = u16(version) + sizes + u32(header.size()) + header + program;
  return u32(body.size()) + body;
}
inline std::string opcodes(unsigned version) {
  return u8(1) + (version >= 4 ? u8(1) : "") + u8(1) + u8(0xFB) + u8(14) + u8(10) +
         std::string("\0\1\1\1\1\0\0\0\1", 9);
}
/// Versions 2 to 4: "src/a.cu" is file 1, "b.cuh" of an unknown directory file 2.
inline std::string old_header(unsigned version) {
  return opcodes(version) + text("src") + u8(0) + text("a.cu") + u8(1) + u8(0) + u8(0) + text("b.cuh") + u8(0) + u8(0) +
         u8(0) + u8(0);
}

}  // namespace made
