// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/elf.hpp"

#include <stdexcept>

#include "bankcheck/cuda/cubin/cubin.hpp"
#include "tests/bankcheck/cuda/cubin/made_cubin.hpp"
#include "tests/bankcheck/cuda/cubin/recorded.hpp"
#include "tests/catch_any.hpp"

using bankwise::cuda::Cubin;
using namespace made;

namespace {

std::string error_of(const std::vector<char>& bytes) {
  try {
    Cubin cubin(bytes);
    return "none";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::vector<char> with_byte(std::vector<char> bytes, std::size_t at, unsigned value) {
  bytes.at(at) = char(value);
  return bytes;
}

std::vector<char> chars(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

TEST_CASE("cuda/cubin/elf/compute_capability") {
  const std::string symbols = symbol(0, 0, 0, 0, 0);
  CHECK(Cubin(elf({}, symbols, "", 0x0A005A04)).sm() == 90);
  CHECK(Cubin(elf({}, symbols, "", 0x0A007802)).sm() == 120);
  constexpr std::size_t abi_version = 8;
  CHECK(Cubin(with_byte(elf({}, symbols, "", 0x00560556), abi_version, 7)).sm() == 86);  // CUDA 12 and before
}

TEST_CASE("cuda/cubin/elf/refused") {
  const std::vector<char> good = cubin("", 0);
  REQUIRE(error_of(good) == "none");
  CHECK(error_of({}) == "the file is no cubin: it does not begin with \\x7fELF");
  CHECK(error_of(chars("#!/bin/sh and some more text that is no header of an ELF file ......................")) ==
        "the file is no cubin: it does not begin with \\x7fELF");
  CHECK(error_of(chars("\x7F"
                       "ELF")) == "the ELF header reaches past the end of the cubin");
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
  const std::vector<char> whole = recorded::cubin("turing");
  std::size_t refused = 0, tried = 0;
  for (std::size_t size = 0; size < whole.size() * 9 / 10; size += 97) {
    const std::string error = error_of({whole.begin(), whole.begin() + std::ptrdiff_t(size)});
    refused += error != "none";
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
  const auto parsed = bankwise::cuda::parse_elf({bytes.data(), bytes.size()});
  const auto relocations = bankwise::cuda::relocations_of(parsed, parsed.sections[5]);
  REQUIRE(relocations.size() == 2);
  CHECK(relocations[0].offset == 1);
  CHECK(relocations[1].offset == 3);
  CHECK(relocations[1].addend == 0);
}
