// SPDX-License-Identifier: MIT
#include <bankwise/trace/json_lines_launch.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <bankwise/banks/architecture.hpp>

namespace bankwise::trace {
namespace {

Shape shape_of(const json& row) {
  Shape shape;
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

void take_patterns(const json& list, const json* merged, const KnownParts& kernel, KernelTrace& launch) {
  const std::uint64_t launches = launches_of(launch);
  std::map<std::uint32_t, std::size_t> places;  // in the launch's patterns
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
  if (merged == nullptr) return;
  for (const json& row : *merged) {
    const std::uint32_t number = known(row[0], "pattern", kernel.patterns.size());
    const auto [place, is_new] = places.try_emplace(number, launch.patterns.size());
    if (is_new) launch.patterns.emplace_back(kernel.patterns[number]).first = first_of(row, launches);
    Pattern& pattern = launch.patterns[place->second];
    if (pattern.merged_change != 0) wrong(fmt::format("pattern {} is merged twice", number));
    const bool less = row[1].is_number_integer() && !row[1].is_number_unsigned();
    if (less) {
      const auto change = row[1].get<std::int64_t>();
      if (change >= 0 || change < -std::int64_t(pattern.count)) wrong("fewer accesses than none remain of a pattern");
      pattern.merged_change = change;
    } else {
      pattern.merged_change = std::int64_t(number_of(row[1], "change", max_count));
    }
    if (pattern.merged_change == 0) wrong("a pattern's change is 0");
    (void)first_of(row, launches);
  }
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
    Diagnosis one{.fault = fault_of(row[0]), .site = known(row[1], "site", kernel.sites)};
    if (!row[2].is_null()) one.other = known(row[2], "site", kernel.sites);
    if (!row[3].is_boolean()) wrong("ended is neither true nor false");
    one.ended = row[3].get<bool>();
    if (!seen.emplace(one.fault, one.site, one.other, one.ended).second) wrong("a diagnosis is counted twice");
    one.count = number_of(row[4], "count", max_count);
    if (one.count == 0) wrong("a diagnosis's count is 0");
    one.first.launch = number_of(row[5], "launch", max_count);
    if (one.first.launch >= launches) wrong("a diagnosis's launch is not one of these");
    one.first.block = number_of(row[6], "block", max);
    one.first.warp = std::uint32_t(number_of(row[7], "warp", (1 << 20) - 1));
    one.text = text_of(row[8], "text");
    launch.diagnoses.push_back(std::move(one));
  }
}

}  // namespace

KernelTrace read_launch(const Object& record, const KnownParts& kernel) {
  KernelTrace launch;
  for (const json& row : record.list("shapes", 3)) launch.shapes.push_back(shape_of(row));
  std::uint64_t launches = 0;
  for (const Shape& shape : launch.shapes) launches = std::max(launches, shape.launches);
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
  for (Shape& shape : launch.shapes) shape.launches *= times;
  for (Pattern& pattern : launch.patterns) {
    pattern.count *= times;
    pattern.merged_change *= std::int64_t(times);
  }
  for (Participants& one : launch.participants) one.count *= times;
  for (Diagnosis& one : launch.diagnoses) one.count *= times;
  for (BasicBlock& one : launch.basic_blocks) one.issued *= times, one.lanes *= times;
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
