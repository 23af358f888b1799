// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise::gpu {

/// What a line of a kernel file says that begins "// " and `begin`: the rest of the line. Empty if there is none.
std::string remark(std::string_view source, std::string_view begin);

/// The file's "// Needs: compute capability 9.0", as 90; 0 if it has none. Error: std::invalid_argument unless that is a
/// number.
unsigned needed_capability(std::string_view source);

/// The reason of a kernel file whose kernel is for one API alone: of a .cuh its "// No OpenCL port: <reason>", of a .cl
/// its "// No CUDA counterpart: <reason>". Empty if it has none.
std::string why_not_ported(std::string_view source);

}  // namespace bankwise::gpu
