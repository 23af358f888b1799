// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

namespace bankwise {

/// Calls work(first, last) for consecutive ranges that together are [0, count), one range per thread, with at most
/// `threads` threads; the ranges' starts are multiples of `multiple`. Waits for all. `work` must not throw.
void in_parallel(std::uint64_t count, unsigned threads, std::uint64_t multiple,
                 const std::function<void(std::uint64_t first, std::uint64_t last)>& work);

}  // namespace bankwise
