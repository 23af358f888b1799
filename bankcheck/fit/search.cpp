#include "bankcheck/fit/fit.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>

namespace bankwise::fit {
namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

struct PartlyPriced {
  Change change;
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;    ///< passes in the blocks evaluated so far
  std::uint64_t limit = 0;  ///< a better change is known beyond it
};

/// Evaluates many changes, block by block of the accesses, so that a block stays in the cache.
class Race {
 public:
  Race(const Accesses& accesses, std::vector<Option>& evaluated) : accesses_(accesses), evaluated_(evaluated) {}

  /// Evaluates the candidates exactly, or finds that they exceed their limits. `together`: a candidate competes with
  /// all evaluated options, otherwise only with those of its kind. Ends when `work` lane groups are evaluated, and
  /// returns the number of candidates that were decided.
  std::size_t run(std::vector<PartlyPriced> candidates, bool together, std::uint64_t work) {
    const std::uint64_t end_of_work = work == none ? none : work_ + work;
    const std::size_t count = candidates.size(), blocks = accesses_.blocks();
    std::size_t decided = 0;
    const auto drop_hopeless = [&](std::size_t next_block) {
      const std::uint64_t rest = accesses_.rest_bound(next_block);
      std::erase_if(candidates, [&](const PartlyPriced& candidate) { return candidate.sum + rest > candidate.limit; });
      decided = count - candidates.size();
    };
    const auto set_limits = [&] {
      for (PartlyPriced& candidate : candidates) {
        const std::uint64_t best = best_known(candidate, together);
        candidate.limit = best == none ? none : best - (together && best > 0 ? 1 : 0);
      }
    };
    for (PartlyPriced& candidate : candidates) candidate.sum = accesses_.constant();
    set_limits();
    drop_hopeless(0);
    for (std::size_t block = 0; block < blocks; ++block) {
      for (PartlyPriced& candidate : candidates) {
        candidate.sum += accesses_.block_passes(candidate.change, block);
        work_ += groups_per_block;
        if (work_ >= end_of_work) return decided;
      }
      if (block == 0 && blocks > 1) {
        evaluate_best(candidates, end_of_work);
        set_limits();
      }
      drop_hopeless(block + 1);
    }
    for (const PartlyPriced& candidate : candidates) {
      const auto slow = accesses_.slow_passes(candidate.change, candidate.limit - candidate.sum);
      work_ += accesses_.slow_count() * groups_per_slow;
      ++decided;
      if (!slow) continue;
      evaluated_.push_back({candidate.change, candidate.sum + *slow, candidate.bytes});
      if (work_ >= end_of_work) break;
    }
    return decided;
  }

  std::uint64_t work() const { return work_; }

 private:
  static constexpr std::uint64_t groups_per_block = Accesses::chunks_per_block * chunk_width;
  static constexpr std::uint64_t groups_per_slow = 40;  // that take as long as one access without a fast form

  std::uint64_t best_known(const PartlyPriced& candidate, bool together) const {
    std::uint64_t best = none;
    for (const Option& option : evaluated_) {
      if (!together && option.change.kind() != candidate.change.kind()) continue;
      if (option.bytes <= candidate.bytes) best = std::min(best, option.passes);
    }
    return best;
  }
  /// A sample of all accesses is known: evaluates the candidates that do best on it, which sets limits for all others.
  void evaluate_best(const std::vector<PartlyPriced>& candidates, std::uint64_t end_of_work) {
    std::vector<const PartlyPriced*> order(candidates.size());
    std::ranges::transform(candidates, order.begin(), [](const PartlyPriced& candidate) { return &candidate; });
    std::ranges::stable_sort(order, [](auto* a, auto* b) {
      return std::tuple(a->change.kind(), a->bytes, a->sum) < std::tuple(b->change.kind(), b->bytes, b->sum);
    });
    const PartlyPriced* best = nullptr;
    for (const PartlyPriced* candidate : order) {
      if (best != nullptr && best->change.kind() == candidate->change.kind() && candidate->sum >= best->sum) continue;
      best = candidate;
      if (work_ < end_of_work) evaluate(*candidate);
    }
  }
  void evaluate(const PartlyPriced& candidate) {
    work_ += accesses_.blocks() * groups_per_block + accesses_.slow_count() * groups_per_slow;
    evaluated_.push_back({candidate.change, *accesses_.passes(candidate.change), candidate.bytes});
  }

  const Accesses& accesses_;
  std::vector<Option>& evaluated_;
  std::uint64_t work_ = 0;
};

/// The best of the candidates that one form writes; nothing if the form writes none.
std::optional<Option> best_of_form(const Accesses& accesses, const std::vector<PartlyPriced>& candidates,
                                   const ArrayShape& shape, IndexForm form) {
  std::optional<Option> best;
  for (const PartlyPriced& candidate : candidates) {
    if (form_of(candidate.change, shape) != form) continue;
    const auto passes = accesses.passes(candidate.change, best ? best->passes : none);
    if (!passes || (best && std::tuple(*passes, candidate.bytes) >= std::tuple(best->passes, best->bytes))) continue;
    best = Option{candidate.change, *passes, candidate.bytes};
  }
  return best;
}

}  // namespace

SearchResult search(const Accesses& accesses, const Family& family, const ArrayShape& shape,
                    const SearchBudget& limits) {
  const std::uint64_t extent = accesses.facts().extent;
  const auto allowed = [&](const std::vector<Change>& changes) {
    std::vector<PartlyPriced> candidates;
    for (const Change& change : changes) {
      const std::uint64_t bytes = change.bytes_of(extent);
      const bool fits = bytes <= limits.bytes || change.kind() == ChangeKind::identity;
      if (fits && form_of(change, shape) && accesses.keeps_together(change))
        candidates.push_back({change, bytes, 0, 0});
    }
    return candidates;
  };
  std::vector<Option> evaluated;
  Race race(accesses, evaluated);
  const auto singles = allowed(family.singles), combinations = allowed(family.combinations);
  SearchResult result;
  result.family = singles.size() + combinations.size();
  result.tried = race.run(singles, false, none);
  result.tried += race.run(combinations, true, limits.work);
  result.work = race.work();

  std::ranges::stable_sort(evaluated, [&](const Option& a, const Option& b) {
    const auto rank = [&](const Option& option) {
      return std::tuple(option.passes, option.bytes, option.change.kind(), *form_of(option.change, shape));
    };
    return rank(a) < rank(b);
  });
  std::array<const Option*, kind_count> best{};
  std::uint64_t fewest = none;
  for (const Option& option : evaluated) {
    const Option*& of_kind = best[std::size_t(option.change.kind())];
    if (of_kind == nullptr) of_kind = &option;
    if (option.bytes < fewest) {
      fewest = option.bytes;
      result.front.push_back(option);
    }
  }
  for (const Option* option : best) {
    if (option != nullptr) result.best_of_kind.push_back(*option);
  }
  std::ranges::reverse(result.front);
  for (const IndexForm form : {IndexForm::rows, IndexForm::columns}) {
    if (const auto option = best_of_form(accesses, singles, shape, form)) result.simple.push_back(*option);
  }
  return result;
}

}  // namespace bankwise::fit
