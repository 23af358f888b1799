// The accesses of a kernel to one array, or to several that are changed together, in a form that costs little to
// evaluate for thousands of changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/trace.hpp>
#include <bankwise/trace/warps.hpp>
#include "bankcheck/fit/change.hpp"
#include "bankcheck/fit/index.hpp"

namespace bankwise::fit {

/// Lane groups whose passes depend on the layout. Those with the same blocks in the same slots are one.
struct GroupTable {
  struct LaneGroup {
    std::size_t begin = 0;
    unsigned blocks = 0, shift = 2, slots = 32;
    std::uint32_t bound = 1, now = 1;  // fewest passes, and those of the identity
    std::uint64_t weight = 0;          // over all architectures
  };
  std::size_t architectures = 1;
  std::vector<std::uint32_t> pool;  // the sorted blocks of all lane groups
  std::vector<LaneGroup> groups;
  std::vector<std::uint64_t> weights;                           // by lane group and architecture
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash;  // indices of lane groups
  std::map<std::uint32_t, std::uint64_t> strides;               // by distance: how many passes it costs

  /// The index of the lane group with these blocks.
  std::size_t find_or_add(const std::vector<std::uint32_t>& blocks, unsigned shift, unsigned slots);
};

inline constexpr unsigned chunk_width = 8;
/// Offsets in chunks are smaller, so that dividing them as floats is exact.
inline constexpr std::uint64_t max_chunk_offset = std::uint64_t{1} << 22;
inline constexpr unsigned max_chunk_blocks = 255, max_chunk_slots = 32;

/// Eight lane groups of `blocks` blocks each. A block has 2^shift bytes and lies in one of `slots` equal parts of the
/// banks, a power of two. Block b of lane group g begins at byte offsets[8 * b + g] of its array.
struct Chunk {
  unsigned blocks = 0, shift = 2, slots = 32;
  const std::int32_t* offsets = nullptr;
};

/// For each lane group the most blocks in one slot.
using ChunkCost = std::array<std::uint32_t, chunk_width>;

/// Where the change moves the blocks of `count` chunks, as the number of blocks in the fullest slot.
void chunk_costs(const Change& change, const Chunk* chunks, std::size_t count, ChunkCost* costs);

using Architectures = std::vector<const banks::Architecture*>;

/// What the accesses say about their arrays.
struct AccessFacts {
  std::uint64_t extent = 0;    ///< bytes of the largest array
  bool extent_known = true;    ///< false: as far as the accesses reach
  unsigned narrowest = 16;     ///< bytes per lane
  unsigned alignment = 1;      ///< bytes: a multiple of it keeps each access aligned and whole, or in parts of 4 bytes
  bool stored = false;         ///< some access writes
  std::uint64_t patterns = 0;  ///< distinct accesses of warps
  std::uint64_t accesses = 0;  ///< with their counts
  std::uint64_t executions = 0;  ///< of an access by a warp of an architecture, over all of them
  std::uint64_t unknown = 0;     ///< accesses that have no cost on some architecture, in that architecture's warps
  std::uint64_t loops = 0;       ///< atomics without an instruction, counted at their least
  std::uint64_t mixed = 0;       ///< accesses that touch several arrays
  std::uint32_t stride = 0;      ///< distance of lanes whose accesses have most conflicts; 0: no conflicts
  std::string why_fixed;         ///< if no change can be evaluated: a sentence
  FamilyBounds bounds;
};

/// Passes that a change saves on the accesses that become cheaper, and costs on the others.
struct Difference {
  std::uint64_t gain = 0, harm = 0;
  double squares = 0;  ///< the sum of the squared differences of all lane groups
};

/// The numbers of the patterns whose first array is one of these.
std::vector<std::uint32_t> patterns_of(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays);

struct OwnAccesses;

class Accesses {
 public:
  /// `arrays`: indices into the trace, which must outlive the object. Error: std::invalid_argument for an architecture
  /// whose warps the trace's do not split into.
  Accesses(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays,
           const Architectures& architectures);

  Accesses(Accesses&&) noexcept;
  ~Accesses();
  Accesses(const Accesses&) = delete;
  Accesses& operator=(const Accesses&) = delete;

