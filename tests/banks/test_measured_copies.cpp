// SPDX-License-Identifier: MIT
//
// The model's cost of every cp.async measured on an H200 equals the hardware counter, and near misses of the rule do
// not.
#include <array>
#include <fstream>
#include <functional>
#include <sstream>

#include "tests/bank_patterns.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

struct MeasuredCopy {
  banks::Operation operation = banks::Operation::cp_async;
  unsigned width = 0, passes = 0, conflicts = 0;
  std::uint64_t mask = 0;
  std::array<std::uint32_t, 32> addresses{}, sources{};

  banks::Access access() const { return {operation, width, mask, addresses, sources}; }
};

/// Columns: id, op, width, mask, 32 destinations, 32 sources, passes, conflicts.
std::vector<MeasuredCopy> measured_copies() {
  std::ifstream file(SOURCE_DIRECTORY "/tests/data/h200_cp_async.csv");
  std::vector<MeasuredCopy> rows;
  std::string line;
  std::getline(file, line);  // the columns' names
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (fields.size() != 4 + 32 + 32 + 2) throw std::runtime_error("not a row: " + line);
    const auto number = [&](std::size_t field) { return std::stoull(fields[field], nullptr, 0); };
    MeasuredCopy& row = rows.emplace_back();
    row.operation = banks::operation_named(fields[1]).value();
    row.width = unsigned(number(2)), row.mask = number(3);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      row.addresses[lane] = std::uint32_t(number(4 + lane));
      row.sources[lane] = std::uint32_t(number(36 + lane));
    }
    row.passes = unsigned(number(68)), row.conflicts = unsigned(number(69));
  }
  return rows;
}

/// The rows of cp.async for which this is not what was measured.
unsigned wrong_rows(const std::function<bool(const MeasuredCopy&)>& agrees) {
  unsigned wrong = 0;
  for (const MeasuredCopy& row : measured_copies()) {
    if (row.operation == banks::Operation::cp_async && !agrees(row)) ++wrong;
  }
  return wrong;
}

bool agrees(const banks::Architecture& architecture, const banks::Access& access, const MeasuredCopy& row) {
  const auto outcome = banks::cost(architecture, access);
  const auto* cost = std::get_if<banks::Cost>(&outcome);
  return cost != nullptr && cost->passes == row.passes && cost->conflicts == row.conflicts;
}

const banks::Architecture& hopper() {
  return *banks::find_architecture("sm_90");
}

}  // namespace

TEST_CASE("the model agrees with all copies measured on sm_90 (measured)") {
  const auto rows = measured_copies();
  CHECK(rows.size() == 800);
  unsigned through_l1 = 0, conflicts = 0;
  for (const MeasuredCopy& row : rows) {
    through_l1 += row.operation == banks::Operation::cp_async ? 1 : 0;
    conflicts += row.conflicts > 0 ? 1 : 0;
  }
  CHECK(through_l1 == 475);
  CHECK(conflicts > 300);
  CHECK(wrong_rows([](const MeasuredCopy& row) { return agrees(hopper(), row.access(), row); }) == 0);
}

TEST_CASE("a copy past the L1 cache took no pass when one warp ran alone (measured)") {
  unsigned rows = 0;
  for (const MeasuredCopy& row : measured_copies()) {
    if (row.operation != banks::Operation::cp_async_cg) continue;
    ++rows;
    CHECK(row.width == 16);
    CHECK(row.passes == 0);
    CHECK(row.conflicts == 0);
  }
  CHECK(rows == 325);
}

TEST_CASE("rules that nearly fit the measured copies disagree with some of them") {
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
