#include "broken_studies.hpp"

#include <utility>
#include <variant>

#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

const CaseStudy &reduce = reduction::case_study(), &scan = prefix_sum::case_study(), &flip = transpose::case_study();

/// The sound plan, after `change` of each step.
template <class Change>
Plan changed(Plan plan, const Change& change) {
  for (Step& step : plan.steps) change(step);
  return plan;
}

/// The plan without its exchanges.
Plan without_exchanges(Plan plan) {
  std::erase_if(plan.steps, [](const Step& step) { return is_exchange(step); });
  return plan;
}

/// Ranks 0 and 1 swapped.
Rank swapped(Rank rank) { return {rank.index < 2 && rank.ranks > 1 ? 1 - rank.index : rank.index, rank.ranks}; }

const Fault faults[]{
    {"reduction: no exchange", &reduce,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       return without_exchanges(reduce.ranks->plan(variant, extent, rank, units));
     }},
    {"reduction: the last word of the sum is not exchanged", &reduce,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       return changed(reduce.ranks->plan(variant, extent, rank, units), [](Step& step) {
         if (auto* exchange = std::get_if<AllReduce>(&step)) --exchange->count;
       });
     }},
    {"prefix sum: no exchange", &scan,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       return without_exchanges(scan.ranks->plan(variant, extent, rank, units));
     }},
    {"prefix sum: the totals are rotated by one rank", &scan,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       return changed(scan.ranks->plan(variant, extent, rank, units), [&](Step& step) {
         const auto* exchange = std::get_if<AllGather>(&step);
         if (exchange == nullptr) return;
         AllToAll rotated{exchange->from, {}, exchange->to, {}};
         for (unsigned r = 0; r < rank.ranks; ++r) {
           rotated.send.push_back({0, 1});
           rotated.receive.push_back({(r + 1) % rank.ranks, 1});
         }
         step = rotated;
       });
     }},
    {"prefix sum: ranks 0 and 1 take each other's place", &scan,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       return scan.ranks->plan(variant, extent, swapped(rank), units);
     }},
    {"prefix sum: words past the end of the share are overwritten", &scan,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       Plan plan = scan.ranks->plan(variant, extent, rank, units);
       AllToAll past_the_end{scratch_slot(2), {}, output_slot, {}};
       for (unsigned r = 0; r < rank.ranks; ++r) {
         past_the_end.send.push_back({0, 1});
         past_the_end.receive.push_back({scan.ranks->share(variant, extent, rank).output_words + r, 1});
       }
       plan.steps.emplace_back(std::move(past_the_end));
       return plan;
     }},
    {"transpose: no exchange", &flip,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       return without_exchanges(flip.ranks->plan(variant, extent, rank, units));
     }},
    {"transpose: ranks 0 and 1 get each other's blocks", &flip,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       return changed(flip.ranks->plan(variant, extent, rank, units), [](Step& step) {
         if (auto* exchange = std::get_if<AllToAll>(&step)) std::swap(exchange->send.at(0), exchange->send.at(1));
       });
     }},
    {"transpose: the blocks of ranks 0 and 1 are received in the wrong order", &flip,
     [](const Variant& variant, Extent extent, Rank rank, unsigned units) {
       return changed(flip.ranks->plan(variant, extent, rank, units), [](Step& step) {
         if (auto* exchange = std::get_if<AllToAll>(&step)) std::swap(exchange->receive.at(0), exchange->receive.at(1));
       });
     }},
};

}  // namespace

std::span<const Fault> all_faults() { return faults; }
