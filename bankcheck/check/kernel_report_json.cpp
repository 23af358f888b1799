// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include <bankwise/support/revision.hpp>
#include "bankcheck/check/kernel_report.hpp"

namespace bankwise::opencl {
namespace {

using nlohmann::ordered_json;

/// The keys of the samples' levels.
void put(ordered_json& object, const banks::Tally& tally, unsigned warp) {
  object["alu_utilization"] = tally.utilization(warp);
  object["accesses"] = tally.accesses;
  object["lanes"] = tally.lanes;
  object["passes"] = tally.passes;
  object["ideal_passes"] = tally.ideal;
  object["conflicts"] = tally.conflicts;
  object["unknown"] = tally.unknown;
}

ordered_json json_of(const WorstAccess& worst) {
  return {{"conflicts", worst.conflicts}, {"group", worst.group}, {"level", worst.level},
          {"warp", worst.warp},           {"mask", worst.mask},   {"addresses", worst.addresses}};
}

ordered_json json_of(const LineTally& line, const SourceLine& source, unsigned warp) {
  ordered_json object{{"file", source.place.file},     {"line", source.place.line},
                      {"column", source.place.column}, {"is_file", source.is_file},
                      {"source", source.text},         {"operation", to_string(line.operation)},
                      {"width", line.width},           {"array", line.array}};
  put(object, line.tally, warp);
  object["mixed_arrays"] = line.mixed;
  object["worst"] = line.worst ? json_of(*line.worst) : ordered_json();
  return object;
}

ordered_json json_of(const KernelReport& kernel, std::size_t number) {
  const ArchitectureTally& tally = kernel.sum.tallies[number];
  ordered_json object{{"architecture", tally.architecture}, {"warp_width", tally.warp}};
  put(object, kernel.all(number), tally.warp);
  object["why_unknown"] = tally.unknown;
  object["lines"] = ordered_json::array();
  for (std::size_t i = 0; i < tally.lines.size(); ++i) {
    object["lines"].push_back(json_of(tally.lines[i], kernel.lines[number][i], tally.warp));
  }
  object["levels"] = ordered_json::array();
  for (std::size_t i = 0; i < tally.levels.size(); ++i) {
    const LevelTally& level = tally.levels[i];
    ordered_json one{{"level", i}, {"active_lanes", level.active_lanes}, {"issued_warps", level.issued_warps}};
    put(one, level.tally, tally.warp);
    object["levels"].push_back(std::move(one));
  }
  return object;
}

}  // namespace

std::string to_json(const std::vector<KernelReport>& kernels, const std::vector<std::string>& command) {
  ordered_json json{
      {"schema_version", 1}, {"command", command}, {"revision", revision()}, {"kernels", ordered_json::array()}};
  for (const KernelReport& kernel : kernels) {
    ordered_json object{{"kernel", kernel.name},
                        {"build_options", kernel.sum.build_options},
                        {"launches", kernel.sum.launches},
                        {"work_groups", kernel.sum.work_groups},
                        {"global_size", kernel.sum.global},
                        {"local_size", kernel.sum.local},
                        {"several_sizes", kernel.sum.several_sizes},
                        {"copied_bytes", kernel.sum.copied_bytes},
                        {"architectures", ordered_json::array()}};
    for (std::size_t i = 0; i < kernel.sum.tallies.size(); ++i) object["architectures"].push_back(json_of(kernel, i));
    json["kernels"].push_back(std::move(object));
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace bankwise::opencl
