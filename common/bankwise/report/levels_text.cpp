// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <bankwise/report/metrics.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {
namespace {

using Table = std::vector<std::vector<std::string>>;

/// A kernel's two rows: its totals, then its levels with accesses.
struct KernelRows {
  std::vector<std::string> names, passes, lanes;
};

KernelRows rows_of(const KernelLevels& kernel, const std::string& title) {
  KernelRows rows{{"", ""}, {title, "passes"}, {"", "ALU %"}};
  const auto add = [&](const std::string& name, const banks::Tally& costs) {
    rows.names.push_back(name);
    rows.passes.push_back(passes_text(costs));
    rows.lanes.push_back(percent_text(alu_utilization(costs, kernel.report.warp)));
  };
  add("all", kernel.report.all);
  for (const auto& level : kernel.report.levels) {
    if (level.costs.accesses > 0) add(kernel.level_names[level.level], level.costs);
  }
  return rows;
}

constexpr std::size_t first_level = 2;  // the columns before it are titles

/// Column heads in two lines, to save width: the first word above, the rest below; a single word goes below.
Table head_of(const std::vector<std::string>& names) {
  Table head(2);
  for (const std::string& name : names) {
    const auto blank = name.find(' ');
    head[0].push_back(blank == std::string::npos ? "" : name.substr(0, blank));
    head[1].push_back(blank == std::string::npos ? name : name.substr(blank + 1));
  }
  return head;
}

/// Variants whose levels have the same names share a table.
std::string tables(const std::vector<const VariantLevels*>& variants) {
  std::string text;
  Table table;
  std::vector<std::string> names;
  for (const VariantLevels* variant : variants) {
    for (const KernelLevels& kernel : variant->kernels) {
      const bool alone = variant->kernels.size() == 1;
      KernelRows rows = rows_of(kernel, alone ? std::string(variant->variant) : kernel.name);
      if (names != rows.names) {
        if (!table.empty()) text += format_wide_table(table, first_level);
        names = rows.names;
        table = head_of(names);
      }
      table.push_back(std::move(rows.passes));
      table.push_back(std::move(rows.lanes));
    }
  }
  return text + (table.empty() ? "" : format_wide_table(table, first_level));
}

/// Why a variant has no rows. Variants with the same reason share a line.
std::string remarks(const std::vector<const VariantLevels*>& variants) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const VariantLevels* variant : variants) {
    if (!variant->kernels.empty() && variant->reason.empty()) continue;
    names.emplace_back(variant->variant, variant->reason.empty() ? "no shared memory" : variant->reason);
  }
  return by_reason(names);
}

}  // namespace

std::string levels_text(const Report& report) {
  std::vector<const banks::Architecture*> architectures;
  for (const auto& levels : report.levels) {
    if (architectures.empty() || architectures.back() != levels.architecture)
      architectures.push_back(levels.architecture);
  }
  std::string text;
  for (const banks::Architecture* architecture : architectures) {
    std::vector<const VariantLevels*> variants;
    for (const auto& levels : report.levels) {
      if (levels.architecture == architecture) variants.push_back(&levels);
    }
    const std::string rows = tables(variants);
    text += fmt::format("{} on {}: one block from barrier to barrier (block 0 of the CUDA kernels, emulated)\n",
                        report.study->name, architecture->name);
    if (!rows.empty()) {
      text += fmt::format(
          "passes/ideal of the banks, or passes where these are the same; ALU: active lanes in warps of {}\n",
          architecture->warp);
    }
    text += rows + remarks(variants) + '\n';
  }
  return text;
}

}  // namespace bankwise::report
