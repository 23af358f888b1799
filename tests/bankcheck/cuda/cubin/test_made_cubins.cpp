#include <fmt/format.h>
#include <stdexcept>

#include "bankcheck/cuda/cubin/cubin.hpp"
#include "bankcheck/cuda/cubin/elf.hpp"
#include "tests/bankcheck/cuda/cubin/made_cubin.hpp"
#include "tests/bankcheck/cuda/cubin/recorded.hpp"
#include "tests/bankcheck/sentences.hpp"
#include "tests/catch_any.hpp"

using bankwise::cuda::Cubin;
using namespace made;

namespace {

std::string error_of(const std::string& bytes) {
  return sentence_of<std::runtime_error>([&] { Cubin cubin(bytes); });
}

std::string with_byte(std::string bytes, std::size_t at, unsigned value) {
  bytes.at(at) = char(value);
  return bytes;
}

}  // namespace

TEST_CASE("cuda/cubin/elf/compute_capability") {
  const std::string symbols = symbol(0, 0, 0, 0, 0);
  CHECK(Cubin(elf({}, symbols, "", 0x0A005A04)).sm() == 90);
  CHECK(Cubin(elf({}, symbols, "", 0x0A007802)).sm() == 120);
  constexpr std::size_t abi_version = 8;
  CHECK(Cubin(with_byte(elf({}, symbols, "", 0x00560556), abi_version, 7)).sm() == 86);  // CUDA 12 and before
}

TEST_CASE("cuda/cubin/elf/refused") {
  const std::string good = cubin("", 0);
  REQUIRE(error_of(good).empty());
  CHECK(error_of({}) == "the file is no cubin: it does not begin with \\x7fELF");
  CHECK(error_of("#!/bin/sh and some more text that is no header of an ELF file ......................") ==
        "the file is no cubin: it does not begin with \\x7fELF");
  CHECK(error_of("\x7F"
                 "ELF") == "the ELF header reaches past the end of the cubin");
  CHECK(error_of(with_byte(good, 4, 1)) == "the file is no 64-bit little-endian cubin");
  CHECK(error_of(with_byte(good, 18, 62)) == "the file is for ELF machine 62, no cubin");
  CHECK(error_of(with_byte(good, 58, 40)) == "the cubin's section headers have 40 bytes instead of 64");
  // Offsets.
  CHECK(error_of(with_byte(good, 47, 0xFF)) == "the table of sections reaches past the end of the cubin");
  CHECK(error_of(with_byte(good, 61, 0xFF)) == "the table of sections reaches past the end of the cubin");
  const std::size_t last_section = good.size() - 64;
  CHECK(error_of(with_byte(good, last_section + 24 + 7, 0xFF)) == "a section reaches past the end of the cubin");
  CHECK(error_of(with_byte(good, last_section + 32 + 7, 0xFF)) == "a section reaches past the end of the cubin");
  // Names that share bytes.
  const std::string names = '\0' + std::string(2000, 'x') + '\0';
  std::string symbols = symbol(0, 0, 0, 0, 0);
  for (unsigned i = 0; i < 200; ++i) symbols += symbol(1 + i, 2, 4, 0, 16);
  CHECK(error_of(elf({{".text.k", std::string(16, '\0')}}, symbols, names)) ==
        "the names of the cubin's functions overlap");
}

TEST_CASE("cuda/cubin/elf/cut_off") {
  const std::string whole = recorded::cubin("turing");
  std::size_t refused = 0, tried = 0;
  for (std::size_t size = 0; size < whole.size() * 9 / 10; size += 97) {
    const std::string error = error_of({whole.begin(), whole.begin() + std::ptrdiff_t(size)});
    refused += !error.empty();
    ++tried;
  }
  CHECK(refused == tried);  // the table of sections stands near the end
}

