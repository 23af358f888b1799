// Global memory: what one access of a warp moves. Source of the rule: an H200's counters of 264 accesses,
// smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{ld,st,red,atom}, tests/data/h200_sectors.csv.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include <bankwise/banks/access.hpp>
#include <bankwise/banks/architecture.hpp>

namespace bankwise::banks {

/// The cost of an access to global memory. Lane groups play no part, and neither does the operation. On NVIDIA's GPUs
/// an access of 12 bytes is three of 4 bytes, as in shared memory, and the numbers are their sums.
struct SectorCost {
  unsigned sectors = 0;  ///< different sectors that the active lanes touch: each moves as a whole (NVIDIA: 32 bytes)
  unsigned ideal = 0;    ///< the fewest sectors that could hold `bytes`
  unsigned lines = 0;    ///< different cache lines: NVIDIA's are of four sectors
  unsigned bytes = 0;    ///< different bytes that the lanes ask for; lanes with equal addresses count once

  bool operator==(const SectorCost&) const = default;
};

/// The cost, for addresses of any alignment that count from a multiple of the line size. Nothing if the sectors of the
/// architecture are not known (Architecture::sectors says why), or if an active lane has no address. No allocation.
std::optional<SectorCost> sectors(const Architecture& architecture, const Access& access);

/// Accesses to global memory and their total cost. Bytes moved are sectors times the size of a sector.
struct SectorTally {
  std::uint64_t accesses = 0;  ///< instructions, counted per warp
  std::uint64_t lanes = 0;     ///< active lanes, added up
  std::uint64_t sectors = 0, ideal = 0, lines = 0, bytes = 0;
  std::uint64_t unknown = 0;  ///< accesses without a known cost; they are not in the four above

  /// Adds an access of the lanes in `mask`, made `times` times. `cost` is null if it has no known cost.
  void add(std::uint64_t mask, const SectorCost* cost, std::uint64_t times = 1) {
    accesses += times;
    lanes += times * unsigned(std::popcount(mask));
    if (cost == nullptr) {
      unknown += times;
      return;
    }
    sectors += times * cost->sectors;
    ideal += times * cost->ideal;
    lines += times * cost->lines;
    bytes += times * cost->bytes;
  }

  void add(const SectorTally& other) {
    accesses += other.accesses;
    lanes += other.lanes;
    sectors += other.sectors;
    ideal += other.ideal;
    lines += other.lines;
    bytes += other.bytes;
    unknown += other.unknown;
  }

  bool operator==(const SectorTally&) const = default;
};

}  // namespace bankwise::banks
