// Sizes at which 32 bits are too few: for bytes, for words as signed and unsigned numbers, for either side of a
// matrix.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "bare_launch.hpp"
#include "devices_under_test.hpp"
#include "mutated_study.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

constexpr std::uint64_t two_to_31 = std::uint64_t{1} << 31, two_to_32 = std::uint64_t{1} << 32;

/// Checks on the device: the host would need a minute to compare these words. Empty if all is right.
std::string verdict(gpu::Session& session, const Law& law, const CaseStudy& study, const Variant& variant,
                    Extent extent) {
  const Plan plan = study.plan(variant, extent, session.info().compute_units);
  prepare(session, study, plan);
  const Memory memory = memory_for(session, study, extent, plan, words_beyond);
  TelescopingSum formula(session);
  formula.poison(memory);
  formula.fill(law, memory, extent, 1);
  launch(session, study, plan, memory);
  formula.check(law, memory, extent, 1, words_beyond);
  return formula.verdict();
}

/// All variants of ours.
void check_all(const Law& law, const std::vector<Extent>& extents) {
  on_each_device([&](gpu::Session& session) {
    for (const Extent extent : extents) {
      for (const Variant& variant : law.study->variants) {
        if (!runs_on(session, *law.study, variant)) continue;
        INFO(variant.name << " " << text(extent));
        CHECK(verdict(session, law, *law.study, variant, extent) == "");
      }
    }
  });
}

}  // namespace

// The formulas are verified at sizes that the host can check (test_variants.cpp).
TEST_CASE("device/large/formulas", "[interface]") {
  for (const Law& law : laws()) check_all(law, extents(facts(*law.study).at("formula"), "extents"));
}

// Sessions may fill in parts of 1 GiB. The test touches little more memory than it compares.
TEST_CASE("device/large/fill_over_1_gib", "[interface]") {
  constexpr std::uint64_t border = 1 << 30, reach = 4096;
  for (const auto& device : devices_under_test()) {
    INFO(to_string(device.api) << " " << device.name);
    if (std::min(device.max_allocation, device.global_memory / 2) < border + 2 * reach) {
      WARN(device.name << " is too small for it");
      continue;
    }
    const auto session = gpu::open(device);
    const auto buffer = session->allocate(border + 2 * reach);
    std::vector<std::byte> bytes(4 * reach, std::byte{1});
    session->write(*buffer, border - 2 * reach, bytes);
    session->fill(*buffer, border - reach, 2 * reach, 0xAB);
    session->wait();
    session->read(*buffer, border - 2 * reach, bytes);
    std::vector<std::byte> right(4 * reach, std::byte{1});
    std::fill_n(right.begin() + reach, 2 * reach, std::byte{0xAB});
    CHECK((bytes == right));  // in parentheses, so a failure does not print all bytes
  }
}

// For a matrix, sides that are whole chunks of four words, and sides that are not: TMA copies only the former.
#define VERIFY_HUGE(name, folder)                                          \
  TEST_CASE("device/large/" #name, "[.huge_" #name "]") {                  \
    const CaseStudy& study = name::case_study();                           \
    if (!facts(study).contains("formula")) return;                         \
    check_all(law_of(study), extents(facts(study).at("formula"), "huge")); \
  }
FOR_EACH_CASE_STUDY(VERIFY_HUGE)

TEST_CASE("device/large/32_bit_index", "[.huge_prefix_sum]") {
  const MutatedStudy broken("index_of_32_bits");
  for (const auto& device : devices_under_test()) {
    if (device.api != gpu::Api::cuda) continue;
    const auto session = gpu::open(device);
    CHECK(verdict(*session, law_of(broken.sound()), broken.study(), broken.variant(), {1, two_to_31 + 12345}) == "");
    CHECK(verdict(*session, law_of(broken.sound()), broken.study(), broken.variant(), {1, two_to_32 + 12345}) != "");
  }
}
