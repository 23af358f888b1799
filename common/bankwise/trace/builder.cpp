#include <bankwise/trace/builder.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <bankwise/trace/warps.hpp>

namespace bankwise::trace {
namespace {

std::uint64_t mixed_in(std::uint64_t hash, std::uint64_t value) {
  return std::rotl((hash ^ value) * 0x9E3779B97F4A7C15, 29);
}

std::uint64_t hash_of(const Pattern& pattern) {
  std::uint64_t hash = mixed_in(pattern.mask, std::uint64_t{pattern.site} << 32 | pattern.array);
  hash = mixed_in(hash, std::uint64_t{pattern.level} << 32 | unsigned(pattern.operation) << 8 | pattern.width << 1 |
                            (pattern.is_loop ? 1 : 0));
  for (const std::uint32_t address : pattern.addresses) hash = mixed_in(hash, address);
  for (const std::uint32_t source : pattern.sources) hash = mixed_in(hash, source);
  return hash;
}

bool same(const Pattern& a, const Pattern& b) {
  return a.mask == b.mask && a.site == b.site && a.array == b.array && a.level == b.level &&
         a.operation == b.operation && a.width == b.width && a.is_loop == b.is_loop && a.addresses == b.addresses &&
         a.lane_arrays == b.lane_arrays && a.sources == b.sources;
}

std::size_t bytes_of(const Pattern& pattern) {
  constexpr std::size_t index = 64;  // an entry of the hash table
  return sizeof(Pattern) + index + 4 * (pattern.addresses.size() + pattern.lane_arrays.size() + pattern.sources.size());
}

/// The index of a value in a list; appends the value if it is new.
template <class Value>
std::uint32_t numbered(const Value& value, std::vector<Value>& list, std::map<Value, std::uint32_t>& numbers) {
  const auto [entry, is_new] = numbers.try_emplace(value, std::uint32_t(list.size()));
  if (is_new) list.push_back(value);
  return entry->second;
}

// What distinguishes the elements of a list: a builder adds up those with equal keys, and put_in_order() sorts by them.
auto key_of(const Participants& lanes) { return std::pair(lanes.level, lanes.mask); }
auto key_of(const BasicBlock& block) { return std::pair(block.level, block.site); }
auto key_of(const Excess& sum) {
  return std::tuple(sum.architecture, sum.level, sum.site, sum.array, sum.operation, sum.width);
}
auto key_of(const GlobalExcess& sum) { return std::tuple(sum.architecture, sum.site, sum.operation, sum.width); }
auto key_of(const EngineAccesses& sum) { return std::pair(sum.site, sum.work); }
auto key_of(const LocalAccesses& sum) { return std::tuple(sum.site, sum.operation, sum.width); }
auto key_of(const LaunchShape& shape) { return std::pair(shape.threads, shape.block); }

void add_up(Participants& sum, const Participants& more) { sum.count += more.count; }
void add_up(BasicBlock& sum, const BasicBlock& more) { sum.issued += more.issued, sum.lanes += more.lanes; }
void add_up(Excess& sum, const Excess& more) {
  sum.accesses += more.accesses;
  sum.mixed += more.mixed;
  sum.tally.add(more.tally);
  if (sum.why_unknown.empty()) sum.why_unknown = more.why_unknown;
}
void add_up(GlobalExcess& sum, const GlobalExcess& more) { sum.accesses += more.accesses, sum.tally.add(more.tally); }
void add_up(EngineAccesses& sum, const EngineAccesses& more) { sum.count += more.count; }
void add_up(LocalAccesses& sum, const LocalAccesses& more) { sum.accesses += more.accesses, sum.lanes += more.lanes; }
void add_up(LaunchShape& sum, const LaunchShape& more) { sum.launches += more.launches; }

template <class Value, class Key>
void add_to(std::vector<Value>& list, std::map<Key, std::size_t>& index, const Value& value) {
  const auto [entry, is_new] = index.try_emplace(key_of(value), list.size());
  is_new ? list.push_back(value) : add_up(list[entry->second], value);
}

/// Renumbers all sites and arrays of a kernel. Error: std::out_of_range.
void renumber(KernelTrace& kernel, const std::vector<std::uint32_t>& sites, const std::vector<std::uint32_t>& arrays) {
  for (Pattern& pattern : kernel.patterns) renumber(pattern, sites, arrays);
  if (kernel.merged) {
    for (Pattern& pattern : *kernel.merged) renumber(pattern, sites, arrays);
  }
  for (const SectorMembers& memory : sector_members) {
    for (Pattern& pattern : kernel.*memory.patterns) pattern.site = sites.at(pattern.site);
    for (GlobalExcess& excess : kernel.*memory.excess) excess.site = sites.at(excess.site);
  }
  for (EngineAccesses& accesses : kernel.engines) accesses.site = sites.at(accesses.site);
  for (LocalAccesses& accesses : kernel.local_accesses) accesses.site = sites.at(accesses.site);
  for (BasicBlock& block : kernel.basic_blocks) block.site = sites.at(block.site);
  for (Excess& excess : kernel.excess) excess.site = sites.at(excess.site), excess.array = arrays.at(excess.array);
  for (DiagnosisRecord& diagnosis : kernel.diagnoses) {
    diagnosis.site = sites.at(diagnosis.site);
    if (diagnosis.other) diagnosis.other = sites.at(*diagnosis.other);
  }
}

}  // namespace

void renumber(Pattern& pattern, const std::vector<std::uint32_t>& sites, const std::vector<std::uint32_t>& arrays) {
  pattern.site = sites.at(pattern.site);
  pattern.array = arrays.at(pattern.array);
  if (pattern.lane_arrays.empty()) return;
  banks::for_each_lane(pattern.mask,
                       [&](unsigned lane) { pattern.lane_arrays[lane] = arrays.at(pattern.lane_arrays[lane]); });
}

Builder::Builder(KernelTrace head, Bound bound) : bound_(std::move(bound)) {
  trace_.kernel = head.kernel;
  trace_.options = head.options;
  trace_.source = head.source;
  trace_.warp = head.warp;
  trace_.splits = head.splits;
  trace_.knows_code = head.knows_code;
  add(head);
  trace_.order = std::move(head.order);
}

std::uint32_t Builder::site(const Site& site) { return numbered(site, trace_.sites, sites_); }
std::uint32_t Builder::array(const Array& array) { return numbered(array, trace_.arrays, arrays_); }

std::uint32_t Builder::use(std::uint32_t level) {
  level = std::min(level, max_levels - 1);
  trace_.levels = std::max(trace_.levels, level + 1);
  return level;
}

std::optional<std::uint32_t> Builder::PatternIndex::add(const Pattern& pattern, std::vector<Pattern>& list,
                                                        std::size_t max_bytes) {
  const std::uint64_t hash = hash_of(pattern);
  const auto [begin, end] = numbers.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    Pattern& known = list[at->second];
    if (!same(known, pattern)) continue;
    if (pattern.count > 0) known.first = known.count == 0 ? pattern.first : std::min(known.first, pattern.first);
    known.count += pattern.count;
    return at->second;
  }
  const std::size_t more = bytes_of(pattern);
  if (bytes + more > max_bytes) return std::nullopt;
  bytes += more;
  numbers.emplace(hash, std::uint32_t(list.size()));
  list.push_back(pattern);
  return std::uint32_t(list.size() - 1);
}

