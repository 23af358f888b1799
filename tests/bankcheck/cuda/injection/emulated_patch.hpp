// The patch with the emulator as the GPU: what patch_instructions.cuh has in PTX, and a table. To be included before a
// part of the patch.
#pragma once

#include <bankwise/emulator/cuda.hpp>

#include "bankcheck/cuda/injection/device_table.hpp"

namespace {

// What patch_instructions.cuh has in PTX.
unsigned current_launch = 0;

template <class T>
__device__ T* at(std::uint64_t address) {
  return reinterpret_cast<T*>(std::uintptr_t(address));
}
__device__ std::uint64_t load_cached(std::uint64_t address) {
  const std::uint64_t value = *at<std::uint64_t>(address);
  __activemask();  // the lanes meet: all load before one stores, as on a GPU
  return value;
}
__device__ std::uint64_t load_current(std::uint64_t address) { return *at<std::uint64_t>(address); }
__device__ std::uint32_t load_cached_word(std::uint64_t address) { return *at<std::uint32_t>(address); }
__device__ std::uint32_t load_current_word(std::uint64_t address) { return *at<std::uint32_t>(address); }
__device__ std::uint64_t compare_and_swap(std::uint64_t address, std::uint64_t expected, std::uint64_t desired) {
  return atomicCAS(at<unsigned long long>(address), expected, desired);
}
__device__ std::uint32_t compare_and_swap_word(std::uint64_t address, std::uint32_t expected, std::uint32_t desired) {
  return atomicCAS(at<unsigned>(address), expected, desired);
}
__device__ void increment(std::uint64_t address, std::uint64_t by = 1) {
  atomicAdd(at<unsigned long long>(address), by);
}
__device__ std::uint32_t take_number(std::uint64_t address) { return atomicAdd(at<unsigned>(address), 1U); }
__device__ void tell_host(std::uint64_t address, std::uint32_t value) { *at<std::uint32_t>(address) = value; }
__device__ std::uint32_t lane_number() { return threadIdx.x % 32; }
__device__ std::uint32_t multiprocessor_number() { return blockIdx.x; }
__device__ std::uint32_t launch_number() { return current_launch; }

}  // namespace

#define BANKWISE_PATCH_INSTRUCTIONS

namespace {

using namespace bankwise::cuda;

/// A table in the emulator's memory, and a launch slot for it.
struct Table {
  explicit Table(std::uint32_t capacity, unsigned touched_exponent = 20)
      : slots(2 * (capacity + cost_entries(capacity))),
        memory(sizeof(TableHeader) / 8 + std::size_t{slots} * (1 + COUNT_SHARDS)),
        entries(capacity + cost_entries(capacity) + 2 * SPARE_ENTRIES),
        touched((std::size_t{1} << touched_exponent) + 64) {
    const auto address = [](const auto* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    launch.header = address(memory.data());
    launch.entries = address(entries.data());
    launch.fill = address(&fill);
    launch.touched = (address(touched.data()) + 255) / 256 * 256 + touched_exponent;
    launch.slots = slots;
    launch.capacity = capacity;
    launch.threshold = ALL_BLOCKS;
  }
  const TableHeader& header() const { return *reinterpret_cast<const TableHeader*>(memory.data()); }
  std::uint64_t count_of(const PatternEntry& entry) const {
    const std::uint64_t* const counts = memory.data() + sizeof(TableHeader) / 8 + slots;
    std::uint64_t count = 0;
    for (std::uint32_t shard = 0; shard < COUNT_SHARDS; ++shard)
      count += counts[std::size_t{shard} * slots + entry.slot];
    return count;
  }
  const PatternEntry* costs() const { return entries.data() + launch.capacity + SPARE_ENTRIES; }

  std::uint32_t slots, fill = 0;
  std::vector<std::uint64_t> memory;
  std::vector<PatternEntry> entries;
  std::vector<std::uint32_t> touched;
  LaunchSlot launch{};
};

}  // namespace
