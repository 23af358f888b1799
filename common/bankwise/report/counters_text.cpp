// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <bankwise/report/report.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {
namespace {

constexpr std::size_t first_number = 2;  // the columns before it are titles
constexpr std::size_t first_atomic = first_number + 4, after_atomics = first_atomic + 2;

using Row = std::vector<std::string>;

const std::vector<Row> head{
    {"", "", "load", "load", "store", "store", "atomic", "atomic", "SIMT", "DRAM", "DRAM", "DRAM"},
    {"", "", "passes", "conflicts", "passes", "conflicts", "passes", "conflicts", "%", "read", "written", "of bytes"}};

std::string count_text(const gpu::Counters::Count& count) { return count ? format_count(*count) : "-"; }

std::string bytes_text(const gpu::Counters::Count& bytes) { return bytes ? format_bytes(double(*bytes)) : "-"; }

std::string difference_text(const std::optional<std::int64_t>& difference) {
  if (!difference) return "-";
  if (*difference == 0) return "=";
  const std::string digits = format_count(std::uint64_t(*difference < 0 ? -*difference : *difference));
  return (*difference < 0 ? "-" : "+") + digits;
}

Row counted_row(const Result& result) {
  const gpu::Counters& counted = *result.counters->counted;
  Row row{result.library.empty() ? result.variant : result.library, "counted"};
  for (const auto& number : shared_memory_numbers(*result.counters)) row.push_back(count_text(number.counted));
  const auto simt = bankwise::simt_efficiency(counted);
  row.push_back(simt ? fmt::format("{:.1f}", 100 * *simt) : "-");
  row.push_back(bytes_text(counted.dram_read_bytes));
  row.push_back(bytes_text(counted.dram_write_bytes));
  const bool share = counted.dram_read_bytes && counted.dram_write_bytes && result.bytes > 0;
  row.push_back(share ? fmt::format("{:.2f} x",
                                    double(*counted.dram_read_bytes + *counted.dram_write_bytes) / double(result.bytes))
                      : "-");
  return row;
}

Row difference_row(const CounterResult& counters) {
  Row row{"", "- model"};
  for (const auto& number : shared_memory_numbers(counters)) row.push_back(difference_text(number.difference()));
  const auto simt = bankwise::simt_efficiency(*counters.counted), model = counters.model->simt_efficiency;
  row.push_back(simt && model ? fmt::format("{:+.1f}", 100 * (*simt - *model)) : "-");
  row.insert(row.end(), 3, "");  // the model does not cover traffic with DRAM
  return row;
}

/// Without atomics, their columns would only split the table.
void drop_atomics(std::vector<Row>& rows) {
  for (Row& row : rows) row.erase(row.begin() + first_atomic, row.begin() + after_atomics);
}

std::string counters_heading(const Report& report, const Result& any) {
  return fmt::format("{} on {}:{} {}: hardware counters of one run of the whole job\n", report.study->name,
                     to_string(any.device->api), any.device->index, any.device->name);
}

std::string legend(const Result& any) {
  return fmt::format(
      "- model: counted minus model (block 0 of each launch, emulated, times its blocks) on {}; of bytes: compulsory "
      "traffic\n",
      any.architecture != nullptr ? any.architecture->name : "no GPU");
}

}  // namespace

std::string counters_text(const Report& report) {
  std::string text;
  for (const auto& device : report.devices) {
    std::vector<Row> rows = head;
    std::vector<std::pair<std::string, std::string>> reasons;
    const Result* any = nullptr;
    bool atomics = false;
    for (const auto& result : report.results) {
      if (result.device->index != device.index || !result.counters) continue;
      any = &result;
      const CounterResult& counters = *result.counters;
      if (!counters.counted) {
        reasons.emplace_back(result.variant, counters.reason);
        continue;
      }
      atomics = atomics || counters.counted->shared_atomic_passes.value_or(0) > 0;
      rows.push_back(counted_row(result));
      if (!counters.model) continue;
      rows.push_back(difference_row(counters));
      if (!counters.model->reason.empty()) reasons.emplace_back(result.variant + ", model", counters.model->reason);
    }
    if (any == nullptr) continue;
    text += counters_heading(report, *any);
    if (!atomics) drop_atomics(rows);
    if (rows.size() > head.size()) text += legend(*any) + format_wide_table(rows, first_number);
    text += by_reason(reasons) + '\n';
  }
  return text;
}

}  // namespace bankwise::report
