// Internal to common/bankwise/emulator: races in device memory, between the warps of a launch.
//
// Each word has its last write and its last read; a sector that a warp reads as a whole has one last read. A barrier of
// the block orders two accesses of a block, and this is known exactly. Fences, atomics and volatile accesses may order
// any others, so two accesses of a block with one of these between them are not reported, nor is an access to what
// another block has accessed, if its own block has executed one of these before. A silent store, of the value that is
// there, races only with a later one of another.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include <bankwise/emulator/core/block.hpp>
#include <bankwise/emulator/core/global_memory.hpp>

namespace bankwise::emulator {

/// What is known of the last write, or read, of a word.
struct GlobalTouch {
  static constexpr unsigned several_blocks = (1U << 22) - 1, several_warps = 63, max_level = 511, max_syncs = 31,
                            max_epoch = 255, max_site = 511, all_bytes = 15;
  std::uint64_t epoch : 8, block : 22, warp : 6, level : 9, syncs : 5, site : 9, silent : 1, bytes : 4;
};
static_assert(sizeof(GlobalTouch) == 8);

/// The accesses of the blocks that a host thread runs.
class GlobalRaces {
 public:
  /// `epoch`: as new_epoch() returns it for the launch.
  GlobalRaces(RunningBlock& block, unsigned epoch) : block_(block), epoch_(can_watch(block) ? epoch : 0) {
    if (epoch_ == 0) GlobalMemory::raise(global_memory.unwatched);
  }

  /// A number for a launch, whose accesses are ordered with those of all others.
  static unsigned new_epoch();

  void begin_block() { moment_of_ = never; }
  /// The running lane is about to load or to store.
  void access(Lane& lane, const void* address, std::size_t bytes, bool writes, std::uintptr_t pc) {
    if (epoch_ == 0) return;
    settle(lane);
    const GlobalAccess access{std::uintptr_t(address), bytes, pc, writes, false};
    writes ? begin_store(lane, access, now(lane, pc)) : touch(lane, access, now(lane, pc));
  }
  /// The usual access: to whole words for which touch_word() has nothing to compare; a store, to words that its warp
  /// has just written. False: access() has to look.
  template <bool writes, unsigned bytes>
  bool touch_words(Lane& lane, const void* address, std::uintptr_t pc) {
    const std::uintptr_t first = std::uintptr_t(address) - global_memory.begin;
    const auto& [known, number] = sites_[(pc >> 2) % sites_.size()];
    if (epoch_ == 0 || (first | bytes) % 4 != 0 || known != pc || !is_current()) return false;
    settle(lane);
    const std::uint64_t now = now_at(lane, number);
    for (unsigned i = 0; i < bytes / 4; ++i) {
      if (writes && !is_rewritten(first / 4 + i, now)) return false;
      if (!touch_calm_word(writes, first / 4 + i, now)) return false;
    }
    return true;
  }
  template <bool writes, unsigned bytes>
  void check(Lane& lane, const void* address, std::uintptr_t pc) {
    if (!touch_words<writes, bytes>(lane, address, pc)) access(lane, address, bytes, writes, pc);
  }
  /// Whether a store of whole words does what the last one has done: JointAccess::touch, of the same warp.
  template <unsigned bytes>
  static bool is_repeated_store(const void* address, std::uint64_t touch) {
    const std::uintptr_t first = (std::uintptr_t(address) - global_memory.begin) / 4;
    bool is_repeated = bytes % 4 == 0 && global_memory.last_writes != nullptr;
    for (unsigned i = 0; is_repeated && i < bytes / 4; ++i) {
      is_repeated = last_write(first + i) == touch && is_mine(last_read(first + i, touch), touch);
    }
    return is_repeated;
  }
  /// A store of which JointAccess::touch is known.
  void store(Lane& lane, const void* address, std::size_t bytes, std::uintptr_t pc, std::uint64_t touch) {
    if (epoch_ == 0) return;
    settle(lane);
    begin_store(lane, {std::uintptr_t(address), bytes, pc, true, false}, touch);
  }
  /// Loads that these lanes have made together.
  void check_loads(const RunningWarp& warp, const JointAccess& joint, std::uint64_t lanes);
  /// JointAccess::touch: what the lane does now.
  std::uint64_t touch_at(const Lane& lane, std::uintptr_t pc) { return epoch_ == 0 ? 0 : now(lane, pc); }
  bool watches() const { return epoch_ != 0; }
  static constexpr std::uint64_t bits(const GlobalTouch& touch) { return std::bit_cast<std::uint64_t>(touch); }
  static bool is_of_launch(std::uint64_t last, std::uint64_t now) {
    return ((last ^ now) & bits({.epoch = GlobalTouch::max_epoch})) == 0;
  }
  /// The last read of a word, in the launch of `now`; 0: there is none.
  static std::uint64_t last_read(std::uintptr_t word, std::uint64_t now) {
    constexpr GlobalTouch all{.bytes = GlobalTouch::all_bytes};
    const std::uint64_t of_sector = global_memory.sector_reads[word / sector_words].load(std::memory_order_relaxed);
    if (!is_of_launch(of_sector, now)) return 0;
    return (of_sector & bits(all)) != 0 ? of_sector : global_memory.last_reads[word].load(std::memory_order_relaxed);
  }
  /// A lane has done what it was about to do.
  void settle(Lane& lane) {
    if (lane.store.bytes != 0) end_store(lane);
  }

