#include "bankcheck/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include <bankwise/support/text.hpp>

namespace bankwise::fit {
namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

struct PartlyPriced {
  Option option;            ///< with the passes in the blocks evaluated so far
  std::uint64_t limit = 0;  ///< a better change is known beyond it
};

/// proposal() prefers a change of one part.
bool is_simple(const Change& change) { return change.parts() <= 1; }

/// Whether proposal() prefers an option to no other one for what it looks like.
bool is_as_simple(const Option& other, const Option& option) {
  return (is_simple(other.change) || !is_simple(option.change)) && (other.is_plain || !option.is_plain) &&
         (!other.divides || option.divides) && other.operators <= option.operators;
}

/// The options that no other one, as simple, equals in passes, instructions and bytes; of equals the first.
std::vector<Option> frontier(std::vector<Option> options) {
  std::ranges::stable_sort(options, {}, [](const Option& option) {
    return std::tuple(option.passes, option.instructions, option.bytes, option.operators, option.change.kind());
  });
  std::vector<Option> front;
  for (const Option& option : options) {
    const bool is_beaten = std::ranges::any_of(front, [&](const Option& other) {
      return other.instructions <= option.instructions && other.bytes <= option.bytes &&
             other.parted <= option.parted && is_as_simple(other, option);
    });
    if (!is_beaten) front.push_back(option);
  }
  return front;
}

/// Evaluates many changes, block by block of the accesses, so that a block stays in the cache.
class Race {
 public:
  /// `accesses`: those that are left after all candidates; `parted`: Option::parted of each.
  Race(const Accesses& accesses, std::uint64_t parted, std::vector<Option>& evaluated)
      : accesses_(accesses), parted_(parted), evaluated_(evaluated) {}

  /// Evaluates the candidates exactly, or finds that they exceed their limits: then none is on the frontier, nor, with
  /// `kinds`, the best of its kind. Ends when `work` lane groups are evaluated, and returns the number of candidates
  /// that were decided.
  std::size_t run(std::vector<PartlyPriced> candidates, bool kinds, std::uint64_t work) {
    const std::uint64_t end_of_work = work == none ? none : work_ + work;
    const std::size_t count = candidates.size(), blocks = accesses_.blocks();
    std::size_t decided = 0;
    const auto drop_hopeless = [&](std::size_t next_block) {
      const std::uint64_t rest = accesses_.rest_bound(next_block);
      std::erase_if(candidates, [&](const PartlyPriced& each) { return each.option.passes + rest > each.limit; });
      decided = count - candidates.size();
    };
    const auto set_limits = [&] {
      const std::vector<Option> front = frontier(evaluated_);
      for (PartlyPriced& candidate : candidates) candidate.limit = limit_of(candidate.option, front, kinds);
    };
    for (PartlyPriced& candidate : candidates) candidate.option.passes = accesses_.constant();
    set_limits();
    drop_hopeless(0);
    for (std::size_t block = 0; block < blocks; ++block) {
      for (PartlyPriced& candidate : candidates) {
        candidate.option.passes += accesses_.block_passes(candidate.option.change, block);
        work_ += groups_per_block;
        if (work_ >= end_of_work) return decided;
      }
      if (block == 0 && blocks > 1) {
        evaluate_best(candidates, end_of_work);
        set_limits();
      }
      drop_hopeless(block + 1);
    }
    for (const auto& [option, limit] : candidates) {
      const auto slow = accesses_.slow_passes(option.change, limit - option.passes);
      work_ += accesses_.slow_count() * groups_per_slow;
      ++decided;
      if (!slow) continue;
      add(option, option.passes + *slow);
      if (work_ >= end_of_work) break;
    }
    return decided;
  }

  std::uint64_t work() const { return work_; }

 private:
  static constexpr std::uint64_t groups_per_block = Accesses::chunks_per_block * chunk_width;
  static constexpr std::uint64_t groups_per_slow = 40;  // that take as long as one access without a fast form

