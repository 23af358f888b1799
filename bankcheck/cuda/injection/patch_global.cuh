// How the patch counts accesses to global memory, and the sectors that a launch touches. For patch.cu.
#pragma once

#include "bankcheck/cuda/injection/patch_table.cuh"
#include "bankcheck/cuda/injection/warp_cost.cuh"

namespace {

__device__ __forceinline__ uint64_t header_word(const LaunchSlot* launch, uint64_t offset) {
  return launch->header + offset;
}

/// Counts a cost of global or local memory, or sectors; these leave half of the entries to shared memory. Returns
/// whether it had room. For one lane.
__device__ __forceinline__ bool count_in_half(const LaunchSlot* launch, uint64_t pc, uint32_t packed, uint32_t what,
                                              uint64_t times) {
  const uint64_t key = key_of(launch, pc, packed, what, 0);
  if (count_known(launch, key, true, times)) return true;
  Entries entries = entries_of_costs(launch);
  const uint64_t used = header_word(launch, offsetof(TableHeader, global_costs));
  if (load_current_word(used) >= entries.capacity / 2) entries.capacity = 0;  // it may be there already
  const uint32_t index = find_or_insert(launch, entries, key, pc, packed, what, times);
  if (index < NO_ROOM) take_number(used);
  return index != NO_ROOM;
}

/// Notes that the launch touches the sectors `bits` of a line. Returns those that it had not touched before, as far as
/// the table knows: none if the word serves a line of a launch that began later. So no sector is counted twice.
__device__ __forceinline__ uint32_t touch(uint64_t table, uint32_t line, uint32_t bits) {
  constexpr int MAX_TRIES = 16;
  const uint32_t number = launch_number(), launch = number << 8, mine = launch | bits;
  // Neighbouring lines have neighbouring words; the same line has another one in another launch.
  const uint32_t index = (line + number * 0x9e3779b1u) & ((1u << (table & 0xff)) - 1);
  const uint64_t place = (table & ~uint64_t(0xff)) + uint64_t(index) * 4;
  uint32_t old = load_cached_word(place);
#pragma unroll 1
  for (int i = 0; i < MAX_TRIES; ++i) {
    const bool same_launch = ((old ^ mine) & LAUNCH_BITS) == 0;
    if (!same_launch && old != 0 && int32_t((old & LAUNCH_BITS) - launch) > 0) return 0;
    const uint32_t known = same_launch ? old : launch;
    if ((known | bits) == old) return 0;
    const uint32_t found = compare_and_swap_word(place, old, known | bits);
    if (found == old) return bits & ~known;
    old = found;
  }
  return 0;
}

/// Counts the sectors that the access is the first of its launch to read or to write. All lanes of `mask` call it.
__device__ __forceinline__ void count_sectors(const LaunchSlot* launch, uint64_t pc, uint64_t address, Direction access,
                                              uint32_t mask, uint32_t lane) {
  const uint64_t table = launch->touched;
  if (table == 0) return;
  const uint32_t line = uint32_t(address >> LINE_SHIFT), sector = uint32_t(address >> SECTOR_SHIFT);
  const uint32_t together = __match_any_sync(mask, line);
  const uint32_t high = __ballot_sync(mask, sector & 2), low = __ballot_sync(mask, sector & 1);
  uint32_t fresh = 0;
  if (lane == uint32_t(__ffs(together)) - 1) {
    const uint32_t sectors = ((together & ~high & ~low) != 0 ? 1 : 0) | ((together & ~high & low) != 0 ? 2 : 0) |
                             ((together & high & ~low) != 0 ? 4 : 0) | ((together & high & low) != 0 ? 8 : 0);
    fresh = touch(table, line, (access != writes ? sectors << READ_SHIFT : 0) | (access != reads ? sectors : 0));
  }
#pragma unroll 1
  while (__any_sync(mask, fresh != 0)) {
    // First what is read, then what is written. At most four of each lane.
    const bool read = __any_sync(mask, fresh >> READ_SHIFT != 0);
    const uint32_t mine = __popc(read ? fresh >> READ_SHIFT : fresh);
    fresh = read ? fresh & ((1u << READ_SHIFT) - 1) : 0;
    const uint32_t sectors = __popc(__ballot_sync(mask, mine & 1)) + 2 * __popc(__ballot_sync(mask, mine & 2)) +
                             4 * __popc(__ballot_sync(mask, mine & 4));
    const uint32_t what = pack_what(read ? AccessSource::sectors_read : AccessSource::sectors_written, 0, 0);
    if (lane == uint32_t(__ffs(mask)) - 1) count_in_half(launch, pc, 0, what, sectors);
  }
}

/// Counts an access to global memory by its cost. All lanes of `mask` call it.
__device__ __forceinline__ void count_global_cost(LaunchSlot* launch, uint64_t pc, uint64_t address, uint32_t what,
                                                  uint32_t mask, uint32_t lane) {
  const GlobalCost cost = global_cost(address, what >> 16 & 0xff, mask, lane);
  if (lane != uint32_t(__ffs(mask)) - 1) return;
  const uint32_t packed = pack_cost({uint32_t(__popc(mask)), cost.lines, cost.sectors, cost.elements});
  if (!count_in_half(launch, pc, packed, what | COSTED, 1)) increment(uint64_t(&launch->global_lost));
}

/// Inserts a pattern of global memory, if its instruction and all of them have few enough. As find_or_insert(), for one
/// lane.
__device__ __forceinline__ uint32_t insert_global(const LaunchSlot* launch, uint64_t key, uint64_t pc, uint32_t mask,
                                                  uint32_t what, uint64_t of_instruction) {
  const Entries patterns = entries_of_patterns(launch);
  const uint64_t used = header_word(launch, offsetof(TableHeader, global_used));
  if (load_current_word(of_instruction) >= PATTERNS_OF_INSTRUCTION ||
      load_current_word(used) >= global_entries(launch->capacity)) {
    return NO_ROOM;
  }
  const uint32_t index = find_or_insert(launch, patterns, key, pc, mask, what);
  if (index < NO_ROOM) {
    take_number(of_instruction);
    take_number(used);
  }
  return index;
}

/// Counts an access to global memory by the lanes of `mask`, which all call it.
__device__ __forceinline__ void count_global(LaunchSlot* launch, uint64_t pc, uint64_t address, uint32_t what,
                                             Direction access, uint32_t mask) {
  const uint32_t lane = lane_number(), leader = __ffs(mask) - 1;
  count_sectors(launch, pc, address, access, mask, lane);
  const uint64_t lowest = __shfl_sync(mask, static_cast<unsigned long long>(address), leader);
  const int64_t distance = int64_t(address - (lowest >> LINE_SHIFT << LINE_SHIFT));
  const uint32_t offset = uint32_t(distance), first = uint32_t(lowest) & ((1u << LINE_SHIFT) - 1);
  // Most warps' addresses have a fixed step from lane to lane, also where some lanes are idle. With short distances the
  // products are exact.
  constexpr int64_t NEAR = 1 << 25;
  const uint32_t others = mask & (mask - 1), second = others == 0 ? leader : __ffs(others) - 1;
  const uint32_t step = __shfl_sync(mask, offset, second) - first;
  const bool in_step =
      distance > -NEAR && distance < NEAR && (offset - first) * (second - leader) == step * (lane - leader);
  const uint64_t of_instruction =
      header_word(launch, offsetof(TableHeader, of_instruction)) + (uint32_t(pc) >> 4) % INSTRUCTIONS * 4;
  uint64_t hash = first * FIRST + step * STEP;
  bool has_pattern = true;
  if (!__all_sync(mask, in_step)) {
    // A gather has its cost counted at once as soon as it has shown enough patterns.
    const bool gathers = load_cached_word(of_instruction) >= PATTERNS_OF_INSTRUCTION;
    has_pattern = !__any_sync(mask, gathers || distance != int32_t(distance));
    if (has_pattern) hash = hash_of_addresses(offset, mask, lane);
  }
  if (has_pattern) {
    const uint64_t key = key_of(launch, pc, mask, what, hash);
    if (__all_sync(mask, load_cached(key_address(launch, first_slot(launch, key))) == key)) {  // nearly always
      if (lane == leader) count(launch, first_slot(launch, key), 1);
      return;
    }
    uint32_t index = NO_ROOM;
    if (lane == leader) index = insert_global(launch, key, pc, mask, what, of_instruction);
    index = __shfl_sync(mask, index, leader);
    has_pattern = index != NO_ROOM;
    if (index < NO_ROOM) reinterpret_cast<PatternEntry*>(launch->entries)[index].addresses[lane] = offset;
  }
  if (!has_pattern) count_global_cost(launch, pc, address, what, mask, lane);
}

/// Counts what an asynchronous copy reads: lanes that only fill with zeros have no address.
__device__ __forceinline__ int count_copy(void* userdata, uint64_t pc, uint64_t from, uint32_t width) {
  auto* launch = static_cast<LaunchSlot*>(userdata);
  if (!is_watched(launch)) return 0;
  const uint32_t mask = __ballot_sync(__activemask(), from != 0);
  if (from != 0) count_global(launch, pc, from, pack_what(AccessSource::global_copy, width, 0), reads, mask);
  return 0;
}

}  // namespace