TEST_CASE("cuda/cubin/elf/large_symbol") {
  const auto arrays_of = [](std::uint64_t offset, std::uint64_t bytes) {
    return Cubin(elf({{".text.k", std::string(16, '\0')}, {".nv.shared.k", ""}},
                     symbol(0, 0, 0, 0, 0) + symbol(1, 2, 4, 0, 16) + symbol(1, 1, 5, offset, bytes), '\0' + text("k")))
        .shared_arrays("k")
        .size();
  };
  CHECK(arrays_of(4, 16) == 1);
  CHECK(arrays_of(4, 0xFFFFFFFF) == 0);
  CHECK(arrays_of(std::uint64_t{1} << 32, 16) == 0);
}

namespace {

const std::string end(1, '\0');

/// Of a kernel "k" whose section has so many bytes. `head`, `body`: lines of the module and of the kernel, in PTX.
std::vector<Cubin::SharedArray> arrays_in_ptx(const std::string& head, const std::string& body, std::size_t bytes) {
  const std::string ptx = ".shared .align 4 .b8 other[16];" + end + head + ".visible .entry kk(" + end +
                          ".shared .align 4 .b8 b[16];" + end + "mov.u32 %r1, all;" + end + "}" + end + ".entry k(" +
                          end + body;
  return Cubin(elf({{".text.k", std::string(16, '\0')},
                    {".nv.shared.k", std::string(bytes, '\0')},
                    {".nv_debug_ptx_txt", ptx}},
                   symbol(0, 0, 0, 0, 0) + symbol(1, 2, 4, 0, 16), '\0' + text("k")))
      .shared_arrays("k");
}

}  // namespace

TEST_CASE("cuda/cubin/elf/ptx_of_shared_arrays") {
  const auto arrays_of = [](const std::string& body, std::size_t bytes) { return arrays_in_ptx("", body, bytes); };
  const std::string two = ".shared .align 1 .b8 a[3];" + end + ".shared .align 8 .f64 d;" + end;
  REQUIRE(arrays_of(two, 1040).size() == 2);
  CHECK(arrays_of(two, 1040)[1].offset == 1032);
  CHECK(arrays_of(two, 1040)[1].bytes == 8);
  CHECK(arrays_of(two, 1056).empty());  // something else is there, too
  CHECK(arrays_of(two + "}" + end + ".shared .align 4 .b8 later[400];", 1040).size() == 2);
  for (const char* line :
       {".shared .align 4 .b8 a[99999999999];", ".shared .align 0 .b8 a[16];", ".shared .align 4 .b8 a[0];",
        ".shared .align 4 .b8 ", ".shared .align 4 .b8 a[", ".shared .align 4 .b64 a[4294967295];"}) {
    INFO(line);
    CHECK(arrays_of(line, 1040).empty());
  }
}

TEST_CASE("cuda/cubin/elf/ptx_of_dynamic_shared_memory") {
  const std::string all = ".extern .shared .align 16 .b8 all[];" + end;
  const std::string own = ".shared .align 1 .b8 a[3];" + end, use = "mov.u32 %r1, all;" + end;
  const auto behind = arrays_in_ptx(all, own + use, 1040);
  REQUIRE(behind.size() == 2);
  CHECK(behind[1].name == "all");
  CHECK(behind[1].offset == 1040);
  CHECK(behind[1].bytes == 0);
  const auto alone = arrays_in_ptx(all, use, 1024);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].offset == 1024);
  CHECK(arrays_in_ptx("", own, 1040).size() == 1);
  CHECK(arrays_in_ptx(all, own + use, 1056).empty());  // something else is there, too
  // A module with another array that needs a larger alignment: the section is as long as that needs.
  const std::string wide = all + ".extern .shared .align 128 .b8 all2[];" + end;
  CHECK(arrays_in_ptx(wide, own + use, 1152).back().offset == 1040);
  CHECK(arrays_in_ptx(wide, own + "mov.u32 %r1, all2;" + end, 1152).back().offset == 1152);
  CHECK(arrays_in_ptx(wide, own, 1152).size() == 1);  // a function may access one or the other
  CHECK(arrays_in_ptx(all, own, 1040).size() == 2);
  CHECK(arrays_in_ptx(".extern .shared .align 99999999 .b8 all[];" + end, own + use, 1040).size() == 1);
}

