// Proofs about shared memory: values that warps exchange, words that all lanes load, and atomics on one word.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "bankcheck/fit/fit.hpp"

namespace bankwise::fit {
namespace {

bool is_atomic_access(const trace::Pattern& pattern) {
  return pattern.operation == banks::Operation::atomic || pattern.operation == banks::Operation::atomic_inc;
}

// --- Shuffles ---

/// A lane of the block: warp * max_lanes + lane.
using Thread = std::uint64_t;
Thread thread_of(const trace::Pattern& pattern, unsigned lane) {
  return Thread{pattern.first.warp} * banks::max_lanes + lane;
}

/// A store of a word: in which level, by whom.
using WordStore = std::pair<std::uint32_t, Thread>;

/// Who stores which words of an array. A pattern belongs to the warp that made it first: see knows_warps().
class Stores {
 public:
  explicit Stores(const Patterns& patterns) {
    for (const trace::Pattern* pattern : patterns) {
      if (pattern->operation != banks::Operation::store) continue;
      banks::for_each_lane(pattern->mask, [&](unsigned lane) {
        by_word_[pattern->addresses[lane]].insert({pattern->level, thread_of(*pattern, lane)});
        by_thread_[{pattern->level, thread_of(*pattern, lane)}].insert(pattern->addresses[lane]);
      });
    }
  }
  /// The stores whose value a load of the word in this level may see: those of the same level, which may come before it
  /// or after it, and those of the last level before it that has some.
  std::vector<WordStore> seen_by(std::uint32_t word, std::uint32_t level) const {
    const auto known = by_word_.find(word);
    if (known == by_word_.end()) return {};
    const std::set<WordStore>& stores = known->second;
    const auto begin = stores.lower_bound({level, 0});
    std::vector<WordStore> seen(begin, stores.lower_bound({level + 1, 0}));
    if (begin == stores.begin()) return seen;
    const std::uint32_t last = std::prev(begin)->first;
    seen.insert(seen.end(), stores.lower_bound({last, 0}), begin);
    return seen;
  }
  /// Whether all stores of a word are those of one thread, so that it does not depend on data whose register it is.
  bool has_owner(std::uint32_t word) const {
    const std::set<WordStore>& stores = by_word_.at(word);
    return std::ranges::all_of(stores, [&](const WordStore& store) { return store.second == stores.begin()->second; });
  }
  /// Words that a thread stores in a level: if it is one word, a register holds it.
  std::size_t words(const WordStore& store) const { return by_thread_.at(store).size(); }

 private:
  std::map<std::uint32_t, std::set<WordStore>> by_word_;
  std::map<WordStore, std::set<std::uint32_t>> by_thread_;
};

/// Whether the first warp of each pattern is its only one, if all blocks do the same.
bool knows_warps(const Evidence& evidence, const Patterns& patterns) {
  const trace::KernelTrace& trace = evidence.trace;
  if (trace.shapes.size() != 1) return false;
  const auto& block = trace.shapes.front().block;
  const bool has_one_warp = block[0] * block[1] * block[2] <= trace.warp;
  return has_whole_warps(evidence) &&
         (has_one_warp ||
          std::ranges::all_of(patterns, [&](const trace::Pattern* pattern) { return pattern->count <= trace.blocks; }));
}

/// What a load sees.
enum class LoadSource { outside, lanes, same_lanes };  // other warps or none; lanes of its warp; the lanes themselves

LoadSource source_of(const trace::Pattern& load, const Stores& stores) {
  bool is_inside = true, is_own = true;
  banks::for_each_lane(load.mask, [&](unsigned lane) {
    const std::vector<WordStore> seen = stores.seen_by(load.addresses[lane], load.level);
    is_inside &= !seen.empty() && stores.has_owner(load.addresses[lane]);
    for (const WordStore& store : seen) {
      is_inside &= store.second / banks::max_lanes == load.first.warp && stores.words(store) == 1;
      is_own &= store.second == thread_of(load, lane);
    }
  });
  if (!is_inside) return LoadSource::outside;
  return is_own ? LoadSource::same_lanes : LoadSource::lanes;
}

/// The loads of an array, and in which levels with loads all of them see lanes of their own warp.
struct Loads {
  std::map<const trace::Pattern*, LoadSource> sources;
  std::map<std::uint32_t, bool> inside;
};

Loads loads_of(const Patterns& patterns, const Stores& stores) {
  Loads loads;
  for (const trace::Pattern* pattern : patterns) {
    if (pattern->operation == banks::Operation::store) continue;
    const LoadSource source = loads.sources[pattern] = source_of(*pattern, stores);
    loads.inside.try_emplace(pattern->level, true).first->second &= source != LoadSource::outside;
  }
  return loads;
}

/// The words of stores, by level, that loads inside of warps see, and those that other loads see.
struct SeenStores {
  std::set<std::pair<std::uint32_t, std::uint32_t>> inside, outside;

