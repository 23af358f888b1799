#include <bankwise/emulator/core/recorder.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {

using banks::for_each_lane;
using trace::Pattern;

namespace {

// Objects in a log of words.

template <class Object>
constexpr std::size_t words_of = sizeof(Object) / sizeof(std::uint32_t);

template <class Object>
void append_words(std::vector<std::uint32_t>& log, const Object& object) {
  const auto words = std::bit_cast<std::array<std::uint32_t, words_of<Object>>>(object);
  log.insert(log.end(), words.begin(), words.end());
}

template <class Object>
Object from_words(const std::uint32_t* words) {
  std::array<std::uint32_t, words_of<Object>> copy{};
  std::copy_n(words, copy.size(), copy.begin());
  return std::bit_cast<Object>(copy);
}

/// The latest increments, whose results may still be used. A kernel uses a result immediately, or not at all.
constexpr std::size_t max_increments = 1 << 16;

/// The array that an offset is in, or the one before it.
std::size_t array_at(std::uint32_t offset) {
  const auto& arrays = shared_layout().arrays;
  const auto after = std::ranges::upper_bound(arrays, offset, {}, &ThreadLocalArray::offset);
  return std::size_t(std::max<std::ptrdiff_t>(after - arrays.begin(), 1) - 1);
}

/// An array of a trace before its arrays have names: a row of shared_layout().
struct RawArray {
  std::uint32_t row;

  explicit RawArray(std::uint32_t row_) : row(row_) {}
  explicit RawArray(const trace::Array& array) : row(array.offset) {}
  trace::Array array() const { return {.name = std::to_string(row), .offset = row, .bytes = 0}; }
};

trace::KernelTrace head_of(const Launch& launch) { return {.warp = launch.warp}; }

/// The values of active lanes; the others' are of no importance.
std::span<const std::uint32_t> active(const std::vector<std::uint32_t>& lanes, std::uint64_t mask,
                                      std::vector<std::uint32_t>& compact) {
  if (lanes.empty() || (mask & (mask + 1)) == 0)
    return {lanes.data(), std::min<std::size_t>(lanes.size(), std::popcount(mask))};
  compact.clear();
  for_each_lane(mask, [&](unsigned lane) { compact.push_back(lanes[lane]); });
  return compact;
}

void spread(const std::uint32_t* compact, std::uint64_t mask, std::vector<std::uint32_t>& lanes) {
  lanes.assign(banks::max_lanes - unsigned(std::countl_zero(mask)), 0);
  for_each_lane(mask, [&](unsigned lane) { lanes[lane] = *compact++; });
}

}  // namespace

BlockRecorder::BlockRecorder(const Launch& launch, std::uint64_t block)
    : builder_(head_of(launch), {launch.pattern_bytes, {}}),
      block_(block),
      record_order_(launch.record_order),
      merging_((launch.block.count() + launch.warp - 1) / launch.warp) {
  const auto& arrays = shared_layout().arrays;
  for (std::uint32_t i = 0; i < arrays.size(); ++i) arrays_.push_back(builder_.array(RawArray(i).array()));
  participants_.resize((launch.block.count() + launch.warp - 1) / launch.warp);
}

std::uint32_t BlockRecorder::site(std::uintptr_t pc) {
  const auto [entry, is_new] = sites_.try_emplace(pc, 0);
  if (is_new) entry->second = builder_.site({.pc = pc});
  return entry->second;
}

void BlockRecorder::settle_participants() {
  for (std::uint64_t& mask : participants_) {
    if (mask != 0) builder_.add(trace::Participants{level_, mask, 1});
    mask = 0;
  }
}

