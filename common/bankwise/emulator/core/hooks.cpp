// The functions that g++'s -fsanitize=thread and -fsanitize-coverage=trace-pc call, in place of the sanitizer's
// library. They do nothing outside of a kernel.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/core/control_flow.hpp>
#include <bankwise/emulator/core/global_memory.hpp>

namespace {

using bankwise::banks::Operation;
using namespace bankwise::emulator;

/// Of the host, to device memory.
[[gnu::noinline]] void host_access(Operation operation, const void* address, std::size_t bytes, void* caller) {
  global_memory.host_access(address, bytes, operation == Operation::store, std::uintptr_t(caller));
}

[[gnu::noinline]] void lane_access(Lane& lane, Operation operation, const void* address, std::size_t bytes,
                                   unsigned alignment, void* caller, bool is_volatile) {
  const bool writes = operation == Operation::store;
  const auto pc = std::uintptr_t(caller);
  BlockRunner& runner = *lane.runner;
  if (!runner.is_shared(address)) {
    if (lane.ahead != nullptr &&
        lane.ahead->access_other(
            lane, {std::uintptr_t(address), pc, std::uint32_t(bytes), operation, std::uint8_t(alignment)},
            is_volatile)) {
      return;
    }
    runner.log_access(lane, operation, address, bytes, alignment, pc);
    if (!runner.is_in_allocation(lane, address, bytes, writes, pc)) return;
    is_volatile ? runner.note_sync(lane) : runner.races().access(lane, address, bytes, writes, pc);
    return;
  }
  lane.access = {operation,   runner.offset_of(address),     std::uint32_t(bytes), std::uint8_t(alignment), false,
                 is_volatile, alignment != 1 && !is_volatile};
  if (lane.ahead != nullptr && lane.ahead->access(lane, pc)) return;
  runner.suspend(lane, WaitReason::access, pc);
}

inline void access(Operation operation, const void* address, std::size_t bytes, unsigned alignment, void* caller,
                   bool is_volatile = false) {
  Lane* const lane = BlockRunner::current;
  if (lane != nullptr) return lane_access(*lane, operation, address, bytes, alignment, caller, is_volatile);
  if (global_memory.contains(address)) host_access(operation, address, bytes, caller);
}

/// PendingAccess::alignment of an aligned access. Types of 16 bytes may promise 8: -fsanitize=thread does not tell.
template <Operation operation, unsigned bytes>
unsigned alignment_of(const Lane& lane, const void* address, std::uintptr_t pc) {
  if (bytes != 16) return 0;
  static std::array<std::atomic<std::uintptr_t>, 256> known;  // the pc times 2, plus 1 if it does
  std::atomic<std::uintptr_t>& place = known[pc % known.size()];
  std::uintptr_t answer = place.load(std::memory_order_relaxed);
  if (answer / 2 != pc) {
    const OffLane off;
    const unsigned alignment = copied_alignment(pc, operation == Operation::store);
    const bool is_8 = alignment == 8 || (alignment == 0 && lane.runner->lies_in_structures(address));
    answer = pc * 2 + std::uintptr_t{is_8};
    place.store(answer, std::memory_order_relaxed);
  }
  return answer % 2 != 0 ? 8 : 0;
}

template <Operation operation, unsigned bytes>
[[gnu::noinline]] void unusual_access(Lane& lane, const void* address, void* caller) {
  const unsigned alignment = alignment_of<operation, bytes>(lane, address, std::uintptr_t(caller));
  lane_access(lane, operation, address, bytes, alignment, caller, false);
}

/// An aligned one of a lane that runs ahead: the usual cases first.
template <Operation operation, unsigned bytes>
[[gnu::noinline]] void access_ahead(Lane& lane, const void* address, void* caller) {
  const auto pc = std::uintptr_t(caller);
  if (lane.ahead->follow<operation, bytes>(lane, address, pc)) return;
  if (operation == Operation::load && global_memory.contains(address) &&
      lane.ahead->load(lane, {std::uintptr_t(address), pc, bytes, operation,
                              std::uint8_t(alignment_of<operation, bytes>(lane, address, pc))})) {
    return;
  }
  unusual_access<operation, bytes>(lane, address, caller);
}

/// A load: the most usual case first. Functions that end in their only call save no registers.
template <unsigned bytes>
[[gnu::noinline]] void load_ahead(Lane& lane, const void* address, void* caller) {
  if (bytes == 4 && lane.ahead->follow<Operation::load, bytes, true>(lane, address, std::uintptr_t(caller))) return;
  access_ahead<Operation::load, bytes>(lane, address, caller);
}

/// Likewise of any other lane, unless it follows another one.
template <Operation operation, unsigned bytes>
[[gnu::noinline]] void access_in_order(Lane& lane, const void* address, void* caller) {
  const auto pc = std::uintptr_t(caller);
  BlockRunner& runner = *lane.runner;
  if (!global_memory.contains(address)) {
    if (runner.stacks().contains(address) || runner.is_usual_variable(address)) return;
    return unusual_access<operation, bytes>(lane, address, caller);
  }
  if (!runner.is_usual(address, bytes) || alignment_of<operation, bytes>(lane, address, pc) != 0) {
    return unusual_access<operation, bytes>(lane, address, caller);
  }
  if (operation == Operation::store) global_memory.note_write(address);
  runner.global().access<operation, bytes>(lane, address, pc);
}

template <unsigned bytes>
[[gnu::noinline]] void store_in_order(Lane& lane, const void* address, void* caller) {
  if (lane.runner->global().follow_store<bytes>(lane, address, std::uintptr_t(caller))) return;
  access_in_order<Operation::store, bytes>(lane, address, caller);
}

template <Operation operation, unsigned bytes>
inline void aligned_access(const void* address, void* caller) {
  Lane* const lane = BlockRunner::current;
  if (lane == nullptr) {
    if (global_memory.contains(address)) host_access(operation, address, bytes, caller);
  } else if (lane->ahead != nullptr) {
    operation == Operation::load ? load_ahead<bytes>(*lane, address, caller)
                                 : access_ahead<operation, bytes>(*lane, address, caller);
  } else if (operation == Operation::load) {
    if (lane->runner->global().follow_load<bytes>(*lane, address, std::uintptr_t(caller))) return;
    access_in_order<operation, bytes>(*lane, address, caller);
  } else {
    store_in_order<bytes>(*lane, address, caller);
  }
}

[[gnu::noinline]] void suspend_full(Lane& lane) { lane.runner->suspend(lane, WaitReason::full_notes, 0); }
[[gnu::noinline]] void note_block(Lane& lane, LaneKey key) { lane.runner->note(lane, key); }

/// Before an atomic operation of C++.
void before_atomic_of_cpp(Operation operation, const volatile void* address, std::size_t bytes, int order,
                          const void* caller, bool is_loop = false) {
  if (BlockRunner::current == nullptr) return;
  const bool releases = operation != Operation::load &&
                        (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST);
  bankwise::emulator::before_atomic(operation, is_loop, const_cast<void*>(address), bytes, caller, releases);
}

}  // namespace

