// Internal to common/bankwise/emulator: the control flow of one lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#ifndef BANKWISE_HAVE_BOOST_CONTEXT
#error "a source of another library would see a Fiber of another size"
#endif

// Sanitizers must be told of a switch of stacks, which Boost.Context does.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BANKWISE_SWITCHES_STACKS 1
#else
#define BANKWISE_SWITCHES_STACKS 0
#endif

#if BANKWISE_SWITCHES_STACKS
#include <cstring>
#include <vector>
#elif BANKWISE_HAVE_BOOST_CONTEXT
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#else
#include <ucontext.h>
#endif

namespace bankwise::emulator {

/// A function with a separate stack; it and its owner run alternately. It is never unwound: its owner may discard it,
/// and its stack, at any point.
class Fiber {
 public:
  using Body = void (*)(void* data);

#if BANKWISE_SWITCHES_STACKS
  /// `body` must not return.
  void start(std::byte* stack, std::size_t bytes, Body body, void* data);
  /// Runs it until it suspends. Its owner calls this.
  // The processor expects a `ret` to go where the last call came from, on whatever stack. This is no call, so what the
  // last fiber called in order to suspend is the last, and the next one mostly returns from the same functions.
  [[gnu::always_inline]] void resume() {
    void** outside = &outside_;
    void* inside = inside_;
    __asm__ volatile(
        "leaq -128(%%rsp), %%rsp\n\t"  // a function may use so much below its stack
        "pushq %%rbp\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "movq %%rsp, (%0)\n\t"
        "movq %1, %%rsp\n\t"
        "popq %%r15\n\t"
        "popq %%r14\n\t"
        "popq %%r13\n\t"
        "popq %%r12\n\t"
        "popq %%rbx\n\t"
        "popq %%rbp\n\t"
        "ret\n"
        "1:\n\t"
        "popq %%rbp\n\t"
        "leaq 128(%%rsp), %%rsp"
        : "+D"(outside), "+S"(inside)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
          "xmm14", "xmm15"
#ifdef __AVX512F__
          ,
          "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
          "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#endif
    );
  }
  /// Back to the owner. The fiber itself calls this.
  void suspend() { bankwise_leave_stack(&inside_, outside_); }

  /// A state of a suspended fiber to which it can return: the used part of its stack.
  struct Saved {
    void* stack = nullptr;
    std::vector<std::byte> content;
  };
  static constexpr bool can_return = true;
  /// It will be saved, or run, soon.
  void prefetch() const {
    constexpr std::size_t line = 64, lines = 8;
    for (std::size_t i = 0; i < lines; ++i) __builtin_prefetch(static_cast<const std::byte*>(inside_) + i * line);
  }
  void save(Saved& to) const {
    const auto* const used = static_cast<const std::byte*>(inside_);
    to.stack = inside_;
    to.content.assign(used, static_cast<const std::byte*>(begin_));
  }
  void return_to(const Saved& state) {
    inside_ = state.stack;
    std::memcpy(inside_, state.content.data(), state.content.size());
  }

 private:
  static void bankwise_leave_stack(void** inside, void* outside) __asm__("bankwise_leave_stack");
  void* inside_ = nullptr;   ///< the end of its stack while it is suspended
  void* outside_ = nullptr;  ///< the end of the owner's while it runs
  void* begin_ = nullptr;    ///< where its stack begins
#elif BANKWISE_HAVE_BOOST_CONTEXT
  struct Saved {};
  static constexpr bool can_return = false;
  void prefetch() const {}
  void save(Saved&) const {}
  void return_to(const Saved&) {}
  /// `body` must not return.
  void start(std::byte* stack, std::size_t bytes, Body body, void* data) {
    struct OwnersStack {
      void deallocate(boost::context::stack_context&) noexcept {}
    };
    boost::context::stack_context whole;
    whole.sp = stack + bytes;
    whole.size = bytes;
    new (outside_) BoostFiber();
    new (inside_) BoostFiber(std::allocator_arg, boost::context::preallocated(whole.sp, bytes, whole), OwnersStack(),
                             [this, body, data](BoostFiber&& owner) -> BoostFiber {
                               as_context(outside_) = std::move(owner);
                               body(data);
                               return std::move(as_context(outside_));
                             });
  }
  /// Runs it until it suspends. Its owner calls this.
  void resume() { as_context(inside_) = std::move(as_context(inside_)).resume(); }
  /// Back to the owner. The fiber itself calls this.
  void suspend() { as_context(outside_) = std::move(as_context(outside_)).resume(); }

 private:
  using BoostFiber = boost::context::fiber;
  // Their destructors would unwind the stack, through code that does not support it, so they are never called.
  alignas(BoostFiber) std::byte inside_[sizeof(BoostFiber)], outside_[sizeof(BoostFiber)];
  static BoostFiber& as_context(std::byte* storage) { return *std::launder(reinterpret_cast<BoostFiber*>(storage)); }
#else
  struct Saved {};
  static constexpr bool can_return = false;
  void prefetch() const {}
  void save(Saved&) const {}
  void return_to(const Saved&) {}
  void start(std::byte* stack, std::size_t bytes, Body body, void* data) {
    body_ = body;
    data_ = data;
    getcontext(&inside_);
    inside_.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = bytes};
    inside_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&inside_, reinterpret_cast<void (*)()>(&enter), 2, unsigned(self >> 32), unsigned(self));
  }
  void resume() { swapcontext(&outside_, &inside_); }
  void suspend() { swapcontext(&inside_, &outside_); }

 private:
  static void enter(unsigned high, unsigned low) {
    auto* fiber = reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low);  // makecontext() passes ints
    fiber->body_(fiber->data_);
  }
  ucontext_t inside_, outside_;
  Body body_ = nullptr;
  void* data_ = nullptr;
#endif
};

}  // namespace bankwise::emulator
