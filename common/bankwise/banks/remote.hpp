// The shared memory of another block of a cluster: what one access of a warp moves. Source of the rule: an H200's
// counters of 333 accesses, l1tex__t_sectors_pipe_lsu_mem_dshared, tests/data/h200_dsmem.csv.
#pragma once

#include <optional>

#include <bankwise/banks/sectors.hpp>

namespace bankwise::banks {

/// As sectors(), but an atomic moves a sector as often as lanes share a word of it: `sectors` adds up, for each sector,
/// the most lanes on one of its words.
std::optional<SectorCost> remote_sectors(const Architecture& architecture, const Access& access);

}  // namespace bankwise::banks
