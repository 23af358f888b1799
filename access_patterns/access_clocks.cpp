#include "access_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <bankwise/report/json.hpp>
#include <bankwise/study/levels.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::access_patterns {

using namespace study;

namespace {

/// The first timed row without conflicts: one pass per lane group, so its clocks are known.
const Row* find_calibration(const std::vector<Row>& rows) {
  const auto calibration = std::find_if(rows.begin(), rows.end(), [](const Row& row) {
    const auto& cost = row.access.on_device;
    if (row.result.status == Status::wrong || row.result.timing.median.value_or(0) <= 0) return false;
    return cost && cost->conflicts == 0 && cost->passes == cost->floor;
  });
  return calibration == rows.end() ? nullptr : &*calibration;
}

/// The tally of `times` more iterations, if each adds the difference between the second and the first.
std::optional<banks::Tally> extrapolated(const std::optional<banks::Tally>& first,
                                         const std::optional<banks::Tally>& second, std::uint64_t times) {
  if (!first || !second) return std::nullopt;
  const auto at = [&](std::uint64_t banks::Tally::*value) {
    return *first.*value + times * (*second.*value - *first.*value);
  };
  using banks::Tally;
  return Tally{at(&Tally::accesses), at(&Tally::lanes), at(&Tally::passes), at(&Tally::ideal), at(&Tally::conflicts)};
}

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

std::string heading(const RunResults& run, const Row& any) {
  const gpu::DeviceInfo& device = *any.result.device;
  const std::string on = fmt::format("{}: {}, {}:{} {}\n", run.study->name, size_text(*run.study, any.result.extent),
                                     to_string(device.api), device.index, shown_name(device));
  return on + fmt::format("passes (NVIDIA: wavefronts) by the bank model for {}; {}\n", any.access.architecture,
                          has_banks(device) ? "expected and measured clocks per access"
                                            : "a CPU has no banks: results are only verified");
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

/// The document of a case study, with the access of each row.
Json document_of(const RunResults& run, const std::vector<Row>& rows) {
  Json document = report::json_document(run);
  for (std::size_t i = 0; i < rows.size(); ++i) document["results"][i]["access"] = json_of(rows[i].access);
  return document;
}

}  // namespace

AccessResult access_of(const Variant& variant, Extent extent, const gpu::DeviceInfo& device,
                       const banks::Architecture* wanted) {
  const banks::Architecture* own = banks::find_architecture(device.architecture);
  const banks::Architecture& architecture = model_architecture(wanted, device.architecture);
  const RepeatedAccess repeated = repeated_access(variant, extent);
  AccessResult result{.pattern = std::string(variant.idea),
                      .architecture = std::string(architecture.name),
                      .operation = repeated.operation,
                      .width = repeated.width,
                      .count = repeated.count};
  const auto access_on = [&](const banks::Architecture& on) {
    const std::uint64_t warp = ~std::uint64_t{0} >> (banks::max_lanes - on.warp);
    return banks::Access{repeated.operation, repeated.width, repeated.mask & warp, repeated.addresses};
  };
  const auto outcome = banks::cost(architecture, access_on(architecture));
  if (const auto* cost = std::get_if<banks::Cost>(&outcome)) {
    result.cost = *cost;
  } else {
    result.refusal = banks::sentence(architecture, access_on(architecture), std::get<banks::Refusal>(outcome));
  }
  if (own != nullptr) {
    const auto here = banks::cost(*own, access_on(*own));
    if (const auto* cost = std::get_if<banks::Cost>(&here)) result.on_device = *cost;
  }
  return result;
}

std::optional<double> expected_clocks(const AccessResult& access) {
  if (!access.cost) return std::nullopt;
  return std::max(access.cost->passes, access.cost->floor);
}

std::optional<MeasuredPasses> measured_passes(const AccessResult& access) {
  if (!access.clocks || !access.on_device) return std::nullopt;
  const auto nearest = unsigned(std::max(std::lround(*access.clocks), 1L));
  return MeasuredPasses{nearest, nearest <= access.on_device->floor};
}

void derive_clocks(std::vector<Row>& rows) {
  const Row* calibration = find_calibration(rows);
  for (Row& row : rows) {
    if (!row.result.timing.median) continue;
    AccessResult& access = row.access;
    const double clocks = row.counted.empty() ? 0 : support::median(row.counted);
    if (access.count == 0) {
      access.clocks_from = "no access was made";
    } else if (clocks > 0) {
      access.clocks = clocks / double(access.count);
      access.clocks_from = "clock64";
    } else if (calibration != nullptr) {
      const double unit = *calibration->result.timing.median / double(calibration->access.count);
      const banks::Cost& known = *calibration->access.on_device;
      access.clocks = *row.result.timing.median / double(access.count) / unit * double(known.passes);
      access.clocks_from = fmt::format("time relative to {}", calibration->result.variant);
    } else {
      access.clocks_from = access.on_device ? "no conflict-free row to compare its time with; add --variant stride1"
                                            : "the bank model does not know this device";
    }
  }
}

JobModel model_of_turns(const Variant& variant, Extent extent, const banks::Architecture& architecture) {
  constexpr std::uint64_t emulated = 2;
  const auto turns = [&](std::uint64_t count) { return job_model(case_study(), variant, {1, count}, 1, architecture); };
  if (extent.width <= emulated) return turns(extent.width);
  const JobModel first = turns(1);
  JobModel model = turns(emulated);
  const std::uint64_t more = extent.width - 1;
  model.loads = extrapolated(first.loads, model.loads, more);
  model.stores = extrapolated(first.stores, model.stores, more);
  model.atomics = extrapolated(first.atomics, model.atomics, more);
  model.simt_efficiency.reset();  // two iterations and the setup before them do not represent many iterations
  return model;
}

bool has_banks(const gpu::DeviceInfo& device) { return device.is_gpu; }

std::string text_report(const RunResults& run, const std::vector<Row>& rows) {
  std::string text;
  for (const auto& device : run.devices) {
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
    text += heading(run, *any) + support::format_table(table, 3, banks) + support::by_reason(reasons) + '\n';
  }
  return text;
}

std::string json_report(const RunResults& run, const std::vector<Row>& rows) {
  return report::text_of(document_of(run, rows));
}

std::string csv_report(const RunResults& run, const std::vector<Row>& rows) {
  const Json document = document_of(run, rows);
  std::vector<Json> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json& line = lines.emplace_back(document["results"][i]);
    line.update(Json(line["access"]));
    line.update({{"case", run.study->name},
                 {"device_name", rows[i].result.device->name},
                 {"turns", line["n"]},
                 {"samples", rows[i].result.timing.samples.size()},
                 {"lane_bytes", line["width"]}});
  }
  return report::csv_of({"case",    "api",          "device",    "device_name",     "variant",
                         "turns",   "status",       "reason",    "time_median_s",   "noise",
                         "samples", "stop",         "operation", "lane_bytes",      "architecture",
                         "passes",  "ideal_passes", "conflicts", "expected_clocks", "clocks"},
                        lines);
}

}  // namespace bankwise::access_patterns