std::optional<std::uint32_t> Builder::add(const Pattern& pattern) {
  if (use(pattern.level) != pattern.level) {
    Pattern at_last_level = pattern;
    at_last_level.level = max_levels - 1;
    return add(at_last_level);
  }
  const auto number = patterns_.add(pattern, trace_.patterns, bound_.bytes);
  if (!number) add_excess(pattern);
  return number;
}

std::optional<std::uint32_t> Builder::add_global(const Pattern& pattern, SectorMemory memory) {
  if (memory == SectorMemory::global) trace_.watches_global = true;
  const SectorMembers& members = sector_members[std::size_t(memory)];
  const std::size_t max_bytes = bound_.global_bytes.value_or(bound_.bytes);
  const auto number = sectors_[std::size_t(memory)].add(pattern, trace_.*members.patterns, max_bytes);
  if (!number) add_global_excess(pattern, memory);
  return number;
}

void Builder::add_global_excess(const Pattern& pattern, SectorMemory memory) {
  trace_.*sector_members[std::size_t(memory)].excess_accesses += pattern.count;
  for (const banks::Architecture* architecture : bound_.architectures) {
    const unsigned warps = warps_in(trace_, *architecture);
    if (warps == 0) continue;
    GlobalExcess excess{.site = pattern.site,
                        .operation = pattern.operation,
                        .width = pattern.width,
                        .architecture = std::string(architecture->name),
                        .accesses = pattern.count};
    for_each_global_warp(pattern, memory, trace_.warp, warps, *architecture, [&](const GlobalWarpAccess& access) {
      excess.tally.add(access.access.mask, access.cost ? &*access.cost : nullptr, pattern.count);
    });
    add(excess, memory);
  }
}

/// Each new pattern replaces two, so twice the memory is enough for all of them.
void Builder::add_merged(const std::vector<Pattern>& patterns) {
  const std::size_t max_bytes = bound_.bytes > ~std::size_t{0} / 2 ? bound_.bytes : 2 * bound_.bytes;
  for (const Pattern& pattern : patterns) merged_.add(pattern, *trace_.merged, max_bytes);
}

