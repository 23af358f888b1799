#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

/// Renumbers the site and the arrays of a pattern. Error: std::out_of_range.
void renumber(Pattern& pattern, const std::vector<std::uint32_t>& sites, const std::vector<std::uint32_t>& arrays);

/// How many patterns a builder remembers. A pattern of 64 lanes takes about 500 bytes.
struct Bound {
  std::size_t bytes = std::size_t{64} << 20;
  /// Accesses that do not fit are costed on these architectures. If there are none, accesses are only counted.
  std::vector<const banks::Architecture*> architectures;
  std::optional<std::size_t> global_bytes{};  ///< likewise for sectors, each memory; nothing: as much as `bytes`
};

/// Builds a KernelTrace: merges equal accesses, counts them, and respects a bound. Sites, arrays and counts of launches
/// are not bounded; their number depends on the kernel's source. Not thread-safe.
class Builder {
 public:
  /// `head` is a trace, usually an empty one, that everything is added to.
  explicit Builder(KernelTrace head, Bound bound = {});

  std::uint32_t site(const Site& site);
  std::uint32_t array(const Array& array);

  /// Counts `pattern.count` accesses, the first of which is `pattern.first`. Site and array are this builder's, and the
  /// pattern is normalized. Returns its index, or nothing if it does not fit.
  std::optional<std::uint32_t> add(const Pattern& pattern);
  /// The same for `global_patterns` and `remote_patterns`, which have memory of their own.
  std::optional<std::uint32_t> add_global(const Pattern& pattern, SectorMemory memory = SectorMemory::global);
  void add(const GlobalExcess& excess, SectorMemory memory = SectorMemory::global);
  void add(const EngineAccesses& accesses);
  void add(const LocalAccesses& accesses);
  void add(Participants participants);
  void add(BasicBlock block);
  void add(Excess excess);
  void add(const LaunchShape& shape);
  /// Diagnoses of one fault and the same places are one, with the text of the first occurrence.
  void add(const DiagnosisRecord& diagnosis);

  /// The index here of each pattern of another trace, if it fitted.
  using Numbers = std::vector<std::optional<std::uint32_t>>;

  /// Adds another trace of the kernel whose launches came later; ignores its `order`.
  Numbers add(const KernelTrace& other);
  /// The same, with these indices for the other trace's sites and arrays.
  Numbers add_with(const KernelTrace& other, const std::vector<std::uint32_t>& sites,
                   const std::vector<std::uint32_t>& arrays);

  /// Sets the second count of the accesses so far, from patterns with this builder's sites and arrays.
  void set_merged(const std::vector<Pattern>& patterns);

  /// Moves one access of a pattern to another operation; `first` identifies the access. Returns its new index.
  std::optional<std::uint32_t> change_operation(std::uint32_t pattern, banks::Operation to, const Occurrence& first);

  /// The trace so far. The producer fills the members that the builder does not, for example `order`.
  KernelTrace& trace() { return trace_; }
  const KernelTrace& trace() const { return trace_; }

  /// The trace, without patterns of count 0. The builder must not be used afterwards.
  KernelTrace take();

 private:
  using DiagnosisKey = std::tuple<Fault, std::uint32_t, std::uint32_t, bool, bool>;
  using GlobalKey = std::tuple<std::string, std::uint32_t, banks::Operation, unsigned>;
  using ExcessKey = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, banks::Operation, unsigned>;

  /// Patterns by hash, in a list of the trace.
  struct PatternIndex {
    std::unordered_multimap<std::uint64_t, std::uint32_t> numbers;
    std::size_t bytes = 0;
    /// Adds to an equal pattern of the list, or at its end if it fits.
    std::optional<std::uint32_t> add(const Pattern& pattern, std::vector<Pattern>& list, std::size_t max_bytes);
  };

  std::uint32_t use(std::uint32_t level);
  void add_excess(const Pattern& pattern);
  void add_global_excess(const Pattern& pattern, SectorMemory memory);
  void add_merged(const std::vector<Pattern>& patterns);

  KernelTrace trace_;
  Bound bound_;
  std::map<Site, std::uint32_t> sites_;
  std::map<Array, std::uint32_t> arrays_;
  PatternIndex patterns_, merged_;
  std::array<PatternIndex, sector_memory_count> sectors_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> participants_;  // by level and mask
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> basic_blocks_;  // by level and site
  std::map<ExcessKey, std::size_t> excess_;
  std::array<std::map<GlobalKey, std::size_t>, sector_memory_count> sector_excess_;
  std::map<std::tuple<std::uint32_t, banks::Operation, unsigned>, std::size_t> local_accesses_;
  std::map<std::pair<std::uint32_t, banks::EngineWork>, std::size_t> engines_;  // by site
  std::map<DiagnosisKey, std::size_t> diagnoses_;
  std::map<std::pair<std::array<std::uint64_t, 3>, std::array<std::uint64_t, 3>>, std::size_t> shapes_;
};

/// Sorts sites, arrays and all counts into an order that does not depend on threads: patterns by first occurrence.
void put_in_order(KernelTrace& kernel);

}  // namespace bankwise::trace
