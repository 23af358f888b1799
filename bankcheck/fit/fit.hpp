// The best change of each array of a kernel, from the accesses that a trace has.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/trace/report.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/fit/accesses.hpp"
#include "bankcheck/fit/cures.hpp"
#include "bankcheck/fit/index.hpp"

namespace bankwise::fit {

/// The passes after a change, as far as they are certain: a compiler sees a new index, and may merge or save other
/// accesses than before.
struct Prediction {
  std::vector<std::uint64_t> least;                ///< passes on each architecture
  std::optional<std::vector<std::uint64_t>> most;  ///< nothing: not known
  bool of_recorded = false;                        ///< some accesses did not fit into the trace, and may change, too
  bool is_exact() const { return !of_recorded && most == least; }
};

/// Whether a run has the passes of the prediction; nothing if that says nothing about all of them.
std::optional<bool> holds(const Prediction& prediction, std::size_t architecture, std::uint64_t observed);

/// Of changes of some arrays that are changed alike.
class Predictor {
 public:
  /// All arguments must outlive it.
  Predictor(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays, const ArrayShape& shape,
            const Architectures& architectures);
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;
  /// `passes`: those of the change that Accesses expects.
  Prediction operator()(const Change& change, const std::vector<std::uint64_t>& passes) const;

 private:
  using Passes = std::vector<std::uint64_t>;
  using Widths = std::vector<unsigned>;  // bytes of the parts of each pattern
  trace::KernelTrace trace_of(std::vector<trace::Pattern> patterns) const;
  Passes passes_of(const Widths& widths, const Change& change) const;
  Widths widths_without_torn(const Change& change) const;
  Widths widths_of_parts(unsigned bytes) const;
  Passes passes_of_saved_loads(const Change& change) const;
  bool may_merge_more(const Change& change, IndexForm form) const;

