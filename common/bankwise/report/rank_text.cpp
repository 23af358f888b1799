// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <bankwise/report/rank_report.hpp>
#include <bankwise/report/text.hpp>
#include <bankwise/support/by_reason.hpp>
#include <bankwise/support/quantity.hpp>
#include <bankwise/support/table.hpp>

namespace bankwise {
namespace {

std::string verified(const RankResult& result) {
  const bool only_timed = result.variant == copy_row || result.variant == peer_copy_row || result.variant == alone_row;
  if (result.status == Status::ok) return only_timed ? "-" : "yes";
  return result.status == Status::wrong ? "WRONG" : std::string(to_string(result.status));
}

std::vector<std::string> row_of(const RankResult& result) {
  const auto rate = [&](std::uint64_t bytes) {
    if (bytes == 0 || result.timing.median.value_or(0) <= 0) return std::string("-");
    return fmt::format("{:.1f}", double(bytes) / *result.timing.median * 1e-9);
  };
  return {result.alone.empty() ? result.variant : fmt::format("{}: {}", result.variant, result.alone),
          verified(result),
          optional_text(result.timing.median, format_time),
          optional_text(result.timing.noise, percent),
          rate(result.memory_bytes),
          rate(result.link_bytes),
          optional_text(result.of_floor, percent),
          optional_text(result.weak, percent),
          optional_text(result.exchanges_s, format_time),
          optional_text(result.exchanging, percent),
          result.status == Status::ok ? result.timing.stop : first_line(result.reason)};
}

}  // namespace

std::string rank_text_report(const RankReport& report) {
  const CaseStudy& study = *report.study;
  std::string text = fmt::format(
      "{}: {} on {} rank{}, {}:{} {}\n{}, {}; {}; cache {}\n", study.name, size_text(study, report.extent),
      report.ranks.size(), report.ranks.size() == 1 ? "" : "s", to_string(report.device.api), report.device.index,
      report.device.name, report.engine, report.mpi, report.topology, to_string(report.cache));
  std::vector<std::vector<std::string>> rows{{"variant", "verified", "median", "noise", "memory GB/s", "link GB/s",
                                              "of floor", "weak scaling", "exchange", "its share", "stop"}};
  std::string notes;
  std::vector<std::pair<std::string, std::string>> overheads;
  for (const RankResult& result : report.results) {
    rows.push_back(row_of(result));
    if (result.timing.dropped > 0) {
      notes +=
          fmt::format("note: {}: {} samples dropped, because a GPU throttled\n", result.variant, result.timing.dropped);
    }
    if (!result.timing.launch_overhead.empty()) overheads.emplace_back(result.variant, result.timing.launch_overhead);
  }
  if (!overheads.empty()) notes += "note: these times may include launch overhead\n" + by_reason(overheads);
  return text + format_table(rows, 2, true) + notes + '\n';
}

}  // namespace bankwise
