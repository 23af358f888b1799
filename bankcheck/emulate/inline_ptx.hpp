// SPDX-License-Identifier: MIT
//
// Turns inline PTX into calls of the emulator (common/bankwise/emulator/cuda/ptx.hpp):
//
//   asm volatile("bfe.u32 %0, %1, 4, 8;" : "=r"(x) : "r"(y) : "memory")
//   ::bankwise::emulator::device::ptx([] { return "bfe.u32 %0, %1, 4, 8;"; },
//       ::bankwise::emulator::device::ptx_out(x), ::bankwise::emulator::device::ptx_in(y))
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bankwise::emulate {

/// `statement`: from `asm` to its closing parenthesis, as the preprocessor has left it. The result has as many lines.
/// Empty if it is no PTX: code for the host, a label in a declaration, an empty text.
std::optional<std::string> emulated_asm(std::string_view statement);

}  // namespace bankwise::emulate
