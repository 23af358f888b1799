// SPDX-License-Identifier: MIT
//
// The shared-memory accesses of every kernel in its PTX. A compiler that merges or splits them would change the bank
// conflicts, so their widths and numbers are pinned.
#pragma once

#include <algorithm>
#include <map>
#include <regex>
#include <string>

/// "ld.shared.v4.u32" and how often it occurs.
using AccessCounts = std::map<std::string, int>;

/// Keyed by case study and kernel without its prefix: the output of nvcc 13.0 for compute_90, loops unrolled.
inline const std::map<std::string, AccessCounts> pinned_accesses{
    {"reduction/modulo", {{"ld.shared.v4.u32", 17}, {"st.shared.v4.u32", 9}}},
    {"reduction/interleaved", {{"ld.shared.v4.u32", 17}, {"st.shared.v4.u32", 9}}},
    {"reduction/sequential", {{"ld.shared.v4.u32", 17}, {"st.shared.v4.u32", 9}}},
    {"reduction/naive", {{"ld.shared.u32", 68}, {"st.shared.u32", 36}}},
    {"reduction/packed", {{"ld.shared.u32", 68}, {"st.shared.u32", 36}}},
    {"reduction/first_add", {{"ld.shared.v4.u32", 17}, {"st.shared.v4.u32", 9}}},
    {"reduction/shuffle", {{"ld.shared.v4.u32", 1}, {"st.shared.v4.u32", 1}}},
    {"reduction/streaming", {{"ld.shared.v4.u32", 1}, {"st.shared.v4.u32", 1}}},
    {"reduction/single_pass", {{"ld.shared.v4.u32", 1}, {"st.shared.v4.u32", 1}}},
    {"reduction/chunked", {}},
    {"prefix_sum/naive", {{"ld.shared.u32", 39}, {"st.shared.u32", 30}}},
    {"prefix_sum/padded", {{"ld.shared.u32", 39}, {"st.shared.u32", 30}}},
    {"prefix_sum/add_offsets", {}},
    {"prefix_sum/hillis_steele", {{"ld.shared.u32", 9 + 1}, {"st.shared.u32", 1 + 9}}},
    {"prefix_sum/padded_twice", {{"ld.shared.u32", 47}, {"st.shared.u32", 36}}},
    {"prefix_sum/add_offsets_wide", {}},
    {"prefix_sum/warp_scan", {{"ld.shared.u32", 1}, {"st.shared.u32", 1}}},
    {"prefix_sum/look_back", {{"ld.shared.u64", 1}, {"ld.shared.u32", 2}, {"st.shared.u64", 1}, {"st.shared.u32", 2}}},
    // The tile's sum twice, before and in the loop, and the scan, 4 rows each. The other accesses are words: the tiles
    // of the stages, their numbers, sums of warps.
    {"prefix_sum/ring", {{"ld.shared.v4.u32", 3 * 4}, {"ld.shared.u32", 9}, {"st.shared.u32", 11}}},
    {"prefix_sum/chunked", {}},
    {"prefix_sum/chunk_sums", {}},
    {"transpose/global", {}},
    {"transpose/naive", {{"ld.shared.u32", 1}, {"st.shared.u32", 1}}},
    {"transpose/padded", {{"ld.shared.u32", 1}, {"st.shared.u32", 1}}},
    {"transpose/tile32", {{"ld.shared.u32", 4}, {"st.shared.u32", 4}}},
    {"transpose/tile32_padded", {{"ld.shared.u32", 4}, {"st.shared.u32", 4}}},
    {"transpose/swizzled", {{"ld.shared.u32", 4}, {"st.shared.u32", 4}}},
    // Two patches. Each is stored as four words or one chunk, and loaded as one chunk or four words, depending on the
    // rows.
    {"transpose/vectorized",
     {{"ld.shared.u32", 8}, {"ld.shared.v4.u32", 2}, {"st.shared.u32", 8}, {"st.shared.v4.u32", 2}}},
    {"transpose/output_order",
     {{"ld.shared.u32", 8}, {"ld.shared.v4.u32", 2}, {"st.shared.u32", 8}, {"st.shared.v4.u32", 2}}},
    {"transpose/persisting",
     {{"ld.shared.u32", 8}, {"ld.shared.v4.u32", 2}, {"st.shared.u32", 8}, {"st.shared.v4.u32", 2}}},
    // A square of four chunks. The single words belong to the loop in which lanes copy.
    {"transpose/tma", {{"ld.shared.u32", 1}, {"ld.shared.v4.u32", 4}, {"st.shared.u32", 1}, {"st.shared.v4.u32", 4}}},
    {"transpose/blocked", {}},
    // One iteration, the loop that fills the tile, and the loop that reads it again, but only for loads.
    {"access_patterns/load_1", {{"ld.shared.u8", 16}, {"st.shared.u32", 1}}},
    {"access_patterns/load_2", {{"ld.shared.u16", 16}, {"st.shared.u32", 1}}},
    {"access_patterns/load_4", {{"ld.shared.u32", 16}, {"st.shared.u32", 1}}},
    {"access_patterns/load_8", {{"ld.shared.v2.u32", 16}, {"st.shared.u32", 1}}},
    {"access_patterns/load_16", {{"ld.shared.v4.u32", 16}, {"st.shared.u32", 1}}},
    {"access_patterns/store_1", {{"ld.shared.u8", 1}, {"st.shared.u8", 4}, {"st.shared.u32", 1}}},
    {"access_patterns/store_2", {{"ld.shared.u16", 1}, {"st.shared.u16", 4}, {"st.shared.u32", 1}}},
    {"access_patterns/store_4", {{"ld.shared.u32", 1}, {"st.shared.u32", 4 + 1}}},
    {"access_patterns/store_8", {{"ld.shared.v2.u32", 1}, {"st.shared.v2.u32", 4}, {"st.shared.u32", 1}}},
    {"access_patterns/store_16", {{"ld.shared.v4.u32", 1}, {"st.shared.v4.u32", 2}, {"st.shared.u32", 1}}},
    {"access_patterns/atomic_add", {{"atom.shared.add.u32", 16}, {"ld.shared.u32", 1}, {"st.shared.u32", 1}}},
    {"access_patterns/atomic_inc", {{"atom.shared.add.u32", 16}, {"ld.shared.u32", 1}, {"st.shared.u32", 1}}},
    {"access_patterns/atomic_cas", {{"atom.shared.cas.u32", 16}, {"ld.shared.u32", 1}, {"st.shared.u32", 1}}},
    {"access_patterns/ldmatrix_x4", {{"ldmatrix.sync.aligned.m8n8.x4.shared.u16", 16}, {"st.shared.u32", 1}}},
    {"access_patterns/stmatrix_x4",  // its check has no loop
     {{"stmatrix.sync.aligned.m8n8.x4.shared.u16", 2}, {"ld.shared.v4.u32", 4}, {"st.shared.u32", 1}}},
};

/// Counts the accesses in a text of PTX, all of them written as .u32: compilers also name the same width .b32 or .s32,
/// and an atomic without a result .red as well as .atom.
inline AccessCounts shared_accesses(const std::string& ptx) {
  const std::regex access(R"(\b(ld|st|atom|red)(matrix[\w.]*)?\.shared(\.v[24]|\.[a-z]{3,})?\.[bus](\d+))");
  AccessCounts counts;
  for (std::sregex_iterator match(ptx.begin(), ptx.end(), access), end; match != end; ++match) {
    const std::string what = (*match)[1].str() == "red" ? "atom" : (*match)[1].str();
    ++counts[what + (*match)[2].str() + ".shared" + (*match)[3].str() + ".u" + (*match)[4].str()];
  }
  return counts;
}

/// The same accesses, each once: another compiler may unroll differently, but must not choose another width.
inline AccessCounts widths(AccessCounts counts) {
  std::for_each(counts.begin(), counts.end(), [](auto& access) { access.second = 1; });
  return counts;
}
