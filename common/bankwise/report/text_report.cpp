// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include <bankwise/report/metrics.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/report/text.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {
namespace {

std::string verified(const Result& result) {
  if (result.status == Status::ok) return is_variant(result.variant) ? "yes" : "-";
  return result.status == Status::wrong ? "WRONG" : std::string(to_string(result.status));
}

bool has_counters(const Report& report) {
  return std::any_of(report.results.begin(), report.results.end(),
                     [](const Result& r) { return r.counters.has_value(); });
}

std::vector<std::string> head_of(const Report& report) {
  std::vector<std::string> head{"variant", "verified", "median", "noise", "GB/s", "of copy"};
  if (!report.study->baseline.empty()) head.push_back(fmt::format("over {}", report.study->baseline));
  if (!report.levels.empty()) head.insert(head.end(), {"passes", "ALU"});
  if (has_counters(report)) head.emplace_back("counted");
  head.insert(head.end(), {"samples", "stop"});
  return head;
}

/// The emulator's results for a row's kernels, or their CUDA counterparts; null if there are none.
const VariantLevels* levels_of(const Report& report, const Result& result) {
  const auto emulated = std::find_if(report.levels.begin(), report.levels.end(), [&](const VariantLevels& levels) {
    return levels.variant == result.variant && levels.architecture == result.architecture;
  });
  return emulated == report.levels.end() ? nullptr : &*emulated;
}

std::vector<std::string> row_of(const Report& report, const Result& result) {
  const auto times = [](double ratio) { return fmt::format("{:.2f} x", ratio); };
  const auto gigabytes = [](double rate) { return fmt::format("{:.1f}", rate * 1e-9); };
  std::vector<std::string> row{
      result.library.empty() ? result.variant : result.library, verified(result),
      optional_text(result.timing.median, format_time),         optional_text(result.timing.noise, percent),
      optional_text(result.bytes_per_second, gigabytes),        optional_text(result.of_copy, percent)};
  if (!report.study->baseline.empty()) row.push_back(optional_text(result.speedup, times));
  if (!report.levels.empty()) {
    const VariantLevels* levels = levels_of(report, result);
    const bool costs = levels != nullptr && levels->costs;
    row.push_back(
        optional_text(costs ? passes_over_ideal(levels->costs->passes, levels->costs->ideal) : std::nullopt, times));
    row.push_back(levels != nullptr ? optional_text(levels->alu_utilization, percent) : "-");
  }
  if (has_counters(report)) {
    const bool counted = result.counters && result.counters->counted;
    row.push_back(optional_text(counted ? counted_over_ideal(*result.counters->counted) : std::nullopt, times));
  }
  row.push_back(std::to_string(result.timing.samples.size()));
  row.push_back(result.status == Status::ok ? result.timing.stop : first_line(result.reason));
  return row;
}

std::string table_heading(const Report& report, const Result& any) {
  const CaseStudy& study = *report.study;
  const std::string model =
      report.levels.empty() || any.architecture == nullptr
          ? ""
          : fmt::format("; passes/ideal and ALU utilization: one block on {}", any.architecture->name);
  return fmt::format(
      "{}: {} ({}), {}:{} {}\nscope {}, {}{}\n", study.name, size_text(study, any.extent),
      format_bytes(double(any.bytes)), to_string(any.device->api), any.device->index, any.device->name,
      to_string(any.scope),
      any.scope == Scope::block
          ? fmt::format("time of one of {} iterations of the shared-memory section", gpu::block_scope_repeats)
          : fmt::format("cache {}", to_string(any.cache)),
      model);
}

/// Complete reasons of more than one line, and warnings.
std::string remarks(const Result& result) {
  std::string text;
  if (first_line(result.reason) != result.reason) text += fmt::format("\n{}: {}\n", result.variant, result.reason);
  if (result.of_copy.value_or(0) > suspicious_of_copy) {
    text += fmt::format("warning: {} is above {:.0f} % of copy; does it measure a cache?\n", result.variant,
                        100 * suspicious_of_copy);
  }
  if (result.timing.dropped > 0) {
    text += fmt::format("note: {}: {} of {} samples dropped, because the GPU throttled ({})\n", result.variant,
                        result.timing.dropped, result.timing.dropped + result.timing.samples.size(),
                        result.dropped_because);
  }
  return text;
}

/// A note about the rows whose time may include launch overhead.
std::string overheads(std::span<const Result> results) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const Result& result : results) {
    if (!result.timing.launch_overhead.empty()) reasons.emplace_back(result.variant, result.timing.launch_overhead);
  }
  return reasons.empty() ? "" : "note: these times may include launch overhead\n" + by_reason(reasons);
}

std::vector<std::string> row_on_ranks(const Result& result) {
  const Scaling& scaling = result.scaling;
  const auto rate = [&](std::uint64_t bytes) {
    if (bytes == 0 || result.timing.median.value_or(0) <= 0) return std::string("-");
    return fmt::format("{:.1f}", double(bytes) / *result.timing.median * 1e-9);
  };
  return {scaling.alone.empty() ? result.variant : fmt::format("{}: {}", result.variant, scaling.alone),
          verified(result),
          optional_text(result.timing.median, format_time),
          optional_text(result.timing.noise, percent),
          rate(result.bytes),
          rate(scaling.link_bytes),
          optional_text(scaling.of_floor, percent),
          optional_text(scaling.weak, percent),
          optional_text(scaling.exchanges_s, format_time),
          optional_text(scaling.exchanging, percent),
          result.status == Status::ok ? result.timing.stop : first_line(result.reason)};
}

/// The table of several ranks.
std::string text_on_ranks(const Report& report) {
  const CaseStudy& study = *report.study;
  const RanksInfo& common = *report.ranks;
  const gpu::DeviceInfo& device = report.devices.front();
  const Result& first = report.results.front();
  std::vector<std::vector<std::string>> rows{{"variant", "verified", "median", "noise", "memory GB/s", "link GB/s",
                                              "of floor", "weak scaling", "exchange", "its share", "stop"}};
  std::string notes;
  for (const Result& result : report.results) {
    rows.push_back(row_on_ranks(result));
    if (result.timing.dropped == 0) continue;
    notes +=
        fmt::format("note: {}: {} samples dropped, because a GPU throttled\n", result.variant, result.timing.dropped);
  }
  return fmt::format("{}: {} on {} rank{}, {}:{} {}\n{}, {}; {}; cache {}\n", study.name,
                     size_text(study, first.extent), common.ranks.size(), common.ranks.size() == 1 ? "" : "s",
                     to_string(device.api), device.index, device.name, common.engine, common.mpi, common.topology,
                     to_string(first.cache)) +
         format_table(rows, 2, true) + notes + overheads(report.results) + '\n';
}

}  // namespace

std::string text_report(const Report& report) {
  if (report.ranks) return text_on_ranks(report);
  std::string text;
  for (const auto& device : report.devices) {
    std::vector<std::vector<std::string>> rows{head_of(report)};
    std::string notes;
    std::vector<Result> on_device;
    for (const auto& result : report.results) {
      if (result.device->index != device.index) continue;
      on_device.push_back(result);
      rows.push_back(row_of(report, result));
      notes += remarks(result);
    }
    if (on_device.empty()) continue;
    text += table_heading(report, on_device.back()) + format_table(rows, 2, true) + notes + overheads(on_device) + '\n';
  }
  return text;
}

}  // namespace bankwise::report