std::uint64_t BlockRecorder::add_access(std::uintptr_t pc, unsigned warp, Pattern& access, bool is_volatile) {
  const std::uint64_t mask = access.mask;
  if (access.level != level_) settle_participants();
  level_ = access.level;
  participants_[warp] |= mask;
  access.site = site(pc);
  const std::size_t array = array_at(access.addresses[unsigned(std::countr_zero(mask))]);
  const auto& arrays = shared_layout().arrays;
  const std::uint64_t begin = arrays[array].offset,
                      end = array + 1 == arrays.size() ? ~std::uint64_t{0} : arrays[array + 1].offset;
  bool mixed = false;
  for_each_lane(mask, [&](unsigned lane) { mixed |= access.addresses[lane] < begin || access.addresses[lane] >= end; });
  access.array = arrays_[array];
  access.lane_arrays.clear();
  if (mixed) {
    access.lane_arrays.resize(access.addresses.size());
    for_each_lane(mask, [&](unsigned lane) { access.lane_arrays[lane] = arrays_[array_at(access.addresses[lane])]; });
  }
  normalize(access);
  access.count = 1;
  access.first = {block_, warp, 0, accesses_++};
  const auto number = builder_.add(access);
  if (number) {
    merging_.add(builder_.trace().patterns, builder_.trace().sites, warp, *number, !is_volatile);
  } else {
    merging_.fence(warp);
  }
  auto& order = builder_.trace().order;
  if (record_order_ && number) order.push_back({*number, block_, warp});
  if (access.operation != banks::Operation::atomic_inc) return 0;
  if (increments_.size() < max_increments) increments_.emplace_back();
  increments_[increment_count_++ % max_increments] = {number, order.size() - 1, access.first};
  return increment_count_;
}

void BlockRecorder::result_used(std::uint64_t number) {
  if (number == 0 || number > increment_count_ || number + max_increments <= increment_count_) return;
  Increment& increment = increments_[(number - 1) % max_increments];
  if (!increment.pattern) return;
  const auto changed = builder_.change_operation(*std::exchange(increment.pattern, std::nullopt),
                                                 banks::Operation::atomic, increment.when);
  if (record_order_ && changed) builder_.trace().order[increment.step].pattern = *changed;
}

void BlockRecorder::add_basic_block(std::uintptr_t pc, std::uint32_t level, unsigned lanes) {
  const std::uint32_t where = site(pc);
  const auto [entry, is_new] = basic_block_index_.try_emplace(std::uint64_t{level} << 32 | where, basic_blocks_.size());
  if (is_new) basic_blocks_.push_back({where, level, 0, 0});
  trace::BasicBlock& block = basic_blocks_[entry->second];
  ++block.issued;
  block.lanes += lanes;
}

void BlockRecorder::abandon() {
  settle_participants();
  if (const auto merged = merging_.finish(builder_.trace())) builder_.set_merged(*merged);
  for (const trace::BasicBlock& block : basic_blocks_) builder_.add(block);
}

void BlockRecorder::finish(std::uint32_t levels) {
  abandon();
  builder_.trace().blocks = 1;
  builder_.trace().levels = std::min(levels, trace::max_levels);
}

Recording::Recording(const Launch& launch)
    : launch_(launch),
      builder_(head_of(launch), {launch.pattern_bytes, {}}),
      global_(launch.global_patterns, launch.sectors_of) {}

trace::KernelTrace Recording::take(std::uint64_t block, BlockRecorder recorder) {
  trace::KernelTrace own = recorder.take();
  const std::lock_guard lock(mutex_);
  const auto numbers = builder_.add(own);
  for (trace::OrderedAccess step : own.order) {
    if (!numbers[step.pattern]) continue;  // it did not fit
    step.pattern = *numbers[step.pattern];
    orders_[block].push_back(step);
  }
  return own;
}

void Recording::take_again(trace::KernelTrace own, std::uint64_t blocks) {
  for (auto* const list : {&own.patterns, own.merged ? &*own.merged : nullptr}) {
    if (list == nullptr) continue;
    for (Pattern& pattern : *list) pattern.count *= blocks;
  }
  for (trace::Participants& lanes : own.participants) lanes.count *= blocks;
  for (trace::BasicBlock& block : own.basic_blocks) block.issued *= blocks, block.lanes *= blocks;
  own.excess_accesses *= blocks;
  own.blocks *= blocks;
  const std::lock_guard lock(mutex_);
  builder_.add(own);
}