  const trace::KernelTrace& trace_;
  const std::vector<std::uint32_t>& arrays_;
  const ArrayShape& shape_;
  const Architectures& architectures_;
  std::vector<trace::Pattern> patterns_;  // of the arrays
  bool is_recorded_ = true, is_mixed_ = false, is_wide_ = false;
  mutable std::map<Widths, std::unique_ptr<OwnAccesses>> parts_;
};

/// A change, and what it is worth.
struct Option {
  Change change;
  std::uint64_t passes = 0;   ///< over all architectures
  std::uint64_t bytes = 0;    ///< the size of the array afterwards
  unsigned instructions = 0;  ///< that its index adds to each access: index_instructions()
  /// Of a multiprocessor, over all architectures: cycles_of().
  double cycles = 0;
  std::uint64_t parted = 0;  ///< executions of accesses that the compiler no longer merges: expect_merged()
  unsigned operators = 0;    ///< of the index: index_operators()
  bool is_plain = false;     ///< is_plain_pad()
  bool divides = false;      ///< divides_index()
  bool is_crowded = false;   ///< its bytes leave room for fewer resident blocks than before
};

/// A change with its bytes and what its index costs. `extent`: bytes of the array.
Option option_of(const Change& change, const ArrayShape& shape, std::uint64_t extent);

/// Cycles of one multiprocessor: it makes one pass per cycle (report/busy.hpp), and issues four instructions of warps.
/// The longer of the two decides: the passes, or the accesses and the instructions that the index adds. Besides, a
/// quarter of the added instructions is taken as not hidden behind anything, which is a guess: of two transposes on an
/// H200 that differ in one instruction per access, tile32_padded.cuh and swizzled.cuh, the second takes 2 to 4 % longer
/// (transpose/README.md), and this function says 6 %. `executions`: how often a warp executes an access.
double estimated_cycles(std::uint64_t passes, unsigned instructions, std::uint64_t executions);

/// The same, and the issue of each access that the compiler no longer merges with a neighbour: nothing hides these.
/// `executions`: after the change.
double cycles_of(const Option& option, std::uint64_t executions);

/// The index of the proposal among options, of which the first is the identity: of those within 2 % of the fewest
/// estimated cycles, or with one instruction more, and no more passes and operators, one with the fewest passes of all;
/// then one that takes no room from other blocks; then a plain pad, also if it saves only 95 % of the cycles; then the
/// fewest operators, bytes, cycles, passes, and the first. 0 if none saves cycles and 1 % of the passes, or 25 % if its
/// index has a division. An array that is longer by more than a quarter has one pad or XOR, and saves a tenth more than
/// any shorter one; so does one of more than twice the bytes. Two pads, or a pad and an XOR, are proposed only if they
/// save more than any change of one part, by 2 % of the cycles and by 35 % of what they save.
std::size_t proposal(const std::vector<Option>& options);

struct SearchResult {
  std::vector<Option> best_of_kind;  ///< fewest passes, then fewest bytes; identity first
  /// The frontier, by estimated cycles: no other change has as few passes, instructions and bytes; one of
  /// two pads, or of a pad and an XOR, does not beat a simpler one, and only a plain pad beats one. With the identity.
  std::vector<Option> front;
  std::size_t family = 0;  ///< changes that the constraints allow
  std::size_t tried = 0;   ///< those decided exactly, by evaluation or by a bound
  std::uint64_t work = 0;  ///< lane groups evaluated
};

struct SearchBudget {
  std::uint64_t bytes = ~std::uint64_t{0};  ///< that the array may have
  /// Lane groups to evaluate for combinations of two parameter groups; what remains is not tried. Changes with one
  /// group are always tried.
  std::uint64_t work = std::uint64_t{300} * 1000 * 1000;
};

/// Only changes that can be written for the shape take part. Among equal ones those that are simplest to read win.
SearchResult search(const Accesses& accesses, const Family& family, const ArrayShape& shape,
                    const SearchBudget& limits);

enum class FitVerdict {
  no_conflicts,  ///< there is nothing to remove
  removed,       ///< no conflict remains that any layout could remove
  reduced,       ///< fewer conflicts
  chance,        ///< the best change saves no more than changes save of random accesses by chance
  unprofitable,  ///< the index of every layout with fewer passes costs more than they save
  none,          ///< no change of the family saves anything
  fixed,         ///< no change can be made: AccessFacts::why_fixed
};
std::string_view to_string(FitVerdict verdict);

/// An option of the search with its passes on each architecture.
struct PricedOption {
  Option option;
  std::vector<std::uint64_t> passes;
  Prediction prediction;
  const Change& change() const { return option.change; }
};

/// One array, or several that are changed alike because accesses touch several of them, or they share a name.
struct ArrayFit {
  std::vector<std::uint32_t> arrays;  ///< indices into the trace
  std::string name;                   ///< "a" or "a, b"
  ArrayShape shape;
  bool shape_inferred = false;  ///< from the accesses, for want of a declaration
  AccessFacts facts;
  FitVerdict verdict = FitVerdict::none;
  /// The identity, then by estimated cycles the frontier and the best of each kind; then what was added.
  std::vector<PricedOption> options;
  std::vector<PricedOption> front;  ///< SearchResult::front
  std::size_t chosen = 0;           ///< proposal() among options; 0 unless the verdict is removed or reduced
  bool is_alike = false;            ///< choose_alike() has chosen it for several arrays
  std::size_t best = 0;             ///< index of the option with the fewest passes, worth it or not
  std::uint64_t ideal = 0;          ///< passes without any conflict
  std::uint64_t bound = 0;          ///< no layout has fewer passes
  std::uint64_t bytes_limit = 0;    ///< the array may not be larger
  std::uint64_t roomy_bytes = 0;    ///< if it is larger, fewer blocks are resident: Option::is_crowded
  std::size_t family = 0, tried = 0;
  std::uint64_t parted = 0;  ///< accesses more after the proposed change, which the compiler then no longer merges
  std::vector<std::string> doubts;  ///< why nothing is claimed to be the best: a sentence each

