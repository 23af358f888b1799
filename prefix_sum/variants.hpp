// SPDX-License-Identifier: MIT
//
// The table of contents: one line a variant, in the order of the story.
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::prefix_sum {

// BLOCK of the kernels.
inline constexpr gpu::GroupShape block{256, 1}, block128{128, 1}, block512{512, 1}, block1024{1024, 1}, one_lane{1, 1};
inline constexpr gpu::GroupShape block_with_ring{512, 1, 3 * 32768};

inline constexpr Variant variants[]{
    {"hillis_steele", block512, "each word adds what stands 1, 2, 4, 8 ... before it", {.tile = 512}},
    {"naive", block, "Blelloch's two sweeps: strides of 2, 4, 8 ... words, up to 16 lanes in a bank", {.tile = 512}},
    {"padded", block, "one word of padding after every 32: no conflict", {.tile = 512}},
    {"padded_twice", block1024, "tiles of 2048 words: the padding needs padding", {.tile = 2048}},
    {"warp_scan", block, "warps scan in registers, by shuffles; 16-byte loads", {.tile = 2048}},
    {"look_back",
     block128,
     "one launch: each tile looks back at what others have published",
     {.tile = 8192, .single_pass = true}},
    {"ring",
     block_with_ring,
     "blocks that stay; the copy engine fills a ring of tiles",
     {.tile = 8192, .blocks_per_unit = 2, .single_pass = true}},
    {"chunked",
     one_lane,
     "for CPUs: a stretch of memory for each group of one lane, wide vectors",
     {.tile = 4096, .blocks_per_unit = 4}},
    {"library", {}, "CUB's DeviceScan", {.library = true}},
};

}  // namespace bankwise::prefix_sum
