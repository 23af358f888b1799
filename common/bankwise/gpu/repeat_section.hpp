// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise::gpu {

enum class Api { cuda, opencl };

/// How often the block scope runs a kernel's shared-memory section. Large, so the section outweighs the loads and
/// stores around it. One more than a multiple of 120, because data that a section permutes must be back in place before
/// the last iteration: a tile after two, five, six or eight iterations, depending on the kernel.
inline constexpr unsigned block_scope_repeats = 961;

/// The lines that mark the section in a kernel file.
inline constexpr std::string_view section_begin = "// --- shared-memory section ---";
inline constexpr std::string_view section_end = "// --- end of section ---";

/// True if `source` marks a shared-memory section.
bool has_section(std::string_view source);

/// The same kernel with a loop of `repeats` iterations around its shared-memory section. Each of the two marking lines
/// becomes exactly one other line, so line numbers are unchanged. A barrier ends every iteration, because the next one
/// overwrites shared memory. Error: std::invalid_argument unless `source` marks exactly one section.
std::string repeat_section(std::string_view source, Api api, unsigned repeats = block_scope_repeats);

}  // namespace bankwise::gpu
