// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise::gpu {

/// The rest of the line of a kernel file that begins with "// " and `begin`. Empty if there is none.
std::string remark(std::string_view source, std::string_view begin);

/// The file's "// Needs: compute capability 9.0", as 90; 0 if it has none. Error: std::invalid_argument unless that is
/// a number.
unsigned needed_capability(std::string_view source);

/// Why a kernel exists for one API only: from a .cuh its "// No OpenCL port: <reason>", from a .cl its
/// "// No CUDA counterpart: <reason>". Empty if the file has no such line.
std::string why_not_ported(std::string_view source);

}  // namespace bankwise::gpu
