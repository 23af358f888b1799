// SPDX-License-Identifier: MIT
#include <bankwise/trace/codec_records.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <bankwise/banks/architecture.hpp>

namespace bankwise::trace {

void wrong(std::string sentence) { throw BadRecord{std::move(sentence)}; }

std::uint64_t number_of(const json& value, const std::string& name, std::uint64_t max) {
  if (!value.is_number_unsigned()) wrong(name + " is not a whole number");
  const auto number = value.get<std::uint64_t>();
  if (number > max) wrong(fmt::format("{} is {}, more than {}", name, number, max));
  return number;
}

std::string text_of(const json& value, const std::string& name) {
  if (!value.is_string()) wrong(name + " is not a string");
  return value.get<std::string>();
}

std::uint64_t mask_of(const json& value, unsigned lanes) {
  const std::string text = text_of(value, "mask");
  std::uint64_t mask = 0;
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.empty() || text.size() > 16 || !std::all_of(text.begin(), text.end(), is_digit)) {
    wrong("mask is not a hexadecimal number of at most 64 bits");
  }
  for (const char c : text) mask = mask << 4 | unsigned(c <= '9' ? c - '0' : c - 'a' + 10);
  if (mask == 0) wrong("mask has no lane");
  if (lanes < banks::max_lanes && mask >> lanes != 0) {
    wrong(fmt::format("mask has lanes beyond the {} of a warp", lanes));
  }
  return mask;
}

banks::Operation operation_of(const json& value) {
  const auto operation = banks::operation_named(text_of(value, "operation"));
  if (!operation) wrong("operation is unknown to the bank model");
  return *operation;
}

Fault fault_of(const json& value) {
  const auto fault = fault_named(text_of(value, "fault"));
  if (!fault) wrong("fault is unknown");
  return *fault;
}

unsigned width_of(const json& value) {
  const auto width = unsigned(number_of(value, "width", 16));
  constexpr unsigned widths = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 12 | 1 << 16;
  if ((widths >> width & 1) == 0) wrong("width is not one of 1, 2, 4, 8, 12, 16");
  return width;
}

std::uint32_t level_of(const json& value) { return std::uint32_t(number_of(value, "level", max_levels - 1)); }

std::uint32_t known(const json& value, const char* kind, std::size_t defined) {
  const std::uint64_t number = number_of(value, kind, std::numeric_limits<std::uint64_t>::max());
  if (number >= defined) wrong(fmt::format("there is no {} {} of its kernel before it", kind, number));
  return std::uint32_t(number);
}

void check_next(const Record& record, const char* key, std::size_t next) {
  const std::uint64_t number = record.number(key, std::numeric_limits<std::uint64_t>::max());
  if (number != next) wrong(fmt::format("it is {} {}, but {} is next", key, number, next));
}

std::vector<std::uint32_t> addresses_of(const Record& record, std::uint64_t mask) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
  if (!record.has("step")) {
    return of_lanes(record.list("addresses"), "addresses", mask,
                    [](const json& address) { return std::uint32_t(number_of(address, "address", max)); });
  }
  const json& step = record.at("step");
  if (!step.is_number_integer() || step > std::int64_t(max) || step < -std::int64_t(max)) {
    wrong("step is not a 32-bit integer");
  }
  std::vector<std::uint32_t> addresses(banks::max_lanes - unsigned(std::countl_zero(mask)));
  auto address = std::int64_t(record.number("address", max));
  banks::for_each_lane(mask, [&](unsigned lane) {
    if (address < 0 || address > std::int64_t(max)) wrong("step leaves the 32-bit address range");
    addresses[lane] = std::uint32_t(address);
    address += step.get<std::int64_t>();
  });
  return addresses;
}

std::vector<std::uint32_t> sources_of(const Record& record, banks::Operation operation, std::uint64_t mask) {
  const json& list = record.list("sources");
  if (!banks::is_copy(operation)) wrong(fmt::format("a {} has no sources", to_string(operation)));
  return of_lanes(list, "sources", mask,
                  [](const json& source) { return std::uint32_t(number_of(source, "source", source_bytes - 1)); });
}

namespace {

LaunchShape shape_of(const json& row) {
  LaunchShape shape;
  for (const auto& [list, to] : {std::pair(&row[0], &shape.threads), {&row[1], &shape.block}}) {
    if (!list->is_array() || list->size() != 3) wrong("shapes has a size that is not a list of 3");
    for (std::size_t i = 0; i < 3; ++i) (*to)[i] = number_of((*list)[i], "size", max_count);
  }
  shape.launches = number_of(row[2], "launches", max_count);
  return shape;
}

/// The first occurrence of a pattern, from the last four numbers of its row.
Occurrence first_of(const json& row, std::uint64_t launches) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  Occurrence first;
  first.launch = number_of(row[2], "launch", max_count);
  if (first.launch >= launches) wrong("a pattern's first launch is not one of these");
  first.block = number_of(row[3], "block", max);
  first.warp = std::uint32_t(number_of(row[4], "warp", (1 << 20) - 1));
  first.number = number_of(row[5], "number", max);
  return first;
}

