// What else than a layout would make a kernel's accesses cheaper. Each cure is named only where the recorded addresses
// show that it saves at least a tenth of what the accesses cost now.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
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

// --- Internal to bankcheck/fit: the proofs ---

using Cures = std::vector<Cure>;
using Patterns = std::vector<const trace::Pattern*>;

/// What proofs start from.
struct Evidence {
  const trace::KernelTrace& trace;
  const Architectures& architectures;
  const Cures& cures;  ///< found so far
};

/// Whether the warps of the trace are those of all architectures.
bool has_whole_warps(const Evidence& evidence);

/// What accesses cost, added up by architecture.
class Costs {
 public:
  explicit Costs(const Evidence& evidence) : evidence_(&evidence), sums_(evidence.architectures.size()) {}
  /// An access to shared memory in `times` times as many executions.
  void add_passes(const trace::Pattern& pattern, std::uint64_t times = 1);
  void add_sectors(const trace::Pattern& pattern);
  /// The same number on each architecture.
  void add(std::uint64_t cost);
  void add(const Costs& other);
  bool operator==(const Costs& other) const { return sums_ == other.sums_ && known_ == other.known_; }
  /// Each of them becomes the larger one of the two.
  void raise_to(const Costs& other);
  /// Nothing if some access has no known cost, or if the saving is below a tenth on some architecture.
  std::optional<std::vector<CureCost>> until(const Costs& after) const;
  std::uint64_t on(std::size_t architecture) const { return sums_[architecture]; }

 private:
  const Evidence* evidence_;
  std::vector<std::uint64_t> sums_;
  bool known_ = true;
};

/// Whether these accesses to an array cost less with a cure than in the proposed layout; `or_as_much`: not more.
bool beats_layout(const Evidence& evidence, const ArrayFit& array, const Patterns& patterns,
                  const std::vector<CureCost>& costs, bool or_as_much = false);

/// Addresses that grow by the same number of bytes from lane to lane; 0: all lanes have one address.
struct LaneStride {
  std::int64_t begin = 0, bytes = 0;  ///< of lane 0, active or not
};
/// Nothing for fewer than two active lanes, or for other addresses.
std::optional<LaneStride> lane_stride(const trace::Pattern& pattern);

/// The accesses of a site with one operation and width.
struct SiteAccesses {
  std::uint32_t site = 0;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;
  Patterns patterns;
};
/// In the order of their places in the source.
std::vector<SiteAccesses> by_site(const trace::KernelTrace& trace, const Patterns& patterns);

/// Each place once, in order.
std::vector<trace::Site> places_of(const trace::KernelTrace& trace, const std::set<std::uint32_t>& sites);

/// A load or a store of a lane: no atomic, no matrix, no copy.
inline bool is_plain(banks::Operation operation) {
  return operation == banks::Operation::load || operation == banks::Operation::store;
}

/// Proofs, from all accesses to an array, of which there are some, or to global memory: `array` is then null. The kind
/// of a cure and its array are set by the caller.
using Proof = Cures(const Evidence& evidence, const Patterns& patterns, const ArrayFit* array);
Proof wide_accesses, sequential_addressing, shuffles, registers, sums_in_warps, copies, exchanged_roles,
    global_structures, shared_structures;

}  // namespace bankwise::fit
