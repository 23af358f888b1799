// Instructions of the GPU that CUDA C++ exposes no intrinsic for. For patch_table.cuh.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): device code, which has no namespace std

namespace {

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
__device__ __forceinline__ uint32_t load_cached_word(uint64_t address) {
  uint32_t value;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(address));
  return value;
}
__device__ __forceinline__ uint32_t compare_and_swap_word(uint64_t address, uint32_t expected, uint32_t desired) {
  uint32_t old;
  asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(address), "r"(expected), "r"(desired)
               : "memory");
  return old;
}
__device__ __forceinline__ void increment(uint64_t address, uint64_t by = 1) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(address), "l"(by) : "memory");
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
/// Counts the launches of the context, which the driver passes to each.
__device__ __forceinline__ uint32_t launch_number() {
  uint64_t number;
  asm("mov.u64 %0, %%gridid;" : "=l"(number));
  return uint32_t(number);
}

}  // namespace
