// All variants of this case study, one entry each, in the order of README.md.
#pragma once

#include <bankwise/study/case_study.hpp>
#include "prefix_sum_shapes.hpp"

namespace bankwise::prefix_sum {

using study::Variant;

inline constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);

inline constexpr gpu::GroupShape shape_of_ring{shapes::ring.x, 1, 3 * 32768};

inline constexpr Variant variants[]{
    Variant("hillis_steele", shapes::hillis_steele,
            "Hillis-Steele scan: log2(n) steps, n log n additions, no bank conflicts", {.tile = 512}),
    Variant("naive", shapes::naive, "Blelloch scan, up-sweep and down-sweep in place: up to 16-way bank conflicts",
            {.tile = 512}),
    Variant("padded", shapes::padded, "Blelloch scan, one word of padding after every 32: no bank conflicts",
            {.tile = 512}),
    Variant("padded_twice", shapes::padded_twice,
            "Blelloch scan of 2048-word tiles, padding after every 32 and every 1024 words", {.tile = 2048}),
    Variant("warp_scan", shapes::warp_scan, "warp-shuffle scan in registers, 16-byte loads", {.tile = 2048}),
    Variant("look_back", shapes::look_back, "single-pass scan with decoupled look-back",
            {.tile = 8192, .single_pass = true}),
    Variant("ring", shape_of_ring, "single-pass scan, persistent blocks, TMA loads into a ring of three tiles",
            {.tile = 8192, .blocks_per_unit = 2, .single_pass = true}),
    Variant("chunked", shapes::chunked,
            "for CPUs: reduce-then-scan, one chunk per work-group of one work-item, SIMD vectors",
            {.tile = 4096, .blocks_per_unit = 4}),
    {"library", {}, "CUB's DeviceScan", {.library = true}},
};

extern const study::RankStudy ranks;  ///< the case study on several ranks: docs/several_gpus.md

/// The exclusive prefix sum of n words, modulo 2^32: out[i] = in[0] + ... + in[i - 1], out[0] = 0.
const study::CaseStudy& case_study();

}  // namespace bankwise::prefix_sum
