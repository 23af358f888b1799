// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include <bankwise/report/json.hpp>
#include <bankwise/support/csv.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include "access_patterns.hpp"

namespace bankwise::access_patterns {
namespace {

using report::Json, report::or_null;
using Table = std::vector<std::vector<std::string>>;

std::string text_of_model(const AccessResult& access, unsigned banks::Cost::*value) {
  return access.cost ? std::to_string(*access.cost.*value) : std::string();
}

std::string number(const std::optional<double>& value, const char* format = "{}") {
  return value ? fmt::format(fmt::runtime(format), *value) : std::string();
}

std::string verified(const Result& result) {
  if (result.status == Status::ok) return "yes";
  return result.status == Status::wrong ? "WRONG" : std::string(to_string(result.status));
}

/// The clock columns are present only if the device has banks to measure.
std::vector<std::string> head_of(bool banks) {
  std::vector<std::string> head{"pattern", "verified", "access", "passes", "ideal", "conflicts", "expected"};
  if (banks) head.insert(head.end(), {"clocks", "measured passes", "from"});
  return head;
}

std::vector<std::string> cells_of(const Row& row, bool banks) {
  const AccessResult& access = row.access;
  std::vector<std::string> cells{row.result.variant,
                                 verified(row.result),
                                 fmt::format("{} {}", to_string(access.operation), access.width),
                                 text_of_model(access, &banks::Cost::passes),
                                 text_of_model(access, &banks::Cost::ideal),
                                 text_of_model(access, &banks::Cost::conflicts),
                                 number(expected_clocks(access))};
  if (banks) {
    const auto passes = measured_passes(access);
    cells.push_back(number(access.clocks, "{:.2f}"));
    cells.push_back(passes ? fmt::format("{}{}", passes->at_most ? "<= " : "", passes->passes) : "");
  }
  for (auto& cell : cells) cell = cell.empty() ? "-" : cell;
  if (banks) cells.push_back(access.clocks_from);
  return cells;
}

std::string heading(const Report& report, const Row& any) {
  const gpu::DeviceInfo& device = *any.result.device;
  const std::string on =
      fmt::format("{}: {}, {}:{} {}\n", report.study->name, size_text(*report.study, any.result.extent),
                  to_string(device.api), device.index, device.name);
  if (has_banks(device)) {
    return on + fmt::format("passes by the bank model for {}; expected and measured clocks per access\n",
                            any.access.architecture);
  }
  return on + fmt::format("passes by the bank model for {}; this device has no banks: results are only verified\n",
                          any.access.architecture);
}

Json json_of(const AccessResult& access) {
  const auto of_model = [&](unsigned banks::Cost::*value) {
    return access.cost ? Json(*access.cost.*value) : Json(nullptr);
  };
  const auto passes = measured_passes(access);
  return {{"pattern", access.pattern},
          {"operation", to_string(access.operation)},
          {"width", access.width},
          {"count", access.count},
          {"architecture", access.architecture},
          {"passes", of_model(&banks::Cost::passes)},
          {"ideal_passes", of_model(&banks::Cost::ideal)},
          {"conflicts", of_model(&banks::Cost::conflicts)},
          {"floor_clocks", of_model(&banks::Cost::floor)},
          {"refusal", access.refusal},
          {"expected_clocks", or_null(expected_clocks(access))},
          {"clocks", or_null(access.clocks)},
          {"measured_passes", passes ? Json(passes->passes) : Json(nullptr)},
          {"at_floor", passes ? Json(passes->at_most) : Json(nullptr)},
          {"clocks_from", access.clocks_from}};
}

}  // namespace

bool has_banks(const gpu::DeviceInfo& device) { return device.is_gpu; }

std::string text_report(const Report& report, const std::vector<Row>& rows) {
  std::string text;
  for (const auto& device : report.devices) {
    const bool banks = has_banks(device);
    Table table{head_of(banks)};
    std::vector<std::pair<std::string, std::string>> reasons;
    const Row* any = nullptr;
    for (const Row& row : rows) {
      if (row.result.device->index != device.index) continue;
      any = &row;
      table.push_back(cells_of(row, banks));
      if (!row.result.reason.empty()) reasons.emplace_back(row.result.variant, row.result.reason);
      if (row.result.timing.dropped > 0) {
        reasons.emplace_back(row.result.variant, fmt::format("samples were dropped, because the GPU throttled ({})",
                                                             row.result.dropped_because));
      }
      if (!row.access.refusal.empty()) reasons.emplace_back(row.result.variant + ", model", row.access.refusal);
    }
    if (any == nullptr) continue;
    text += heading(report, *any) + format_table(table, 3, banks) + by_reason(reasons) + '\n';
  }
  return text;
}

std::string json_report(const Report& report, const std::vector<Row>& rows) {
  Json document = report::json_document(report);
  for (std::size_t i = 0; i < rows.size(); ++i) document["results"][i]["access"] = json_of(rows[i].access);
  return report::text_of(document);
}

std::string csv_report(const std::vector<Row>& rows) {
  std::string text =
      "case,api,device,device_name,variant,turns,status,reason,time_median_s,noise,samples,stop,"
      "operation,lane_bytes,architecture,passes,ideal_passes,conflicts,expected_clocks,clocks\n";
  for (const auto& [result, access, counted] : rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},", case_study().name, to_string(result.device->api),
                        result.device->index, csv_field(result.device->name), result.variant, result.extent.width,
                        to_string(result.status), csv_field(result.reason), number(result.timing.median),
                        number(result.timing.noise), result.timing.samples.size(), result.timing.stop);
    text += fmt::format("{},{},{},{},{},{},{},{}\n", to_string(access.operation), access.width, access.architecture,
                        text_of_model(access, &banks::Cost::passes), text_of_model(access, &banks::Cost::ideal),
                        text_of_model(access, &banks::Cost::conflicts), number(expected_clocks(access)),
                        number(access.clocks));
  }
  return text;
}

}  // namespace bankwise::access_patterns
