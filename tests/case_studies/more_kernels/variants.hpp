// The table of contents: one line per kernel, with its expected result for a block's slice.
#pragma once

#include <cstdint>
#include <span>

#include <bankwise/study/case_study.hpp>

namespace bankwise::more_kernels {

// Words per block, the same for all kernels, so that they share one input.
inline constexpr std::size_t input_slice = 4096, output_slice = 1024;
using Input = std::span<const std::uint32_t, input_slice>;
using Output = std::span<std::uint32_t, output_slice>;

void count_channels(Input, Output);
void add_weights(Input, Output);
void sort_tiles(Input, Output);
void multiply(Input, Output);
void weigh_neighbours(Input, Output);
void add_up(Input, Output);
void convolve(Input, Output);
void transform(Input, Output);
void drift(Input, Output);
void turn_differences(Input, Output);
void find_normals(Input, Output);
void follow_chains(Input, Output);
void replace_bytes(Input, Output);
void work_off_hard(Input, Output);
void work_by_kind(Input, Output);
void blend_mirrored(Input, Output);

struct Kernel {
  study::Variant variant;
  void (*reference)(Input, Output);
};

inline constexpr Kernel kernels[]{
    // Atomics.
    {{"histogram", {256, 1}, "counts of a pixel's four bytes"}, count_channels},
    {{"histogram_weighted", {256, 1}, "sums of weights"}, add_weights},
    {{"queue", {256, 1}, "an atomic's result is a place in a queue"}, work_off_hard},
    {{"queue_aggregated", {256, 1}, "one atomic for all lanes that take a place"}, work_off_hard},
    {{"kinds", {256, 1}, "a list for each kind of work and each warp"}, work_by_kind},
    // Words.
    {{"bitonic_sort", {256, 1}, "swaps that depend on the keys"}, sort_tiles},
    {{"matmul", {32, 8}, "tiles of two matrices, transposed without padding"}, multiply},
    {{"matmul_padded", {32, 8}, "the same with padding"}, multiply},
    {{"stencil", {256, 1}, "a line with a halo"}, weigh_neighbours},
    {{"convolution", {16, 16}, "a picture with a halo"}, convolve},
    {{"shuffle_scan", {256, 1}, "shuffles, and a word per warp"}, add_up},
    {{"warp_reduce", {256, 1}, "chains of different lengths, then a tree of shuffles"}, follow_chains},
    // Records.
    {{"particles_aos", {128, 1}, "gathers from an array of records"}, drift},
    {{"particles_soa", {128, 1}, "gathers from several arrays"}, drift},
    {{"records12", {256, 1}, "gathers of float3"}, find_normals},
    // Other widths.
    {{"bytes", {256, 1}, "a table of bytes"}, replace_bytes},
    {{"fft", {256, 1}, "butterflies of float2"}, transform},
    {{"double_columns", {32, 8}, "columns of doubles"}, turn_differences},
    {{"float4_tile", {16, 16}, "columns of float4"}, blend_mirrored},
};

/// Kernels typical of other projects, to compare the emulator with hardware counters. Every block processes a separate
/// slice: an extent of width 1 is one block.
const study::CaseStudy& case_study();

}  // namespace bankwise::more_kernels
