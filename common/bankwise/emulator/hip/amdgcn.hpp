// Functions of kernels that HIP has on GPUs of AMD and CUDA has not: the compiler's built-in functions of lanes, dots
// and waits, and atomics with a memory order.
#pragma once

#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#include <bankwise/emulator/cuda/memory.hpp>
#include <bankwise/emulator/cuda/special_functions.hpp>

namespace bankwise::emulator::device {

/// The lane that the row of 16 lanes gives this one its value, and -1 for none, by dpp_ctrl of AMD's instruction sets.
BANKWISE_DEVICE int source_of_dpp(unsigned control) {
  const int lane = int(own_lane()), row = lane & ~15, in_row = lane & 15, by = int(control & 15);
  const auto within = [&](int source) { return source < 0 || source > 15 ? -1 : row + source; };
  if (control < 0x100) return (lane & ~3) + int(control >> 2 * (lane & 3) & 3);  // quad_perm
  if (control > 0x100 && control < 0x110) return within(in_row + by);            // row_shl
  if (control > 0x110 && control < 0x120) return within(in_row - by);            // row_shr
  if (control > 0x120 && control < 0x130) return row + ((in_row - by) & 15);     // row_ror
  if (control >= 0x150 && control < 0x160) return row + by;                      // row_share
  if (control >= 0x160 && control < 0x170) return row + (in_row ^ by);           // row_xmask
  switch (control) {
    case 0x130: return lane + 1 < lanes_of_warp ? lane + 1 : -1;    // wave_shl
    case 0x134: return (lane + 1) % lanes_of_warp;                  // wave_rol
    case 0x138: return lane - 1;                                    // wave_shr
    case 0x13C: return (lane + lanes_of_warp - 1) % lanes_of_warp;  // wave_ror
    case 0x140: return row + 15 - in_row;                           // row_mirror
    case 0x141: return row + (in_row & 8) + 7 - (in_row & 7);       // row_half_mirror
    case 0x142: return lane < 16 ? -1 : row - 1;                    // row_bcast15
    case 0x143: return lane < 32 ? -1 : 31;                         // row_bcast31
    default: return -1;
  }
}
/// The lane in a group of 32 that ds_swizzle reads.
BANKWISE_DEVICE int source_of_swizzle(unsigned pattern) {
  const unsigned lane = own_lane();
  if ((pattern & 0x8000) != 0) return int((lane & ~3u) + (pattern >> 2 * (lane & 3) & 3));
  return int((lane & ~31u) + (((lane & pattern & 31) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31)));
}

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

// --- Lanes ---

BANKWISE_FUNCTION(unsigned, __lane_id, (), device::own_lane())
template <class T>
BANKWISE_FUNCTION(device::LaneMask, __match_any, (T value), __match_any_sync(__activemask(), value))
template <class T>
BANKWISE_FUNCTION(device::LaneMask, __match_all, (T value, int* same), __match_all_sync(__activemask(), value, same))

// clang-format off
BANKWISE_FUNCTION(int, __builtin_amdgcn_readlane, (int value, int lane), __shfl(value, lane))
BANKWISE_FUNCTION(int, __builtin_amdgcn_ds_bpermute, (int address, int value),
                  __shfl(value, address / 4 % device::lanes_of_warp))
BANKWISE_FUNCTION(int, __builtin_amdgcn_ds_swizzle, (int value, int pattern),
                  __shfl(value, device::source_of_swizzle(unsigned(pattern))))
BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_mbcnt_lo, (unsigned mask, unsigned sum),
                  device::count_of(mask & (device::lane_bit() - 1)) + sum)
BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_mbcnt_hi, (unsigned mask, unsigned sum),
                  device::count_of(device::LaneMask{mask} << 32 & (device::lane_bit() - 1)) + sum)