  void add(const trace::Pattern& load, bool is_inside, const Stores& stores) {
    banks::for_each_lane(load.mask, [&](unsigned lane) {
      for (const WordStore& store : stores.seen_by(load.addresses[lane], load.level)) {
        const bool has_it = store == WordStore(load.level, thread_of(load, lane));  // in a register, or not yet
        if (is_inside || !has_it) (is_inside ? inside : outside).insert({store.first, load.addresses[lane]});
      }
    });
  }
  bool need(const trace::Pattern& store) const {
    bool is_needed = false;
    banks::for_each_lane(store.mask, [&](unsigned lane) {
      const std::pair word(store.level, store.addresses[lane]);
      is_needed |= !inside.contains(word) || outside.contains(word);
    });
    return is_needed;
  }
};

std::string shuffles_sentence(const std::map<std::uint32_t, bool>& steps) {
  const auto inside = std::ranges::count(steps, true, &std::pair<const std::uint32_t, bool>::second);
  return fmt::format(
      "__shfl_sync() in {}, in which lanes load only what lanes of their own warp stored, if that holds for all blocks "
      "and inputs",
      std::size_t(inside) == steps.size() ? "all steps"
                                          : fmt::format("{} of {} steps between barriers", inside, steps.size()));
}

// --- Registers ---

std::uint64_t warps_in_level(const trace::KernelTrace& trace, std::uint32_t level) {
  std::uint64_t warps = 0;
  for (const trace::Participants& participants : trace.participants) {
    if (participants.level == level) warps += participants.count;
  }
  return warps;
}

/// The last level in which each byte is stored.
std::map<std::uint32_t, std::uint32_t> last_stores_of(const Patterns& patterns) {
  std::map<std::uint32_t, std::uint32_t> levels;
  for (const trace::Pattern* pattern : patterns) {
    if (pattern->operation == banks::Operation::load) continue;
    banks::for_each_lane(pattern->mask, [&](unsigned lane) {
      for (std::uint32_t byte = pattern->addresses[lane]; byte < pattern->addresses[lane] + pattern->width; ++byte) {
        levels[byte] = std::max(levels[byte], pattern->level);
      }
    });
  }
  return levels;
}

/// The loads that remain, at most, if each warp loads the words of a site once. Nothing if lanes load different words,
/// if there are too many words, or if one is stored once it has been loaded.
std::optional<std::uint64_t> needed_loads(const trace::KernelTrace& trace, const SiteAccesses& site,
                                          const std::map<std::uint32_t, std::uint32_t>& last_stores) {
  constexpr std::size_t most_words = 8;                                   // registers that a cure may take
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> words;  // loads of each word, by level
  for (const trace::Pattern* pattern : site.patterns) {
    const auto stride = lane_stride(*pattern);
    if (!stride || stride->bytes != 0) return std::nullopt;
    words[std::uint32_t(stride->begin)][pattern->level] += pattern->count;
  }
  if (words.size() > most_words) return std::nullopt;
  std::uint64_t needed = 0;
  for (const auto& [word, loads] : words) {
    const auto& [level, count] = *loads.begin();
    needed += std::min(count, warps_in_level(trace, level));
    for (std::uint32_t byte = word; byte < word + site.width; ++byte) {
      const auto last = last_stores.find(byte);
      if (last == last_stores.end() || last->second >= level) return std::nullopt;
    }
  }
  return needed;
}

/// Loads of a site that a device compiler leaves; it drops repeated ones where it can.
std::uint64_t loads_left(const trace::KernelTrace& trace, const SiteAccesses& site) {
  std::uint64_t left = 0;
  for (const trace::Pattern& pattern : trace.merged ? *trace.merged : trace.patterns) {
    if (pattern.site == site.site && pattern.operation == banks::Operation::load) left += pattern.count;
  }
  return left;
}

// --- Atomics on one word ---

/// The access if only the first lane of each address makes it.
trace::Pattern with_one_lane_each(trace::Pattern pattern) {
  std::set<std::uint32_t> addresses;
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    if (!addresses.insert(pattern.addresses[lane]).second) pattern.mask &= ~(std::uint64_t{1} << lane);
  });
  normalize(pattern);
  return pattern;
}

