#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include <bankwise/report/report.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/stop_rule.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {

using namespace study;

namespace {

using nlohmann::json;

struct Rows {
  std::map<std::string, Timing> timed;        ///< rows that are right
  std::map<std::string, std::string> others;  ///< status of rows that are wrong or failed
};

/// "1 x 70": the row's height and width, and its depth if the case study has one.
std::string size_of(const json& row, std::span<const Side> sides) {
  std::string size;
  for (const auto length : {&Extent::height, &Extent::width, &Extent::depth}) {
    const auto side = std::ranges::find(sides, length, &Side::length);
    if (length == &Extent::depth && side == sides.end()) continue;
    size += (size.empty() ? "" : " x ") + (side == sides.end() ? "1" : row.at(std::string(side->name)).dump());
  }
  return size;
}

/// A report's rows, keyed by what must agree in two runs. The key has the device's name, because its index may change.
Rows rows_of(const std::string& report, std::span<const Side> sides) {
  const json root = json::parse(report);
  std::map<std::string, std::string> names;  // by index
  std::map<std::string, int> seen;
  for (const auto& device : root.at("devices")) {
    const std::string name = device.at("name"), api = device.at("api");
    const int ports = seen[api + name]++;  // several GPUs of one kind
    names[device.at("index").dump()] = ports == 0 ? name : fmt::format("{} #{}", name, ports + 1);
  }
  Rows rows;
  for (const auto& row : root.at("results")) {
    const std::string key =
        fmt::format("{}, {}, {}, {}, {}, {}", std::string(row.at("variant")), std::string(row.at("api")),
                    names.at(row.at("device").dump()), size_of(row, sides), std::string(row.at("scope")),
                    std::string(row.at("cache")));
    const std::string status = row.at("status");
    if (status == to_string(Status::wrong) || status == to_string(Status::error)) {
      rows.others[key] = status;
    } else if (!row.at("time_median_s").is_null()) {
      Timing& timing = rows.timed[key];
      timing.median = row.at("time_median_s").get<double>();
      if (!row.at("noise").is_null()) timing.noise = row.at("noise").get<double>();
    }
  }
  return rows;
}

/// Whether two medians differ by more than the noise of both; empty if there were too few samples to know the noise.
std::optional<bool> differ(const Timing& before, const Timing& now) {
  return support::differ({*before.median, before.noise}, {*now.median, now.noise});
}

std::string verdict(const Timing& before, const Timing& now) {
  const auto apart = differ(before, now);
  if (!apart) return "too few samples";
  if (!*apart) return "within the noise";
  return *now.median < *before.median ? "faster" : "slower";
}

}  // namespace

std::string too_noisy(std::string_view baseline, std::span<const Result> results) {
  const auto measured = [](const Result& result) {
    return is_variant(result.variant) && result.status == Status::ok && result.timing.median.value_or(0) > 0;
  };
  const auto is_baseline = [&](const Result& result) { return measured(result) && result.variant == baseline; };
  auto reference = std::ranges::find_if(results, is_baseline);
  if (reference == results.end()) reference = std::ranges::find_if(results, measured);
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const Result& result : results) {
    if (!measured(result) || &result == &*reference) continue;
    if (result.timing.stop == "quiet" && reference->timing.stop == "quiet") continue;
    const auto apart = differ(reference->timing, result.timing);
    if (apart.value_or(false)) continue;
    reasons.emplace_back(result.variant,
                         apart ? "the difference is within the noise" : "too few samples to know the noise");
  }
  if (reasons.empty()) return "";
  return fmt::format("note: too noisy to compare with {}; --timeout measures longer\n", reference->variant) +
         support::by_reason(reasons);
}

EarlierRun::EarlierRun(const CaseStudy& study, const std::string& path) : path_(path) {
  if (path.empty()) return;
  try {
    text_ = support::read_input(path);
    const json root = json::parse(text_);
    if (root.at("schema_version") != 1 || root.at("case") != study.name)
      throw support::UsageError(fmt::format("{} is not a report of {}, schema version 1", path, study.name));
    rows_of(text_, study.sides);
  } catch (const support::UsageError& error) {
    throw support::UsageError(fmt::format("--compare: {}", error.what()));
  } catch (const json::exception&) {
    throw support::UsageError(fmt::format("--compare: {} is not a JSON report of {}", path, study.name));
  } catch (const std::out_of_range&) {
    throw support::UsageError(fmt::format("--compare: {} has a row of a device that it does not list", path));
  }
}

std::string EarlierRun::compare(const RunResults& run) const {
  if (path_.empty()) return "";
  const auto before = rows_of(text_, run.study->sides).timed;
  const auto [now, failed] = rows_of(json_report(run), run.study->sides);
  std::vector<std::vector<std::string>> rows{{"row", "before", "now", "now / before", "verdict"}};
  for (const auto& [key, timing] : now) {
    if (const auto old = before.find(key); old != before.end()) {
      rows.push_back({key, support::format_time(*old->second.median), support::format_time(*timing.median),
                      fmt::format("{:.3f}", *timing.median / *old->second.median), verdict(old->second, timing)});
    }
  }
  const std::size_t common = rows.size() - 1;
  for (const auto& [key, status] : failed) {
    const auto old = before.find(key);
    if (old != before.end())
      rows.push_back({key, support::format_time(*old->second.median), "-", "-", "now " + status});
  }
  const std::size_t broken = rows.size() - 1 - common;
  return fmt::format("compared with {}:\n{}{} rows in both, {}{} only before, {} only now\n", path_,
                     rows.size() == 1 ? "" : support::format_table(rows, 1, true), common,
                     broken == 0 ? "" : fmt::format("{} now wrong or failed, ", broken),
                     before.size() - common - broken, now.size() - common);
}

}  // namespace bankwise::report