  /// More passes put a candidate behind one that is known.
  std::uint64_t limit_of(const Option& candidate, const std::vector<Option>& front, bool kinds) const {
    std::uint64_t limit = none;
    for (const Option& option : front) {
      const bool is_as_cheap = option.instructions <= candidate.instructions && option.parted <= parted_;
      if (is_as_simple(option, candidate) && is_as_cheap && option.bytes <= candidate.bytes)
        limit = std::min(limit, option.passes > 0 ? option.passes - 1 : 0);
    }
    if (!kinds) return limit;
    std::uint64_t of_kind = none;
    for (const Option& option : evaluated_) {
      if (option.change.kind() == candidate.change.kind() && option.bytes <= candidate.bytes)
        of_kind = std::min(of_kind, option.passes);
    }
    return std::max(limit, of_kind);
  }
  /// A sample of all accesses is known: evaluates the candidates that do best on it, which sets limits for all others.
  void evaluate_best(const std::vector<PartlyPriced>& candidates, std::uint64_t end_of_work) {
    std::vector<const Option*> order(candidates.size());
    std::ranges::transform(candidates, order.begin(), [](const PartlyPriced& candidate) { return &candidate.option; });
    std::ranges::stable_sort(order, {}, [](const Option* option) {
      return std::tuple(option->change.kind(), option->bytes, option->passes);
    });
    const Option* best = nullptr;
    for (const Option* option : order) {
      const bool is_of_kind = best != nullptr && best->change.kind() == option->change.kind();
      if (is_of_kind && option->passes >= best->passes) continue;
      best = option;
      if (work_ >= end_of_work) continue;
      work_ += accesses_.blocks() * groups_per_block + accesses_.slow_count() * groups_per_slow;
      add(*option, *accesses_.passes(option->change));
    }
  }

  void add(Option option, std::uint64_t passes) {
    option.passes = passes;
    option.parted = parted_;
    option.cycles = cycles_of(option, accesses_.facts().executions);
    evaluated_.push_back(option);
  }

  const Accesses& accesses_;
  std::uint64_t parted_;
  std::vector<Option>& evaluated_;
  std::uint64_t work_ = 0;
};

/// More than this many bytes cannot be evaluated.
constexpr std::uint64_t max_bytes = max_chunk_offset;

/// The options among which proposal() chooses.
struct Contest {
  const std::vector<Option>& options;
  std::uint64_t fewest_passes = 0;
  double max_bytes = 0;
  bool only_simple = false;

  const Option& before() const { return options.front(); }

  bool admits(const Option& option) const {
    constexpr double worth_a_change = 0.99, worth_a_division = 0.75;
    const double most = option.divides ? worth_a_division : worth_a_change;
    const bool saves = option.cycles < before().cycles && double(option.passes) <= most * double(before().passes);
    return saves && double(option.bytes) <= max_bytes && (!only_simple || is_simple(option.change));
  }

