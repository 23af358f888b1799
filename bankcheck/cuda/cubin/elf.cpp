// SPDX-License-Identifier: MIT
//
// Layout: System V ABI, "ELF-64 Object File Format". What NVIDIA adds was read off cubins that nvcc 13.0 and nvdisasm
// agree on: where e_flags holds the compute capability depends on the version of the ABI.
#include "bankcheck/cuda/cubin/elf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bankcheck/cuda/cubin/byte_reader.hpp"

namespace bankwise::cuda {

namespace {

constexpr std::uint16_t em_cuda = 190;
constexpr std::uint32_t sht_symtab = 2, sht_rela = 4, sht_nobits = 8, sht_rel = 9;
constexpr std::uint32_t sht_cuda_shared = 0x7000000A;  // shared memory of a relocatable cubin: no contents either
constexpr std::uint16_t shn_loreserve = 0xFF00;
constexpr unsigned header_bytes = 64, section_header_bytes = 64, symbol_bytes = 24;
constexpr unsigned first_abi_of_wide_flags = 8;

struct Header {
  unsigned sm = 0;
  std::uint64_t sections_at = 0;
  std::uint16_t section_count = 0, names = 0;
};

Header read_header(std::string_view bytes) {
  if (!bytes.starts_with("\x7F"
                         "ELF"))
    throw std::runtime_error("the file is no cubin: it does not begin with \\x7fELF");
  ByteReader reader(part_of(bytes, 0, header_bytes, "the ELF header"), "the ELF header");
  const std::string_view identity = reader.take(16);
  if (identity[4] != 2 || identity[5] != 1) throw std::runtime_error("the file is no 64-bit little-endian cubin");
  const auto abi = static_cast<unsigned char>(identity[8]);
  reader.u16();  // type: an executable or a relocatable cubin
  const std::uint16_t machine = reader.u16();
  if (machine != em_cuda) throw std::runtime_error(fmt::format("the file is for ELF machine {}, no cubin", machine));
  reader.take(4 + 8 + 8);  // version, entry, program headers
  Header header;
  header.sections_at = reader.u64();
  const std::uint32_t flags = reader.u32();
  header.sm = abi >= first_abi_of_wide_flags ? flags >> 8 & 0xFFFF : flags & 0xFF;
  reader.take(2 + 2 + 2);  // sizes of this header and of the program headers
  const std::uint16_t entry_bytes = reader.u16();
  header.section_count = reader.u16();
  header.names = reader.u16();
  if (header.section_count != 0 && entry_bytes != section_header_bytes) {
    throw std::runtime_error(fmt::format("the cubin's section headers have {} bytes instead of 64", entry_bytes));
  }
  return header;
}

std::vector<Section> read_sections(std::string_view bytes, const Header& header) {
  ByteReader reader(part_of(bytes, header.sections_at, std::uint64_t{header.section_count} * section_header_bytes,
                            "the table of sections"),
                    "the table of sections");
  std::vector<Section> sections(header.section_count);
  std::vector<std::uint32_t> names;
  for (Section& section : sections) {
    names.push_back(reader.u32());
    section.type = reader.u32();
    reader.u64();  // flags
    section.address = reader.u64();
    const std::uint64_t offset = reader.u64();
    section.size = reader.u64();
    section.link = reader.u32();
    section.info = reader.u32();
    reader.take(8 + 8);  // alignment, size of an entry
    const bool has_bytes = section.type != 0 && section.type != sht_nobits && section.type != sht_cuda_shared;
    if (has_bytes) section.bytes = part_of(bytes, offset, section.size, "a section");
  }
  if (header.names < sections.size()) {
    for (std::size_t i = 0; i < sections.size(); ++i) {
      sections[i].name = string_at(sections[header.names].bytes, names[i], max_symbol_bytes);
    }
  }
  return sections;
}

SymbolKind kind_of(unsigned info) {
  switch (info & 0xF) {
    case 1: return SymbolKind::object;
    case 2: return SymbolKind::function;
    default: return SymbolKind::other;
  }
}

std::vector<Symbol> read_symbols(const std::vector<Section>& sections) {
  std::vector<Symbol> symbols;
  const auto table = std::find_if(sections.begin(), sections.end(), [](const auto& s) { return s.type == sht_symtab; });
  if (table == sections.end()) return symbols;
  const std::string_view names = table->link < sections.size() ? sections[table->link].bytes : std::string_view{};
  ByteReader reader(table->bytes, "the table of symbols");
  while (reader.left() >= symbol_bytes) {
    Symbol symbol;
    symbol.name = string_at(names, reader.u32(), max_symbol_bytes);
    symbol.kind = kind_of(reader.u8());
    reader.u8();  // visibility
    const std::uint16_t section = reader.u16();
    symbol.section = section < shn_loreserve && section < sections.size() ? section : 0;
    symbol.value = reader.u64();
    symbol.size = reader.u64();
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace

Elf parse_elf(std::string_view bytes) {
  const Header header = read_header(bytes);
  Elf elf;
  elf.sm = header.sm;
  elf.sections = read_sections(bytes, header);
  elf.symbols = read_symbols(elf.sections);
  return elf;
}

const Section* section_named(const Elf& elf, std::string_view name) {
  const auto section =
      std::find_if(elf.sections.begin(), elf.sections.end(), [&](const auto& s) { return s.name == name; });
  return section == elf.sections.end() ? nullptr : &*section;
}

std::vector<Relocation> relocations_of(const Elf& elf, const Section& section) {
  const auto index = std::uint32_t(&section - elf.sections.data());
  std::vector<Relocation> relocations;
  const auto table = std::find_if(elf.sections.begin(), elf.sections.end(), [&](const Section& s) {
    return (s.type == sht_rela || s.type == sht_rel) && s.info == index;
  });
  if (table == elf.sections.end()) return relocations;
  const bool has_addends = table->type == sht_rela;
  ByteReader reader(table->bytes, "a table of relocations");
  while (reader.left() >= (has_addends ? 24 : 16)) {
    Relocation relocation;
    relocation.offset = reader.u64();
    reader.u32();  // the kind: the only one of debug sections is a 64-bit address
    relocation.symbol = reader.u32();
    if (has_addends) relocation.addend = reader.u64();
    if (relocation.symbol >= elf.symbols.size()) {
      throw std::runtime_error(fmt::format("a relocation names symbol {}, which is missing", relocation.symbol));
    }
    relocations.push_back(relocation);
  }
  std::stable_sort(relocations.begin(), relocations.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  return relocations;
}

}  // namespace bankwise::cuda
