// The model against numbers that others published: tests/data/published_numbers.csv, one access a row, with its link.
// A row in which the model differs says why. docs/bank_model.md describes the columns.
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "bankcheck/predict/predict.hpp"
#include "tests/bank_patterns.hpp"
#include "tests/banks/measured_fields.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using predict::IndexExpression;

namespace {

std::vector<std::uint32_t> values_of(const std::string& formula, std::uint64_t mask) {
  std::vector<std::uint32_t> values;
  if (formula.empty()) return values;
  const IndexExpression expression(formula);
  values.resize(banks::max_lanes);
  banks::for_each_lane(mask, [&](unsigned lane) { values[lane] = std::uint32_t(expression(lane)); });
  return values;
}

/// The cost of the row's access, or nothing if the model refuses it.
std::optional<banks::Cost> cost_of(const banks::Architecture& architecture, const Fields& row) {
  const std::uint64_t mask = row.number("mask");
  const auto addresses = values_of(row.text("address"), mask), sources = values_of(row.text("source_address"), mask);
  const auto outcome = banks::cost(architecture, {*banks::operation_named(row.text("operation")),
                                                  unsigned(row.number("width")), mask, addresses, sources});
  const auto* cost = std::get_if<banks::Cost>(&outcome);
  return cost == nullptr ? std::nullopt : std::optional(*cost);
}

/// Whether two lanes conflict that access different words of one bank: lanes a and b at 0 and at `distance` bytes.
bool conflict(const banks::Architecture& architecture, const Fields& row, unsigned a, unsigned b,
              std::uint32_t distance) {
  std::vector<std::uint32_t> addresses(banks::max_lanes);
  addresses[b] = distance;
  const auto outcome =
      banks::cost(architecture, {*banks::operation_named(row.text("operation")), unsigned(row.number("width")),
                                 std::uint64_t{1} << a | std::uint64_t{1} << b, addresses});
  return std::get<banks::Cost>(outcome).conflicts > 0;
}

/// "0-3+20-23 4-7+16-19": lanes that conflict with each other when they access different words of one bank.
std::string lane_groups_of(const banks::Architecture& architecture, const Fields& row) {
  const unsigned lanes = unsigned(std::bit_width(row.number("mask")));
  std::string text;
  std::set<unsigned> placed;
  for (unsigned first = 0; first < lanes; ++first) {
    if (placed.contains(first)) continue;
    std::uint64_t group = std::uint64_t{1} << first;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (lane != first && conflict(architecture, row, first, lane, 1024)) group |= std::uint64_t{1} << lane;
    }
    banks::for_each_lane(group, [&](unsigned lane) { placed.insert(lane); });
    std::string ranges = predict::lane_ranges(group);
    for (std::size_t comma; (comma = ranges.find(", ")) != std::string::npos;) ranges.replace(comma, 2, "+");
    text += (text.empty() ? "" : " ") + ranges;
  }
  return text;
}

/// "32 64 96": how many words lanes 0 and 1 must be apart to conflict, if less than 128.
std::string distances_of(const banks::Architecture& architecture, const Fields& row) {
  const auto words = std::uint32_t(row.number("width") / 4);
  const std::uint32_t step = std::bit_ceil(words);  // aligned
  std::string text;
  for (std::uint32_t apart = step; apart < 128; apart += step) {
    if (!conflict(architecture, row, 0, 1, 4 * apart)) continue;
    text += (text.empty() ? "" : " ") + std::to_string(apart);
  }
  return text;
}

unsigned ways_of(const banks::Cost& cost) {
  unsigned ways = 0;
  for (unsigned i = 0; i < cost.lane_group_count; ++i) ways = std::max<unsigned>(ways, cost.lane_groups[i].passes);
  return ways;
}

/// What the model says of the row, in the row's quantity and words. Times have none.
std::string computed(const banks::Architecture& architecture, const Fields& row) {
  const std::string& quantity = row.text("quantity");
  if (quantity == "lane groups") return lane_groups_of(architecture, row);
  if (quantity == "distances") return distances_of(architecture, row);
  if (quantity == "banks") {
    const auto* rule =
        banks::find_rule(architecture, *banks::operation_named(row.text("operation")), unsigned(row.number("width")));
    return std::to_string(rule->banks.count);
  }
  const auto cost = cost_of(architecture, row);
  if (!cost) return "refused";
  const std::uint64_t instructions = row.number("instructions");
  if (quantity == "passes/conflicts") return std::to_string(cost->passes) + "/" + std::to_string(cost->conflicts);
  if (quantity == "passes") return std::to_string(cost->passes * instructions);
  if (quantity == "conflicts") return std::to_string(cost->conflicts * instructions);
  if (quantity == "cycles") return std::to_string(cost->conflicts + cost->floor);
  if (quantity == "ways") return std::to_string(ways_of(*cost));
  return "no such quantity";
}