BANKWISE_FUNCTION(unsigned long long, __builtin_amdgcn_ballot_w64, (bool says_yes), __ballot(says_yes))
BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_ballot_w32, (bool says_yes), unsigned(__ballot(says_yes)))
BANKWISE_FUNCTION(unsigned long long, __builtin_amdgcn_read_exec, (), __activemask())
BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_wavefrontsize, (), unsigned(device::lanes_of_warp))
    // clang-format on
    BANKWISE_DEVICE int __builtin_amdgcn_readfirstlane(int value) {
  const device::LaneMask lanes = __activemask();
  return __shfl_sync(lanes, value, __builtin_ctzll(lanes));
}
/// Lane `address / 4` receives the value; of several, that of the last lane; without one, 0.
BANKWISE_DEVICE int __builtin_amdgcn_ds_permute(int address, int value) {
  const device::LaneMask lanes = __activemask();
  const int own = int(device::own_lane());
  int received = 0;
  for (int lane = 0; lane < device::lanes_of_warp; ++lane) {
    const int to = __shfl_sync(lanes, address, lane) / 4 % device::lanes_of_warp,
              sent = __shfl_sync(lanes, value, lane);
    if ((lanes >> lane & 1) != 0 && to == own) received = sent;
  }
  return received;
}
BANKWISE_DEVICE int __builtin_amdgcn_update_dpp(int old, int value, int control, int rows, int banks, bool zeros) {
  const int source = device::source_of_dpp(unsigned(control)), lane = int(device::own_lane());
  const device::LaneMask lanes = __activemask();
  const int given = __shfl_sync(lanes, value, source < 0 ? lane : source);
  const bool is_on = (rows >> lane / 16 % 4 & 1) != 0 && (banks >> lane % 16 / 4 & 1) != 0;
  if (!is_on) return old;
  const bool has_source = source >= 0 && (lanes >> source & 1) != 0;
  return has_source ? given : zeros ? 0 : old;
}
BANKWISE_FUNCTION(int, __builtin_amdgcn_mov_dpp, (int value, int control, int rows, int banks, bool zeros),
                  __builtin_amdgcn_update_dpp(0, value, control, rows, banks, zeros))

#define __hip_ds_bpermute __builtin_amdgcn_ds_bpermute
#define __hip_ds_permute __builtin_amdgcn_ds_permute
#define __hip_ds_swizzle_N(pattern) bankwise_swizzle<pattern>
template <int pattern>
BANKWISE_FUNCTION(int, bankwise_swizzle, (int value), __builtin_amdgcn_ds_swizzle(value, pattern))

// --- Barriers, waits, clocks ---

BANKWISE_DEVICE void __builtin_amdgcn_s_barrier() {
  __syncthreads();
}
BANKWISE_DEVICE void __builtin_amdgcn_wave_barrier() {}
template <class... Scope>
BANKWISE_DEVICE void __builtin_amdgcn_fence(unsigned, Scope...) {
  __threadfence();
}
// Waits, and hints to the compiler's scheduler and to that of the GPU.
#define BANKWISE_NOTHING(name) \
  template <class... Numbers>  \
  BANKWISE_DEVICE void __builtin_amdgcn_##name(Numbers...) {}
BANKWISE_NOTHING(s_waitcnt)
BANKWISE_NOTHING(s_sleep)
BANKWISE_NOTHING(s_setprio)
BANKWISE_NOTHING(sched_barrier)
BANKWISE_NOTHING(sched_group_barrier)
BANKWISE_NOTHING(iglp_opt)
#undef BANKWISE_NOTHING
#define __builtin_amdgcn_s_memtime() static_cast<unsigned long long>(clock64())
#define __builtin_amdgcn_s_memrealtime() static_cast<unsigned long long>(clock64())
#define __builtin_readcyclecounter() static_cast<unsigned long long>(clock64())
#define __clock64() clock64()
#define wall_clock64() clock64()

// --- Indices ---

#define BANKWISE_INDICES(part)                                                                  \
  BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_workitem_id_##part, (), device::thread_##part()) \
  BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_workgroup_id_##part, (), device::block_##part()) \
  BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_workgroup_size_##part, (), device::block_size_##part())
BANKWISE_INDICES(x)
BANKWISE_INDICES(y)
BANKWISE_INDICES(z)
#undef BANKWISE_INDICES

// --- Numbers ---

// clang-format off
BANKWISE_FUNCTION(float, __builtin_amdgcn_rcpf, (float x), 1 / x)
BANKWISE_FUNCTION(float, __builtin_amdgcn_rsqf, (float x), rsqrtf(x))
BANKWISE_FUNCTION(float, __builtin_amdgcn_sqrtf, (float x), sqrtf(x))
BANKWISE_FUNCTION(float, __builtin_amdgcn_exp2f, (float x), exp2f(x))
BANKWISE_FUNCTION(float, __builtin_amdgcn_logf, (float x), log2f(x))
BANKWISE_FUNCTION(float, __builtin_amdgcn_fractf, (float x), x - floorf(x))
BANKWISE_FUNCTION(float, __builtin_amdgcn_fmed3f, (float a, float b, float c),
                  fmaxf(fminf(a, b), fminf(fmaxf(a, b), c)))
BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_ubfe, (unsigned value, unsigned first, unsigned bits),
                  bits % 32 == 0 ? 0 : value << (32 - bits % 32 - first % 32) >> (32 - bits % 32))
BANKWISE_FUNCTION(int, __builtin_amdgcn_sdot4, (int a, int b, int sum, bool), __dp4a(a, b, sum))
BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_udot4, (unsigned a, unsigned b, unsigned sum, bool), __dp4a(a, b, sum))
BANKWISE_FUNCTION(int, __builtin_amdgcn_sudot4, (bool a_signed, int a, bool b_signed, int b, int sum, bool),
                  int(device::dot_of_bytes(unsigned(a), a_signed, unsigned(b), b_signed, unsigned(sum))))
