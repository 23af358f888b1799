// How the patch counts instructions that have no addresses of lanes: bulk copies, TMA and wgmma. For patch.cu.
#pragma once

#include "bankcheck/cuda/injection/patch_global.cuh"

namespace {

/// PatternEntry::addresses of such an instruction.
struct EngineWords {
  uint32_t words[ENGINE_WORDS];
};

/// Counts an instruction of a whole warp, which all its active lanes call alike.
__device__ __forceinline__ int count_engine(void* userdata, uint64_t pc, AccessSource source,
                                            const EngineWords& words) {
  auto* launch = static_cast<LaunchSlot*>(userdata);
  if (!is_watched(launch)) return 0;
  if (lane_number() != uint32_t(__ffs(__activemask())) - 1) return 0;
  const uint32_t what = pack_what(source, 0, 0);
  uint64_t hash = 0;
#pragma unroll
  for (uint32_t i = 0; i < ENGINE_WORDS; ++i) hash += words.words[i] * lane_factor(i);
  const uint64_t key = key_of(launch, pc, ENGINE_MASK, what, hash);
  if (count_known(launch, key, true)) return 0;
  const uint32_t index = find_or_insert(launch, entries_of_costs(launch), key, pc, ENGINE_MASK, what);
  if (index == NO_ROOM) {
    increment(uint64_t(&launch->lost));
  } else if (index != NO_ENTRY) {
    PatternEntry& entry = reinterpret_cast<PatternEntry*>(launch->entries)[index];
#pragma unroll
    for (uint32_t i = 0; i < ENGINE_WORDS; ++i) entry.addresses[i] = words.words[i];
  }
  return 0;
}

/// Counts the sectors of `bytes` from `address` on that the launch has not touched before. For one lane.
__device__ __forceinline__ void count_range(const LaunchSlot* launch, uint64_t pc, uint64_t address, uint32_t bytes,
                                            Direction access) {
  uint32_t read = 0, written = 0;
#pragma unroll 1
  for (const uint64_t end = address + bytes; address < end; address = ((address >> LINE_SHIFT) + 1) << LINE_SHIFT) {
    // From the sector of `address` to that of the last byte in this cache line.
    constexpr uint64_t IN_LINE = (1 << LINE_SHIFT) - 1;
    const uint32_t first = uint32_t(address & IN_LINE) >> SECTOR_SHIFT;
    const uint64_t last_byte = min(end - 1, address | IN_LINE);
    const uint32_t sectors = (2u << (uint32_t(last_byte & IN_LINE) >> SECTOR_SHIFT)) - (1u << first);
    const uint32_t fresh = touch(launch->touched, uint32_t(address >> LINE_SHIFT),
                                 (access != writes ? sectors << READ_SHIFT : 0) | (access != reads ? sectors : 0));
    read += __popc(fresh >> READ_SHIFT);
    written += __popc(fresh & ((1u << READ_SHIFT) - 1));
  }
  if (read != 0) count_in_half(launch, pc, 0, pack_what(AccessSource::sectors_read, 0, 0), read);
  if (written != 0) count_in_half(launch, pc, 0, pack_what(AccessSource::sectors_written, 0, 0), written);
}

/// Counts a copy of `bytes` from or to `address` in global memory, or between blocks, if it is 0.
__device__ __forceinline__ int count_bulk(void* userdata, uint64_t pc, AccessSource source, uint32_t bytes,
                                          uint64_t address = 0, uint32_t targets = 1) {
  count_engine(userdata, pc, source, {{bytes, uint32_t(address) & ((1u << LINE_SHIFT) - 1), targets}});
  const auto* const launch = static_cast<const LaunchSlot*>(userdata);
  if (address == 0 || !is_watched(launch) || launch->touched == 0) return 0;
  if (lane_number() != uint32_t(__ffs(__activemask())) - 1) return 0;
  const Direction access = source == AccessSource::bulk_global_to_shared          ? reads
                           : source == AccessSource::bulk_reduce_shared_to_global ? reads_and_writes
                                                                                  : writes;
  count_range(launch, pc, address, bytes, access);
  return 0;
}

}  // namespace
