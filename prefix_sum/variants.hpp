// SPDX-License-Identifier: MIT
//
// All variants of this case study, one entry each, in the order of README.md.
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::prefix_sum {

inline constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);

// BLOCK of the kernels.
inline constexpr gpu::GroupShape block{256, 1}, block128{128, 1}, block512{512, 1}, block1024{1024, 1}, one_lane{1, 1};
inline constexpr gpu::GroupShape block_with_ring{512, 1, 3 * 32768}, block_with_large_ring{1024, 1, 7 * 32768};

inline constexpr Variant variants[]{
    {"hillis_steele",
     block512,
     "Hillis-Steele scan: log2(n) steps, n log n additions, no bank conflicts",
     {.tile = 512}},
    {"naive", block, "Blelloch scan, up-sweep and down-sweep in place: up to 16-way bank conflicts", {.tile = 512}},
    {"padded", block, "Blelloch scan, one word of padding after every 32: no bank conflicts", {.tile = 512}},
    {"padded_twice",
     block1024,
     "Blelloch scan of 2048-word tiles, padding after every 32 and every 1024 words",
     {.tile = 2048}},
    {"warp_scan", block, "warp-shuffle scan in registers, 16-byte loads", {.tile = 2048}},
    {"look_back", block128, "single-pass scan with decoupled look-back", {.tile = 8192, .single_pass = true}},
    {"ring",
     block_with_ring,
     "single-pass scan, persistent blocks, TMA loads into a ring of three tiles",
     {.tile = 8192, .blocks_per_unit = 2, .single_pass = true}},
    {"chunked",
     one_lane,
     "for CPUs: reduce-then-scan, one chunk per work-group of one work-item, SIMD vectors",
     {.tile = 4096, .blocks_per_unit = 4}},
    {"library", {}, "CUB's DeviceScan", {.library = true}},
};

}  // namespace bankwise::prefix_sum
