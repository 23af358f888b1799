#include <bankwise/trace/codec_records.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::trace {

void wrong(std::string sentence) { throw BadRecord{std::move(sentence)}; }

json record_in(const std::string& line) {
  constexpr int deepest_list = 3, deepest = 100;
  static const std::set<std::string, std::less<>> known_keys{"record",
                                                             "process",
                                                             "kernel",
                                                             "source",
                                                             "site",
                                                             "array",
                                                             "pattern",
                                                             "text",
                                                             "name",
                                                             "options",
                                                             "warp",
                                                             "splits",
                                                             "knows_code",
                                                             "file",
                                                             "line",
                                                             "column",
                                                             "function",
                                                             "pc",
                                                             "offset",
                                                             "bytes",
                                                             "operation",
                                                             "width",
                                                             "level",
                                                             "mask",
                                                             "addresses",
                                                             "address",
                                                             "step",
                                                             "lane_arrays",
                                                             "sources",
                                                             "is_loop",
                                                             "shapes",
                                                             "blocks",
                                                             "levels",
                                                             "patterns",
                                                             "merged",
                                                             "excess",
                                                             "left_out",
                                                             "diagnoses",
                                                             "basic_blocks",
                                                             "maker",
                                                             "participants",
                                                             "copied_bytes",
                                                             "lines",
                                                             "revision",
                                                             "command",
                                                             "excess_accesses",
                                                             "bankwise_trace",
                                                             "time",
                                                             "global_pattern",
                                                             "global_patterns",
                                                             "global_excess",
                                                             "global_excess_accesses",
                                                             "global_left_out",
                                                             "local_accesses",
                                                             "sectors_read",
                                                             "sectors_written",
                                                             "watches_shared"};
  std::set<std::string, std::less<>> keys;
  bool is_known = true, is_list = false;
  const auto keep = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys.insert(key).second) wrong(fmt::format("it has the key {} twice", support::in_quotes(key)));
      return is_known = known_keys.contains(key);
    }
    const bool list = event == json::parse_event_t::array_start;
    is_list |= list && depth == 0;
    if (is_list) return false;
    const int limit = !is_known ? deepest : list ? deepest_list : 0;
    if ((list || event == json::parse_event_t::object_start) && depth > limit) wrong("it is nested too deep");
    return true;
  };
  try {
    json record = json::parse(line, keep);
    if (is_list) wrong("it is not an object");
    return record;
  } catch (const json::exception&) {
    return json::value_t::discarded;
  }
}

std::string Record::name(const char* key) const {
  constexpr std::size_t longest = 1000, shown = 200;
  std::string name = text(key);
  for (std::size_t at = name.find('\n'); at != std::string::npos; at = name.find('\n', at)) name[at] = ' ';
  if (name.size() <= longest) return name;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
  std::size_t end = shown;
  while ((static_cast<unsigned char>(name[end]) & 0xC0) == 0x80 && end > shown - 4) --end;  // a whole character
  return fmt::format("{}... ({} bytes, {:016x})", name.substr(0, end), name.size(), hash);
}

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

