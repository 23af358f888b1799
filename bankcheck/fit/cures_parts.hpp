// Internal to bankcheck/fit: the proofs of cures.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "bankcheck/fit/cures.hpp"
#include "bankcheck/fit/fit.hpp"

namespace bankwise::fit {

/// What proofs start from.
struct Evidence {
  const trace::KernelTrace& trace;
  const Architectures& architectures;
  const std::vector<ArrayFit>& arrays;
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
bool beats_layout(const Evidence& evidence, const ArrayFit& array, const std::vector<const trace::Pattern*>& patterns,
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
  std::vector<const trace::Pattern*> patterns;
};
/// In the order of their places in the source.
std::vector<SiteAccesses> by_site(const trace::KernelTrace& trace, const std::vector<const trace::Pattern*>& patterns);

/// Each place once, in order.
std::vector<trace::Site> places_of(const trace::KernelTrace& trace, const std::set<std::uint32_t>& sites);

/// The accesses to an array, if the trace knows all of them and where they are; else none.
std::vector<const trace::Pattern*> all_accesses(const Evidence& evidence, const ArrayFit& array);
/// The same for global memory.
std::vector<const trace::Pattern*> all_global_accesses(const Evidence& evidence);

using Cures = std::vector<Cure>;
void add_wide_accesses(const Evidence& evidence, Cures& cures);
void add_sequential_addressing(const Evidence& evidence, Cures& cures);
void add_shuffles(const Evidence& evidence, Cures& cures);
void add_registers(const Evidence& evidence, Cures& cures);
void add_sums_in_warps(const Evidence& evidence, Cures& cures);
void add_copies(const Evidence& evidence, Cures& cures);
void add_exchanged_roles(const Evidence& evidence, Cures& cures);
void add_structures_of_arrays(const Evidence& evidence, Cures& cures);

}  // namespace bankwise::fit
