// What NVIDIA's Compute Sanitizer library inserts before each instruction that accesses shared memory: counts the
// access's pattern (instruction, active lanes, addresses) in the table of device_table.hpp, or its cost if the table is
// full.
//
// Compiled with `nvcc --compile-as-tools-patch`, which leaves about 16 registers and allows no `redux`. All lanes of
// the warp that perform the access call the function together, so __activemask() is the access's mask. Signatures are
// those of the callback types in NVIDIA's sanitizer_patching.h; trailing parameters that are not used here are left
// out, because newer versions of the library add some there. All functions return 0, SANITIZER_PATCH_SUCCESS.
#include <stddef.h>

#include "bankcheck/cuda/injection/device_table.hpp"
#include "bankcheck/cuda/injection/warp_cost.cuh"

namespace {

using namespace bankwise::cuda;

// Generic addresses would make each atomic check for shared memory first.
__device__ __forceinline__ uint64_t load_cached(uint64_t address) {
  uint64_t value;
  asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(address));
  return value;
}
__device__ __forceinline__ uint64_t load_current(uint64_t address) {
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}
__device__ __forceinline__ uint32_t load_current_word(uint64_t address) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
__device__ __forceinline__ uint64_t compare_and_swap(uint64_t address, uint64_t expected, uint64_t desired) {
  uint64_t old;
  asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(old)
               : "l"(address), "l"(expected), "l"(desired)
               : "memory");
  return old;
}
__device__ __forceinline__ void increment(uint64_t address) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(address) : "memory");
}
__device__ __forceinline__ uint32_t take_number(uint64_t address) {
  uint32_t old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(address) : "memory");
  return old;
}
__device__ __forceinline__ void tell_host(uint64_t address, uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
__device__ __forceinline__ uint32_t lane_number() {
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ __forceinline__ uint32_t multiprocessor_number() {
  uint32_t number;
  asm("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

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
  return launch->keys + uint64_t(slot) * 8;
}
__device__ __forceinline__ void count(const LaunchSlot* launch, uint32_t slot) {
  const uint32_t shard = multiprocessor_number() & (COUNT_SHARDS - 1);
  increment(launch->counts + (uint64_t(shard) * launch->slots + slot) * 8);
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
                                                   uint64_t pc, uint32_t mask, uint32_t what) {
  uint32_t slot = first_slot(launch, key);
#pragma unroll 1
  for (uint32_t probe = 0; probe < entries.probes; ++probe) {
    const uint64_t place = key_address(launch, slot);
    uint64_t found = load_current(place);
    if (found == 0) {
      if (load_current_word(entries.used) >= entries.capacity) break;
      found = compare_and_swap(place, 0, key);
      if (found == 0) {
        count(launch, slot);
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
      count(launch, slot);
      return NO_ENTRY;
    }
    if (++slot == launch->slots) slot = 0;
  }
  return NO_ROOM;
}

/// Whether `key` was counted because the L1 cache has it in its first slot: nearly always. A key that is in the cache
/// is in the table; a slot that is free in the cache may have been taken since.
__device__ __forceinline__ bool count_known(const LaunchSlot* launch, uint64_t key, bool leads) {
  const uint32_t slot = first_slot(launch, key);
  if (load_cached(key_address(launch, slot)) != key) return false;
  if (leads) count(launch, slot);
  return true;
}

/// Counts an access by its cost. All lanes of `mask` call it, which are all active ones.
__device__ __forceinline__ void count_cost(LaunchSlot* launch, uint64_t pc, uint32_t address, uint32_t what,
                                           uint32_t mask, uint32_t lane) {
  const uint32_t source = what >> 24, width = what >> 16 & 0xff;
  WarpCost cost;
  if (source == uint32_t(AccessSource::matrix)) {
    // For each of 1, 2 or 4 matrices, 8 lanes have the addresses of rows of 16 bytes.
    const uint32_t matrices = what >> 8 & 0xff;
    const uint32_t rows = matrices >= 4 ? mask : mask & ((1u << 8 * matrices) - 1);
    if ((rows >> lane & 1) == 0) return;
    cost = warp_cost(address, 16, false, rows, lane);
  } else if (source == uint32_t(AccessSource::shared)) {
    const bool is_load = direction(what & 0xffff) == reads;
    cost = warp_cost(address, width, is_load, mask, lane);
  }
  if (lane != __ffs(mask) - 1) return;
  const uint32_t packed = pack_cost({uint32_t(__popc(mask)), cost.ideal, cost.passes, cost.lane_passes});
  what |= COSTED;
  const uint64_t key = key_of(launch, pc, packed, what, 0);
  if (count_known(launch, key, true)) return;
  if (find_or_insert(launch, entries_of_costs(launch), key, pc, packed, what) == NO_ROOM) {
    increment(uint64_t(&launch->lost));
  }
}

/// Counts an access whose pattern is not where count_known() looked.
__device__ __forceinline__ void count_unknown(LaunchSlot* launch, uint64_t key, uint64_t pc, uint32_t address,
                                              uint32_t what, uint32_t mask, uint32_t lane) {
  const uint32_t leader = __ffs(mask) - 1;
  // A full table may have the pattern in a later slot, but its cost is as exact, and found sooner.
  const Entries patterns = entries_of_patterns(launch);
  uint32_t index = NO_ROOM;
  if (lane == leader && load_current_word(patterns.used) < patterns.capacity) {
    index = find_or_insert(launch, patterns, key, pc, mask, what);
  }
  index = __shfl_sync(mask, index, leader);
  if (index == NO_ROOM) {
    count_cost(launch, pc, address, what, mask, lane);
  } else if (index != NO_ENTRY) {
    reinterpret_cast<PatternEntry*>(launch->entries)[index].addresses[lane] = address;
  }
}

/// Counts an access in which each active lane has an address.
__device__ __forceinline__ int count_lanes(void* userdata, uint64_t pc, uint32_t address, uint32_t what) {
  auto* launch = static_cast<LaunchSlot*>(userdata);
  if (!is_watched(launch)) return 0;
  const uint32_t mask = __activemask();
  const uint32_t lane = lane_number();
  const uint64_t key = key_of(launch, pc, mask, what, hash_of_addresses(address, mask, lane));
  if (!count_known(launch, key, lane == __ffs(mask) - 1)) count_unknown(launch, key, pc, address, what, mask, lane);
  return 0;
}

/// Counts an instruction of a whole warp that has no addresses of lanes.
__device__ __forceinline__ int count_bulk(void* userdata, uint64_t pc, AccessSource source) {
  auto* launch = static_cast<LaunchSlot*>(userdata);
  if (!is_watched(launch)) return 0;
  if (lane_number() != __ffs(__activemask()) - 1) return 0;
  const uint32_t what = pack_what(source, 0, 0);
  const uint64_t key = key_of(launch, pc, 0, what, 0);
  if (count_known(launch, key, true)) return 0;
  if (find_or_insert(launch, entries_of_costs(launch), key, pc, 0, what) == NO_ROOM) {
    increment(uint64_t(&launch->lost));
  }
  return 0;
}

}  // namespace

#define BANKWISE_PATCH extern "C" __device__ __noinline__ int

BANKWISE_PATCH bankwise_shared_access(void* userdata, uint64_t pc, void* offset, uint32_t width, uint32_t flags) {
  return count_lanes(userdata, pc, uint32_t(uint64_t(offset)), pack_what(AccessSource::shared, width, flags));
}
BANKWISE_PATCH bankwise_remote_access(void* userdata, uint64_t pc, void* offset, uint32_t width, uint32_t flags) {
  return count_lanes(userdata, pc, uint32_t(uint64_t(offset)), pack_what(AccessSource::remote, width, flags));
}
BANKWISE_PATCH bankwise_async_copy(void* userdata, uint64_t pc, void* from, uint32_t offset, uint32_t width) {
  return count_lanes(userdata, pc, pack_copy(offset, uint64_t(from)), pack_what(AccessSource::async_copy, width, 0));
}
BANKWISE_PATCH bankwise_matrix_access(void* userdata, uint64_t pc, uint32_t offset, uint32_t width, uint32_t flags,
                                      uint32_t matrices) {
  return count_lanes(userdata, pc, offset, pack_what(AccessSource::matrix, width, (flags & 0xff) | matrices << 8));
}
BANKWISE_PATCH bankwise_async_store(void* userdata, uint64_t pc, uint32_t offset, uint32_t /*barrier*/, void* /*value*/,
                                    uint32_t width) {
  return count_lanes(userdata, pc, offset, pack_what(AccessSource::async_store, width, 0));
}
BANKWISE_PATCH bankwise_async_reduction(void* userdata, uint64_t pc, uint32_t offset, uint32_t /*barrier*/,
                                        uint32_t width) {
  return count_lanes(userdata, pc, offset, pack_what(AccessSource::async_reduction, width, 0));
}

#define BANKWISE_BULK_PATCH(source)                               \
  BANKWISE_PATCH bankwise_##source(void* userdata, uint64_t pc) { \
    return count_bulk(userdata, pc, AccessSource::source);        \
  }
BANKWISE_BULK_PATCH(bulk_global_to_shared)
BANKWISE_BULK_PATCH(bulk_shared_to_global)
BANKWISE_BULK_PATCH(bulk_shared_to_shared)
BANKWISE_BULK_PATCH(bulk_reduce_shared_to_global)
BANKWISE_BULK_PATCH(bulk_reduce_shared_to_shared)
BANKWISE_BULK_PATCH(bulk_fill_shared)
BANKWISE_BULK_PATCH(tma_load)
BANKWISE_BULK_PATCH(tma_store)
BANKWISE_BULK_PATCH(wgmma)
