#include "bankcheck/driver/baseline.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include <bankwise/support/csv.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::driver {
namespace {

constexpr std::uintmax_t largest_baseline = std::uintmax_t{64} << 20;

constexpr const char* head = "kernel,architecture,accesses,conflicts,unknown";

std::string conflicts_text(std::uint64_t conflicts) { return support::plural(conflicts, "conflict", "conflicts"); }

std::string unknown_text(const std::pair<std::string, std::string>& key, const Allowed& value) {
  return fmt::format("{} has {} without a known cost on {}, so no limit can be checked", key.first,
                     support::plural(value.unknown, "access", "accesses"), key.second);
}

std::set<std::string> architectures_in(const Baseline& baseline) {
  std::set<std::string> architectures;
  for (const auto& [key, allowed] : baseline) architectures.insert(key.second);
  return architectures;
}

/// Parses a line. Nothing if it is not a row of a baseline.
std::optional<Baseline::value_type> parse_row(std::string_view line) {
  std::vector<std::string_view> fields;
  std::vector<std::string> unquoted;
  Allowed allowed;
  if (!support::split_csv(line, fields, unquoted) || fields.size() != 5) return std::nullopt;
  if (!support::parse_number(fields[2], allowed.accesses) || !support::parse_number(fields[3], allowed.conflicts))
    return std::nullopt;
  if (!support::parse_number(fields[4], allowed.unknown)) return std::nullopt;
  return Baseline::value_type{{std::string(fields[0]), std::string(fields[1])}, allowed};
}

}  // namespace

Baseline read_baseline(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw support::UsageError(fmt::format("cannot read {}; --update-baseline {} creates it", path, path));
  }
  std::istringstream text(support::read_input(path, largest_baseline));
  support::LineReader lines(text, largest_baseline);
  Baseline baseline;
  while (lines.next() || lines.number == 1) {
    std::string_view line = lines.line;
    const bool is_head = lines.number == 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_head && line.empty()) continue;
    auto row = is_head ? std::nullopt : parse_row(line);
    if (is_head ? support::without_mark(line) != head : !row) {
      throw support::UsageError(fmt::format("{}:{}: not a line of a baseline, {}", path, lines.number, head));
    }
    if (!row) continue;
    row->second.line = lines.number;
    const auto [first, is_new] = baseline.insert(*row);
    if (!is_new) {
      throw support::UsageError(fmt::format("{}:{}: a second row of {} on {}; the first is in line {}", path,
                                            lines.number, first->first.first, first->first.second, first->second.line));
    }
  }
  return baseline;
}

Baseline baseline_of(const std::vector<KernelReport>& kernels) {
  Baseline baseline;
  for (const KernelReport& kernel : kernels) {
    for (const trace::Report& report : kernel.reports) {
      const banks::Tally& tally = report.all;
      baseline[{kernel.name, std::string(report.architecture->name)}] = {
          tally.accesses, tally.conflicts + tally.more_conflicts, tally.unknown};
    }
  }
  return baseline;
}

Verdict compare(const Baseline& now, std::uint64_t max_conflicts) {
  Verdict verdict;
  for (const auto& [key, value] : now) {
    if (value.unknown > 0) verdict.exceeded.push_back(unknown_text(key, value));
    if (value.conflicts <= max_conflicts) continue;
    verdict.exceeded.push_back(fmt::format("{} has {} on {}; --max-conflicts allows {}", key.first,
                                           conflicts_text(value.conflicts), key.second,
                                           support::grouped(max_conflicts)));
  }
  return verdict;
}

Verdict compare(const Baseline& now, const Baseline& allowed, const std::string& path, bool all_kernels) {
  Verdict verdict;
  for (const auto& [key, value] : now) {
    const auto row = allowed.find(key);
    const std::string has = fmt::format("{} has {} on {}", key.first, conflicts_text(value.conflicts), key.second);
    if (value.unknown > (row == allowed.end() ? 0 : row->second.unknown)) {
      verdict.exceeded.push_back(unknown_text(key, value));
    }
    if (row == allowed.end()) {
      if (value.conflicts > 0) verdict.exceeded.push_back(fmt::format("{}, and {} does not list it", has, path));
      continue;
    }
    const Allowed& old = row->second;
    std::string change = fmt::format("{}, and {} in {}", has, support::grouped(old.conflicts), path);
    if (old.accesses != value.accesses) {
      change +=
          fmt::format(" ({} accesses, {} there)", support::grouped(value.accesses), support::grouped(old.accesses));
    }
    if (value.conflicts > old.conflicts) verdict.exceeded.push_back(change);
    if (value.conflicts < old.conflicts) {
      verdict.remarks.push_back(change + ": better");
    }
  }
  const auto architectures = architectures_in(now);
  for (const auto& [key, value] : allowed) {
    if (all_kernels && architectures.contains(key.second) && !now.contains(key)) {
      verdict.remarks.push_back(fmt::format("{} on {} is in {} but did not run", key.first, key.second, path));
    }
  }
  return verdict;
}

Baseline updated(const Baseline& old, const Baseline& now, bool all_kernels) {
  Baseline baseline = now;
  const auto architectures = architectures_in(now);
  for (const auto& [key, value] : old) {
    if (!all_kernels || !architectures.contains(key.second)) baseline.try_emplace(key, value);
  }
  return baseline;
}

std::string to_csv(const Baseline& baseline) {
  std::string text = std::string(head) + '\n';
  for (const auto& [key, value] : baseline) {
    text += fmt::format("{},{},{},{},{}\n", support::csv_field(key.first), key.second, value.accesses, value.conflicts,
                        value.unknown);
  }
  return text;
}

}  // namespace bankwise::driver
