// SPDX-License-Identifier: MIT
#include "bankcheck/check/launch_record.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace bankwise::opencl {
namespace {

using nlohmann::json;

/// Programs write any bytes into their sources, and JSON holds Unicode alone.
std::string as_line(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

json json_of(const banks::Tally& tally) {
  return {tally.accesses, tally.lanes, tally.passes, tally.ideal, tally.conflicts, tally.unknown};
}

banks::Tally tally_in(const json& array) {
  return {array.at(0), array.at(1), array.at(2), array.at(3), array.at(4), array.at(5)};
}

json json_of(const LineTally& line) {
  json object{{"file", line.place.file},
              {"line", line.place.line},
              {"column", line.place.column},
              {"array", line.array},
              {"operation", to_string(line.operation)},
              {"width", line.width},
              {"tally", json_of(line.tally)},
              {"mixed", line.mixed}};
  if (line.worst) {
    object["worst"] = {{"conflicts", line.worst->conflicts}, {"group", line.worst->group},
                       {"level", line.worst->level},         {"warp", line.worst->warp},
                       {"mask", line.worst->mask},           {"addresses", line.worst->addresses}};
  }
  return object;
}

LineTally line_in(const json& object) {
  const auto operation = banks::operation_named(object.at("operation").get<std::string>());
  LineTally line{.place = {object.at("file"), object.at("line"), object.at("column")},
                 .array = object.at("array"),
                 .operation = operation.value(),
                 .width = object.at("width"),
                 .tally = tally_in(object.at("tally")),
                 .mixed = object.at("mixed")};
  if (const auto worst = object.find("worst"); worst != object.end()) {
    line.worst = {worst->at("conflicts"), worst->at("group"), worst->at("level"),
                  worst->at("warp"),      worst->at("mask"),  worst->at("addresses")};
  }
  return line;
}

json json_of(const ArchitectureTally& tally) {
  json object{{"architecture", tally.architecture},
              {"warp", tally.warp},
              {"lines", json::array()},
              {"levels", json::array()},
              {"unknown", tally.unknown}};
  for (const LineTally& line : tally.lines) object["lines"].push_back(json_of(line));
  for (const LevelTally& level : tally.levels) {
    object["levels"].push_back({level.active_lanes, level.issued_warps, json_of(level.tally)});
  }
  return object;
}

ArchitectureTally architecture_in(const json& object) {
  ArchitectureTally tally{object.at("architecture"), object.at("warp"), {}, {}, object.at("unknown")};
  for (const json& line : object.at("lines")) tally.lines.push_back(line_in(line));
  for (const json& level : object.at("levels")) {
    tally.levels.push_back({level.at(0), level.at(1), tally_in(level.at(2))});
  }
  return tally;
}

Launch launch_in(const json& object) {
  Launch launch{.kernel = object.at("kernel"),
                .process = object.at("process"),
                .program = object.at("program"),
                .build_options = object.at("build_options"),
                .global = object.at("global"),
                .local = object.at("local"),
                .work_groups = object.at("work_groups"),
                .copied_bytes = object.at("copied_bytes"),
                .left_out = object.at("left_out"),
                .knows_code = object.at("knows_code")};
  for (const json& tally : object.at("tallies")) launch.tallies.push_back(architecture_in(tally));
  return launch;
}

void take(Record& record, const json& object) {
  const std::string& kind = object.at("record").get_ref<const std::string&>();
  if (kind == "context") {
    ++record.contexts;
  } else if (kind == "source") {
    record.sources.push_back({object.at("process"), object.at("program"), object.at("text")});
  } else if (kind == "launch") {
    record.launches.push_back(launch_in(object));
    if (record.launches.back().tallies.size() != record.launches.front().tallies.size()) throw std::runtime_error(kind);
  } else {
    record.errors.push_back(object.at("error"));
  }
}

void add(ArchitectureTally& sum, const ArchitectureTally& other) {
  const auto key = [](const LineTally& line) { return std::tie(line.place, line.array, line.operation, line.width); };
  for (const LineTally& line : other.lines) {
    const auto at = std::lower_bound(sum.lines.begin(), sum.lines.end(), line,
                                     [&](const LineTally& a, const LineTally& b) { return key(a) < key(b); });
    if (at == sum.lines.end() || key(*at) != key(line)) {
      sum.lines.insert(at, line);
      continue;
    }
    at->tally.add(line.tally);
    at->mixed += line.mixed;
    if (line.worst) keep_worse(at->worst, *line.worst);
  }
  if (sum.levels.size() < other.levels.size()) sum.levels.resize(other.levels.size());
  for (std::size_t i = 0; i < other.levels.size(); ++i) {
    sum.levels[i].active_lanes += other.levels[i].active_lanes;
    sum.levels[i].issued_warps += other.levels[i].issued_warps;
    sum.levels[i].tally.add(other.levels[i].tally);
  }
  for (const std::string& sentence : other.unknown) {
    if (std::find(sum.unknown.begin(), sum.unknown.end(), sentence) == sum.unknown.end()) {
      sum.unknown.push_back(sentence);
    }
  }
  std::sort(sum.unknown.begin(), sum.unknown.end());
}

}  // namespace

void keep_worse(std::optional<WorstAccess>& worst, const WorstAccess& other) {
  const auto rank = [](const WorstAccess& access) {
    return std::tuple(~access.conflicts, access.group, access.level, access.warp);
  };
  if (!worst || rank(other) < rank(*worst)) worst = other;
}

std::uint64_t groups_of(const Launch& launch) {
  std::uint64_t groups = 1;
  for (std::size_t i = 0; i < launch.global.size(); ++i) {
    groups *= (launch.global[i] + launch.local[i] - 1) / std::max<std::uint64_t>(1, launch.local[i]);
  }
  return groups;
}

void add(Launch& sum, const Launch& other) {
  sum.several_sizes |=
      other.several_sizes || (other.launches > 0 && (sum.local != other.local || sum.global != other.global));
  sum.launches += other.launches;
  sum.work_groups += other.work_groups;
  sum.copied_bytes += other.copied_bytes;
  sum.left_out += other.left_out;
  sum.knows_code &= other.knows_code;
  for (std::size_t i = 0; i < sum.tallies.size(); ++i) add(sum.tallies[i], other.tallies.at(i));
}

std::string context_line() {
  return as_line({{"record", "context"}});
}

std::string line_of(const ProgramSource& source) {
  return as_line(
      {{"record", "source"}, {"process", source.process}, {"program", source.program}, {"text", source.text}});
}

std::string line_of(const Launch& launch) {
  json object{{"record", "launch"},
              {"kernel", launch.kernel},
              {"process", launch.process},
              {"program", launch.program},
              {"build_options", launch.build_options},
              {"global", launch.global},
              {"local", launch.local},
              {"work_groups", launch.work_groups},
              {"copied_bytes", launch.copied_bytes},
              {"left_out", launch.left_out},
              {"knows_code", launch.knows_code},
              {"tallies", json::array()}};
  for (const ArchitectureTally& tally : launch.tallies) object["tallies"].push_back(json_of(tally));
  return as_line(object);
}

std::string error_line(const std::string& message) {
  return as_line({{"record", "error"}, {"error", message}});
}

Record parse_record(const std::string& text) {
  Record record;
  std::istringstream lines(text);
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      take(record, json::parse(line));
    } catch (const std::exception&) {  // whatever is wrong with it
      throw std::runtime_error("line " + std::to_string(number) + " of the plugin's record is damaged");
    }
  }
  return record;
}

}  // namespace bankwise::opencl
