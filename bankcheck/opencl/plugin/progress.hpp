// SPDX-License-Identifier: MIT
//
// How far the program is: the plugin writes it into a file that bankcheck reads while the program runs.
#pragma once

#include <atomic>
#include <cstdint>

namespace bankwise::opencl {

/// The contents of the file. Several processes may write it; each number is one that one of them wrote.
struct Progress {
  std::atomic<std::uint64_t> launches;      ///< that have begun
  std::atomic<std::uint64_t> groups, done;  ///< of the launch that began last
  char kernel[104];                         ///< its name, cut at 103 characters
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(Progress) == 128);

}  // namespace bankwise::opencl
