// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: during its lifetime, a segmentation fault or a division by zero in a kernel
/// ends the launch with a diagnosis, not the program. Signals from other code go to the previous handlers.
class FaultGuard {
 public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

/// The same for the calling thread: a stack that the handler runs on.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;
  bool installed_ = false;
};

}  // namespace bankwise::emulator
