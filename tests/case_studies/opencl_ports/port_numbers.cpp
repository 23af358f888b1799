// SPDX-License-Identifier: MIT
#include "port_numbers.hpp"

#include <stdexcept>

#include "port_studies.hpp"
#include "tests/emulator/emulated_plan.hpp"

using namespace bankwise;
using nlohmann::json;

namespace {

/// Adds the counts of one object to those of another, which may have none yet. Ratios do not add up.
void add(json& sum, const json& counts) {
  for (const char* name :
       {"active_lanes", "issued_warps", "accesses", "lanes", "passes", "ideal_passes", "conflicts", "unknown"}) {
    if (!counts.contains(name)) continue;  // only levels have lanes that took part
    json& to = sum[name];
    to = (to.is_null() ? 0 : to.get<std::uint64_t>()) + counts.at(name).get<std::uint64_t>();
  }
}

void add_level(PortNumbers& numbers, std::size_t level, const json& counts) {
  while (numbers.levels.size() <= level) numbers.levels.push_back(json::object());
  add(numbers.levels[level], counts);
}

void add_kind(PortNumbers& numbers, const std::string& operation, unsigned width, const json& counts) {
  add(numbers.kinds[operation + ' ' + std::to_string(width)], counts);
}

json json_of(const banks::Tally& costs) {
  return {{"accesses", costs.accesses},  {"lanes", costs.lanes},         {"passes", costs.passes},
          {"ideal_passes", costs.ideal}, {"conflicts", costs.conflicts}, {"unknown", costs.unknown}};
}

}  // namespace

void add_report(PortNumbers& numbers, const trace::Report& report) {
  for (const auto& level : report.levels) {
    json counts = json_of(level.costs);
    counts["active_lanes"] = level.active_lanes;
    counts["issued_warps"] = level.issued_warps;
    add_level(numbers, level.level, counts);
  }
  for (const auto& line : report.lines) {
    add_kind(numbers, std::string(to_string(line.operation)), line.width, json_of(line.costs));
  }
}

AllPortNumbers emulated_numbers(const CaseStudy& study, Extent extent, const banks::Architecture& architecture) {
  AllPortNumbers all;
  const std::vector<Words> inputs = all_inputs(study, extent);
  for (const Variant& variant : variants_of_all_kernels(study, extent, emulated_units)) {
    if (!why_not_emulated(study, variant).empty()) continue;
    const auto job = emulate_job(study, variant, extent, inputs, {.warp = architecture.warp}, {}, true);
    if (job.outputs != study.reference(extent, inputs, variant)) {
      throw std::runtime_error(std::string(variant.name) + " is wrong in the emulator");
    }
    const Plan plan = study.plan(variant, extent, emulated_units);
    for (std::size_t i = 0; i < job.traces.size(); ++i) {
      add_report(all[plan.launches()[i].kernel], trace::report(job.traces[i], architecture));
    }
  }
  return all;
}

AllPortNumbers checked_numbers(const json& report, std::string_view architecture) {
  AllPortNumbers all;
  for (const json& kernel : report.at("kernels")) {
    PortNumbers& numbers = all[kernel.at("kernel")];
    for (const json& on : kernel.at("architectures")) {
      if (on.at("architecture") != architecture) continue;
      for (const json& level : on.at("levels")) add_level(numbers, level.at("level"), level);
      for (const json& line : on.at("lines")) add_kind(numbers, line.at("operation"), line.at("width"), line);
    }
  }
  return all;
}