TEST_CASE("cuda/cubin/elf/relocations") {
  const Cubin cubin(elf({{".text.k", std::string(16, '\0')},
                         {".debug_line", ""},
                         {".rela.debug_line", u64(0) + u32(2) + u32(77) + u64(0), 4, 3, 5}},
                        symbol(0, 0, 0, 0, 0), std::string(1, '\0')));
  CHECK(cubin.line_error() == "a relocation names symbol 77, which is missing");
  // Relocations without addends.
  const auto bytes = elf({{".text.k", std::string(16, '\0')},
                          {".debug_line", std::string(8, '\0')},
                          {".rel.debug_line", u64(3) + u32(2) + u32(0) + u64(1) + u32(2) + u32(0), 9, 3, 5}},
                         symbol(0, 0, 0, 0, 0), std::string(1, '\0'));
  const auto parsed = bankwise::cuda::parse_elf(bytes);
  const auto relocations = bankwise::cuda::relocations_of(parsed, parsed.sections[5]);
  REQUIRE(relocations.size() == 2);
  CHECK(relocations[0].offset == 1);
  CHECK(relocations[1].offset == 3);
  CHECK(relocations[1].addend == 0);
}

// Line tables.

namespace {

/// Bytes of a unit before its program, less the header: length, version, length of the header.
constexpr std::uint64_t before_header = 4 + 2 + 4;

/// "file:line function" of each frame, innermost first, separated by commas.
std::string told(const Cubin& cubin, std::uint64_t pc) {
  std::string told;
  for (const auto& frame : cubin.source_of("k", pc)) {
    told += fmt::format("{}{}:{} {}", told.empty() ? "" : ", ", frame.file, frame.line, frame.function);
  }
  return told;
}

/// Line 3 of a.cu at 0, line 5 at 16, to 48.
std::string program() {
  return set_address() + set_line(2) + copy() + advance_pc(16) + set_line(2) + copy() + advance_pc(32) + end_sequence();
}

Cubin of_version(unsigned version, const std::string& code) {
  const std::string header = old_header(version);
  return Cubin(cubin(unit(version, header, code), before_header + header.size() + 3, '\0' + text("f") + text("g")));
}

}  // namespace

TEST_CASE("cuda/cubin/line_table/dwarf_2_to_4") {
  for (const unsigned version : {2U, 3U, 4U}) {
    INFO(version);
    const Cubin cubin = of_version(version, program());
    CHECK(cubin.line_error() == "");
    CHECK(told(cubin, 0) == "src/a.cu:3 k");
    CHECK(told(cubin, 15) == "src/a.cu:3 k");
    CHECK(told(cubin, 16) == "src/a.cu:5 k");
    CHECK(told(cubin, 47) == "src/a.cu:5 k");
    CHECK(told(cubin, 48) == "");
  }
}

TEST_CASE("cuda/cubin/line_table/dwarf_5") {
  // directories: "root", "src"; files: 0 is a.cu of directory 1, 1 is b.cuh of directory 0, both in .debug_line_str
  const std::string header = opcodes(5) + u8(1) + u8(1) + u8(8) + u8(2) + text("root") + text("src") + u8(2) + u8(1) +
                             u8(0x1F) + u8(2) + u8(0x0B) + u8(2) + u32(0) + u8(1) + u32(5) + u8(0);
  const std::string code =
      set_file(0) + copy() + advance_pc(16) + set_file(1) + copy() + advance_pc(16) + end_sequence();
  const Cubin cubin(made::cubin(unit(5, header, set_address() + code), before_header + 2 + header.size() + 3, "",
                                text("a.cu") + text("b.cuh")));
  CHECK(cubin.line_error() == "");
  CHECK(told(cubin, 0) == "src/a.cu:1 k");
  CHECK(told(cubin, 16) == "root/b.cuh:1 k");
}

TEST_CASE("cuda/cubin/line_table/special_opcodes") {
  // (line + 1) - (-5) + 14 * 8 + 10
  const Cubin cubin = of_version(2, set_address() + copy() + u8(1 + 5 + 14 * 8 + 10) + advance_pc(8) + end_sequence());
  CHECK(told(cubin, 7) == "src/a.cu:1 k");
  CHECK(told(cubin, 8) == "src/a.cu:2 k");
}

