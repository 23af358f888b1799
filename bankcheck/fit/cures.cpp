#include "bankcheck/fit/cures.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include <bankwise/trace/warps.hpp>
#include "bankcheck/fit/fit.hpp"

namespace bankwise::fit {
namespace {

struct CureRow {
  CureKind kind;
  std::string_view name;
  bool needs_all_blocks;  ///< one access of an unwatched block may refute it; the sentence does not assume otherwise
  Proof *of_global, *of_shared;  ///< null: there is none
};

/// In the order in which they are looked for: a structure that one wide access reads is not named again.
constexpr CureRow cure_rows[]{
    {CureKind::wide_accesses, "wider accesses", true, wide_accesses, wide_accesses},
    {CureKind::sequential_addressing, "sequential addressing", false, nullptr, sequential_addressing},
    {CureKind::shuffles, "warp shuffles", false, nullptr, shuffles},
    {CureKind::registers, "a register", false, nullptr, registers},
    {CureKind::sums_in_warps, "sums in warps", false, sums_in_warps, sums_in_warps},
    {CureKind::copies, "copies of the histogram", false, nullptr, copies},
    {CureKind::exchanged_roles, "exchanged roles", true, exchanged_roles, nullptr},
    {CureKind::structure_of_arrays, "structure of arrays", true, global_structures, shared_structures},
};

/// The accesses of warps of `lanes` lanes, several of which were recorded as one.
std::vector<trace::Pattern> in_warps(const std::vector<trace::Pattern>& patterns, unsigned warp, unsigned lanes) {
  std::vector<trace::Pattern> parts;
  for (const trace::Pattern& pattern : patterns) {
    for (unsigned number = 0; number < warp / lanes; ++number) {
      const std::uint64_t mask = trace::lanes_in(pattern.mask, lanes, number);
      if (mask == 0) continue;
      trace::Pattern& part = parts.emplace_back(pattern);
      part.mask = mask;
      part.first.warp = pattern.first.warp * (warp / lanes) + number;
      for (auto* list : {&part.addresses, &part.lane_arrays, &part.sources}) {
        list->erase(list->begin(), list->begin() + std::ptrdiff_t(std::min<std::size_t>(lanes * number, list->size())));
      }
      normalize(part);
    }
  }
  return parts;
}

trace::KernelTrace in_warps(trace::KernelTrace trace, unsigned lanes) {
  for (auto* patterns : {&trace.patterns, &trace.global_patterns}) *patterns = in_warps(*patterns, trace.warp, lanes);
  if (trace.merged) *trace.merged = in_warps(*trace.merged, trace.warp, lanes);
  std::vector<trace::Participants> participants;
  for (const trace::Participants& whole : trace.participants) {
    for (unsigned number = 0; number < trace.warp / lanes; ++number) {
      const std::uint64_t mask = trace::lanes_in(whole.mask, lanes, number);
      if (mask != 0) participants.push_back({whole.level, mask, whole.count});
    }
  }
  trace.participants = std::move(participants);
  trace.warp = lanes;
  trace.splits = false;
  return trace;
}

/// Adds what is said of several places into one cure.
void join(Cures& cures) {
  Cures joined;
  for (Cure& cure : cures) {
    const auto same = std::ranges::find_if(joined, [&](const Cure& other) {
      return other.array == cure.array && other.sentence == cure.sentence && cure.kind == CureKind::wide_accesses;
    });
    if (same == joined.end()) {
      joined.push_back(std::move(cure));
      continue;
    }
    same->sites.insert(same->sites.end(), cure.sites.begin(), cure.sites.end());
    std::ranges::sort(same->sites);
    for (std::size_t a = 0; a < cure.costs.size(); ++a) {
      same->costs[a].before += cure.costs[a].before;
      same->costs[a].after += cure.costs[a].after;
    }
  }
  cures = std::move(joined);
}

bool has_addresses(const trace::Pattern* pattern) {
  return pattern->mask != 0 && std::size_t(std::bit_width(pattern->mask)) <= pattern->addresses.size();
}

/// The accesses to an array, if the trace knows all of them and where they are; else none.
Patterns all_accesses(const trace::KernelTrace& trace, const ArrayFit& array) {
  constexpr std::size_t most_patterns = 1 << 13;  // for the time that proofs take
  const bool is_complete = trace.excess_accesses == 0 && trace.left_out.empty() && trace.engines.empty() &&
                           trace.copied_bytes == 0 && array.facts.mixed == 0 && array.facts.why_fixed.empty();
  if (!is_complete || array.arrays.size() != 1 || array.facts.patterns > most_patterns) return {};
  Patterns patterns;
  for (const trace::Pattern& pattern : trace.patterns) {
    if (pattern.array == array.arrays.front()) patterns.push_back(&pattern);
  }
  return std::ranges::all_of(patterns, has_addresses) ? patterns : Patterns();
}

/// The same for global memory.
Patterns all_global_accesses(const trace::KernelTrace& trace) {
  if (trace.global_excess_accesses > 0 || trace.global_left_out > 0) return {};
  Patterns patterns;
  for (const trace::Pattern& pattern : trace.global_patterns) patterns.push_back(&pattern);
  return std::ranges::all_of(patterns, has_addresses) ? patterns : Patterns();
}

/// Leaves out cures that save less than a hundredth of what the kernel costs on each architecture.
void drop_small(const Evidence& evidence, Cures& cures) {
  if (cures.empty()) return;
  constexpr std::uint64_t hundredth = 100;
  Costs passes(evidence), sectors(evidence);  // of all accesses of the kernel
  for (const trace::Pattern& pattern : evidence.trace.patterns) passes.add_passes(pattern);
  for (const trace::Pattern& pattern : evidence.trace.global_patterns) sectors.add_sectors(pattern);
  std::erase_if(cures, [&](const Cure& cure) {
    if (cure.unit == CureUnit::updates) return false;
    const Costs& all = cure.unit == CureUnit::passes ? passes : sectors;
    for (std::size_t a = 0; a < cure.costs.size(); ++a) {
      if (hundredth * (cure.costs[a].before - cure.costs[a].after) >= all.on(a)) return false;
    }
    return true;
  });
}

std::uint64_t saving(const Cure& cure) { return cure.costs.front().before - cure.costs.front().after; }

}  // namespace

std::string_view to_string(CureKind kind) { return std::ranges::find(cure_rows, kind, &CureRow::kind)->name; }

std::string_view to_string(CureUnit unit) {
  constexpr std::string_view names[]{"passes", "sectors", "updates"};
  return names[int(unit)];
}

bool has_whole_warps(const Evidence& evidence) {
  return std::ranges::all_of(evidence.architectures, [&](const banks::Architecture* architecture) {
    return architecture->warp == evidence.trace.warp;
  });
}

void Costs::add_passes(const trace::Pattern& pattern, std::uint64_t times) {
  for (std::size_t a = 0; a < sums_.size(); ++a) {
    const banks::Architecture& architecture = *evidence_->architectures[a];
    const unsigned warps = trace::warps_in(evidence_->trace, architecture);
    trace::for_each_warp(pattern, evidence_->trace.warp, warps, architecture, 1, [&](const trace::WarpAccess& access) {
      known_ &= access.cost() != nullptr;
      if (access.cost() != nullptr) sums_[a] += times * pattern.count * access.cost()->passes;
    });
  }
}

void Costs::add_sectors(const trace::Pattern& pattern) {
  for (std::size_t a = 0; a < sums_.size(); ++a) {
    const banks::Architecture& architecture = *evidence_->architectures[a];
    const unsigned warps = trace::warps_in(evidence_->trace, architecture);
    trace::for_each_global_warp(pattern, trace::SectorMemory::global, evidence_->trace.warp, warps, architecture,
                                [&](const trace::GlobalWarpAccess& access) {
                                  known_ &= access.cost.has_value();
                                  if (access.cost) sums_[a] += pattern.count * access.cost->sectors;
                                });
  }
}

void Costs::add(std::uint64_t cost) {
  for (std::uint64_t& sum : sums_) sum += cost;
}

void Costs::add(const Costs& other) {
  for (std::size_t a = 0; a < sums_.size(); ++a) sums_[a] += other.sums_[a];
  known_ &= other.known_;
}

void Costs::raise_to(const Costs& other) {
  for (std::size_t a = 0; a < sums_.size(); ++a) sums_[a] = std::max(sums_[a], other.sums_[a]);
  known_ &= other.known_;
}

std::optional<std::vector<CureCost>> Costs::until(const Costs& after) const {
  constexpr double worth = 0.9;  // of the cost, at most
  if (!known_ || !after.known_) return std::nullopt;
  std::vector<CureCost> costs;
  for (std::size_t a = 0; a < sums_.size(); ++a) {
    if (double(after.sums_[a]) > worth * double(sums_[a]) || sums_[a] == 0) return std::nullopt;
    costs.push_back({sums_[a], after.sums_[a]});
  }
  return costs;
}

bool beats_layout(const Evidence& evidence, const ArrayFit& array, const Patterns& patterns,
                  const std::vector<CureCost>& costs, bool or_as_much) {
  const std::uint32_t offset = evidence.trace.arrays[array.arrays.front()].offset;
  Costs layout(evidence);
  for (const trace::Pattern* pattern : patterns) {
    trace::Pattern moved = *pattern;
    move_lanes(array.after().option.change, offset, moved.mask, moved.width, moved.addresses);
    layout.add_passes(moved);
  }
  for (std::size_t a = 0; a < costs.size(); ++a) {
    if (costs[a].after > layout.on(a) || (costs[a].after == layout.on(a) && !or_as_much)) return false;
  }
  return true;
}

std::optional<LaneStride> lane_stride(const trace::Pattern& pattern) {
  std::optional<std::int64_t> first_lane, first_address;
  std::optional<LaneStride> stride;
  bool fits = true;
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    if (lane >= pattern.addresses.size()) {
      fits = false;
      return;
    }
    const std::int64_t address = pattern.addresses[lane];
    if (!first_lane) {
      first_lane = lane;
      first_address = address;
    } else if (!stride) {
      const std::int64_t lanes = lane - *first_lane, bytes = address - *first_address;
      fits &= bytes % lanes == 0;
      stride = LaneStride{*first_address - *first_lane * (bytes / lanes), bytes / lanes};
    } else {
      fits &= address == stride->begin + lane * stride->bytes;
    }
  });
  return fits ? stride : std::nullopt;
}

