// The model's cost of every access and of every cp.async measured on an H200 equals the hardware counters, without
// exception, and near misses of the rules do not.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <sstream>

#include <bankwise/banks/sectors.hpp>
#include <bankwise/trace/warps.hpp>
#include "tests/bank_patterns.hpp"
#include "tests/banks/measured_fields.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

struct MeasuredRow {
  std::string id;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 0, passes = 0, conflicts = 0;
  std::uint64_t mask = 0;
  std::array<std::uint32_t, 32> addresses{};
};

std::vector<MeasuredRow> measured_rows() {
  std::vector<MeasuredRow> rows;
  for (const Fields& row : rows_in("h200_wavefronts.csv")) {
    rows.push_back({row.text("id"), banks::operation_named(row.text("op")).value(), unsigned(row.number("width")),
                    unsigned(row.number("passes")), unsigned(row.number("conflicts")), row.number("mask"),
                    row.lanes("a")});
  }
  return rows;
}

/// Empty if the model agrees.
std::string difference(const banks::Architecture& architecture, const MeasuredRow& row) {
  const banks::Access access{row.operation, row.width, row.mask, row.addresses};
  const auto outcome = banks::cost(architecture, access);
  std::ostringstream text;
  if (const auto* refusal = std::get_if<banks::Refusal>(&outcome)) {
    text << "row " << row.id << ": " << sentence(architecture, access, *refusal) << '\n';
    return text.str();
  }
  const auto& cost = std::get<banks::Cost>(outcome);
  if (cost.passes == row.passes && cost.conflicts == row.conflicts) return {};
  text << "row " << row.id << ": measured " << row.passes << " passes, " << row.conflicts << " conflicts; model "
       << cost.passes << ", " << cost.conflicts << '\n';
  return text.str();
}

struct MeasuredCopy {
  std::string cache;  ///< "ca": through the L1 cache; "cg": past it
  unsigned width = 0;
  std::uint64_t mask = 0;
  std::array<std::uint32_t, 32> addresses{}, sources{};
  std::uint64_t copies = 1;      ///< of this kind in the kernel
  std::uint64_t zero_lanes = 0;  ///< lanes that write zeros instead
  std::uint64_t passes = 0;      ///< of all copies
  std::optional<unsigned> conflicts;

  banks::Access access() const { return {banks::Operation::cp_async, width, mask, addresses, sources}; }
};

std::vector<MeasuredCopy> copies_in(const std::string& name) {
  std::vector<MeasuredCopy> rows;
  for (const Fields& row : rows_in(name)) {
    MeasuredCopy& copy = rows.emplace_back();
    copy.cache = row.text("cache");
    copy.width = unsigned(row.number("width"));
    copy.mask = row.number("mask");
    copy.addresses = row.lanes("a");
    copy.sources = row.lanes("s");
    copy.copies = row.number_or("copies", 1);
    copy.zero_lanes = row.number_or("zero_lanes", 0);
    copy.passes = row.number("passes");
    if (row.has("conflicts")) copy.conflicts = unsigned(row.number("conflicts"));
  }
  return rows;
}

/// Copies of one warp. Those past the L1 cache are not used: in this measurement the counter read 0 for each of them,
/// and in some of its variants also for copies through the cache.
std::vector<MeasuredCopy> single_copies() {
  auto rows = copies_in("h200_cp_async.csv");
  std::erase_if(rows, [](const MeasuredCopy& row) { return row.cache != "ca"; });
  return rows;
}

/// The single copies for which this does not hold.
unsigned wrong_rows(const std::function<bool(const MeasuredCopy&)>& agrees) {
  const auto rows = single_copies();
  return unsigned(std::count_if(rows.begin(), rows.end(), std::not_fn(agrees)));
}

bool agrees(const banks::Architecture& architecture, const banks::Access& access, const MeasuredCopy& row) {
  const auto outcome = banks::cost(architecture, access);
  const auto* cost = std::get_if<banks::Cost>(&outcome);
  return cost != nullptr && row.copies * cost->passes == row.passes &&
         (!row.conflicts || cost->conflicts == *row.conflicts);
}

const banks::Architecture& hopper() { return *banks::find_architecture("sm_90"); }

}  // namespace

TEST_CASE("banks/measured/sm_90") {
  const auto rows = measured_rows();
  REQUIRE(rows.size() == 2480);
  const banks::Architecture* architecture = banks::find_architecture("sm_90");
  REQUIRE(architecture != nullptr);
  unsigned wrong = 0;
  std::string first_few;
  for (const MeasuredRow& row : rows) {
    const std::string text = difference(*architecture, row);
    if (!text.empty() && ++wrong <= 5) first_few += text;
  }
  INFO(first_few);
  CHECK(wrong == 0);
}

