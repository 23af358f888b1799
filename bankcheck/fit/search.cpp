// SPDX-License-Identifier: MIT
#include "bankcheck/fit/search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>

namespace bankwise::fit {
namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

struct Candidate {
  Change change;
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;    ///< of the blocks evaluated so far
  std::uint64_t limit = 0;  ///< a better change is known beyond it
};

/// Evaluates many changes, block by block of the accesses, so that a block stays in the cache.
class Race {
 public:
  Race(const Accesses& accesses, std::vector<Option>& evaluated) : accesses_(accesses), evaluated_(evaluated) {}

  /// Evaluates the candidates exactly, or finds that they exceed their limits. `together`: a candidate competes with
  /// all evaluated options, otherwise only with those of its kind. Ends when `work` lane groups are evaluated, and
  /// returns the number of candidates that were decided.
  std::size_t run(std::vector<Candidate> candidates, bool together, std::uint64_t work);

  std::uint64_t work() const { return work_; }

 private:
  static constexpr std::uint64_t groups_per_block = Accesses::chunks_per_block * chunk_width;
  static constexpr std::uint64_t groups_per_slow = 40;  // that take as long as one access without a fast form

  std::uint64_t best_known(const Candidate& candidate, bool together) const {
    std::uint64_t best = none;
    for (const Option& one : evaluated_) {
      if (!together && one.change.kind() != candidate.change.kind()) continue;
      if (one.bytes <= candidate.bytes) best = std::min(best, one.passes);
    }
    return best;
  }
  /// A sample of all accesses is known: evaluates the candidates that do best on it, which sets limits for all others.
  void evaluate_best(const std::vector<Candidate>& candidates, std::uint64_t end_of_work) {
    std::vector<const Candidate*> order;
    order.reserve(candidates.size());
    for (const Candidate& one : candidates) order.push_back(&one);
    std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) {
      return std::tuple(a->change.kind(), a->bytes, a->sum) < std::tuple(b->change.kind(), b->bytes, b->sum);
    });
    const Candidate* best = nullptr;
    for (const Candidate* one : order) {
      if (best != nullptr && best->change.kind() == one->change.kind() && one->sum >= best->sum) continue;
      best = one;
      if (work_ < end_of_work) evaluate(*one);
    }
  }
  void evaluate(const Candidate& candidate) {
    work_ += accesses_.blocks() * groups_per_block + accesses_.slow_count() * groups_per_slow;
    evaluated_.push_back({candidate.change, *accesses_.passes(candidate.change), candidate.bytes});
  }

  const Accesses& accesses_;
  std::vector<Option>& evaluated_;
  std::uint64_t work_ = 0;
};

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a loop over candidates of blocks
std::size_t Race::run(std::vector<Candidate> candidates, bool together, std::uint64_t work) {
  const std::uint64_t end_of_work = work == none ? none : work_ + work;
  const std::size_t all = candidates.size(), blocks = accesses_.blocks();
  std::size_t decided = 0;
  const auto drop_hopeless = [&](std::size_t next_block) {
    const std::uint64_t rest = accesses_.rest_bound(next_block);
    std::erase_if(candidates, [&](const Candidate& one) { return one.sum + rest > one.limit; });
    decided = all - candidates.size();
  };
  const auto set_limits = [&] {
    for (Candidate& one : candidates) {
      const std::uint64_t best = best_known(one, together);
      one.limit = best == none ? none : best - (together && best > 0 ? 1 : 0);
    }
  };
  for (Candidate& one : candidates) one.sum = accesses_.constant();
  set_limits();
  drop_hopeless(0);
  for (std::size_t block = 0; block < blocks; ++block) {
    for (Candidate& one : candidates) {
      one.sum += accesses_.block_passes(one.change, block);
      work_ += groups_per_block;
      if (work_ >= end_of_work) return decided;
    }
    if (block == 0 && blocks > 1) {
      evaluate_best(candidates, end_of_work);
      set_limits();
    }
    drop_hopeless(block + 1);
  }
  for (const Candidate& one : candidates) {
    const auto slow = accesses_.slow_passes(one.change, one.limit - one.sum);
    work_ += accesses_.slow_count() * groups_per_slow;
    ++decided;
    if (!slow) continue;
    evaluated_.push_back({one.change, one.sum + *slow, one.bytes});
    if (work_ >= end_of_work) break;
  }
  return decided;
}

/// The best of the candidates that one form writes; nothing if the form writes none.
std::optional<Option> best_of_form(const Accesses& accesses, const std::vector<Candidate>& candidates,
                                   const ArrayShape& shape, Form form) {
  std::optional<Option> best;
  for (const Candidate& one : candidates) {
    if (form_of(one.change, shape) != form) continue;
    const auto passes = accesses.passes(one.change, best ? best->passes : none);
    if (!passes || (best && std::tuple(*passes, one.bytes) >= std::tuple(best->passes, best->bytes))) continue;
    best = Option{one.change, *passes, one.bytes};
  }
  return best;
}

}  // namespace

Found search(const Accesses& accesses, const Family& family, const ArrayShape& shape, const SearchLimits& limits) {
  const std::uint64_t extent = accesses.facts().extent;
  const auto allowed = [&](const std::vector<Change>& changes) {
    std::vector<Candidate> candidates;
    for (const Change& change : changes) {
      const std::uint64_t bytes = change.bytes_of(extent);
      const bool fits = bytes <= limits.bytes || change.kind() == Kind::identity;
      if (fits && form_of(change, shape) && accesses.keeps_together(change))
        candidates.push_back({change, bytes, 0, 0});
    }
    return candidates;
  };
  std::vector<Option> evaluated;
  Race race(accesses, evaluated);
  const auto singles = allowed(family.singles), combinations = allowed(family.combinations);
  Found found;
  found.family = singles.size() + combinations.size();
  found.tried = race.run(singles, false, none);
  found.tried += race.run(combinations, true, limits.work);
  found.work = race.work();

  std::stable_sort(evaluated.begin(), evaluated.end(), [&](const Option& a, const Option& b) {
    const auto rank = [&](const Option& one) {
      return std::tuple(one.passes, one.bytes, one.change.kind(), *form_of(one.change, shape));
    };
    return rank(a) < rank(b);
  });
  std::array<const Option*, kind_count> best{};
  std::uint64_t fewest = none;
  for (const Option& one : evaluated) {
    const Option*& of_kind = best[std::size_t(one.change.kind())];
    if (of_kind == nullptr) of_kind = &one;
    if (one.bytes < fewest) {
      fewest = one.bytes;
      found.front.push_back(one);
    }
  }
  for (const Option* one : best) {
    if (one != nullptr) found.best_of_kind.push_back(*one);
  }
  std::reverse(found.front.begin(), found.front.end());
  for (const Form form : {Form::rows, Form::columns}) {
    if (const auto option = best_of_form(accesses, singles, shape, form)) found.simple.push_back(*option);
  }
  return found;
}

}  // namespace bankwise::fit
