// Internal to common/bankwise/emulator: which lane touched which byte of shared memory, and when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <bankwise/emulator/core/uses.hpp>

namespace bankwise::emulator {

/// A point in time within a block: each access of a warp has a separate one.
using Moment = std::uint32_t;

/// A lane that accesses shared memory.
struct Toucher {
  std::uint16_t lane = 0, warp = 0;  ///< in the block
  Moment ordered = 0;                ///< earlier accesses of its warp, up to this moment, are ordered with it
  std::uint32_t pc = 0;              ///< the lower half of the access's return address
  Moment synchronized = 0;           ///< earlier accesses of all lanes, up to this moment, are ordered with it
};

/// The fault of an access.
struct Clash {
  bool unwritten = false;  ///< otherwise a race, with `other`
  bool other_wrote = false;
  bool both_write = false;        ///< which is no race if they write the same value
  bool same_instruction = false;  ///< both lanes execute it: CUDA lets one of them win
  std::uint16_t other = 0;
  std::uint32_t other_pc = 0;
};

/// An access of lanes that is no fault, by their numbers in the warp.
struct CalmAccess {
  std::uint64_t mask = 0;
  std::uint32_t pc = 0, bytes = 0;
  std::uint16_t first_lane = 0, warp = 0;  ///< in the block
  TouchKind how = TouchKind::read;
};

/// The memory of one block at a time. Mostly it is enough to know the uses since the last barrier and the accesses; the
/// last touches of each word are only found out once lanes may have to do with each other.
class Shadow {
 public:
  explicit Shadow(std::uint32_t bytes);

  /// Begins a new block, whose memory is unwritten.
  void begin_block();
  /// A barrier: everything before it is ordered with everything after it.
  void begin_level() {
    level_began_ = now_;
    uses_.forget();
    calm_.clear();
    is_close_ = is_folded_ = false;
  }
  /// Begins the next access of a warp. Returns its moment.
  Moment next_moment() { return ++now_; }
  Moment now() const { return now_; }

  /// Uses::use(). Only until look_closely().
  bool use(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how) {
    return uses_.use(lane, offset, bytes, how);
  }
  template <unsigned bytes>
  bool use_words(std::uint32_t lane, std::uint32_t offset, TouchKind how) {
    return uses_.use_words<bytes>(lane, offset, how);
  }
  bool use_again(std::uint32_t lane, std::uint32_t offset) { return uses_.use_again(lane, offset); }
  /// An access of the current moment all of whose uses were calm; `offsets`: of all lanes of the warp.
  void add(const CalmAccess& access, const std::uint32_t* offsets);
  /// Uses since the last add() did not happen.
  void undo_uses();
  /// Until the next barrier all touches of all words are known.
  void look_closely();
  bool is_close() const { return is_close_; }
  /// undo_uses() would look closely: too many accesses have been calm.
  bool is_folded() const { return is_folded_; }

  /// One lane's access in the current moment. It looks closely.
  std::optional<Clash> touch(const Toucher& lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how);
  /// The same for the usual case, a whole word that no lane could have clashed on since the last barrier. Returns
  /// false, and does nothing, in any other case.
  bool touch_cleanly(std::uint16_t lane, std::uint16_t warp, std::uint32_t pc, std::uint32_t offset,
                     std::uint32_t bytes, TouchKind how) {
    if (bytes != 4 || offset % 4 != 0) return false;
    Cell& cell = words_[offset / 4];
    if (!is_close_ || cell.is_split || cell.writes.latest.when > level_began_ ||
        cell.atomics.latest.when > level_began_) {
      return false;
    }
    if (how == TouchKind::read && uses_.is_written(offset)) {
      note(cell.reads, lane, warp, pc);
      return true;
    }
    if (how == TouchKind::write && cell.reads.latest.when <= level_began_) {
      note(cell.writes, lane, warp, pc);
      uses_.write(offset, bytes);
      return true;
    }
    return false;
  }

 private:
  /// An access of a lane.
  struct Past {
    Moment when = 0;
    std::uint32_t pc = 0;
    std::uint16_t lane = 0, warp = 0;
  };
  /// The last accesses of one kind, by two different lanes since the last barrier if there are two, and the last one by
  /// another warp than that of the latest.
  struct LastTouches {
    Past latest, other, of_other_warp;
  };
  struct Cell {
    bool is_split = false;
    LastTouches writes, reads, atomics;
  };
  std::optional<Clash> touch(Cell& cell, const Toucher& lane, TouchKind how, bool is_written);
  std::optional<Clash> touch_cells(const Toucher& lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how);
  void fold();
  template <class Each>
  void for_each_calm(Each each) const;
  bool races(const Toucher& lane, const Past& past) const;
  const Past* racing(const LastTouches& last, const Toucher& lane) const;
  const Past* racing_in_level(const LastTouches& last, const Toucher& lane) const;
  void note(LastTouches& last, std::uint16_t lane, std::uint16_t warp, std::uint32_t pc) const {
    if (last.latest.warp != warp) last.of_other_warp = last.latest;
    if (last.latest.when <= level_began_ || last.latest.lane != lane) last.other = last.latest;
    last.latest = {now_, pc, lane, warp};
  }

  static constexpr std::size_t max_calm = std::size_t{4} << 20;

  Uses uses_;
  std::vector<std::uint32_t> calm_;  ///< each a moment, a CalmAccess, and the offsets of its lanes
  bool is_close_ = false, is_folded_ = false;
  Zeros<Cell> words_;
  std::unordered_map<std::uint32_t, std::array<Cell, 4>> split_;  // words that are accessed byte by byte
  Moment now_ = 0, level_began_ = 0;
};

}  // namespace bankwise::emulator
