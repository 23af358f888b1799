#include "bankcheck/predict/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::predict {
namespace {

std::string range(unsigned least, unsigned greatest) {
  return least == greatest ? std::to_string(least) : fmt::format("{} to {}", least, greatest);
}

std::string subject(const Prediction& prediction) {
  return fmt::format("{}: {}-byte {}, element {}", prediction.architecture->name, prediction.width,
                     to_string(prediction.operation), prediction.index);
}

}  // namespace

void find_cost(Prediction& prediction, Space space, std::span<const std::uint32_t> sources) {
  banks::Access access = prediction.access();
  access.sources = sources;
  if (space == Space::global) {
    const auto outcome = sectors_or_refusal(*prediction.architecture, access);
    if (const auto* sentence = std::get_if<std::string>(&outcome)) throw support::UsageError(*sentence);
    prediction.sectors = std::get<banks::SectorCost>(outcome);
    return;
  }
  const auto outcome = banks::cost(*prediction.architecture, access);
  if (const auto* refusal = std::get_if<banks::Refusal>(&outcome)) {
    throw support::UsageError(banks::sentence(*prediction.architecture, access, *refusal));
  }
  prediction.cost = std::get<banks::Cost>(outcome);
}

Prediction predict_index(const banks::Architecture& architecture, banks::Operation operation, unsigned width,
                         std::uint64_t mask, const std::string& index, const IndexNames& names,
                         const std::optional<ArrayDeclaration>& array, Space space, std::uint32_t base) {
  Prediction result{&architecture, index, operation, width, mask, std::vector<std::uint32_t>(banks::max_lanes)};
  unsigned bytes = array ? array->bytes : std::max(width, 1U);
  std::uint64_t elements = array ? 1 : 0;  // 0: not known
  for (std::size_t i = 0; array && i < array->extents.size(); ++i) elements *= array->extents[i];
  try {
    std::optional<CuteLayout> layout;  // of the lanes
    if (!array && looks_like_cute_layout(index)) layout.emplace(index);
    if (layout && layout->element_bytes() > 0) bytes = layout->element_bytes();
    const IndexExpression expression(layout ? "tid" : element_number(index, array), names);
    result.other_lane = expression.other_lane();
    for (unsigned lane = 0; lane < banks::max_lanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      std::int64_t element = expression(lane);
      if (const std::uint64_t number = lane; layout) element = std::int64_t((*layout)({&number, 1}));
      if (element < 0) throw ExpressionError(fmt::format("element {} of lane {} is negative", element, lane));
      if (element > std::int64_t{0xFFFFFFFF - base} / bytes) {
        throw ExpressionError(fmt::format("element {} of lane {} has no address below 4 GiB", element, lane));
      }
      if (elements > 0 && std::uint64_t(element) >= elements) {
        throw ExpressionError(fmt::format("element {} of lane {} is past the end of {}, which has {}", element, lane,
                                          array->name, elements));
      }
      result.addresses[lane] = base + std::uint32_t(element) * bytes;
    }
  } catch (const ExpressionError& error) {
    throw support::UsageError(fmt::format("--index {}: {}", support::in_quotes(index, 60), error.what()));
  }
  find_cost(result, space);
  return result;
}

std::string text_of(const Prediction& prediction, unsigned columns) {
  if (prediction.sectors) return global_text_of(prediction, columns);
  const banks::Cost& cost = prediction.cost;
  const banks::Rule& rule = *banks::find_rule(*prediction.architecture, prediction.operation, prediction.width);
  std::string text = subject(prediction) + '\n';
  text += fmt::format("passes {}, ideal {}, conflicts {}\n", range(cost.passes, cost.passes_max), cost.ideal,
                      range(cost.conflicts, cost.conflicts_max));
  if (cost.merged_by != 0) {
    text +=
        fmt::format("lanes n and n^{} have the same address: neighbouring lane groups are merged\n", cost.merged_by);
  }
  if (!prediction.other_lane.empty()) text += fmt::format("'{}' is the lane number\n", prediction.other_lane);
  if (!prediction.architecture->note.empty()) text += fmt::format("note: {}\n", prediction.architecture->note);
  text += fmt::format("rule: {} ({})\n", rule.source, to_string(rule.evidence));
  return text + picture_text(prediction, columns, "; --svg or --json shows all");
}

std::string picture_text(const Prediction& prediction, unsigned columns, std::string_view hint) {
  constexpr unsigned max_turns = 4, max_lane_groups = 2;
  BankPicture shown = picture(*prediction.architecture, prediction.access(), prediction.cost);
  const std::size_t lane_groups = shown.lane_groups.size();
  shown.lane_groups.resize(std::min<std::size_t>(lane_groups, max_lane_groups));
  const std::string text = to_text(shown, columns, max_turns);
  if (lane_groups <= max_lane_groups) return text;
  const std::string more = support::plural(lane_groups - max_lane_groups, "more lane group", "more lane groups");
  return text + fmt::format("\nand {}{}\n", more, hint);
}

std::string json_of(const Prediction& prediction) {
  if (prediction.sectors) return global_json_of(prediction);
  const banks::Cost& cost = prediction.cost;
  const banks::Rule& rule = *banks::find_rule(*prediction.architecture, prediction.operation, prediction.width);
  nlohmann::ordered_json lane_groups = nlohmann::ordered_json::array();
  for (unsigned i = 0; i < cost.lane_group_count; ++i) {
    const auto& lane_group = cost.lane_groups[i];
    lane_groups.push_back({{"lanes", lane_ranges(lane_group.lanes)},
                           {"first_byte", lane_group.first_byte},
                           {"passes", lane_group.passes},
                           {"passes_max", lane_group.passes_max}});
  }
  const nlohmann::ordered_json json{{"schema_version", 1},
                                    {"architecture", prediction.architecture->name},
                                    {"operation", to_string(prediction.operation)},
                                    {"width", prediction.width},
                                    {"index", prediction.index},
                                    {"mask", fmt::format("{:#x}", prediction.mask)},
                                    {"passes", cost.passes},
                                    {"ideal", cost.ideal},
                                    {"conflicts", cost.conflicts},
                                    {"passes_max", cost.passes_max},
                                    {"conflicts_max", cost.conflicts_max},
                                    {"merged_by", cost.merged_by},
                                    {"lane_groups", lane_groups},
                                    {"evidence", to_string(rule.evidence)},
                                    {"source", rule.source},
                                    {"note", prediction.architecture->note}};
  return json.dump(2) + '\n';
}

std::string svg_of(const Prediction& prediction) {
  const banks::Cost& cost = prediction.cost;
  return to_svg(picture(*prediction.architecture, prediction.access(), cost),
                fmt::format("{}: passes {}, conflicts {}", subject(prediction), range(cost.passes, cost.passes_max),
                            range(cost.conflicts, cost.conflicts_max)));
}

}  // namespace bankwise::predict
