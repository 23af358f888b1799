// Internal to bankcheck/fit: the proofs of cures.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "bankcheck/fit/cures.hpp"
#include "bankcheck/fit/fit.hpp"

namespace bankwise::fit {

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
