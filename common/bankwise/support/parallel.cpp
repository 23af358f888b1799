// SPDX-License-Identifier: MIT
#include <bankwise/support/parallel.hpp>

#include <algorithm>
#include <thread>
#include <vector>

namespace bankwise {

void in_parallel(std::uint64_t count, unsigned threads, std::uint64_t multiple,
                 const std::function<void(std::uint64_t first, std::uint64_t last)>& work) {
  const std::uint64_t units = count / multiple + (count % multiple != 0);
  const std::uint64_t each = std::max<std::uint64_t>(1, units / std::max(1U, threads) + (units % std::max(1U, threads) != 0)) * multiple;
  std::vector<std::jthread> others;
  for (std::uint64_t first = each; first < count; first += each) {
    others.emplace_back([&work, first, last = std::min(count, first + each)] { work(first, last); });
  }
  if (count > 0) work(0, std::min(count, each));
}

}  // namespace bankwise
