// SPDX-License-Identifier: MIT
//
// DWARF 5, section 6.2.4, and DWARF 4 and 2, section 6.2.4, for the versions before.
#include "bankcheck/cuda/cubin/line_program.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace bankwise::cuda {

namespace {

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
      case form_string:
        return {reader_.string(), 0};
      case form_strp:
        return {string_at(names_.strings, reader_.number(offset_bytes_), max_path_bytes), 0};
      case form_line_strp:
        return {string_at(names_.line_strings, reader_.number(offset_bytes_), max_path_bytes), 0};
      case form_udata:
        return {{}, reader_.uleb()};
      case form_data1:
        return {{}, reader_.u8()};
      case form_data2:
        return {{}, reader_.u16()};
      case form_data4:
        return {{}, reader_.u32()};
      case form_data8:
        return {{}, reader_.u64()};
      case form_sec_offset:
        return {{}, reader_.number(offset_bytes_)};
      case form_data16:
        return {reader_.take(16), 0};
      case form_block:
        return {reader_.take(reader_.uleb()), 0};
      case form_block1:
        return {reader_.take(reader_.u8()), 0};
      case form_block2:
        return {reader_.take(reader_.u16()), 0};
      case form_block4:
        return {reader_.take(reader_.u32()), 0};
      default:
        throw std::runtime_error(fmt::format("a line program names its files in the unknown form {}", form));
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
