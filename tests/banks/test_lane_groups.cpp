// Properties of every access under any rule: lane groups add up, unused addresses do not matter, banks repeat.
#include <map>

#include "random_accesses.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

constexpr unsigned accesses_per_rule = 4'000;

using Check = bool (*)(const banks::Architecture&, const banks::RandomAccess&, const banks::Cost&,
                       banks::RandomAccesses&);

/// Counts the accesses of every architecture for which `check` is false.
void check_all(Check check) {
  for (const auto& architecture : banks::architectures()) {
    banks::RandomAccesses accesses(7);
    unsigned wrong = 0, checked = 0;
    std::string first;
    for (unsigned i = 0; i < accesses_per_rule; ++i) {
      const auto random = accesses.next(architecture.lanes);
      const auto outcome = banks::cost(architecture, random.access());
      const auto* cost = std::get_if<banks::Cost>(&outcome);
      if (cost == nullptr) continue;
      ++checked;
      if (!check(architecture, random, *cost, accesses) && ++wrong == 1) first = to_text(random);
    }
    INFO(architecture.name << ", " << first);
    CHECK(wrong == 0);
    CHECK(checked > accesses_per_rule / 4);
  }
}

bool same(const banks::Cost& a, const banks::Cost& b) {
  bool same = a.passes == b.passes && a.ideal == b.ideal && a.conflicts == b.conflicts &&
              a.passes_max == b.passes_max && a.conflicts_max == b.conflicts_max && a.floor == b.floor &&
              a.merged_by == b.merged_by && a.lane_group_count == b.lane_group_count;
  for (unsigned i = 0; same && i < a.lane_group_count; ++i) {
    const auto &left = a.lane_groups[i], &right = b.lane_groups[i];
    same = left.lanes == right.lanes && left.first_byte == right.first_byte && left.passes == right.passes &&
           left.passes_max == right.passes_max;
  }
  return same;
}

bool same(const banks::Architecture& architecture, const banks::RandomAccess& random, const banks::Cost& cost) {
  const auto outcome = banks::cost(architecture, random.access());
  return std::holds_alternative<banks::Cost>(outcome) && same(std::get<banks::Cost>(outcome), cost);
}

/// The lanes whose addresses matter.
std::uint64_t lanes_of(const banks::RandomAccess& random) {
  const unsigned rows = banks::matrix_rows(random.operation);
  return rows == 0 ? random.mask : random.mask & banks::first_lanes(rows);
}

bool lane_groups_partition_the_lanes(const banks::Architecture&, const banks::RandomAccess& random,
                                     const banks::Cost& cost, banks::RandomAccesses&) {
  std::map<std::uint32_t, std::uint64_t> lanes;  // of each request
  for (unsigned i = 0; i < cost.lane_group_count; ++i) {
    const auto& lane_group = cost.lane_groups[i];
    if (lane_group.lanes == 0 || lane_group.passes == 0 || lane_group.passes > lane_group.passes_max) return false;
    if ((lanes[lane_group.first_byte] & lane_group.lanes) != 0) return false;
    lanes[lane_group.first_byte] |= lane_group.lanes;
  }
  for (const auto& [first_byte, served] : lanes) {
    if (served != lanes_of(random) || first_byte >= random.width) return false;
  }
  return lanes.empty() == (random.mask == 0) && (lanes.empty() || lanes.begin()->first == 0);
}

bool totals_are_those_of_the_lane_groups(const banks::Architecture& architecture, const banks::RandomAccess& random,
                                         const banks::Cost& cost, banks::RandomAccesses&) {
  const banks::Rule* rule = banks::find_rule(architecture, random.operation, random.width);
  unsigned sum = 0, sum_max = 0, worst = 0;
  for (unsigned i = 0; i < cost.lane_group_count; ++i) {
    sum += cost.lane_groups[i].passes;
    sum_max += cost.lane_groups[i].passes_max;
    worst = std::max(worst, unsigned(cost.lane_groups[i].passes));
  }
  const bool ordered = cost.ideal <= cost.passes && cost.passes <= cost.passes_max;
  if (rule->total == banks::Total::sum) {
    return ordered && cost.passes == sum && cost.passes_max == sum_max &&
           (rule->serving == banks::Serving::lines || cost.ideal == rule->rounds * cost.lane_group_count) &&
           cost.conflicts * rule->rounds == cost.passes - cost.ideal &&
           cost.conflicts_max * rule->rounds == cost.passes_max - cost.ideal;
  }
  const unsigned more = rule->total == banks::Total::worst_plus_one && random.mask != 0 ? 1 : 0;
  return ordered && cost.passes == worst + more && cost.ideal == (random.mask == 0 ? 0U : 1U) &&
         cost.conflicts == cost.passes - cost.ideal;
}

bool inactive_lanes_do_not_matter(const banks::Architecture& architecture, const banks::RandomAccess& random,
                                  const banks::Cost& cost, banks::RandomAccesses& more) {
  auto other = random;
  unsigned needed = 0;
  for (unsigned lane = 0; lane < banks::max_lanes; ++lane) {
    if (lanes_of(random) >> lane & 1) {
      needed = lane + 1;
    } else {
      other.addresses[lane] = more.below(~0U);
      if (!other.sources.empty()) other.sources[lane] = more.below(~0U);
    }
  }
  if (!same(architecture, other, cost)) return false;
  other.addresses.resize(needed);
  if (!other.sources.empty()) other.sources.resize(needed);
  return same(architecture, other, cost);
}

bool banks_repeat(const banks::Architecture& architecture, const banks::RandomAccess& random, const banks::Cost& cost,
                  banks::RandomAccesses& more) {
  auto moved = random;
  const unsigned distance = 256 * (1 + more.below(1000));
  for (auto& address : moved.addresses) address += distance;
  const bool lines_matter = random.operation == banks::Operation::cp_async_cg;
  const unsigned lines = more.below(1000);
  for (auto& source : moved.sources) {
    if (source != banks::no_source) source += 128 * (lines_matter ? lines : more.below(1000));
  }
  return same(architecture, moved, cost);
}

}  // namespace

TEST_CASE("banks/lane_groups/partition") { check_all(lane_groups_partition_the_lanes); }
TEST_CASE("banks/lane_groups/sums") { check_all(totals_are_those_of_the_lane_groups); }
TEST_CASE("banks/lane_groups/inactive_lanes") { check_all(inactive_lanes_do_not_matter); }
TEST_CASE("banks/lane_groups/shifted_addresses") { check_all(banks_repeat); }

TEST_CASE("banks/lane_groups/no_lanes") {
  for (const auto& architecture : banks::architectures()) {
    for (const auto operation : {banks::Operation::load, banks::Operation::store}) {
      INFO(architecture.name);
      const auto cost = std::get<banks::Cost>(banks::cost(architecture, {operation, 4, 0, {}}));
      CHECK(same(cost, banks::Cost{}));
    }
  }
}
