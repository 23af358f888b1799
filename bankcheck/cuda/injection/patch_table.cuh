// The patch's part of the table (device_table.hpp): keys, and how one is found or inserted. For patch.cu.
#pragma once

#include <stddef.h>

#include "bankcheck/cuda/injection/device_table.hpp"
#ifndef BANKWISE_PATCH_INSTRUCTIONS  // else a test has its own, for the emulator
#include "bankcheck/cuda/injection/patch_instructions.cuh"
#endif

namespace {

using namespace bankwise::cuda;

constexpr uint64_t PC = 0x9e3779b97f4a7c15, MASK = 0x8cb92ba72f3d8dd7, WHAT = 0xaef17502108ef2d9,
                   KERNEL = 0xf1357aea2e62a9c5, FIRST = 0xd1b54a32d192ed03, STEP = 0xa0761d6478bd642f;

/// The factor of a lane's address in the key, which is a multilinear hash: a sum of 32-bit values, each times a
/// pseudo-random odd 64-bit factor. Two patterns have the same key with a probability of about 2^-50.
__device__ __forceinline__ uint64_t lane_factor(uint32_t lane) {
  uint32_t low = (lane + 1) * 0x9e3779b1u;
  low = (low ^ low >> 15) * 0x85ebca77u;
  uint32_t high = (low ^ low >> 13) * 0xc2b2ae3du;
  high ^= high >> 16;
  return uint64_t(high) << 32 | low | 1;
}

/// The sum of `value` over the lanes of `mask`, in all of them; `mask` is not full.
__device__ __forceinline__ uint64_t sum_of_some(uint64_t value, uint32_t mask, uint32_t lane) {
  // The active lanes as a linked list: each round doubles the distance to `next`, 32 stands for the end.
  uint32_t next = min(uint32_t(__ffs(mask & (0xfffffffeu << lane)) - 1), 32u);
  const uint32_t active = __popc(mask);
#pragma unroll 1
  for (uint32_t distance = 1; distance < active; distance *= 2) {
    const uint32_t from = next & 31;
    const uint64_t other = __shfl_sync(mask, value, from);
    const uint32_t after = __shfl_sync(mask, next, from);
    if (next < 32) {
      value += other;
      next = after;
    }
  }
  return __shfl_sync(mask, value, __ffs(mask) - 1);
}

/// The part of the key that says which addresses the lanes of `mask` have; the same in all lanes.
__device__ __forceinline__ uint64_t hash_of_addresses(uint32_t address, uint32_t mask, uint32_t lane) {
  if (mask != 0xffffffff) return sum_of_some(address * lane_factor(lane), mask, lane);
  // Most warps' addresses have a fixed step from lane to lane, and that takes far fewer shuffles to tell.
  const uint32_t first = __shfl_sync(0xffffffff, address, 0);
  const uint32_t step = __shfl_sync(0xffffffff, address, 1) - first;
  if (__all_sync(0xffffffff, address == first + step * lane)) return first * FIRST + step * STEP;
  uint64_t sum = address * lane_factor(lane);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  return sum;
}

__device__ __forceinline__ bool is_watched(const LaunchSlot* launch) {
  if (launch == nullptr || launch->slots == 0) return false;
  const uint32_t threshold = launch->threshold;
  if (threshold == ALL_BLOCKS) return true;
  return is_watched_block(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), threshold);
}

/// Program counters of a program differ in the low 32 bits. Never 0, which is a free slot.
__device__ __forceinline__ uint64_t key_of(const LaunchSlot* launch, uint64_t pc, uint32_t mask, uint32_t what,
                                           uint64_t addresses) {
  return (addresses + uint32_t(pc) * PC + mask * MASK + what * WHAT + launch->kernel * KERNEL) | 1;
}
__device__ __forceinline__ uint32_t first_slot(const LaunchSlot* launch, uint64_t key) {
  return __umulhi(uint32_t(key >> 32), launch->slots);
}
__device__ __forceinline__ uint64_t key_address(const LaunchSlot* launch, uint32_t slot) {
  return launch->header + sizeof(TableHeader) + uint64_t(slot) * 8;
}
__device__ __forceinline__ void count(const LaunchSlot* launch, uint32_t slot, uint64_t times) {
  const uint32_t shard = multiprocessor_number() & (COUNT_SHARDS - 1);
  increment(launch->header + sizeof(TableHeader) + (uint64_t(shard + 1) * launch->slots + slot) * 8, times);
}

constexpr uint32_t NO_ENTRY = 0xffffffff, NO_ROOM = 0xfffffffe;

/// A part of the entries: where its number of used ones is, how many may be used, the index of the first, and how many
/// slots a key may be looked for in. A cost must find one: all accesses of that cost depend on it.
struct Entries {
  uint64_t used;
  uint32_t capacity, first, probes;
};
__device__ __forceinline__ Entries entries_of_patterns(const LaunchSlot* launch) {
  return {launch->header + offsetof(TableHeader, used), launch->capacity, 0, MAX_PROBES};
}
__device__ __forceinline__ Entries entries_of_costs(const LaunchSlot* launch) {
  return {launch->header + offsetof(TableHeader, costs_used), cost_entries(launch->capacity),
          launch->capacity + SPARE_ENTRIES, launch->slots};
}

/// Counts `key` if it has a slot or gets one. Returns the index of a new entry, of which the addresses are still to be
/// written, NO_ENTRY if there is none to write, or NO_ROOM if the access is not counted. For one lane.
__device__ __forceinline__ uint32_t find_or_insert(const LaunchSlot* launch, const Entries& entries, uint64_t key,
                                                   uint64_t pc, uint32_t mask, uint32_t what, uint64_t times = 1) {
  uint32_t slot = first_slot(launch, key);
#pragma unroll 1
  for (uint32_t probe = 0; probe < entries.probes; ++probe) {
    const uint64_t place = key_address(launch, slot);
    uint64_t found = load_current(place);
    if (found == 0) {
      if (load_current_word(entries.used) >= entries.capacity) break;
      found = compare_and_swap(place, 0, key);
      if (found == 0) {
        count(launch, slot, times);
        const uint32_t number = take_number(entries.used);
        if (entries.first == 0 && (number + 1) % FILL_REPORT_STEP == 0) {
          tell_host(launch->fill, number + 1);
        }
        const uint32_t index = entries.first + number;
        PatternEntry* entry = reinterpret_cast<PatternEntry*>(launch->entries) + index;
        entry->pc = pc;
        entry->slot = slot;
        entry->kernel = launch->kernel;
        entry->mask = mask;
        entry->what = what;
        return index;
      }
    }
    if (found == key) {
      count(launch, slot, times);
      return NO_ENTRY;
    }
    if (++slot == launch->slots) slot = 0;
  }
  return NO_ROOM;
}

/// Whether `key` was counted because the L1 cache has it in its first slot: nearly always. A key that is in the cache
/// is in the table; a slot that is free in the cache may have been taken since.
__device__ __forceinline__ bool count_known(const LaunchSlot* launch, uint64_t key, bool leads, uint64_t times = 1) {
  const uint32_t slot = first_slot(launch, key);
  if (load_cached(key_address(launch, slot)) != key) return false;
  if (leads) count(launch, slot, times);
  return true;
}

}  // namespace
