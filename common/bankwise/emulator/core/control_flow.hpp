// Internal to common/bankwise/emulator: what the machine code of a kernel tells: which of two places comes first, and
// how a type is aligned.
//
// The lanes of a warp reconverge if the lanes at the earlier place always run next. Place A is earlier than place B if
// no path from A to B jumps back, except for iterations of a loop that contains both. Addresses mostly have this order,
// but not always: a compiler may put the body of `while (a || b)` before its condition, and then the lanes that `a`
// lets in are at a lower address than those that still have to evaluate `b`. So the order follows the function's
// control flow: the blocks of a loop are contiguous, its entry first, and all others follow their predecessors.
#pragma once

#include <cstdint>
#include <vector>

namespace bankwise::emulator {

/// Basic blocks of one function, numbered by address; block 0 is its entry. `next[i]`: the successors of block i.
using BlockGraph = std::vector<std::vector<unsigned>>;

/// All blocks, each exactly once. A block comes after its predecessors; the blocks of a loop stay together, with the
/// loop's entry first; of several possible blocks the one at the lowest address comes next. The inside of a loop is
/// ordered in the same way. Time: (blocks + jumps) x log(blocks) x the nesting depth of loops; no recursion.
std::vector<unsigned> order_of_blocks(const BlockGraph& next);

/// The position of an instruction in its function's order. Without Capstone, or without symbols, its address.
std::uint64_t place_in_order(std::uintptr_t pc);

/// The alignment that g++ assumes of the object of 16 bytes or more that is accessed before `pc`, where a call of
/// hooks.cpp returns: 16, or 8 for any less. 0: it is not known, as no SSE instructions copy the object, or there is no
/// Capstone.
unsigned copied_alignment(std::uintptr_t pc, bool writes);

/// For tests: the blocks of all functions of the program, by address; none without Capstone or symbols.
std::vector<BlockGraph> block_graphs_of_program();

}  // namespace bankwise::emulator
