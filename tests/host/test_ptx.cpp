// SPDX-License-Identifier: MIT
//
// Every .cuh compiles alone (the build made the PTX that is read here), and its shared accesses have the width and the
// number that its comment promises: a compiler that merges or splits them changes the banks.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "case_studies.hpp"
#include "catch_any.hpp"

namespace {

using Counts = std::map<std::string, int>;

/// What nvcc 13.0 makes, loops unrolled.
const std::map<std::string, Counts> pinned{
    {"reduction/naive", {{"ld.shared.v4.u32", 17}, {"st.shared.v4.u32", 9}}},
    {"reduction/scalar", {{"ld.shared.u32", 68}, {"st.shared.u32", 36}}},
    {"reduction/packed", {{"ld.shared.u32", 68}, {"st.shared.u32", 36}}},
    {"prefix_sum/naive", {{"ld.shared.u32", 39}, {"st.shared.u32", 30}}},
    {"prefix_sum/padded", {{"ld.shared.u32", 39}, {"st.shared.u32", 30}}},
    {"prefix_sum/add_offsets", {}},
    {"transpose/global", {}},
    {"transpose/naive", {{"ld.shared.u32", 1}, {"st.shared.u32", 1}}},
    {"transpose/padded", {{"ld.shared.u32", 1}, {"st.shared.u32", 1}}},
    {"transpose/tile32", {{"ld.shared.u32", 4}, {"st.shared.u32", 4}}},
    {"transpose/tile32_padded", {{"ld.shared.u32", 4}, {"st.shared.u32", 4}}},
    {"transpose/swizzled", {{"ld.shared.u32", 4}, {"st.shared.u32", 4}}},
};

Counts shared_accesses(const std::filesystem::path& ptx) {
  std::ifstream file(ptx);
  REQUIRE(file);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  // Newer compilers write the same access as .b32; the width is what counts.
  const std::regex access(R"(\b(ld|st)\.shared(\.v[24])?\.[bus](\d+))");
  Counts counts;
  for (std::sregex_iterator match(text.begin(), text.end(), access), end; match != end; ++match) {
    ++counts[(*match)[1].str() + ".shared" + (*match)[2].str() + ".u" + (*match)[3].str()];
  }
  return counts;
}

}  // namespace

TEST_CASE("shared accesses in PTX are as wide and as many as pinned") {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PTX_DIRECTORY)) {
    if (entry.path().extension() != ".ptx") continue;
    const std::string kernel = entry.path().parent_path().filename().string() + "/" + entry.path().stem().string();
    INFO(kernel);
    const auto expected = pinned.find(kernel);
    REQUIRE(expected != pinned.end());
    const Counts counts = shared_accesses(entry.path());
    for (const auto& [access, count] : counts) UNSCOPED_INFO(access << " " << count);
#if NVCC_IS_PINNED
    CHECK(counts == expected->second);
#else  // another compiler may unroll differently, but not choose another width
    Counts widths = counts, expected_widths = expected->second;
    for (auto* map : {&widths, &expected_widths})
      std::for_each(map->begin(), map->end(), [](auto& one) { one.second = 1; });
    CHECK(widths == expected_widths);
#endif
    ++seen;
  }
  CHECK(seen == pinned.size());
}
