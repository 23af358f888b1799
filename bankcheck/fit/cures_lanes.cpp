// Proofs from the distances of lanes: threadIdx.x and .y in each other's place, and structures.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "bankcheck/fit/fit.hpp"

namespace bankwise::fit {
namespace {

/// The access with lanes so many bytes apart.
trace::Pattern spread(trace::Pattern pattern, std::int64_t bytes) {
  for (std::size_t lane = 0; lane < pattern.addresses.size(); ++lane) {
    pattern.addresses[lane] = std::uint32_t(bytes * std::int64_t(lane));
  }
  return pattern;
}

/// Addresses of global memory are known modulo a cache line.
constexpr std::int64_t line = trace::source_bytes;
std::int64_t in_line(std::int64_t address) { return (address % line + line) % line; }

// --- Roles ---

/// The threads of a block, x fastest.
struct BlockShape {
  std::int64_t columns = 0, rows = 0;
};

/// Blocks of whole warps in two dimensions.
std::optional<BlockShape> two_dimensions(const Evidence& evidence) {
  const trace::KernelTrace& trace = evidence.trace;
  if (trace.shapes.size() != 1) return std::nullopt;
  const auto& [x, y, z] = trace.shapes.front().block;
  const bool fits = (x % trace.warp == 0 || trace.warp % x == 0) && x * y % trace.warp == 0;
  constexpr std::uint64_t most_threads = 1024;
  const bool is_block = x >= 2 && y >= 2 && z == 1 && x <= most_threads && y <= most_threads && x * y <= most_threads;
  if (!has_whole_warps(evidence) || !fits || !is_block) return std::nullopt;
  return BlockShape{std::int64_t(x), std::int64_t(y)};
}

/// The addresses of a site as a sum of its two indices: bytes from column to column and from row to row.
struct Plane {
  std::int64_t by_column = 0, by_row = 0;
};

/// Where neighbouring rows of the block are not in one warp, the distance between them is known modulo a cache line
/// only, and if they are so many bytes apart, all warps but the first must begin at a place of their own.
bool are_rows_apart(const SiteAccesses& site, std::int64_t warps_in_row, std::int64_t rows, std::int64_t bytes) {
  std::set<std::pair<std::int64_t, std::int64_t>> begins;  // by warp: those that no warp before it has
  for (const trace::Pattern* pattern : site.patterns) {
    begins.insert({pattern->first.warp, in_line(lane_stride(*pattern)->begin)});
  }
  for (const trace::Pattern* pattern : site.patterns) {
    if (pattern->first.warp != 0) continue;
    const std::int64_t begin = lane_stride(*pattern)->begin;
    for (std::int64_t row = 1; row < std::min(rows, line / bytes); ++row) {
      if (!begins.contains({row * warps_in_row, in_line(begin + row * bytes)})) return false;
    }
  }
  return true;
}

/// Nothing if the accesses are no such sum, or if the distance of rows is not known.
std::optional<Plane> plane_of(const SiteAccesses& site, const BlockShape& block, unsigned warp) {
  std::optional<Plane> plane;
  const std::int64_t columns = std::min(block.columns, std::int64_t{warp});
  for (const trace::Pattern* pattern : site.patterns) {
    if (std::popcount(pattern->mask) != int(warp)) return std::nullopt;
    const std::vector<std::uint32_t>& addresses = pattern->addresses;
    const auto at = [&](std::int64_t lane) { return std::int64_t{addresses.at(std::size_t(lane))}; };
    const Plane own{at(1) - at(0), columns < warp ? at(columns) - at(0) : std::int64_t{site.width}};
    for (std::int64_t lane = 0; lane < warp; ++lane) {
      if (at(lane) != at(0) + lane % columns * own.by_column + lane / columns * own.by_row) return std::nullopt;
    }
    if (plane && (plane->by_column != own.by_column || plane->by_row != own.by_row)) return std::nullopt;
    plane = own;
  }
  const bool is_known = columns < warp || are_rows_apart(site, block.columns / warp, block.rows, site.width);
  return is_known ? plane : std::nullopt;
}

/// The access of a warp of the exchanged block whose first lane accesses `begin`.
trace::Pattern exchanged(const trace::Pattern& pattern, const Plane& plane, const BlockShape& block,
                         std::int64_t begin) {
  trace::Pattern moved = pattern;
  for (std::size_t lane = 0; lane < moved.addresses.size(); ++lane) {
    const auto column = std::int64_t(lane) % block.rows, row = std::int64_t(lane) / block.rows;
    moved.addresses[lane] = std::uint32_t(begin + column * plane.by_row + row * plane.by_column);
  }
  return moved;
}

/// What a site costs once the roles are exchanged: the most that one of its accesses may cost, for each of them.
struct Exchanged {
  Costs costs;
  bool is_exact = true;
};

/// Nothing is known of the lanes: no two of them share a sector.
Exchanged worst_case(const Evidence& evidence, const SiteAccesses& site) {
  Exchanged worst{Costs(evidence), false};
  for (const trace::Pattern* pattern : site.patterns) worst.costs.add_sectors(spread(*pattern, line));
  return worst;
}

Exchanged after_exchange(const Evidence& evidence, const SiteAccesses& site, const BlockShape& block) {
  const unsigned warp = evidence.trace.warp;
  const auto plane = plane_of(site, block, warp);
  if (!plane || plane->by_column < 0 || plane->by_row < 0) return worst_case(evidence, site);
  std::set<std::int64_t> begins, observed;
  std::uint64_t accesses = 0;
  for (const trace::Pattern* pattern : site.patterns) {
    accesses += pattern->count;
    observed.insert(in_line(pattern->addresses.front()));
  }
  for (const trace::Pattern* pattern : site.patterns) {
    if (pattern->first.warp != 0) continue;
    const std::int64_t begin = pattern->addresses.front();
    for (std::int64_t thread = 0; thread < block.columns * block.rows; thread += warp) {
      const std::int64_t now = thread % block.columns * plane->by_column + thread / block.columns * plane->by_row;
      if (!observed.contains(in_line(begin + now))) return worst_case(evidence, site);
      begins.insert(in_line(begin + thread % block.rows * plane->by_row + thread / block.rows * plane->by_column));
    }
  }
  if (begins.empty()) return worst_case(evidence, site);
  Exchanged most{Costs(evidence)};
  for (const std::int64_t begin : begins) {
    trace::Pattern moved = exchanged(*site.patterns.front(), *plane, block, begin);
    moved.count = accesses;
    Costs costs(evidence);
    costs.add_sectors(moved);
    most.is_exact &= begin == *begins.begin() || costs == most.costs;
    most.costs.raise_to(costs);
  }
  return most;
}

// --- Structures ---

/// Sites whose lanes are as far apart as structures of so many bytes.
struct StructureSites {
  std::set<std::uint32_t> sites;
  Patterns patterns;
};

bool is_named(const Evidence& evidence, std::uint32_t site) {
  return std::ranges::any_of(evidence.cures, [&](const Cure& cure) {
    return cure.array.empty() && std::ranges::find(cure.sites, evidence.trace.sites[site]) != cure.sites.end();
  });
}

/// Whether places in cache lines lie within so many bytes, which may go beyond the end of a line.
bool are_within(const std::set<std::int64_t>& places, std::int64_t bytes) {
  return std::ranges::any_of(places, [&](std::int64_t first) {
    return std::ranges::all_of(places, [&](std::int64_t place) { return in_line(place - first) < bytes; });
  });
}

/// The size of the structures: the distance of neighbouring lanes, if it is the same in all accesses, and if all first
/// lanes access the same structure of their cache lines. Nothing for distances that are rather those of rows.
std::optional<std::int64_t> structure_bytes(const SiteAccesses& site) {
  std::set<std::int64_t> distances, begins;
  for (const trace::Pattern* pattern : site.patterns) {
    const auto stride = lane_stride(*pattern);
    if (!stride) return std::nullopt;
    distances.insert(stride->bytes);
    begins.insert(in_line(stride->begin));
  }
  const std::int64_t bytes = *distances.begin(), width = site.width;
  const bool is_structure = distances.size() == 1 && bytes >= 2 * width && bytes < line;
  return is_structure && are_within(begins, bytes - width + 1) ? std::optional(bytes) : std::nullopt;
}

std::string structures_sentence(std::int64_t bytes, std::string_view assumption) {
  return fmt::format("an array for each member, if every {} bytes are a structure{}", bytes, assumption);
}

/// The access if the array has one array for each member, in the same bytes; nothing if it touches several members.
std::optional<trace::Pattern> in_member_arrays(const trace::Pattern& pattern, const trace::Array& place,
                                               std::uint32_t element) {
  trace::Pattern moved = pattern;
  bool is_member = pattern.width < element;
  const std::uint32_t elements = place.bytes / element;
  std::optional<std::uint32_t> member;
  banks::for_each_lane(pattern.mask, [&](unsigned lane) {
    const std::uint32_t at = pattern.addresses[lane] - place.offset;
    is_member &= !member || *member == at % element;
    member = at % element;
    moved.addresses[lane] = place.offset + *member * elements + at / element * pattern.width;
  });
  return is_member ? std::optional(moved) : std::nullopt;
}

}  // namespace

Cures exchanged_roles(const Evidence& evidence, const Patterns& patterns, const ArrayFit* /*array*/) {
  const auto block = two_dimensions(evidence);
  const bool has_shared = !evidence.trace.patterns.empty() || evidence.trace.excess_accesses > 0 ||
                          !evidence.trace.left_out.empty() || !evidence.trace.watches_shared;
  if (!block || has_shared) return {};
  Costs before(evidence), after(evidence);
  bool is_exact = true;
  std::set<std::uint32_t> sites;
  for (const SiteAccesses& site : by_site(evidence.trace, patterns)) {
    Costs now(evidence);
    for (const trace::Pattern* pattern : site.patterns) now.add_sectors(*pattern);
    const Exchanged exchanged = after_exchange(evidence, site, *block);
    if (now.until(exchanged.costs)) sites.insert(site.site);
    before.add(now);
    after.add(exchanged.costs);
    is_exact &= exchanged.is_exact;
  }
  auto costs = before.until(after);
  if (!costs) return {};
  const std::string launch =
      block->rows == block->columns
          ? ""
          : fmt::format(" and blockDim.x and .y, and launch blocks of {} x {}", block->rows, block->columns);
  return {{.unit = CureUnit::sectors,
           .sites = places_of(evidence.trace, sites),
           .costs = std::move(*costs),
           .at_most = !is_exact,
           .sentence = fmt::format("exchange threadIdx.x and .y{}, if neighbours in threadIdx.y access "
                                   "neighbouring elements there, as their places in cache lines suggest",
                                   launch)}};
}

Cures global_structures(const Evidence& evidence, const Patterns& patterns, const ArrayFit* /*array*/) {
  Cures cures;
  std::map<std::int64_t, StructureSites> structures;
  for (const SiteAccesses& site : by_site(evidence.trace, patterns)) {
    const auto bytes = structure_bytes(site);
    if (!bytes || is_named(evidence, site.site)) continue;
    StructureSites& same = structures[*bytes];
    same.sites.insert(site.site);
    same.patterns.insert(same.patterns.end(), site.patterns.begin(), site.patterns.end());
  }
  for (const auto& [bytes, structure] : structures) {
    Costs before(evidence), after(evidence);
    for (const trace::Pattern* pattern : structure.patterns) {
      before.add_sectors(*pattern);
      after.add_sectors(spread(*pattern, pattern->width));
    }
    auto costs = before.until(after);
    if (!costs) continue;
    cures.push_back({.unit = CureUnit::sectors,
                     .sites = places_of(evidence.trace, structure.sites),
                     .costs = std::move(*costs),
                     .sentence = structures_sentence(
                         bytes, ", warps begin at a sector of each array, and no other kernel uses whole structures")});
  }
  return cures;
}

Cures shared_structures(const Evidence& evidence, const Patterns& patterns, const ArrayFit* array) {
  const auto element = std::uint32_t(array->shape.element);
  if (array->shape_inferred || element == 0) return {};
  const trace::Array& place = evidence.trace.arrays[array->arrays.front()];
  std::map<std::uint32_t, unsigned> members;  // width, by offset
  std::set<std::uint32_t> sites;
  Costs before(evidence), after(evidence);
  for (const trace::Pattern* pattern : patterns) {
    const auto moved = in_member_arrays(*pattern, place, element);
    if (!moved || banks::matrix_rows(pattern->operation) > 0 || banks::is_copy(pattern->operation)) return {};
    const std::uint32_t first = pattern->addresses[unsigned(std::countr_zero(pattern->mask))];
    const auto [member, is_new] = members.try_emplace((first - place.offset) % element, pattern->width);
    if (member->second != pattern->width) return {};
    sites.insert(pattern->site);
    before.add_passes(*pattern);
    after.add_passes(*moved);
  }
  std::uint32_t end = 0;
  for (const auto& [offset, width] : members) {
    if (offset < end || offset % width != 0) return {};
    end = offset + width;
  }
  auto costs = before.until(after);
  if (!costs || place.bytes == 0 || !beats_layout(evidence, *array, patterns, *costs)) return {};
  return {{.sites = places_of(evidence.trace, sites),
           .costs = std::move(*costs),
           .sentence = structures_sentence(element, "")}};
}

}  // namespace bankwise::fit
