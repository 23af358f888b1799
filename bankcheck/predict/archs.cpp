#include "bankcheck/predict/predict.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::predict {
namespace {

using banks::Architecture;
using banks::Rule;

std::string list(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

/// The accesses that a rule decides because no earlier rule does. Operations with the same widths are grouped.
struct Coverage {
  std::vector<std::string> operations;
  std::vector<unsigned> widths;
};

std::vector<Coverage> coverage_of(const Architecture& architecture, const Rule& rule) {
  std::vector<Coverage> groups;
  for (int i = 0; i < banks::operation_count; ++i) {
    const auto operation = banks::Operation(i);
    std::vector<unsigned> widths;
    for (unsigned width = 1; width <= 16; ++width) {
      if (banks::find_rule(architecture, operation, width) == &rule) widths.push_back(width);
    }
    if (widths.empty()) continue;
    auto same = std::ranges::find_if(groups, [&](const Coverage& other) { return other.widths == widths; });
    if (same == groups.end()) same = groups.insert(groups.end(), {{}, widths});
    same->operations.emplace_back(to_string(operation));
  }
  return groups;
}

/// The lanes of each lane group that contains lanes of the architecture.
std::vector<std::string> lane_groups_of(const Architecture& architecture, const Rule& rule) {
  std::vector<std::string> lane_groups;
  for (unsigned i = 0; i < rule.lane_groups.count; ++i) {
    const auto lanes = rule.lane_groups.lanes[i] & (~std::uint64_t{0} >> (banks::max_lanes - architecture.lanes));
    if (lanes != 0) lane_groups.push_back(lane_ranges(lanes));
  }
  return lane_groups;
}

std::string served(const Architecture& architecture, const Rule& rule) {
  constexpr std::string_view servings[]{
      "",
      "; lanes that access one bank serialize, even for the same word",
      "; lanes that access one bank serialize unless they access the same bytes",
      "; one word per pass is broadcast to all of its lanes",
      ("; lanes that share the bank of the source or of the destination with any one lane "
       "serialize, even for the same word"),
      "; a pass moves bytes from one cache line to one line of 128 bytes of shared memory"};
  std::string text =
      fmt::format("lanes {{{}}}, {} banks of {} bytes", fmt::join(lane_groups_of(architecture, rule), "} {"),
                  rule.banks.count, rule.banks.bytes);
  if (const unsigned around = rule.banks.count * rule.banks.bytes; rule.banks.row_bytes != around) {
    text += fmt::format(", {} words of a bank in one pass if they lie in one aligned run of {} bytes",
                        rule.banks.row_bytes / around, rule.banks.row_bytes);
  }
  if (rule.request_bytes != 0) text += fmt::format(", in requests of {} bytes", rule.request_bytes);
  if (rule.merges)
    text += ", neighbouring lane groups merged where lanes n and n^1, or n and n^2, have the same address";
  if (rule.total == banks::Total::worst) text += ", cost of the worst lane group";
  if (rule.total == banks::Total::worst_plus_one) text += ", cost of the worst lane group plus one pass";
  if (rule.rounds > 1) text += fmt::format(", {} passes per lane", rule.rounds);
  return text + std::string(servings[int(rule.serving)]);
}

/// The rules of an architecture, and all of its names.
std::string details(const Architecture& architecture) {
  constexpr std::size_t columns = 100;
  std::string text =
      fmt::format("{}, {}; warps of {} lanes\n", architecture.name, architecture.gpus, architecture.warp);
  std::vector<std::string> others = names_of(architecture);
  others.erase(others.begin());
  if (!others.empty()) text += support::wrapped("  also: " + list(others), columns, 8);
  if (!architecture.note.empty()) text += support::wrapped("  note: " + std::string(architecture.note), columns, 8);
  for (const Rule& rule : architecture.rules) {
    for (const auto& [operations, widths] : coverage_of(architecture, rule)) {
      const bool is_known = rule.refusal.empty();
      text += support::wrapped(fmt::format("  {}, {} bytes: {}", list(operations), fmt::join(widths, "/"),
                                           is_known ? served(architecture, rule) : rule.refusal),
                               columns, 6);
      if (is_known) {
        text += support::wrapped(fmt::format("      {}: {}", to_string(rule.evidence), rule.source), columns, 6);
      }
    }
  }
  const auto& [sectors, why_unknown] = architecture.sectors;
  if (!sectors) return text + support::wrapped(fmt::format("  global memory: {}", why_unknown), columns, 6);
  text += fmt::format("  global memory: sectors of {} bytes, cache lines of {}\n", sectors->sector_bytes,
                      sectors->line_bytes);
  return text +
         support::wrapped(fmt::format("      {}: {}", to_string(sectors->evidence), sectors->source), columns, 6);
}

/// A row for each architecture, with the rule of the commonest access.
std::string architectures_table() {
  std::vector<std::vector<std::string>> rows{{"name", "GPUs", "warp", "banks", "bytes", "evidence"}};
  for (const Architecture& architecture : banks::architectures()) {
    const Rule& loads = *banks::find_rule(architecture, banks::Operation::load, 4);
    rows.push_back({std::string(architecture.name), std::string(architecture.gpus), std::to_string(architecture.warp),
                    std::to_string(loads.banks.count), std::to_string(loads.banks.bytes),
                    std::string(to_string(loads.evidence))});
  }
  return support::format_table(rows, 2, true) +
         "\nBanks, bytes of a bank and evidence are those of 4-byte loads; `bankcheck archs sm_90` shows all\n"
         "rules and names of sm_90. --arch also takes the names of GPUs, such as h100, rtx4090, mi300x.\n";
}

std::string architectures_json(const std::vector<const Architecture*>& asked) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Architecture* each : asked) {
    const Architecture& architecture = *each;
    nlohmann::ordered_json rules = nlohmann::ordered_json::array();
    for (const Rule& rule : architecture.rules) {
      for (const auto& [operations, widths] : coverage_of(architecture, rule)) {
        nlohmann::ordered_json json{{"operations", operations}, {"widths", widths}};
        if (rule.refusal.empty()) {
          json["lane_groups"] = lane_groups_of(architecture, rule);
          json["banks"] = rule.banks.count;
          json["bank_bytes"] = rule.banks.bytes;
          json["row_bytes"] = rule.banks.row_bytes;
          json["served"] = served(architecture, rule);
          json["evidence"] = to_string(rule.evidence);
          json["source"] = rule.source;
        } else {
          json["refusal"] = rule.refusal;
        }
        rules.push_back(std::move(json));
      }
    }
    nlohmann::ordered_json global;
    if (const auto& sectors = architecture.sectors.fact) {
      global = {{"sector_bytes", sectors->sector_bytes},
                {"line_bytes", sectors->line_bytes},
                {"evidence", to_string(sectors->evidence)},
                {"source", sectors->source}};
    } else {
      global = {{"refusal", architecture.sectors.why_unknown}};
    }
    list.push_back({{"name", architecture.name},
                    {"aliases", architecture.aliases},
                    {"gpus", architecture.gpus},
                    {"warp_width", architecture.warp},
                    {"note", architecture.note},
                    {"rules", std::move(rules)},
                    {"global_memory", std::move(global)}});
  }
  return nlohmann::ordered_json{{"schema_version", 1}, {"architectures", std::move(list)}}.dump(2) + '\n';
}

}  // namespace

int archs(ArchsOptions& options) {
  std::vector<const Architecture*> asked;
  for (const std::string& name : options.architectures) asked.push_back(&architecture_named(name));
  const bool is_table = asked.empty() && !options.rules;
  for (const Architecture& architecture : banks::architectures()) {
    if (options.architectures.empty()) asked.push_back(&architecture);
  }
  std::string text = options.json ? architectures_json(asked) : is_table ? architectures_table() : "";
  if (text.empty()) {
    for (const Architecture* each : asked) text += (text.empty() ? "" : "\n") + details(*each);
  }
  support::OutputFile("stdout", "-").write(text);
  return support::exit_ok;
}

}  // namespace bankwise::predict
