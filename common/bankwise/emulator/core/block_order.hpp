// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: the order in which the basic blocks of a function are executed.
#pragma once

#include <vector>

namespace bankwise::emulator {

/// Basic blocks of one function, numbered by address; block 0 is its entry. `next[i]`: the successors of block i.
using BlockGraph = std::vector<std::vector<unsigned>>;

/// All blocks, each exactly once. A block comes after its predecessors; the blocks of a loop stay together, with the
/// loop's entry first; of several possible blocks the one at the lowest address comes next. The inside of a loop is
/// ordered in the same way. Time: (blocks + jumps) x log(blocks) x the nesting depth of loops; no recursion.
std::vector<unsigned> order_of_blocks(const BlockGraph& next);

}  // namespace bankwise::emulator
