#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "bankcheck/fit/fit.hpp"

namespace bankwise::fit {
namespace {

/// The lengths of one shape as those of another one.
class Translation {
 public:
  Translation(const ArrayShape& from, const ArrayShape& to) : from_(from), to_(to) {}

  /// Bytes between elements: whole rows or planes stay so many rows or planes.
  std::optional<std::uint64_t> distance(std::uint64_t bytes, std::size_t below = 0) const {
    std::uint64_t row = row_of(from_, below), other_row = row_of(to_, below);
    for (std::size_t d = below; d + 1 < from_.lengths.size(); ++d) {
      if (row > 0 && bytes % row == 0) return bytes / row * other_row;
      row /= from_.lengths[d + 1];
      other_row /= to_.lengths[d + 1];
    }
    return bytes % from_.element == 0 ? std::optional(bytes / from_.element * to_.element) : std::nullopt;
  }
  /// A pad that lies after so many bytes.
  std::optional<std::uint64_t> pad(std::uint64_t bytes, std::uint64_t every) const {
    std::size_t below = 0;
    while (below + 1 < from_.lengths.size() && every % row_of(from_, below) != 0) ++below;
    return distance(bytes, below + 1);
  }

 private:
  /// Bytes between neighbours of a dimension.
  static std::uint64_t row_of(const ArrayShape& shape, std::size_t dimension) {
    std::uint64_t bytes = shape.element;
    for (std::size_t d = dimension + 1; d < shape.lengths.size(); ++d) bytes *= shape.lengths[d];
    return bytes;
  }

  const ArrayShape &from_, &to_;
};

/// What a change of all arrays together costs: one option for each array.
using Together = std::vector<Option>;

Option sum_of(const Together& parts) {
  Option sum{parts.front().change};
  sum.is_plain = true;
  for (const Option& part : parts) {
    sum.passes += part.passes;
    sum.bytes += part.bytes;
    sum.instructions = std::max(sum.instructions, part.instructions);
    sum.operators = std::max(sum.operators, part.operators);
    sum.cycles += part.cycles;
    sum.parted += part.parted;
    sum.is_plain = sum.is_plain && part.is_plain;
    sum.divides = sum.divides || part.divides;
    sum.is_crowded = sum.is_crowded || part.is_crowded;
  }
  return sum;
}

/// Whether the constraints of an array allow a change that was found for another one.
bool allows(const ArrayFit& fit, const Accesses& accesses, const Change& change) {
  const FamilyBounds& bounds = fit.facts.bounds;
  if (change == Change()) return true;
  if (bounds.fixed || !form_of(change, fit.shape) || !accesses.keeps_together(change)) return false;
  if (bounds.copied_in && tma_name(change).empty()) return false;
  if (change.rows.to < change.rows.from && (bounds.used_row == 0 || change.rows.to < bounds.used_row)) return false;
  const unsigned alignment = fit.facts.alignment;  // fewer bytes than in the family, which keeps words together
  const auto aligned = [&](std::uint64_t bytes) { return bytes % alignment == 0; };
  const bool keeps_alignment = aligned(change.rows.to) && aligned(change.pads[0].bytes) &&
                               aligned(change.pads[1].bytes) &&
                               (change.swizzle.bits == 0 || 1U << change.swizzle.base >= alignment);
  return keeps_alignment && change.bytes_of(fit.facts.extent) <= fit.bytes_limit &&
         change.bytes_of(fit.facts.extent) <= max_chunk_offset;
}

std::uint64_t saved_passes(const ArrayFit& array, const PricedOption& option) {
  return array.before().option.passes - std::min(array.before().option.passes, option.option.passes);
}

ArrayFit& fit_of(const SharedArray& array) { return array.kernel->arrays[array.number]; }

/// The options of arrays that one text declares: each is made for all of them.
class JointOptions {
 public:
  JointOptions(const std::vector<SharedArray>& shared, const Architectures& architectures)
      : shared_(shared), architectures_(architectures) {
    for (const SharedArray& array : shared) {
      const ArrayFit& fit = fit_of(array);
      accesses_.emplace_back(*array.trace, fit.arrays, architectures).expect_merged(fit.shape);
    }
  }

