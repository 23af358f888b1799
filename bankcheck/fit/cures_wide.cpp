// The proof that neighbouring words of a lane can be loaded or stored at once.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "bankcheck/fit/fit.hpp"

namespace bankwise::fit {
namespace {

using Addresses = std::vector<std::uint32_t>;

/// The accesses to the parts of one aligned place of each lane.
struct WidePlace {
  const trace::Pattern* any = nullptr;
  std::vector<std::uint64_t> counts;  ///< by part
  std::vector<trace::Occurrence> firsts;
};
/// By lanes, level, and the places' addresses.
using WidePlaces = std::map<std::tuple<std::uint64_t, std::uint32_t, Addresses>, WidePlace>;

/// The place of the lanes in accesses of `bytes`, and the part of it that they access; nothing if the parts differ.
std::optional<std::pair<Addresses, unsigned>> place_of(const trace::Pattern& pattern, unsigned bytes) {
  Addresses place = pattern.addresses;
  const std::uint32_t rest = place.at(unsigned(std::countr_zero(pattern.mask))) % bytes;
  bool is_same = rest % pattern.width == 0;
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    is_same &= place[lane] % bytes == rest;
    place[lane] -= place[lane] % bytes;
  });
  if (!is_same) return std::nullopt;
  return std::pair(std::move(place), rest / pattern.width);
}

/// Whether a warp comes to the parts of a place one after another, not on its way through rows whose pitch leads back
/// to the same cache lines.
bool are_together(const WidePlaces& places) {
  using Shape = std::pair<std::uint64_t, Addresses>;  // lanes, and their distances
  std::map<Shape, std::vector<std::pair<trace::Occurrence, const WidePlace*>>> sequences;
  for (const auto& [key, place] : places) {
    const trace::Occurrence& first = place.firsts.front();
    Addresses distances = std::get<Addresses>(key);
    const std::uint32_t lowest = distances[unsigned(std::countr_zero(std::get<0>(key)))];
    for (std::uint32_t& distance : distances) distance -= lowest;
    auto& sequence = sequences[{std::get<0>(key), std::move(distances)}];
    for (const trace::Occurrence& when : place.firsts) {
      if (std::tie(when.launch, when.block, when.warp) != std::tie(first.launch, first.block, first.warp)) return false;
      sequence.emplace_back(when, &place);
    }
  }
  for (auto& [shape, sequence] : sequences) {
    std::ranges::sort(sequence);
    std::set<const WidePlace*> finished;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      if (i > 0 && sequence[i].second != sequence[i - 1].second) finished.insert(sequence[i - 1].second);
      if (finished.contains(sequence[i].second)) return false;
    }
  }
  return true;
}

/// The wide accesses in place of those of some sites; empty if some access has not all of its neighbours.
std::vector<trace::Pattern> widened(std::span<const SiteAccesses> sites, unsigned bytes) {
  const unsigned width = sites.front().width, parts = bytes / width;
  WidePlaces places;
  for (const SiteAccesses& site : sites) {
    for (const trace::Pattern* pattern : site.patterns) {
      auto place_and_part = place_of(*pattern, bytes);
      if (!place_and_part) return {};
      WidePlace& place = places[{pattern->mask, pattern->level, std::move(place_and_part->first)}];
      place.any = pattern;
      place.counts.resize(parts);
      place.counts[place_and_part->second] += pattern->count;
      place.firsts.push_back(pattern->first);
    }
  }
  std::vector<trace::Pattern> wide;
  for (const auto& [key, place] : places) {
    if (std::ranges::adjacent_find(place.counts, std::not_equal_to()) != place.counts.end()) return {};
    trace::Pattern& access = wide.emplace_back(*place.any);
    access.addresses = std::get<Addresses>(key);
    access.width = bytes;
    access.count = place.counts.front();
  }
  return are_together(places) ? wide : std::vector<trace::Pattern>();
}

/// The lane that loads or stores a word in a level, by the number of its thread.
struct WordUse {
  static constexpr std::int64_t none = -1, several = -2;
  std::int64_t loader = none, storer = none;
  static void note(std::int64_t& user, std::int64_t thread) {
    user = user == none || user == thread ? thread : several;
  }
};
using WordUses = std::map<std::pair<std::uint32_t, std::uint32_t>, WordUse>;  ///< by level and number of the word

/// Calls `visit(word)` for each word of four bytes that a lane accesses.
template <class Visit>
void for_each_word(const trace::Pattern& pattern, unsigned lane, Visit visit) {
  const std::uint64_t begin = pattern.addresses[lane], end = begin + pattern.width;
  for (std::uint64_t word = begin / 4; 4 * word < end; ++word) visit(std::uint32_t(word));
}

