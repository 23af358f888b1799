// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise::gpu {

enum class Api { cuda, opencl };

/// How often the block scope runs a kernel's shared-memory section. Large, so that the section outweighs the loads and
/// stores around it; one more than a multiple of 120, because what a section has turned round must be back where it was
/// after the turns before the last: a tile after two of them, or after five, six or eight where the lanes take other
/// words when they load than when they store.
inline constexpr unsigned block_scope_repeats = 961;

/// The lines that mark the section in a kernel file.
inline constexpr std::string_view section_begin = "// --- shared-memory section ---";
inline constexpr std::string_view section_end = "// --- end of section ---";

/// True if `source` marks a shared-memory section.
bool has_section(std::string_view source);

/// The same kernel with a loop of `repeats` turns around its shared-memory section. Only the two marking lines change,
/// each into one other line, so line numbers hold. A barrier ends every turn: the next one overwrites shared memory.
/// Error: std::invalid_argument unless `source` marks exactly one section.
std::string repeat_section(std::string_view source, Api api, unsigned repeats = block_scope_repeats);

}  // namespace bankwise::gpu
