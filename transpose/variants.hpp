// SPDX-License-Identifier: MIT
//
// The table of contents: one line a variant, in the order of the story.
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::transpose {

inline constexpr gpu::GroupShape block16{16, 16}, block32{32, 8}, block64{32, 16};

inline constexpr Variant variants[]{
    {"global", block16, "no tile: rows in, scattered words out"},
    {"naive", block16, "a 16 x 16 tile: its columns are 8-way conflicts on 32 banks"},
    {"padded", block16, "rows of 17 words: clean on 16 banks, 2-way on 32"},
    {"tile32", block32, "a 32 x 32 tile: its columns are 32-way conflicts"},
    {"tile32_padded", block32, "rows of 33 words: no conflict"},
    {"swizzled", block32, "columns XOR rows: no conflict, no padding"},
    {"vectorized", block64, "a 64 x 64 tile by 16 bytes, chunks XOR columns", {.tile = 64}},
    {"streamed", block64, "stores that leave the cache first", {.tile = 64}},
    {"output_order", block64, "tiles taken down the columns: the output in order", {.tile = 64}},
    {"prefetched", block64, "loads that bring the 256 bytes around them into the L2 cache", {.tile = 64}},
    {"persisting", block64, "loads that ask to be kept there", {.tile = 64}},
    {"tma", {256, 1}, "Hopper's bulk copies, squares on diagonals", {.tile = 64}},
    {"blocked", {1, 1}, "for CPUs: a work-item for 512 x 512 words, by cache lines", {.tile = 512}},
    {"library", {}, "cuBLAS geam", {.library = true}},
};

}  // namespace bankwise::transpose