// Atomics on floating-point numbers and on 64 bits, one warp alone. The counter of loads counts some lane groups of 8
// bytes twice that have merged, so the sum may be less there.
TEST_CASE("banks/measured/atomics") {
  const auto rows = rows_in("h200_atomics.csv");
  REQUIRE(rows.size() == 1066);
  unsigned instructions = 0, wrong = 0, wide_loops = 0, equal_loops = 0;
  for (const Fields& row : rows) {
    const auto lanes = row.lanes("a");
    const std::string& instruction = row.text("instruction");
    const bool swaps = instruction.starts_with("cas.");
    banks::Access access{swaps ? banks::Operation::atomic_cas : banks::Operation::atomic, unsigned(row.number("width")),
                         row.number("mask"), lanes};
    if (swaps || instruction.starts_with("exch.")) {
      const auto cost = banks::cost(hopper(), access);
      REQUIRE(std::holds_alternative<banks::Cost>(cost));
      wrong += std::get<banks::Cost>(cost).passes != row.number("passes") ? 1 : 0;
      ++instructions;
      continue;
    }
    const auto loop = trace::loop_cost(hopper(), access.operation, access, 1);
    REQUIRE(loop);
    CHECK(loop->more == 0);
    const std::uint64_t counted = row.number("passes") + row.number("load_passes");
    if (access.width == 4) {
      wrong += loop->least.passes != counted ? 1 : 0;
    } else {
      wrong += loop->least.passes > counted ? 1 : 0;
      equal_loops += loop->least.passes == counted ? 1 : 0;
      ++wide_loops;
    }
  }
  CHECK(wrong == 0);
  CHECK(instructions == 415);
  CHECK(wide_loops == 296);
  CHECK(equal_loops == 271);
}

TEST_CASE("banks/measured/sectors") {
  const auto rows = rows_in("h200_sectors.csv");
  REQUIRE(rows.size() == 264);
  unsigned wrong = 0, wrong_by_lines = 0;  // the second is the negative control
  for (const Fields& row : rows) {
    const auto lanes = row.lanes("a");
    const auto cost =
        banks::sectors(hopper(), {banks::Operation::load, unsigned(row.number("width")), row.number("mask"), lanes});
    REQUIRE(cost);
    wrong += cost->sectors != row.number("sectors") ? 1 : 0;
    wrong_by_lines += 4 * cost->lines != row.number("sectors") ? 1 : 0;
    CHECK(cost->ideal <= cost->sectors);
  }
  CHECK(wrong == 0);
  CHECK(wrong_by_lines > 100);
}

TEST_CASE("banks/measured/others_disagree") {
  // The negative control of the test above: it distinguishes architectures.
  for (const char* name : {"sm_13", "sm_20", "sm_30", "gfx942", "gfx1100", "intel_xe"}) {
    const banks::Architecture* architecture = banks::find_architecture(name);
    INFO(name);
    REQUIRE(architecture != nullptr);
    unsigned wrong = 0;
    for (const MeasuredRow& row : measured_rows()) wrong += difference(*architecture, row).empty() ? 0 : 1;
    CHECK(wrong > 100);
  }
}

TEST_CASE("banks/measured/copies") {
  const auto rows = single_copies();
  CHECK(rows.size() == 475);
  CHECK(std::count_if(rows.begin(), rows.end(), [](auto& row) { return row.conflicts > 0U; }) > 300);
  CHECK(wrong_rows([](const MeasuredCopy& row) { return agrees(hopper(), row.access(), row); }) == 0);
  // 1 to 8 warps, 1 to 264 blocks, with cold and warm caches, with and without waiting for each copy.
  unsigned through = 0, past = 0, some_zeros = 0;
  for (const MeasuredCopy& row : copies_in("h200_cp_async_kernels.csv")) {
    const bool all_or_none = row.zero_lanes == 0 || row.zero_lanes == row.mask;
    INFO(row.cache << ", " << row.width << " bytes, " << row.copies << " copies, " << row.passes << " passes");
    CHECK(agrees(hopper(), row.access(), row) == all_or_none);
    (all_or_none ? row.cache == "ca" ? through : past : some_zeros) += 1;
    // A warp that fills only some lanes with zeros takes more.
    if (!all_or_none) CHECK(row.passes > 4 * row.copies);
  }
  CHECK(through == 26);
  CHECK(past == 26);
  CHECK(some_zeros == 7);
}

TEST_CASE("banks/measured/near_rules_disagree") {
  // The negative control of the first test.
  const auto with = [](const std::function<void(banks::Rule&)>& change) {
    std::vector<banks::Rule> rules(hopper().rules.begin(), hopper().rules.end());
    for (banks::Rule& rule : rules) {
      if (rule.serving == banks::Serving::copies) change(rule);
    }
    banks::Architecture changed = hopper();
    changed.rules = rules;
    return wrong_rows([&](const MeasuredCopy& row) { return agrees(changed, row.access(), row); });
  };
  CHECK(with([](banks::Rule&) {}) == 0);
  CHECK(with([](banks::Rule& rule) { rule.serving = banks::Serving::lanes; }) > 100);  // destinations only
  CHECK(with([](banks::Rule& rule) { rule.serving = banks::Serving::words; }) > 100);  // equal words merge
  CHECK(with([](banks::Rule& rule) { rule.lane_groups = banks::consecutive(32); }) > 100);
  CHECK(with([](banks::Rule& rule) { rule.banks = {64, 4, 256}; }) > 100);
  // Destinations and sources exchanged: the rule is symmetric.
  CHECK(wrong_rows([](const MeasuredCopy& row) {
          banks::Access access = row.access();
          std::swap(access.addresses, access.sources);
          return agrees(hopper(), access, row);
        }) == 0);
  // The busier of both sides, which is a lower bound, and their sum.
  CHECK(wrong_rows([](const MeasuredCopy& row) {
          banks::Access to = row.access(), from = row.access();
          to.sources = to.addresses;
          from.addresses = from.sources;
          const auto passes = [](const banks::Access& access) {
            return std::get<banks::Cost>(banks::cost(hopper(), access)).passes;
          };
          return std::max(passes(to), passes(from)) == row.passes;
        }) > 30);
}
