// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: while one of these lives, a segmentation fault or a division by zero of a kernel ends
/// the launch with a diagnosis and not the program. Those of anybody else go to the handlers that were there before.
class FaultGuard {
 public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

/// The same for the calling thread: a stack for the handler to run on.
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
