#include <bankwise/emulator/core/shadow.hpp>

#include <algorithm>
#include <bit>
#include <limits>

#include <bankwise/banks/access.hpp>

namespace bankwise::emulator {

using banks::for_each_lane;

void Uses::begin_block() {
  constexpr std::uint32_t max_intervals = 1U << 30;
  if (now_ > max_intervals) {
    words_.clear();
    bytes_.clear();
    now_ = 0;
  }
  block_began_ = ++now_;
}

template <class Part>
bool Uses::for_each_part(std::uint32_t offset, std::uint32_t bytes, Part part) {
  for (std::uint32_t at = offset; at < offset + bytes;) {
    const std::uint32_t end = std::min(offset + bytes, (at / 4 + 1) * 4);
    Use& word = words_[at / 4];
    const bool is_split = word.writer == by_bytes && is_of_block(word);
    if (!is_split) renew(word);
    if (!is_split && end - at == 4) {
      if (!part(word)) return false;
      at = end;
      continue;
    }
    if (!is_split) {
      for (std::uint32_t byte = at / 4 * 4; byte < at / 4 * 4 + 4; ++byte) bytes_[byte] = word;
      word.writer = by_bytes;
    }
    for (; at < end; ++at) {
      if (!part(bytes_[at])) return false;
    }
  }
  return true;
}

bool Uses::use_parts(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how) {
  return for_each_part(offset, bytes, [&](Use& part) { return use(part, std::uint16_t(lane + 1), how); });
}

void Uses::write_parts(std::uint32_t offset, std::uint32_t bytes) {
  for_each_part(offset, bytes, [&](Use& part) {
    renew(part);
    part.when |= 1;
    return true;
  });
}

Shadow::Shadow(std::uint32_t bytes) : uses_(bytes), words_(bytes / 4 + 1) {}

void Shadow::begin_block() {
  if (now_ > std::numeric_limits<Moment>::max() / 2) {
    words_.clear();
    now_ = 0;
  }
  split_.clear();  // their words are from earlier blocks, and so not split any more
  begin_level();
  uses_.begin_block();
}

void Shadow::add(const CalmAccess& access, const std::uint32_t* offsets) {
  calm_.push_back(access);
  calm_.back().moment = now_;
  std::size_t first = calm_offsets_.size();
  calm_offsets_.resize(first + unsigned(std::popcount(access.mask)));
  auto* next = &calm_offsets_[first];
  for_each_lane(access.mask, [&](unsigned i) { *next++ = offsets[i]; });
  if (access.how != TouchKind::read) {
    for (; first < calm_offsets_.size(); ++first) uses_.write(calm_offsets_[first], access.bytes);
  }
  if (calm_offsets_.size() > max_calm) fold();
}

/// Calls each(access, lane in the block, offset) in the order of lock-step.
template <class Each>
void Shadow::for_each_calm(Each each) const {
  const std::uint32_t* offset = calm_offsets_.data();
  for (const CalmAccess& access : calm_) {
    for_each_lane(access.mask, [&](unsigned i) { each(access, access.first_lane + i, *offset++); });
  }
}

void Shadow::undo_uses() {
  if (is_folded_) return look_closely();
  uses_.forget();
  for_each_calm([&](const CalmAccess& access, unsigned lane, std::uint32_t offset) {
    uses_.use(lane, offset, access.bytes, access.how);
  });
}

void Shadow::look_closely() {
  if (is_close_) return;
  is_close_ = true;
  fold();
}

/// The touches of all calm accesses so far become known.
void Shadow::fold() {
  is_folded_ = true;
  const Moment now = now_;
  for_each_calm([&](const CalmAccess& access, unsigned lane, std::uint32_t offset) {
    now_ = access.moment;
    touch_cells({.lane = std::uint16_t(lane), .warp = access.warp, .pc = access.pc}, offset, access.bytes, access.how);
  });
  now_ = now;
  calm_.clear();
  calm_offsets_.clear();
}

bool Shadow::races(const Toucher& lane, const Past& past) const {
  if (past.when <= std::max(level_began_, lane.synchronized)) return false;
  if (past.when == now_ || past.lane == lane.lane) return false;
  if (past.warp < lane.acquired.size() && past.when <= lane.acquired[past.warp]) return false;
  return past.warp != lane.warp || past.when > lane.ordered;
}

/// A recent access that is not ordered with the lane's; null if there is none.
inline const Shadow::Past* Shadow::racing(const LastTouches& last, const Toucher& lane) const {
  if (last.latest.when <= level_began_) return nullptr;  // the other is older, too
  return racing_in_level(last, lane);
}

const Shadow::Past* Shadow::racing_in_level(const LastTouches& last, const Toucher& lane) const {
  if (races(lane, last.latest)) return &last.latest;
  if (races(lane, last.other)) return &last.other;
  // Lanes of one instruction do not race; the first of them has met the others.
  if (last.latest.when == now_) return nullptr;
  return races(lane, last.of_other_warp) ? &last.of_other_warp : nullptr;
}

inline std::optional<Clash> Shadow::touch(Cell& cell, const Toucher& lane, TouchKind how, bool is_written) {
  std::optional<Clash> clash;
  if ((how == TouchKind::read || how == TouchKind::atomic) && !is_written) {
    clash = Clash{.unwritten = true};
  } else if (const Past* atomic = is_atomic(how) ? nullptr : racing(cell.atomics, lane)) {
    clash = Clash{.other_wrote = true, .other = atomic->lane, .other_pc = atomic->pc};
  } else if (const Past* reader = how == TouchKind::read ? nullptr : racing(cell.reads, lane)) {
    clash = Clash{.other = reader->lane, .other_pc = reader->pc};
  } else if (const Past* writer = racing(cell.writes, lane)) {
    clash = Clash{
        .other_wrote = true, .both_write = how == TouchKind::write, .other = writer->lane, .other_pc = writer->pc};
  } else if (cell.writes.latest.when == now_ && how == TouchKind::write) {
    clash = Clash{.other_wrote = true,
                  .both_write = true,
                  .same_instruction = true,
                  .other = cell.writes.latest.lane,
                  .other_pc = cell.writes.latest.pc};
  }
  if (how == TouchKind::read) note(cell.reads, lane.lane, lane.warp, lane.pc);
  if (how == TouchKind::write) note(cell.writes, lane.lane, lane.warp, lane.pc);
  if (is_atomic(how)) note(cell.atomics, lane.lane, lane.warp, lane.pc);
  return clash;
}

std::optional<Clash> Shadow::touch(const Toucher& lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how) {
  look_closely();
  const auto clash = touch_cells(lane, offset, bytes, how);
  if (how != TouchKind::read) uses_.write(offset, bytes);
  return clash;
}

std::optional<Clash> Shadow::touch_cells(const Toucher& lane, std::uint32_t offset, std::uint32_t bytes,
                                         TouchKind how) {
  if (bytes == 4 && offset % 4 == 0 && !words_[offset / 4].is_split) {
    return touch(words_[offset / 4], lane, how, uses_.is_written(offset));  // the fast path for the usual case
  }
  std::optional<Clash> clash;
  const auto note = [&](Cell& cell, std::uint32_t at) {
    const auto cell_clash = touch(cell, lane, how, uses_.is_written(at));
    if (!clash) clash = cell_clash;
  };
  for (std::uint32_t at = offset; at < offset + bytes;) {
    Cell& word = words_[at / 4];
    const std::uint32_t end = std::min(offset + bytes, (at / 4 + 1) * 4);
    auto split = word.is_split ? split_.find(at / 4) : split_.end();
    if (split == split_.end() && end - at == 4) {
      word.is_split = false;
      note(word, at);
    } else {
      if (split == split_.end()) {
        word.is_split = false;
        split = split_.insert_or_assign(at / 4, std::array{word, word, word, word}).first;
        word.is_split = true;
      }
      for (std::uint32_t byte = at; byte < end; ++byte) note(split->second[byte % 4], byte);
    }
    at = end;
  }
  return clash;
}

}  // namespace bankwise::emulator
