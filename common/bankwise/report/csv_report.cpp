// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include <bankwise/report/report.hpp>

namespace bankwise::report {
namespace {

/// A column: its head, and its text in a row.
struct CsvColumn {
  std::string name;
  std::function<std::string(const Result&)> text;
};

std::string quoted(const std::string& text) {
  std::string copy = "\"";
  for (const char c : text) copy += c == '"' ? "\"\"" : c == '\n' ? " " : std::string(1, c);
  return copy + '"';
}

template <class Value>
std::string number(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::vector<CsvColumn> csv_columns(const CaseStudy& study) {
  std::vector<CsvColumn> columns{{"case", [&](const Result&) { return std::string(study.name); }},
                                 {"api", [](const Result& r) { return std::string(to_string(r.device->api)); }},
                                 {"device", [](const Result& r) { return std::to_string(r.device->index); }},
                                 {"device_name", [](const Result& r) { return quoted(r.device->name); }},
                                 {"variant", [](const Result& r) { return r.variant; }},
                                 {"scope", [](const Result& r) { return std::string(to_string(r.scope)); }},
                                 {"cache", [](const Result& r) { return std::string(to_string(r.cache)); }},
                                 {"height", [](const Result& r) { return std::to_string(r.extent.height); }},
                                 {"width", [](const Result& r) { return std::to_string(r.extent.width); }},
                                 {"bytes", [](const Result& r) { return std::to_string(r.bytes); }},
                                 {"status", [](const Result& r) { return std::string(to_string(r.status)); }},
                                 {"reason", [](const Result& r) { return quoted(r.reason); }},
                                 {"launches", [](const Result& r) { return std::to_string(r.launches); }},
                                 {"repeats", [](const Result& r) { return std::to_string(r.repeats); }},
                                 {"time_median_s", [](const Result& r) { return number(r.timing.median); }},
                                 {"time_min_s", [](const Result& r) { return number(r.timing.min); }},
                                 {"noise", [](const Result& r) { return number(r.timing.noise); }},
                                 {"samples", [](const Result& r) { return std::to_string(r.timing.samples.size()); }},
                                 {"samples_dropped", [](const Result& r) { return std::to_string(r.timing.dropped); }},
                                 {"stop", [](const Result& r) { return r.timing.stop; }},
                                 {"bytes_per_s", [](const Result& r) { return number(r.bytes_per_second); }},
                                 {"of_copy", [](const Result& r) { return number(r.of_copy); }}};
  if (std::ranges::find(study.sides, &Extent::depth, &Side::length) != study.sides.end()) {
    const auto width = std::ranges::find(columns, "width", &CsvColumn::name);
    columns.insert(width + 1, {"depth", [](const Result& r) { return std::to_string(r.extent.depth); }});
  }
  if (!study.baseline.empty()) {
    columns.push_back(
        {fmt::format("speedup_over_{}", study.baseline), [](const Result& r) { return number(r.speedup); }});
  }
  return columns;
}

void add_counters(std::vector<CsvColumn>& columns) {
  const auto add = [&](std::string name, auto text) {
    columns.push_back(
        {std::move(name), [text](const Result& r) { return text(r.counters.value_or(CounterResult{})); }});
  };
  const auto numbers = shared_memory_numbers({});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string key(numbers[i].key);
    add(key, [i](const CounterResult& c) { return number(shared_memory_numbers(c)[i].counted); });
    add(key + "_model", [i](const CounterResult& c) { return number(shared_memory_numbers(c)[i].model); });
  }
  const auto counted = [](const CounterResult& c) { return c.counted.value_or(gpu::Counters{}); };
  add("simt_efficiency", [=](const CounterResult& c) { return number(bankwise::simt_efficiency(counted(c))); });
  add("simt_efficiency_model",
      [](const CounterResult& c) { return number(c.model ? c.model->simt_efficiency : std::nullopt); });
  add("dram_read_bytes", [=](const CounterResult& c) { return number(counted(c).dram_read_bytes); });
  add("dram_write_bytes", [=](const CounterResult& c) { return number(counted(c).dram_write_bytes); });
  add("no_counters_because", [](const CounterResult& c) { return quoted(c.reason); });
}

}  // namespace

std::string csv_report(const Report& report) {
  std::vector<CsvColumn> columns = csv_columns(*report.study);
  if (std::any_of(report.results.begin(), report.results.end(), [](const Result& r) { return r.counters.has_value(); }))
    add_counters(columns);
  std::string text;
  for (const CsvColumn& column : columns) text += (text.empty() ? "" : ",") + column.name;
  text += '\n';
  for (const Result& result : report.results) {
    const char* separator = "";
    for (const CsvColumn& column : columns) text += std::exchange(separator, ",") + column.text(result);
    text += '\n';
  }
  return text;
}

}  // namespace bankwise::report
