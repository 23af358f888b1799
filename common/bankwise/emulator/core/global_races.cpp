#include <bankwise/emulator/core/global_races.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <type_traits>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {
namespace {

/// The program's instructions that access device memory, by number; 0: those for which there is no number.
struct Sites {
  std::mutex mutex;
  std::map<std::uintptr_t, unsigned> numbers;
  std::array<std::uintptr_t, GlobalTouch::max_site + 1> pcs{};
};
Sites& sites() {
  static auto* const only = new Sites;
  return *only;
}

std::atomic<unsigned> number_of_launches{0};

/// Held during a store, by its place: if two host threads stored the same value to a word, neither would find it there.
/// Places are so small that neighbouring blocks, which two host threads run, seldom share one.
struct alignas(64) StoreLock {
  std::atomic_flag held;
};
constexpr unsigned place_bits = 8;
std::array<StoreLock, 256> store_locks;
void take_lock(PendingStore& store) {
  std::atomic_flag& lock = store_locks[(store.address >> place_bits) % store_locks.size()].held;
  store.waits = true;
  while (lock.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  store.waits = false;
  store.lock = &lock;
}
void release_lock(PendingStore& store) {
  if (store.lock != nullptr) std::exchange(store.lock, nullptr)->clear(std::memory_order_release);
}

/// Whether nothing orders an earlier access with one of now.
bool is_unordered(const GlobalTouch& past, const GlobalTouch& now) {
  if (past.epoch != now.epoch || (past.bytes & now.bytes) == 0) return false;
  if (past.block != now.block) return now.syncs == 0;
  return past.warp != now.warp && past.level == now.level && past.syncs == now.syncs &&
         now.level != GlobalTouch::max_level && now.syncs != GlobalTouch::max_syncs;
}

GlobalTouch load(const std::atomic<std::uint64_t>& cell) {
  return std::bit_cast<GlobalTouch>(cell.load(std::memory_order_relaxed));
}

/// The same of some bytes of the word only.
std::uint64_t of_bytes(std::uint64_t touch, unsigned bytes) {
  auto changed = std::bit_cast<GlobalTouch>(touch);
  changed.bytes = bytes;
  return std::bit_cast<std::uint64_t>(changed);
}

std::byte* before(PendingStore& store, std::size_t bytes) {
  return bytes <= store.before.size() ? store.before.data() : store.long_before.data();
}

/// Calls run(bytes); that of a number or a vector is known to the compiler.
template <class Run>
auto with_size(std::size_t bytes, Run run) {
  switch (bytes) {
    case 1: return run(std::integral_constant<std::size_t, 1>());
    case 2: return run(std::integral_constant<std::size_t, 2>());
    case 4: return run(std::integral_constant<std::size_t, 4>());
    case 8: return run(std::integral_constant<std::size_t, 8>());
    case 16: return run(std::integral_constant<std::size_t, 16>());
    default: return run(bytes);
  }
}

}  // namespace

unsigned GlobalRaces::new_epoch() {
  const unsigned launch = number_of_launches++;
  if (launch % GlobalTouch::max_epoch == 0 && global_memory.last_reads != nullptr) {
    madvise(global_memory.last_writes, 2 * global_memory.bytes, MADV_DONTNEED);
    madvise(global_memory.last_reads, 2 * global_memory.bytes, MADV_DONTNEED);
    madvise(global_memory.sector_reads, global_memory.bytes / 4, MADV_DONTNEED);
    madvise(global_memory.written_in, global_memory.bytes >> GlobalMemory::page_bits, MADV_DONTNEED);
  }
  return launch % GlobalTouch::max_epoch + 1;
}

unsigned launches_so_far() { return number_of_launches; }

bool reads_what_it_writes(std::uintptr_t begin, std::size_t bytes) {
  const std::uint64_t launch = GlobalRaces::bits({.epoch = (number_of_launches - 1) % GlobalTouch::max_epoch + 1});
  const std::uintptr_t first = (begin - global_memory.begin) / 4, end = first + (bytes + 3) / 4;
  const auto is_of_launch = [&](std::uint64_t touch) { return GlobalRaces::is_of_launch(touch, launch); };
  for (std::uintptr_t word = first; word < end; ++word) {
    const bool is_written = is_of_launch(global_memory.last_writes[word].load(std::memory_order_relaxed));
    if (is_written && is_of_launch(GlobalRaces::last_read(word, launch))) return true;
  }
  return false;
}

bool GlobalRaces::can_watch(const RunningBlock& block) {
  const auto& allowed = block.launch.allow;
  return global_memory.last_reads != nullptr && block.launch.grid.count() < GlobalTouch::several_blocks &&
         block.warps.size() < GlobalTouch::several_warps &&
         std::find(allowed.begin(), allowed.end(), Fault::global_race) == allowed.end();
}

/// Whether the warp of a store was the last to change each of the words, in this launch. Then nothing depends on
/// whether it is silent.
bool GlobalRaces::has_written(const GlobalAccess& access, std::uint64_t touch) {
  constexpr GlobalTouch which{.epoch = GlobalTouch::max_epoch,
                              .block = GlobalTouch::several_blocks,
                              .warp = GlobalTouch::several_warps,
                              .silent = 1,
                              .bytes = GlobalTouch::all_bytes};
  const std::uintptr_t first = access.address - global_memory.begin;
  bool all = (first | access.bytes) % 4 == 0;
  for (std::uintptr_t word = first / 4; all && word < (first + access.bytes) / 4; ++word) {
    all = ((last_write(word) ^ touch) & bits(which)) == 0;
  }
  return all;
}

void GlobalRaces::begin_store(Lane& lane, const GlobalAccess& access, std::uint64_t touch) {
  PendingStore& store = lane.store;
  store.address = access.address;
  store.pc = access.pc;
  store.touch = touch;
  if (!has_written(access, touch)) take_lock(store);
  if (access.bytes > store.before.size() && access.bytes > store.long_before.size()) {
    const OffLane off;
    store.long_before.resize(access.bytes);
  }
  const void* const memory = reinterpret_cast<const void*>(access.address);
  with_size(access.bytes, [&](auto bytes) { std::memcpy(before(store, bytes), memory, bytes); });
  store.bytes = std::uint32_t(access.bytes);
}

void GlobalRaces::end_store(Lane& lane) {
  PendingStore& store = lane.store;
  const std::size_t size = std::exchange(store.bytes, 0);
  const void* const memory = reinterpret_cast<const void*>(store.address);
  const bool silent =
      with_size(size, [&](auto bytes) { return std::memcmp(memory, before(store, bytes), bytes) == 0; });
  touch(lane, {store.address, size, store.pc, true, silent}, store.touch | bits({.silent = silent}));
  release_lock(store);
}

void GlobalRaces::renew_moment() {
  moment_of_ = {block_.level, block_.syncs};
  moment_ = bits({.epoch = epoch_,
                  .block = block_.number,
                  .level = std::min(block_.level, GlobalTouch::max_level),
                  .syncs = std::min(block_.syncs, GlobalTouch::max_syncs)});
}

void GlobalRaces::touch_parts(Lane& lane, const GlobalAccess& access, std::uint64_t now) {
  const std::uintptr_t first = access.address - global_memory.begin, end = first + access.bytes;
  for (std::uintptr_t word = first / 4; word <= (end - 1) / 4; ++word) {
    const std::uintptr_t from = std::max(first, 4 * word) % 4, to = std::min(end, 4 * word + 4) - 4 * word;
    touch_word(lane, access, word, of_bytes(now, (1U << to) - (1U << from)));
  }
}

void GlobalRaces::check_loads(const RunningWarp& warp, const JointAccess& joint, std::uint64_t lanes) {
  if (epoch_ == 0 || lanes == 0) return;
  std::uint32_t from = joint.offsets[unsigned(std::countr_zero(lanes))], to = from;
  const auto add = [&](std::uint32_t begin, std::uint32_t bytes) {
    if (begin + bytes < from || begin > to) {
      read_run(warp, joint, lanes, from, to);
      from = begin;
      to = begin + bytes;
    }
    from = std::min(from, begin);
    to = std::max(to, begin + bytes);
  };
  constexpr unsigned count = 8;
  std::array<std::uint32_t, count> row{};
  for (unsigned i = 0; i < count; ++i) row[i] = i * joint.bytes;
  for (unsigned first = 0; first < banks::max_lanes && lanes >> first != 0; first += count) {
    const std::uint64_t some = lanes >> first & ((1U << count) - 1);
    const std::uint32_t* const offsets = &joint.offsets[first];
    std::uint32_t apart = 1, not_in_row = 1;
    if (some == (1U << count) - 1) {
      apart = not_in_row = 0;
      for (unsigned i = 0; i < count; ++i) {
        apart |= offsets[i] ^ offsets[0];
        not_in_row |= offsets[i] ^ (offsets[0] + row[i]);
      }
    }
    if (apart == 0 || not_in_row == 0) {
      add(offsets[0], apart == 0 ? joint.bytes : count * joint.bytes);
    } else {
      for_each_lane(some, [&](unsigned i) { add(offsets[i], joint.bytes); });
    }
  }
  read_run(warp, joint, lanes, from, to);
}

/// Lanes one after another have loaded these bytes, which lie without a gap.
void GlobalRaces::read_run(const RunningWarp& warp, const JointAccess& joint, std::uint64_t lanes, std::uint32_t from,
                           std::uint32_t to) {
  const std::uintptr_t base = joint.begin - global_memory.begin;
  for (std::uintptr_t at = base + from, end = base + to; at < end;) {
    const bool is_sector = at % GlobalMemory::sector == 0 && end - at >= GlobalMemory::sector;
    if (is_sector && read_calm_sector(at / GlobalMemory::sector, joint.touch)) {
      at += GlobalMemory::sector;
      continue;
    }
    const std::uintptr_t word = at / 4, after = std::min(end, 4 * word + 4);
    const std::uint64_t touch = of_bytes(joint.touch, (1U << (after - 4 * word)) - (1U << at % 4));
    if (!touch_calm_word(false, word, touch)) {
      const auto has_word = [&](unsigned i) {
        return base + joint.offsets[i] < after && base + joint.offsets[i] + joint.bytes > at;
      };
      auto i = unsigned(std::countr_zero(lanes));
      while (!has_word(i)) i = unsigned(std::countr_zero(lanes & ~std::uint64_t{1} << i));
      compare(block_.lane(warp, i), {joint.begin + joint.offsets[i], joint.bytes, joint.pc, false, false}, word,
              std::bit_cast<GlobalTouch>(touch));
    }
    at = after;
  }
}

void GlobalRaces::split_sector(std::uintptr_t sector, std::uint64_t last) {
  for (std::uintptr_t word = sector * sector_words; word < (sector + 1) * sector_words; ++word) {
    GlobalMemory::Touch& read = global_memory.last_reads[word];
    // Another thread may have done so, and read it since.
    if (!is_of_launch(read.load(std::memory_order_relaxed), last)) read.store(last, std::memory_order_relaxed);
  }
}

void GlobalRaces::compare(Lane& lane, const GlobalAccess& access, std::uintptr_t word, GlobalTouch now) {
  const GlobalTouch last_write = load(global_memory.last_writes[word]),
                    last_read = std::bit_cast<GlobalTouch>(GlobalRaces::last_read(word, bits(now)));
  // A store will hide the last write from loads that were to be compared with it later.
  if (access.writes && last_write.epoch == epoch_) lane.runner->global().check_now(lane);
  if (is_unordered(last_write, now) && (access.writes || last_write.silent == 0)) {
    report(lane, access, last_write, true);
  }
  if (access.writes && is_unordered(last_read, now)) report(lane, access, last_read, false);
  if (access.writes) return store_write(word, bits(now));
  const bool both = last_read.epoch == now.epoch && last_read.bytes == now.bytes;
  store_read(word, both ? joined(bits(last_read), bits(now)) : bits(now));
}

void GlobalRaces::report(Lane& lane, const GlobalAccess& access, GlobalTouch other, bool other_writes) {
  release_lock(lane.store);  // the report may end the lane
  const std::uintptr_t other_pc = sites().pcs[other.site];
  lane.runner->report_from(lane, Fault::global_race, access.pc, other_pc, [&] {
    const Dim3 block = position(other.block, block_.launch.grid);
    const bool other_blocks = other.block == GlobalTouch::several_blocks,
               several = other_blocks || other.warp == GlobalTouch::several_warps;
    const std::string who = other_blocks ? "other blocks"
                            : other.block != block_.number
                                ? fmt::format("block ({}, {}, {})", block.x, block.y, block.z)
                            : several ? "several warps of the block"
                                      : fmt::format("warp {} of the block", unsigned(other.warp));
    return fmt::format("{} {} bytes of device memory {}; {} {}{} there at line {}, and nothing orders the two",
                       access.writes ? "writes" : "reads", access.bytes,
                       global_memory.describe(reinterpret_cast<const void*>(access.address)), who,
                       other_writes ? "write" : "read", several ? "" : "s", site_of(other_pc - 1).line);
  });
}

unsigned GlobalRaces::new_site(std::uintptr_t pc) {
  auto& [known, number] = sites_[(pc >> 2) % sites_.size()];
  Sites& all = sites();
  const std::lock_guard lock(all.mutex);
  const auto next = unsigned(all.numbers.size() + 1);
  const auto [entry, is_new] = all.numbers.try_emplace(pc, next < all.pcs.size() ? next : 0);
  if (is_new) all.pcs[entry->second] = entry->second == 0 ? 0 : pc;
  known = pc;
  return number = entry->second;
}

}  // namespace bankwise::emulator