void Builder::set_merged(const std::vector<Pattern>& patterns) {
  trace_.merged.emplace();
  merged_ = {};
  add_merged(patterns);
}

void Builder::add_excess(const Pattern& pattern) {
  trace_.excess_accesses += pattern.count;
  for (const banks::Architecture* architecture : bound_.architectures) {
    const unsigned warps = warps_in(trace_, *architecture);
    if (warps == 0) continue;
    std::uint64_t accesses = pattern.count;  // those of the trace's warps, added with the first part
    for_each_warp(pattern, trace_.warp, warps, *architecture, 0, [&](const WarpAccess& access) {
      Excess excess{.site = pattern.site,
                    .array = access.array,
                    .operation = pattern.operation,
                    .width = pattern.width,
                    .level = pattern.level,
                    .architecture = std::string(architecture->name),
                    .accesses = std::exchange(accesses, 0),
                    .mixed = access.mixed ? pattern.count : 0};
      excess.tally.add(access.access.mask, access.cost(), pattern.count);
      if (const auto* why = std::get_if<std::string>(&access.answer)) excess.why_unknown = *why;
      add(excess);
    });
  }
}

void Builder::add(Participants participants) {
  participants.level = use(participants.level);
  add_to(trace_.participants, participants_, participants);
}

void Builder::add(BasicBlock block) {
  block.level = use(block.level);
  add_to(trace_.basic_blocks, basic_blocks_, block);
}

void Builder::add(Excess excess) {
  excess.level = use(excess.level);
  add_to(trace_.excess, excess_, excess);
}

void Builder::add(const GlobalExcess& excess, SectorMemory memory) {
  add_to(trace_.*sector_members[std::size_t(memory)].excess, sector_excess_[std::size_t(memory)], excess);
}

void Builder::add(const EngineAccesses& accesses) { add_to(trace_.engines, engines_, accesses); }
void Builder::add(const LocalAccesses& accesses) { add_to(trace_.local_accesses, local_accesses_, accesses); }
void Builder::add(const LaunchShape& shape) { add_to(trace_.shapes, shapes_, shape); }

void Builder::add(const DiagnosisRecord& diagnosis) {
  // Either lane of a race may come first.
  const std::uint32_t other = diagnosis.other.value_or(diagnosis.site);
  const DiagnosisKey key{diagnosis.fault, std::min(diagnosis.site, other), std::max(diagnosis.site, other),
                         diagnosis.other.has_value(), diagnosis.ended};
  const auto [entry, is_new] = diagnoses_.try_emplace(key, trace_.diagnoses.size());
  if (is_new) return trace_.diagnoses.push_back(diagnosis);
  DiagnosisRecord& sum = trace_.diagnoses[entry->second];
  const std::uint64_t count = sum.count + diagnosis.count;
  const auto rank = [](const DiagnosisRecord& record) {
    return std::tie(record.first.launch, record.first.block, record.first.warp, record.text);
  };
  if (rank(diagnosis) < rank(sum)) sum = diagnosis;
  sum.count = count;
}

Builder::Numbers Builder::add(const KernelTrace& other) {
  std::vector<std::uint32_t> sites, arrays;
  for (const Site& location : other.sites) sites.push_back(site(location));
  for (const Array& declared : other.arrays) arrays.push_back(array(declared));
  return add_with(other, sites, arrays);
}

