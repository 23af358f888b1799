// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: the order in which the basic blocks of a function are executed.
#pragma once

#include <vector>

namespace bankwise::emulator {

/// Basic blocks of one function, numbered by address; block 0 is its entry. `next[i]`: those that block i leads to.
using BlockGraph = std::vector<std::vector<unsigned>>;

/// All blocks, each exactly once: a block comes after those that lead to it, the blocks of a loop stay together with
/// the loop's entry first, and of those that may come next the one at the lowest address does. The inside of a loop is
/// ordered in the same way. Time: (blocks + jumps) x log(blocks) x the depth to which loops are nested; no recursion.
std::vector<unsigned> order_of_blocks(const BlockGraph& next);

}  // namespace bankwise::emulator
