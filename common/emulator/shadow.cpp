// SPDX-License-Identifier: MIT
#include "bankwise/emulator/shadow.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace bankwise::emulator {
namespace {

enum : std::uint8_t {
  last_write_atomic = 1,
  several_warps_read = 2,  // since the last barrier
  is_split = 4,
};

}  // namespace

void Shadow::Free::operator()(Cell* cells) const {
  std::free(cells);
}

Shadow::Shadow(std::uint32_t bytes, unsigned warp)
    : words_(static_cast<Cell*>(std::calloc(bytes / 4 + 1, sizeof(Cell)))), count_(bytes / 4 + 1), warp_(warp) {
  if (words_ == nullptr) throw std::bad_alloc();
}

void Shadow::begin_block() {
  if (now_ > std::numeric_limits<Moment>::max() / 2) {
    std::fill_n(words_.get(), count_, Cell{});
    now_ = 0;
  }
  split_.clear();  // their words are older than the block, and so not split any more
  block_began_ = level_began_ = now_;
}

bool Shadow::races(const Toucher& lane, std::uint16_t other, Moment when) const {
  if (when <= level_began_ || other == lane.lane) return false;
  return other / warp_ != lane.warp || when > lane.ordered;
}

/// With the last write.
std::optional<Clash> Shadow::clash_with_writer(const Cell& cell, const Toucher& lane, Touch how) const {
  if (how != Touch::write && cell.written <= block_began_) return Clash{.unwritten = true};
  const bool was_atomic = (cell.flags & last_write_atomic) != 0;
  if ((how == Touch::atomic && was_atomic) || !races(lane, cell.writer, cell.written)) return std::nullopt;
  return Clash{.other_wrote = true,
               .both_write = how == Touch::write && !was_atomic,
               .other = cell.writer,
               .other_pc = cell.writer_pc};
}

/// Of a write with the last reads.
std::optional<Clash> Shadow::clash_with_reader(const Cell& cell, const Toucher& lane) const {
  // Of readers in several warps only two are known, and none of the others is ordered with the writer.
  const bool others_read = cell.read > level_began_ && (cell.flags & several_warps_read) != 0;
  if (races(lane, cell.reader, cell.read) || (others_read && cell.reader != lane.lane)) {
    return Clash{.other = cell.reader, .other_pc = cell.reader_pc};
  }
  if (races(lane, cell.reader_before, cell.read_before) || others_read) {
    return Clash{.other = cell.reader_before, .other_pc = cell.reader_before_pc};
  }
  return std::nullopt;
}

void Shadow::note_read(Cell& cell, const Toucher& lane) const {
  const bool first = cell.read <= level_began_;
  if (first) {
    cell.flags &= std::uint8_t(~several_warps_read);
  } else if (cell.reader / warp_ != lane.warp) {
    cell.flags |= several_warps_read;
  }
  if (first || cell.reader != lane.lane) {
    cell.read_before = cell.read;
    cell.reader_before = cell.reader;
    cell.reader_before_pc = cell.reader_pc;
    cell.reader = lane.lane;
  }
  cell.read = now_;
  cell.reader_pc = lane.pc;
}

std::optional<Clash> Shadow::touch(Cell& cell, const Toucher& lane, Touch how) {
  auto clash = clash_with_writer(cell, lane, how);
  if (how == Touch::read) {
    note_read(cell, lane);
    return clash;
  }
  if (!clash) clash = clash_with_reader(cell, lane);
  cell.written = now_;
  cell.writer = lane.lane;
  cell.writer_pc = lane.pc;
  cell.flags = std::uint8_t((cell.flags & ~last_write_atomic) | (how == Touch::atomic ? last_write_atomic : 0));
  return clash;
}

std::optional<Clash> Shadow::touch(const Toucher& lane, std::uint32_t offset, std::uint32_t bytes, Touch how) {
  if (bytes == 4 && offset % 4 == 0 && (words_[offset / 4].flags & is_split) == 0) {
    return touch(words_[offset / 4], lane, how);  // the usual case, without what it spares
  }
  std::optional<Clash> clash;
  const auto note = [&](Cell& cell) {
    const auto found = touch(cell, lane, how);
    if (!clash) clash = found;
  };
  for (std::uint32_t at = offset; at < offset + bytes;) {
    Cell& word = words_[at / 4];
    const std::uint32_t end = std::min(offset + bytes, (at / 4 + 1) * 4);
    auto split = (word.flags & is_split) != 0 ? split_.find(at / 4) : split_.end();
    if (split == split_.end() && end - at == 4) {
      word.flags &= std::uint8_t(~is_split);
      note(word);
    } else {
      if (split == split_.end()) {
        word.flags &= std::uint8_t(~is_split);
        split = split_.insert_or_assign(at / 4, std::array{word, word, word, word}).first;
        word.flags |= is_split;
      }
      for (std::uint32_t byte = at; byte < end; ++byte) note(split->second[byte % 4]);
    }
    at = end;
  }
  return clash;
}

}  // namespace bankwise::emulator
