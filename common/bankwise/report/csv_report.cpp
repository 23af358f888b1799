// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include <bankwise/report/report.hpp>

namespace bankwise {
namespace {

std::string quoted(const std::string& text) {
  std::string copy = "\"";
  for (const char c : text) copy += c == '"' ? "\"\"" : c == '\n' ? " " : std::string(1, c);
  return copy + '"';
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// The columns that counters add, each preceded by a comma.
std::string csv_head(const CounterResult& counters) {
  std::string head;
  for (const auto& number : shared_memory_numbers(counters)) head += fmt::format(",{0},{0}_model", number.key);
  return head + ",simt_efficiency,simt_efficiency_model,dram_read_bytes,dram_write_bytes,no_counters_because";
}
std::string csv_of(const CounterResult& counters) {
  const auto count = [](const gpu::Counters::Count& value) { return value ? std::to_string(*value) : std::string(); };
  const gpu::Counters counted = counters.counted.value_or(gpu::Counters{});
  std::string columns;
  for (const auto& [key, of_device, of_model] : shared_memory_numbers(counters)) {
    columns += fmt::format(",{},{}", count(of_device), count(of_model));
  }
  return columns + fmt::format(",{},{},{},{},{}", number(simt_efficiency(counted)),
                               number(counters.model ? counters.model->simt_efficiency : std::nullopt),
                               count(counted.dram_read_bytes), count(counted.dram_write_bytes),
                               quoted(counters.reason));
}

}  // namespace

std::string csv_report(const Report& report) {
  std::string text =
      "case,api,device,device_name,variant,scope,cache,height,width,bytes,status,reason,launches,repeats,"
      "time_median_s,time_min_s,noise,samples,samples_dropped,stop,bytes_per_s,of_copy";
  const std::string_view baseline = report.study->baseline;
  if (!baseline.empty()) text += fmt::format(",speedup_over_{}", baseline);
  const bool counters =
      std::any_of(report.results.begin(), report.results.end(), [](const Result& r) { return r.counters.has_value(); });
  text += (counters ? csv_head({}) : "") + "\n";
  for (const auto& r : report.results) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", report.study->name,
                        to_string(r.device->api), r.device->index, quoted(r.device->name), r.variant,
                        to_string(r.scope), to_string(r.cache), r.extent.height, r.extent.width, r.bytes,
                        to_string(r.status), quoted(r.reason), r.launches, r.repeats, number(r.timing.median),
                        number(r.timing.min), number(r.timing.noise), r.timing.samples.size(), r.timing.dropped,
                        r.timing.stop, number(r.bytes_per_second), number(r.of_copy));
    if (!baseline.empty()) text += ',' + number(r.speedup);
    if (counters) text += csv_of(r.counters.value_or(CounterResult{}));
    text += '\n';
  }
  return text;
}

}  // namespace bankwise