constexpr const char* only_sums = "if they are sums, minima or maxima whose results are not used";

/// The access if lanes l, l + copies, l + 2 * copies ... have a copy of the array, and those of an element lie side by
/// side.
trace::Pattern in_copies(const trace::Pattern& pattern, std::uint32_t offset, unsigned copies) {
  trace::Pattern moved = pattern;
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    const std::uint32_t element = (pattern.addresses[lane] - offset) / pattern.width;
    moved.addresses[lane] = offset + (element * copies + lane % copies) * pattern.width;
  });
  return moved;
}

}  // namespace

Cures shuffles(const Evidence& evidence, const Patterns& patterns, const ArrayFit* array) {
  const auto is_usable = [&](const trace::Pattern* pattern) {
    return is_plain(pattern->operation) && pattern->width == patterns.front()->width && pattern->width >= 4;
  };
  if (!std::ranges::all_of(patterns, is_usable) || !knows_warps(evidence, patterns)) return {};
  const Stores stores(patterns);
  const Loads loads = loads_of(patterns, stores);
  SeenStores seen;
  std::uint64_t count = 0;
  std::set<std::uint32_t> sites;
  for (const auto& [load, source] : loads.sources) {
    const bool is_inside = loads.inside.at(load->level);
    seen.add(*load, is_inside, stores);
    if (!is_inside || source != LoadSource::lanes) continue;
    count += load->count * (load->width / 4);
    sites.insert(load->site);
  }
  Costs before(evidence), after(evidence);
  for (const trace::Pattern* pattern : patterns) {
    const bool is_load = pattern->operation == banks::Operation::load;
    before.add_passes(*pattern);
    if (is_load ? !loads.inside.at(pattern->level) : seen.need(*pattern)) after.add_passes(*pattern);
  }
  Costs with_shuffles = after;
  with_shuffles.add(count + count / 2);  // a shuffle does not cost less than a pass
  auto costs = before.until(after);
  if (count == 0 || !before.until(with_shuffles) || !costs || !beats_layout(evidence, *array, patterns, *costs)) {
    return {};
  }
  return {{.sites = places_of(evidence.trace, sites),
           .costs = std::move(*costs),
           .shuffles = count,
           .sentence = shuffles_sentence(loads.inside)}};
}

Cures registers(const Evidence& evidence, const Patterns& patterns, const ArrayFit* /*array*/) {
  Cures cures;
  const auto last_stores = last_stores_of(patterns);
  for (const SiteAccesses& site : by_site(evidence.trace, patterns)) {
    if (site.operation != banks::Operation::load) continue;
    const auto needed = needed_loads(evidence.trace, site, last_stores);
    if (!needed || 2 * *needed > loads_left(evidence.trace, site)) continue;
    Costs before(evidence), after(evidence);
    for (const trace::Pattern* pattern : site.patterns) before.add_passes(*pattern);
    trace::Pattern once = *site.patterns.front();
    once.count = *needed;
    after.add_passes(once);
    auto costs = before.until(after);
    if (!costs) continue;
    cures.push_back({.sites = places_of(evidence.trace, {site.site}),
                     .costs = std::move(*costs),
                     .at_most = true,
                     .sentence = "all lanes load one word again that nothing stores any more: load it once, into a "
                                 "register"});
  }
  return cures;
}

