// SPDX-License-Identifier: MIT
//
// The table of contents: one line a pattern, each beside its cure, in the order of the articles.
#pragma once

#include <string_view>

#include "bankwise/banks/access.hpp"

namespace bankwise::access_patterns {

/// A lane that takes no part.
inline constexpr unsigned idle = ~0U;

/// An index that the lanes of a warp access together.
struct Pattern {
  std::string_view name;  ///< value of --variant
  std::string_view idea;
  banks::Operation operation;
  unsigned width;                      ///< bytes per lane
  unsigned (*element)(unsigned lane);  ///< the element of `width` bytes that a lane accesses, or `idle`
};

inline constexpr auto load = banks::Operation::load, store = banks::Operation::store;

// How the same index looks at each stride is worth a row each: this is the only formula with a number in it.
template <unsigned stride>
unsigned strided(unsigned t) {
  return t * stride;
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
};

}  // namespace bankwise::access_patterns