const banks::Architecture& architecture_of(const Fields& row) {
  const auto* architecture = banks::find_architecture(row.text("gpu"));
  if (architecture == nullptr) throw std::runtime_error("no GPU " + row.text("gpu"));
  return *architecture;
}

std::string to_text(const Fields& row) {
  return row.text("gpu") + ", " + row.text("instruction") + ", " + row.text("address") + ", " + row.text("quantity") +
         ", " + row.text("link");
}

bool is_time(const Fields& row) { return row.text("quantity") == "time" || row.text("quantity") == "order"; }

struct Timed {
  double time;
  unsigned passes;
  Fields row;
};

/// Times of one source, GPU and width, fewest passes first.
std::map<std::string, std::vector<Timed>> series_of(const std::string& quantity) {
  std::map<std::string, std::vector<Timed>> series;
  for (const Fields& row : rows_in("published_numbers.csv")) {
    if (row.text("quantity") != quantity) continue;
    series[row.text("link") + row.text("gpu") + row.text("width")].push_back(
        {std::stod(row.text("stated")), cost_of(architecture_of(row), row)->passes, row});
  }
  for (auto& [name, times] : series) std::ranges::stable_sort(times, {}, &Timed::passes);
  return series;
}

}  // namespace

TEST_CASE("predict/published_numbers/equal_or_explained") {
  const std::vector<Fields> rows = rows_in("published_numbers.csv");
  CHECK(rows.size() >= 150);
  unsigned explained = 0;
  for (const Fields& row : rows) {
    INFO(to_text(row));
    CHECK(row.text("link").starts_with("https://"));
    CHECK(std::set<std::string>{"counter", "time", "simulator", "vendor", "program", "reckoned"}.contains(
        row.text("evidence")));
    if (is_time(row)) continue;
    const std::string& model = row.text("model");
    CHECK(computed(architecture_of(row), row) == (model.empty() ? row.text("stated") : model));
    CHECK(model != row.text("stated"));
    if (model.empty()) continue;
    ++explained;
    CHECK(!row.text("note").empty());
  }
  CHECK(explained < rows.size() / 8);
}

// "time": in proportion to the passes.
TEST_CASE("predict/published_numbers/times") {
  for (const auto& [name, times] : series_of("time")) {
    const double longest = std::ranges::max(times, {}, &Timed::time).time, most = times.back().passes;
    for (const Timed& each : times) {
      INFO(to_text(each.row));
      CAPTURE(each.time / longest, each.passes / most);
      CHECK((std::abs(each.time / longest - each.passes / most) <= 0.05 || !each.row.text("note").empty()));
    }
  }
}

// "order": too much else takes time to compare more than which access takes longer.
TEST_CASE("predict/published_numbers/order") {
  for (const auto& [name, times] : series_of("order")) {
    for (std::size_t i = 1; i < times.size(); ++i) {
      const Timed &less = times[i - 1], &more = times[i];
      INFO(to_text(more.row));
      CAPTURE(less.time, more.time);
      CHECK((less.passes < more.passes ? less.time < more.time : std::abs(1 - less.time / more.time) < 0.04));
    }
  }
}

TEST_CASE("predict/published_numbers/other_rules_differ") {
  const std::pair<const char*, const char*> exchanged[]{
      {"gfx942", "gfx1201"}, {"gfx950", "gfx942"}, {"gfx1100", "gfx1201"}, {"gfx1250", "gfx1201"}, {"sm_120", "sm_20"}};
  for (const auto& [gpu, other] : exchanged) {
    unsigned different = 0;
    for (const Fields& row : rows_in("published_numbers.csv")) {
      if (row.text("gpu") != gpu || is_time(row)) continue;
      const std::string expected = row.text("model").empty() ? row.text("stated") : row.text("model");
      different += computed(*banks::find_architecture(other), row) == expected ? 0 : 1;
    }
    INFO(gpu << " by the rules of " << other);
    CHECK(different > 0);
  }
}