  /// The one with the fewest cycles; as it is if none is admitted.
  const Option& quickest() const {
    const auto rank = [](const Option& o) { return std::tuple(o.cycles, o.passes, o.instructions, o.operators); };
    const Option* best = &before();
    for (const Option& option : options) {
      if (admits(option) && rank(option) < rank(*best)) best = &option;
    }
    return *best;
  }
};

/// Costs that close are the same: an estimate is no better.
constexpr double nearly = 1.02;

/// Whether an option costs about as much as the quickest one: also if it has one instruction more, and is as easy to
/// read.
bool is_about_as_quick(const Option& option, const Option& quickest) {
  const bool is_as_easy = option.passes <= quickest.passes && option.instructions <= quickest.instructions + 1 &&
                          option.operators <= quickest.operators && option.parted <= quickest.parted;
  return option.cycles <= nearly * quickest.cycles || is_as_easy;
}

/// Whether a plain pad saves most of what the quickest option does: a change that leaves the indices as they are is
/// worth some passes.
bool is_plain_and_enough(const Option& option, const Option& quickest, const Option& before) {
  constexpr double enough = 0.95;
  return option.is_plain && before.cycles - option.cycles >= enough * (before.cycles - quickest.cycles);
}

std::size_t chosen_in(Contest contest) {
  constexpr double most = 0.65;
  const Option& before = contest.before();
  const Option* quickest = &contest.quickest();
  const double gain = before.cycles - quickest->cycles;
  Contest of_simple = contest;
  of_simple.only_simple = true;
  const Option& simple = of_simple.quickest();
  const bool is_enough = simple.cycles <= std::max(nearly * quickest->cycles, before.cycles - most * gain);
  if (contest.only_simple || (simple.cycles < before.cycles && is_enough)) {
    contest.only_simple = true;
    quickest = &simple;
  }
  const auto rank = [&](const Option& o) {
    const bool leaves_conflicts = o.passes > contest.fewest_passes;
    return std::tuple(leaves_conflicts && !is_plain_and_enough(o, *quickest, before), o.is_crowded, !o.is_plain,
                      leaves_conflicts, o.operators, o.bytes, o.cycles, o.passes);
  };
  const std::vector<Option>& options = contest.options;
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < options.size(); ++i) {
    const bool is_candidate =
        is_about_as_quick(options[i], *quickest) || is_plain_and_enough(options[i], *quickest, before);
    if (!contest.admits(options[i]) || !is_candidate) continue;
    if (chosen == 0 || rank(options[i]) < rank(options[chosen])) chosen = i;
  }
  return chosen;
}

/// "2 % more passes than the best", "the fewest passes".
std::string passes_reason(std::uint64_t passes, std::uint64_t fewest) {
  if (passes <= fewest) return "the fewest passes";
  const double more = fewest == 0 ? 0 : 100 * (double(passes) - double(fewest)) / double(fewest);
  if (more < 0.5) return "under 1 % more passes than the best";
  return fmt::format("{:.0f} % more passes than the best", more);
}

}  // namespace

Option option_of(const Change& change, const ArrayShape& shape, std::uint64_t extent) {
  Option option{change, 0, change.bytes_of(extent), index_instructions(change, shape)};
  option.operators = index_operators(change, shape);
  option.is_plain = is_plain_pad(change, shape);
  option.divides = divides_index(change, shape);
  return option;
}

double estimated_cycles(std::uint64_t passes, unsigned instructions, std::uint64_t executions) {
  constexpr double issued_per_cycle = 4, not_hidden = 0.25;
  const double accesses = double(executions) / issued_per_cycle, added = double(instructions) * accesses;
  return std::max(double(passes), accesses + added) + not_hidden * added;
}

double cycles_of(const Option& option, std::uint64_t executions) {
  constexpr double issued_per_cycle = 4;
  return estimated_cycles(option.passes, option.instructions, executions) + double(option.parted) / issued_per_cycle;
}

std::size_t proposal(const std::vector<Option>& options) {
  constexpr double worth_more_bytes = 0.9;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::uint64_t fewest_passes = std::ranges::min_element(options, {}, &Option::passes)->passes;
  std::size_t chosen = 0;
  for (const double longer : {1.25, 2.0, infinity}) {
    const bool is_first = longer == 1.25;
    const std::size_t other = chosen_in({options, fewest_passes, longer * double(options.front().bytes), !is_first});
    if (options[other].cycles < (is_first ? 1 : worth_more_bytes) * options[chosen].cycles) chosen = other;
  }
  return chosen;
}

