// How an architecture's warps execute a pattern.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>

#include <bankwise/banks/cost.hpp>
#include <bankwise/banks/remote.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

// Atomics that shared memory has no instruction for: sums of floating-point numbers, and most operations on 64 bits.
// For compute capability 7.5 to 10.0 nvcc 13.0 makes each of them a loop: LDS, the operation, ATOMS.CAST.SPIN, and
// again for the lanes whose word changed in between.

/// Whether a pattern is one turn of such a loop, as it was watched on a GPU.
inline bool is_turn(const Pattern& pattern) {
  return pattern.is_loop && pattern.operation == banks::Operation::atomic_cas;
}

/// The least cost of such a loop, and how much more it may be.
struct LoopCost {
  banks::Cost least;
  unsigned more = 0;  ///< passes, all of them conflicts
};

/// Least: no other warp updates the words. Each turn of the loop serves one lane of each bank (8 bytes: in each half of
/// the warp), whether the lanes of a bank share a word or not, so the load is repeated for the others; measured on
/// compute capability 9.0 (tests/data/h200_atomics.csv). Most: all `block_warps` warps of the block update the same
/// words at the same time, so there are that many times as many turns, each with all lanes. Nothing without
/// `block_warps`, for operations that are not one whole loop (a watched compare-and-swap is a turn), or if the
/// architecture has no rule for one of the accesses.
std::optional<LoopCost> loop_cost(const banks::Architecture& architecture, banks::Operation operation,
                                  const banks::Access& access, unsigned block_warps);

/// One sentence that explains the range.
inline constexpr const char* loop_range_reason =
    "an atomic without an instruction is a loop of a load and a compare-and-swap: the range is from no other warp "
    "updating its words to all warps of the block updating them at the same time";

/// One of the warps that a pattern's lanes fill.
struct WarpAccess {
  unsigned number = 0;      ///< within the pattern
  std::uint32_t array = 0;  ///< the array of its first active lane
  bool mixed = false;
  banks::Access access;
  std::variant<banks::Cost, std::string> answer;  ///< or why there is no cost
  unsigned more = 0;  ///< passes, all of them conflicts, that a loop may take beyond its cost, which is the least

  const banks::Cost* cost() const { return std::get_if<banks::Cost>(&answer); }
  void add_to(banks::Tally& tally, std::uint64_t count) const {
    tally.add(access.mask, cost(), count);
    tally.more_passes += count * more;
    tally.more_conflicts += count * more;
  }
};

/// The number of the architecture's warps that make one of the trace's; 0 if the trace's warps do not split that way.
inline unsigned warps_in(const KernelTrace& kernel, const banks::Architecture& architecture) {
  if (kernel.warp == architecture.warp || (!kernel.splits && kernel.warp == architecture.lanes)) return 1;
  return kernel.splits && kernel.warp % architecture.warp == 0 ? kernel.warp / architecture.warp : 0;
}

/// Fills in the cost, or why there is none. `block_warps`: the most warps of a block, 0 if that is unknown. A watched
/// turn of a loop is all conflict if a lane has to try again, so the conflicts of a loop are its turns but the last.
void find_cost(const banks::Architecture& architecture, const Pattern& pattern, unsigned block_warps,
               WarpAccess& access);

/// The lanes of one of `warps` equal parts of a warp, moved to bit 0.
inline std::uint64_t lanes_in(std::uint64_t mask, unsigned lanes, unsigned number) {
  return mask >> lanes * number & ~std::uint64_t{0} >> (banks::max_lanes - lanes);
}

/// Calls `visit(number, first, access)` for each of the `warps` parts that has an active lane: its number within the
/// pattern, its first lane, and its access, from lane 0 on; `warps` is not 0.
template <class Visit>
void for_each_part(const Pattern& pattern, unsigned warp, unsigned warps, Visit visit) {
  const unsigned lanes = warp / warps;  // NOLINT(clang-analyzer-core.DivideZero): at least 1
  for (unsigned number = 0; number < warps; ++number) {
    const std::uint64_t mask = lanes_in(pattern.mask, lanes, number);
    if (mask == 0) continue;
    const unsigned first = number * lanes, last = banks::max_lanes - unsigned(std::countl_zero(mask));
    banks::Access access{pattern.operation, pattern.width, mask, std::span(pattern.addresses).subspan(first, last)};
    if (!pattern.sources.empty()) access.sources = std::span(pattern.sources).subspan(first, last);
    visit(number, first, access);
  }
}

/// Calls `visit(const WarpAccess&)` for each part as above. `block_warps` as in find_cost().
template <class Visit>
void for_each_warp(const Pattern& pattern, unsigned warp, unsigned warps, const banks::Architecture& architecture,
                   unsigned block_warps, Visit visit) {
  for_each_part(pattern, warp, warps, [&](unsigned number, unsigned first, const banks::Access& part) {
    WarpAccess access{.number = number, .array = pattern.array, .access = part};
    if (!pattern.lane_arrays.empty()) {
      access.array = pattern.lane_arrays[first + unsigned(std::countr_zero(part.mask))];
      banks::for_each_lane(part.mask,
                           [&](unsigned lane) { access.mixed |= pattern.lane_arrays[first + lane] != access.array; });
    }
    find_cost(architecture, pattern, block_warps, access);
    visit(access);
  });
}

/// One of the warps that the lanes of a pattern in global memory fill.
struct GlobalWarpAccess {
  unsigned number = 0;  ///< within the pattern
  banks::Access access;
  std::optional<banks::SectorCost> cost;
};

/// Calls `visit(const GlobalWarpAccess&)` for each part as above. The addresses of a part count from a cache line, too,
/// but not from its own.
template <class Visit>
void for_each_global_warp(const Pattern& pattern, SectorMemory memory, unsigned warp, unsigned warps,
                          const banks::Architecture& architecture, Visit visit) {
  for_each_part(pattern, warp, warps, [&](unsigned number, unsigned, const banks::Access& access) {
    visit(GlobalWarpAccess{number, access,
                           memory == SectorMemory::remote ? banks::remote_sectors(architecture, access)
                                                          : banks::sectors(architecture, access)});
  });
}

}  // namespace bankwise::trace
