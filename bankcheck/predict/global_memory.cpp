// Accesses to global memory: their cost in sectors, and how it is shown.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <bankwise/banks/address_shape.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/predict/predict.hpp"

namespace bankwise::predict {
namespace {

std::uint64_t moved(const Prediction& prediction) {
  return std::uint64_t{prediction.sectors->sectors} * prediction.architecture->sectors.fact->sector_bytes;
}

std::string shape_of(const Prediction& prediction) {
  return banks::shape_in_words(prediction.width, prediction.mask, prediction.addresses,
                               prediction.architecture->sectors.fact->sector_bytes);
}

/// The lanes of a cell, as ranges if they are short.
std::string lanes_in_cell(std::uint64_t lanes, std::size_t longest) {
  if (lanes == 0) return ".";
  std::string ranges = lane_ranges(lanes);
  return ranges.size() <= longest ? ranges : fmt::format("{} lanes", std::popcount(lanes));
}

std::string picture_text(const Prediction& prediction, unsigned columns) {
  constexpr std::size_t max_rows = 8;
  const std::vector<SectorRow> rows = sector_rows(*prediction.architecture, prediction.access());
  const std::uint64_t sector = prediction.architecture->sectors.fact->sector_bytes;
  const std::size_t cell = std::clamp(columns, 62U, 78U) / 4 - 6;
  const auto line = [&](const std::string& byte, auto cell_text, const std::string& used) {
    std::string text = fmt::format("  {:<13}", byte);
    for (unsigned i = 0; i < 4; ++i) text += fmt::format("{:<{}} ", cell_text(i), cell);
    return text + fmt::format("{:>7}\n", used);
  };
  std::string text = line(
      "byte", [&](unsigned i) { return fmt::format("+{}", i * sector); }, "used");
  for (std::size_t i = 0; i < std::min(rows.size(), max_rows); ++i) {
    const SectorRow& row = rows[i];
    const auto touched = row.lanes.size() - std::uint64_t(std::count(row.lanes.begin(), row.lanes.end(), 0U));
    text += line(
        support::grouped(row.first_byte), [&](unsigned at) { return lanes_in_cell(row.lanes[at], cell); },
        fmt::format("{:.1f} %", used_percent(row.bytes, touched * sector)));
  }
  if (rows.size() <= max_rows) return text;
  return text + fmt::format("  and {}\n", support::plural(rows.size() - max_rows, "more row", "more rows"));
}

}  // namespace

double used_percent(std::uint64_t bytes, std::uint64_t moved) {
  return moved == 0 ? 100 : 100 * double(bytes) / double(moved);
}

std::variant<banks::SectorCost, std::string> sectors_or_refusal(const banks::Architecture& architecture,
                                                                const banks::Access& access) {
  using enum banks::Refusal::Reason;
  if (banks::matrix_rows(access.operation) > 0) {
    return fmt::format("{} accesses shared memory only", to_string(access.operation));
  }
  if (!std::set{1U, 2U, 4U, 8U, 12U, 16U}.contains(access.width)) {
    return fmt::format("no lane accesses {} bytes of global memory, only 1, 2, 4, 8, 12 or 16", access.width);
  }
  if (!architecture.sectors.fact) {
    return fmt::format("no cost for global memory on {}: {}", architecture.name, architecture.sectors.why_unknown);
  }
  const unsigned unit = access.width == 12 ? 4 : access.width;
  std::optional<banks::Refusal> refusal;
  banks::for_each_lane(access.mask, [&](unsigned lane) {
    if (refusal) return;
    if (lane >= architecture.lanes)
      refusal = banks::Refusal{lane_beyond_warp, lane};
    else if (lane >= access.addresses.size())
      refusal = banks::Refusal{address_missing, lane};
    else if (access.addresses[lane] % unit != 0)
      refusal = banks::Refusal{misaligned, lane};
  });
  if (refusal) return banks::sentence(architecture, access, *refusal);
  return banks::sectors(architecture, access).value_or(banks::SectorCost{});
}

std::vector<SectorRow> sector_rows(const banks::Architecture& architecture, const banks::Access& access) {
  const std::uint64_t sector = architecture.sectors.fact->sector_bytes;
  std::map<std::uint64_t, SectorRow> rows;
  std::set<std::uint64_t> bytes;
  banks::for_each_lane(access.mask, [&](unsigned lane) {
    for (unsigned i = 0; i < access.width; ++i) {
      const std::uint64_t byte = std::uint64_t{access.addresses[lane]} + i, number = byte / (4 * sector);
      SectorRow& row = rows[number];
      row.first_byte = number * 4 * sector;
      row.lanes[byte / sector % 4] |= std::uint64_t{1} << lane;
      row.bytes += bytes.insert(byte).second ? 1 : 0;
    }
  });
  std::vector<SectorRow> list;
  for (const auto& [number, row] : rows) list.push_back(row);
  return list;
}

std::string global_text_of(const Prediction& prediction, unsigned columns) {
  const banks::SectorCost& cost = *prediction.sectors;
  const banks::Sectors& sizes = *prediction.architecture->sectors.fact;
  std::string text = fmt::format("{}, global memory: {}-byte {}, element {}\n", prediction.architecture->name,
                                 prediction.width, to_string(prediction.operation), prediction.index);
  text += fmt::format("sectors {}, ideal {}, cache lines {}; of {} moved, used {:.1f} %\n", cost.sectors, cost.ideal,
                      cost.lines, support::plural(moved(prediction), "byte", "bytes"),
                      used_percent(cost.bytes, moved(prediction)));
  if (const std::string shape = shape_of(prediction); !shape.empty()) text += shape + '\n';
  const banks::Rule* rule = banks::find_rule(*prediction.architecture, banks::Operation::load, prediction.width);
  if (prediction.width == 12 && rule != nullptr && request_bytes(*rule, 12) == 4) {
    text += "three accesses of 4 bytes, since no instruction moves 12\n";
  }
  if (!prediction.other_lane.empty()) text += fmt::format("'{}' is the lane number\n", prediction.other_lane);
  text += fmt::format("rule: sectors of {} bytes, cache lines of {}; {} ({})\n", sizes.sector_bytes, sizes.line_bytes,
                      sizes.source, to_string(sizes.evidence));
  return prediction.mask == 0 ? text : text + '\n' + picture_text(prediction, columns);
}

std::string global_json_of(const Prediction& prediction) {
  const banks::SectorCost& cost = *prediction.sectors;
  const banks::Sectors& sizes = *prediction.architecture->sectors.fact;
  nlohmann::ordered_json touched = nlohmann::ordered_json::array();
  for (const SectorRow& row : sector_rows(*prediction.architecture, prediction.access())) {
    for (unsigned i = 0; i < row.lanes.size(); ++i) {
      if (row.lanes[i] == 0) continue;
      touched.push_back({{"first_byte", row.first_byte + std::uint64_t{i} * sizes.sector_bytes},
                         {"lanes", lane_ranges(row.lanes[i])}});
    }
  }
  const nlohmann::ordered_json json{{"schema_version", 1},
                                    {"architecture", prediction.architecture->name},
                                    {"space", "global"},
                                    {"operation", to_string(prediction.operation)},
                                    {"width", prediction.width},
                                    {"index", prediction.index},
                                    {"mask", fmt::format("{:#x}", prediction.mask)},
                                    {"sectors", cost.sectors},
                                    {"ideal", cost.ideal},
                                    {"lines", cost.lines},
                                    {"bytes", cost.bytes},
                                    {"bytes_moved", moved(prediction)},
                                    {"used_percent", used_percent(cost.bytes, moved(prediction))},
                                    {"shape", shape_of(prediction)},
                                    {"touched", touched},
                                    {"sector_bytes", sizes.sector_bytes},
                                    {"line_bytes", sizes.line_bytes},
                                    {"evidence", to_string(sizes.evidence)},
                                    {"source", sizes.source}};
  return json.dump(2) + '\n';
}

}  // namespace bankwise::predict