BANKWISE_FUNCTION(unsigned, __builtin_amdgcn_alignbit, (unsigned high, unsigned low, unsigned shift),
                  __funnelshift_r(low, high, shift))
// clang-format on
#define BANKWISE_BIT_FIELDS(bits, Word)                                                                 \
  BANKWISE_FUNCTION(Word, __bitextract_u##bits, (Word value, unsigned first, unsigned width),           \
                    (value << (bits - first % bits - width % bits)) >> (bits - width % bits))           \
  BANKWISE_DEVICE Word __bitinsert_u##bits(Word value, Word inserted, unsigned first, unsigned width) { \
    const Word mask = ((Word{1} << width % bits) - 1) << first % bits;                                  \
    return (value & ~mask) | (inserted << first % bits & mask);                                         \
  }
BANKWISE_BIT_FIELDS(32, unsigned)
BANKWISE_BIT_FIELDS(64, uint64_t)
#undef BANKWISE_BIT_FIELDS

// --- Memory ---

template <class T>
BANKWISE_FUNCTION(T, __builtin_nontemporal_load, (const T* address), __ldcs(address))
template <class T>
BANKWISE_DEVICE void __builtin_nontemporal_store(device::Same<T> value, T* address) {
  __stcs(address, value);
}

template <class T>
BANKWISE_FUNCTION(T, unsafeAtomicAdd, (T * address, device::Same<T> value), atomicAdd(address, value))
template <class T>
BANKWISE_FUNCTION(T, safeAtomicAdd, (T * address, device::Same<T> value), atomicAdd(address, value))
template <class T>
BANKWISE_DEVICE void atomicAddNoRet(T* address, device::Same<T> value) {
  atomicAdd(address, value);
}

#define BANKWISE_ATOMIC(name, type) \
  BANKWISE_DEVICE type atomic##name(type* address, type value) { return device::atomic##name(address, value); }
BANKWISE_ATOMICS_OF_HIP(BANKWISE_ATOMIC)
#undef BANKWISE_ATOMIC

// 64-bit integers of C are unsigned long, which CUDA's atomics do not take.
#define BANKWISE_LONG(name)                                                                              \
  BANKWISE_DEVICE unsigned long name(unsigned long* address, unsigned long value) {                      \
    return name(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)); \
  }
BANKWISE_LONG(atomicAdd)
BANKWISE_LONG(atomicExch)
BANKWISE_LONG(atomicMin)
BANKWISE_LONG(atomicMax)
BANKWISE_LONG(atomicAnd)
BANKWISE_LONG(atomicOr)
BANKWISE_LONG(atomicXor)
#undef BANKWISE_LONG
BANKWISE_DEVICE unsigned long atomicCAS(unsigned long* address, unsigned long expected, unsigned long value) {
  return atomicCAS(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(expected),
                   static_cast<unsigned long long>(value));
}

// Device, block and host scope are the same here, and the order is always the strictest.
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
template <class T>
BANKWISE_FUNCTION(T, __hip_atomic_load, (const T* address, int, int), __ldcv(address))
template <class T>
BANKWISE_DEVICE void __hip_atomic_store(T* address, device::Same<T> value, int, int) {
  atomicExch(address, value);
}
#define BANKWISE_FETCH(name, atomic)                                                   \
  template <class T>                                                                   \
  BANKWISE_DEVICE T __hip_atomic_##name(T* address, device::Same<T> value, int, int) { \
    return atomic(address, value);                                                     \
  }
BANKWISE_FETCH(exchange, atomicExch)
BANKWISE_FETCH(fetch_add, atomicAdd)
BANKWISE_FETCH(fetch_min, atomicMin)
BANKWISE_FETCH(fetch_max, atomicMax)
BANKWISE_FETCH(fetch_and, atomicAnd)
BANKWISE_FETCH(fetch_or, atomicOr)
BANKWISE_FETCH(fetch_xor, atomicXor)
#undef BANKWISE_FETCH
#define BANKWISE_COMPARE(name)                                                                                        \
  template <class T>                                                                                                  \
  BANKWISE_DEVICE bool __hip_atomic_compare_exchange_##name(T* address, T* expected, device::Same<T> value, int, int, \
                                                            int) {                                                    \
    const T before = atomicCAS(address, *expected, value);                                                            \
    const bool same = before == *expected;                                                                            \
    *expected = before;                                                                                               \
    return same;                                                                                                      \
  }
BANKWISE_COMPARE(strong)
BANKWISE_COMPARE(weak)
#undef BANKWISE_COMPARE

}  // namespace bankwise::emulator::cuda
