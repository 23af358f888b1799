// SPDX-License-Identifier: MIT
//
// The table of contents: one line a variant, in the order of the story.
#pragma once

#include "bankwise/runner/case_study.hpp"

namespace bankwise::reduction {

inline constexpr gpu::GroupShape block{256, 1};  // BLOCK of the kernels

inline constexpr Variant variants[]{
    {"naive", block, "a tree over 16-byte records"},
    {"scalar", block, "the same tree, word by word: stride 4, four lanes in a bank"},
    {"packed", block, "records of five words: odd stride, no conflict, four times the instructions"},
    {"library", {}, "CUB's DeviceReduce", true},
};

}  // namespace bankwise::reduction
