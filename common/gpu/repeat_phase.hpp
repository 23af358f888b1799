// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise::gpu {

enum class Api { cuda, opencl };

/// How often the block scope runs a kernel's shared-memory phase. Large, so that the phase outweighs the loads and
/// stores around it; one more than a multiple
/// of 8, because a tile that is transposed twice is back where it began, and one that goes in by words and out by chunks after eight.
inline constexpr unsigned block_scope_repeats = 1025;

/// The lines that mark the phase in a kernel file.
inline constexpr std::string_view phase_begin = "// --- shared-memory phase ---";
inline constexpr std::string_view phase_end = "// --- end of phase ---";

/// True if `source` marks a shared-memory phase.
bool has_phase(std::string_view source);

/// The same kernel with a loop of `repeats` turns around its shared-memory phase. Only the two marking lines change,
/// each into one other line, so line numbers hold. A barrier ends every turn: the next one overwrites shared memory.
/// Error: std::invalid_argument unless `source` marks exactly one phase.
std::string repeat_phase(std::string_view source, Api api, unsigned repeats = block_scope_repeats);

}  // namespace bankwise::gpu
