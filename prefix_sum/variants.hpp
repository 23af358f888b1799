// SPDX-License-Identifier: MIT
//
// The table of contents: one line a variant, in the order of the story.
#pragma once

#include "bankwise/runner/case_study.hpp"

namespace bankwise::prefix_sum {

inline constexpr gpu::GroupShape block{256, 1};  // BLOCK of the kernels; a tile is twice as many words

inline constexpr Variant variants[]{
    {"naive", block, "Blelloch's two sweeps: strides of 2, 4, 8 ... words, up to 16 lanes in a bank"},
    {"padded", block, "one word of padding after every 32: no conflict"},
    {"library", {}, "CUB's DeviceScan", true},
};

}  // namespace bankwise::prefix_sum