  const Together& parts(std::size_t option) const { return together_[option]; }

  /// False: some array cannot have the change, which one of this shape has.
  bool add(const Change& change, const ArrayShape& shape) {
    std::vector<Change> changes;
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      const auto same = same_code(change, shape, fit_of(shared_[i]).shape);
      if (!same || !allows(fit_of(shared_[i]), accesses_[i], *same)) return false;
      changes.push_back(*same);
    }
    if (!known_.insert(changes).second) return true;
    Together parts;
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      parts.push_back(priced(i, changes[i]));
      const std::uint64_t before = fit_of(shared_[i]).before().option.passes;
      const bool has_conflicts = before > fit_of(shared_[i]).ideal;
      if (has_conflicts && parts.back().passes > before) return false;
    }
    sums_.push_back(sum_of(parts));
    together_.push_back(std::move(parts));
    return true;
  }

  /// Adds the options of each array. False: what was chosen for one of them does not do for all.
  bool add_all() {
    bool fits_all = true;
    for (const SharedArray& array : shared_) {
      for (const PricedOption& option : fit_of(array).options) {
        const bool fits = add(option.option.change, fit_of(array).shape);
        if (&option == &fit_of(array).after()) fits_all = fits_all && fits;
      }
    }
    return fits_all;
  }

  /// The best one whose text can be written, or saves more than twice as many passes as that; and whether one text
  /// makes each option that was considered.
  std::pair<std::optional<Together>, bool> choose(const std::function<OneText(const std::vector<Change>&)>& text_of) {
    const std::uint64_t before = sums_.front().passes;
    std::optional<Together> refused;
    std::uint64_t refused_saves = 0;  // passes
    bool has_one_text = true;
    for (std::size_t best = proposal(sums_); best > 0; best = proposal(sums_)) {
      std::vector<Change> changes;
      for (const Option& part : together_[best]) changes.push_back(part.change);
      const OneText text = text_of(changes);
      const std::uint64_t saves = before - std::min(before, sums_[best].passes);
      if (text == OneText::written && 2 * saves >= refused_saves) return {together_[best], has_one_text};
      if (text == OneText::refused && !refused) {
        refused = together_[best];
        refused_saves = saves;
      }
      has_one_text = has_one_text && text != OneText::no;
      sums_.erase(sums_.begin() + std::ptrdiff_t(best));
      together_.erase(together_.begin() + std::ptrdiff_t(best));
    }
    return {refused, has_one_text};
  }

  void apply(const Together& chosen) const {
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      ArrayFit& fit = fit_of(shared_[i]);
      const Option& option = chosen[i];
      auto place = std::ranges::find(fit.options, option.change, &PricedOption::change);
      if (place == fit.options.end()) {
        const auto passes = accesses_[i].passes_by_architecture(option.change);
        const Predictor predicted(*shared_[i].trace, fit.arrays, fit.shape, architectures_);
        fit.options.push_back({option, passes, predicted(option.change, passes)});
        place = fit.options.end() - 1;
      }
      fit.chosen = std::size_t(place - fit.options.begin());
      fit.is_alike = shared_.size() > 1;
      if (fit.chosen > 0) {
        fit.verdict = option.passes == fit.bound ? FitVerdict::removed : FitVerdict::reduced;
      } else if (fit.verdict == FitVerdict::removed || fit.verdict == FitVerdict::reduced) {
        fit.verdict = FitVerdict::unprofitable;
      }
    }
  }

 private:
  Option priced(std::size_t array, const Change& change) const {
    const ArrayFit& fit = fit_of(shared_[array]);
    const Accesses& accesses = accesses_[array];
    Option option = option_of(change, fit.shape, fit.facts.extent);
    option.passes = *accesses.passes(change);
    const std::uint64_t executions = accesses.after(change).facts().executions;
    option.parted = executions - accesses.facts().executions;
    option.is_crowded = option.bytes > fit.roomy_bytes;
    option.cycles = cycles_of(option, executions);
    return option;
  }

  const std::vector<SharedArray>& shared_;
  const Architectures& architectures_;
  std::vector<Accesses> accesses_;
  std::set<std::vector<Change>> known_;
  std::vector<Together> together_;
  std::vector<Option> sums_;
};

}  // namespace

