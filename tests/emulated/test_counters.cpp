// SPDX-License-Identifier: MIT
#include <fstream>
#include <iterator>
#include <set>

#include "catch_any.hpp"
#include "counters.hpp"

TEST_CASE("passes and conflicts are those of an H200's counters") {
  std::set<std::string> kernels;
  for (const CountedKernel& kernel : counted_kernels()) {
    const Difference* difference = known_difference(kernel);
    INFO(kernel.kernel << " " << kernel.variant << (difference != nullptr ? ", which differs" : ""));
    for (std::size_t i = 0; i < count_names.size(); ++i) {
      INFO(count_names[i]);
      CHECK(kernel.emulated[i] == (difference != nullptr ? difference->emulated : kernel.measured)[i]);
    }
    CHECK((difference == nullptr || difference->emulated != kernel.measured));
    kernels.insert(kernel.kernel);
  }
  CHECK(kernels.size() >= 30);
}

TEST_CASE("the page of counters is up to date") {
  std::ifstream file(SOURCE_DIRECTORY "/docs/results/nvidia_h200/counters.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  CHECK(page == counters_page(counted_kernels()));
}
