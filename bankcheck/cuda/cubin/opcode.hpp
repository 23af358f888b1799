// SPDX-License-Identifier: MIT
//
// Which instruction stands in machine code, as nvdisasm writes it: only those that can access shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bankwise::cuda {

/// The 128 bits of an instruction.
struct InstructionBits {
  std::uint64_t low = 0, high = 0;
};

/// "LDS.128" or "ATOMS.POPC.INC.32": the operation with all its modifiers in nvdisasm's order, without operands and
/// predicate. `sm` is the compute capability without its dot, from 75 to 121. Nothing for other instructions and
/// architectures, and for modifiers that are not known.
std::optional<std::string> shared_opcode(unsigned sm, InstructionBits bits);

}  // namespace bankwise::cuda
