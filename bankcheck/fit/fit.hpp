// The best change of each array of a kernel, from the accesses that a trace has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/trace/report.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/fit/accesses.hpp"
#include "bankcheck/fit/code.hpp"

namespace bankwise::fit {

/// A change, and what it is worth.
struct Option {
  Change change;
  std::uint64_t passes = 0;  ///< over all architectures
  std::uint64_t bytes = 0;   ///< the size of the array afterwards
};

struct SearchResult {
  std::vector<Option> best_of_kind;  ///< fewest passes, then fewest bytes; identity first
  std::vector<Option> simple;        ///< the best longer rows, and the best change of the last index alone, if any
  std::vector<Option> front;         ///< no change has fewer passes with as few bytes; by bytes
  std::size_t family = 0;            ///< changes that the constraints allow
  std::size_t tried = 0;             ///< those decided exactly, by evaluation or by a bound
  std::uint64_t work = 0;            ///< lane groups evaluated
  bool exhaustive() const { return tried == family; }
};

struct SearchBudget {
  std::uint64_t bytes = ~std::uint64_t{0};  ///< that the array may have
  /// Lane groups to evaluate for combinations of two parameter groups; what remains is not tried. Changes with one
  /// group are always tried.
  std::uint64_t work = std::uint64_t{300} * 1000 * 1000;
};

/// Only changes that can be written for the shape take part. Among equal ones those that are simplest to write win.
SearchResult search(const Accesses& accesses, const Family& family, const ArrayShape& shape,
                    const SearchBudget& limits);

enum class FitVerdict {
  no_conflicts,  ///< there is nothing to remove
  removed,       ///< no conflict remains that any layout could remove
  reduced,       ///< fewer conflicts
  chance,        ///< the best change saves no more than changes save of random accesses by chance
  none,          ///< no change of the family saves anything
  fixed,         ///< no change can be made: AccessFacts::why_fixed
};
std::string_view to_string(FitVerdict verdict);

/// An option of the search with its passes on each architecture.
struct PricedOption {
  Option option;
  std::vector<std::uint64_t> passes;
};

/// One array, or several that are changed alike because accesses touch several of them, or they share a name.
struct ArrayFit {
  std::vector<std::uint32_t> arrays;  ///< indices into the trace
  std::string name;                   ///< "a" or "a, b"
  ArrayShape shape;
  bool shape_inferred = false;  ///< from the accesses, for want of a declaration
  AccessFacts facts;
  FitVerdict verdict = FitVerdict::none;
  std::vector<PricedOption> options;  ///< the identity, the best of each kind, and the best that are simple to write
  std::vector<PricedOption> front;    ///< passes against bytes
  /// Index into options, 0 unless the verdict is removed or reduced: the best, or one that saves nearly as much and is
  /// simpler to write.
  std::size_t chosen = 0;
  std::size_t best = 0;           ///< index of the option with the fewest passes, worth it or not
  std::uint64_t ideal = 0;        ///< passes without any conflict
  std::uint64_t bound = 0;        ///< no layout has fewer passes
  std::uint64_t bytes_limit = 0;  ///< the array may not be larger
  std::size_t family = 0, tried = 0;
  std::vector<std::string> doubts;  ///< why nothing is claimed to be the best: a sentence each

  const PricedOption& before() const { return options.front(); }
  const PricedOption& after() const { return options[chosen]; }
};

struct FitLimits {
  std::optional<std::uint64_t> max_shared;  ///< bytes of a block; the smallest limit of the architectures by default
  bool keep_occupancy = false;
};

struct KernelFit {
  std::vector<ArrayFit> arrays;              ///< by conflicts, the most first; without arrays that have no accesses
  std::vector<trace::Report> before, after;  ///< per architecture, with all chosen changes applied
  std::uint64_t shared_before = 0, shared_after = 0;  ///< bytes of all arrays
  std::vector<trace::Array> places;                   ///< the trace's arrays
  std::uint64_t threads = 0;                          ///< the size of the largest block; 0: not known
};

/// The shapes of arrays whose declarations are known, by their indices in the trace.
using KnownShapes = std::map<std::uint32_t, ArrayShape>;

/// Error: std::invalid_argument for an architecture whose warps the trace's do not split into.
KernelFit fit_kernel(const trace::KernelTrace& trace, const Architectures& architectures, const KnownShapes& shapes,
                     const FitLimits& limits);

/// Whether some array is changed.
bool changes_something(const KernelFit& fit);

}  // namespace bankwise::fit
