// All variants of the case study, one line each, in the order of README.md.
#pragma once

#include <bankwise/study/case_study.hpp>
#include "reduction_shapes.hpp"

namespace bankwise::reduction {

using study::Variant;

inline constexpr std::uint64_t record_words = 4;
inline constexpr std::uint64_t record_bytes = record_words * sizeof(std::uint32_t);

inline constexpr Variant variants[]{
    {"modulo", shapes::modulo, "interleaved addressing with a modulo test: divergent warps (Harris, kernel 1)"},
    {"interleaved", shapes::interleaved,
     "interleaved addressing with strided indices: bank conflicts (Harris, kernel 2)"},
    {"sequential", shapes::sequential, "sequential addressing: no bank conflicts (Harris, kernel 3)"},
    {"naive", shapes::naive, "sequential addressing by 32-bit accesses: stride 4, 4-way bank conflicts"},
    {"packed", shapes::packed, "records padded to five words: odd stride, no bank conflicts, four times the accesses"},
    Variant("first_add", shapes::first_add,
            "sequential addressing, first addition during the global load (Harris, kernel 4)", {.tile = 512}),
    Variant("shuffle", shapes::shuffle, "warp shuffles: one barrier, one record of shared memory per warp",
            {.tile = 512}),
    Variant("streaming", shapes::streaming,
            "grid-stride loop, persistent blocks: eight 16-byte loads in flight per thread",
            {.tile = 512, .blocks_per_unit = 2}),
    Variant("single_pass", shapes::single_pass, "streaming in one launch: 64-bit atomics add the blocks' sums",
            {.tile = 512, .blocks_per_unit = 2, .single_pass = true}),
    Variant("chunked", shapes::chunked, "for CPUs: each thread sums one contiguous chunk, no tree",
            {.tile = 4096, .blocks_per_unit = 4}),
    {"library", {}, "CUB's DeviceReduce", {.library = true}},
};

extern const study::RankStudy ranks;  ///< the case study on several ranks: docs/several_gpus.md

/// The sum of n uint4 records, component by component, modulo 2^32. The sum of no records is zero.
const study::CaseStudy& case_study();

}  // namespace bankwise::reduction
