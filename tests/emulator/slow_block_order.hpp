// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <bankwise/emulator/core/block_order.hpp>

namespace bankwise {

/// The result of order_of_blocks() directly from its definition: with sets, in quadratic time, and by recursion.
std::vector<unsigned> slow_order_of_blocks(const emulator::BlockGraph& next);

}  // namespace bankwise