void bankwise::emulator::before_store(const void* address, std::size_t bytes, const void* caller) noexcept {
  access(Operation::store, address, bytes, 0, const_cast<void*>(caller));
}

#define BANKWISE_CALLER __builtin_return_address(0)

extern "C" {

void __sanitizer_cov_trace_pc() {
  Lane* const lane = BlockRunner::current;
  if (lane == nullptr) return;
  const LaneKey key = key_of(*lane, std::uintptr_t(BANKWISE_CALLER));
  if (lane->ahead == nullptr) {
    if (!lane->note(key)) suspend_full(*lane);
  } else if (!lane->ahead->passes(key)) {
    note_block(*lane, key);
  }
}

void __tsan_init() {}

void __tsan_func_entry(void* returns_to) {
  Lane* lane = BlockRunner::current;
  if (lane == nullptr) return;
  const OffLane off;
  lane->calls.push_back(std::uintptr_t(returns_to));
  lane->set_depth();
}

void __tsan_func_exit() {
  Lane* lane = BlockRunner::current;
  if (lane == nullptr || lane->calls.empty()) return;
  const std::uintptr_t returns_to = lane->calls.back();
  lane->calls.pop_back();
  lane->set_depth();
  // The kernel itself has no caller on a lane.
  if (!lane->calls.empty()) lane->runner->note(*lane, key_of(*lane, returns_to, true));
}

// X(bytes); volatile accesses have functions of their own, with --param=tsan-distinguish-volatile=1.
#define BANKWISE_SIZES(X, ...) \
  X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(4, __VA_ARGS__) X(8, __VA_ARGS__) X(16, __VA_ARGS__)
#define BANKWISE_ACCESS(bytes, is, Operation)                                                                          \
  void __tsan_##is##bytes(void* address) { aligned_access<Operation, bytes>(address, BANKWISE_CALLER); }               \
  void __tsan_unaligned_##is##bytes(void* address) { access(Operation, address, bytes, bytes != 1, BANKWISE_CALLER); } \
  void __tsan_volatile_##is##bytes(void* address) { access(Operation, address, bytes, 0, BANKWISE_CALLER, true); }     \
  void __tsan_unaligned_volatile_##is##bytes(void* address) {                                                          \
    access(Operation, address, bytes, bytes != 1, BANKWISE_CALLER, true);                                              \
  }
