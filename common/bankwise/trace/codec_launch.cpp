// Patterns and launches.
#include <algorithm>
#include <set>
#include <tuple>

#include <bankwise/trace/codec_records.hpp>

namespace bankwise::trace {
namespace {

/// The sources of all lanes up to the last active one. Only copies may have them.
std::vector<std::uint32_t> sources_of(const Record& record, banks::Operation operation, std::uint64_t mask) {
  const json& list = record.list("sources");
  if (!banks::is_copy(operation)) wrong(fmt::format("a {} has no sources", to_string(operation)));
  const bool has_lines = operation == banks::Operation::cp_async_cg;
  const std::uint32_t max = (has_lines ? banks::max_lanes : 1) * source_bytes - 1;
  return of_lanes(list, "sources", mask, [max](const json& source) {
    return source.is_null() ? banks::no_source : std::uint32_t(number_of(source, "source", max));
  });
}

LaunchShape shape_of(const json& row) {
  LaunchShape shape;
  for (const auto& [list, to] : {std::pair(&row[0], &shape.threads), {&row[1], &shape.block}}) {
    if (!list->is_array() || list->size() != 3) wrong("shapes has a size that is not a list of 3");
    for (std::size_t i = 0; i < 3; ++i) (*to)[i] = number_of((*list)[i], "size", max_count);
  }
  std::uint64_t threads = 1;
  for (const std::uint64_t length : shape.block) {
    if (length == 0) wrong("shapes has a block or work-group without threads");
    if (__builtin_mul_overflow(threads, length, &threads)) wrong("shapes has a block of more than 2^64 threads");
  }
  shape.launches = number_of(row[2], "launches", max_count);
  return shape;
}

/// Applies changes to the patterns of a launch.
std::vector<Pattern> read_merged(const json& list, PatternPlaces places, const KnownParts& kernel,
                                 const KernelTrace& launch) {
  const std::uint64_t launches = launches_of(launch);
  std::vector<Pattern> merged = launch.patterns;
  std::set<std::uint32_t> changed;
  for (const json& row : list) {
    const std::uint32_t number = known(row[0], "pattern", kernel.patterns.size());
    if (!changed.insert(number).second) wrong(fmt::format("pattern {} is merged twice", number));
    const auto [place, is_new] = places.try_emplace(number, merged.size());
    const Occurrence first = first_of(row, launches);
    if (is_new) merged.emplace_back(kernel.patterns[number]).first = first;
    Pattern& pattern = merged[place->second];
    if (row[1].is_number_integer() && !row[1].is_number_unsigned()) {
      const auto change = row[1].get<std::int64_t>();
      if (change < -std::int64_t(pattern.count)) wrong("fewer accesses than none remain of a pattern");
      pattern.count -= std::uint64_t(-change);
    } else {
      const std::uint64_t change = number_of(row[1], "change", max_count);
      if (change == 0) wrong("a pattern's change is 0");
      pattern.count += change;
    }
  }
  std::erase_if(merged, [](const Pattern& pattern) { return pattern.count == 0; });
  return merged;
}

void take_excess(const json& list, const KnownParts& kernel, KernelTrace& launch) {
  for (const json& row : list) {
    Excess excess{.site = known(row[0], "site", kernel.sites),
                  .array = known(row[1], "array", kernel.arrays),
                  .operation = operation_of(row[2]),
                  .width = width_of(row[3]),
                  .level = level_of(row[4])};
    excess.architecture = architecture_of(row[5]);
    excess.accesses = number_of(row[6], "accesses", max_count);
    excess.mixed = number_of(row[7], "mixed", max_count);
    const auto n = tally_of<6>(row[8]);
    excess.tally = {n[0], n[1], n[2], n[3], n[4], n[5]};
    excess.why_unknown = text_of(row[9], "why_unknown");
    const banks::Tally& tally = excess.tally;
    if (tally.accesses > max_count || tally.lanes > tally.accesses * banks::max_lanes || tally.ideal > tally.passes ||
        tally.conflicts > tally.passes || tally.unknown > tally.accesses || excess.mixed > tally.accesses) {
      wrong("excess has a tally whose numbers contradict each other");
    }
    launch.excess.push_back(std::move(excess));
  }
}

void take_diagnoses(const json& list, const KnownParts& kernel, KernelTrace& launch) {
  const std::uint64_t launches = launches_of(launch);
  std::set<std::tuple<Fault, std::uint32_t, std::optional<std::uint32_t>, bool>> seen;
  for (const json& row : list) {
    const auto fault = fault_named(text_of(row[0], "fault"));
    if (!fault) wrong("fault is unknown");
    DiagnosisRecord diagnosis{.fault = *fault, .site = known(row[1], "site", kernel.sites)};
    if (!row[2].is_null()) diagnosis.other = known(row[2], "site", kernel.sites);
    if (!row[3].is_boolean()) wrong("ended is neither true nor false");
    diagnosis.ended = row[3].get<bool>();
    if (!seen.emplace(diagnosis.fault, diagnosis.site, diagnosis.other, diagnosis.ended).second) {
      wrong("a diagnosis is counted twice");
    }
    diagnosis.count = number_of(row[4], "count", max_count);
    if (diagnosis.count == 0) wrong("a diagnosis's count is 0");
    diagnosis.first.launch = number_of(row[5], "launch", max_count);
    if (diagnosis.first.launch >= launches) wrong("a diagnosis's launch is not one of these");
    diagnosis.first.block = number_of(row[6], "block");
    diagnosis.first.warp = std::uint32_t(number_of(row[7], "warp", max_warp));
    diagnosis.text = text_of(row[8], "text");
    launch.diagnoses.push_back(std::move(diagnosis));
  }
}

/// What the causes leave of the number has no cause.
LeftOut left_out_of(const Record& record) {
  constexpr std::size_t most_causes = 100;
  LeftOut left_out;
  std::uint64_t rest = record.number_or("left_out", 0, max_count);
  const json& list = record.list_or_none("left_out_causes", 2);
  if (list.size() > most_causes) wrong(fmt::format("left_out has more than {} causes", most_causes));
  for (const json& row : list) {
    const std::uint64_t count = number_of(row[1], "count", max_count);
    if (count > rest) wrong("the causes of left_out add up to more");
    rest -= count;
    if (!left_out.try_emplace(name_of(row[0], "cause"), count).second) wrong("left_out has a cause twice");
  }
  if (rest > 0) left_out[""] += rest;
  return left_out;
}

// --- Memories whose accesses cost sectors, engines, and time ---

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

void take_memory(const Record& record, std::size_t memory, const KnownParts& kernel, KernelTrace& launch) {
  const SectorMembers& members = sector_members[memory];
  const std::string name(members.name), excess = name + "_excess";
  take_patterns(record.list_or_none((name + "_patterns").c_str(), 6), kernel.sector_patterns[memory],
                launches_of(launch), launch.*members.patterns);
  launch.*members.excess_accesses = record.number_or((excess + "_accesses").c_str(), 0, max_count);
  launch.*members.excess = excess_of(record.list_or_none(excess.c_str(), 6), name, kernel);
}

/// Adds what a launch did with memories whose accesses cost sectors, what its engines did, and how long it took.
void take_sectors(const Record& record, const KnownParts& kernel, KernelTrace& launch) {
  for (std::size_t memory = 0; memory < sector_members.size(); ++memory) take_memory(record, memory, kernel, launch);
  launch.watches_global = record.has("global_patterns");
  if (launch.watches_global) {
    launch.sectors_read = record.number("sectors_read", max_count);
    launch.sectors_written = record.number("sectors_written", max_count);
  }
  launch.global_left_out = record.number_or("global_left_out", 0, max_count);
  launch.engines = engines_of(record.list_or_none("engines", 5), kernel);
  for (const json& row : record.list_or_none("local_accesses", 5)) {
    launch.local_accesses.push_back({known(row[0], "site", kernel.sites), operation_of(row[1]), width_of(row[2]),
                                     number_of(row[3], "accesses", max_count), number_of(row[4], "lanes", max_passes)});
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

}  // namespace

Pattern read_global_pattern(const Record& record, const KnownParts& kernel) {
  Pattern pattern;
  pattern.site = known(record.at("site"), "site", kernel.sites);
  pattern.operation = operation_of(record.at("operation"));
  pattern.width = width_of(record.at("width"));
  pattern.mask = mask_of(record.at("mask"), kernel.warp);
  pattern.addresses = addresses_of(record, pattern.mask);
  return pattern;
}

Pattern read_pattern(const Record& record, const KnownParts& kernel) {
  Pattern pattern = read_global_pattern(record, kernel);
  pattern.array = known(record.at("array"), "array", kernel.arrays);
  pattern.level = level_of(record.at("level"));
  if (record.has("lane_arrays")) {
    pattern.lane_arrays = of_lanes(record.list("lane_arrays"), "lane_arrays", pattern.mask,
                                   [&](const json& array) { return known(array, "array", kernel.arrays); });
  }
  if (record.has("sources")) pattern.sources = sources_of(record, pattern.operation, pattern.mask);
  if (record.has("is_loop")) pattern.is_loop = record.flag("is_loop");
  return pattern;
}

KernelTrace read_launch(const Record& record, const KnownParts& kernel) {
  KernelTrace launch;
  for (const json& row : record.list("shapes", 3)) launch.shapes.push_back(shape_of(row));
  const auto is_empty = [](const LaunchShape& shape) { return shape.launches == 0; };
  if (std::ranges::all_of(launch.shapes, is_empty)) wrong("it has no launches: shapes is empty");
  launch.blocks = record.number("blocks", max_count);
  launch.levels = std::uint32_t(record.number("levels", max_levels));
  launch.copied_bytes = record.number_or("copied_bytes", 0, max_passes);
  launch.left_out = left_out_of(record);
  PatternPlaces places =
      take_patterns(record.list("patterns", 6), kernel.patterns, launches_of(launch), launch.patterns);
  if (record.has("merged")) {
    launch.merged = read_merged(record.list("merged", 6), std::move(places), kernel, launch);
  }
  if (record.has("watches_shared")) launch.watches_shared = record.flag("watches_shared");
  take_sectors(record, kernel, launch);
  for (const json& row : record.list("participants", 3)) {
    launch.participants.push_back(
        {level_of(row[0]), mask_of(row[1], kernel.warp), number_of(row[2], "count", max_count)});
  }
  for (const json& row : record.list_or_none("basic_blocks", 4)) {
    launch.basic_blocks.push_back({known(row[0], "site", kernel.sites), level_of(row[1]),
                                   number_of(row[2], "issued", max_count), number_of(row[3], "lanes", max_passes)});
  }
  take_diagnoses(record.list_or_none("diagnoses", 9), kernel, launch);
  launch.excess_accesses = record.number_or("excess_accesses", 0, max_count);
  take_excess(record.list_or_none("excess", 10), kernel, launch);
  return launch;
}

}  // namespace bankwise::trace