 private:
  /// An access to device memory.
  struct GlobalAccess {
    std::uintptr_t address;
    std::size_t bytes;
    std::uintptr_t pc;
    bool writes, silent;
  };
  using Moment = std::pair<std::uint32_t, unsigned>;  ///< level and syncs of the block
  static constexpr std::uintptr_t sector_words = GlobalMemory::sector / 4;
  static constexpr Moment never{~0U, ~0U};

  static bool can_watch(const RunningBlock& block);
  static bool has_written(const GlobalAccess& access, std::uint64_t touch);
  void begin_store(Lane& lane, const GlobalAccess& access, std::uint64_t touch);
  void end_store(Lane& lane);
  /// What a lane does now with whole words, as the bits of a GlobalTouch.
  std::uint64_t now(const Lane& lane, std::uintptr_t pc) {
    if (!is_current()) renew_moment();
    return now_at(lane, site(pc));
  }
  std::uint64_t now_at(const Lane& lane, unsigned site) const {
    return moment_ | bits({.warp = lane.warp}) | bits({.site = site, .bytes = GlobalTouch::all_bytes});
  }
  bool is_current() const { return moment_of_ == Moment(block_.level, block_.syncs); }
  void renew_moment();
  void touch(Lane& lane, const GlobalAccess& access, std::uint64_t now) {
    const std::uintptr_t first = access.address - global_memory.begin;
    if ((first | access.bytes) % 4 != 0) return touch_parts(lane, access, now);
    for (std::uintptr_t word = first / 4; word < (first + access.bytes) / 4; ++word) {
      touch_word(lane, access, word, now);
    }
  }
  void touch_parts(Lane& lane, const GlobalAccess& access, std::uint64_t now);
  void read_run(const RunningWarp& warp, const JointAccess& joint, std::uint64_t lanes, std::uint32_t from,
                std::uint32_t to);
  /// Whether the last write is one of the same warp at the same moment: whether the next is silent tells nothing then.
  static bool is_rewritten(std::uintptr_t word, std::uint64_t now) {
    constexpr GlobalTouch sites{.site = GlobalTouch::max_site};
    return ((last_write(word) ^ now) & ~bits(sites)) == 0;
  }
  static constexpr GlobalTouch anyone{.block = GlobalTouch::several_blocks, .warp = GlobalTouch::several_warps};
  /// Whether nobody else has touched the word in this launch.
  static bool is_mine(std::uint64_t last, std::uint64_t now) {
    return !is_of_launch(last, now) || ((last ^ now) & bits(anyone)) == 0;
  }
  /// Two reads of the same bytes in this launch, as one.
  static std::uint64_t joined(std::uint64_t last, std::uint64_t now) {
    constexpr GlobalTouch blocks{.block = GlobalTouch::several_blocks}, warps{.warp = GlobalTouch::several_warps},
        moment{.level = GlobalTouch::max_level, .syncs = GlobalTouch::max_syncs};
    const std::uint64_t differs = last ^ now;
    if ((differs & bits(blocks)) != 0) return now | bits(blocks);
    return (differs & bits(warps)) != 0 && (differs & bits(moment)) == 0 ? now | bits(warps) : now;
  }
  /// The last read after this one; 0: it is no usual case.
  static std::uint64_t next_read(std::uint64_t last, std::uint64_t now) {
    constexpr GlobalTouch blocks{.block = GlobalTouch::several_blocks}, all{.bytes = GlobalTouch::all_bytes};
    if (is_mine(last, now)) return now;
    if (((last ^ now) & bits(all)) != 0) return 0;
    return (last & bits(blocks)) == bits(blocks) ? last : joined(last, now);  // it stays as it is
  }
  /// The usual cases: nobody else has written the word in this launch, or read it before a write. Otherwise false.
  [[gnu::always_inline]] static bool touch_calm_word(bool writes, std::uintptr_t word, std::uint64_t now) {
    if (was_written(word, now) && !is_mine(last_write(word), now)) return false;
    const std::uint64_t last = last_read(word, now), next = writes ? now : next_read(last, now);
    if (next == 0 || (writes && !is_mine(last, now))) return false;
    if (writes) {
      store_write(word, now);
    } else if (next != last) {
      store_read(word, next);
    }
    return true;
  }
  /// Likewise for a read of a whole sector.
  static bool read_calm_sector(std::uintptr_t sector, std::uint64_t now) {
    bool is_calm = true;
    for (std::uintptr_t i = 0; was_written(sector * sector_words, now) && i < sector_words; ++i) {
      is_calm = is_calm && is_mine(last_write(sector * sector_words + i), now);
    }
    GlobalMemory::Touch& cell = global_memory.sector_reads[sector];
    std::uint64_t last = cell.load(std::memory_order_relaxed);
    const std::uint64_t next = is_calm ? next_read(last, now) : 0;
    // If another thread has changed it, the words tell more.
    return next != 0 && (next == last || cell.compare_exchange_strong(last, next, std::memory_order_relaxed));
  }
  static std::uint64_t last_write(std::uintptr_t word) {
    return global_memory.last_writes[word].load(std::memory_order_relaxed);
  }
  static void store_read(std::uintptr_t word, std::uint64_t now) {
    const std::uint64_t in_words = (now & bits({.epoch = GlobalTouch::max_epoch})) | bits(anyone);
    GlobalMemory::Touch& cell = global_memory.sector_reads[word / sector_words];
    for (std::uint64_t last = cell.load(std::memory_order_relaxed); last != in_words;) {
      if (is_of_launch(last, now)) split_sector(word / sector_words, last);
      if (cell.compare_exchange_weak(last, in_words, std::memory_order_relaxed)) break;
    }
    global_memory.last_reads[word].store(now, std::memory_order_relaxed);
  }
  /// Each of its words gets the sector's last read.
  static void split_sector(std::uintptr_t sector, std::uint64_t last);
  static std::atomic<std::uint8_t>& written_in(std::uintptr_t word) {
    return global_memory.written_in[word >> (GlobalMemory::page_bits - 2)];
  }
  /// Whether some word of the page has been written in this launch: a small table, which the cache keeps.
  static bool was_written(std::uintptr_t word, std::uint64_t now) {
    return written_in(word).load(std::memory_order_relaxed) == std::uint8_t(now);
  }
  static void store_write(std::uintptr_t word, std::uint64_t now) {
    if (!was_written(word, now)) written_in(word).store(std::uint8_t(now), std::memory_order_relaxed);
    global_memory.last_writes[word].store(now, std::memory_order_relaxed);
  }
  void touch_word(Lane& lane, const GlobalAccess& access, std::uintptr_t word, std::uint64_t now) {
    if (access.silent) {
      const std::uint64_t last = last_write(word);
      if (!is_of_launch(last, now) || (last & bits({.silent = 1})) != 0) store_write(word, now);
      return;
    }
    if (touch_calm_word(access.writes, word, now)) return;
    compare(lane, access, word, std::bit_cast<GlobalTouch>(now));
  }
  void compare(Lane& lane, const GlobalAccess& access, std::uintptr_t word, GlobalTouch now);
  void report(Lane& lane, const GlobalAccess& access, GlobalTouch other, bool other_writes);
  unsigned site(std::uintptr_t pc) {
    const auto& [known, number] = sites_[(pc >> 2) % sites_.size()];
    return known == pc ? number : new_site(pc);
  }
  unsigned new_site(std::uintptr_t pc);

  RunningBlock& block_;
  unsigned epoch_;  ///< 0: nothing is watched
  std::uint64_t moment_ = 0;
  Moment moment_of_ = never;
  std::array<std::pair<std::uintptr_t, unsigned>, 256> sites_{};
};

}  // namespace bankwise::emulator
