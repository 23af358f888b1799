// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace bankwise::opencl {

/// For each block of a control-flow graph, the headers of the natural loops that contain it, the outermost first. A
/// header belongs to its own loop. `successors[b]` are the successors of block b, and block 0 is the entry. Loops with
/// the same header are one loop. A cycle with several entry blocks is not a natural loop.
std::vector<std::vector<unsigned>> natural_loops(const std::vector<std::vector<unsigned>>& successors);

/// As natural_loops(), but a block that exits a loop and stands among its blocks also belongs to the loop, as in
/// `if (found) { tile[i] = x; break; }`: GPU compilers let lanes execute it iteration by iteration. Blocks are numbered
/// in source order.
std::vector<std::vector<unsigned>> loops_in_layout(const std::vector<std::vector<unsigned>>& successors);

}  // namespace bankwise::opencl
