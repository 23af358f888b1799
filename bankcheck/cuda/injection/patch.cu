// What NVIDIA's Compute Sanitizer library inserts before each instruction that accesses shared or global memory:
// counts the access's pattern (instruction, active lanes, addresses) in the table of device_table.hpp, or its cost if
// the table is full.
//
// Compiled with `nvcc --compile-as-tools-patch`, which leaves about 16 registers and allows no `redux`. All lanes of
// the warp that perform the access call the function together, so __activemask() is the access's mask. Signatures are
// those of the callback types in NVIDIA's sanitizer_patching.h; trailing parameters that are not used here are left
// out, because newer versions of the library add some there. All functions return 0, SANITIZER_PATCH_SUCCESS.
#include "bankcheck/cuda/injection/patch_global.cuh"
#include "bankcheck/cuda/injection/patch_table.cuh"
#include "bankcheck/cuda/injection/warp_cost.cuh"

namespace {

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
BANKWISE_PATCH bankwise_async_read(void* userdata, uint64_t pc, void* from, uint32_t /*offset*/, uint32_t width) {
  return count_copy(userdata, pc, uint64_t(from), width);
}
BANKWISE_PATCH bankwise_async_copy_and_read(void* userdata, uint64_t pc, void* from, uint32_t offset, uint32_t width) {
  count_lanes(userdata, pc, pack_copy(offset, uint64_t(from)), pack_what(AccessSource::async_copy, width, 0));
  return count_copy(userdata, pc, uint64_t(from), width);
}
BANKWISE_PATCH bankwise_global_access(void* userdata, uint64_t pc, void* address, uint32_t width, uint32_t flags) {
  auto* launch = static_cast<LaunchSlot*>(userdata);
  if (is_prefetch(flags) || !is_watched(launch)) return 0;
  const uint32_t what = pack_what(AccessSource::global, width, flags);
  count_global(launch, pc, uint64_t(address), what, direction(flags), __activemask());
  return 0;
}
BANKWISE_PATCH bankwise_local_access(void* userdata, uint64_t pc, void* /*offset*/, uint32_t width, uint32_t flags) {
  auto* launch = static_cast<LaunchSlot*>(userdata);
  if (is_prefetch(flags) || !is_watched(launch)) return 0;
  const uint32_t mask = __activemask();
  if (lane_number() != __ffs(mask) - 1) return 0;
  const uint32_t packed = pack_cost({uint32_t(__popc(mask)), 0, 0, 0});
  const uint32_t what = pack_what(AccessSource::local, width, flags) | COSTED;
  if (!count_in_half(launch, pc, packed, what, 1)) increment(uint64_t(&launch->global_lost));
  return 0;
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
