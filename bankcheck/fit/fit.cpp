#include "bankcheck/fit/fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/compiled_accesses.hpp"

namespace bankwise::fit {
namespace {

/// Arrays that must be changed alike: those of one name, and those that one access touches.
std::vector<std::vector<std::uint32_t>> array_sets(const trace::KernelTrace& trace) {
  std::vector<std::uint32_t> root(trace.arrays.size());
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](std::uint32_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    root[std::max(find(a), find(b))] = std::min(find(a), find(b));
  };
  std::map<std::string_view, std::uint32_t> names;
  for (std::uint32_t i = 0; i < root.size(); ++i) join(i, names.try_emplace(trace.arrays[i].name, i).first->second);
  std::vector<bool> used(root.size());
  for (const trace::Pattern& pattern : trace.patterns) {
    used[pattern.array] = true;
    if (pattern.lane_arrays.empty()) continue;
    banks::for_each_lane(pattern.mask, [&](unsigned lane) {
      used[pattern.lane_arrays[lane]] = true;
      join(pattern.array, pattern.lane_arrays[lane]);
    });
  }
  std::vector<std::vector<std::uint32_t>> sets(root.size());
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    if (used[i]) sets[find(i)].push_back(i);
  }
  std::erase_if(sets, [](auto& set) { return set.empty(); });
  return sets;
}

