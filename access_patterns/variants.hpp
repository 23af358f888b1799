// All access patterns: one line per pattern, each next to its fix, in the order of the articles.
#pragma once

#include <string_view>

#include <bankwise/banks/access.hpp>

namespace bankwise::access_patterns {

/// The element of an inactive lane.
inline constexpr unsigned idle = ~0U;

/// One access of a warp: an element per lane.
struct AccessPattern {
  std::string_view name;  ///< value of --variant
  std::string_view idea;  ///< description in --list and in the reports
  banks::Operation operation;
  unsigned width;                      ///< bytes per lane; in matrix operations, bytes per row
  unsigned (*element)(unsigned lane);  ///< the element of `width` bytes that a lane accesses, or `idle`
};

inline constexpr auto load = banks::Operation::load, store = banks::Operation::store, add = banks::Operation::atomic,
                      increment = banks::Operation::atomic_inc, compare_and_swap = banks::Operation::atomic_cas,
                      ldmatrix = banks::Operation::ldmatrix_x4, stmatrix = banks::Operation::stmatrix_x4;

// One pattern per stride.
template <unsigned stride>
unsigned strided(unsigned t) {
  return t * stride;
}

// Row t % 16 and half t / 16 of a 16 x 16 fragment, in a tile whose rows have `chunks` chunks of 16 bytes.
template <unsigned chunks>
unsigned fragment(unsigned t) {
  return chunks * (t % 16) + t / 16;
}

inline constexpr AccessPattern fixed_patterns[]{
    // Words.
    {"base_plus_lane", "int data[5 + t]: no conflict", load, 4, [](unsigned t) { return 5 + t; }},
    {"broadcast", "int data[3]: broadcast of one word to all lanes", load, 4, [](unsigned) { return 3U; }},
    {"rows_of_17", "data[17 * (t / 16) + t % 16] = ...: store to rows padded to 17 words", store, 4,
     [](unsigned t) { return 17 * (t / 16) + t % 16; }},
    // Bytes and half words: conflicts of compute capability 1.x.
    {"char", "char data[t]", load, 1, [](unsigned t) { return t; }},
    {"char_widened", "char data[4 * t], the fix", load, 1, [](unsigned t) { return 4 * t; }},
    {"short", "short data[t]", load, 2, [](unsigned t) { return t; }},
    {"short_widened", "short data[2 * t], the fix", load, 2, [](unsigned t) { return 2 * t; }},
    // Pairs of words.
    {"int_even", "int data[2 * t]", load, 4, [](unsigned t) { return 2 * t; }},
    {"int_odd", "int data[2 * t + 1]", load, 4, [](unsigned t) { return 2 * t + 1; }},
    {"two_arrays_first", "int first[t], the fix: two arrays", load, 4, [](unsigned t) { return t; }},
    {"two_arrays_second", "int second[t], the second array", load, 4, [](unsigned t) { return 32 + t; }},
    {"record3_x", "record[t].x, records of 3 words", load, 4, [](unsigned t) { return 3 * t; }},
    {"record3_y", "record[t].y", load, 4, [](unsigned t) { return 3 * t + 1; }},
    {"record3_z", "record[t].z", load, 4, [](unsigned t) { return 3 * t + 2; }},
    // Elements of 8 and 16 bytes.
    {"double", "double data[t]", load, 8, [](unsigned t) { return t; }},
    {"double_column32", "a column of double data[32][32]", load, 8, [](unsigned t) { return 32 * t; }},
    {"double_column33", "a column of double data[32][33], the fix", load, 8, [](unsigned t) { return 33 * t; }},
    {"float4", "float4 data[t]", load, 16, [](unsigned t) { return t; }},
    {"float4_column8", "a column of float4 data[32][8]", load, 16, [](unsigned t) { return 8 * t; }},
    {"float4_column9", "a column of float4 data[32][9], the fix", load, 16, [](unsigned t) { return 9 * t; }},
    {"lds64_case1", "uint2 data[t]", load, 8, [](unsigned t) { return t; }},
    {"lds64_case2", "uint2 data[t / 2]: lanes n and n^1 share an address", load, 8, [](unsigned t) { return t / 2; }},
    {"lds128_case1", "lanes 15 and 16 load one uint4: two half-warps", load, 16,
     [](unsigned t) { return t == 15 || t == 16 ? 4 : idle; }},
    {"lds128_case2", "lanes 0 and 15 load one uint4: one half-warp", load, 16,
     [](unsigned t) { return t == 0 || t == 15 ? 4 : idle; }},
    {"lds128_case3", "lanes n and n^1 share an address: quarter-warps merge", load, 16,
     [](unsigned t) { return 2 * (t / 8) + t / 2 % 2; }},
    {"lds128_case4", "n and n^1 share in one half-warp, n and n^2 in the other: no merge", load, 16,
     [](unsigned t) { return 2 * (t / 8) + (t < 16 ? t / 2 % 2 : t % 2); }},
    {"lds128_case5", "quarter-warps merge, 2-way conflict per half-warp", load, 16,
     [](unsigned t) { return 4 * (t / 16) + t % 16 / 8 + 8 * (t % 8 / 4); }},
    {"double_even_lanes", "double data[t / 2] by even lanes: half-warps merge", load, 8,
     [](unsigned t) { return t % 2 == 0 ? t / 2 : idle; }},
    // A column of narrow elements.
    {"char_column128", "a column of char data[32][128]", load, 1, strided<128>},
    {"char_column132", "a column of char data[32][132], the fix", load, 1, strided<132>},
    // Stores. Those of 8 and 16 bytes fill a few rows of 128 bytes column by column.
    {"store_char", "char data[t] = ...", store, 1, strided<1>},
    {"store_char_record8", "record[t].x = ..., records of 8 bytes", store, 1, strided<8>},
    {"store_short", "short data[t] = ...", store, 2, strided<1>},
    {"store_short_record8", "record[t].x = ..., records of 8 bytes", store, 2, strided<4>},
    {"store_int", "int data[t] = ...", store, 4, strided<1>},
    {"store_int_record8", "record[t].x = ..., records of 8 bytes", store, 4, strided<2>},
    {"store_double", "double data[t] = ...", store, 8, strided<1>},
    {"store_double_even_lanes", "double data[t / 2] = ... by even lanes: stores do not merge", store, 8,
     [](unsigned t) { return t % 2 == 0 ? t / 2 : idle; }},
    {"store_double_columns", "double data[2][16] by columns: data[t % 2][t / 2] = ...", store, 8,
     [](unsigned t) { return 16 * (t % 2) + t / 2; }},
    {"store_double_swizzled", "data[t % 2][t / 2 ^ t % 2 * 8] = ..., the fix: XOR swizzle", store, 8,
     [](unsigned t) { return 16 * (t % 2) + (t / 2 ^ t % 2 * 8); }},
    {"store_float4", "float4 data[t] = ...", store, 16, strided<1>},
    {"store_float4_columns", "float4 data[4][8] by columns: data[t % 4][t / 4] = ...", store, 16,
     [](unsigned t) { return 8 * (t % 4) + t / 4; }},
    {"store_float4_swizzled", "data[t % 4][t / 4 ^ t % 4 * 2] = ..., the fix: XOR swizzle", store, 16,
     [](unsigned t) { return 8 * (t % 4) + (t / 4 ^ t % 4 * 2); }},
    // Atomic additions: histograms.
    {"add", "atomicAdd(&bins[t], x)", add, 4, strided<1>},
    {"add_even", "atomicAdd(&bins[2 * t], x)", add, 4, strided<2>},
    {"add_four_bins", "atomicAdd(&bins[t % 4], x): eight lanes per bin", add, 4, [](unsigned t) { return t % 4; }},
    {"add_one_bin", "atomicAdd(&bins[3], x): one bin for all lanes", add, 4, [](unsigned) { return 3U; }},
    {"add_own_bins64", "int bins[32][64], a row per lane: bins[t][3]", add, 4, [](unsigned t) { return 64 * t + 3; }},
    {"add_own_bins65", "int bins[32][65], the fix", add, 4, [](unsigned t) { return 65 * t + 3; }},
    {"increment", "atomicAdd(&bins[t], 1)", increment, 4, strided<1>},
    {"increment_one_bin", "atomicAdd(&bins[3], 1): one bin for all lanes", increment, 4, [](unsigned) { return 3U; }},
    {"increment_own_bins64", "int bins[32][64]: bins[t][3]", increment, 4, [](unsigned t) { return 64 * t + 3; }},
    {"increment_own_bins65", "int bins[32][65], the fix", increment, 4, [](unsigned t) { return 65 * t + 3; }},
    // Compare-and-swap: locks.
    {"swap", "atomicCAS(&lock[t], ...)", compare_and_swap, 4, strided<1>},
    {"swap_record8", "atomicCAS(&record[t].lock, ...), records of 8 bytes", compare_and_swap, 4, strided<2>},
    {"swap_one_lock", "atomicCAS(&lock[3], ...): one lock for all lanes", compare_and_swap, 4,
     [](unsigned) { return 3U; }},
    // Matrices: 16 x 16 elements of 16 bits, the operand of a tensor-core instruction.
    {"ldmatrix_packed", "matrix by matrix: 16-byte rows, one after the other", ldmatrix, 16, strided<1>},
    {"ldmatrix_row32", "from half tile[16][16], rows of 32 bytes", ldmatrix, 16, fragment<2>},
    {"ldmatrix_row64", "from half tile[16][32]", ldmatrix, 16, fragment<4>},
    {"ldmatrix_row128", "from half tile[16][64]", ldmatrix, 16, fragment<8>},
    {"ldmatrix_padded128", "from half tile[16][72], the fix by padding", ldmatrix, 16, fragment<9>},
    {"ldmatrix_swizzled64", "from half tile[16][32], the fix by XOR: chunk c of row r at c ^ r / 2 % 4", ldmatrix, 16,
     [](unsigned t) { return 4 * (t % 16) + (t / 16 ^ t % 16 / 2 % 4); }},
    {"ldmatrix_swizzled128", "from half tile[16][64], the fix by XOR: chunk c of row r at c ^ r % 8", ldmatrix, 16,
     [](unsigned t) { return 8 * (t % 16) + (t / 16 ^ t % 8); }},
    {"stmatrix_packed", "matrix by matrix: 16-byte rows, one after the other", stmatrix, 16, strided<1>},
    {"stmatrix_row64", "to half tile[8][32], matrices side by side", stmatrix, 16,
     [](unsigned t) { return 4 * (t % 8) + t / 8; }},
    {"stmatrix_swizzled64", "to half tile[8][32], the fix by XOR: chunk c of row r at c ^ r / 2", stmatrix, 16,
     [](unsigned t) { return 4 * (t % 8) + (t / 8 ^ t % 8 / 2); }},
};

}  // namespace bankwise::access_patterns