/// Whether the order of these accesses among others of their level does not matter: other lanes do not use the same
/// words, or only loads do.
bool are_movable(const Patterns& all, std::span<const SiteAccesses> sites) {
  WordUses uses;
  for (const trace::Pattern* pattern : all) {
    banks::for_each_lane(pattern->mask, [&](unsigned lane) {
      const std::int64_t thread = std::int64_t{pattern->first.warp} * banks::max_lanes + lane;
      for_each_word(*pattern, lane, [&](std::uint32_t word) {
        WordUse& use = uses[{pattern->level, word}];
        WordUse::note(pattern->operation == banks::Operation::load ? use.loader : use.storer, thread);
      });
    });
  }
  for (const SiteAccesses& site : sites) {
    for (const trace::Pattern* pattern : site.patterns) {
      bool is_movable = true;
      banks::for_each_lane(pattern->mask, [&](unsigned lane) {
        for_each_word(*pattern, lane, [&](std::uint32_t word) {
          const WordUse& use = uses.at({pattern->level, word});
          const bool one_lane =
              use.storer != WordUse::several && (use.loader == use.storer || use.loader == WordUse::none);
          is_movable &= use.storer == WordUse::none || one_lane;
        });
      });
      if (!is_movable) return false;
    }
  }
  return true;
}

/// Whether a device compiler widens the accesses of these sites, or drops some, itself.
bool compiler_helps(const trace::KernelTrace& trace, std::span<const SiteAccesses> sites) {
  if (!trace.merged) return false;
  const auto count_in = [&](const std::vector<trace::Pattern>& patterns) {
    std::uint64_t count = 0;
    for (const trace::Pattern& pattern : patterns) {
      const auto is_site = [&](const SiteAccesses& site) { return site.site == pattern.site; };
      if (std::ranges::any_of(sites, is_site)) count += pattern.count;
    }
    return count;
  };
  return count_in(*trace.merged) < count_in(trace.patterns);
}

/// Sites near each other that do the same to words of one width.
bool are_neighbours(const trace::KernelTrace& trace, const SiteAccesses& a, const SiteAccesses& b) {
  constexpr unsigned most_lines = 8;
  const trace::Site &first = trace.sites[a.site], &last = trace.sites[b.site];
  return a.operation == b.operation && a.width == b.width && first.file == last.file &&
         first.function == last.function && last.line - first.line <= most_lines;
}

/// What widening the accesses of some sites to so many bytes saves. `array`: null for global memory.
std::optional<Cure> wide_cure(const Evidence& evidence, const Patterns& all, const ArrayFit* array,
                              std::span<const SiteAccesses> sites, unsigned bytes) {
  const std::vector<trace::Pattern> wide = widened(sites, bytes);
  if (wide.empty()) return std::nullopt;
  if (array != nullptr && (!are_movable(all, sites) || compiler_helps(evidence.trace, sites))) return std::nullopt;
  Costs before(evidence), after(evidence);
  const auto add = [&](Costs& costs, const trace::Pattern& pattern) {
    array == nullptr ? costs.add_sectors(pattern) : costs.add_passes(pattern);
  };
  std::set<std::uint32_t> numbers;
  Patterns patterns;
  for (const SiteAccesses& site : sites) {
    numbers.insert(site.site);
    patterns.insert(patterns.end(), site.patterns.begin(), site.patterns.end());
  }
  for (const trace::Pattern* pattern : patterns) add(before, *pattern);
  for (const trace::Pattern& pattern : wide) add(after, pattern);
  auto costs = before.until(after);
  if (!costs || (array != nullptr && !beats_layout(evidence, *array, patterns, *costs, true))) return std::nullopt;
  const unsigned width = sites.front().width;
  return Cure{.unit = array == nullptr ? CureUnit::sectors : CureUnit::passes,
              .sites = places_of(evidence.trace, numbers),
              .costs = std::move(*costs),
              .sentence = fmt::format(
                  "{} {} bytes of each lane at once ({}) instead of {} times {}{}", to_string(sites.front().operation),
                  bytes, bytes == 16 ? "float4" : "float2", bytes / width, width,
                  array != nullptr ? ""
                                   : ", if they are of one array that nothing else changes; "
                                     "the compiler does it itself where their type promises the alignment")};
}

}  // namespace

Cures wide_accesses(const Evidence& evidence, const Patterns& patterns, const ArrayFit* array) {
  Cures cures;
  std::vector<SiteAccesses> sites = by_site(evidence.trace, patterns);
  std::erase_if(sites, [](const SiteAccesses& site) { return !is_plain(site.operation); });
  std::ranges::stable_sort(sites, {}, [](const SiteAccesses& site) { return std::pair(site.operation, site.width); });
  for (const unsigned bytes : {16U, 8U}) {
    for (std::size_t i = 0; i < sites.size();) {
      std::size_t widened_sites = 0;
      for (const std::size_t count : {std::size_t{1}, std::size_t{bytes / sites[i].width}}) {
        const bool is_run = bytes > sites[i].width && i + count <= sites.size() &&
                            are_neighbours(evidence.trace, sites[i], sites[i + count - 1]);
        if (!is_run || widened_sites > 0) continue;
        auto cure = wide_cure(evidence, patterns, array, std::span(sites).subspan(i, count), bytes);
        if (!cure) continue;
        cures.push_back(std::move(*cure));
        widened_sites = count;
      }
      const auto here = sites.begin() + std::ptrdiff_t(i);
      sites.erase(here, here + std::ptrdiff_t(widened_sites));
      i += widened_sites == 0 ? 1 : 0;
    }
  }
  return cures;
}

}  // namespace bankwise::fit
