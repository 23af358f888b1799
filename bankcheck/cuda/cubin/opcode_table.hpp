// SPDX-License-Identifier: MIT
//
// How instructions that can access shared memory are encoded. NVIDIA does not document this: the table was found by
// changing each bit of instructions that nvcc 13.0 made for each architecture, and reading what nvdisasm 13.5 says.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bankwise::cuda {

/// A value of a field that nvdisasm cannot name, or that no compiler was seen to write.
inline constexpr std::string_view unknown_word = "?";

/// A field of the instruction's bits, and what each of its values adds to the opcode. Values without a word are
/// unknown. Bits without a field are not looked at.
struct OpcodeField {
  unsigned bit, width;
  std::span<const std::string_view> words;
};

/// An operation of architectures `first_sm` to `last_sm`, its low 12 bits, and its fields in the order of the opcode.
struct OpcodePattern {
  std::string_view name;
  unsigned first_sm, last_sm;
  std::span<const std::uint16_t> codes;
  std::span<const OpcodeField> fields;
};

std::span<const OpcodePattern> opcode_patterns();

}  // namespace bankwise::cuda
