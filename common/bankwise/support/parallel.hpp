#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace bankwise::support {

/// Calls part(first, last) for consecutive ranges that together are [0, count), one per thread, with at most `threads`
/// threads. Ranges begin at multiples of `least`. Waits for all. `part` must not throw.
template <class Part>
void in_parallel_parts(std::uint64_t count, unsigned threads, const Part& part, std::uint64_t least = 4096) {
  const std::uint64_t wanted = std::max(1U, threads) * least;
  const std::uint64_t each = (count / wanted + (count % wanted != 0)) * least;
  std::vector<std::jthread> others;
  for (std::uint64_t first = each; first < count; first += each) {
    others.emplace_back([&part, first, last = std::min(count, first + each)] { part(first, last); });
  }
  if (count > 0) part(std::uint64_t{0}, std::min(count, each));
}

/// Calls visit(i) for each i in [0, count), in the same way.
template <class Visit>
void in_parallel(std::uint64_t count, unsigned threads, const Visit& visit, std::uint64_t least = 4096) {
  const auto part = [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) visit(i);
  };
  in_parallel_parts(count, threads, part, least);
}

}  // namespace bankwise::support