BANKWISE_SIZES(BANKWISE_ACCESS, read, Operation::load)
BANKWISE_SIZES(BANKWISE_ACCESS, write, Operation::store)
#undef BANKWISE_ACCESS
#undef BANKWISE_SIZES

void __tsan_read_range(void* address, unsigned long bytes) {
  access(Operation::load, address, bytes, 1, BANKWISE_CALLER);
}
void __tsan_write_range(void* address, unsigned long bytes) {
  access(Operation::store, address, bytes, 1, BANKWISE_CALLER);
}

// Objects with virtual functions.
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// Atomic operations of C++, which the instrumentation replaces by calls.
#define BANKWISE_FETCH(bits, Type, operation)                                                 \
  Type __tsan_atomic##bits##_fetch_##operation(volatile Type* a, Type v, int order) {         \
    before_atomic_of_cpp(Operation::atomic, a, bits / 8, order, BANKWISE_CALLER, bits == 64); \
    return __atomic_fetch_##operation(a, v, __ATOMIC_SEQ_CST);                                \
  }
#define BANKWISE_EXCHANGE(bits, Type, how, is_weak)                                                            \
  int __tsan_atomic##bits##_compare_exchange_##how(volatile Type* a, Type* expected, Type v, int order, int) { \
    before_atomic_of_cpp(Operation::atomic_cas, a, bits / 8, order, BANKWISE_CALLER);                          \
    return __atomic_compare_exchange_n(a, expected, v, is_weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
  }
// clang-format has two formats for this macro, which take turns.
// clang-format off
#define BANKWISE_ATOMIC(bits, Type)                                                               \
  Type __tsan_atomic##bits##_load(const volatile Type* a, int order) {                            \
    before_atomic_of_cpp(Operation::load, a, bits / 8, order, BANKWISE_CALLER);                   \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                               \
  void __tsan_atomic##bits##_store(volatile Type* a, Type v, int order) {                         \
    before_atomic_of_cpp(Operation::store, a, bits / 8, order, BANKWISE_CALLER);                  \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                               \
  Type __tsan_atomic##bits##_exchange(volatile Type* a, Type v, int order) {                      \
    before_atomic_of_cpp(Operation::atomic, a, bits / 8, order, BANKWISE_CALLER);                 \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                               \
  BANKWISE_FETCH(bits, Type, add)                                                                 \
  BANKWISE_FETCH(bits, Type, sub)                                                                 \
  BANKWISE_FETCH(bits, Type, and)                                                                 \
  BANKWISE_FETCH(bits, Type, or) BANKWISE_FETCH(bits, Type, xor) BANKWISE_FETCH(bits, Type, nand) \
      BANKWISE_EXCHANGE(bits, Type, strong, false) BANKWISE_EXCHANGE(bits, Type, weak, true)
// clang-format on
BANKWISE_ATOMIC(8, std::uint8_t)
BANKWISE_ATOMIC(16, std::uint16_t)
BANKWISE_ATOMIC(32, std::uint32_t)
BANKWISE_ATOMIC(64, std::uint64_t)
#undef BANKWISE_ATOMIC
#undef BANKWISE_EXCHANGE
#undef BANKWISE_FETCH

void __tsan_atomic_thread_fence(int) {
  if (on_lane()) bankwise::emulator::fence();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void __tsan_atomic_signal_fence(int) { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // extern "C"
