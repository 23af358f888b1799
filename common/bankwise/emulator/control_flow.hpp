// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: which of two places in a kernel comes first.
//
// The lanes of a warp meet again if those at the earlier place always go on, and "earlier" means: nothing that a lane runs
// through between here and there leads back, but for the rounds of a loop that both are in. Addresses are such an order
// mostly, and not always: a compiler may put the body of `while (a || b)` before its condition, and then the lanes that
// `a` lets in are at a lower address than those that still have to look at `b`. So the order is made of the function's
// control flow: the blocks of a loop stand together, its entry first, and all else behind what leads to it.
#pragma once

#include <cstdint>
#include <vector>

#include <bankwise/emulator/block_order.hpp>

namespace bankwise::emulator {

/// The place of an instruction in its function's order. Where the emulator was built without Capstone, or the program has
/// lost its symbols, the address.
std::uint64_t place_in_order(std::uintptr_t pc);

/// For tests: the blocks of all functions of the program, by address; none without Capstone or symbols.
std::vector<BlockGraph> block_graphs_of_program();

}  // namespace bankwise::emulator
