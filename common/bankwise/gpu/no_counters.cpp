// SPDX-License-Identifier: MIT
//
// Replaces CUPTI if it was not found at configure time.
#include <bankwise/gpu/counters.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {

Counters count_on_cuda(const std::function<void()>&, const std::function<void()>&, const std::function<void()>&) {
  throw Unsupported("this build reads no hardware counters; install CUPTI of CUDA 12.6 or newer and configure again");
}

}  // namespace bankwise::gpu
