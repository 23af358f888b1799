// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <bankwise/report/report.hpp>
#include <bankwise/study/access_clocks.hpp>
#include <bankwise/support/revision.hpp>

namespace bankwise {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// To a picosecond, which is finer than any timer.
double rounded(double seconds) {
  return std::round(seconds * 1e12) / 1e12;
}

Json json_of(const gpu::DeviceInfo& device) {
  return {{"api", to_string(device.api)},
          {"index", device.index},
          {"name", device.name},
          {"platform", device.platform},
          {"driver", device.driver},
          {"warp_width", or_null(device.warp_width)},
          {"compute_units", device.compute_units},
          {"cache_bytes", device.cache},
          {"memory_bytes", device.global_memory},
          {"timer_resolution_s", rounded(device.timer_resolution_s)},
          {"throttling", device.throttling}};
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

/// The same keys three times: counted, by the model, and the difference.
Json json_of(const CounterResult& result) {
  const gpu::Counters counted = result.counted.value_or(gpu::Counters{});
  const auto simt = gpu::simt_efficiency(counted);
  Json row, model, difference;
  for (const auto& number : shared_memory_numbers(result)) {
    row[number.key] = or_null(number.counted);
    model[number.key] = or_null(number.model);
    difference[number.key] = or_null(number.difference());
  }
  row.update({{"simt_efficiency", or_null(simt)},
              {"dram_read_bytes", or_null(counted.dram_read_bytes)},
              {"dram_write_bytes", or_null(counted.dram_write_bytes)},
              {"replays", counted.replays},
              {"reason", result.reason},
              {"model", nullptr},
              {"difference", nullptr}});
  if (result.model) {
    const auto of_model = result.model->simt_efficiency;
    model["simt_efficiency"] = or_null(of_model);
    model.update({{"architecture", result.model->architecture->name}, {"reason", result.model->reason}});
    difference["simt_efficiency"] = simt && of_model ? Json(*simt - *of_model) : Json(nullptr);
    row["model"] = std::move(model);
    row["difference"] = std::move(difference);
  }
  return row;
}

Json json_of(const CaseStudy& study, const Result& result) {
  Json row{{"api", to_string(result.device->api)},
           {"device", result.device->index},
           {"variant", result.variant},
           {"library", result.library.empty() ? Json(nullptr) : Json(result.library)},
           {"scope", to_string(result.scope)},
           {"cache", to_string(result.cache)},
           {"n", result.extent.count()}};
  if (study.is_matrix) row.update({{"height", result.extent.height}, {"width", result.extent.width}});
  Json samples = Json::array();
  for (const double sample : result.samples) samples.push_back(rounded(sample));
  row.update({{"bytes", result.bytes},
              {"status", to_string(result.status)},
              {"reason", result.reason},
              {"launches", result.launches},
              {"repeats", result.repeats},
              {"batch", result.batch},
              {"time_median_s", or_null(result.time_median)},
              {"time_min_s", or_null(result.time_min)},
              {"noise", or_null(result.noise)},
              {"stop", result.stop},
              {"samples_s", samples},
              {"samples_dropped", result.dropped},
              {"dropped_because", result.dropped_because},
              {"launch_overhead", result.launch_overhead},
              {"bytes_per_s", or_null(result.bytes_per_second)},
              {"of_copy", or_null(result.of_copy)},
              {"speedup_over_naive", or_null(result.speedup_over_naive)},
              {"counters", result.counters ? json_of(*result.counters) : Json(nullptr)}});
  if (result.access) row["access"] = json_of(*result.access);
  return row;
}

/// What accesses cost, or nulls.
Json json_of(const std::optional<banks::Tally>& costs) {
  const auto number = [&](std::uint64_t banks::Tally::*value) { return costs ? Json((*costs).*value) : Json(nullptr); };
  return {{"passes", number(&banks::Tally::passes)},
          {"ideal_passes", number(&banks::Tally::ideal)},
          {"conflicts", number(&banks::Tally::conflicts)}};
}

void add_levels(Json& rows, const VariantLevels& variant, const KernelLevels& kernel) {
  for (const auto& level : kernel.report.levels) {
    const bool any = level.costs.accesses > 0;
    Json row{{"variant", variant.variant},
             {"architecture", variant.architecture->name},
             {"warp_width", kernel.report.warp},
             {"block", variant.group.size()},
             {"kernel", kernel.name},
             {"level", level.level},
             {"name", kernel.level_names[level.level]},
             {"active_lanes", level.active_lanes},
             {"issued_warps", level.issued_warps},
             {"alu_utilization", any ? Json(level.alu_utilization) : Json(nullptr)},
             {"accesses", level.costs.accesses}};
    row.update(json_of(known(level.costs)));
    rows.push_back(std::move(row));
  }
}

Json totals_of(const VariantLevels& variant) {
  Json row{{"variant", variant.variant},
           {"architecture", variant.architecture->name},
           {"alu_utilization", or_null(variant.alu_utilization)},
           {"simt_efficiency", or_null(variant.simt_efficiency)}};
  row.update(json_of(variant.costs));
  row["reason"] = variant.reason;
  return row;
}

/// One line. A byte that is not UTF-8, in a file name or a compiler's log, becomes the replacement character.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string json_report(const Report& report) {
  Json devices = Json::array(), results = Json::array(), levels = Json::array(), totals = Json::array();
  for (const auto& device : report.devices) devices.push_back(json_of(device));
  for (const auto& result : report.results) results.push_back(json_of(*report.study, result));
  for (const auto& variant : report.levels) {
    for (const auto& kernel : variant.kernels) add_levels(levels, variant, kernel);
    totals.push_back(totals_of(variant));
  }
  const Json json{
      {"schema_version", 1}, {"case", report.study->name}, {"command", report.command}, {"revision", revision()},
      {"devices", devices},  {"results", results},         {"levels", levels},          {"totals", totals}};
  // One row a line: a person can read it, and git can show what changed.
  std::string text = "{\n";
  for (auto entry = json.begin(); entry != json.end(); ++entry) {
    text += fmt::format("{}: ", line_of(entry.key()));
    if (!entry->is_array() || entry.key() == "command" || entry->empty()) {
      text += line_of(*entry);
    } else {
      text += "[";
      for (std::size_t i = 0; i < entry->size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + line_of((*entry)[i]);
      text += "\n]";
    }
    text += std::next(entry) == json.end() ? "\n" : ",\n";
  }
  return text + "}\n";
}

namespace {

std::string quoted(const std::string& text) {
  std::string copy = "\"";
  for (const char c : text) copy += c == '"' ? "\"\"" : c == '\n' ? " " : std::string(1, c);
  return copy + '"';
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// The columns that single accesses add, each with a comma in front.
std::string csv_of(const AccessResult& access) {
  const auto of_model = [&](unsigned banks::Cost::*value) {
    return access.cost ? std::to_string(*access.cost.*value) : std::string();
  };
  return fmt::format(",{},{},{},{},{},{},{},{}", to_string(access.operation), access.width, access.architecture,
                     of_model(&banks::Cost::passes), of_model(&banks::Cost::ideal), of_model(&banks::Cost::conflicts),
                     number(expected_clocks(access)), number(access.clocks));
}

/// The columns that counters add, likewise.
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
  return columns + fmt::format(",{},{},{},{},{}", number(gpu::simt_efficiency(counted)),
                               number(counters.model ? counters.model->simt_efficiency : std::nullopt),
                               count(counted.dram_read_bytes), count(counted.dram_write_bytes),
                               quoted(counters.reason));
}

}  // namespace

std::string csv_report(const Report& report) {
  std::string text =
      "case,api,device,device_name,variant,scope,cache,height,width,bytes,status,reason,launches,repeats,"
      "time_median_s,time_min_s,noise,samples,samples_dropped,stop,bytes_per_s,of_copy,speedup_over_naive";
  const bool accesses = report.study->access != nullptr;
  text += accesses ? ",operation,lane_bytes,architecture,passes,ideal_passes,conflicts,expected_clocks,clocks" : "";
  const bool counters =
      std::any_of(report.results.begin(), report.results.end(), [](const Result& r) { return r.counters.has_value(); });
  text += (counters ? csv_head({}) : "") + "\n";
  for (const auto& r : report.results) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", report.study->name,
                    to_string(r.device->api), r.device->index, quoted(r.device->name), r.variant, to_string(r.scope),
                    to_string(r.cache), r.extent.height, r.extent.width, r.bytes, to_string(r.status), quoted(r.reason),
                    r.launches, r.repeats, number(r.time_median), number(r.time_min), number(r.noise), r.samples.size(),
                    r.dropped, r.stop, number(r.bytes_per_second), number(r.of_copy), number(r.speedup_over_naive));
    if (r.access) text += csv_of(*r.access);
    if (counters) text += csv_of(r.counters.value_or(CounterResult{}));
    text += '\n';
  }
  return text;
}

}  // namespace bankwise