/// The atomics of each site whose lanes have one address, in global memory also a few: one lane does the work of all.
Cures sums_in_warps(const Evidence& evidence, const Patterns& patterns, const ArrayFit* array) {
  if (!has_whole_warps(evidence)) return {};
  Cures cures;
  for (const SiteAccesses& site : by_site(evidence.trace, patterns)) {
    if (!is_atomic_access(*site.patterns.front())) continue;
    Costs before(evidence), after(evidence);
    std::uint64_t lanes = 0, addresses = 0, accesses = 0;
    for (const trace::Pattern* pattern : site.patterns) {
      const trace::Pattern sum = with_one_lane_each(*pattern);
      lanes += pattern->count * unsigned(std::popcount(pattern->mask));
      addresses += pattern->count * unsigned(std::popcount(sum.mask));
      accesses += pattern->count;
      if (array == nullptr) continue;
      before.add_passes(*pattern);
      after.add_passes(sum);
    }
    if (array == nullptr) {
      before.add(lanes);
      after.add(addresses);
    }
    const bool is_single = addresses == accesses;
    auto costs = before.until(after);
    if (!costs || 2 * addresses > lanes || (array != nullptr && !is_single)) continue;
    if (array != nullptr && !beats_layout(evidence, *array, site.patterns, *costs)) continue;
    cures.push_back(
        {.unit = array == nullptr ? CureUnit::updates : CureUnit::passes,
         .sites = places_of(evidence.trace, {site.site}),
         .costs = std::move(*costs),
         .sentence = fmt::format(
             "add up the lanes of one address in the warp first ({}), {}; the compiler does it itself for some sums of "
             "integers",
             is_single ? "__reduce_add_sync() or shuffles" : "__match_any_sync(), or in shared memory", only_sums)});
  }
  return cures;
}

Cures copies(const Evidence& evidence, const Patterns& patterns, const ArrayFit* array) {
  const auto is_usable = [&](const trace::Pattern* pattern) {
    return (is_plain(pattern->operation) || is_atomic_access(*pattern)) && pattern->width == patterns.front()->width;
  };
  if (!std::ranges::all_of(patterns, is_usable)) return {};
  std::uint64_t addresses = 0, accesses = 0;
  std::set<std::uint32_t> sites;
  for (const trace::Pattern* pattern : patterns) {
    if (!is_atomic_access(*pattern)) continue;
    addresses += pattern->count * unsigned(std::popcount(with_one_lane_each(*pattern).mask));
    accesses += pattern->count;
    sites.insert(pattern->site);
  }
  if (addresses == accesses) return {};  // the lanes of each access share one word: sums are better
  const std::uint32_t offset = evidence.trace.arrays[array->arrays.front()].offset;
  std::optional<std::vector<CureCost>> best;
  unsigned best_count = 0;
  for (unsigned count = 2; count <= 32 && count * array->facts.extent <= array->bytes_limit; count *= 2) {
    Costs before(evidence), after(evidence);
    for (const trace::Pattern* pattern : patterns) {
      before.add_passes(*pattern);
      if (is_atomic_access(*pattern)) {
        after.add_passes(in_copies(*pattern, offset, count));
      } else {
        after.add_passes(*pattern, count);  // zeroing and adding up
      }
    }
    auto costs = before.until(after);
    if (!costs || (best && best->front().after <= costs->front().after)) continue;
    best = std::move(costs);
    best_count = count;
  }
  if (!best || !beats_layout(evidence, *array, patterns, *best)) return {};
  return {{.sites = places_of(evidence.trace, sites),
           .costs = std::move(*best),
           .sentence = fmt::format("{0} copies in {1} bytes: element i of the copy for lane l is number "
                                   "i * {0} + l % {0}; zeroing and adding up are counted; {2}",
                                   best_count, best_count * array->facts.extent, only_sums)}};
}

}  // namespace bankwise::fit
