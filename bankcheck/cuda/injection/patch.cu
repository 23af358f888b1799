// What NVIDIA's Compute Sanitizer library inserts before each instruction that accesses shared or global memory:
// counts the access's pattern (instruction, active lanes, addresses) in the table of device_table.hpp, or its cost if
// the table is full.
//
// Compiled with `nvcc --compile-as-tools-patch`, which leaves about 16 registers and allows no `redux`. All lanes of
// the warp that perform the access call the function together, so __activemask() is the access's mask. Signatures are
// those of the callback types in NVIDIA's sanitizer_patching.h; trailing parameters that are not used here are left
// out, because newer versions of the library add some there. All functions return 0, SANITIZER_PATCH_SUCCESS.
#include "bankcheck/cuda/injection/patch_engines.cuh"
#include "bankcheck/cuda/injection/patch_global.cuh"
#include "bankcheck/cuda/injection/patch_table.cuh"
#include "bankcheck/cuda/injection/warp_cost.cuh"

namespace {

/// Counts an access of this cost, unless there is no room. Of the lanes that call it, the lowest of `mask` does it.
__device__ __forceinline__ void count_with(LaunchSlot* launch, uint64_t pc, WarpCost cost, uint32_t what, uint32_t mask,
                                           uint32_t lane) {
  if (lane != uint32_t(__ffs(mask)) - 1) return;
  const uint32_t packed = pack_cost({uint32_t(__popc(mask)), cost.ideal, cost.passes, cost.lane_passes});
  what |= COSTED;
  const uint64_t key = key_of(launch, pc, packed, what, 0);
  if (count_known(launch, key, true)) return;
  if (find_or_insert(launch, entries_of_costs(launch), key, pc, packed, what) == NO_ROOM) {
    increment(uint64_t(&launch->lost));
  }
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
  } else if (is_remote(AccessSource(source))) {
    const GlobalCost remote = global_cost(address, width, mask, lane);
    cost = {remote.lines, remote.sectors, remote.elements};
  } else if (source == uint32_t(AccessSource::async_copy)) {
    const LaneCopy copy = unpack_copy(address, width);
    if (width == MAY_PASS_L1) count_with(launch, pc, cost_past_l1(copy, mask, lane), what | PAST_L1, mask, lane);
    cost = cost_through_l1(copy, width, mask, lane);
  }
  count_with(launch, pc, cost, what, mask, lane);
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
  if (!count_known(launch, key, lane == uint32_t(__ffs(mask)) - 1))
    count_unknown(launch, key, pc, address, what, mask, lane);
  return 0;
}

/// The number of the cache line that the lane reads, in the order of the lanes of `mask`, which all call it. Those that
/// write zeros read at 0, and do not count.
__device__ __forceinline__ uint32_t number_of_line(uint64_t from, uint32_t mask, uint32_t lane) {
  const uint32_t same = __match_any_sync(mask, static_cast<unsigned long long>(from >> LINE_SHIFT));
  const uint32_t first = __ffs(same) - 1;
  return __popc(__ballot_sync(mask, from != 0 && lane == first) & ((1u << first) - 1));
}

/// Counts what an asynchronous copy does in shared memory.
__device__ __forceinline__ int count_copied(void* userdata, uint64_t pc, uint64_t from, uint32_t to, uint32_t width) {
  if (!is_watched(static_cast<LaunchSlot*>(userdata))) return 0;
  const uint32_t line = width == MAY_PASS_L1 ? number_of_line(from, __activemask(), lane_number()) : 0;
  return count_lanes(userdata, pc, pack_copy(to, from, line, width), pack_what(AccessSource::async_copy, width, 0));
}

/// Counts an access to the shared memory of blocks of the cluster.
__device__ __forceinline__ int count_remote(void* userdata, uint64_t pc, uint32_t address, uint32_t what) {
  const uint32_t mask = __activemask();
  return count_lanes(userdata, pc, relative_to_block(address, __shfl_sync(mask, address, __ffs(mask) - 1)), what);
}

}  // namespace

#define BANKWISE_PATCH extern "C" __device__ __noinline__ int

