// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

/// Ends the lists of a pattern with the last active lane, and writes 0 where lanes are inactive.
void normalize(Pattern& pattern);

/// Gives the sites and arrays of a pattern other numbers. Error: std::out_of_range.
void renumber(Pattern& pattern, const std::vector<std::uint32_t>& sites, const std::vector<std::uint32_t>& arrays);

/// How much a builder remembers. A pattern of 64 lanes takes about 500 bytes.
struct Bound {
  std::size_t bytes = std::size_t{64} << 20;
  /// That accesses without room are costed on. With none of them, they are counted alone.
  std::vector<const banks::Architecture*> architectures;
};

/// Makes a KernelTrace: finds what is the same, counts it, and keeps to a bound. Sites, arrays and counts of launches
/// are outside of the bound; a kernel has as many of these as it has source. One thread's.
class Builder {
 public:
  /// `head` is a trace, mostly an empty one, that all is added to.
  explicit Builder(KernelTrace head, Bound bound = {});

  std::uint32_t site(const Site& site);
  std::uint32_t array(const Array& array);

  /// Counts `pattern.count` accesses whose first one is `pattern.first`; site and array are this builder's, and the
  /// pattern is normalized. Returns its number, or nothing if there was no room for it.
  std::optional<std::uint32_t> add(const Pattern& pattern);
  void add(const Participants& participants);
  void add(const BasicBlock& block);
  void add(const Excess& excess);
  void add(const Shape& shape);

  /// The number of each pattern of another trace here, where there was room for it.
  using Numbers = std::vector<std::optional<std::uint32_t>>;

  /// Adds another trace of the kernel, whose launches followed; its `order` is not looked at.
  Numbers add(const KernelTrace& other);
  /// The same, where the other's sites and arrays have these numbers here.
  Numbers add_with(const KernelTrace& other, const std::vector<std::uint32_t>& sites,
                   const std::vector<std::uint32_t>& arrays);

  /// Counts one access of a pattern as another operation instead; `first` says which one. Returns its new number.
  std::optional<std::uint32_t> change_operation(std::uint32_t pattern, banks::Operation to, const Occurrence& first);

  /// So far, and for what else stands there: `order` for instance is the producer's.
  KernelTrace& trace() { return trace_; }
  const KernelTrace& trace() const { return trace_; }

  /// The trace, without patterns of count 0. The builder is spent.
  KernelTrace take();

 private:
  using ExcessKey = std::tuple<std::uint32_t, std::uint32_t, banks::Operation, unsigned, std::uint32_t, std::string>;

  std::uint32_t use(std::uint32_t level);
  void add_excess(const Pattern& pattern);

  KernelTrace trace_;
  Bound bound_;
  std::size_t bytes_ = 0;
  std::map<Site, std::uint32_t> sites_;
  std::map<Array, std::uint32_t> arrays_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> patterns_;               // by hash
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> participants_;  // by level and mask
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> basic_blocks_;  // by level and site
  std::map<ExcessKey, std::size_t> excess_;
};

/// Puts sites, arrays and all that is counted into an order that does not depend on threads: patterns by their first
/// occurrence.
void put_in_order(KernelTrace& kernel);

}  // namespace bankwise::trace
