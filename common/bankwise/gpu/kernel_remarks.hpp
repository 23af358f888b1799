// What the build and the runner read in a kernel file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/kernel_image.hpp>

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

/// The rest of the line of a kernel file that begins with "// " and `begin`. Empty if there is none.
std::string remark(std::string_view source, std::string_view begin);

/// The file's "// Needs: compute capability 9.0", as 90; 0 if it has none. Error: std::invalid_argument: no number.
unsigned needed_capability(std::string_view source);

/// Why a kernel exists for one API only: from a .cuh its "// No OpenCL port: <reason>", from a .cl its
/// "// No CUDA counterpart: <reason>". Empty if the file has no such line.
std::string why_not_ported(std::string_view source);

/// The kernels of a file, without their prefix: its "// Kernels: load_1, load_2", or else its stem.
std::vector<std::string> kernel_stems(std::string_view source, const std::string& stem);

/// The block that a kernel's Contract states, such as "blocks of exactly BLOCK threads" or "work-groups of TILE x ROWS
/// work-items" with constants of the file. Empty if it states none. Error: std::invalid_argument if the kernel's
/// __launch_bounds__ or reqd_work_group_size is another.
std::optional<GroupShape> block_of_contract(std::string_view source);

}  // namespace bankwise::gpu
