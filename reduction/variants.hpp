// SPDX-License-Identifier: MIT
//
// All variants of the case study, one line each, in the order of README.md.
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::reduction {

inline constexpr std::uint64_t record_words = 4;
inline constexpr std::uint64_t record_bytes = record_words * sizeof(std::uint32_t);

// BLOCK of the kernels with one tile per block, of those with persistent blocks, and of the kernel for CPUs.
inline constexpr gpu::GroupShape block{256, 1}, staying{512, 1}, one_lane{1, 1};

inline constexpr Variant variants[]{
    {"modulo", block, "interleaved addressing with a modulo test: divergent warps (Harris, kernel 1)"},
    {"interleaved", block, "interleaved addressing with strided indices: bank conflicts (Harris, kernel 2)"},
    {"sequential", block, "sequential addressing: no bank conflicts (Harris, kernel 3)"},
    {"naive", block, "sequential addressing by 32-bit accesses: stride 4, 4-way bank conflicts"},
    {"packed", block, "records padded to five words: odd stride, no bank conflicts, four times the accesses"},
    {"first_add",
     block,
     "sequential addressing, first addition during the global load (Harris, kernel 4)",
     {.tile = 512}},
    {"shuffle", block, "warp shuffles: one barrier, one record of shared memory per warp", {.tile = 512}},
    {"streaming",
     staying,
     "grid-stride loop, persistent blocks: eight 16-byte loads in flight per thread",
     {.tile = 512, .blocks_per_unit = 2}},
    {"single_pass",
     staying,
     "streaming in one launch: 64-bit atomics add the blocks' sums",
     {.tile = 512, .blocks_per_unit = 2, .single_pass = true}},
    {"chunked",
     one_lane,
     "for CPUs: each thread sums one contiguous chunk, no tree",
     {.tile = 4096, .blocks_per_unit = 4}},
    {"library", {}, "CUB's DeviceReduce", {.library = true}},
};

}  // namespace bankwise::reduction