BANKWISE_PATCH bankwise_shared_access(void* userdata, uint64_t pc, void* offset, uint32_t width, uint32_t flags) {
  // An LDS.128 whose last word is not used: no instruction has 12 bytes.
  const uint32_t moved = width == 12 ? 16 : width;
  return count_lanes(userdata, pc, uint32_t(uint64_t(offset)), pack_what(AccessSource::shared, moved, flags));
}
BANKWISE_PATCH bankwise_remote_access(void* userdata, uint64_t pc, void* offset, uint32_t width, uint32_t flags) {
  return count_remote(userdata, pc, uint32_t(uint64_t(offset)), pack_what(AccessSource::remote, width, flags));
}
BANKWISE_PATCH bankwise_async_copy(void* userdata, uint64_t pc, void* from, uint32_t offset, uint32_t width) {
  return count_copied(userdata, pc, uint64_t(from), offset, width);
}
BANKWISE_PATCH bankwise_async_read(void* userdata, uint64_t pc, void* from, uint32_t /*offset*/, uint32_t width) {
  return count_copy(userdata, pc, uint64_t(from), width);
}
BANKWISE_PATCH bankwise_async_copy_and_read(void* userdata, uint64_t pc, void* from, uint32_t offset, uint32_t width) {
  count_copied(userdata, pc, uint64_t(from), offset, width);
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
  if (lane_number() != uint32_t(__ffs(mask)) - 1) return 0;
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
  return count_remote(userdata, pc, offset, pack_what(AccessSource::async_store, width, 0));
}
BANKWISE_PATCH bankwise_async_reduction(void* userdata, uint64_t pc, uint32_t offset, uint32_t /*barrier*/,
                                        uint32_t width) {
  return count_remote(userdata, pc, offset, pack_what(AccessSource::async_reduction, width, 0));
}

BANKWISE_PATCH bankwise_wgmma(void* userdata, uint64_t pc, uint32_t /*a*/, uint32_t bytes_a, uint32_t /*b*/,
                              uint32_t bytes_b, uint32_t /*flags*/, uint32_t mask) {
  if (mask != ~0u) return 0;  // the instruction does nothing
  return count_engine(userdata, pc, AccessSource::wgmma, {{bytes_a, bytes_b}});
}
BANKWISE_PATCH bankwise_bulk_global_to_shared(void* userdata, uint64_t pc, uint64_t from, uint32_t /*to*/,
                                              uint32_t /*barrier*/, uint32_t mask_and_size, uint32_t is_multicast) {
  const uint32_t targets = is_multicast != 0 ? __popc(mask_and_size >> 16) : 1;
  return count_bulk(userdata, pc, AccessSource::bulk_global_to_shared, (mask_and_size & 0xffff) * 16, from, targets);
}
BANKWISE_PATCH bankwise_bulk_shared_to_global(void* userdata, uint64_t pc, uint64_t to, uint32_t /*from*/,
                                              uint32_t mask_and_size) {
  return count_bulk(userdata, pc, AccessSource::bulk_shared_to_global, (mask_and_size & 0xffff) * 16, to);
}
BANKWISE_PATCH bankwise_bulk_reduce_shared_to_global(void* userdata, uint64_t pc, uint64_t to, uint32_t /*from*/,
                                                     uint32_t blocks) {
  return count_bulk(userdata, pc, AccessSource::bulk_reduce_shared_to_global, blocks * 16, to);
}
BANKWISE_PATCH bankwise_bulk_shared_to_shared(void* userdata, uint64_t pc, uint32_t /*from*/, uint32_t /*to*/,
                                              uint32_t /*barrier*/, uint32_t blocks) {
  return count_bulk(userdata, pc, AccessSource::bulk_shared_to_shared, blocks * 16);
}
BANKWISE_PATCH bankwise_bulk_reduce_shared_to_shared(void* userdata, uint64_t pc, uint32_t /*from*/, uint32_t /*to*/,
                                                     uint32_t /*barrier*/, uint32_t blocks) {
  return count_bulk(userdata, pc, AccessSource::bulk_reduce_shared_to_shared, blocks * 16);
}
BANKWISE_PATCH bankwise_bulk_fill_shared(void* userdata, uint64_t pc, uint32_t /*to*/, uint32_t blocks) {
  return count_bulk(userdata, pc, AccessSource::bulk_fill_shared, blocks * 8);
}
BANKWISE_PATCH bankwise_tma_load(void* userdata, uint64_t pc, uint64_t map, uint32_t /*to*/, uint32_t /*barrier*/,
                                 int32_t, int32_t, int32_t, int32_t, int32_t, uint32_t /*dimensions*/,
                                 uint32_t is_multicast, uint32_t mask_and_offsets, uint32_t mode) {
  const uint32_t targets = is_multicast != 0 ? __popc(mask_and_offsets >> 16) : 1;
  // The program may have written the map just now.
  const auto* const words = reinterpret_cast<const volatile uint32_t*>(map);
  return count_engine(userdata, pc, AccessSource::tma_load,
                      {{mode, targets, words[2], words[13], words[14], words[15]}});
}
BANKWISE_PATCH bankwise_tma_store(void* userdata, uint64_t pc) {
  return count_engine(userdata, pc, AccessSource::tma_store, {});
}
BANKWISE_PATCH bankwise_tcgen05(void* userdata, uint64_t pc) {
  return count_engine(userdata, pc, AccessSource::tcgen05, {});
}
