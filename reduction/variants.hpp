// SPDX-License-Identifier: MIT
//
// The table of contents: one line a variant, in the order of the story.
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::reduction {

// BLOCK of the kernels, of those whose blocks stay, and of a CPU's.
inline constexpr gpu::GroupShape block{256, 1}, staying{512, 1}, one_lane{1, 1};

inline constexpr Variant variants[]{
    {"modulo", block, "a tree over 16-byte records: every 2nd, then 4th, then 8th thread adds, and warps diverge"},
    {"interleaved", block, "the same additions by the first threads: no divergence, but bank conflicts"},
    {"sequential", block, "the first half adds the second: neither"},
    {"naive", block, "the tree of sequential, word by word: stride 4, four lanes in a bank"},
    {"packed", block, "records of five words: odd stride, no conflict, four times the instructions"},
    {"first_add", block, "sequential, but each thread adds two records while it loads", {.tile = 512}},
    {"shuffle", block, "warps add by shuffles: one barrier, hardly any shared memory", {.tile = 512}},
    {"streaming",
     staying,
     "blocks that stay, 8 loads of 16 bytes under way for each thread",
     {.tile = 512, .blocks_per_unit = 2}},
    {"single_pass",
     staying,
     "streaming in one launch: the blocks' sums meet in atomics",
     {.tile = 512, .blocks_per_unit = 2, .single_pass = true}},
    {"chunked",
     one_lane,
     "for CPUs: a stretch of memory for each group of one thread, no tree",
     {.tile = 4096, .blocks_per_unit = 4}},
    {"library", {}, "CUB's DeviceReduce", {.library = true}},
};

}  // namespace bankwise::reduction
