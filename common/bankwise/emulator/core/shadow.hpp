// Internal to common/bankwise/emulator: which lane touched which byte of shared memory, and when; and which lanes have
// used each since the last barrier, as far as it takes to see that no other lane has to do with an access.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace bankwise::emulator {

/// atomic: what is there is read, and may be changed; atomic_store: it is not read.
enum class TouchKind { read, write, atomic, atomic_store };
constexpr bool is_atomic(TouchKind how) { return how == TouchKind::atomic || how == TouchKind::atomic_store; }

/// Zeros that take no memory until they are touched; most of the program's thread-local storage never is.
template <class Element>
class Zeros {
 public:
  /// Error: std::bad_alloc.
  explicit Zeros(std::size_t count)  // not with calloc(), which clears memory that it has used before
      : elements_(static_cast<Element*>(mmap(nullptr, count * sizeof(Element), PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        count_(count) {
    if (elements_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Zeros() { munmap(elements_, count_ * sizeof(Element)); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  Element& operator[](std::size_t i) const { return elements_[i]; }
  void clear() { std::fill_n(elements_, count_, Element{}); }

 private:
  Element* const elements_;
  const std::size_t count_;
};

/// The memory of one block at a time.
class Uses {
 public:
  explicit Uses(std::uint32_t bytes) : words_(bytes / 4 + 1), bytes_(bytes + 4) {}

  void begin_block();
  /// A barrier; or the uses since the last one are forgotten, but not which bytes are written.
  void forget() { ++now_; }

  /// Whether an access of a lane, by its number in the block, is no fault and has the same result whatever other lanes
  /// did since the last barrier, and the other way round. Then it counts.
  bool use(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how) {
    const std::uint32_t word = offset / 4;
    if (bytes != 4 || offset % 4 != 0 || words_[word].writer == by_bytes) return use_parts(lane, offset, bytes, how);
    return use(words_[word], std::uint16_t(lane + 1), how);
  }

  /// The same for the usual case, whole words. If false, it may be another, and use() tells more.
  template <unsigned bytes>
  bool use_words(std::uint32_t lane, std::uint32_t offset, TouchKind how) {
    if (bytes % 4 != 0 || offset % 4 != 0) return false;
    for (unsigned i = 0; i < bytes / 4; ++i) {
      Use& word = words_[offset / 4 + i];
      if (word.writer == by_bytes || !use(word, std::uint16_t(lane + 1), how)) return false;
    }
    return true;
  }

  /// The same for a read of a word that has been used, and not written, since the last barrier.
  bool use_again(std::uint32_t lane, std::uint32_t offset) {
    Use& word = words_[offset / 4];
    if (word.when != 2 * now_ + 1 || word.writer != 0) return false;
    const auto reader = std::uint16_t(lane + 1);
    if (word.reader != reader) word.reader = word.reader == 0 ? reader : several;
    return true;
  }

  bool is_written(std::uint32_t offset) const {
    const Use& word = words_[offset / 4];
    return is_written(word.writer == by_bytes && is_of_block(word) ? bytes_[offset] : word);
  }
  /// A lane writes these bytes, in the order of lock-step.
  void write(std::uint32_t offset, std::uint32_t bytes) {
    Use& word = words_[offset / 4];
    if (bytes != 4 || offset % 4 != 0 || word.writer == by_bytes) return write_parts(offset, bytes);
    renew(word);
    word.when |= 1;
  }

 private:
  /// Lanes from 1; 0: none.
  struct Use {
    std::uint32_t when = 0;                ///< twice the interval, + 1 if it is written
    std::uint16_t writer = 0, reader = 0;  ///< in that interval
  };
  static constexpr std::uint16_t several = 0xFFFF, atomics = 0xFFFE;
  static constexpr std::uint16_t by_bytes = 0xFFFD;  ///< a word whose bytes have been used separately in this block

  bool is_of_block(const Use& use) const { return use.when / 2 >= block_began_; }
  bool is_written(const Use& use) const { return use.when % 2 != 0 && is_of_block(use); }
  void renew(Use& use) const {
    if (use.when / 2 != now_) use = {2 * now_ + std::uint32_t{is_written(use)}, 0, 0};
  }
  bool use(Use& use, std::uint16_t lane, TouchKind how) const {
    renew(use);
    const bool is_mine = use.writer == lane;
    switch (how) {
      case TouchKind::read:
        if ((use.writer != 0 || use.when % 2 == 0) && !is_mine) return false;
        use.reader = use.reader == 0 || use.reader == lane ? lane : several;
        return true;
      case TouchKind::write:
        if ((use.writer != 0 && !is_mine) || (use.reader != 0 && use.reader != lane)) return false;
        use.writer = lane;
        return true;
      case TouchKind::atomic:
      case TouchKind::atomic_store:
        if ((use.writer != 0 && use.writer != atomics) || use.reader != 0 || use.when % 2 == 0) return false;
        use.writer = atomics;
        return true;
    }
    return false;
  }
  void write_parts(std::uint32_t offset, std::uint32_t bytes);
  bool use_parts(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how);
  /// Calls part(use) for each word that is whole, and for each byte of all others. Ends when it returns false.
  template <class Part>
  bool for_each_part(std::uint32_t offset, std::uint32_t bytes, Part part);

  Zeros<Use> words_, bytes_;
  std::uint32_t now_ = 1, block_began_ = 1;  ///< numbers of intervals
};

/// A point in time within a block: each access of a warp has a separate one.
using Moment = std::uint32_t;

/// By warp: its accesses up to this moment are ordered with what follows; those of warps behind the last are not.
using Moments = std::vector<Moment>;
inline void raise(Moments& moments, const Moments& others) {
  if (moments.size() < others.size()) moments.resize(others.size());
  for (std::size_t warp = 0; warp < others.size(); ++warp) moments[warp] = std::max(moments[warp], others[warp]);
}

/// A lane that accesses shared memory.
struct Toucher {
  std::uint16_t lane = 0, warp = 0;  ///< in the block
  Moment ordered = 0;                ///< earlier accesses of its warp, up to this moment, are ordered with it
  std::uint32_t pc = 0;              ///< the lower half of the access's return address
  Moment synchronized = 0;           ///< earlier accesses of all lanes, up to this moment, are ordered with it
  std::span<const Moment> acquired;  ///< those of a warp, as Moments
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
  Moment moment = 0;  ///< which add() knows
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
    calm_offsets_.clear();
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
  std::vector<CalmAccess> calm_;
  std::vector<std::uint32_t> calm_offsets_;  ///< of their lanes
  bool is_close_ = false, is_folded_ = false;
  Zeros<Cell> words_;
  std::unordered_map<std::uint32_t, std::array<Cell, 4>> split_;  // words that are accessed byte by byte
  Moment now_ = 0, level_began_ = 0;
};

}  // namespace bankwise::emulator