namespace {

/// The number of something defined earlier.
std::uint32_t known(const json& value, const char* kind, std::size_t defined) {
  const std::uint64_t number = number_of(value, kind);
  if (number >= defined) wrong(fmt::format("there is no {} {} of its kernel before it", kind, number));
  return std::uint32_t(number);
}

std::uint64_t mask_of(const json& value, unsigned lanes) {
  const std::string text = text_of(value, "mask");
  std::uint64_t mask = 0;
  if (text.size() > 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos ||
      !support::parse_number(text, mask, 16)) {
    wrong("mask is not a hexadecimal number of at most 64 bits");
  }
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

std::string architecture_of(const json& value) {
  const auto* architecture = banks::find_architecture(text_of(value, "architecture"));
  if (architecture == nullptr) wrong("excess has an architecture that the bank model does not know");
  return std::string(architecture->name);
}

template <std::size_t size>
std::array<std::uint64_t, size> tally_of(const json& sums) {
  if (!sums.is_array() || sums.size() != size) wrong(fmt::format("excess has a tally that is not a list of {}", size));
  std::array<std::uint64_t, size> numbers;
  for (std::size_t i = 0; i < size; ++i) numbers[i] = number_of(sums[i], "tally", max_passes);
  return numbers;
}

std::uint32_t level_of(const json& value) { return std::uint32_t(number_of(value, "level", max_levels - 1)); }

/// One number per active lane, stored at the lane's index.
template <class Number>
std::vector<std::uint32_t> of_lanes(const json& list, const char* name, std::uint64_t mask, Number number) {
  if (list.size() != std::size_t(std::popcount(mask))) {
    wrong(fmt::format("{} has {} numbers for {} active lanes", name, list.size(), std::popcount(mask)));
  }
  std::vector<std::uint32_t> numbers(banks::max_lanes - unsigned(std::countl_zero(mask)));
  std::size_t next = 0;
  banks::for_each_lane(mask, [&](unsigned lane) { numbers[lane] = number(list[next++]); });
  return numbers;
}

/// The addresses of all lanes up to the last active one, from a list or from steps.
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

/// The sources of all lanes up to the last active one. Only copies may have them.
std::vector<std::uint32_t> sources_of(const Record& record, banks::Operation operation, std::uint64_t mask) {
  const json& list = record.list("sources");
  if (!banks::is_copy(operation)) wrong(fmt::format("a {} has no sources", to_string(operation)));
  return of_lanes(list, "sources", mask,
                  [](const json& source) { return std::uint32_t(number_of(source, "source", source_bytes - 1)); });
}

constexpr std::uint64_t max_warp = (1 << 20) - 1;

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

/// The first occurrence of a pattern, from the last four numbers of its row.
Occurrence first_of(const json& row, std::uint64_t launches) {
  const std::uint64_t launch = number_of(row[2], "launch", max_count);
  if (launch >= launches) wrong("a pattern's first launch is not one of these");
  return {number_of(row[3], "block"), std::uint32_t(number_of(row[4], "warp", max_warp)), launch,
          number_of(row[5], "number")};
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

/// Their places in `counted`.
PatternPlaces take_patterns(const json& list, const std::vector<Pattern>& defined, std::uint64_t launches,
                            std::vector<Pattern>& counted) {
  PatternPlaces places;
  for (const json& row : list) {
    const std::uint32_t number = known(row[0], "pattern", defined.size());
    if (!places.try_emplace(number, counted.size()).second) wrong(fmt::format("pattern {} is counted twice", number));
    Pattern& pattern = counted.emplace_back(defined[number]);
    pattern.count = number_of(row[1], "count", max_count);
    if (pattern.count == 0) wrong("a pattern's count is 0");
    pattern.first = first_of(row, launches);
  }
  return places;
}

void take_global_excess(const json& list, const KnownParts& kernel, KernelTrace& launch) {
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
      wrong("global_excess has a tally whose numbers contradict each other");
    }
    launch.global_excess.push_back(std::move(excess));
  }
}

/// What a launch did with global memory, and how long it took.
void take_global(const Record& record, const KnownParts& kernel, KernelTrace& launch) {
  if (record.has("global_patterns")) {
    launch.watches_global = true;
    take_patterns(record.list("global_patterns", 6), kernel.global_patterns, launches_of(launch),
                  launch.global_patterns);
    launch.sectors_read = record.number("sectors_read", max_count);
    launch.sectors_written = record.number("sectors_written", max_count);
  }
  launch.global_left_out = record.number_or("global_left_out", 0, max_count);
  launch.global_excess_accesses = record.number_or("global_excess_accesses", 0, max_count);
  if (record.has("global_excess")) take_global_excess(record.list("global_excess", 6), kernel, launch);
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
    diagnosis.first.block = number_of(row[6], "block");
    diagnosis.first.warp = std::uint32_t(number_of(row[7], "warp", max_warp));
    diagnosis.text = text_of(row[8], "text");
    launch.diagnoses.push_back(std::move(diagnosis));
  }
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
  std::uint64_t launches = 0;
  for (const LaunchShape& shape : launch.shapes) launches = std::max(launches, shape.launches);
  if (launches == 0) wrong("it has no launches: shapes is empty");
  launch.blocks = record.number("blocks", max_count);
  launch.levels = std::uint32_t(record.number("levels", max_levels));
  launch.copied_bytes = record.number_or("copied_bytes", 0, max_passes);
  launch.left_out = record.number_or("left_out", 0, max_count);
  launches = launches_of(launch);
  PatternPlaces places = take_patterns(record.list("patterns", 6), kernel.patterns, launches, launch.patterns);
  if (record.has("merged")) {
    launch.merged = read_merged(record.list("merged", 6), std::move(places), kernel, launch);
  }
  if (record.has("watches_shared")) launch.watches_shared = record.flag("watches_shared");
  take_global(record, kernel, launch);
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

}  // namespace bankwise::trace
