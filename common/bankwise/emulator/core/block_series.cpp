#include <bankwise/emulator/core/block_series.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <bankwise/emulator/core/words.hpp>

namespace bankwise::emulator {
namespace {

/// The values of active lanes; the others' are of no importance.
std::span<const std::uint32_t> active(const std::vector<std::uint32_t>& lanes, std::uint64_t mask,
                                      std::vector<std::uint32_t>& compact) {
  if (lanes.empty() || (mask & (mask + 1)) == 0)
    return {lanes.data(), std::min<std::size_t>(lanes.size(), std::popcount(mask))};
  compact.clear();
  banks::for_each_lane(mask, [&](unsigned lane) { compact.push_back(lanes[lane]); });
  return compact;
}

void spread(const std::uint32_t* compact, std::uint64_t mask, std::vector<std::uint32_t>& lanes) {
  lanes.assign(banks::max_lanes - unsigned(std::countl_zero(mask)), 0);
  banks::for_each_lane(mask, [&](unsigned lane) { lanes[lane] = *compact++; });
}

}  // namespace

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
  trace::Pattern access;
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
std::uint64_t BlockSeries::record(const Event& event, trace::Pattern& access) {
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

std::uint64_t BlockSeries::add_access(std::uintptr_t pc, unsigned warp, trace::Pattern& access, bool is_volatile) {
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
