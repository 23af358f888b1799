// Layout: System V ABI, "ELF-64 Object File Format". What NVIDIA adds was read off cubins that nvcc 13.0 and nvdisasm
// agree on: where e_flags holds the compute capability depends on the version of the ABI.
#include "bankcheck/cuda/cubin/elf.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace bankwise::cuda {
namespace {

static_assert(std::endian::native == std::endian::little);  // as cubins are

constexpr std::uint16_t em_cuda = 190;
constexpr std::uint32_t sht_cuda_shared = 0x7000000A;  // shared memory of a relocatable cubin: no contents either
constexpr unsigned first_abi_of_wide_flags = 8;

/// Throws the sentence "<name> reaches past the end of the cubin" if the part is not inside.
std::string_view part_of(std::string_view bytes, std::uint64_t offset, std::uint64_t size, const char* name) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw std::runtime_error(fmt::format("{} reaches past the end of the cubin", name));
  }
  return bytes.substr(std::size_t(offset), std::size_t(size));
}

/// As many complete entries as there are bytes for, which need not be aligned.
template <typename Entry>
std::vector<Entry> table_of(std::string_view bytes) {
  std::vector<Entry> entries(bytes.size() / sizeof(Entry));
  if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
  return entries;
}

std::vector<Section> read_sections(std::string_view bytes, const Elf64_Ehdr& header) {
  const auto headers = table_of<Elf64_Shdr>(
      part_of(bytes, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), "the table of sections"));
  std::vector<Section> sections;
  for (const Elf64_Shdr& entry : headers) {
    const bool has_bytes = entry.sh_type != SHT_NULL && entry.sh_type != SHT_NOBITS && entry.sh_type != sht_cuda_shared;
    sections.push_back({.name = {},
                        .type = entry.sh_type,
                        .address = entry.sh_addr,
                        .size = entry.sh_size,
                        .link = entry.sh_link,
                        .info = entry.sh_info,
                        .bytes = has_bytes ? part_of(bytes, entry.sh_offset, entry.sh_size, "a section") : ""});
  }
  for (std::size_t i = 0; i < sections.size() && header.e_shstrndx < sections.size(); ++i) {
    sections[i].name = string_at(sections[header.e_shstrndx].bytes, headers[i].sh_name, max_symbol_bytes);
  }
  return sections;
}

std::vector<Symbol> read_symbols(const std::vector<Section>& sections) {
  std::vector<Symbol> symbols;
  const auto table = std::ranges::find(sections, std::uint32_t{SHT_SYMTAB}, &Section::type);
  if (table == sections.end()) return symbols;
  const std::string_view names = table->link < sections.size() ? sections[table->link].bytes : std::string_view{};
  for (const Elf64_Sym& symbol : table_of<Elf64_Sym>(table->bytes)) {
    const bool is_inside = symbol.st_shndx < SHN_LORESERVE && symbol.st_shndx < sections.size();
    symbols.push_back({string_at(names, symbol.st_name, max_symbol_bytes), SymbolKind(ELF64_ST_TYPE(symbol.st_info)),
                       is_inside ? symbol.st_shndx : 0U, symbol.st_value, symbol.st_size});
  }
  return symbols;
}

}  // namespace

std::string_view string_at(std::string_view bytes, std::uint64_t offset, std::size_t max_bytes) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(std::size_t(offset), max_bytes);
  return rest.substr(0, rest.find('\0'));
}

Elf parse_elf(std::string_view bytes) {
  if (!bytes.starts_with(ELFMAG)) throw std::runtime_error("the file is no cubin: it does not begin with \\x7fELF");
  const auto header = table_of<Elf64_Ehdr>(part_of(bytes, 0, sizeof(Elf64_Ehdr), "the ELF header")).front();
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    throw std::runtime_error("the file is no 64-bit little-endian cubin");
  }
  if (header.e_machine != em_cuda) {
    throw std::runtime_error(fmt::format("the file is for ELF machine {}, no cubin", header.e_machine));
  }
  if (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) {
    throw std::runtime_error(
        fmt::format("the cubin's section headers have {} bytes instead of 64", header.e_shentsize));
  }
  const bool has_wide_flags = header.e_ident[EI_ABIVERSION] >= first_abi_of_wide_flags;
  Elf elf{.sm = has_wide_flags ? header.e_flags >> 8 & 0xFFFF : header.e_flags & 0xFF,
          .sections = read_sections(bytes, header),
          .symbols = {}};
  elf.symbols = read_symbols(elf.sections);
  return elf;
}

const Section* section_named(const Elf& elf, std::string_view name) {
  const auto section = std::ranges::find(elf.sections, name, &Section::name);
  return section == elf.sections.end() ? nullptr : &*section;
}

std::vector<Relocation> relocations_of(const Elf& elf, const Section& section) {
  const auto index = std::uint32_t(&section - elf.sections.data());
  std::vector<Relocation> relocations;
  const auto table = std::find_if(elf.sections.begin(), elf.sections.end(), [&](const Section& s) {
    return (s.type == SHT_RELA || s.type == SHT_REL) && s.info == index;
  });
  if (table == elf.sections.end()) return relocations;
  // The only kind in debug sections is a 64-bit address.
  const auto add = [&](const auto& entry, std::uint64_t addend) {
    const std::uint32_t symbol = ELF64_R_SYM(entry.r_info);
    if (symbol >= elf.symbols.size()) {
      throw std::runtime_error(fmt::format("a relocation names symbol {}, which is missing", symbol));
    }
    relocations.push_back({entry.r_offset, symbol, addend});
  };
  if (table->type == SHT_RELA) {
    for (const auto& entry : table_of<Elf64_Rela>(table->bytes)) add(entry, std::uint64_t(entry.r_addend));
  } else {
    for (const auto& entry : table_of<Elf64_Rel>(table->bytes)) add(entry, 0);
  }
  std::stable_sort(relocations.begin(), relocations.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  return relocations;
}

}  // namespace bankwise::cuda