  const AccessFacts& facts() const { return facts_; }
  const std::vector<std::uint32_t>& arrays() const { return arrays_; }
  std::uint64_t ideal() const { return ideal_; }
  /// No change has fewer passes: lanes that queue for one word, for instance, do so in every layout.
  std::uint64_t bound() const { return constant_ + rest_bound_.front() + slow_bound_; }

  /// Notes which accesses were merged from several elements (compiled_accesses.hpp): changes that part these cost what
  /// the single ones do. Changes facts().bounds.
  void expect_merged(const ArrayShape& shape);
  /// These accesses, and then those that are left of them after changes.
  std::vector<const Accesses*> variants() const;
  /// What the machine code accesses after a change.
  const Accesses& after(const Change& change) const;

  /// Whether no access is torn apart. Only 12-byte accesses can be, by changes of the family.
  bool keeps_together(const Change& change) const;

  /// Passes over all architectures; nothing if they exceed `limit`, found as early as possible. A change that takes the
  /// bytes of a word apart, as no change of the family does, is costed access by access.
  std::optional<std::uint64_t> passes(const Change& change, std::uint64_t limit = ~std::uint64_t{0}) const;
  /// Passes of each architecture.
  std::vector<std::uint64_t> passes_by_architecture(const Change& change) const;
  Difference difference(const Change& before, const Change& changed) const;

  // The parts of passes(), for evaluating many changes block by block. The change must be one that after() gives this
  // object for.
  std::size_t blocks() const { return (chunks_.size() + chunks_per_block - 1) / chunks_per_block; }
  std::uint64_t constant() const { return constant_; }
  std::uint64_t block_passes(const Change& change, std::size_t block) const;
  /// At least so many passes are in the blocks from this one on and in slow_passes().
  std::uint64_t rest_bound(std::size_t block) const { return rest_bound_[block] + slow_bound_; }
  /// The passes of accesses whose rules have no fast form.
  std::optional<std::uint64_t> slow_passes(const Change& change, std::uint64_t limit) const;
  std::size_t slow_count() const { return slow_.size(); }
  /// Lane groups of a block, for counting work.
  static constexpr std::size_t chunks_per_block = 64;

 private:
  struct Slow {
    std::uint32_t pattern, architecture;
    std::uint64_t ideal;
  };
  template <class Visit>
  void for_each_warp(const trace::Pattern& pattern, const banks::Architecture& architecture, Visit visit) const;
  void add_pattern(std::uint32_t number, GroupTable& groups);
  void add_lane_groups(const trace::Pattern& pattern, std::size_t architecture, const banks::Rule& rule,
                       const trace::WarpAccess& warp, GroupTable& groups);
  void note_facts(const trace::Pattern& pattern);
  void make_chunks(GroupTable& groups);
  std::uint64_t slow_cost(const Slow& slow, const Placement& placement) const;
  Placement placement_of(const Change& change) const;
  std::vector<std::uint64_t> passes_by_access(const Change& change) const;

  const trace::KernelTrace& trace_;
  std::vector<std::uint32_t> arrays_;
  Architectures architectures_;
  AccessFacts facts_;
  std::vector<std::uint32_t> triples_;  // offsets of 12-byte accesses
  std::uint64_t constant_ = 0, ideal_ = 0, slow_bound_ = 0;
  std::vector<std::uint64_t> constants_;  // by architecture
  std::vector<std::int32_t> offsets_;
  std::vector<Chunk> chunks_;
  std::vector<std::array<std::uint64_t, chunk_width>> weights_;  // one for each lane group of a chunk
  std::vector<std::vector<std::array<std::uint64_t, chunk_width>>> weights_by_;
  std::vector<std::uint64_t> rest_bound_;  // by block: the bound for it and those after it
  std::vector<Slow> slow_;
  ArrayShape merged_shape_;
  unsigned merged_ = 0;  // bytes of the widest merged access
  /// Into accesses of half as many bytes, and so on.
  std::vector<std::pair<unsigned, std::unique_ptr<OwnAccesses>>> splits_;
};

/// Accesses with a trace of their own.
struct OwnAccesses {
  trace::KernelTrace trace;
  Accesses accesses;
  OwnAccesses(trace::KernelTrace own, const std::vector<std::uint32_t>& arrays, const Architectures& architectures)
      : trace(std::move(own)), accesses(trace, arrays, architectures) {}
};

}  // namespace bankwise::fit