Builder::Numbers Builder::add_with(const KernelTrace& other, const std::vector<std::uint32_t>& sites,
                                   const std::vector<std::uint32_t>& arrays) {
  KernelTrace here = other;
  renumber(here, sites, arrays);
  const std::uint64_t launches = launches_of(trace_);
  for (Pattern& pattern : here.patterns) pattern.first.launch += launches;
  if (here.merged) {
    for (Pattern& pattern : *here.merged) pattern.first.launch += launches;
    if (!trace_.merged) set_merged(std::vector(trace_.patterns));
  }
  Numbers numbers;
  std::vector<Pattern> fitting;
  for (const Pattern& pattern : here.patterns) {
    numbers.push_back(add(pattern));
    if (numbers.back()) fitting.push_back(pattern);
  }
  // Both counts include the excess. So what did not fit must not be among the merged patterns, too.
  const bool all_fit = fitting.size() == here.patterns.size();
  if (trace_.merged) add_merged(here.merged && all_fit ? *here.merged : fitting);
  for (const SectorMemory memory : {SectorMemory::global, SectorMemory::remote}) {
    const SectorMembers& members = sector_members[std::size_t(memory)];
    for (Pattern& pattern : here.*members.patterns) pattern.first.launch += launches, add_global(pattern, memory);
    for (const GlobalExcess& excess : here.*members.excess) add(excess, memory);
    trace_.*members.excess_accesses += here.*members.excess_accesses;
  }
  for (const EngineAccesses& accesses : here.engines) add(accesses);
  for (const LocalAccesses& accesses : here.local_accesses) add(accesses);
  for (const Participants& lanes : here.participants) add(lanes);
  for (const BasicBlock& block : here.basic_blocks) add(block);
  for (const Excess& excess : here.excess) add(excess);
  for (DiagnosisRecord& diagnosis : here.diagnoses) diagnosis.first.launch += launches, add(diagnosis);
  for (const LaunchShape& shape : here.shapes) add(shape);
  trace_.knows_code &= other.knows_code;
  trace_.blocks += other.blocks;
  trace_.levels = std::max(trace_.levels, other.levels);
  trace_.copied_bytes += other.copied_bytes;
  for (const auto& [cause, count] : other.left_out) trace_.left_out[cause] += count;
  trace_.excess_accesses += other.excess_accesses;
  trace_.watches_shared &= other.watches_shared;
  trace_.watches_global |= other.watches_global;
  trace_.global_left_out += other.global_left_out;
  trace_.sectors_read += other.sectors_read;
  trace_.sectors_written += other.sectors_written;
  if (other.time) {
    if (!trace_.time) trace_.time.emplace();
    trace_.time->add(*other.time);
  }
  return numbers;
}

std::optional<std::uint32_t> Builder::change_operation(std::uint32_t pattern, banks::Operation to,
                                                       const Occurrence& first) {
  --trace_.patterns[pattern].count;
  Pattern other = trace_.patterns[pattern];
  other.operation = to;
  other.count = 1;
  other.first = first;
  return add(other);
}

KernelTrace Builder::take() {
  const auto is_unused = [](const Pattern& pattern) { return pattern.count == 0; };
  std::vector<std::uint32_t> numbers;
  std::uint32_t next = 0;
  for (const Pattern& pattern : trace_.patterns) numbers.push_back(is_unused(pattern) ? 0 : next++);
  std::erase_if(trace_.patterns, is_unused);
  for (const SectorMembers& memory : sector_members) std::erase_if(trace_.*memory.patterns, is_unused);
  if (trace_.merged) std::erase_if(*trace_.merged, is_unused);
  for (OrderedAccess& access : trace_.order) access.pattern = numbers[access.pattern];
  return std::move(trace_);
}

void put_in_order(KernelTrace& kernel) {
  // Sorts a list by a key, and returns the new indices of its elements.
  const auto sort_and_number = [](auto& list, auto key) {
    std::vector<std::uint32_t> order(list.size()), numbers(list.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](auto a, auto b) { return key(list[a]) < key(list[b]); });
    auto sorted = std::exchange(list, {});
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      list.push_back(std::move(sorted[order[i]]));
      numbers[order[i]] = i;
    }
    return numbers;
  };
  const auto occurrence = [](const Pattern& pattern) {
    const Occurrence& first = pattern.first;
    return std::tuple(first.launch, first.block, first.number, first.warp);
  };
  const auto patterns = sort_and_number(kernel.patterns, occurrence);
  if (kernel.merged) (void)sort_and_number(*kernel.merged, occurrence);
  for (const SectorMembers& memory : sector_members) (void)sort_and_number(kernel.*memory.patterns, occurrence);
  for (OrderedAccess& access : kernel.order) access.pattern = patterns[access.pattern];
  const auto value = [](const auto& element) -> const auto& { return element; };
  const auto sites = sort_and_number(kernel.sites, value), arrays = sort_and_number(kernel.arrays, value);
  renumber(kernel, sites, arrays);
  const auto by_key = [](const auto& element) { return key_of(element); };
  std::ranges::sort(kernel.participants, {}, by_key);
  std::ranges::sort(kernel.basic_blocks, {}, by_key);
  std::ranges::sort(kernel.engines, {}, by_key);
  std::ranges::sort(kernel.local_accesses, {}, by_key);
  std::ranges::sort(kernel.excess, {}, by_key);
  for (const SectorMembers& memory : sector_members) std::ranges::sort(kernel.*memory.excess, {}, by_key);
  std::ranges::sort(kernel.diagnoses, {}, [](const DiagnosisRecord& diagnosis) {
    const Occurrence& first = diagnosis.first;
    return std::tuple(first.launch, first.block, first.warp, diagnosis.fault, diagnosis.site, diagnosis.other,
                      diagnosis.ended);
  });
}

}  // namespace bankwise::trace
