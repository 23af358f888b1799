// What `bankcheck layout` prints.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/layouts/layouts.hpp"

namespace bankwise::layouts {
namespace {

using support::grouped;

constexpr std::size_t page_columns = 100;

std::string up_to(std::uint64_t least, std::uint64_t greatest) {
  return least == greatest ? grouped(least) : fmt::format("{} to {}", grouped(least), grouped(greatest));
}

/// A part of the costs over all copies on one architecture.
std::uint64_t sum_on(const LayoutReport& report, std::size_t architecture, std::uint64_t CopyCost::*part) {
  std::uint64_t sum = 0;
  for (const auto& costs : report.costs) sum += costs[architecture].*part;
  return sum;
}
std::uint64_t passes_on(const LayoutReport& report, std::size_t architecture) {
  return sum_on(report, architecture, &CopyCost::passes);
}

std::string costs_table(const LayoutReport& report) {
  std::vector<std::vector<std::string>> rows{{"copy", "on", "instructions", "passes", "ideal", "conflicts"}};
  for (std::size_t i = 0; i < report.copies.size(); ++i) {
    for (std::size_t j = 0; j < report.architectures.size(); ++j) {
      const CopyCost& cost = report.costs[i][j];
      rows.push_back({report.copies[i].text, std::string(report.architectures[j]->name), grouped(cost.instructions),
                      up_to(cost.passes, cost.passes_max), grouped(cost.ideal),
                      up_to(cost.conflicts, cost.conflicts_max)});
    }
  }
  return support::format_table(rows, 2);
}

/// The passes of all copies in this layout and in others of the same elements.
std::string layouts_table(const LayoutReport& report) {
  std::vector<std::vector<std::string>> rows{{"passes of all copies"}};
  for (const banks::Architecture* architecture : report.architectures)
    rows[0].push_back(fmt::format("{}", architecture->name));
  rows[0].insert(rows[0].end(), {"bytes", "in C"});
  const auto add = [&](const std::string& name, std::uint64_t bytes, const std::string& index, auto passes) {
    std::vector<std::string> row{name};
    for (std::size_t i = 0; i < report.architectures.size(); ++i) row.push_back(grouped(passes(i)));
    row.insert(row.end(), {grouped(bytes), index});
    rows.push_back(row);
  };
  add("as given", report.tile.bytes(), "", [&](std::size_t i) { return passes_on(report, i); });
  const bool is_plain = report.tile.plain == report.tile.offsets;
  for (const Candidate& candidate : report.best.candidates) {
    const bool is_identity = candidate.change.kind() == fit::ChangeKind::identity;
    if (is_identity && is_plain) continue;
    add(is_identity ? "without its swizzle or pads" : candidate.name, candidate.bytes, candidate.index,
        [&](std::size_t i) { return candidate.passes[i]; });
  }
  return rows.size() == 2 ? "" : "\n" + support::format_table(rows, 1, true);
}

/// The fewest passes of the layouts of the table that need no more bytes.
std::uint64_t fewest_in_place(const LayoutReport& report, std::size_t architecture) {
  std::uint64_t fewest = passes_on(report, architecture);
  for (const Candidate& candidate : report.best.candidates) {
    if (candidate.bytes <= report.tile.bytes()) fewest = std::min(fewest, candidate.passes[architecture]);
  }
  return fewest;
}

/// "bits 0 to 2 of the number of an element are c0, c1, c2 ^ r0".
std::string bits_text(const Certificate& certificate) {
  const std::vector<std::string>& names = certificate.order;
  std::vector<std::string> bits;
  for (const std::uint64_t row : certificate.matrix) {
    std::vector<std::string> sum;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if ((row >> i & 1) != 0) sum.push_back(names[i]);
    }
    bits.push_back(fmt::format("{}", fmt::join(sum, " ^ ")));
  }
  return fmt::format("bits 0 to {} of the number of an element are {}", bits.size() - 1, fmt::join(bits, ", "));
}

/// The neighbours that the certificate's layouts keep together: "rows" or "columns"; "" if each part is one element.
std::string_view kept_along(const LayoutReport& report, const Certificate& certificate) {
  if (certificate.together <= report.tile.element) return "";
  return certificate.direction == Direction::along_row ? "rows" : "columns";
}

/// One sentence about what layouts cannot do, and where that is not known.
std::string certificate_text(const LayoutReport& report, std::size_t i) {
  const Certificate& certificate = report.certificates[i];
  const std::string on = std::string(report.architectures[i]->name);
  if (certificate.any_layout == 0) return fmt::format("no certificate on {}: {}", on, certificate.why);
  const auto passes = [](std::uint64_t count) { return support::plural(count, "pass", "passes"); };
  const std::string_view along = kept_along(report, certificate);
  const std::string kept = fmt::format("that keeps {} aligned bytes together{}{}", certificate.together,
                                       along.empty() ? "" : " along the ", along);
  if (!certificate.linear)
    return fmt::format("certificate on {}: no layout {} has fewer than {}; whether one has as few is not known: {}", on,
                       kept, passes(certificate.any_layout), certificate.why);
  std::string text = fmt::format("certificate on {}: ", on);
  if (*certificate.linear == certificate.any_layout) {
    text += fmt::format("a linear layout (XORs of bits of row and column) has {}, and no layout {} has fewer",
                        passes(*certificate.linear), kept);
  } else {
    text += fmt::format(
        "no linear layout (XORs of bits of row and column) {} has fewer than {}, and no other one fewer than {}", kept,
        passes(*certificate.linear), passes(certificate.any_layout));
  }
  if (*certificate.linear < fewest_in_place(report, i))
    text +=
        fmt::format("; in this linear layout, {}, where c0 is the lowest bit of the column", bits_text(certificate));
  return text;
}

/// The access with most conflicts on the first architecture.
std::string worst_text(const LayoutReport& report, unsigned columns) {
  std::size_t worst = 0;
  for (std::size_t i = 1; i < report.copies.size(); ++i) {
    if (report.costs[i][0].worst.cost.conflicts_max > report.costs[worst][0].worst.cost.conflicts_max) worst = i;
  }
  const CopyCost& cost = report.costs[worst][0];
  const predict::Prediction& access = cost.worst;
  return fmt::format("\n{}, instruction {} of {}, on {}: passes {}, ideal {}\n", report.copies[worst].text,
                     cost.number + 1, cost.instructions, access.architecture->name,
                     up_to(access.cost.passes, access.cost.passes_max), access.cost.ideal) +
         picture_text(access, columns, "");
}

/// The best change of a kind; null if none was tried.
const Candidate* best_of_kind(const LayoutReport& report, fit::ChangeKind kind) {
  const auto found =
      std::ranges::find_if(report.best.candidates, [&](const Candidate& each) { return each.change.kind() == kind; });
  return found == report.best.candidates.end() ? nullptr : &*found;
}

/// "448 conflicts on sm_90, 0 with Swizzle<3, 3, 3>".
std::string answer(const LayoutReport& report) {
  std::vector<std::string> parts;
  const Candidate* swizzle = best_of_kind(report, fit::ChangeKind::row_xor);
  for (std::size_t i = 0; i < report.architectures.size(); ++i) {
    const std::uint64_t conflicts = sum_on(report, i, &CopyCost::conflicts_max);
    const std::string_view name = report.architectures[i]->name;
    if (conflicts == 0) {
      parts.push_back(fmt::format("no conflicts on {}", name));
      continue;
    }
    const std::uint64_t ideal = sum_on(report, i, &CopyCost::ideal);
    const bool is_better = swizzle != nullptr && swizzle->passes[i] < passes_on(report, i);
    parts.push_back(fmt::format("{} on {}", support::plural(conflicts, "conflict", "conflicts"), name) +
                    (is_better ? fmt::format(", {} with {}", grouped(swizzle->passes[i] - ideal), swizzle->name) : ""));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Where the rules come from, and what to know before trusting the numbers.
std::string evidence(const LayoutReport& report) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  };
  for (const banks::Architecture* architecture : report.architectures) {
    for (const Copy& copy : report.copies) {
      const banks::Rule& rule = *banks::find_rule(*architecture, copy.operation, copy.width);
      add(fmt::format("rule on {}: {} ({})", architecture->name, rule.source, to_string(rule.evidence)));
    }
    if (!architecture->note.empty()) add(fmt::format("note on {}: {}", architecture->name, architecture->note));
  }
  std::string text;
  for (const std::string& line : lines) text += support::wrapped(line, page_columns, 2);
  return text;
}

}  // namespace

