#include <bankwise/emulator/core/fiber.hpp>

#if BANKWISE_SWITCHES_STACKS

#include <array>

// The registers that a function must preserve lie at the end of a suspended fiber's stack, and its return address; at
// the end of the owner's, where it goes on. It jumps there, because a `ret` would go elsewhere than the processor
// expects.
__asm__(R"(
  .text
  .p2align 4
  .hidden bankwise_leave_stack
  .globl bankwise_leave_stack
  .type bankwise_leave_stack, @function
bankwise_leave_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %rcx
  jmp *%rcx
  .size bankwise_leave_stack, . - bankwise_leave_stack

  .hidden bankwise_enter_stack
  .globl bankwise_enter_stack
  .type bankwise_enter_stack, @function
bankwise_enter_stack:
  movq %rbx, %rdi
  call *%r12
  ud2
  .size bankwise_enter_stack, . - bankwise_enter_stack
)");
extern "C" void bankwise_enter_stack();

namespace bankwise::emulator {

void Fiber::start(std::byte* stack, std::size_t bytes, Body body, void* data) {
  // As bankwise_leave_stack leaves it: r15, r14, r13, r12, rbx, rbp, the return address. Aligned, as for a call.
  const std::array<std::uintptr_t, 8> registers{0,
                                                0,
                                                0,
                                                reinterpret_cast<std::uintptr_t>(body),
                                                reinterpret_cast<std::uintptr_t>(data),
                                                0,
                                                reinterpret_cast<std::uintptr_t>(&bankwise_enter_stack),
                                                0};
  auto* const end = stack + bytes;
  begin_ = end;
  inside_ = end - sizeof registers - 8;
  std::memcpy(inside_, registers.data(), sizeof registers);
}

}  // namespace bankwise::emulator

#endif