std::string name_of(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays) {
  std::vector<std::string> names;
  for (const std::uint32_t array : arrays) {
    const std::string& name = trace.arrays[array].name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Bytes of all arrays. Those whose size is not known count as far as their accesses reach.
std::uint64_t shared_bytes(const trace::KernelTrace& trace) {
  std::uint64_t end = 0;
  for (const trace::Array& array : trace.arrays) end = std::max(end, std::uint64_t{array.offset} + array.bytes);
  for (const trace::Pattern& pattern : trace.patterns) {
    for (const std::uint32_t address : pattern.addresses) {
      end = std::max(end, pattern.mask == 0 ? 0 : std::uint64_t{address} + pattern.width);
    }
  }
  return end;
}

std::uint64_t threads_of(const trace::KernelTrace& trace) {
  std::uint64_t threads = 0;
  for (const trace::LaunchShape& shape : trace.shapes) {
    threads = std::max(threads, shape.block[0] * shape.block[1] * shape.block[2]);
  }
  return threads;
}

std::uint64_t shared_limit(const Architectures& architectures, const FitLimits& limits, std::uint64_t bytes,
                           std::uint64_t threads) {
  std::uint64_t limit = limits.max_shared.value_or(~std::uint64_t{0});
  for (const banks::Architecture* architecture : architectures) {
    const auto& multiprocessor = architecture->multiprocessor.fact;
    if (!multiprocessor) continue;
    // CUDA's static arrays, dynamic ones without cudaFuncSetAttribute(), and OpenCL's local memory have less.
    const bool is_usual = architecture->name.starts_with("sm_") && bytes <= shared_without_attribute;
    const std::uint64_t most = is_usual ? shared_without_attribute : multiprocessor->per_block;
    if (!limits.max_shared) limit = std::min(limit, most);
    if (limits.keep_occupancy) limit = std::min(limit, bytes_with_same_occupancy(*multiprocessor, bytes, threads));
  }
  return limit;
}

std::vector<std::string> doubts_about(const trace::KernelTrace& trace, const ArrayFit& fit) {
  std::uint64_t excess = 0;
  for (const trace::Excess& part : trace.excess) {
    if (is_one_of(fit.arrays, part.array)) excess += part.accesses;
  }
  std::uint64_t engines = 0;
  for (const trace::EngineAccesses& accesses : trace.engines) engines += accesses.count;
  const std::uint64_t of_kernel = excess == 0 && trace.excess.empty() ? trace.excess_accesses : 0;
  const std::pair<std::uint64_t, std::string_view> reasons[]{
      {excess, "{} of its accesses did not fit into the trace"},
      {of_kernel, "{} accesses of the kernel did not fit into the trace"},
      {trace.left_out.empty() ? 0 : std::max<std::uint64_t>(1, trace::total(trace.left_out)),
       "{} accesses of the kernel are unknown"},
      {engines,
       "{} instructions of wgmma, bulk copies or TMA access shared memory, perhaps this array: only swizzles "
       "of TMA were tried"},
      {fit.facts.unknown, "{} of its accesses have no known cost, and are in no sum"},
      {fit.facts.loops,
       "{} of its accesses are atomics that compile to loops; they count with the fewest passes that are possible"},
      {fit.facts.mixed, "{} of its accesses touch several arrays, whose distance is a guess"}};
  std::vector<std::string> doubts;
  for (const auto& [accesses, sentence] : reasons) {
    if (accesses > 0) doubts.push_back(fmt::format(fmt::runtime(sentence), accesses));
  }
  if (fit.tried < fit.family) {
    doubts.push_back(fmt::format("{} of the {} changes were not tried: there are too many different accesses",
                                 fit.family - fit.tried, fit.family));
  }
  return doubts;
}

/// The patterns whose first blocks are of one half: blocks take turns. Nothing if most patterns begin in one block, so
/// that all blocks do the same, or only one was traced.
std::optional<trace::KernelTrace> alternate_blocks(const trace::KernelTrace& trace,
                                                   const std::vector<std::uint32_t>& arrays, bool odd) {
  std::map<std::uint64_t, std::uint64_t> patterns;  // by first block
  std::uint64_t count = 0;
  for (const trace::Pattern& pattern : trace.patterns) {
    if (!is_one_of(arrays, pattern.array)) continue;
    ++patterns[pattern.first.block];
    ++count;
  }
  if (patterns.empty() || 4 * patterns.begin()->second > 3 * count) return std::nullopt;
  std::uint64_t number = 0;
  for (auto& [block, place] : patterns) place = number++;
  trace::KernelTrace half = trace;
  std::erase_if(half.patterns, [&](const trace::Pattern& pattern) {
    const auto block = patterns.find(pattern.first.block);
    return block == patterns.end() || (block->second % 2 == 1) != odd;
  });
  return half;
}

double saved_by(const Difference& difference) { return double(difference.gain) - double(difference.harm); }
bool exceeds_chance(const Difference& difference, double deviations) {
  return 10 * difference.harm <= difference.gain || saved_by(difference) >= deviations * std::sqrt(difference.squares);
}

/// Whether a change that is chosen on one half of the blocks saves passes on the other half, at least the part `worth`
/// of those that can be saved. Nothing if the accesses do not depend on the block.
std::optional<bool> holds_on_other_blocks(const trace::KernelTrace& trace, const ArrayFit& fit,
                                          const Architectures& architectures, double worth) {
  const auto even = alternate_blocks(trace, fit.arrays, false), odd = alternate_blocks(trace, fit.arrays, true);
  if (!even || !odd) return std::nullopt;
  constexpr double deviations = 4;
  Accesses chosen_on(*even, fit.arrays, architectures), tested_on(*odd, fit.arrays, architectures);
  chosen_on.expect_merged(fit.shape);
  tested_on.expect_merged(fit.shape);
  const SearchResult result = search(chosen_on, family(fit.facts.bounds), fit.shape, {fit.bytes_limit});
  const auto best = std::ranges::min_element(result.best_of_kind, {}, &Option::passes);
  const Difference difference = tested_on.difference({}, best->change);
  const double removable = double(*tested_on.passes({}) - tested_on.bound());
  return saved_by(difference) > 0 && saved_by(difference) >= worth * removable &&
         exceeds_chance(difference, deviations);
}

/// Whether a change saves passes for a reason. With random addresses the best of thousands of changes saves some, too,
/// on about as many accesses as it harms.
bool is_systematic(const trace::KernelTrace& trace, const Accesses& accesses, const ArrayFit& fit,
                   const Architectures& architectures) {
  constexpr double worth = 0.05;
  constexpr double deviations = 8;  // the best of 10,000 changes reaches about 4 by chance; accesses depend on others
  const Difference difference = accesses.difference({}, fit.options[fit.best].option.change);
  const auto removable = double(fit.before().option.passes - fit.bound);
  if (saved_by(difference) < worth * removable) return false;
  if (const auto holds = holds_on_other_blocks(trace, fit, architectures, worth)) return *holds;
  return 2 * saved_by(difference) >= removable || exceeds_chance(difference, deviations);
}

FitVerdict verdict_of(const trace::KernelTrace& trace, const Accesses& accesses, const ArrayFit& fit,
                      const Architectures& architectures) {
  const std::uint64_t before = fit.before().option.passes, best = fit.options[fit.best].option.passes;
  if (before == fit.ideal) return FitVerdict::no_conflicts;
  if (fit.facts.bounds.fixed) return FitVerdict::fixed;
  if (best == before) return FitVerdict::none;
  if (best == fit.bound) return FitVerdict::removed;
  return is_systematic(trace, accesses, fit, architectures) ? FitVerdict::reduced : FitVerdict::chance;
}

/// Elements as narrow as the accesses, in rows as long as the stride that has most conflicts.
ArrayShape inferred_shape(const AccessFacts& facts, bool has_rows) {
  ArrayShape shape{facts.narrowest == 12 ? 4U : facts.narrowest, {}};
  const std::uint64_t elements = (facts.extent + shape.element - 1) / shape.element, row = facts.stride;
  if (has_rows && row > shape.element && row % shape.element == 0 && facts.extent % row == 0 && row < facts.extent) {
    shape.lengths = {facts.extent / row, row / shape.element};
  } else {
    shape.lengths = {elements};
  }
  return shape;
}

/// What the declared dimensions say about an array of this many bytes: bytes between neighbours in each, but the last.
std::vector<std::uint64_t> pitches_of(const ArrayShape& shape, std::uint64_t bytes) {
  std::vector<std::uint64_t> pitches;
  std::uint64_t pitch = shape.element;
  for (std::size_t d = shape.lengths.size(); d-- > 0;) {
    if (shape.lengths[d] == 0 || pitch > bytes / shape.lengths[d]) return {};  // another array, or no bytes at all
    pitch *= shape.lengths[d];
    if (d > 0) pitches.push_back(pitch);
  }
  return pitch == bytes ? pitches : std::vector<std::uint64_t>();
}

/// What a trace may not know of the accesses to an array: rows become shorter only if it knows all.
bool knows_all_accesses(const trace::KernelTrace& trace, const AccessFacts& facts) {
  return trace.excess_accesses == 0 && trace.excess.empty() && trace.left_out.empty() && trace.engines.empty() &&
         facts.mixed == 0 && facts.extent_known;
}

void set_bounds(const trace::KernelTrace& trace, ArrayFit& fit, bool complete) {
  FamilyBounds& bounds = fit.facts.bounds;
  if (trace.copied_bytes > 0) {  // by an engine that knows only some layouts
    bounds.fixed = true;
    fit.facts.why_fixed = "bytes of its kernel are moved by copies without lanes, which know no other layout";
  } else if (!trace.engines.empty() || (!fit.facts.stored && fit.facts.patterns > 0)) {  // perhaps this array
    bounds.copied_in = true;
  }
  if (const std::uint64_t row = fit.shape.row_bytes(); row < fit.facts.extent) {
    bounds.strides.push_back(std::uint32_t(row));
  }
  if (fit.shape_inferred || bounds.fixed) return;
  bounds.pitches = pitches_of(fit.shape, fit.facts.extent);
  if (bounds.pitches.empty() || !complete || !knows_all_accesses(trace, fit.facts)) return;
  bounds.used_row = std::uint32_t(used_row_bytes(trace, fit.arrays, bounds.pitches.front()));
}

/// The identity, then by estimated cycles the frontier and the best of each kind.
std::vector<Option> compared(const SearchResult& result) {
  std::vector<Option> options = result.best_of_kind;
  for (const Option& option : result.front) {
    if (std::ranges::find(options, option.change, &Option::change) == options.end()) options.push_back(option);
  }
  std::stable_sort(options.begin() + 1, options.end(), [](const Option& a, const Option& b) {
    return std::tuple(a.cycles, a.bytes, a.passes) < std::tuple(b.cycles, b.bytes, b.passes);
  });
  return options;
}

/// The most bytes that an array may have, and has without taking room from other blocks.
struct BytesOfArray {
  std::uint64_t allowed = 0, roomy = 0;
};

ArrayFit fit_arrays(const trace::KernelTrace& trace, Accesses& accesses, const Architectures& architectures,
                    const KnownShapes& shapes, const BytesOfArray& room, const FitLimits& limits) {
  ArrayFit fit{.arrays = accesses.arrays(),
               .name = name_of(trace, accesses.arrays()),
               .facts = accesses.facts(),
               .ideal = accesses.ideal(),
               .bound = accesses.bound(),
               .bytes_limit = room.allowed,
               .roomy_bytes = room.roomy};
  const auto known = std::ranges::find_if(fit.arrays, [&](auto array) { return shapes.contains(array); });
  const bool has_rows = known == fit.arrays.end() || !shapes.at(*known).lengths.empty();
  fit.shape_inferred = known == fit.arrays.end() || !has_rows;
  fit.shape = fit.shape_inferred ? inferred_shape(fit.facts, has_rows) : shapes.at(*known);
  if (limits.machine_code && !fit.shape.compiled) fit.shape.compiled.emplace();
  accesses.expect_merged(fit.shape);
  fit.facts = accesses.facts();
  set_bounds(trace, fit, limits.complete);
  // Without a conflict there is nothing to search for.
  const bool has_conflicts = accesses.passes({}) != fit.ideal;
  const SearchResult result =
      search(accesses, has_conflicts ? family(fit.facts.bounds) : Family{{Change{}}, {}}, fit.shape, {room.allowed});
  fit.family = result.family;
  fit.tried = result.tried;
  std::vector<Option> options = compared(result);
  const Predictor predicted(trace, fit.arrays, fit.shape, architectures);
  for (Option& option : options) {
    option.is_crowded = option.bytes > room.roomy;
    const std::vector<std::uint64_t> passes = accesses.passes_by_architecture(option.change);
    fit.options.push_back({option, passes, predicted(option.change, passes)});
    const auto rank = [](const Option& o) { return std::tuple(o.passes, o.instructions, o.bytes); };
    if (rank(option) < rank(fit.options[fit.best].option)) fit.best = fit.options.size() - 1;
  }
  for (const Option& option : result.front) {
    fit.front.push_back(*std::ranges::find(fit.options, option.change, &PricedOption::change));
  }
  fit.verdict = verdict_of(trace, accesses, fit, architectures);
  if (fit.verdict == FitVerdict::removed || fit.verdict == FitVerdict::reduced) {
    fit.chosen = proposal(options);
    if (fit.chosen == 0) {
      fit.verdict = FitVerdict::unprofitable;
    } else if (fit.after().option.passes > fit.bound) {
      fit.verdict = FitVerdict::reduced;
    }
  }
  fit.doubts = doubts_about(trace, fit);
  fit.parted = accesses.after(fit.after().option.change).facts().accesses - accesses.facts().accesses;
  return fit;
}

/// Bytes that the chosen changes add to a block, modulo 2^64 if they are fewer; and the changed arrays, if wanted.
std::uint64_t growth_of(const trace::KernelTrace& trace, const std::vector<ArrayFit>& fits,
                        std::vector<Placement::ChangedArray>* changed) {
  std::uint64_t growth = 0;
  for (const ArrayFit& fit : fits) {
    const Change& change = fit.after().option.change;
    for (const std::uint32_t array : fit.arrays) {
      const std::uint64_t bytes = trace.arrays[array].bytes > 0 ? trace.arrays[array].bytes : fit.facts.extent;
      growth += change.bytes_of(bytes) - bytes;
      if (changed != nullptr) changed->push_back({array, change, bytes});
    }
  }
  return growth;
}

}  // namespace

std::string_view to_string(FitVerdict verdict) {
  constexpr std::string_view names[]{"no conflicts", "removed", "reduced", "chance", "unprofitable", "none", "fixed"};
  return names[int(verdict)];
}

std::uint64_t used_row_bytes(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays,
                             std::uint64_t row) {
  std::uint64_t used = 0;
  for (const std::uint32_t number : patterns_of(trace, arrays)) {
    const trace::Pattern& pattern = trace.patterns[number];
    const unsigned rows = banks::matrix_rows(pattern.operation);
    banks::for_each_lane(pattern.mask, [&](unsigned lane) {
      if (lane >= pattern.addresses.size() || (rows > 0 && lane >= rows)) return;
      const std::uint32_t array = pattern.lane_arrays.empty() ? pattern.array : pattern.lane_arrays[lane];
      used = std::max(used, (pattern.addresses[lane] - trace.arrays[array].offset) % row + pattern.width);
    });
  }
  return std::min(used, row);
}

bool changes_something(const KernelFit& fit) {
  return std::ranges::any_of(fit.arrays, [](const ArrayFit& array) { return array.chosen > 0; });
}

KernelFit fit_kernel(const trace::KernelTrace& trace, const Architectures& architectures, const KnownShapes& shapes,
                     const FitLimits& limits) {
  KernelFit kernel;
  kernel.places = trace.arrays;
  kernel.threads = threads_of(trace);
  kernel.shared_before = kernel.shared_after = shared_bytes(trace);
  const std::uint64_t limit = shared_limit(architectures, limits, kernel.shared_before, kernel.threads);
  // More bytes leave room for fewer resident blocks on some architecture.
  const FitLimits resident{.max_shared = ~std::uint64_t{0}, .keep_occupancy = true};
  const std::uint64_t roomy = shared_limit(architectures, resident, kernel.shared_before, kernel.threads);
  std::vector<Accesses> sets;
  for (const auto& arrays : array_sets(trace)) sets.emplace_back(trace, arrays, architectures);
  // The array with the most conflicts chooses first.
  sort_by_key(sets, [](const Accesses& set) { return -std::int64_t(*set.passes({}) - set.ideal()); });
  for (Accesses& set : sets) {
    const std::uint64_t extent = set.facts().extent;
    const std::uint64_t copies = set.arrays().size();  // each of them grows
    const auto at_most = [&](std::uint64_t block) {
      return extent + (block > kernel.shared_after ? block - kernel.shared_after : 0) / copies;
    };
    kernel.arrays.push_back(fit_arrays(trace, set, architectures, shapes, {at_most(limit), at_most(roomy)}, limits));
    kernel.shared_after = kernel.shared_before + growth_of(trace, kernel.arrays, nullptr);
  }
  take_pads_of_others(kernel, limit);
  kernel.cures = cures_of(trace, architectures, kernel.arrays);
  for (const banks::Architecture* architecture : architectures) {
    kernel.before.push_back(trace::report(trace, *architecture));
  }
  settle(kernel, trace, architectures);
  return kernel;
}

void settle(KernelFit& kernel, const trace::KernelTrace& trace, const Architectures& architectures) {
  std::vector<Placement::ChangedArray> changed;
  kernel.shared_after = kernel.shared_before + growth_of(trace, kernel.arrays, &changed);
  const Placement placement(trace, changed);
  kernel.after.clear();
  trace::KernelTrace left = trace;
  for (const ArrayFit& fit : kernel.arrays) {
    if (fit.after().option.change.sequential) make_sequential(left, fit.arrays.front());
    const unsigned widest = widest_merged(trace, fit.arrays, fit.shape);
    if (widest > 0) left = split_accesses(left, fit.arrays, merged_bytes(fit.after().option.change, fit.shape, widest));
  }
  left = moved(std::move(left), placement);
  for (const banks::Architecture* architecture : architectures) {
    kernel.after.push_back(trace::report(left, *architecture));
  }
}

}  // namespace bankwise::fit