void Recording::take(const FaultReports& faults) {
  const std::lock_guard lock(mutex_);
  faults.put_into(builder_);
}

void Recording::take(const GlobalPatterns& patterns) {
  const std::lock_guard lock(mutex_);
  global_.add(patterns);
}

trace::KernelTrace Recording::finish() {
  trace::KernelTrace raw = builder_.take();
  trace::Builder named(head_of(launch_), {~std::size_t{0}, {}});
  // Arrays of different functions never coexist in a launch, so the arrays that the launch used get a new layout: one
  // after the other, each at a multiple of 128 bytes.
  const auto& layout = shared_layout().arrays;
  std::vector<bool> used(layout.size());
  const auto row = [&](std::uint32_t array) { return RawArray(raw.arrays[array]).row; };
  for (const Pattern& pattern : raw.patterns) {
    used[row(pattern.array)] = true;
    for_each_lane(pattern.lane_arrays.empty() ? 0 : pattern.mask,
                  [&](unsigned lane) { used[row(pattern.lane_arrays[lane])] = true; });
  }
  std::vector<std::uint32_t> begins(layout.size()), numbers(layout.size());
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (!used[i]) continue;
    const ThreadLocalArray& array = layout[i];
    const std::uint32_t bytes = array.dynamic ? std::uint32_t(launch_.dynamic_shared) : array.bytes;
    begins[i] = end;
    numbers[i] = named.array({array.name, end, bytes, array.element, array.lengths});
    end += (bytes + 127) / 128 * 128;
  }
  std::vector<std::uint32_t> sites, arrays;
  const auto site = [&](std::uintptr_t pc) {
    return named.site(launch_.source_lines ? site_of(pc) : trace::Site{.file = "?", .function = "?"});
  };
  for (const trace::Site& raw_site : raw.sites) sites.push_back(site(std::uintptr_t(*raw_site.pc)));
  for (const trace::Array& array : raw.arrays) arrays.push_back(numbers[RawArray(array).row]);
  const auto move = [&](std::vector<Pattern>& list) {
    for (Pattern& pattern : list) {
      for_each_lane(pattern.mask, [&](unsigned lane) {
        const std::uint32_t array = pattern.lane_arrays.empty() ? pattern.array : pattern.lane_arrays[lane];
        const std::uint32_t i = row(array);
        pattern.addresses[lane] += begins[i] - layout[i].offset;
      });
    }
  };
  move(raw.patterns);
  if (raw.merged) move(*raw.merged);
  const auto patterns = named.add_with(raw, sites, arrays);
  if (launch_.global_patterns > 0) global_.put_into(named, site);
  trace::KernelTrace trace = named.take();
  const Dim3 &grid = launch_.grid, &block = launch_.block;
  trace.shapes = {{{std::uint64_t{grid.x} * block.x, std::uint64_t{grid.y} * block.y, std::uint64_t{grid.z} * block.z},
                   {block.x, block.y, block.z},
                   1}};
  for (auto& [number, steps] : orders_) {
    for (trace::OrderedAccess& step : steps) {
      step.pattern = patterns[step.pattern].value();
      trace.order.push_back(step);
    }
  }
  put_in_order(trace);
  return trace;
}

void BlockSeries::begin(std::uint64_t block) {
  block_ = block;
  at_ = 0;
  increments_ = 0;
  recorder_.reset();
  logs_ = false;
  if (has_log_) return;
  log_.clear();
  logs_ = !launch_.record_order;
  recorder_.emplace(launch_, block);
}

/// Whether the last block made this call, too, and all before it. Otherwise it must be recorded.
bool BlockSeries::repeats(const Event& event, std::span<const std::uint32_t> addresses,
                          std::span<const std::uint32_t> sources) {
  const std::size_t words = words_of<Event> + addresses.size() + sources.size();
  if (!recorder_) {
    if (log_.size() - at_ >= words && std::memcmp(&log_[at_], &event, sizeof event) == 0 &&
        std::equal(addresses.begin(), addresses.end(), &log_[at_ + words_of<Event>]) &&
        std::equal(sources.begin(), sources.end(), &log_[at_ + words_of<Event>] + addresses.size())) {
      at_ += words;
      return true;
    }
    differ();
  }
  if (!logs_) return false;
  if (log_.size() + words > max_words) {
    logs_ = false;
    log_.clear();
    return false;
  }
  append_words(log_, event);
  log_.insert(log_.end(), addresses.begin(), addresses.end());
  log_.insert(log_.end(), sources.begin(), sources.end());
  return false;
}

