// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <bankwise/emulator/block_order.hpp>

namespace bankwise {

/// What order_of_blocks() computes, straight from its definition: by sets, in quadratic time, and by recursion.
std::vector<unsigned> slow_order_of_blocks(const emulator::BlockGraph& next);

}  // namespace bankwise
