// SPDX-License-Identifier: MIT
//
// The table of contents: one line a pattern, each beside its cure, in the order of the articles.
#pragma once

#include <string_view>

#include <bankwise/banks/access.hpp>

namespace bankwise::access_patterns {

/// A lane that takes no part.
inline constexpr unsigned idle = ~0U;

/// An index that the lanes of a warp access together.
struct Pattern {
  std::string_view name;  ///< value of --variant
  std::string_view idea;
  banks::Operation operation;
  unsigned width;                      ///< bytes per lane; of matrix operations, of the row whose address it gives
  unsigned (*element)(unsigned lane);  ///< the element of `width` bytes that a lane accesses, or `idle`
};

inline constexpr auto load = banks::Operation::load, store = banks::Operation::store, add = banks::Operation::atomic,
                      increment = banks::Operation::atomic_inc, compare_and_swap = banks::Operation::atomic_cas,
                      ldmatrix = banks::Operation::ldmatrix_x4, stmatrix = banks::Operation::stmatrix_x4;

// How the same index looks at each stride is worth a row each.
template <unsigned stride>
unsigned strided(unsigned t) {
  return t * stride;
}

// Row t % 16 and half t / 16 of a 16 x 16 fragment, in a tile whose rows are so many chunks of 16 bytes apart.
template <unsigned chunks>
unsigned fragment(unsigned t) {
  return chunks * (t % 16) + t / 16;
}

inline constexpr Pattern fixed_patterns[]{
    // Words.
    {"base_plus_lane", "int data[5 + t]: no conflict", load, 4, [](unsigned t) { return 5 + t; }},
    {"broadcast", "int data[3]: one word for all", load, 4, [](unsigned) { return 3U; }},
    {"rows_of_17", "data[17 * (t / 16) + t % 16] = ...: how the cure of stride 16 is written", store, 4,
     [](unsigned t) { return 17 * (t / 16) + t % 16; }},
    // Bytes and half words: conflicts of compute capability 1.x.
    {"char", "char data[t]", load, 1, [](unsigned t) { return t; }},
    {"char_widened", "char data[4 * t], the cure", load, 1, [](unsigned t) { return 4 * t; }},
    {"short", "short data[t]", load, 2, [](unsigned t) { return t; }},
    {"short_widened", "short data[2 * t], the cure", load, 2, [](unsigned t) { return 2 * t; }},
    // Pairs.
    {"int_even", "int data[2 * t]", load, 4, [](unsigned t) { return 2 * t; }},
    {"int_odd", "int data[2 * t + 1]", load, 4, [](unsigned t) { return 2 * t + 1; }},
    {"two_arrays_first", "int first[t], the cure", load, 4, [](unsigned t) { return t; }},
    {"two_arrays_second", "int second[t], behind the first", load, 4, [](unsigned t) { return 32 + t; }},
    {"record3_x", "record[t].x, records of three words", load, 4, [](unsigned t) { return 3 * t; }},
    {"record3_y", "record[t].y", load, 4, [](unsigned t) { return 3 * t + 1; }},
    {"record3_z", "record[t].z", load, 4, [](unsigned t) { return 3 * t + 2; }},
    // Wide ones.
    {"double", "double data[t]", load, 8, [](unsigned t) { return t; }},
    {"double_column32", "a column of double data[32][32]", load, 8, [](unsigned t) { return 32 * t; }},
    {"double_column33", "of double data[32][33], the cure", load, 8, [](unsigned t) { return 33 * t; }},
    {"float4", "float4 data[t]", load, 16, [](unsigned t) { return t; }},
    {"float4_column8", "a column of float4 data[32][8]", load, 16, [](unsigned t) { return 8 * t; }},
    {"float4_column9", "of float4 data[32][9], the cure", load, 16, [](unsigned t) { return 9 * t; }},
    {"lds64_case1", "uint2 data[t]", load, 8, [](unsigned t) { return t; }},
    {"lds64_case2", "uint2 data[t / 2]: lanes n and n^1 agree", load, 8, [](unsigned t) { return t / 2; }},
    {"lds128_case1", "lanes 15 and 16, one uint4: two half-warps", load, 16,
     [](unsigned t) { return t == 15 || t == 16 ? 4 : idle; }},
    {"lds128_case2", "lanes 0 and 15, one uint4: one half-warp", load, 16,
     [](unsigned t) { return t == 0 || t == 15 ? 4 : idle; }},
    {"lds128_case3", "lanes n and n^1 agree: half-warps", load, 16, [](unsigned t) { return 2 * (t / 8) + t / 2 % 2; }},
    {"lds128_case4", "n and n^1 in one half, n and n^2 in the other: quarter-warps", load, 16,
     [](unsigned t) { return 2 * (t / 8) + (t < 16 ? t / 2 % 2 : t % 2); }},
    {"lds128_case5", "half-warps, each a 2-way conflict", load, 16,
     [](unsigned t) { return 4 * (t / 16) + t % 16 / 8 + 8 * (t % 8 / 4); }},
    {"double_even_lanes", "double data[t / 2] by every second lane: half-warps merge", load, 8,
     [](unsigned t) { return t % 2 == 0 ? t / 2 : idle; }},
    // A column of narrow elements.
    {"char_column128", "a column of char data[32][128]", load, 1, strided<128>},
    {"char_column132", "of char data[32][132], the cure", load, 1, strided<132>},
    // Stores. Those of 8 and 16 bytes fill a few rows of 128 bytes, lane after lane down a column.
    {"store_char", "char data[t] = ...", store, 1, strided<1>},
    {"store_char_record8", "record[t].x = ..., records of 8 bytes", store, 1, strided<8>},
    {"store_short", "short data[t] = ...", store, 2, strided<1>},
    {"store_short_record8", "record[t].x = ..., records of 8 bytes", store, 2, strided<4>},
    {"store_int", "int data[t] = ...", store, 4, strided<1>},
    {"store_int_record8", "record[t].x = ..., records of 8 bytes", store, 4, strided<2>},
    {"store_double", "double data[t] = ...", store, 8, strided<1>},
    {"store_double_even_lanes", "double data[t / 2] = ... by every second lane: stores do not merge", store, 8,
     [](unsigned t) { return t % 2 == 0 ? t / 2 : idle; }},
    {"store_double_columns", "double data[2][16] by columns: data[t % 2][t / 2] = ...", store, 8,
     [](unsigned t) { return 16 * (t % 2) + t / 2; }},
    {"store_double_swizzled", "data[t % 2][t / 2 ^ t % 2 * 8] = ..., the cure", store, 8,
     [](unsigned t) { return 16 * (t % 2) + (t / 2 ^ t % 2 * 8); }},
    {"store_float4", "float4 data[t] = ...", store, 16, strided<1>},
    {"store_float4_columns", "float4 data[4][8] by columns: data[t % 4][t / 4] = ...", store, 16,
     [](unsigned t) { return 8 * (t % 4) + t / 4; }},
    {"store_float4_swizzled", "data[t % 4][t / 4 ^ t % 4 * 2] = ..., the cure", store, 16,
     [](unsigned t) { return 8 * (t % 4) + (t / 4 ^ t % 4 * 2); }},
    // Atomic additions: histograms.
    {"add", "atomicAdd(&bins[t], x)", add, 4, strided<1>},
    {"add_even", "atomicAdd(&bins[2 * t], x)", add, 4, strided<2>},
    {"add_four_bins", "atomicAdd(&bins[t % 4], x): eight lanes a bin", add, 4, [](unsigned t) { return t % 4; }},
    {"add_one_bin", "atomicAdd(&bins[3], x): the bin that all lanes hit", add, 4, [](unsigned) { return 3U; }},
    {"add_own_bins64", "int bins[32][64], a row for each lane: bins[t][3]", add, 4,
     [](unsigned t) { return 64 * t + 3; }},
    {"add_own_bins65", "of int bins[32][65], the cure", add, 4, [](unsigned t) { return 65 * t + 3; }},
    {"increment", "atomicAdd(&bins[t], 1)", increment, 4, strided<1>},
    {"increment_one_bin", "atomicAdd(&bins[3], 1): all lanes at once", increment, 4, [](unsigned) { return 3U; }},
    {"increment_own_bins64", "int bins[32][64]: bins[t][3]", increment, 4, [](unsigned t) { return 64 * t + 3; }},
    {"increment_own_bins65", "of int bins[32][65], the cure", increment, 4, [](unsigned t) { return 65 * t + 3; }},
    // Compare-and-swap: locks.
    {"swap", "atomicCAS(&lock[t], ...)", compare_and_swap, 4, strided<1>},
    {"swap_record8", "atomicCAS(&record[t].lock, ...), records of 8 bytes", compare_and_swap, 4, strided<2>},
    {"swap_one_lock", "atomicCAS(&lock[3], ...): the lock that all lanes want", compare_and_swap, 4,
     [](unsigned) { return 3U; }},
    // Matrices: the 16 x 16 half words that feed a step of the tensor cores.
    {"ldmatrix_packed", "matrix by matrix: rows of 16 bytes, one behind the other", ldmatrix, 16, strided<1>},
    {"ldmatrix_row32", "from half tile[16][16], rows of 32 bytes", ldmatrix, 16, fragment<2>},
    {"ldmatrix_row64", "from half tile[16][32]", ldmatrix, 16, fragment<4>},
    {"ldmatrix_row128", "from half tile[16][64]", ldmatrix, 16, fragment<8>},
    {"ldmatrix_padded128", "from half tile[16][72], the cure by padding", ldmatrix, 16, fragment<9>},
    {"ldmatrix_swizzled64", "from tile[16][32], chunk c of row r at c ^ r / 2 % 4", ldmatrix, 16,
     [](unsigned t) { return 4 * (t % 16) + (t / 16 ^ t % 16 / 2 % 4); }},
    {"ldmatrix_swizzled128", "from tile[16][64], chunk c of row r at c ^ r % 8", ldmatrix, 16,
     [](unsigned t) { return 8 * (t % 16) + (t / 16 ^ t % 8); }},
    {"stmatrix_packed", "matrix by matrix: rows of 16 bytes, one behind the other", stmatrix, 16, strided<1>},
    {"stmatrix_row64", "to half tile[8][32], side by side", stmatrix, 16,
     [](unsigned t) { return 4 * (t % 8) + t / 8; }},
    {"stmatrix_swizzled64", "chunk c of row r at c ^ r / 2, the cure", stmatrix, 16,
     [](unsigned t) { return 4 * (t % 8) + (t / 8 ^ t % 8 / 2); }},
};

}  // namespace bankwise::access_patterns
