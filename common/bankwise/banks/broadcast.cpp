// The banks are independent except for the one broadcast that each step has to give. All that matters about a bank is
// how many lanes want each of its words.
#include <bankwise/banks/units.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace bankwise::banks {
namespace {

constexpr unsigned max_lanes_served = 16;  // lanes of a request, and banks

struct Bank {
  unsigned lanes = 0, words = 0;
  std::array<unsigned, max_lanes_served> wanting{};  // lanes of each word, most wanted first
};
using BankArray = std::array<Bank, max_lanes_served>;

BankArray tally(std::span<const std::uint64_t> words) {
  std::array<std::uint64_t, max_lanes_served> sorted{};
  const auto end = std::copy(words.begin(), words.end(), sorted.begin());
  std::sort(sorted.begin(), end);
  BankArray banks{};
  for (auto run = sorted.begin(); run != end;) {
    const auto next = std::upper_bound(run, end, *run);
    Bank& bank = banks[*run % max_lanes_served];
    bank.wanting[bank.words++] = unsigned(next - run);
    bank.lanes += unsigned(next - run);
    run = next;
  }
  for (Bank& bank : banks) std::sort(bank.wanting.begin(), bank.wanting.begin() + bank.words, std::greater<>());
  return banks;
}

/// Broadcasts that a bank needs to be done in `steps`. Each saves all lanes of its word but one, so the most wanted
/// words come first. More than `steps` if no number of broadcasts is enough.
unsigned broadcasts_needed(const Bank& bank, unsigned steps) {
  unsigned needed = 0;
  for (unsigned left = bank.lanes; left > steps; ++needed) {
    if (needed == bank.words) return steps + 1;
    left -= bank.wanting[needed] - 1;
  }
  return needed;
}

/// There is one broadcast per step. It does not matter when a bank gets it.
unsigned least_steps(const BankArray& banks) {
  for (unsigned steps = 0;; ++steps) {
    unsigned needed = 0;
    for (const Bank& bank : banks) needed += broadcasts_needed(bank, steps);
    if (needed <= steps) return steps;
  }
}

/// While `others` banks occupy the broadcasts for this many steps, a bank serves its lanes one by one, lanes that share
/// a word first; after that each of its words costs one step. The bank with the fewest lanes finishes first in any
/// order, so it is best spent on prolonging the others.
unsigned max_steps(BankArray banks) {
  std::sort(banks.begin(), banks.end(), [](const Bank& a, const Bank& b) { return a.lanes < b.lanes; });
  unsigned steps = 0;
  for (const Bank& bank : banks) steps = std::max(steps, std::min(bank.lanes, bank.words + steps));
  return steps;
}

/// What one step leaves of the lanes `left` (indices into `words`): the lanes of `broadcast` are served, and in every
/// other bank one lane, of the word that the fewest lanes want.
std::vector<unsigned> after_step(std::span<const std::uint64_t> words, std::vector<unsigned> left,
                                 std::uint64_t broadcast) {
  const auto wanting = [&](unsigned lane) {
    return std::count_if(left.begin(), left.end(), [&](unsigned other) { return words[other] == words[lane]; });
  };
  std::array<int, max_lanes_served> served{};
  served.fill(-1);
  for (const unsigned lane : left) {
    int& other = served[words[lane] % max_lanes_served];
    if (other < 0 || wanting(lane) < wanting(unsigned(other))) other = int(lane);
  }
  std::erase_if(left, [&](unsigned lane) {
    const bool in_bank = words[lane] % max_lanes_served == broadcast % max_lanes_served;
    return in_bank ? words[lane] == broadcast : served[words[lane] % max_lanes_served] == int(lane);
  });
  return left;
}

unsigned least_steps(std::span<const std::uint64_t> words, const std::vector<unsigned>& left) {
  std::array<std::uint64_t, max_lanes_served> wanted{};
  std::transform(left.begin(), left.end(), wanted.begin(), [&](unsigned lane) { return words[lane]; });
  return least_steps(tally({wanted.data(), left.size()}));
}

}  // namespace

Steps broadcast_steps(std::span<const std::uint64_t> words) {
  const BankArray banks = tally(words);
  return {least_steps(banks), max_steps(banks)};
}

std::vector<unsigned> best_broadcast_order(std::span<const std::uint64_t> words) {
  std::vector<unsigned> left(words.size()), step_of(words.size());
  std::iota(left.begin(), left.end(), 0);
  for (unsigned step = 0; !left.empty(); ++step) {
    std::vector<unsigned> best = left;
    for (const unsigned lane : left) {
      auto rest = after_step(words, left, words[lane]);
      if (best.size() == left.size() || least_steps(words, rest) < least_steps(words, best)) best = std::move(rest);
    }
    for (const unsigned lane : left) {
      if (std::find(best.begin(), best.end(), lane) == best.end()) step_of[lane] = step;
    }
    left = std::move(best);
  }
  return step_of;
}

}  // namespace bankwise::banks
