// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bankwise::banks {

struct Steps {
  unsigned least = 0, most = 0;
};

/// Steps that a request of compute capability 1.x takes, under the best and under the worst of the choices that the
/// CUDA guide leaves to the hardware. Each step picks one word that is still wanted, serves all of its lanes, and
/// serves one lane of every other bank. `words` are the words that the lanes want, at most 16; word w lies in bank w
/// mod 16.
Steps broadcast_steps(std::span<const std::uint64_t> words);

/// The step, counted from 0, in which each lane is served, under one of the best choices.
std::vector<unsigned> best_broadcast_order(std::span<const std::uint64_t> words);

}  // namespace bankwise::banks
