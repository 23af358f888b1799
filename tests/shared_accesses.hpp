// Counts the shared-memory accesses of a kernel in its PTX.
#pragma once

#include <algorithm>
#include <map>
#include <regex>
#include <string>

/// "ld.shared.v4.u32" and how often it occurs.
using AccessCounts = std::map<std::string, int>;

/// Counts the accesses in a text of PTX, all of them written as .u32: compilers also name the same width .b32, .s32 or
/// .f32, and an atomic without a result .red as well as .atom.
inline AccessCounts shared_accesses(const std::string& ptx) {
  const std::regex access(R"(\b(ld|st|atom|red)(matrix[\w.]*)?\.shared(\.v[24]|\.[a-z]{3,})?\.[bfsu](\d+))");
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
