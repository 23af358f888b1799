// SPDX-License-Identifier: MIT
//
// Every .cuh compiles alone (the build made the PTX that is read here), and its shared accesses are the pinned ones.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/catch_any.hpp"
#include "tests/pinned_accesses.hpp"

TEST_CASE("shared accesses in PTX are as wide and as many as pinned") {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PTX_DIRECTORY)) {
    if (entry.path().extension() != ".ptx") continue;
    const std::string kernel = entry.path().parent_path().filename().string() + "/" + entry.path().stem().string();
    INFO(kernel);
    const auto pinned = pinned_accesses.find(kernel);
    REQUIRE(pinned != pinned_accesses.end());
    std::ifstream file(entry.path());
    const AccessCounts counts = shared_accesses({std::istreambuf_iterator<char>(file), {}});
    for (const auto& [access, count] : counts) UNSCOPED_INFO(access << " " << count);
#if NVCC_IS_PINNED
    CHECK(counts == pinned->second);
#else
    CHECK(widths(counts) == widths(pinned->second));
#endif
    ++seen;
  }
  CHECK(seen == pinned_accesses.size());
}
