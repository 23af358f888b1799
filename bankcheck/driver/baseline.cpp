#include "bankcheck/driver/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/csv.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::driver {
namespace {

constexpr std::uintmax_t largest_baseline = std::uintmax_t{64} << 20;

constexpr std::size_t few_columns = 5, most_columns = 8;
constexpr const char* head = "kernel,architecture,accesses,conflicts,unknown";
constexpr const char* head_with_sectors =
    "kernel,architecture,accesses,conflicts,unknown,global_accesses,extra_sectors,global_unknown";

/// How sentences name what is limited of a memory.
struct MemoryWords {
  const char *one, *several, *to, *option;
};
constexpr MemoryWords shared_words{"conflict", "conflicts", "", "--max-conflicts"};
constexpr MemoryWords global_words{"extra sector", "extra sectors", " to global memory", "--max-sectors"};

/// "k has 3 conflicts on sm_90".
std::string cost_text(const Baseline::key_type& key, const Counts& counts, const MemoryWords& words) {
  return fmt::format("{} has {} on {}", key.first, support::plural(counts.cost, words.one, words.several), key.second);
}

std::string unknown_text(const Baseline::key_type& key, const Counts& counts, const MemoryWords& words) {
  return fmt::format("{} has {}{} without a known cost on {}, so no limit can be checked", key.first,
                     support::plural(counts.unknown, "access", "accesses"), words.to, key.second);
}

std::set<std::string> architectures_in(const Baseline& baseline) {
  std::set<std::string> architectures;
  for (const auto& [key, allowed] : baseline) architectures.insert(key.second);
  return architectures;
}

/// Parses a line of so many columns. Nothing if it is not a row of a baseline.
std::optional<Baseline::value_type> parse_row(std::string_view line, std::size_t columns) {
  std::vector<std::string_view> fields;
  std::vector<std::string> unquoted;
  if (!support::split_csv(line, fields, unquoted) || fields.size() != columns) return std::nullopt;
  const auto counts_from = [&](std::size_t field) {
    Counts counts;
    const bool is_valid = support::parse_number(fields[field], counts.accesses) &&
                          support::parse_number(fields[field + 1], counts.cost) &&
                          support::parse_number(fields[field + 2], counts.unknown);
    return is_valid ? std::optional(counts) : std::nullopt;
  };
  const auto shared = counts_from(2);
  if (!shared) return std::nullopt;
  Allowed allowed{*shared};
  if (columns > few_columns && !(fields[5].empty() && fields[6].empty() && fields[7].empty())) {
    allowed.sectors = counts_from(few_columns);
    if (!allowed.sectors) return std::nullopt;
  }
  return Baseline::value_type{{std::string(fields[0]), std::string(fields[1])}, allowed};
}

/// Adds what a kernel has more or less of than `old`; null: the file at the path does not list it.
void compare_counts(const Baseline::key_type& key, const Counts& now, const Counts* old, const MemoryWords& words,
                    const std::string& path, Verdict& verdict) {
  if (now.unknown > (old == nullptr ? 0 : old->unknown)) verdict.exceeded.push_back(unknown_text(key, now, words));
  const std::string cost = cost_text(key, now, words);
  if (old == nullptr) {
    if (now.cost > 0) verdict.exceeded.push_back(fmt::format("{}, and {} does not list it", cost, path));
    return;
  }
  std::string change = fmt::format("{}, and {} in {}", cost, support::grouped(old->cost), path);
  if (old->accesses != now.accesses)
    change += fmt::format(" ({} accesses, {} there)", support::grouped(now.accesses), support::grouped(old->accesses));
  if (now.cost > old->cost) verdict.exceeded.push_back(change);
  if (now.cost < old->cost) verdict.remarks.push_back(change + ": better");
}

}  // namespace

Baseline read_baseline(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw support::UsageError(fmt::format("cannot read {}; --update-baseline {} creates it", path, path));
  }
  std::istringstream text(support::read_input(path, largest_baseline));
  support::LineReader lines(text, largest_baseline);
  const auto text_of_line = [&] {
    const std::string_view line = lines.line;
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  };
  lines.next();
  const std::string_view first_line = support::without_mark(text_of_line());
  const bool with_sectors = first_line == head_with_sectors;
  const auto check = [&](bool is_valid) {
    if (is_valid) return;
    throw support::UsageError(fmt::format("{}:{}: not a line of a baseline, {}", path, lines.number,
                                          with_sectors ? head_with_sectors : head));
  };
  check(with_sectors || first_line == head);
  Baseline baseline;
  while (lines.next()) {
    if (text_of_line().empty()) continue;
    auto row = parse_row(text_of_line(), with_sectors ? most_columns : few_columns);
    check(row.has_value());
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
      Allowed& allowed = baseline[{kernel.name, std::string(report.architecture->name)}];
      // Their conflicts in the banks of other blocks are not known; those without sectors are in `all`.
      const std::uint64_t remote = report.remote.accesses - report.remote.unknown;
      allowed = {{tally.accesses + remote, report::most_conflicts(tally), tally.unknown + remote}};
      if (!kernel.trace.watches_global) continue;
      allowed.sectors = {report.global.accesses, report::extra_sectors(report.global), report.global.unknown};
    }
  }
  return baseline;
}

bool has_sectors(const Baseline& baseline) {
  return std::ranges::any_of(baseline, [](const auto& row) { return row.second.sectors.has_value(); });
}

Verdict compare(const Baseline& now, const Limits& limits) {
  Verdict verdict;
  const auto check = [&](const Baseline::key_type& key, const Counts& counts, std::uint64_t most,
                         const MemoryWords& words) {
    if (counts.unknown > 0) verdict.exceeded.push_back(unknown_text(key, counts, words));
    if (counts.cost <= most) return;
    verdict.exceeded.push_back(
        fmt::format("{}; {} allows {}", cost_text(key, counts, words), words.option, support::grouped(most)));
  };
  for (const auto& [key, value] : now) {
    if (limits.max_conflicts) check(key, value, *limits.max_conflicts, shared_words);
    if (limits.max_sectors && value.sectors) check(key, *value.sectors, *limits.max_sectors, global_words);
  }
  return verdict;
}

Verdict compare(const Baseline& now, const Baseline& allowed, const std::string& path, bool all_kernels) {
  Verdict verdict;
  const bool limits_sectors = has_sectors(allowed);
  for (const auto& [key, value] : now) {
    const auto row = allowed.find(key);
    const Allowed* old = row == allowed.end() ? nullptr : &row->second;
    compare_counts(key, value, old, shared_words, path, verdict);
    if (value.sectors && (old == nullptr ? limits_sectors : old->sectors.has_value())) {
      const Counts* const old_sectors = old == nullptr ? nullptr : &*old->sectors;
      compare_counts(key, *value.sectors, old_sectors, global_words, path, verdict);
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
  const bool with_sectors = has_sectors(baseline);
  std::string text = std::string(with_sectors ? head_with_sectors : head) + '\n';
  for (const auto& [key, value] : baseline) {
    text += fmt::format("{},{},{},{},{}", support::csv_field(key.first), support::csv_field(key.second), value.accesses,
                        value.cost, value.unknown);
    if (value.sectors) {
      text += fmt::format(",{},{},{}", value.sectors->accesses, value.sectors->cost, value.sectors->unknown);
    } else if (with_sectors) {
      text += ",,,";
    }
    text += '\n';
  }
  return text;
}

}  // namespace bankwise::driver