std::optional<Change> same_code(const Change& change, const ArrayShape& from, const ArrayShape& to) {
  if (from.element == 0 || to.element == 0 || from.lengths.size() != to.lengths.size()) return std::nullopt;
  const Translation translation(from, to);
  Change other = change;
  bool is_known = true;
  const auto set = [&](std::uint32_t& length, const std::optional<std::uint64_t>& bytes) {
    is_known = is_known && bytes && *bytes < max_chunk_offset;
    if (is_known) length = std::uint32_t(*bytes);
  };
  for (Pad& pad : other.pads) {
    if (pad.every == 0) continue;
    const std::uint32_t every = pad.every;
    set(pad.every, translation.distance(every));
    set(pad.bytes, translation.pad(pad.bytes, every));
  }
  if (change.rows.from > 0) {
    const std::uint64_t shorter = std::uint64_t(change.rows.from - change.rows.to) / from.element * to.element;
    other.rows.from = std::uint32_t(to.row_bytes());
    set(other.rows.to, to.row_bytes() > shorter ? std::optional(to.row_bytes() - shorter) : std::nullopt);
  }
  if (RowXor& swizzle = other.swizzle; swizzle.bits > 0) {
    const std::uint64_t unit = swizzle.unit() / from.element * to.element;
    if (!std::has_single_bit(unit)) return std::nullopt;
    swizzle.base = unsigned(std::countr_zero(unit));
    if (change.rows.from > 0 && from.lengths != to.lengths) return std::nullopt;
    set(swizzle.row, translation.distance(swizzle.row));
    if (swizzle.plane > 0) set(swizzle.plane, translation.distance(swizzle.plane));
  }
  return is_known ? std::optional(other) : std::nullopt;
}

void choose_alike(const std::vector<SharedArray>& shared, const Architectures& architectures,
                  const std::function<OneText(const std::vector<Change>&)>& text_of) {
  if (std::ranges::none_of(shared, [](const SharedArray& array) { return fit_of(array).chosen > 0; })) return;
  JointOptions options(shared, architectures);
  if (!options.add({}, fit_of(shared.front()).shape)) return;  // arrays of different shapes
  const Together unchanged = options.parts(0);
  const bool fits_all = options.add_all();
  const auto [chosen, has_one_text] = options.choose(text_of);
  if (!chosen && !(fits_all && has_one_text)) return;  // no change does for all: each keeps its own
  options.apply(chosen.value_or(unchanged));
}

void take_pads_of_others(KernelFit& kernel, std::uint64_t limit) {
  const auto has_plain_pad = [](const ArrayFit& array) { return array.chosen > 0 && array.after().option.is_plain; };
  for (ArrayFit& array : kernel.arrays) {
    if (array.chosen == 0 || has_plain_pad(array)) continue;
    for (const ArrayFit& other : kernel.arrays) {
      const bool is_alike = other.shape.lengths == array.shape.lengths && other.shape.element == array.shape.element;
      if (!is_alike || !has_plain_pad(other)) continue;
      const auto option = std::ranges::find(array.options, other.after().change(), &PricedOption::change);
      if (option == array.options.end() || option->option.is_crowded || option->option.parted > 0) continue;
      if (4 * saved_passes(array, *option) < 3 * saved_passes(array, array.after())) continue;
      const std::uint64_t after = kernel.shared_after + option->option.bytes - array.after().option.bytes;
      if (after > limit) continue;
      kernel.shared_after = after;
      array.chosen = std::size_t(option - array.options.begin());
      array.parted = 0;
      if (option->option.passes > array.bound) array.verdict = FitVerdict::reduced;
      break;
    }
  }
}

}  // namespace bankwise::fit