std::vector<SiteAccesses> by_site(const trace::KernelTrace& trace, const Patterns& patterns) {
  std::map<std::tuple<const trace::Site&, banks::Operation, unsigned>, SiteAccesses> sites;
  for (const trace::Pattern* pattern : patterns) {
    SiteAccesses& site = sites[{trace.sites[pattern->site], pattern->operation, pattern->width}];
    site.site = pattern->site;
    site.operation = pattern->operation;
    site.width = pattern->width;
    site.patterns.push_back(pattern);
  }
  std::vector<SiteAccesses> list;
  list.reserve(sites.size());
  for (auto& [key, site] : sites) list.push_back(std::move(site));
  return list;
}

std::vector<trace::Site> places_of(const trace::KernelTrace& trace, const std::set<std::uint32_t>& sites) {
  std::set<trace::Site> places;
  for (const std::uint32_t site : sites) places.insert(trace.sites[site]);
  return {places.begin(), places.end()};
}

std::vector<Cure> cures_of(const trace::KernelTrace& trace, const Architectures& architectures,
                           const std::vector<ArrayFit>& arrays) {
  const unsigned lanes = architectures.front()->warp;
  const bool are_equal = std::ranges::all_of(architectures, [&](auto* other) { return other->warp == lanes; });
  const bool is_split = trace.splits && are_equal && trace.warp > lanes;
  const trace::KernelTrace parts = is_split ? in_warps(trace, lanes) : trace::KernelTrace();
  Cures cures;
  const Evidence evidence{is_split ? parts : trace, architectures, cures};
  const Patterns global = all_global_accesses(evidence.trace);
  std::vector<Patterns> shared;
  for (const ArrayFit& array : arrays) shared.push_back(all_accesses(evidence.trace, array));
  const bool has_all_blocks = trace.blocks >= launched_blocks(trace);
  for (const CureRow& row : cure_rows) {
    if (row.needs_all_blocks && !has_all_blocks) continue;
    const auto add = [&](Proof* proof, const Patterns& patterns, const ArrayFit* array) {
      if (proof == nullptr || patterns.empty()) return;
      for (Cure& cure : proof(evidence, patterns, array)) {
        cure.kind = row.kind;
        if (array != nullptr) cure.array = array->name;
        cures.push_back(std::move(cure));
      }
    };
    add(row.of_global, global, nullptr);
    for (std::size_t i = 0; i < arrays.size(); ++i) add(row.of_shared, shared[i], &arrays[i]);
  }
  join(cures);
  drop_small(evidence, cures);
  std::ranges::stable_sort(cures, std::greater(), saving);
  return cures;
}

}  // namespace bankwise::fit
