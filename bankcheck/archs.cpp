// SPDX-License-Identifier: MIT
#include "archs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "bank_picture.hpp"
#include "bankwise/banks/architecture.hpp"
#include "bankwise/console/table.hpp"

namespace bankwise {
namespace {

using banks::Architecture;
using banks::Rule;

std::string list(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> operations_of(const Rule& rule) {
  std::vector<std::string> names;
  for (int i = 0; i < banks::operation_count; ++i) {
    if ((rule.operations >> i & 1) != 0) names.emplace_back(to_string(banks::Operation(i)));
  }
  return names;
}

std::vector<unsigned> widths_of(const Rule& rule) {
  std::vector<unsigned> widths;
  for (unsigned width = 1; width <= 16; ++width) {
    if ((rule.widths >> width & 1) != 0) widths.push_back(width);
  }
  return widths;
}

/// The lanes of each phase that has some of the architecture's lanes.
std::vector<std::string> phases_of(const Architecture& architecture, const Rule& rule) {
  std::vector<std::string> phases;
  for (unsigned i = 0; i < rule.phases.count; ++i) {
    const auto lanes = rule.phases.lanes[i] & (~std::uint64_t{0} >> (banks::most_lanes - architecture.lanes));
    if (lanes != 0) phases.push_back(lane_ranges(lanes));
  }
  return phases;
}

std::string served(const Architecture& architecture, const Rule& rule) {
  constexpr std::string_view servings[]{"", "; lanes of one bank queue, even for the same word",
                                        "; lanes of one bank queue unless they want the same bytes",
                                        "; one word a step goes to all of its lanes"};
  std::string text = fmt::format("lanes {{{}}}, {} banks of {} bytes", fmt::join(phases_of(architecture, rule), "} {"),
                                 rule.banks.count, rule.banks.bytes);
  if (rule.request_bytes != 0) text += fmt::format(", in requests of {} bytes", rule.request_bytes);
  if (rule.merges) text += ", neighbours merged where lanes n and n^1, or n and n^2, agree";
  if (rule.total == banks::Total::worst) text += ", the worst counts";
  if (rule.total == banks::Total::worst_plus_one) text += ", the worst and one more count";
  if (rule.rounds > 1) text += fmt::format(", {} passes a turn", rule.rounds);
  return text + std::string(servings[int(rule.serving)]);
}

std::string blocks(const Architecture& architecture) {
  std::string text = fmt::format("\n{}\n", architecture.name);
  if (!architecture.note.empty()) text += fmt::format("  {}\n", architecture.note);
  for (const Rule& rule : architecture.rules) {
    text += fmt::format("  {}, {} bytes: ", list(operations_of(rule)), fmt::join(widths_of(rule), "/"));
    if (!rule.refusal.empty()) {
      text += fmt::format("{}\n", rule.refusal);
    } else {
      text += fmt::format("{}\n      {}: {}\n", served(architecture, rule), to_string(rule.evidence), rule.source);
    }
  }
  return text;
}

}  // namespace

std::string architectures_text() {
  std::vector<std::vector<std::string>> rows{{"name", "also", "warp", "GPUs"}};
  std::string details;
  for (const Architecture& architecture : banks::architectures()) {
    rows.push_back({std::string(architecture.name), std::string(architecture.aliases),
                    std::to_string(architecture.warp), std::string(architecture.gpus)});
    details += blocks(architecture);
  }
  return format_table(rows, 2, true) + details;
}

std::string architectures_json() {
  nlohmann::ordered_json all = nlohmann::json::array();
  for (const Architecture& architecture : banks::architectures()) {
    nlohmann::ordered_json rules = nlohmann::json::array();
    for (const Rule& rule : architecture.rules) {
      nlohmann::ordered_json json{{"operations", operations_of(rule)}, {"widths", widths_of(rule)}};
      if (rule.refusal.empty()) {
        json["phases"] = phases_of(architecture, rule);
        json["banks"] = rule.banks.count;
        json["bank_bytes"] = rule.banks.bytes;
        json["served"] = served(architecture, rule);
        json["evidence"] = to_string(rule.evidence);
        json["source"] = rule.source;
      } else {
        json["refusal"] = rule.refusal;
      }
      rules.push_back(std::move(json));
    }
    all.push_back({{"name", architecture.name},
                   {"aliases", architecture.aliases},
                   {"gpus", architecture.gpus},
                   {"warp_width", architecture.warp},
                   {"note", architecture.note},
                   {"rules", std::move(rules)}});
  }
  return nlohmann::ordered_json{{"schema_version", 1}, {"architectures", std::move(all)}}.dump(2) + '\n';
}

}  // namespace bankwise