using PatternPlaces = std::map<std::uint32_t, std::size_t>;  // places in a list, by the file's numbers

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

void take_patterns(const json& list, const json* merged, const KnownParts& kernel, KernelTrace& launch) {
  const std::uint64_t launches = launches_of(launch);
  PatternPlaces places;
  for (const json& row : list) {
    const std::uint32_t number = known(row[0], "pattern", kernel.patterns.size());
    if (!places.try_emplace(number, launch.patterns.size()).second) {
      wrong(fmt::format("pattern {} is counted twice", number));
    }
    Pattern& pattern = launch.patterns.emplace_back(kernel.patterns[number]);
    pattern.count = number_of(row[1], "count", max_count);
    if (pattern.count == 0) wrong("a pattern's count is 0");
    pattern.first = first_of(row, launches);
  }
  if (merged != nullptr) launch.merged = read_merged(*merged, std::move(places), kernel, launch);
}

void take_excess(const json& list, const KnownParts& kernel, KernelTrace& launch) {
  for (const json& row : list) {
    Excess excess{.site = known(row[0], "site", kernel.sites),
                  .array = known(row[1], "array", kernel.arrays),
                  .operation = operation_of(row[2]),
                  .width = width_of(row[3]),
                  .level = level_of(row[4])};
    const auto* architecture = banks::find_architecture(text_of(row[5], "architecture"));
    if (architecture == nullptr) wrong("excess has an architecture that the bank model does not know");
    excess.architecture = architecture->name;
    excess.accesses = number_of(row[6], "accesses", max_count);
    excess.mixed = number_of(row[7], "mixed", max_count);
    const json& sums = row[8];
    if (!sums.is_array() || sums.size() != 6) wrong("excess has a tally that is not a list of 6");
    std::uint64_t n[6];
    for (std::size_t i = 0; i < 6; ++i) n[i] = number_of(sums[i], "tally", max_passes);
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
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t launches = launches_of(launch);
  std::set<std::tuple<Fault, std::uint32_t, std::optional<std::uint32_t>, bool>> seen;
  for (const json& row : list) {
    DiagnosisRecord diagnosis{.fault = fault_of(row[0]), .site = known(row[1], "site", kernel.sites)};
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
    diagnosis.first.block = number_of(row[6], "block", max);
    diagnosis.first.warp = std::uint32_t(number_of(row[7], "warp", (1 << 20) - 1));
    diagnosis.text = text_of(row[8], "text");
    launch.diagnoses.push_back(std::move(diagnosis));
  }
}

}  // namespace

KernelTrace read_launch(const Record& record, const KnownParts& kernel) {
  KernelTrace launch;
  for (const json& row : record.list("shapes", 3)) launch.shapes.push_back(shape_of(row));
  std::uint64_t launches = 0;
  for (const LaunchShape& shape : launch.shapes) launches = std::max(launches, shape.launches);
  if (launches == 0) wrong("it has no launches: shapes is empty");
  launch.blocks = record.number("blocks", max_count);
  launch.levels = std::uint32_t(record.number("levels", max_levels));
  launch.copied_bytes = record.number_or("copied_bytes", 0, max_passes);
  launch.left_out = record.number_or("left_out", 0, max_count);
  const json& patterns = record.list("patterns", 6);
  take_patterns(patterns, record.has("merged") ? &record.list("merged", 6) : nullptr, kernel, launch);
  for (const json& row : record.list("participants", 3)) {
    launch.participants.push_back(
        {level_of(row[0]), mask_of(row[1], kernel.warp), number_of(row[2], "count", max_count)});
  }
  if (record.has("basic_blocks")) {
    for (const json& row : record.list("basic_blocks", 4)) {
      launch.basic_blocks.push_back({known(row[0], "site", kernel.sites), level_of(row[1]),
                                     number_of(row[2], "issued", max_count), number_of(row[3], "lanes", max_passes)});
    }
  }
  if (record.has("diagnoses")) take_diagnoses(record.list("diagnoses", 9), kernel, launch);
  launch.excess_accesses = record.number_or("excess_accesses", 0, max_count);
  if (record.has("excess")) take_excess(record.list("excess", 10), kernel, launch);
  return launch;
}

void repeat(KernelTrace& launch, std::uint64_t times) {
  for (LaunchShape& shape : launch.shapes) shape.launches *= times;
  for (Pattern& pattern : launch.patterns) pattern.count *= times;
  if (launch.merged) {
    for (Pattern& pattern : *launch.merged) pattern.count *= times;
  }
  for (Participants& warps : launch.participants) warps.count *= times;
  for (DiagnosisRecord& diagnosis : launch.diagnoses) diagnosis.count *= times;
  for (BasicBlock& block : launch.basic_blocks) block.issued *= times, block.lanes *= times;
  for (std::uint64_t* number : {&launch.blocks, &launch.copied_bytes, &launch.left_out, &launch.excess_accesses}) {
    *number *= times;
  }
  for (Excess& excess : launch.excess) {
    banks::Tally tally;
    tally.add(excess.tally, times);
    excess.tally = tally;
    excess.accesses *= times;
    excess.mixed *= times;
  }
}

}  // namespace bankwise::trace
