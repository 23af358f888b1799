// The variants of the transpose, one per line, in the order of README.md.
#pragma once

#include <bankwise/study/case_study.hpp>
#include "transpose_shapes.hpp"

namespace bankwise::transpose {

using study::Variant;

inline constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);

inline constexpr Variant variants[]{
    {"global", shapes::global, "no shared memory: coalesced loads, strided stores"},
    {"naive", shapes::naive, "16 x 16 tile in shared memory: 8-way bank conflicts on 32 banks"},
    {"padded", shapes::padded, "16 x 17 tile, padding: no conflict on 16 banks, 2-way on 32"},
    {"tile32", shapes::tile32, "32 x 32 tile: 32-way bank conflicts"},
    {"tile32_padded", shapes::tile32_padded, "32 x 33 tile, padding: no conflict"},
    {"swizzled", shapes::swizzled, "32 x 32 tile, XOR swizzle: no conflict, no padding"},
    Variant("vectorized", shapes::vectorized, "64 x 64 tile, 16-byte accesses, XOR swizzle of 16-byte chunks",
            {.tile = 64}),
    Variant("output_order", shapes::output_order, "tiles in column-major order: contiguous writes, strided reads",
            {.tile = 64}),
    Variant("persisting", shapes::persisting,
            "loads with a 256-byte L2 prefetch hint and L2 eviction priority evict_last", {.tile = 64}),
    Variant("tma", shapes::tma, "TMA bulk copies (Hopper), 4 x 4 squares on diagonals", {.tile = 64}),
    Variant("blocked", shapes::blocked, "for CPUs: cache blocking, one work-item per 512 x 512 tile", {.tile = 512}),
    {"library", {}, "cuBLAS geam", {.library = true}},
};

extern const study::RankStudy ranks;  ///< the case study on several ranks: docs/several_gpus.md

/// The transpose of a height x width matrix of 32-bit words, both row-major.
const study::CaseStudy& case_study();

}  // namespace bankwise::transpose