/// From here on the block is not like the last one: records what it did so far.
void BlockSeries::differ() {
  count_equal();
  has_log_ = false;
  log_.resize(at_);
  recorder_.emplace(launch_, block_);
  logs_ = true;
  Pattern access;
  for (std::size_t at = 0; at < log_.size();) {
    const auto event = from_words<Event>(&log_[at]);
    at += words_of<Event>;
    if (event.call == Call::access) {
      spread(&log_[at], event.mask, access.addresses);
      at += unsigned(std::popcount(event.mask));
      access.sources.clear();
      if (is_copy(banks::Operation(event.operation))) {
        spread(&log_[at], event.mask, access.sources);
        at += unsigned(std::popcount(event.mask));
      }
    }
    record(event, access);
  }
}

/// `access`: its addresses and sources.
std::uint64_t BlockSeries::record(const Event& event, Pattern& access) {
  switch (event.call) {
    case Call::fence: recorder_->fence(event.number); return 0;
    case Call::result_used: recorder_->result_used(event.pc); return 0;
    case Call::basic_block: recorder_->add_basic_block(event.pc, event.level, event.number); return 0;
    case Call::access: break;
  }
  access.operation = banks::Operation(event.operation);
  access.width = event.width;
  access.level = event.level;
  access.mask = event.mask;
  access.is_loop = event.is_loop;
  return recorder_->add_access(event.pc, event.number, access, event.is_volatile);
}

std::uint64_t BlockSeries::add_access(std::uintptr_t pc, unsigned warp, Pattern& access, bool is_volatile) {
  const bool is_increment = access.operation == banks::Operation::atomic_inc;
  const std::uint64_t number = is_increment ? ++increments_ : 0;
  if (!access.sources.empty()) normalize(access);  // copies of other blocks have other sources
  const Event event{.pc = pc,
                    .mask = access.mask,
                    .number = warp,
                    .level = access.level,
                    .width = access.width,
                    .operation = std::uint8_t(access.operation),
                    .is_loop = access.is_loop,
                    .is_volatile = is_volatile};
  if (!repeats(event, active(access.addresses, access.mask, compact_addresses_),
               active(access.sources, access.mask, compact_sources_))) {
    record(event, access);
  }
  return number;
}

void BlockSeries::fence(unsigned warp) {
  if (!repeats({.number = warp, .call = Call::fence})) recorder_->fence(warp);
}

void BlockSeries::result_used(std::uint64_t number) {
  if (!repeats({.pc = number, .call = Call::result_used})) recorder_->result_used(number);
}

void BlockSeries::add_basic_block(std::uintptr_t pc, std::uint32_t level, unsigned lanes) {
  if (!repeats({.pc = pc, .number = lanes, .level = level, .call = Call::basic_block})) {
    recorder_->add_basic_block(pc, level, lanes);
  }
}

void BlockSeries::finish(std::uint32_t levels) {
  if (!recorder_) {
    if (at_ == log_.size() && levels == levels_) {
      ++equal_;
      return;
    }
    differ();
  }
  recorder_->finish(levels);
  last_ = recording_.take(block_, std::move(*recorder_));
  levels_ = levels;
  has_log_ = logs_;
}

void BlockSeries::abandon() {
  if (!recorder_) differ();
  recorder_->abandon();
  recording_.take(block_, std::move(*recorder_));
  has_log_ = false;
}

void BlockSeries::count_equal() {
  if (equal_ > 0) recording_.take_again(last_, std::exchange(equal_, 0));
}

void BlockSeries::end() { count_equal(); }

}  // namespace bankwise::emulator