TEST_CASE("cuda/cubin/line_table/inlined_chain") {
  const std::string code = set_address() + set_line(9) + copy() + set_file(2) + set_line(10) + inlined(1, 1) + copy() +
                           set_line(10) + inlined(2, 3) + copy() + advance_pc(16) + inlined(0, 0) + copy() +
                           advance_pc(16) + end_sequence();
  const Cubin cubin = of_version(2, code);
  CHECK(told(cubin, 0) == "b.cuh:30 g, b.cuh:20 f, src/a.cu:10 k");
  CHECK(told(cubin, 16) == "b.cuh:30 k");
}

TEST_CASE("cuda/cubin/line_table/rows_from_sequence") {
  // The first sequence is of other code, which this cubin lacks.
  const std::string first = extended(u8(2) + u64(0x1000)) + set_line(9) + copy() + advance_pc(16) + end_sequence();
  const std::string second =
      set_address() + set_line(1) + copy() + inlined(1, 1) + set_line(5) + copy() + advance_pc(16) + end_sequence();
  const std::string header = old_header(2);
  const std::uint64_t address_at = before_header + header.size() + first.size() + 3;
  CHECK(told(Cubin(cubin(unit(2, header, first + second), address_at, '\0' + text("f"))), 0) ==
        "src/a.cu:7 f, src/a.cu:2 k");
}

TEST_CASE("cuda/cubin/line_table/rare_opcodes") {
  for (const unsigned row : {1U, 2U, 9U}) {  // itself, a later one, none
    const std::string code = set_address() + inlined(row, 1) + copy() + advance_pc(16) + copy() + advance_pc(16);
    CHECK(told(of_version(2, code + end_sequence()), 0) == "src/a.cu:1 f");
  }
  // Unknown opcodes.
  const std::string code =
      set_address() + extended(u8(0x80) + "abc") + u8(6) + copy() + advance_pc(16) + end_sequence();
  CHECK(told(of_version(2, code), 0) == "src/a.cu:1 k");
  // A file without a name.
  CHECK(told(of_version(2, set_address() + set_file(9) + copy() + advance_pc(16) + end_sequence()), 0) == ":1 k");
  CHECK(told(of_version(2, set_address() + set_file(0) + copy() + advance_pc(16) + end_sequence()), 0) == ":1 k");
  // No relocation.
  const std::string header = old_header(2);
  const Cubin cubin(made::cubin(unit(2, header, program()), 0));  // the relocation is of no address
  CHECK(told(cubin, 16) == "src/a.cu:5 k");
}

TEST_CASE("cuda/cubin/line_table/damaged_table") {
  const auto error = [](const std::string& lines) {
    const Cubin cubin(made::cubin(lines, 0));
    CHECK(cubin.functions().size() == 1);
    CHECK(cubin.opcode_at("k", 0).has_value());
    CHECK(cubin.source_of("k", 0).empty());
    return cubin.line_error();
  };
  const std::string header = old_header(2);
  CHECK(error(u32(1000) + u16(2)) == "the section .debug_line ends too early");
  CHECK(error(unit(6, header, "")) == "a line program is of DWARF version 6; versions 2 to 5 are known");
  CHECK(error(unit(2, opcodes(2) + "x", "")) == "the header of a line program ends in the middle of a name");
  CHECK(error(unit(2, u8(1) + u8(1) + u8(0) + u8(0) + u8(1), "")) == "a line program has special opcodes for no lines");
  CHECK(error(unit(2, header, u8(0) + u8(9) + u8(2))) == "the section .debug_line ends too early");
  CHECK(error(unit(5, opcodes(5) + u8(0) + u8(0x7F), "")) == "a line program says that it has 127 files");
  CHECK(error(unit(5, opcodes(5) + u8(1) + u8(1) + u8(0x7E) + u8(1) + u8(0), "")) ==
        "a line program names its files in the unknown form 126");
}
