#include <bankwise/emulator/core/shadow.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace bankwise::emulator {

void Shadow::FreeCells::operator()(Cell* cells) const {
  std::free(cells);  // NOLINT(cppcoreguidelines-no-malloc): of calloc()
}

Shadow::Shadow(std::uint32_t bytes)
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): calloc() returns zeros that take no memory until they are touched
    : words_(static_cast<Cell*>(std::calloc(bytes / 4 + 1, sizeof(Cell)))), count_(bytes / 4 + 1) {
  if (words_ == nullptr) throw std::bad_alloc();
}

void Shadow::begin_block() {
  if (now_ > std::numeric_limits<Moment>::max() / 2) {
    std::fill_n(words_.get(), count_, Cell{});
    now_ = 0;
  }
  split_.clear();  // their words are from earlier blocks, and so not split any more
  block_began_ = level_began_ = now_;
}

bool Shadow::races(const Toucher& lane, const Past& past) const {
  if (past.when <= std::max(level_began_, lane.synchronized)) return false;
  if (past.when == now_ || past.lane == lane.lane) return false;
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

inline std::optional<Clash> Shadow::touch(Cell& cell, const Toucher& lane, TouchKind how) {
  std::optional<Clash> clash;
  if (how != TouchKind::write && std::max(cell.writes.latest.when, cell.atomics.latest.when) <= block_began_) {
    clash = Clash{.unwritten = true};
  } else if (const Past* atomic = how == TouchKind::atomic ? nullptr : racing(cell.atomics, lane)) {
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
  if (how == TouchKind::atomic) note(cell.atomics, lane.lane, lane.warp, lane.pc);
  return clash;
}

std::optional<Clash> Shadow::touch(const Toucher& lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how) {
  if (bytes == 4 && offset % 4 == 0 && !words_[offset / 4].is_split) {
    return touch(words_[offset / 4], lane, how);  // the fast path for the usual case
  }
  std::optional<Clash> clash;
  const auto note = [&](Cell& cell) {
    const auto cell_clash = touch(cell, lane, how);
    if (!clash) clash = cell_clash;
  };
  for (std::uint32_t at = offset; at < offset + bytes;) {
    Cell& word = words_[at / 4];
    const std::uint32_t end = std::min(offset + bytes, (at / 4 + 1) * 4);
    auto split = word.is_split ? split_.find(at / 4) : split_.end();
    if (split == split_.end() && end - at == 4) {
      word.is_split = false;
      note(word);
    } else {
      if (split == split_.end()) {
        word.is_split = false;
        split = split_.insert_or_assign(at / 4, std::array{word, word, word, word}).first;
        word.is_split = true;
      }
      for (std::uint32_t byte = at; byte < end; ++byte) note(split->second[byte % 4]);
    }
    at = end;
  }
  return clash;
}

}  // namespace bankwise::emulator
