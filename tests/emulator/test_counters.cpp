#include <fstream>
#include <iterator>
#include <set>

#include <bankwise/banks/cost.hpp>
#include "access_patterns/access_patterns.hpp"
#include "counters.hpp"
#include "emulated_plan.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::study;

TEST_CASE("emulator/counters/equal_h200") {
  std::set<std::string> kernels;
  for (const CountedKernel& kernel : counted_kernels()) {
    if (!kernel.emulated) continue;
    const Difference* difference = known_difference(kernel);
    INFO(kernel.kernel << " " << kernel.variant << (difference != nullptr ? ", which differs" : ""));
    const Difference expected = difference != nullptr ? *difference : Difference{};
    for (std::size_t i = 0; i < count_names.size(); ++i) {
      INFO(count_names[i]);
      CHECK((*kernel.emulated)[i] == expected.emulated.value_or(kernel.measured)[i]);
      CHECK((*kernel.merged)[i] == expected.merged.value_or(kernel.measured)[i]);
    }
    CHECK(*kernel.emulated_sectors == expected.sectors.value_or(kernel.measured_sectors));
    CHECK(expected.emulated != kernel.measured);
    CHECK(expected.sectors != kernel.measured_sectors);
    kernels.insert(kernel.kernel);
  }
  CHECK(kernels.size() >= 56);
}

TEST_CASE("emulator/counters/matrices_equal_h200") {
  std::size_t instructions = 0;
  for (const CountedKernel& kernel : counted_kernels()) {
    if (kernel.study != "access_patterns" || kernel.emulated) continue;
    INFO(kernel.variant);
    const CaseStudy& study = access_patterns::case_study();
    const auto access = access_patterns::repeated_access(variant_of(study, kernel.variant), kernel.extent);
    const auto outcome = banks::cost(*banks::find_architecture("sm_90"),
                                     {access.operation, access.width, access.mask & 0xFFFFFFFF, access.addresses});
    const auto& cost = std::get<banks::Cost>(outcome);
    const std::size_t kind = kernel.variant.starts_with("ld") ? 0 : 2;  // loads, or stores
    const std::uint64_t others = kind == 0 ? 0 : 256;                   // stores that fill the tile
    CHECK(kernel.measured[kind] == access.count * cost.passes + others);
    CHECK(kernel.measured[kind + 1] == access.count * cost.conflicts);
    ++instructions;
  }
  CHECK(instructions == 10);
}

TEST_CASE("emulator/counters/page") {
  std::ifstream file(SOURCE_DIRECTORY "/docs/results/nvidia_h200/counters.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  CHECK(page == counters_page(counted_kernels()));
}
