// The passes after a change, as far as they are certain: a compiler sees a new index, and may merge or save other
// accesses than before.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "bankcheck/fit/accesses.hpp"

namespace bankwise::fit {

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

}  // namespace bankwise::fit