std::string text_of(const LayoutReport& report, unsigned columns) {
  const Tile& tile = report.tile;
  std::string text =
      fmt::format("{}: {} of {} of {}, {} in all\n", tile.text, support::plural(tile.rows, "row", "rows"),
                  support::plural(tile.columns, "element", "elements"), support::plural(tile.element, "byte", "bytes"),
                  support::plural(tile.bytes(), "byte", "bytes"));
  text += support::wrapped(answer(report), page_columns, 2) + '\n';
  text += costs_table(report) + layouts_table(report) + '\n';
  for (std::size_t i = 0; i < report.architectures.size(); ++i)
    text += support::wrapped(certificate_text(report, i), page_columns, 2);
  return text + evidence(report) + worst_text(report, columns);
}

std::string json_of(const LayoutReport& report) {
  using nlohmann::ordered_json;
  ordered_json names = ordered_json::array(), copies = names, layouts = names, certificates = names;
  for (const banks::Architecture* architecture : report.architectures) names.push_back(architecture->name);
  for (std::size_t i = 0; i < report.copies.size(); ++i) {
    for (std::size_t j = 0; j < report.architectures.size(); ++j) {
      const CopyCost& cost = report.costs[i][j];
      copies.push_back({{"copy", report.copies[i].text},
                        {"architecture", report.architectures[j]->name},
                        {"operation", to_string(report.copies[i].operation)},
                        {"width", report.copies[i].width},
                        {"instructions", cost.instructions},
                        {"passes", cost.passes},
                        {"ideal", cost.ideal},
                        {"conflicts", cost.conflicts},
                        {"passes_max", cost.passes_max},
                        {"conflicts_max", cost.conflicts_max}});
    }
  }
  for (const Candidate& candidate : report.best.candidates) {
    layouts.push_back({{"layout", candidate.name},
                       {"change", to_string(candidate.change.kind())},
                       {"index", candidate.index},
                       {"bytes", candidate.bytes},
                       {"passes", candidate.passes}});
  }
  for (std::size_t i = 0; i < report.architectures.size(); ++i) {
    const Certificate& certificate = report.certificates[i];
    ordered_json json{{"architecture", report.architectures[i]->name}, {"together", certificate.together}};
    json["along"] = kept_along(report, certificate);
    json["any_layout"] = certificate.any_layout == 0 ? ordered_json() : ordered_json(certificate.any_layout);
    json["linear"] = certificate.linear ? ordered_json(*certificate.linear) : ordered_json();
    json["order"] = fmt::format("{}", fmt::join(certificate.order, " "));
    json["matrix"] = certificate.matrix;
    json["why"] = certificate.why;
    certificates.push_back(std::move(json));
  }
  const Tile& tile = report.tile;
  return ordered_json{{"schema_version", 1},
                      {"layout", tile.text},
                      {"rows", tile.rows},
                      {"columns", tile.columns},
                      {"element_bytes", tile.element},
                      {"bytes", tile.bytes()},
                      {"architectures", std::move(names)},
                      {"copies", std::move(copies)},
                      {"layouts", std::move(layouts)},
                      {"certificates", std::move(certificates)}}
             .dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         '\n';
}

}  // namespace bankwise::layouts
