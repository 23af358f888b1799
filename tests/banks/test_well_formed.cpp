// SPDX-License-Identifier: MIT
//
// well_formed() tells tables that cost() can handle from those that it cannot.
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise::banks;

namespace {

/// sm_90 with one rule, 4-byte loads, changed.
template <class Change>
bool accepted(Change change) {
  Architecture architecture = *find_architecture("sm_90");
  std::vector<Rule> rules{architecture.rules.front()};
  change(rules.front());
  architecture.rules = rules;
  return well_formed(architecture);
}

}  // namespace

TEST_CASE("banks/well_formed/table") {
  for (const Architecture& architecture : architectures()) CHECK((well_formed(architecture) && complete(architecture)));
  CHECK(accepted([](Rule&) {}));
}

TEST_CASE("banks/well_formed/beyond_capacity") {
  CHECK_FALSE(accepted([](Rule& rule) { rule.banks.count = 24; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.banks.bytes = 0; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.banks = {128, 4, 512}; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.banks.row_bytes = 64; }));  // less than one unit of every bank
  CHECK_FALSE(accepted([](Rule& rule) { rule.rounds = 0; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.serving = Serving::one_broadcast; }));  // 32 lanes
  CHECK_FALSE(accepted([](Rule& rule) { rule.request_bytes = 3; }));                 // does not divide 4
}

TEST_CASE("banks/well_formed/each_lane_once") {
  CHECK_FALSE(accepted([](Rule& rule) { rule.lane_groups.count = 9; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.lane_groups.count = 0; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.lane_groups.lanes[0] &= ~std::uint64_t{1}; }));  // lane 0 in none
  CHECK_FALSE(accepted([](Rule& rule) { rule.lane_groups.lanes[1] |= 1; }));                  // and in two
  CHECK_FALSE(accepted([](Rule& rule) {
    rule.lane_groups = consecutive(64);
    rule.merges = true;  // nothing to merge with
  }));
}

TEST_CASE("banks/well_formed/incomplete_row") {
  const auto complete_after = [](auto change) {
    Architecture row = *find_architecture("sm_90");
    change(row);
    return complete(row);
  };
  const Rule unsourced{.operations = 1, .widths = 1 << 4};
  CHECK(complete_after([](Architecture&) {}));
  CHECK_FALSE(complete_after([](Architecture& row) { row.rules = {}; }));
  CHECK_FALSE(complete_after([&](Architecture& row) { row.rules = {&unsourced, 1}; }));
  CHECK_FALSE(complete_after([](Architecture& row) { row.multiprocessor = {}; }));
  CHECK_FALSE(complete_after([](Architecture& row) { row.multiprocessor.fact->shared /= 2; }));  // unlike its model's
  CHECK_FALSE(complete_after([](Architecture& row) { row.models = {}; }));
  CHECK(complete_after([](Architecture& row) { row.models = {std::nullopt, "a reason"}; }));
}

TEST_CASE("banks/well_formed/resident_blocks") {
  const Multiprocessor& h100 = *find_architecture("sm_90")->multiprocessor.fact;
  CHECK(resident_blocks(h100, 48 << 10, 256) == 4);  // 228 / (48 + 1)
  CHECK(resident_blocks(h100, 4096, 256) == 8);      // 2048 threads
  CHECK(resident_blocks(h100, 0, 32) == 32);         // blocks
  CHECK(resident_blocks(h100, 228 << 10, 32) == 0);
  const std::uint64_t most = bytes_with_same_occupancy(h100, 48 << 10, 256);
  CHECK(resident_blocks(h100, most, 256) == 4);
  CHECK(resident_blocks(h100, most + 1, 256) == 3);
  CHECK_FALSE(find_architecture("intel_xe")->multiprocessor.fact);
}
