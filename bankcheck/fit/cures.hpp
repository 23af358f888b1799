// What else than a layout would make a kernel's accesses cheaper. Each cure is named only where the recorded addresses
// show that it saves at least a tenth of what the accesses cost now.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/fit/accesses.hpp"

namespace bankwise::fit {

struct ArrayFit;

enum class CureKind {
  wide_accesses,          ///< neighbouring words of a lane in one access
  sequential_addressing,  ///< a tree of sums whose lanes are 2, 4, 8, ... elements apart
  shuffles,               ///< values that only lanes of one warp exchange
  registers,              ///< one word that all lanes load again and again
  sums_in_warps,          ///< atomics whose lanes have few addresses
  copies,                 ///< a histogram of which lanes have copies
  exchanged_roles,        ///< threadIdx.x counts rows, and threadIdx.y elements of a row
  structure_of_arrays,    ///< lanes as far apart as structures
};

/// What a cure saves: passes of shared memory, sectors of global memory, or updates, the active lanes of atomics.
enum class CureUnit { passes, sectors, updates };

struct CureCost {
  std::uint64_t before = 0, after = 0;
};

struct Cure {
  CureKind kind = CureKind::wide_accesses;
  CureUnit unit = CureUnit::passes;
  std::string array{};             ///< in shared memory; "" for global memory
  std::vector<trace::Site> sites;  ///< those that change, without those of zeroing and adding up; never empty
  std::vector<CureCost> costs;     ///< by architecture; of all accesses that the cure changes
  std::uint64_t shuffles = 0;      ///< that warps execute instead
  bool at_most = false;            ///< CureCost::after is an upper bound
  std::string sentence;            ///< what to do, and what is assumed
};

/// "wider accesses".
std::string_view to_string(CureKind kind);
std::string_view to_string(CureUnit unit);

/// The cures of a kernel. `arrays`: what fit_kernel() found for its arrays; a cure of shared memory is named only if it
/// saves more than the proposed layout.
std::vector<Cure> cures_of(const trace::KernelTrace& trace, const Architectures& architectures,
                           const std::vector<ArrayFit>& arrays);

}  // namespace bankwise::fit