  const PricedOption& before() const { return options.front(); }
  const PricedOption& after() const { return options[chosen]; }
};

struct FitLimits {
  std::optional<std::uint64_t> max_shared;  ///< bytes of a block; the smallest limit of the architectures by default
  bool keep_occupancy = false;
  bool complete = true;       ///< the trace has all that the program did; otherwise no row becomes shorter
  bool machine_code = false;  ///< a compiler has made the accesses: ArrayShape::compiled of arrays that are not known
};

struct KernelFit {
  std::vector<ArrayFit> arrays;              ///< by conflicts, the most first; without arrays that have no accesses
  std::vector<Cure> cures;                   ///< what else would help, by what it saves on the first architecture
  std::vector<trace::Report> before, after;  ///< per architecture, with all chosen changes applied
  std::uint64_t shared_before = 0, shared_after = 0;  ///< bytes of all arrays
  std::vector<trace::Array> places;                   ///< the trace's arrays
  std::uint64_t threads = 0;                          ///< the size of the largest block; 0: not known
};

/// The shapes of arrays whose declarations are known, by their indices in the trace. Without lengths: the code has one
/// index, and the rest is inferred from the accesses.
using KnownShapes = std::map<std::uint32_t, ArrayShape>;

/// Error: std::invalid_argument for an architecture whose warps the trace's do not split into.
KernelFit fit_kernel(const trace::KernelTrace& trace, const Architectures& architectures, const KnownShapes& shapes,
                     const FitLimits& limits);

/// One array of a kernel, among those that several kernels share: one declaration, or one macro, serves all of them.
struct SharedArray {
  const trace::KernelTrace* trace = nullptr;
  KernelFit* kernel = nullptr;
  std::size_t number = 0;  ///< of KernelFit::arrays
};

/// The change that has the same code for an array of another shape, such as another instance of a template: as many
/// elements, rows and planes. Nothing if no change has.
std::optional<Change> same_code(const Change& change, const ArrayShape& from, const ArrayShape& to);

/// Whether one text makes changes, one for each array, and whether it can be written.
enum class OneText { no, refused, written };

/// Chooses one change for all of the arrays, if any of them is changed: proposal() for their sums, among the options
/// of all that add no pass to an array with conflicts. Instead of one whose text is refused, one that can be written
/// and saves at least half as many passes.
void choose_alike(const std::vector<SharedArray>& shared, const Architectures& architectures,
                  const std::function<OneText(const std::vector<Change>&)>& text_of);

/// Arrays of one shape get one plain pad, as an engineer would write them, where that saves three quarters of what
/// their own changes do. `limit`: bytes of the block.
void take_pads_of_others(KernelFit& kernel, std::uint64_t limit);

/// Adds sequential addressing to the options, and chooses it. `cure`: of this kind, and of this array.
void choose_sequential(ArrayFit& array, const Cure& cure);

/// Gives the steps of a tree of sums the addresses that they have with sequential addressing.
void make_sequential(trace::KernelTrace& trace, std::uint32_t array);

/// Computes KernelFit::after and shared_after from the chosen changes.
void settle(KernelFit& kernel, const trace::KernelTrace& trace, const Architectures& architectures);

/// Bytes from the begin of a row of `row` bytes that some access to these arrays touches.
std::uint64_t used_row_bytes(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays,
                             std::uint64_t row);

/// The ends of the frontier as indices into the options, among those that save at least half of the passes that the
/// best saves.
struct FrontierEnds {
  std::size_t fewest_passes = 0, cheapest_index = 0, fewest_bytes = 0;
};
FrontierEnds frontier_ends(const ArrayFit& array);

/// What an option gains and costs, compared with that of the fewest passes: "2 % more passes than the best, and no
/// instruction more in the index".
std::string reason_of(const ArrayFit& array, const PricedOption& option);

/// The passes of the kernel with all chosen changes.
Prediction prediction_of(const KernelFit& kernel);

/// Whether some array is changed.
bool changes_something(const KernelFit& fit);

}  // namespace bankwise::fit
