// SPDX-License-Identifier: MIT
//
// Which instruction stands in machine code, as nvdisasm writes it: only those that can access shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bankwise::cuda {

/// The 128 bits of an instruction.
struct InstructionBits {
  std::uint64_t low = 0, high = 0;
};

/// "LDS.128" or "ATOMS.POPC.INC.32": the operation with all its modifiers in nvdisasm's order, without operands and
/// predicate. `sm` is the compute capability without its dot, from 75 to 121. Nothing for other instructions and
/// architectures, and for modifiers that are not known.
std::optional<std::string> shared_opcode(unsigned sm, InstructionBits bits);

// How instructions that can access shared memory are encoded. NVIDIA does not document this: the table was found by
// changing each bit of instructions that nvcc 13.0 made for each architecture, and reading what nvdisasm 13.5 says.

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
