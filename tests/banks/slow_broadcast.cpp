// Every choice of compute capability 1.x. Banks with the same waiting lanes are equivalent, so a state is kept sorted.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "slow_banks.hpp"

namespace bankwise::slow {
namespace {

void normalize(HalfWarp& half_warp) {
  for (auto& bank : half_warp) {
    std::erase(bank, 0U);
    std::sort(bank.begin(), bank.end());
  }
  std::erase_if(half_warp, [](const auto& bank) { return bank.empty(); });
  std::sort(half_warp.begin(), half_warp.end());
}

/// Words of a bank, or banks of a half-warp, without neighbours that are equal.
template <class Things>
std::vector<std::size_t> choices(const Things& things) {
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (i == 0 || things[i] != things[i - 1]) different.push_back(i);
  }
  return different;
}

/// Every outcome if each bank except `broadcasting` serves one lane, of any of its words.
std::vector<HalfWarp> serve_the_others(const HalfWarp& half_warp, std::size_t broadcasting) {
  std::vector<HalfWarp> outcomes{half_warp};
  for (std::size_t bank = 0; bank < half_warp.size(); ++bank) {
    if (bank == broadcasting) continue;
    std::vector<HalfWarp> further;
    for (const HalfWarp& outcome : outcomes) {
      for (const std::size_t word : choices(half_warp[bank])) {
        further.push_back(outcome);
        --further.back()[bank][word];
      }
    }
    outcomes = std::move(further);
  }
  return outcomes;
}

/// The possible states after a step: one word serves all of its lanes, every other bank one lane.
std::set<HalfWarp> after_a_step(const HalfWarp& half_warp) {
  std::set<HalfWarp> outcomes;
  for (const std::size_t bank : choices(half_warp)) {
    for (const std::size_t word : choices(half_warp[bank])) {
      HalfWarp served = half_warp;
      served[bank][word] = 0;
      for (HalfWarp outcome : serve_the_others(served, bank)) {
        normalize(outcome);
        outcomes.insert(outcome);
      }
    }
  }
  return outcomes;
}

}  // namespace

Steps steps(HalfWarp half_warp) {
  static std::map<HalfWarp, Steps> known{{{}, {0, 0}}};
  normalize(half_warp);
  // Depth first: a state is solved once all of its successors are.
  using Wanted = std::pair<HalfWarp, std::set<HalfWarp>>;
  std::vector<Wanted> wanted;
  if (!known.contains(half_warp)) wanted.emplace_back(half_warp, after_a_step(half_warp));
  while (!wanted.empty()) {
    const auto& [state, outcomes] = wanted.back();
    Steps best{~0U, 0};
    const HalfWarp* unknown = nullptr;
    for (const HalfWarp& left : outcomes) {
      const auto rest = known.find(left);
      if (rest == known.end()) {
        unknown = &left;
        break;
      }
      best = {std::min(best.least, rest->second.least + 1), std::max(best.most, rest->second.most + 1)};
    }
    if (unknown != nullptr) {
      Wanted next{*unknown, after_a_step(*unknown)};
      wanted.push_back(std::move(next));
    } else {
      known.emplace(state, best);
      wanted.pop_back();
    }
  }
  return known.at(half_warp);
}

}  // namespace bankwise::slow
