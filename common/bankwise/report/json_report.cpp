#include <fmt/format.h>

#include <algorithm>

#include <bankwise/report/json.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/csv.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {

using namespace study;

namespace {

/// One line. A byte that is not UTF-8, in a file name or a compiler's log, becomes the replacement character.
std::string line_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

/// The keys of a row that concern its samples.
Json json_of(const Timing& timing) {
  Json samples = Json::array();
  for (const double sample : timing.samples) samples.push_back(to_picoseconds(sample));
  return {{"batch", timing.batch},
          {"time_median_s", or_null(timing.median)},
          {"time_min_s", or_null(timing.min)},
          {"noise", or_null(timing.noise)},
          {"stop", timing.stop},
          {"samples_s", samples},
          {"samples_dropped", timing.dropped},
          {"launch_overhead", timing.launch_overhead}};
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
          {"clock_hz", device.clock_hz > 0 ? Json(device.clock_hz) : Json(nullptr)},
          {"timer_resolution_s", to_picoseconds(device.timer_resolution_s)},
          {"throttling", device.throttling}};
}

/// The same keys three times: counted, by the model, and the difference.
Json json_of(const CounterResult& result) {
  const gpu::Counters counted = result.counted.value_or(gpu::Counters{});
  const auto simt = study::simt_efficiency(counted);
  Json row, model, difference;
  for (const auto& number : shared_memory_numbers(result)) {
    row[number.key] = or_null(number.counted);
    model[number.key] = or_null(number.model);
    difference[number.key] = or_null(number.difference());
  }
  row.update({{"arbitration_conflicts", or_null(counted.arbitration_conflicts)},
              {"simt_efficiency", or_null(simt)},
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
  for (const Side& side : study.sides) row[std::string(side.name)] = result.extent.*side.length;
  row.update({{"bytes", result.bytes},
              {"status", to_string(result.status)},
              {"reason", result.reason},
              {"launches", result.launches},
              {"repeats", result.repeats}});
  row.update(json_of(result.timing));
  row.update({{"dropped_because", result.dropped_because},
              {"bytes_per_s", or_null(result.bytes_per_second)},
              {"of_copy", or_null(result.of_copy)}});
  if (!study.baseline.empty()) row[fmt::format("speedup_over_{}", study.baseline)] = or_null(result.speedup);
  const Limits limits = result.limits.value_or(Limits{});
  row.update({{"shared_busy", result.limits ? Json(limits.shared_busy) : Json(nullptr)},
              {"bound", or_null(limits.speedup)},
              {"least_time_s", limits.least_s > 0 ? Json(to_picoseconds(limits.least_s)) : Json(nullptr)}});
  row.update({{"counters", result.counters ? json_of(*result.counters) : Json(nullptr)}});
  return row;
}

Json json_on_ranks(const Result& result) {
  const Scaling& scaling = result.scaling;
  Json row{{"variant", result.variant},          {"alone", scaling.alone.empty() ? Json(nullptr) : Json(scaling.alone)},
           {"status", to_string(result.status)}, {"reason", result.reason},
           {"memory_bytes", result.bytes},       {"link_bytes", scaling.link_bytes}};
  row.update(json_of(result.timing));
  row.update({{"floor_s", or_null(scaling.floor_s)},
              {"of_floor", or_null(scaling.of_floor)},
              {"weak_scaling", or_null(scaling.weak)},
              {"exchanges_s", or_null(scaling.exchanges_s)},
              {"launches_s", or_null(scaling.launches_s)},
              {"exchange_share", or_null(scaling.exchanging)}});
  return row;
}

Json document_of_ranks(const RunResults& run) {
  Json document{
      {"schema_version", 1}, {"case", run.study->name}, {"command", run.command}, {"revision", support::revision()}};
  const Result& first = run.results.front();
  for (const Side& side : run.study->sides) document[std::string(side.name)] = first.extent.*side.length;
  Json ranks = Json::array(), results = Json::array();
  for (const RankInfo& rank : run.ranks->ranks) {
    ranks.push_back({{"host", rank.host}, {"device", rank.device}, {"input_words", rank.input_words}});
  }
  for (const Result& result : run.results) results.push_back(json_on_ranks(result));
  document.update({{"api", to_string(run.devices.front().api)},
                   {"cache", to_string(first.cache)},
                   {"engine", run.ranks->engine},
                   {"mpi", run.ranks->mpi},
                   {"topology", run.ranks->topology},
                   {"ranks", ranks},
                   {"results", results}});
  return document;
}

/// The cost of accesses, or nulls.
Json json_of(const std::optional<banks::Tally>& costs) {
  const auto number = [&](std::uint64_t banks::Tally::*value) { return costs ? Json((*costs).*value) : Json(nullptr); };
  return {{"passes", number(&banks::Tally::passes)},
          {"ideal_passes", number(&banks::Tally::ideal)},
          {"conflicts", number(&banks::Tally::conflicts)}};
}

void add_levels(Json& rows, const VariantLevels& variant, const KernelLevels& kernel) {
  for (std::uint32_t number = 0; number < kernel.report.level_count; ++number) {
    const trace::LevelReport level = kernel.report.level(number);
    Json row{{"variant", variant.variant},
             {"architecture", variant.architecture->name},
             {"warp_width", kernel.report.warp},
             {"block", variant.group.size()},
             {"kernel", kernel.name},
             {"level", level.level},
             {"name", kernel.level_names[level.level]},
             {"active_lanes", level.active_lanes},
             {"issued_warps", level.issued_warps},
             {"alu_utilization", or_null(alu_utilization(level.costs, kernel.report.warp))},
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

/// The text of a number, or of a text as one field of one line; nothing for null.
std::string csv_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  std::ranges::replace(text, '\n', ' ');
  return support::csv_field(text);
}

/// A row of the JSON report, with what only the CSV report has.
Json csv_row(const RunResults& run, const Result& result) {
  Json row = json_of(*run.study, result);
  row.update({{"case", run.study->name},
              {"device_name", result.device->name},
              {"height", result.extent.height},
              {"width", result.extent.width},
              {"depth", result.extent.depth},
              {"samples", result.timing.samples.size()}});
  if (!result.counters) return row;
  const Json counters = row["counters"], &model = counters["model"];
  for (const auto& [key, count] : counters.items()) {
    row[key == "reason" ? "no_counters_because" : key] = count;
    if (model.is_object() && model.contains(key)) row[key + "_model"] = model[key];
  }
  return row;
}

std::vector<std::string> csv_columns(const RunResults& run) {
  std::vector<std::string> columns{"case",        "api",     "device",      "device_name",     "variant",
                                   "scope",       "cache",   "height",      "width",           "bytes",
                                   "status",      "reason",  "launches",    "repeats",         "time_median_s",
                                   "time_min_s",  "noise",   "samples",     "samples_dropped", "stop",
                                   "bytes_per_s", "of_copy", "shared_busy", "bound",           "least_time_s"};
  const CaseStudy& study = *run.study;
  if (std::ranges::find(study.sides, &Extent::depth, &Side::length) != study.sides.end()) {
    columns.insert(std::ranges::find(columns, "bytes"), "depth");
  }
  if (!study.baseline.empty()) columns.push_back(fmt::format("speedup_over_{}", study.baseline));
  if (!run.has_counters()) return columns;
  for (const auto& number : shared_memory_numbers({})) {
    columns.emplace_back(number.key);
    columns.push_back(fmt::format("{}_model", number.key));
  }
  columns.insert(columns.end(), {"arbitration_conflicts", "simt_efficiency", "simt_efficiency_model", "dram_read_bytes",
                                 "dram_write_bytes", "no_counters_because"});
  return columns;
}

}  // namespace

Json json_document(const RunResults& run) {
  if (run.ranks) return document_of_ranks(run);
  Json devices = Json::array(), results = Json::array(), levels = Json::array(), totals = Json::array();
  for (const auto& device : run.devices) devices.push_back(json_of(device));
  for (const auto& result : run.results) results.push_back(json_of(*run.study, result));
  for (const auto& variant : run.levels) {
    for (const auto& kernel : variant.kernels) add_levels(levels, variant, kernel);
    totals.push_back(totals_of(variant));
  }
  return {{"schema_version", 1}, {"case", run.study->name}, {"command", run.command}, {"revision", support::revision()},
          {"devices", devices},  {"results", results},      {"levels", levels},       {"totals", totals}};
}

std::string text_of(const Json& document) {
  std::string text = "{\n";
  for (auto entry = document.begin(); entry != document.end(); ++entry) {
    text += fmt::format("{}: ", line_of(entry.key()));
    if (!entry->is_array() || entry.key() == "command" || entry->empty()) {
      text += line_of(*entry);
    } else {
      text += "[";
      for (std::size_t i = 0; i < entry->size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + line_of((*entry)[i]);
      text += "\n]";
    }
    text += std::next(entry) == document.end() ? "\n" : ",\n";
  }
  return text + "}\n";
}

std::string json_report(const RunResults& run) { return text_of(json_document(run)); }

std::string csv_of(const std::vector<std::string>& columns, const std::vector<Json>& rows) {
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  for (const Json& row : rows) {
    std::vector<std::string> fields;
    for (const std::string& column : columns) fields.push_back(csv_text(row.value(column, Json())));
    text += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return text;
}

std::string csv_report(const RunResults& run) {
  std::vector<Json> rows;
  for (const Result& result : run.results) rows.push_back(csv_row(run, result));
  return csv_of(csv_columns(run), rows);
}

}  // namespace bankwise::report
