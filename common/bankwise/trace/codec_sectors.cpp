// The parts of a launch that are about memories whose accesses cost sectors, about engines, and about time.
#include <bankwise/trace/codec_records.hpp>

namespace bankwise::trace {
namespace {

std::vector<GlobalExcess> excess_of(const json& list, std::string_view memory, const KnownParts& kernel) {
  std::vector<GlobalExcess> taken;
  for (const json& row : list) {
    GlobalExcess excess{.site = known(row[0], "site", kernel.sites),
                        .operation = operation_of(row[1]),
                        .width = width_of(row[2]),
                        .architecture = architecture_of(row[3]),
                        .accesses = number_of(row[4], "accesses", max_count)};
    const auto n = tally_of<7>(row[5]);
    excess.tally = {n[0], n[1], n[2], n[3], n[4], n[5], n[6]};
    const banks::SectorTally& tally = excess.tally;
    if (tally.accesses > max_count || tally.lanes > tally.accesses * banks::max_lanes || tally.ideal > tally.sectors ||
        tally.lines > tally.sectors || tally.unknown > tally.accesses) {
      wrong(fmt::format("{}_excess has a tally whose numbers contradict each other", memory));
    }
    taken.push_back(std::move(excess));
  }
  return taken;
}

std::vector<EngineAccesses> engines_of(const json& list, const KnownParts& kernel) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of all blocks of a cluster
  std::vector<EngineAccesses> taken;
  for (const json& row : list) {
    const auto engine = banks::engine_named(text_of(row[1], "engine"));
    if (!engine) wrong("engine is unknown to the bank model");
    const std::uint64_t bytes = number_of(row[2], "bytes", most_bytes);
    taken.push_back({known(row[0], "site", kernel.sites),
                     {*engine, bytes, std::uint32_t(number_of(row[3], "bytes of a row", bytes))},
                     number_of(row[4], "count", max_count)});
    if (taken.back().count == 0) wrong("the count of an engine's instructions is 0");
  }
  return taken;
}

void take_memory(const Record& record, int memory, const KnownParts& kernel, KernelTrace& launch) {
  const SectorMembers& members = sector_members[std::size_t(memory)];
  const std::string name(members.name), patterns = name + "_patterns", excess = name + "_excess";
  if (record.has(patterns.c_str())) {
    take_patterns(record.list(patterns.c_str(), 6), kernel.sector_patterns[std::size_t(memory)], launches_of(launch),
                  launch.*members.patterns);
  }
  launch.*members.excess_accesses = record.number_or((excess + "_accesses").c_str(), 0, max_count);
  if (record.has(excess.c_str())) launch.*members.excess = excess_of(record.list(excess.c_str(), 6), name, kernel);
}

}  // namespace

void take_sectors(const Record& record, const KnownParts& kernel, KernelTrace& launch) {
  for (int memory = 0; memory < sector_memory_count; ++memory) take_memory(record, memory, kernel, launch);
  launch.watches_global = record.has("global_patterns");
  if (launch.watches_global) {
    launch.sectors_read = record.number("sectors_read", max_count);
    launch.sectors_written = record.number("sectors_written", max_count);
  }
  launch.global_left_out = record.number_or("global_left_out", 0, max_count);
  if (record.has("engines")) launch.engines = engines_of(record.list("engines", 5), kernel);
  if (record.has("local_accesses")) {
    for (const json& row : record.list("local_accesses", 5)) {
      launch.local_accesses.push_back({known(row[0], "site", kernel.sites), operation_of(row[1]), width_of(row[2]),
                                       number_of(row[3], "accesses", max_count),
                                       number_of(row[4], "lanes", max_passes)});
    }
  }
  if (!record.has("time")) return;
  const json& time = record.list("time");
  if (time.size() != 8 || !time[4].is_boolean()) wrong("time is not a list of 8");
  launch.time = KernelTime{number_of(time[0], "launches", max_count),
                           number_of(time[1], "nanoseconds", max_passes),
                           number_of(time[2], "clock", max_count),
                           text_of(time[3], "gpu"),
                           time[4].get<bool>(),
                           number_of(time[5], "multiprocessors", max_count),
                           number_of(time[6], "L2 cache", max_count),
                           number_of(time[7], "DRAM", max_count)};
}

Pattern read_global_pattern(const Record& record, const KnownParts& kernel) {
  Pattern pattern;
  pattern.site = known(record.at("site"), "site", kernel.sites);
  pattern.operation = operation_of(record.at("operation"));
  pattern.width = width_of(record.at("width"));
  pattern.mask = mask_of(record.at("mask"), kernel.warp);
  pattern.addresses = addresses_of(record, pattern.mask);
  return pattern;
}

}  // namespace bankwise::trace
