// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace bankwise::opencl {

/// For each block of a control-flow graph the headers of the natural loops that it belongs to, the outermost first; a
/// header belongs to its own loop. `successors[b]` are the blocks that b leads to, and block 0 is where all begins.
/// Loops with the same header are one. A cycle that can be entered at several blocks is no natural loop.
std::vector<std::vector<unsigned>> natural_loops(const std::vector<std::vector<unsigned>>& successors);

/// The same, and what stands among a loop's blocks although it leaves it, `if (found) { tile[i] = x; break; }`: it belongs to
/// the loop, since compilers of GPUs let lanes do that turn by turn. Blocks are numbered as their source is laid out.
std::vector<std::vector<unsigned>> loops_in_layout(const std::vector<std::vector<unsigned>>& successors);

}  // namespace bankwise::opencl