FrontierEnds frontier_ends(const ArrayFit& array) {
  const std::uint64_t before = array.before().option.passes, best = array.options[array.best].option.passes;
  const auto first_of = [&](auto rank) {
    std::size_t first = array.best;
    for (std::size_t i = 1; i < array.options.size(); ++i) {
      const Option& option = array.options[i].option;
      const bool saves = option.passes < before && 2 * (before - option.passes) >= before - best;
      if (saves && rank(option) < rank(array.options[first].option)) first = i;
    }
    return first;
  };
  return {array.best, first_of([](const Option& o) { return std::tuple(o.instructions, o.passes, o.bytes); }),
          first_of([](const Option& o) { return std::tuple(o.bytes, o.passes, o.instructions); })};
}

std::string reason_of(const ArrayFit& array, const PricedOption& option) {
  const unsigned instructions = option.option.instructions;
  const std::string index = instructions == 0 ? "no instruction more"
                                              : support::plural(instructions, "instruction more", "instructions more");
  const std::uint64_t fewest = array.options[array.best].option.passes;
  const bool is_alike = array.is_alike && option.option.passes > fewest;
  return fmt::format("{}, and {} in the index{}", passes_reason(option.option.passes, fewest), index,
                     is_alike ? "; arrays that share a declaration change alike" : "");
}

SearchResult search(const Accesses& accesses, const Family& family, const ArrayShape& shape,
                    const SearchBudget& limits) {
  const std::uint64_t extent = accesses.facts().extent;
  const auto allowed = [&](const std::vector<Change>& changes) {
    std::vector<PartlyPriced> candidates;
    for (const Change& change : changes) {
      const std::uint64_t bytes = change.bytes_of(extent);
      const bool fits = bytes <= std::min(limits.bytes, max_bytes) || change.kind() == ChangeKind::identity;
      if (fits && form_of(change, shape) && accesses.keeps_together(change))
        candidates.push_back({option_of(change, shape, extent)});
    }
    // Of one kind with as many bytes those that are simplest to read come first: the first of equal ones is evaluated.
    sort_by_key(candidates, [](const PartlyPriced& candidate) {
      const Option& option = candidate.option;
      return std::tuple(option.change.kind(), option.bytes, option.operators);
    });
    return candidates;
  };
  const auto singles = allowed(family.singles), combinations = allowed(family.combinations);
  SearchResult result;
  result.family = singles.size() + combinations.size();
  std::vector<Option> evaluated;
  const auto run = [&](const std::vector<PartlyPriced>& candidates, bool kinds) {
    for (const Accesses* variant : accesses.variants()) {
      std::vector<PartlyPriced> own;
      std::ranges::copy_if(candidates, std::back_inserter(own),
                           [&](const PartlyPriced& each) { return &accesses.after(each.option.change) == variant; });
      Race race(*variant, variant->facts().executions - accesses.facts().executions, evaluated);
      result.tried += race.run(own, kinds, kinds ? none : limits.work - std::min(limits.work, result.work));
      result.work += race.work();
    }
  };
  run(singles, true);
  const std::uint64_t work = std::exchange(result.work, 0);  // the limit is for combinations
  run(combinations, false);
  result.work += work;

  sort_by_key(evaluated, [&](const Option& option) {  // of equal ones those that are simplest to read come first
    return std::tuple(option.passes, option.bytes, option.instructions, option.change.kind(),
                      *form_of(option.change, shape), option.operators);
  });
  std::array<const Option*, kind_count> best{};
  for (const Option& option : evaluated) {
    const Option*& of_kind = best[std::size_t(option.change.kind())];
    if (of_kind == nullptr) of_kind = &option;
  }
  for (const Option* option : best) {
    if (option != nullptr) result.best_of_kind.push_back(*option);
  }
  const std::uint64_t before = result.best_of_kind.front().passes;
  result.front = frontier(evaluated);
  std::erase_if(result.front, [&](const Option& option) {
    return option.passes >= before && option.change.kind() != ChangeKind::identity;
  });
  std::ranges::stable_sort(result.front, {},
                           [](const Option& option) { return std::tuple(option.cycles, option.bytes, option.passes); });
  return result;
}

}  // namespace bankwise::fit
